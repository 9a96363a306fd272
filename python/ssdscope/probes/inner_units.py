"""Whether a period of small writes consists of several units, told apart by full queues.

A drive may write two neighbouring units side by side, or one after the other if both are on one
chip. A write that straddles them is slower in the second case only, so that latency repeats with
the placement and not with the unit. With a full queue side by side costs as much as in turn:
the chips have twice as much to do.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.discipline import in_peace

if TYPE_CHECKING:
    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

DEPTH, BURST, ROUNDS = 64, 256, 7
BLOCKS = 2
"""In a write: the least that straddles."""
PERIODS = 64
"""A burst stays within so many, so that log blocks are merged rarely."""
SPLITS = (2, 3)
SHOWS = 0.1
ALIKE, UNLIKE = 0.5, 0.35
"""Of what straddling the period's own boundary costs."""


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written: the period may be split three times."""
    return 3 * len(SPLITS) * 3 * ROUNDS * BURST * BLOCKS * info.logical_block_bytes


def innermost(writer: Writer, period: int, boundary: int) -> int | None:
    """Give the unit that a period consists of, all in logical blocks; None if it is not clear.

    Parameters
    ----------
    period, boundary
        What repeats, and a place within it at which a unit begins.
    """
    for split in SPLITS:
        unit, rest = divmod(period, split)
        if rest or unit < BLOCKS:
            continue
        own, inner = _costs(writer, period, boundary, unit)
        if own < SHOWS or inner <= UNLIKE * own:
            continue
        if inner < ALIKE * own:
            return None
        return innermost(writer, unit, boundary % unit)
    return period


def _costs(writer: Writer, period: int, boundary: int, unit: int) -> tuple[float, float]:
    """How much longer bursts take that straddle the boundary, and the inner one, than neither."""
    inside = (unit - BLOCKS) // 2
    times = np.empty((ROUNDS, 3))
    rng = writer.bench.rng(f"inner units {period} {unit}")
    for each in times:
        for number in rng.permutation(3):
            at = (-1, unit - 1, inside if number == 2 and rng.integers(2) else unit + inside)[
                number
            ]
            each[number] = _burst_ns(writer, rng, period, boundary + at)
    middle = np.median(times, axis=0)
    return float(middle[0] / middle[2] - 1), float(middle[1] / middle[2] - 1)


def _burst_ns(writer: Writer, rng: np.random.Generator, period: int, at: int) -> float:
    """Time a burst of writes at one place of random periods."""
    info = writer.bench.info
    periods = info.capacity_bytes // info.logical_block_bytes // period
    first = int(rng.integers(1, max(periods - PERIODS - 1, 2)))
    within = rng.integers(0, min(PERIODS, periods - 3), BURST)
    places = ((first + within) * period + at) * info.logical_block_bytes
    call = partial(writer.span_ns, places, BLOCKS * info.logical_block_bytes, iodepth=DEPTH)
    return in_peace(writer.bench, call)
