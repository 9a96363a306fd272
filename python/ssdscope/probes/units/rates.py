"""Units by rates: what writes at depth take behind a full buffer, by where they lie in a unit.

Behind a full buffer a write takes as long as the flash needs for the units that it touches. So
writes that lie across a boundary take up to twice as long. Of each candidate four phases are tried
that are a quarter apart; what differs half a unit apart is looked at closely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ssdscope.inference.contrast import contrast
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.units.plans import PAGE_STEPS, lengths_blocks

if TYPE_CHECKING:
    from ssdscope.targets.records import DeviceInfo

__all__ = ["Took", "Way", "searched"]

Way = tuple[int, int, int]
"""How to write: the length, and a period and a phase of places, all in logical blocks."""
Took = Callable[[Sequence[Way], int], NDArray[np.float64]]
"""Says what a write takes, by round and way, of so many rounds."""

SHOWS = 1.2
"""Times as long across a boundary, or half a unit further on, for a unit to be one."""
READ = 1.15
"""Times as long two blocks of a unit take as all of it, as the rest is read. A write that fills a
unit of the buffer, and but a part of one of the flash, spares less."""
FEW, ROUNDS = 2, 8
"""Of stretches that say where to look, and of those that decide."""
LARGEST_BYTES = 64 * 1024
"""Units are shorter: what log blocks are merged to behaves alike, and is a block of flash."""
USUAL = 1, 3
"""Times a power of two blocks, that units are."""
TWICE, FULL = 1.75, 1.5
"""Times as long two blocks take as one, where each is a unit, of any larger one it is 1.5; and a
block as from rest on, where the flash decides and not the link."""


def searched(info: DeviceInfo, rested_ns: float, took: Took) -> Weighed:
    """Find a unit, in blocks, and in `detail` where it begins.

    Parameters
    ----------
    rested_ns
        What a block takes that finds an empty buffer.

    Returns
    -------
    Weighed
        No estimate if there is none. The bound is 0 if the unit is the logical block for certain.
    """
    if info.logical_block_bytes >= PAGE_STEPS[0][0]:
        one, two = took([(1, 1, 0), (2, 1, 0)], ROUNDS).T
        found = contrast(_pairs(two, one))
        if found.interval and found.interval[0] > TWICE and np.median(one) > FULL * rested_ns:
            return nothing(0.0)
    for unit in _likely(info):
        slow, ratio = _wave(took, unit)
        if ratio < SHOWS:
            continue
        begin = _begin(took, unit, slow, ratio)
        ends = np.median(took(_short(unit, _ends(unit, begin)), FEW), axis=0)
        if ends.max() > SHOWS * ends.min():
            continue  # a part, not all ends of which are ends of units
        found = _weighed(took, unit, begin)
        if verdict.is_sure(found, "contrast"):
            return found
    return nothing()


def _likely(info: DeviceInfo) -> list[int]:
    """List the units that are looked for, the powers of two first."""
    most = (LARGEST_BYTES - 1) // info.logical_block_bytes
    odd = {each: each // (each & -each) for each in lengths_blocks(info).tolist() if each <= most}
    return sorted((each for each in odd if odd[each] in USUAL), key=lambda each: (odd[each], each))


def _wave(took: Took, unit: int) -> tuple[Way, float]:
    """Return which quarter is slow, and by how much it exceeds that half a unit further on."""
    ways = [(max(unit // 4 + 1, 2), unit, at * unit // 4) for at in range(4)]
    times = np.median(took(ways, FEW), axis=0)
    apart = times / np.roll(times, 2)
    slow = int(np.argmax(apart))
    return ways[slow], float(apart[slow])


def _begin(took: Took, unit: int, slow: Way, ratio: float) -> int:
    """Find the boundary in a write that is slow, by halves of it, against half a unit further."""
    first, last = slow[2] + 1, slow[2] + slow[0] - 1
    while first < last:
        middle = (first + last) // 2
        starts = first - 1, (first - 1 + unit // 2) % unit
        ways = [(middle - first + 2, unit, start) for start in starts]
        across, within = np.median(took(ways, FEW), axis=0)
        first, last = (first, middle) if across > ratio**0.5 * within else (middle + 1, last)
    return first % unit


def _weighed(took: Took, unit: int, begin: int) -> Weighed:
    """Hold a boundary against places within the unit, by writes of two blocks alone.

    Longer ones leave a small buffer fewer to do side by side, and so do those that take two of its
    units. Of a multiple of the unit some places within are boundaries; of a part not all ends are.
    What is no unit is not written the sooner for being written whole.
    """
    within = [begin, begin - 2, *(begin + unit // each - 1 for each in _primes(unit))]
    starts = [(1, begin - 1), *((1, each) for each in within), *_ends(unit, begin)]
    times = took([(unit, unit, begin), *_short(unit, starts)], ROUNDS)
    whole, across, beside = times[:, :3].T
    inside, ends = np.split(times[:, 2:], [len(within)], axis=1)
    slowest = inside[:, np.argmax(np.median(inside, axis=0))]
    found = contrast(_pairs(across, slowest))
    if (found.estimate or 0.0) < SHOWS:
        return nothing()
    part = min(_surely(each, np.sqrt(across * slowest)) for each in ends.T)
    never_read = _surely(beside, READ * whole)
    rivals = [Rival("part", part), Rival("what is never read", never_read)]
    detail = {"begin": float(begin)}
    return replace(found, estimate=float(unit), interval=None, detail=detail).against(rivals)


def _ends(unit: int, begin: int) -> list[tuple[int, int]]:
    """List boundaries by turns: of each two units, and of each three."""
    return [(many, begin - 1 + at * unit) for many in (2, 3) for at in range(many)]


def _short(unit: int, starts: Sequence[tuple[int, int]]) -> list[Way]:
    """List ways to write two blocks from each start on, once in so many units."""
    return [(2, many * unit, start % (many * unit)) for many, start in starts]


def _primes(number: int) -> list[int]:
    """List the primes that divide a number."""
    divide = (each for each in range(2, number + 1) if number % each == 0)
    return [each for each in divide if all(each % less for less in range(2, each))]


def _pairs(one: NDArray[np.float64], other: NDArray[np.float64]) -> Series:
    rounds, is_one = np.arange(one.size), np.repeat([1, 0], one.size)
    return Series.of(is_one, np.concatenate([one, other]), stratum=np.tile(rounds, 2))


def _surely(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the evidence that one takes longer than the other; less than nothing if less."""
    found = contrast(_pairs(one, other))
    return math.copysign(found.score, (found.estimate or 1.0) - 1)
