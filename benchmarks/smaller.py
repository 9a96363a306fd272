"""Smaller drives that are brought to rest, against whole ones.

    python benchmarks/smaller.py FILE [--drawn N] [--jobs N]

Designs of twins are brought to rest on less of the drive (`twin/smaller.py`). Here drawn drives, of
at most 1 GiB each, are written through two and a quarter times from what was filled in order, and a
quarter is timed. What the fit of a twin takes for that is compared. Results go to FILE as drives
are done; drives that stand there are left out. The end prints how far off the smaller ones are, by
workload: half, three of four, nine of ten.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from journal import Journal

from ssdscope.errors import SsdscopeError
from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.generator import draw
from ssdscope.recovery.second import draw_second
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.twin.design import BLOCKS, Design
from ssdscope.twin.rows import Row
from ssdscope.twin.running import Runner, means_ns
from ssdscope.twin.smaller import at_rest
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import counted, run_stretch

DRAWN_SEED, SEED = 44_000, 5
"""Of drives, which twins do not begin with; and of runs."""
MOST_BYTES = 1 << 30
THROUGH, TIMED = 2.25, 0.25
"""What is written before, and what is timed, as shares of the capacity."""
DEPTH = 16
ASKED = (("randwrite", 4096), ("randwrite", 16_384), ("randwrite", 65_536), ("write", 65_536))
SHARES = (0.5, 0.75, 0.9)


def designs(count: int) -> Iterator[tuple[str, Design]]:
    """Return drawn drives of flash that are made smaller, by name."""
    for index in range(count):
        drive = draw_second(DRAWN_SEED, index) if index % 2 else draw(DRAWN_SEED, index)
        if isinstance(drive, DrawnArray):
            continue
        values = {key: value for key, value in drive.filed().items() if key != BLOCKS}
        span = int(values.get("ftl.merge_unit_bytes") or values.get("ftl.map_unit_bytes") or 4096)
        capacity = min(drive.open().info.capacity_bytes, MOST_BYTES) // span * span
        design = Design(values, capacity).evened()
        if at_rest(design) is not design:
            yield f"drawn-{index}", design


def whole_ns(design: Design, rw: str, size: int) -> float:
    """Write the whole drive through, and time what follows."""
    device = open_drive(drive_toml(design.file(), []), "whole", SEED, state="sequential")
    plan = Workload(rw=rw, block_bytes=size, iodepth=DEPTH, seed=SEED)
    holds = device.info.capacity_bytes / size
    run_stretch(device, counted(plan, round(THROUGH * holds)))
    found = run_stretch(device, counted(plan.seeded(SEED + 1), round(TIMED * holds)))
    return float(found.parts["write"].latency_ns.mean())


def compared(name: str, design: Design) -> tuple[str, dict[str, Any]]:
    """Return the name, and by workload the logarithm of what the smaller takes over the whole."""
    rows = [Row("rest", rw, size, DEPTH, 1, 1.0) for rw, size in ASKED]
    try:
        small = means_ns(Runner(rows, SEED), design)
        whole = [whole_ns(design, rw, size) for rw, size in ASKED]
    except SsdscopeError as error:
        return name, {"reason": error.message}
    off = {f"{rw} {size}": math.log(one / other)
           for (rw, size), one, other in zip(ASKED, small, whole, strict=True)}  # fmt: skip
    return name, {"share": at_rest(design).capacity_bytes / design.capacity_bytes, "off": off}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--drawn", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    journal = Journal(options.file)
    seen = frozenset(journal.done)
    asked = (delayed(compared)(*each) for each in designs(options.drawn) if each[0] not in seen)
    for name, found in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(asked):
        journal.add(name, found)
    ran = [each["off"] for each in journal.done.values() if "off" in each]
    print(f"{len(ran)} drives; {len(journal.done) - len(ran)} could not run")
    for key in ran[0] if ran else ():
        off = np.abs(np.expm1([each[key] for each in ran]))
        parts = "  ".join(f"{each:6.1%}" for each in np.quantile(off, SHARES))
        print(f"{key:18} {parts}")


if __name__ == "__main__":
    main()
