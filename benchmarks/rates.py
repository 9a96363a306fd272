"""Wall-clock rates: medians of three runs on this machine, as busy as it is.

The ratios are to rates measured elsewhere, on one core of a machine with two: MQSim
(FAST'18, g++ -O3) and DiskSim with its SSD extension.
"""

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from harness import Figure, Job, median_seconds, program, report_of, show
from instructions import MODERN, READ, overwrite

MQSIM_READS_PER_S = 0.37e6
MQSIM_OVERWRITES_PER_S = 0.29e6
DISKSIM_REQUESTS_PER_S = (0.1e6, 0.26e6)

MSR = Job(
    drive="msr-4gb",
    state="fresh",
    workload={"rw": "randrw", "read_percent": 60, "block_bytes": 4096, "iodepth": 32},
)


# All dies of the drive, with blocks for 34 GB: filled in order, then as much written at random.
AGED = Job(
    drive="nvme-datacentre",
    state="random",
    workload=READ.workload,
    sets=("nand.blocks_per_plane=23",),
)


def rate(what: str, job: Job, requests: int, note: str = "", other: float = 0.0) -> Figure:
    """Measure the requests per second of a job; ``other`` is a rate to compare with."""
    per_s = requests / median_seconds(lambda: job.run(requests))
    if other:
        note = f"{per_s / other:.1f} x {note}"
    return Figure(what, per_s / 1e6, "M requests/s", note=note)


def ready() -> Figure:
    """Measure how long the largest drive takes to open."""
    seconds = median_seconds(lambda: READ.run(1), key="ready_s")
    return Figure("mqsim-512g ready", seconds, "s", bar=0.3, note="MQSim 1.1 s")


def filled_and_aged() -> Figure:
    """Measure how long a drive takes to be filled, and overwritten at random once."""
    seconds = median_seconds(lambda: AGED.run(1), key="ready_s")
    capacity_gb = int(AGED.run(1)["capacity_bytes"]) / 1e9
    return Figure(f"nvme-datacentre of {capacity_gb:.0f} GB filled and aged", seconds, "s", bar=10)


def driver_overhead(requests: int = 2_000_000) -> Figure:
    """Measure what the driver costs per request on a device that does nothing."""
    workload = f'{{"rw": "randread", "iodepth": 32, "requests": {requests}}}'
    command = [str(program("ssdscope-io", "overhead")), "null", workload]
    nanoseconds = median_seconds(lambda: report_of(command)) / requests * 1e9
    return Figure(
        "driver on null:, depth 32", nanoseconds, "ns/request", note="wall clock read twice"
    )


def trace_parsing(lines: int = 1_000_000) -> Figure:
    """Measure how fast an SPC trace is surveyed and read, as before and during a replay."""
    random = Random(1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.spc"
        with path.open("w") as file:
            for line in range(lines):
                asu, lba = random.randrange(4), random.randrange(1 << 24)
                bytes_, opcode = 512 << random.randrange(6), random.choice("rRwW")
                file.write(f"{asu},{lba},{bytes_},{opcode},{line / 1000:.6f}\n")
        command = [str(program("ssdscope-io", "overhead")), "trace", str(path)]
        seconds = median_seconds(lambda: report_of(command))
    return Figure("SPC trace read, both passes", lines / seconds / 1e6, "M lines/s")


def figures() -> list[Figure]:
    """Measure; this takes about a minute."""
    low, high = (per_s / 1e6 for per_s in DISKSIM_REQUESTS_PER_S)
    return [
        rate("4 KiB random read", READ, 1_000_000, "MQSim's 0.37", MQSIM_READS_PER_S),
        rate(
            "8 KiB random overwrite with GC",
            overwrite(8192),
            500_000,
            "MQSim's 0.29",
            MQSIM_OVERWRITES_PER_S,
        ),
        rate("4 KiB random write, steady, nvme-datacentre made smaller", MODERN, 300_000),
        rate("msr-4gb, 4 KiB random, 60 % reads", MSR, 500_000, f"DiskSim {low}-{high}"),
        ready(),
        filled_and_aged(),
        driver_overhead(),
        trace_parsing(),
    ]


if __name__ == "__main__":
    sys.exit(show(figures()))
