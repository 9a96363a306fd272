"""Cells of the model's maps: how often their 90 % intervals hold the mean of a long run.

    python benchmarks/cells.py [DRIVE ...] [--seed N] [--reads N] [--writes N]

Of each drive the page's model is made as `characterize` makes it, and cells of its maps are drawn.
Reads are run a hundred times as long as the page's. Writes are brought to rest from where the page
has settled the nearest size, and measured there; of drives on which nothing came to rest no writes
are tried. At most 13 % of the cells may lie outside, and of the reads alone.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Before numpy is loaded: threads of BLAS wait for each other longer than they compute.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np

from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import Budget, silent
from ssdscope.report import modelling, performance, survey, sustaining
from ssdscope.report.survey import Point
from ssdscope.report.sustaining import Settled
from ssdscope.targets import Device, open_target
from ssdscope.targets.presets import preset_names
from ssdscope.workloads.figures import measure
from ssdscope.workloads.sustained import sustain

OUTSIDE_MAX = 0.13
LONG_READS = 100 * survey.LEAST_READS
OTHER_SEEDS = 9_000_000
BUDGET = Budget.parse("default")


@dataclass(frozen=True)
class Cell:
    """A cell of a map, and what a long run says."""

    point: Point
    value_ns: float
    low_ns: float
    high_ns: float
    truth_ns: float

    @property
    def holds(self) -> bool:
        """Whether the interval holds the long run."""
        return self.low_ns <= self.truth_ns <= self.high_ns

    def __str__(self) -> str:
        """Write it in a line."""
        where = f"{self.point.rw} {self.point.block_bytes // 1024}k x{self.point.iodepth}"
        return (
            f"{where:22} {self.value_ns / 1e3:11,.1f} us "
            f"[{self.low_ns / 1e3:,.1f}, {self.high_ns / 1e3:,.1f}]  "
            f"long {self.truth_ns / 1e3:11,.1f}  {self.value_ns / self.truth_ns - 1:+.1%}  "
            f"{'holds' if self.holds else 'OUTSIDE'}"
        )


def page_model(device: Device, name: str, seed: int) -> tuple[Mapping[str, Any] | None, Settled]:
    """Make what the page has before its model, and the model."""
    points = survey.grid(device.info)
    rng = np.random.default_rng([seed, 0xDE51])
    splits = [(point, "grid") for point in points]
    splits += [
        (point, "off-grid") for point in survey.off_grid(device.info, performance.HELD_OUT, rng)
    ]
    effort = performance.effort(BUDGET, len(splits))
    measured = survey.collect(
        device, [point for point, _ in splits], effort, seed=seed, progress=silent
    )
    rows = [
        row.to_json() | {"split": split}
        for (_, split), row in zip(splits, measured, strict=True)
    ]  # fmt: skip
    settled = sustaining.settle(device, BUDGET, seed=seed, progress=silent)
    known = {"points": rows, "sustained": list(sustaining.rows(settled))}
    made = modelling.model(device, f"sim:{name}", BUDGET, seed, silent, known, settled)
    return (made[0] if made else None), settled


def drawn(
    model: Mapping[str, Any], rw: str, count: int, rng: np.random.Generator
) -> Iterator[tuple[Point, Mapping[str, float]]]:
    """Draw cells of a map."""
    name = "random reads" if rw == "randread" else "random writes"
    for each in model["maps"]:
        if each["name"] == name:
            every = [
                (Point(rw, size, depth), cell)
                for depth, row in zip(each["depths"], each["cells"], strict=True)
                for size, cell in zip(each["sizes_bytes"], row, strict=True)
            ]
            for place in rng.permutation(len(every))[:count]:
                yield every[place]


def truth_ns(device: Device, settled: Settled, point: Point, seed: int) -> float | None:
    """Run long; None of writes that do not come to rest."""
    plan = survey.workload_of(point, seed)
    if not point.writes:
        return measure(device.fork(), plan, LONG_READS)["read"].mean_ns
    sizes = (size for rw, size in settled.drives if rw == point.rw)
    nearest = min(sizes, key=lambda size: abs(np.log(size / point.block_bytes)))
    kept = settled.drives[point.rw, nearest]
    written = kept.written_bytes if nearest == point.block_bytes else 0
    found = sustain(kept.device.fork(), plan, written_bytes=written)
    return found.figures["write"].mean_ns if found.reached else None


def cells_of(name: str, seed: int, reads: int, writes: int) -> Iterator[Cell]:
    """Hold cells of a drive's maps to long runs."""
    device = open_target(f"sim:{name}", seed=seed).device
    model, settled = page_model(device, name, seed)
    if model is None:
        return
    rng = np.random.default_rng([seed, *name.encode()])
    wanted = [*drawn(model, "randread", reads, rng)]
    if model["writes"] == "sustained":
        wanted += drawn(model, "randwrite", writes, rng)
    for number, (point, cell) in enumerate(wanted):
        truth = truth_ns(device, settled, point, seed + OTHER_SEEDS + number)
        if truth is not None:
            yield Cell(point, cell["value"], cell["low"], cell["high"], truth)


def main() -> int:
    """Try drives, and say how many cells lie outside."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drives", nargs="*", default=preset_names())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reads", type=int, default=6, help="cells of each drive")
    parser.add_argument("--writes", type=int, default=3, help="cells of each drive")
    asked = parser.parse_args()
    found: list[Cell] = []
    for name in asked.drives:
        try:
            for cell in cells_of(name, asked.seed, asked.reads, asked.writes):
                found.append(cell)
                print(f"{name:18} {cell}", flush=True)
        except SsdscopeError as error:
            print(f"{name:18} {error.message}", flush=True)
    fine = True
    for what, chosen in (
        ("reads", [each for each in found if not each.point.writes]),
        ("all", found),
    ):
        outside = sum(not each.holds for each in chosen)
        print(f"{what}: {outside} of {len(chosen)} cells lie outside")
        fine = fine and outside <= OUTSIDE_MAX * len(chosen)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
