"""What a period of small writes may be besides a unit: a row of units, a chunk, or part of a unit.

A unit that is written whole is not read before, and a block less or more costs that reading. No row
of units on one chip, no chunk of an array of drives and no unit of a buffer has both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.contrast import signed
from ssdscope.inference.levels import APART, LEAST_EFFECT
from ssdscope.inference.noise import normal_scores
from ssdscope.inference.period import period
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.units.plans import (
    DEPTHS,
    FAR,
    KINDS,
    LOOKS,
    SMALL_BLOCK_BYTES,
    all_looks,
    lengths_blocks,
    lengths_plan,
    sizes_blocks,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.plan import Ask
    from ssdscope.targets.records import DeviceInfo

__all__ = ["gain", "parts_are_clear", "several_at_once", "with_wholes"]

MORE_AT_ONCE = 1.5
"""Writes done for each, where units side by side would show."""
BETWEEN = 0.5**2
"""Of what a unit's own boundaries cost: two chips that share the work show half of it."""
AS_MUCH = 3 / 8
"""Likewise, from which on it is as much: halfway to what units side by side show, from the quarter
that it may cost to read a page more, as a block across pages does, too."""
READING = LEAST_EFFECT
"""Of what a unit takes that is written after another: no flash reads in less than a thirtieth of
the time in which it programs."""
PIECES, TOGETHER = 32, 16
"""Of the rounds, at least, where there are so many; and rounds of a piece, at most."""
MEMBERS, MOST = (2, 3, 4), 0.1
"""Drives of an array; and of the scatter, that goes by turns: what is merged every so many units is
far less."""


