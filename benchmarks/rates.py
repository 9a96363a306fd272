"""Wall-clock rates: medians of three runs on this machine, as busy as it is.

Ratios to other simulators are to what those did on another day (`peers`).
"""

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Figure, Job, median_seconds, program, report_of, show
from instructions import DEMAND, FRESH, MIXED, MODERN, READ, flashsim, in_order, overwrite
from made import spc_lines
from peers import (
    DISKSIM,
    FLASHSIM_BAST,
    FLASHSIM_FAST,
    MQSIM_DEMAND_READS,
    MQSIM_IN_ORDER,
    MQSIM_OVERWRITES,
    MQSIM_READS,
    MQSIM_WRITTEN_READS,
    Peer,
)

# Every page was written, so that a read finds its own in a full table.
WRITTEN = replace(FRESH, state="sequential")

# All dies of the drive, with blocks for 34 GB: filled in order, then as much written at random.
AGED = Job(
    drive="nvme-datacentre",
    state="random",
    workload=READ,
    sets=("nand.blocks_per_plane=23",),
)


def rate(what: str, job: Job, requests: int, peer: Peer | None = None) -> Figure:
    """Measure the requests per second of a job, beside those of a peer."""
    per_s = requests / median_seconds(lambda: job.run(requests))
    note = "" if peer is None else peer.beside(per_s)
    return Figure(what, per_s / 1e6, "M requests/s", note=note)


def ready() -> Figure:
    """Measure how long the largest drive takes to open."""
    seconds = median_seconds(lambda: FRESH.run(1), key="ready_s")
    return Figure("mqsim-512g ready", seconds, "s", bar=0.3, note="MQSim 1.1 s on another day")


def overwritten_at_random() -> Figure:
    """Measure how long a drive takes to be opened in the state `random`."""
    seconds = float(replace(FRESH, state="random").run(1)["ready_s"])
    return Figure("mqsim-512g ready in state random, all cores", seconds, "s", bar=15)


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
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.spc"
        path.write_text(spc_lines(lines))
        command = [str(program("ssdscope-io", "overhead")), "trace", str(path)]
        seconds = median_seconds(lambda: report_of(command))
    return Figure("SPC trace read, both passes", lines / seconds / 1e6, "M lines/s")


def figures() -> list[Figure]:
    """Measure; this takes about two minutes."""
    return [
        rate("4 KiB random read, mqsim-512g never written", FRESH, 1_000_000, MQSIM_READS),
        rate("4 KiB random read, mqsim-512g written", WRITTEN, 1_000_000, MQSIM_WRITTEN_READS),
        rate("4 KiB random read, table on demand", DEMAND, 500_000, MQSIM_DEMAND_READS),
        rate(
            "8 KiB random overwrite with GC, mqsim-8g at 77 %",
            overwrite(8192),
            500_000,
            MQSIM_OVERWRITES,
        ),
        rate("4 KiB random write, steady, nvme-datacentre made smaller", MODERN, 300_000),
        rate("128 KiB write in order", in_order("mqsim-512g"), 100_000, MQSIM_IN_ORDER),
        rate("msr-4gb, 4 KiB random, 60 % reads", MIXED, 500_000, DISKSIM),
        rate("4 KiB overwrite, BAST", flashsim("one-to-one"), 200_000, FLASHSIM_BAST),
        rate("4 KiB overwrite, FAST", flashsim("many-to-one"), 200_000, FLASHSIM_FAST),
        ready(),
        overwritten_at_random(),
        filled_and_aged(),
        driver_overhead(),
        trace_parsing(),
    ]


if __name__ == "__main__":
    sys.exit(show(figures()))
