"""What counted work stands for: seconds of one core, on every preset.

    python benchmarks/work.py

Runs of several kinds on copies of each preset, timed by the processor's clock and counted as a
stage of a page counts them (`ssdscope.targets.work`): first writes, reads, and writes of a drive
that is kept writing. Shown are timed over counted seconds, and at the end the constants that would
fit best over all of them. What a stage adds in Python is not in it.
"""

import time
from dataclasses import replace

import numpy as np

from ssdscope.targets import open_target, work
from ssdscope.targets.presets import preset_names
from ssdscope.workloads import Workload

SEED = 1
RUNS = (
    Workload(rw="randread", block_bytes=4096, iodepth=16),
    Workload(rw="read", block_bytes=131_072, iodepth=16),
    Workload(rw="randwrite", block_bytes=4096, iodepth=16),
    Workload(rw="write", block_bytes=131_072, iodepth=16),
)
BEGIN, TIMES, LEAST_S = 1_000, 4, 0.3
"""Requests of the first run of a kind, and how many times more the next has, until one takes so
long."""


def main() -> None:
    """Run all of it on each preset; two minutes."""
    rows, taken = [], []
    for name in preset_names():
        device = open_target(f"sim:{name}", seed=SEED).device
        ratios = []
        for plan in RUNS:
            copy, seconds, requests = device.fork(), 0.0, BEGIN
            while seconds < LEAST_S:
                begun = time.process_time()
                result = copy.run(replace(plan, requests=requests, seed=requests))
                seconds = time.process_time() - begun
                writes = work.Work.of(result).writes
                rows.append((result.requests - writes, writes, *work.flash_work(result.counters)))
                taken.append(seconds)
                requests *= TIMES
            ratios.append(f"{plan.rw} {seconds / work.of_run(result):.2f}")
        print(f"{name:18} timed / counted: {', '.join(ratios)}", flush=True)
    # Each run counts by what it took: what is short costs nobody anything.
    weights = 1 / np.sqrt(np.array(taken))
    wanted = np.array(taken) * weights
    fitted, *_ = np.linalg.lstsq(np.array(rows) * weights[:, None], wanted, rcond=None)
    names = ("read", "write", "command of flash", "page of flash")
    words = (f"{each * 1e6:.3f} us a {name}" for each, name in zip(fitted, names, strict=True))
    print(f"fitted: {', '.join(words)}")


if __name__ == "__main__":
    main()