def with_wholes(ask: Ask, samples: Series, found: Weighed) -> Weighed:
    """Add what speaks against it: that nothing is read, and units that it consists of."""
    info, unit, begin = ask.info, int(found.estimate or 0), int(found.detail["begin"])
    parts = parts_blocks(info, unit)
    for part in _largest(parts):
        if _costs_less(info, samples, found, part, AS_MUCH) <= -APART:
            return with_wholes(ask, samples, _consists_of(found, part))
    spared = LOOKS - np.unique(samples.stratum // FAR).size
    plan = lengths_plan(info, unit, begin, _around((unit, *parts)), 0)
    taken = [ask.take(plan)]
    found, rivals = _weighed(info, samples, found, taken)
    if rivals.margin < APART:
        # Now only what is not clear.
        unit = int(found.estimate or 0)
        unclear = [int(each.estimate or 1) for each in rivals.rivals if each.margin < APART]
        plan = lengths_plan(info, unit, begin % unit, _around((unit, *unclear)), 1, spared)
        taken.append(ask.take(plan))
        found, rivals = _weighed(info, samples, found, taken)
    return found.against([*rivals.rivals, *_unlike(info, samples, found)])


def parts_are_clear(info: DeviceInfo, samples: Series, found: Weighed) -> bool:
    """Say whether more writes at random places would tell no more of what a unit consists of."""
    parts = _largest(parts_blocks(info, int(found.estimate or 1)))
    free = [_costs_less(info, samples, found, part, BETWEEN) for part in parts]
    return all(abs(each) >= APART for each in free) or not several_at_once(samples)


def parts_blocks(info: DeviceInfo, unit: int) -> list[int]:
    """Give what a unit may consist of."""
    return [each for each in lengths_blocks(info).tolist() if each < unit and unit % each == 0]


def _largest(parts: Sequence[int]) -> list[int]:
    """Give those that are no parts of others."""
    return [part for part in parts if all(each % part for each in parts if each != part)]


def _around(ends: Sequence[int]) -> list[int]:
    """Give lengths that end at places, a block before and behind; and a block alone."""
    return sorted({1, *(end + more for end in ends for more in (-1, 0, 1) if end > 1)})


def _consists_of(found: Weighed, part: int) -> Weighed:
    """Give what was found with a part for its unit."""
    detail = {**found.detail, "begin": float(int(found.detail["begin"]) % part)}
    return replace(found, estimate=float(part), rivals=(), detail=detail)


def _weighed(
    info: DeviceInfo, samples: Series, found: Weighed, taken: Sequence[Series]
) -> tuple[Weighed, Weighed]:
    """Give the unit, or the part of it that is one, and what else it may be."""
    took, unit = _by_length(all_looks(taken)), int(found.estimate or 0)
    parts = parts_blocks(info, unit)
    units = [part for part in parts if _is_unit(info, took, unit, part)]
    if units and (part := math.gcd(*units)) in parts:
        return _weighed(info, samples, _consists_of(found, part), taken)
    free = {part: _costs_less(info, samples, found, part, BETWEEN) for part in parts}
    # Units within a part are whole where it is, and side by side where it is free.
    longer = {part: max(free[part], _surely(took[part] - took[unit])) for part in parts}
    rivals = [
        Rival(
            "part",
            max(_no_unit(took, unit, part), *(longer[each] for each in parts if each % part == 0)),
            float(part),
        )
        for part in parts
    ]
    # A longer write takes less only if less is read.
    shorter = [length for length in took if length < unit]
    reads = max(_surely(took[length] - took[unit]) for length in shorter)
    never = Rival("what is never read", reads - math.log(len(shorter)))
    return found, nothing().against([never, *rivals])


def _no_unit(took: dict[int, NDArray[np.float64]], unit: int, part: int) -> float:
    """Say how surely a part is none: a block more costs too little, or is no bend.

    It would read another part: at least what is read once where a whole unit lacks a block, and a
    share of what another unit takes.
    """
    saved, behind = took[unit - 1] - took[unit], took[part + 1] - took[part]
    whole = took[part - 1] - took[part]
    signs = (
        READING * _another(took, unit) - behind,
        saved - 2 * behind,
        saved + saved / 2 - (whole + behind),
    )
    return max(map(_surely, signs))


def _is_unit(info: DeviceInfo, took: dict[int, NDArray[np.float64]], unit: int, part: int) -> bool:
    """Say whether a block more than a part surely reads another, and a block less reads it.

    A block more alone may be but another page to be sent and programmed.
    """
    saved, behind = took[unit - 1] - took[unit], took[part + 1] - took[part]
    whole = took[part - 1] - took[part]
    sent = READING if info.logical_block_bytes <= SMALL_BLOCK_BYTES else 0.5
    signs = (
        behind - sent * _another(took, unit),
        2 * behind - saved,
        whole + behind - (saved + saved / 2),
    )
    return min(map(_surely, signs)) >= verdict.level_of("signed")


def _another(took: dict[int, NDArray[np.float64]], unit: int) -> float:
    """Give what the next unit costs beside one; twice at most, lest it is a merge."""
    return min(float(np.nanmedian(took[unit + 1] - took[unit])), math.log(2))


def _surely(differences: NDArray[np.float64]) -> float:
    """Give the evidence that differences are above nothing; less than nothing if they are below."""
    found = signed(differences)
    return found.score if (found.estimate or 0) > 1 else -found.score


def _by_length(samples: Series) -> dict[int, NDArray[np.float64]]:
    """Give logarithms of what each length takes, by rounds in a row; NaN where none were written.

    Whatever disturbs makes a write longer: of the rounds the least counts, but for one that may be
    an odd one out.
    """
    rounds, at = np.unique(samples.stratum, return_inverse=True)
    many = min(max(rounds.size // PIECES, 1), TOGETHER)
    took = {}
    for length in np.unique(samples.x).astype(int).tolist():
        there = (samples.x == length) & samples.valid
        took[length] = np.full(-(-rounds.size // many) * many, np.nan)
        took[length][at[there]] = np.log(samples.y[there])
        took[length] = np.sort(took[length].reshape(-1, many), axis=1)[:, min(1, many - 1)]
    return took


def _costs_less(
    info: DeviceInfo, samples: Series, found: Weighed, part: int, share: float
) -> float:
    """Say how surely boundaries of parts within units cost less than a share of units' own.

    Where several writes are at work at once, chips have twice as much to do beyond any boundary;
    of half as much on two chips half is seen. So what lies between is a quarter of it.
    """
    if not several_at_once(samples):
        return 0.0
    kept, begin = samples.kept(), int(found.detail["begin"])
    unit, evidence, weight = int(found.estimate or 1), 0.0, 0.0
    scores = normal_scores(kept.y, kept.stratum)
    for kind in np.unique(kept.stratum[kept.stratum % KINDS > 1]).tolist():
        there, size = kept.stratum == kind, sizes_blocks(info)[kind % 2]
        first = kept.x[there].astype(np.int64) - begin
        last = (first + size - 1) // part
        across, own = last > first // part, last % (unit // part) == 0
        groups = [scores[there][each] for each in (across & own, across & ~own, ~across)]
        if size <= part and min(each.size for each in groups) > 1:
            terms = list(zip((share, -1, 1 - share), groups, strict=True))
            variance = sum(by**2 * each.var() / each.size for by, each in terms)
            evidence += sum(by * each.mean() for by, each in terms) / variance
            weight += 1 / variance
    return math.copysign(evidence**2 / 2 / weight, evidence) if weight else 0.0


def several_at_once(samples: Series) -> bool:
    """Say whether so much more is done at once that two chips for one write are seen."""
    return gain(samples) >= MORE_AT_ONCE


def gain(samples: Series) -> float:
    """Say how many times as many writes are done where several are at work at once."""
    kept = samples.kept()
    alone, together = (
        float(np.median(kept.y[(kept.stratum % KINDS > 1) == deep])) for deep in (False, True)
    )
    return DEPTHS[1] / DEPTHS[0] * alone / together


def _unlike(info: DeviceInfo, samples: Series, found: Weighed) -> list[Rival]:
    """Say whether units take other times by turns: then they are chunks of drives that differ."""
    unit, kept = int(found.estimate or 1), samples.kept()
    first = kept.x.astype(np.int64) - int(found.detail["begin"])
    within = (first + np.array(sizes_blocks(info))[kept.stratum % 2] - 1) // unit == first // unit
    there = kept.where(within)
    turns = period(Series.of(first[within] // unit, there.y, stratum=there.stratum), MEMBERS)
    differ = verdict.is_found(turns, "period") and turns.detail["explained"] >= MOST
    return [Rival("drives side by side", 0.0)] if differ else []
