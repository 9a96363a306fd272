"""Instructions per request, page or line, counted by callgrind and held to the last values.

    python benchmarks/instructions.py           # count, and show beside the last values
    python benchmarks/instructions.py --check   # the same, with exit code 1 above 3 %: CI
    python benchmarks/instructions.py --keep    # count, and keep as the last values

Each figure is the difference of two runs that differ only in length, so that opening,
preparing and summing up cancel out. Attribution is on, there is no log but where it is said, and
the driver is included. The figures are the same on every machine with the same compiler and flags;
`last.toml` says which those were, and with others nothing is compared.
"""

import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Figure, Job, built, count_instructions, program, show, valgrind_missing
from made import spc_lines

LAST = Path(__file__).with_name("last.toml")
GOALS = {
    "read_fresh": 1_800,
    "read": 1_800,
    "read_demand": 3_000,
    "overwrite": 3_900,
    "modern_write": 4_500,
    "in_order": 6_400,
    "modern_in_order": 30_000,
    "log_block": 150_000,
    "element": 1_744,
    "driver": 347,
    "trace_line": 1_852,
}
"""What figures should come down to; DESIGN.md says what they are made of today."""
SLACK = 1.03
"""A figure may be so many times the last one; what is dearer is a regression."""

READ = {"rw": "randread", "block_bytes": 4096, "iodepth": 32}

FRESH = Job("mqsim-512g", "fresh", READ)

# All dies of mqsim-512g with fewer and shorter blocks: under callgrind pages fill slowly.
SMALLER = ("nand.blocks_per_plane=192", "nand.pages_per_block=16")
WRITTEN = Job("mqsim-512g", "sequential", READ, sets=SMALLER)

LOGGED = replace(WRITTEN, logged=True)

# A table of which a 64th is in RAM.
DEMAND = Job(
    "mqsim-512g",
    "sequential",
    READ,
    sets=(*SMALLER, "map.kind=demand", "map.cache_bytes=64KiB"),
)

# 77 % of the logical space of mqsim-8g, and nothing else ever mapped: the drive exports
# only that, so that its steady state can be prepared without simulating millions of requests.
OVERWRITTEN_SHARE = "over_provisioning_ratio=0.396456"

# The dies and superblocks of the drive, with fewer and shorter blocks.
MODERN = Job(
    "nvme-datacentre",
    "steady",
    {"rw": "randwrite", "block_bytes": 4096, "iodepth": 64},
    sets=(
        "nand.blocks_per_plane=130",
        "nand.pages_per_block=16",
        "ftl.reclaim_unit_bytes=16MiB",
    ),
)

MIXED = Job("msr-4gb", "fresh", {**READ, "rw": "randrw", "read_percent": 60})

LOG_BLOCKS = Job(
    "examples/drives/log-block.toml",
    "sequential",
    {"rw": "randwrite", "block_bytes": 4096},
    sets=("nand.blocks_per_plane=256",),
)


# FlashSim's drive: 32 chips of two planes, blocks of sixteen pages, a thousand log blocks.
FLASHSIM = (
    *("nand.channels=4", "nand.ways=8", "nand.planes=2", "nand.blocks_per_plane=2048"),
    *("nand.pages_per_block=16", "nand.page_bytes=4096", "ftl.merge_unit_bytes=64KiB"),
    *("ftl.log_blocks=1024", "over_provisioning_ratio=0.12"),
)


def flashsim(association: str) -> Job:
    """Return random overwrites of FlashSim's drive, whose log blocks are shared or not."""
    sets = (*FLASHSIM, f"ftl.log_association={association}")
    work = {"rw": "randwrite", "block_bytes": 4096}
    return Job("examples/drives/log-block.toml", "sequential", work, sets=sets)


def overwrite(block_bytes: int, ramp: int = 50_000, blocks: int = 2048) -> Job:
    """Return uniform random overwrites of a drive that collects garbage all the time."""
    work = {"rw": "randwrite", "block_bytes": block_bytes, "iodepth": 32}
    before = {"rw": "randwrite", "block_bytes": 8192, "iodepth": 32, "requests": ramp, "seed": 2}
    sets = (OVERWRITTEN_SHARE, f"nand.blocks_per_plane={blocks}")
    return Job("mqsim-8g", "steady", work, before, sets)


def in_order(drive: str, *sets: str) -> Job:
    """Return long writes in order, on a drive that was never written."""
    return Job(drive, "fresh", {"rw": "write", "block_bytes": 131_072, "iodepth": 32}, sets=sets)


@dataclass(frozen=True)
class Case:
    """What is counted: two commands that differ in length, and by how many steps.

    Parameters
    ----------
    name
        Its key in `last.toml`.
    what
        What it is, in words.
    short, long
        The commands.
    steps
        How many requests, pages or lines the longer one does more.
    """

    name: str
    what: str
    short: list[str]
    long: list[str]
    steps: int

    def beside(self, last: float | None, value: float | None) -> str:
        """Say what the value is to be seen beside."""
        words = [f"last {last:,.1f}" if last else "none kept of this build"]
        if value and (goal := GOALS.get(self.name)):
            words.append(f"{value / goal:.2f} x the goal of {goal:,}")
        return ", ".join(words)


