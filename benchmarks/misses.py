"""Misses in the first-level data cache, and what a drive of a terabyte costs beside a small one.

    python benchmarks/misses.py           # minutes: a terabyte is filled under valgrind, twice

Each figure is the difference of two runs that differ only in length. The size of a drive should
not show in instructions; where it shows is in misses, as its map fits no cache.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from harness import Figure, Job, count_misses, show, valgrind_missing
from instructions import READ, WRITTEN, overwrite

SHORT, LONG = 2_000, 12_000
TERABYTE = Job("mqsim-512g", "sequential", READ, sets=("nand.blocks_per_plane=4096",))
"""The dies of the drive that the reads of `instructions` are on, with blocks for a terabyte."""
JOBS = {
    "4 KiB random read, mqsim-512g written, made smaller": (WRITTEN, 6),
    "8 KiB random overwrite with GC, mqsim-8g at 77 %": (overwrite(8192, 10_000, 256), 25),
    "4 KiB random read, the same dies with 1 TB, written": (TERABYTE, None),
}


def per_request(job: Job) -> tuple[float, float]:
    """Return the instructions and the misses of a request."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        short, long = pool.map(count_misses, (job.command(SHORT), job.command(LONG)))
    steps = LONG - SHORT
    return (long[0] - short[0]) / steps, (long[1] - short[1]) / steps


def figures() -> list[Figure]:
    """Count; this takes minutes."""
    if missing := valgrind_missing():
        return [Figure(what, None, "misses", note=missing) for what in JOBS]
    counted = {what: per_request(job) for what, (job, _) in JOBS.items()}
    found = [
        Figure(what, counted[what][1], "L1 misses", bar=bar, binds=bar is not None)
        for what, (_, bar) in JOBS.items()
    ]
    small, _, large = (instructions for instructions, _ in counted.values())
    what = "instructions of a read on 1 TB, of those on 3 GB"
    return [*found, Figure(what, large / small, "times", bar=1.05, binds=True)]


if __name__ == "__main__":
    sys.exit(show(figures()))
