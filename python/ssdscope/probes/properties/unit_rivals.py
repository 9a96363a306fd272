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
from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.noise import normal_scores
from ssdscope.inference.period import period
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes.properties.unit_plans import (
    DEPTHS,
    KINDS,
    joined,
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
MEMBERS, MOST = (2, 3, 4), 0.1
"""Drives of an array; and of the scatter, that goes by turns: what is merged every so many units is
far less."""


def with_wholes(ask: Ask, samples: Series, found: Weighed) -> Weighed:
    """Add what speaks against it: that nothing is read, and units that it consists of."""
    unit, begin = int(found.estimate or 0), int(found.detail["begin"])
    parts = [unit // many for many in _primes(unit)]
    near = (unit - 1, unit)
    lengths = sorted({*near, *(end + more for end in parts for more in (-1, 0, 1) if end > 1)})
    free = {part: _costs_nothing(ask.info, samples, found, part) for part in parts}
    for part, surely in free.items():
        if surely <= -APART:
            detail = {**found.detail, "begin": float(begin % part)}
            return with_wholes(
                ask, samples, replace(found, estimate=float(part), rivals=(), detail=detail)
            )
    taken = [ask.take(lengths_plan(ask.info, unit, begin, lengths, 0))]
    rivals = _rivals(taken, unit, free)
    if rivals.margin < APART:
        clear = all(each.margin >= APART for each in rivals.rivals if each.estimate)
        wanted = near if clear else lengths
        taken.append(ask.take(lengths_plan(ask.info, unit, begin, wanted, 1)))
        rivals = _rivals(taken, unit, free)
    return found.against([*rivals.rivals, *_unlike(ask.info, samples, found)])


def parts_are_clear(info: DeviceInfo, samples: Series, found: Weighed) -> bool:
    """Say whether more writes at random places would tell no more of what a unit consists of."""
    unit = int(found.estimate or 1)
    free = [_costs_nothing(info, samples, found, unit // many) for many in _primes(unit)]
    return all(abs(each) >= APART for each in free) or not several_at_once(samples)


def _rivals(taken: Sequence[Series], unit: int, free: dict[int, float]) -> Weighed:
    """Give what else it may be: what is never read, or several units."""
    took = _by_length(joined(taken))
    saves = Rival("what is never read", _surely(took[unit - 1] - took[unit]))
    parts = [
        Rival("part", max(_no_unit(took, unit, part), surely), float(part))
        for part, surely in free.items()
    ]
    return nothing().against([saves, *parts])


def _no_unit(took: dict[int, NDArray[np.float64]], unit: int, part: int) -> float:
    """Say how surely a part is none: it saves too little by being whole, or a block more costs it.

    Either would be at least what a whole unit saves: to read once.
    """
    if part == 1:  # A block is written whole whatever the unit is: then nothing is saved.
        return math.inf
    saved = took[unit - 1] - took[unit]
    whole, behind = took[part - 1] - took[part], took[part + 1] - took[part]
    return max(_surely(saved - 2 * each) for each in (whole, behind))


def _surely(differences: NDArray[np.float64]) -> float:
    """Give the evidence that differences are above nothing; less than nothing if they are below."""
    found = signed(differences)
    return found.score if (found.estimate or 0) > 1 else -found.score


def _by_length(samples: Series) -> dict[int, NDArray[np.float64]]:
    """Give logarithms of what each length took, by round; NaN where it was not written."""
    rounds, at = np.unique(samples.stratum, return_inverse=True)
    took = {}
    for length in np.unique(samples.x).astype(int).tolist():
        there = (samples.x == length) & samples.valid
        took[length] = np.full(rounds.size, np.nan)
        took[length][at[there]] = np.log(samples.y[there])
    return took


def _costs_nothing(info: DeviceInfo, samples: Series, found: Weighed, part: int) -> float:
    """Say how surely boundaries of parts within units cost nothing, and not what units' own do.

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
            terms = list(zip((BETWEEN, -1, 1 - BETWEEN), groups, strict=True))
            variance = sum(share**2 * each.var() / each.size for share, each in terms)
            evidence += sum(share * each.mean() for share, each in terms) / variance
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
    """Say whether units take other times by turns: then they are chunks of drives that differ.

    Where a buffer stays on, boundaries must be alike, too: it may send on parts of units, which
    are written in turn, and at once beyond the whole.
    """
    unit, kept = int(found.estimate or 1), samples.kept()
    first = kept.x.astype(np.int64) - int(found.detail["begin"])
    last = (first + np.array(sizes_blocks(info))[kept.stratum % 2] - 1) // unit

    def by_turns(chosen: NDArray[np.bool_]) -> Weighed:
        there = kept.where(chosen)
        return period(Series.of(last[chosen], there.y, stratum=there.stratum), MEMBERS)

    within, across = by_turns(last == first // unit), by_turns(last == first // unit + 1)
    rivals = []
    if within.score >= FOUND["period"] and within.detail["explained"] >= MOST:
        rivals.append(Rival("drives side by side", 0.0))
    stays = info.write_cache.on and info.write_cache.control != "switchable"
    if stays and across.score >= FOUND["period"]:
        rivals.append(Rival("parts that a buffer sends on", 0.0))
    return rivals


def _primes(number: int) -> list[int]:
    """Give the primes that divide a number."""
    every = range(2, number + 1)
    dividing = [each for each in every if number % each == 0]
    return [each for each in dividing if all(each % other for other in dividing if other < each)]
