"""Which workloads a model learns from, and which it is held to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.targets.records import DeviceInfo

READS = ("read", "randread")
WRITES = ("write", "randwrite")
SIZES_BYTES = tuple(kib * 1024 for kib in (4, 16, 64, 256, 1024))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
FEATURES = ("log2_block_bytes", "log2_iodepth", "random", "write")
"""Columns of a feature matrix: latency is close to a power law in size and in depth."""


@dataclass(frozen=True, order=True)
class Point:
    """One workload of one pattern, size and depth."""

    rw: str
    block_bytes: int
    iodepth: int

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.rw in WRITES


def patterns(info: DeviceInfo) -> tuple[str, ...]:
    """Give the patterns that may run: reads only on a drive that may not be written."""
    return READS + WRITES if info.writable else READS


def sizes(info: DeviceInfo) -> list[int]:
    """Give the grid's sizes that this drive takes, at least four of which fit side by side."""
    return [
        size
        for size in SIZES_BYTES
        if size % info.logical_block_bytes == 0 and 4 * size <= info.capacity_bytes
    ]


def grid(info: DeviceInfo) -> list[Point]:
    """List every pattern at every size and depth; reads come first, they age nothing."""
    return [
        Point(rw, size, depth) for rw in patterns(info) for size in sizes(info) for depth in DEPTHS
    ]


def off_grid(info: DeviceInfo, count: int, rng: np.random.Generator) -> list[Point]:
    """Draw points between the grid's, evenly over the logarithms of size and depth.

    No point of the grid is among them: a model is not held to what it has seen.
    """
    allowed = sizes(info)
    if len(allowed) < 2:
        return []
    on_grid = set(grid(info))
    unit = max(4096, info.logical_block_bytes)
    drawn: list[Point] = []
    names = patterns(info)
    for _ in range(20 * count):
        if len(drawn) == count:
            break
        size = unit * round(2 ** rng.uniform(*np.log2([allowed[0], allowed[-1]])) / unit)
        depth = round(2 ** rng.uniform(0, np.log2(DEPTHS[-1])))
        point = Point(names[len(drawn) % len(names)], max(size, unit), depth)
        if point not in on_grid and point not in drawn:
            drawn.append(point)
    return sorted(drawn, key=lambda point: (point.writes, point))


def features(points: Sequence[Point]) -> npt.NDArray[Any]:
    """Turn points into the columns of `FEATURES`, shape (n, 4)."""
    rows = [
        (np.log2(p.block_bytes), np.log2(p.iodepth), p.rw.startswith("rand"), p.writes)
        for p in points
    ]
    return np.array(rows, dtype=float)