def per_step(chosen: Sequence[Case]) -> list[float]:
    """Count all, on all cores: how busy they are changes no count."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        more = pool.map(count_instructions, [case.long for case in chosen])
        fewer = pool.map(count_instructions, [case.short for case in chosen])
        counts = zip(chosen, fewer, more, strict=True)
        return [(long - short) / case.steps for case, short, long in counts]


def of_job(name: str, what: str, job: Job, short: int = 2_000, long: int = 22_000) -> Case:
    """Return what a request of a job costs."""
    return Case(name, what, job.command(short), job.command(long), long - short)


def settled_page() -> Case:
    """Return what a page costs when a drive is brought into the state `random`.

    To fill the drive first costs nothing by the page.
    """
    pages, commands = [], []
    for blocks in (256, 512):
        job = Job("mqsim-8g", "random", READ, sets=(f"nand.blocks_per_plane={blocks}",))
        commands.append(job.command(1))
        pages.append(int(job.run(1)["capacity_bytes"]) // 8192)
    what = "page overwritten when a drive is opened `random`"
    return Case("settled_page", what, *commands, pages[1] - pages[0])


def of_driver() -> Case:
    """Return what the driver costs per request, on a device that does nothing."""
    overhead = str(program("ssdscope-io", "overhead"))
    work = '{{"rw": "randread", "iodepth": 32, "requests": {}}}'
    commands = [[overhead, "null", work.format(requests)] for requests in (2_000, 52_000)]
    return Case("driver", "driver on null:, depth 32", *commands, 50_000)


def of_trace(folder: Path) -> Case:
    """Return what a line of an SPC trace costs, surveyed and read."""
    commands = []
    for lines in (2_000, 22_000):
        path = folder / f"{lines}.spc"
        path.write_text(spc_lines(lines))
        commands.append([str(program("ssdscope-io", "overhead")), "trace", str(path)])
    return Case("trace_line", "line of an SPC trace, both passes", *commands, 20_000)


@contextmanager
def cases() -> Iterator[list[Case]]:
    """Give all that is counted, with the files that it needs."""
    small = overwrite(8192, ramp=10_000, blocks=256)
    partly = overwrite(4096, ramp=10_000, blocks=256)
    with TemporaryDirectory() as folder:
        yield [
            of_job("read_fresh", "4 KiB random read, mqsim-512g never written", FRESH),
            of_job("read", "4 KiB random read, mqsim-512g written, made smaller", WRITTEN),
            of_job("read_logged", "the same, with a row per request", LOGGED, long=202_000),
            of_job("read_demand", "the same, with a table on demand", DEMAND),
            of_job("overwrite", "8 KiB random overwrite with GC, mqsim-8g at 77 %", small),
            of_job("overwrite_part", "4 KiB random overwrite (reads the page first)", partly),
            of_job("modern_write", "4 KiB random write, nvme-datacentre made smaller", MODERN),
            of_job("in_order", "128 KiB write in order, mqsim-512g", in_order("mqsim-512g")),
            of_job(
                "modern_in_order",
                "128 KiB write in order, nvme-datacentre",
                in_order("nvme-datacentre"),
                short=500,
                long=1_500,
            ),
            of_job("log_block", "4 KiB overwrite of log blocks", LOG_BLOCKS, short=20, long=120),
            of_job(
                "bast",
                "4 KiB overwrite of FlashSim's drive, BAST",
                flashsim("one-to-one"),
                long=7_000,
            ),
            of_job(
                "fast",
                "the same, FAST",
                flashsim("many-to-one"),
                short=12_000,
                long=22_000,
            ),
            of_job("element", "4 KiB random, 60 % reads, msr-4gb", MIXED),
            settled_page(),
            of_driver(),
            of_trace(Path(folder)),
        ]


def last_values() -> dict[str, float]:
    """Return the values that were kept, or none if another compiler or other flags counted."""
    kept = tomllib.loads(LAST.read_text()) if LAST.exists() else {}
    return kept.get("instructions", {}) if kept.get("built") == built() else {}


def keep(counted: dict[str, float]) -> None:
    """Write the values down as the last ones."""
    lines = [
        "# Instructions as counted by `python benchmarks/instructions.py --keep`.",
        f'built = "{built()}"',
        "",
        "[instructions]",
        *(f"{name} = {value:.1f}" for name, value in counted.items()),
    ]
    LAST.write_text("\n".join(lines) + "\n")


def figures(counted: dict[str, float] | None = None) -> list[Figure]:
    """Count everything, into `counted` by name, too. Takes about a minute."""
    missing = valgrind_missing()
    last = last_values()
    found = []
    with cases() as chosen:
        values = [None] * len(chosen) if missing else per_step(chosen)
        for case, value in zip(chosen, values, strict=True):
            if value is not None and counted is not None:
                counted[case.name] = value
            before = last.get(case.name)
            bar = None if before is None else before * SLACK
            note = missing or case.beside(before, value)
            found.append(Figure(case.what, value, "instructions", bar, binds=True, note=note))
    return found


def main(words: list[str]) -> int:
    """Do what the words ask for; return the exit code."""
    if unknown := set(words) - {"--check", "--keep"}:
        sys.exit(f"error: {', '.join(sorted(unknown))}: expected --check, --keep or nothing")
    counted: dict[str, float] = {}
    missed = show(figures(counted))
    if not last_values():
        print(f"Nothing was compared: {LAST.name} holds no values of {built()}.")
    if "--keep" in words and counted:
        keep(counted)
        print(f"kept in {LAST.name}")
        return 0
    return missed if "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
