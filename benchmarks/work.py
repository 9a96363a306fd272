"""What counted work stands for: seconds of one core, on every preset.

    python benchmarks/work.py

Runs of several kinds on copies of each preset, timed by the processor's clock and counted as a
stage of a page counts them (`ssdscope.targets.work`): small and large reads and writes, in order
and not, and discards. Shown are timed over counted seconds, and at the end the constants that fit
best over all of them, by what each run is off. What a stage adds in Python is not in it.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from ssdscope.targets import Device, open_target, work
from ssdscope.targets.presets import preset_names
from ssdscope.targets.records import OP_DISCARD
from ssdscope.targets.work import FlashWork
from ssdscope.workloads import Workload

SEED = 1
KINDS = ("randread", "read", "randwrite", "write")
SIZES = ((4096, 16), (131_072, 16), (1_048_576, 4))
"""Of requests, in bytes, and how many are in flight."""
BEGIN, TIMES, LEAST_S = 500, 4, 0.15
"""Requests of the first run of a kind, and how many times more the next has, until one takes so
long."""
SHORTEST_S = 0.01
"""What is over sooner is too short to time."""
DISCARDED = 4 << 30
"""Bytes, of a drive that has as many."""
NAMES = ("read", "write", "command of flash", "page of flash", "piece of a table", "page freed",
         "unit buffered", "part of a map")  # fmt: skip

COSTS = (work.READ_S, work.WRITE_S, work.STEP_S, work.PAGE_S, work.PIECE_S, work.FREED_S,
         work.UNIT_S, work.LOAD_S)  # fmt: skip

Row = tuple[float, float, *tuple[float, ...]]
"""Seconds that a run took, and how often it did each of `NAMES`."""


def runs(device: Device, plan: Workload) -> Iterator[Row]:
    """Run one kind on a copy, longer and longer."""
    copy, seconds, requests = device.fork(), 0.0, BEGIN
    while seconds < LEAST_S and requests * plan.block_bytes < 2 * device.info.capacity_bytes:
        begun = time.process_time()
        result = copy.run(replace(plan, requests=requests, seed=requests))
        seconds = time.process_time() - begun
        writes = work.Work.of(result).writes
        yield seconds, result.requests - writes, writes, *FlashWork.of(result.counters)
        requests *= TIMES


def discards(device: Device) -> Iterator[Row]:
    """Discard some of a copy, piece by piece."""
    if not device.info.discard:
        return
    copy = device.fork()
    count = min(DISCARDED, device.info.capacity_bytes) // 131_072
    before, begun = copy.flash_work(), time.process_time()
    copy.run_list(np.full(count, OP_DISCARD), np.arange(count) * 131_072, np.full(count, 131_072))
    seconds = time.process_time() - begun
    done = (after - there for after, there in zip(copy.flash_work(), before, strict=True))
    yield seconds, count, 0, *done


def measured(name: str) -> list[Row]:
    """Run all kinds on a preset, and print what each took over what is counted."""
    device = open_target(f"sim:{name}", seed=SEED).device
    by_kind = {
        kind: [
            row for size, depth in SIZES
            for row in runs(device, Workload(rw=kind, block_bytes=size, iodepth=depth))
        ]
        for kind in KINDS
    } | {"discard": list(discards(device))}  # fmt: skip
    words, rows = [], []
    for kind, every in by_kind.items():
        long = [row for row in every if row[0] > SHORTEST_S]
        ratios = [row[0] / np.dot(COSTS, row[1:]) for row in long]
        words += [f"{kind} {min(ratios):.2f} to {max(ratios):.2f}"] if ratios else []
        rows += long
    print(f"{name:18} timed / counted: {', '.join(words)}", flush=True)
    return rows


def main() -> None:
    """Run all of it on each preset; three minutes."""
    table = np.array([row for name in preset_names() for row in measured(name)])
    fit = least_squares(
        lambda logs: np.log(table[:, 1:] @ np.exp(logs) / table[:, 0]),
        np.log(COSTS),
        loss="soft_l1",
    )
    fitted = zip(np.exp(fit.x), NAMES, strict=True)
    print(f"fitted: {', '.join(f'{each * 1e6:.3f} us a {name}' for each, name in fitted)}")
    ratios = np.exp(-fit.fun)
    print("timed over fitted: 5 %, half and 95 % at", np.percentile(ratios, [5, 50, 95]).round(2))


if __name__ == "__main__":
    main()
