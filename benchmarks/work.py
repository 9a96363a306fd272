"""What counted work stands for: seconds of one core, on every preset.

    python benchmarks/work.py

Short runs of several kinds on each preset, timed by the processor's clock and counted as a stage
of a page counts them (`ssdscope.targets.work`). Shown are timed over counted seconds, and at the
end the constants that would fit best over all of them. What a stage adds in Python is not in it.
"""

import time

import numpy as np

from ssdscope.targets import open_target, work
from ssdscope.targets.presets import preset_names
from ssdscope.workloads import Workload

SEED = 1
RUNS = (
    Workload(rw="randread", block_bytes=4096, iodepth=16, requests=20_000, seed=SEED),
    Workload(rw="read", block_bytes=131_072, iodepth=16, requests=2_000, seed=SEED),
    Workload(rw="randwrite", block_bytes=4096, iodepth=16, requests=4_000, seed=SEED),
    Workload(rw="write", block_bytes=131_072, iodepth=16, requests=2_000, seed=SEED),
)


def main() -> None:
    """Run all of it on each preset; a minute."""
    rows, taken = [], []
    for name in preset_names():
        device = open_target(f"sim:{name}", seed=SEED).device
        ratios = []
        for plan in RUNS:
            begun = time.process_time()
            result = device.run(plan)
            seconds = time.process_time() - begun
            counted = result.counters or {}
            flash = sum(counted.get(f"flash_bytes_{kind}", 0) for kind in ("programmed", "read"))
            rows.append((result.requests, flash / work.FLASH_PAGE_BYTES))
            taken.append(seconds)
            ratios.append(f"{plan.rw} {seconds / work.of_run(result):.2f}")
        print(f"{name:18} timed / counted: {', '.join(ratios)}", flush=True)
    # Each run counts the same, however long it took.
    weights = 1 / np.array(taken)
    fitted, *_ = np.linalg.lstsq(np.array(rows) * weights[:, None], np.ones(len(rows)), rcond=None)
    print(f"fitted: {fitted[0] * 1e6:.2f} us a request, {fitted[1] * 1e6:.2f} us a page of flash")


if __name__ == "__main__":
    main()
