"""Instructions per request and per filled page, counted by callgrind.

Each figure is the difference of two runs that differ only in length, so that opening,
preparing and summing up cancel out. Attribution is on, there is no log, and the driver
is included. The figures are the same on every machine with the same compiler.
"""

import sys

from harness import Figure, Job, instructions_between, show, valgrind_missing

READ = Job(
    drive="mqsim-512g",
    state="fresh",
    workload={"rw": "randread", "block_bytes": 4096, "iodepth": 32},
)

# 77 % of the logical space of mqsim-8g, and nothing else ever mapped: the drive exports
# only that (750,884 of 1,048,576 pages), so that its steady state can be prepared without
# simulating millions of requests under callgrind.
OVERWRITTEN_SHARE = "over_provisioning_ratio=0.396456"

# The dies and superblocks of the drive, with fewer and shorter blocks.
MODERN = Job(
    drive="nvme-datacentre",
    state="steady",
    workload={"rw": "randwrite", "block_bytes": 4096, "iodepth": 64},
    sets=(
        "nand.blocks_per_plane=130",
        "nand.pages_per_block=16",
        "ftl.reclaim_unit_bytes=16MiB",
    ),
)


def overwrite(block_bytes: int) -> Job:
    """Return uniform random overwrites of a drive that collects garbage all the time."""
    workload = {"rw": "randwrite", "block_bytes": block_bytes, "iodepth": 32}
    ramp = {"rw": "randwrite", "block_bytes": 8192, "iodepth": 32, "requests": 50_000, "seed": 2}
    return Job("mqsim-8g", "steady", workload, ramp, (OVERWRITTEN_SHARE,))


def per_request(job: Job, short: int = 20_000, long: int = 120_000) -> float:
    """Return the instructions per request of a job."""
    return instructions_between(job.command(short), job.command(long), long - short)


def per_filled_page() -> float:
    """Return the instructions per page of bringing a drive into the state ``sequential``."""
    commands, pages = [], []
    for blocks in (256, 1024):
        job = Job(
            "mqsim-8g", "sequential", READ.workload, sets=(f"nand.blocks_per_plane={blocks}",)
        )
        commands.append(job.command(1))
        pages.append(int(job.run(1)["capacity_bytes"]) // 8192)
    return instructions_between(commands[0], commands[1], pages[1] - pages[0])


def figures() -> list[Figure]:
    """Measure; this takes about a minute."""
    missing = valgrind_missing()
    waf = overwrite(8192).run(200_000)["waf"]
    return [
        Figure(
            "4 KiB random read, depth 32, mqsim-512g",
            None if missing else per_request(READ),
            "instructions",
            bar=6_000,
            binds=True,
            note=missing or "final bar 1,500; MQSim 20,400",
        ),
        Figure(
            "8 KiB random overwrite with GC, mqsim-8g at 77 %",
            None if missing else per_request(overwrite(8192)),
            "instructions",
            bar=8_000,
            binds=True,
            note=missing or f"final bar 2,500; MQSim 28,000; write amplification {waf:.3f}",
        ),
        Figure(
            "4 KiB random overwrite (reads the page first), the same",
            None if missing else per_request(overwrite(4096)),
            "instructions",
            note=missing,
        ),
        Figure(
            "4 KiB random write, steady, nvme-datacentre made smaller",
            None if missing else per_request(MODERN),
            "instructions",
            bar=9_000,
            binds=True,
            note=missing or f"write amplification {MODERN.run(200_000)['waf']:.3f}",
        ),
        Figure(
            "page filled when a drive is opened `sequential`",
            None if missing else per_filled_page(),
            "instructions",
            bar=400,
            binds=True,
            note=missing,
        ),
    ]


if __name__ == "__main__":
    sys.exit(show(figures()))
