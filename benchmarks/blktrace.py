"""Recordings of blktrace: events a second, beside blkparse on the same files.

    python benchmarks/blktrace.py

The bar is 3 million events a second on one core, both passes and the numpy columns included. Beside
it, in turns, `blkparse -q -O`, which reads the same files once, merges them by time, counts, and
prints nothing. Without blkparse there is no ratio.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import numpy.typing as npt
from harness import Figure, interpreted, show

from ssdscope.targets.traces import TraceOptions, scan_trace

REQUESTS = 500_000
CPUS = 4
TIMES = 3
BAR_S = 1 / 3
GAP_NS, WAIT_NS, SERVICE_NS = 4_000, 3_000, 100_000
"""Between two requests, until each is dispatched, and until it is done: 25 in flight."""
QUEUE, GET, ISSUE, COMPLETE = 1, 4, 7, 8
FS, READ, WRITE = 1 << 24, 1 << 16, 1 << 17
EVENT = np.dtype(
    [
        ("magic", "<u4"),
        ("sequence", "<u4"),
        ("time", "<u8"),
        ("sector", "<u8"),
        ("bytes", "<u4"),
        ("action", "<u4"),
        ("pid", "<u4"),
        ("device", "<u4"),
        ("cpu", "<u4"),
        ("error", "<u2"),
        ("pdu_len", "<u2"),
    ]
)


def made(requests: int) -> npt.NDArray[np.void]:
    """Make up requests of 4 KiB at random places, each with the events Q, G, D and C, by time."""
    rng = np.random.default_rng(1)
    begin = np.arange(requests, dtype=np.uint64) * GAP_NS
    sector = rng.integers(0, 1 << 28, requests, dtype=np.uint64) * 8
    direction = np.where(rng.random(requests) < 0.7, READ, WRITE)
    cpu = rng.integers(0, CPUS, requests)
    done = (
        begin + WAIT_NS + rng.integers(SERVICE_NS // 2, SERVICE_NS * 3 // 2, requests).astype("u8")
    )
    parts = []
    for action, time, on in (
        (QUEUE, begin, cpu),
        (GET, begin + 500, cpu),
        (ISSUE, begin + WAIT_NS, cpu),
        (COMPLETE, done, (cpu + 1) % CPUS),
    ):
        part = np.zeros(requests, EVENT)
        part["magic"], part["time"], part["sector"], part["bytes"] = 0x65617407, time, sector, 4096
        part["action"], part["device"], part["cpu"] = direction | FS | action, 8 << 20, on
        parts.append(part)
    events = np.concatenate(parts)
    return events[np.argsort(events["time"], kind="stable")]


def write(folder: Path, events: npt.NDArray[np.void]) -> None:
    """Write a file for each processor, its events numbered."""
    for cpu in range(CPUS):
        mine = events[events["cpu"] == cpu]
        mine["sequence"] = np.arange(1, len(mine) + 1)
        mine.tofile(folder / f"made.blktrace.{cpu}")


def ours(path: str) -> float:
    """Measure the processor time of reading, which others on the machine do not lengthen much."""
    started = process_time()
    scan_trace(path, TraceOptions(), lambda rows: None)  # noqa: ARG005
    return process_time() - started


def by_blkparse(path: str) -> float:
    """Measure the processor time of blkparse on the same files."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(["blkparse", "-q", "-O", "-i", path], check=True, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures() -> list[Figure]:
    """Measure; this takes about a quarter of a minute."""
    events = made(REQUESTS)
    millions = len(events) / 1e6
    with TemporaryDirectory() as folder:
        write(Path(folder), events)
        path = f"{folder}/made"
        turns = [
            (ours(path), by_blkparse(path) if which("blkparse") else None) for _ in range(TIMES)
        ]
    took = median(turn[0] for turn in turns) / millions
    ratios = [mine / theirs for mine, theirs in turns if theirs]
    beside = f"{median(ratios):.2f} x blkparse's time" if ratios else "blkparse is not installed"
    note = f"{1 / took:.1f} M events/s; {beside}"
    figure = Figure(
        "blktrace of four processors into columns", took, "s/M events", BAR_S, note=note
    )
    return [replace(figure, by=interpreted())]


if __name__ == "__main__":
    sys.exit(show(figures()))
