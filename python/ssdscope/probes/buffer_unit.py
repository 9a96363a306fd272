"""The management unit of a write buffer: how long a small write can be and take one unit.

All spans of a burst are cut alike by the units. A write that crosses the end of a unit takes
two of them, so half as many fit into the buffer. From the first such end on, the longest
write that still takes one unit is the unit; its neighbours must confirm it on fresh bursts.

In a large buffer two blocks, one at either end, are written instead of all between them: that
fills it faster. In a small one the first might be on its way to flash when the second comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.bursts import SPAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

TWO_UNITS = 1.5
"""Units per write, as estimated, from which on it is more than one."""
ONE_WITHIN = 0.25


@dataclass(frozen=True)
class Filled:
    """What a write buffer takes.

    Attributes
    ----------
    writes, interval
        Writes of one unit each, and between which numbers that lies.
    units
        Tells of writes at some place, of some length, how many units they take.
    """

    writes: float
    interval: tuple[float, float]
    units: Callable[[int, int], float]


@dataclass(frozen=True)
class Unit:
    """A unit that was found, and whether fresh bursts confirm it.

    Attributes
    ----------
    bytes
        None if no length of write makes a difference.
    units_per_write
        What each length and place took, as (begins at, bytes, units).
    """

    bytes: int | None
    confirmed: bool
    units_per_write: list[tuple[int, int, float]]


def find_unit(units: Callable[[int, int], float], block: int) -> Unit:
    """Find the unit by what writes of whole blocks take, at a place and of a length."""
    tried: list[tuple[int, int, float]] = []

    def weigh(at: int, length: int) -> float:
        tried.append((at, length, units(at, length)))
        return tried[-1][2]

    end = _longest(weigh, 0, block)
    size = None if end is None else _longest(weigh, end, block)
    if end is None or size is None:
        return Unit(None, False, tried)
    # What took one unit is no longer than a unit.
    return Unit(size, end <= size and _confirmed(weigh, size, end, block), tried)


def _longest(units: Callable[[int, int], float], at: int, block: int) -> int | None:
    """Give the longest write from here that takes one unit; None if that cannot be told."""
    fits, crosses = block, 0
    while crosses - fits != block:
        length = (fits + crosses) // 2 // block * block if crosses else 2 * fits
        if at + length > SPAN_BYTES:
            return None
        taken = units(at, length)
        if np.isnan(taken):
            return None
        if taken < TWO_UNITS:
            fits = length
        else:
            crosses = length
    return fits


def _confirmed(units: Callable[[int, int], float], size: int, end: int, block: int) -> bool:
    """Look at other units of the span: whole, one block longer, and across their end."""
    if SPAN_BYTES % size:
        return False
    expected = []
    for unit in (1, 2):
        begin = (end + unit * size) % (SPAN_BYTES - 2 * size) if size > block else end
        begin += (end - begin) % size
        expected += [(begin, size, 1), (begin, size + block, 2)]
        if size > block:
            expected.append((begin + size - block, 2 * block, 2))

    def as_expected(at: int, length: int, many: int) -> bool:
        taken = units(at, length)
        return abs(taken - 1) <= ONE_WITHIN if many == 1 else taken >= TWO_UNITS

    # One that others disturbed may be repeated, and then must be as expected twice.
    return all(
        as_expected(*each) or (as_expected(*each) and as_expected(*each)) for each in expected
    )
