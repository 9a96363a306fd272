"""In which order workloads are measured: what tells most first, then evenly over all kinds.

Whatever ends a stage early, what was measured by then is a coarser look at the whole and not its
beginning: of every pattern some sizes and depths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ssdscope.report.survey import Point
    from ssdscope.targets.records import DeviceInfo

SMALL_DEPTHS, LARGE_DEPTH = (1, 32), 16


def first(info: DeviceInfo, sizes: Sequence[int]) -> list[tuple[str, int, int]]:
    """Name the workloads that tell most: small ones at random, alone and many, and large in order.

    Parameters
    ----------
    sizes
        Those that the drive takes, from small to large.

    Returns
    -------
    list of tuple
        Pattern, bytes and depth; reads, and behind them writes where they may be.
    """
    sides = ("read", "write") if info.writable else ("read",)
    return [
        each
        for side in sides
        for each in (
            *((f"rand{side}", sizes[0], depth) for depth in SMALL_DEPTHS),
            (side, sizes[-1], LARGE_DEPTH),
        )
    ]


def evenly(points: Sequence[Point]) -> list[Point]:
    """Order points so that every beginning is spread over patterns, and in each over the grid."""
    by_pattern: dict[str, list[Point]] = {}
    for point in points:
        by_pattern.setdefault(point.rw, []).append(point)
    placed = [
        ((place + 0.5) / len(each), point)
        for each in by_pattern.values()
        for place, point in enumerate(_apart(each))
    ]
    # Equal places go by turns: sorting keeps the order of patterns.
    return [point for _, point in sorted(placed, key=lambda each: each[0])]


def _apart(points: Sequence[Point]) -> list[Point]:
    """Order points of a pattern, each as far as can be from all before it, the smallest first."""
    at = np.log2([[point.block_bytes, point.iodepth] for point in points])
    at = (at - at.min(axis=0)) / np.maximum(np.ptp(at, axis=0), 1)
    order = [int(np.argmin(at.sum(axis=1)))]
    nearest = np.full(len(points), np.inf)
    for _ in points[1:]:
        nearest = np.minimum(nearest, np.square(at - at[order[-1]]).sum(axis=1))
        nearest[order] = -1.0
        order.append(int(np.argmax(nearest)))
    return [points[place] for place in order]
