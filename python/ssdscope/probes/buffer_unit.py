"""The management unit of a write buffer: how long a small write can be and take one unit.

All spans of a burst are cut alike by the units. A write that crosses the end of a unit takes
two of them, so half as many fit into the buffer. From the first such end on, the longest
write that still takes one unit is the unit; its neighbours must confirm it on fresh bursts.

In a large buffer two blocks, one at either end, are written instead of all between them: that
fills it faster. In a small one the first might be on its way to flash when the second comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.bursts import SPAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdscope.probes.bursts import Bursts

TWO_UNITS = 1.5
"""Units per write, as estimated, from which on it is more than one."""
ONE_WITHIN = 0.25
DOUBTFUL = (1.2, 1.8)
"""Neither one unit nor two: weighed twice more."""
MANY_WRITES = 1000
"""A stall of so many writes is sharp enough in a single burst."""
PAIRS_FROM = 128
"""In a buffer of so many units the two ends of a write stand for the whole of it."""
BURSTS = 3


@dataclass(frozen=True)
class Unit:
    """A unit that was found, and whether fresh bursts confirm it.

    Attributes
    ----------
    bytes
        None if no length of write makes a difference.
    end_bytes
        Where in a span a unit ends.
    units_per_write
        What each length and place took, as (begins at, bytes, units).
    """

    bytes: int | None
    end_bytes: int
    confirmed: bool
    units_per_write: list[tuple[int, int, float]]


class Weighing:
    """Tells how many units writes of some length at some place take.

    A control burst at the same pace, of which each write surely takes one unit, says how many
    fit; what leaves the buffer meanwhile leaves both alike.
    """

    def __init__(self, bursts: Bursts, room: stats.Room, fast_ns: float) -> None:
        self.bursts = bursts
        self.block = bursts.block_bytes
        self.fast_ns = fast_ns
        self.writes = min(round(2 * room.requests) + 24, bursts.most_writes)
        self.count = 1 if room.requests > MANY_WRITES else BURSTS
        self.pairs = room.requests >= PAIRS_FROM
        self.tried: list[tuple[int, int, float]] = []
        self._control: stats.Stall | None = None

    def units(self, at: int, length: int) -> float:
        """Weigh a write; NaN if its bursts never stall."""
        taken = [self._once(at % SPAN_BYTES, length)]
        if DOUBTFUL[0] < taken[0] < DOUBTFUL[1]:
            taken += [self._once(at % SPAN_BYTES, length) for _ in range(2)]
        self.tried.append((at, length, float(np.median(taken))))
        return self.tried[-1][2]

    def _once(self, begin: int, length: int) -> float:
        return self._pair(begin, length) if self.pairs else self._whole(begin, length)

    def _pair(self, begin: int, length: int) -> float:
        if self._control is None:
            self._control = self._stall(at=(begin, begin))
        both = self._stall(at=(begin, begin + length - self.block))
        return _ratio(self._control, both)

    def _whole(self, begin: int, length: int) -> float:
        written = self._stall(at=(begin,), length=length)
        if written is None:
            return np.nan
        think = max(0, round(written.fast_ns - self.fast_ns))
        return _ratio(self._stall(at=(begin,), thinktime_ns=think), written)

    def _stall(self, **how: Any) -> stats.Stall | None:
        found = stats.first_stall(self.bursts.run(self.writes, self.count, **how))
        if found is None:
            found = stats.first_stall(self.bursts.run(2 * self.writes, BURSTS, **how))
        return found


def _ratio(control: stats.Stall | None, measured: stats.Stall | None) -> float:
    if control is None or measured is None:
        return np.nan
    return control.requests / measured.requests


def find_unit(bursts: Bursts, room: stats.Room, fast_ns: float) -> Unit:
    """Find the unit of a buffer that takes so many writes of one block, at this pace."""
    weighing = Weighing(bursts, room, fast_ns)
    block = bursts.block_bytes
    end = _longest(weighing.units, 0, block)
    size = None if end is None else _longest(weighing.units, end, block)
    if end is None or size is None:
        return Unit(None, 0, False, weighing.tried)
    confirmed = _confirmed(weighing.units, size, end, block)
    return Unit(size, end, confirmed, weighing.tried)


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
