"""Places sorted by what they lie on: the plan is sized by what the one before came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.mixture import levels_of
from ssdscope.inference.series import Rival, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.dies.partition import Classes, partition
from ssdscope.probes.shared.at_once import Chosen, Kept, Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.plan import Ask

__all__ = ["Sorted", "plenty", "sizes_of", "sort", "sorted_by"]

PER_CLASS = 15
"""Places: of a hundred classes one has none or one of so many once in two thousand draws."""
MATES = 6
"""Of its own class, that each place of plenty meets: it meets none once in four hundred."""
MOST_PAIRS = 250_000
"""Of places that all meet all others."""
FIRST_PLACES, FIRST_PARTNERS, FIRST_TIMES = 128, 10, 3
"""A first plan: of eight dies each place meets one or two of its own."""
PLENTY = 400
"""Places: what a bit of their address does shows in these, whatever chance has done to it."""
MOST_PLACES, MOST_TIMES = 1600, 25
TURNS = 4
"""In which places of a class are paired with each other: two hundred pairs, of any size."""
SHOWS = 4.0
"""Standard errors by which a level is no chance."""
WIDTHS = 6.0
"""Deviations between levels that leave no doubt about a single pair."""


@dataclass(frozen=True)
class Sorted:
    """Places by what they lie on.

    Attributes
    ----------
    places
        Addresses of those whose class is known.
    of
        Of each.
    by_class
        What the engine said, of all places.
    weighed
        How many classes there are.
    plan
        What they were drawn by.
    """

    places: NDArray[np.float64]
    of: NDArray[np.int64]
    by_class: Classes
    weighed: Weighed
    plan: Pairs

    @property
    def enough(self) -> bool:
        """Whether the classes are told apart, and there are no others.

        Of the highest level, which must not be taken for chance; or of a lower one, if there are
        enough places for as many classes as those would be that shared the highest.
        """
        levels = self.by_class.levels
        highest = self.by_class.level == levels.count - 1
        drawn = highest or self.by_class.of.size >= PER_CLASS * self.dies
        return drawn and verdict.is_sure(self.weighed, "partition")

    @property
    def whole_drives(self) -> bool:
        """Whether what the places lie on may be drives that take one command at a time.

        Dies leave their drive what two reads have in common: of two on one die a part overlaps, of
        two on different ones a part does not. Two reads of one such drive overlap in nothing that
        anyone would notice, and those of different ones have nothing in common that shows.
        """
        levels, count = self.by_class.levels, self.by_class.of.size
        pairs = count * min(self.plan.partners, count - 1) / 2
        error = levels.deviation / math.sqrt(pairs * float(levels.shares[0]))
        shared, overlap = levels.centres[0] / error, math.log(2) - levels.centres[-1]
        return bool(shared < SHOWS and overlap < LEAST_EFFECT)

    @property
    def dies(self) -> float:
        """How many there would be, by how rare the pairs are that wait longest."""
        return 1 / float(self.by_class.levels.shares[-1])


def sort(ask: Ask, kept: Kept, low: int, high: int) -> Sorted:
    """Sort places, in at most three plans."""
    plan = Pairs(
        places=FIRST_PLACES,
        partners=FIRST_PARTNERS,
        times=FIRST_TIMES,
        low_bytes=low,
        high_bytes=high,
        kept=kept,
    )
    for _ in range(3):
        found = sorted_by(ask, plan)
        if found.by_class.levels.count == 1 and plan.times == MOST_TIMES:
            break
        if not found.enough:
            plan = _larger(found)
        elif plan.times == MOST_TIMES or _alike(ask, found):
            break
        else:
            plan = replace(plan, times=MOST_TIMES, number=plan.number + 1)
    return found


def _alike(ask: Ask, found: Sorted) -> bool:
    """Say whether pairs within a class all take as long, when they are read more often.

    If what noise made one level are two, those that share a link were taken for a class.
    """
    classes = [found.places[found.of == each] for each in np.unique(found.of)]
    halves = [np.split(each[: each.size // 2 * 2].astype(int), 2) for each in classes]
    one = np.concatenate([low for _ in range(TURNS) for low, _ in halves])
    other = np.concatenate([np.roll(high, turn) for turn in range(TURNS) for _, high in halves])
    drawn = found.plan
    plan = Chosen(
        one=tuple(one.tolist()),
        other=tuple(other.tolist()),
        rounds=TURNS,
        times=MOST_TIMES,
        kept=drawn.kept,
        number=drawn.number,
    )
    logs = np.log(ask.take(plan).y).reshape(TURNS, -1)
    ends = np.cumsum([low.size for low, _ in halves])[:-1]
    by_class = np.split(logs, ends, axis=1)
    return (
        levels_of(np.concatenate([(each - np.median(each)).ravel() for each in by_class])).count
        == 1
    )


def sorted_by(ask: Ask, plan: Pairs) -> Sorted:
    """Count the classes of the places of a plan."""
    places, pairs = Pairs.parts(ask.take(plan))
    found = partition(pairs.x, pairs.stratum, pairs.y)
    one_of = np.eye(found.count)[found.of]
    to_class = found.evidence @ one_of
    # A place that met none of its own class is alone: it says nothing of how many there are.
    several = np.flatnonzero(one_of.sum(axis=0) > 1)
    between = (one_of.T @ to_class)[np.ix_(several, several)]
    inside, apart = np.diag(between) / 2, -between[~np.eye(several.size, dtype=bool)]
    # A place that waits for none is in memory, perhaps: that some class has but one of so many, or
    # none, would be a chance of as many as there are places, over e to the power of its share.
    few = found.of.size / several.size - math.log(found.of.size) if several.size else 0.0
    rivals = [
        Rival("a class of one place or none", few, several.size + 1.0),
        Rival("a class of chance", float(inside.min(initial=math.inf)), several.size - 1.0),
        Rival("two classes that are one", float(apart.min(initial=math.inf)), several.size - 1.0),
    ]
    told = np.isin(found.of, several)
    of = np.searchsorted(several, found.of[told])
    counted = float(several.size) if several.size > 1 else None
    weight = Weighed(counted, None, found.score, found.effect, found.effect).against(rivals)
    return Sorted(places[told], of, found, weight, plan)


def plenty(ask: Ask, found: Sorted) -> Sorted:
    """Sort more places of the same than it takes to know the dies."""
    places, partners = sizes_of(found)
    places = min(places, MOST_PLACES)
    return sorted_by(ask, replace(found.plan, places=places, partners=partners, number=3))


def sizes_of(found: Sorted) -> tuple[int, int]:
    """Give how many places on the same dies are plenty, and with how many others each is paired."""
    dies = int(found.weighed.estimate or 1)
    return max(2 * PER_CLASS * dies, PLENTY), MATES * dies


def _larger(found: Sorted) -> Pairs:
    """Size another plan by what the one before came to."""
    levels, plan = found.by_class.levels, found.plan
    number = plan.number + 1
    if levels.count == 1:
        return replace(plan, times=MOST_TIMES, number=number)
    # Pairs of a class may be as rare as half a deviation below what was met; classes may differ.
    share = float(levels.shares[-1])
    dies = (1 + 1 / math.sqrt(2 * share * plan.places * plan.partners)) / share
    if plan.partners >= plan.places:
        dies = max(dies, found.weighed.estimate or 0)
    noisy = WIDTHS * levels.deviation / float(np.diff(levels.centres).min())
    places = min(max(math.ceil(PER_CLASS * dies), FIRST_PLACES), MOST_PLACES)
    return replace(
        plan,
        places=places,
        partners=min(places, 2 * MOST_PAIRS // places),
        times=min(max(math.ceil(plan.times * noisy**2), FIRST_TIMES), MOST_TIMES),
        number=number,
    )
