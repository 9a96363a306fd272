"""Types of pages: levels of equal shares of all places, which go by the order of writing.

A cell of three bits holds a bit of each of three pages, which take unlike times to read. A block
has as many of each type, and the types come in turn as it is filled. So a place that is written
again in another order has another type, whatever it had before. What belongs to the address does
not change: members of an array, or dies.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import HERE_AND_THERE, LEAST_EFFECT
from ssdscope.inference.mixture import WIDTHS, Levels, fitted
from ssdscope.inference.places import logs_of, places
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["beside", "kinds", "moved"]

MOST_TYPES = 4
"""Bits of a cell."""
PARTS = 4
"""Of the stretch, each of which has all types."""


def kinds(series: Series) -> Weighed:
    """Find how many levels of equal shares places lie on.

    Parameters
    ----------
    series
        Of `halves_of`, places ascending.

    Returns
    -------
    Weighed
        The estimate is their number, if there is more than one; the bound that of `places`. Rivals
        are other numbers, levels of any shares, and parts of the stretch with a level each.
    """
    there, logs = places(series), logs_of(series)[1]
    if there.estimate is None:
        return nothing(there.bound)
    alone = fitted(np.sort(logs), np.array([np.median(logs)]))[1]
    tried = {number: equal(logs, number) for number in range(2, MOST_TYPES + 1)}
    gained = {
        number: likely - alone - _cost(number, logs.size)
        for number, (levels, likely) in tried.items()
        if _distinct(levels)
    }
    if not gained:
        return nothing(there.bound)
    number = max(gained, key=lambda each: gained[each])
    levels, best = tried[number][0], gained[number]
    rivals = [
        Rival("another number of types", best - other, float(each))
        for each, other in gained.items()
        if each != number
    ]
    for more in (number, number + 1):
        other, likely = fitted(np.sort(logs), _quantiles(logs, more))
        free = likely - alone - _cost(2 * more - 1, logs.size)
        # Equal shares are some of them, and cannot beat them by more than what naming them costs.
        if _distinct(other) and free > best:
            rivals.append(Rival("levels of unlike shares", best - free))
    rivals.append(Rival("a level for each part", _over_parts(of_types(logs, levels), number)))
    effect = math.expm1(float(np.ptp(levels.centres)))
    score = max(min(best, there.score), 0.0)
    return Weighed(float(number), None, score, effect, there.bound).against(rivals)


def equal(logs: NDArray[np.float64], number: int) -> tuple[Levels, float]:
    """Fit so many levels of equal shares; return how likely they are, too."""
    return fitted(np.sort(logs), _quantiles(logs, number), equal=True)


def of_types(logs: NDArray[np.float64], levels: Levels) -> NDArray[np.int64]:
    """Return the level that each place lies on."""
    return np.asarray(np.abs(logs[:, None] - levels.centres).argmin(axis=1))


def beside(series: Series, number: int) -> NDArray[np.float64]:
    """Return neighbours that lie on unlike levels beyond doubt.

    Parameters
    ----------
    series
        Of `halves_of`, places ascending.
    number
        Of levels.

    Returns
    -------
    ndarray, shape (2, pairs)
    """
    at, logs = logs_of(series)
    levels = equal(logs, number)[0]
    # What noise moves to another level is no level from its neighbours.
    far = (1 - HERE_AND_THERE) * float(np.diff(levels.centres).min())
    first = np.flatnonzero((np.diff(of_types(logs, levels)) != 0) & (np.abs(np.diff(logs)) >= far))
    return np.array([at[first], at[first + 1]])


def moved(before: Series, after: Series, number: int, pieces: int) -> Weighed:
    """Say whether levels go by the order of writing: behind another one places have any of them.

    Parameters
    ----------
    before, after
        Of `halves_of`, the same places.
    number
        Of types.
    pieces
        That were written in another order: what lies in one moves together.

    Returns
    -------
    Weighed
        The estimate is the share of places with the same level, the score how much likelier it is
        by chance than if half of the places kept theirs.
    """
    both = (logs_of(each)[1] for each in (before, after))
    one, other = (of_types(each, equal(each, number)[0]) for each in both)
    same, chance = float((one == other).mean()), 1 / number
    kept = (1 + chance) / 2
    ratio = same * math.log(chance / kept) + (1 - same) * math.log((1 - chance) / (1 - kept))
    return Weighed(same, None, max(min(pieces, one.size) * ratio, 0.0), 1 - same, 1 - same)


def _quantiles(logs: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """Return the middles of so many parts of sorted values."""
    return np.quantile(logs, (np.arange(number) + 0.5) / number)


def _cost(more: int, count: int) -> float:
    """Return what so many numbers more are to gain, by Schwarz's criterion."""
    return more / 2 * math.log(count)


def _distinct(levels: Levels) -> bool:
    """Say whether values tell neighbouring levels apart."""
    least = max(WIDTHS * levels.deviation, math.log1p(LEAST_EFFECT))
    return bool(np.diff(levels.centres).min(initial=math.inf) >= least)


def _over_parts(of: NDArray[np.int64], number: int) -> float:
    """Say how much likelier it is that all types are in each part than that each has its own."""
    margin = 0.0
    for part in np.array_split(of, PARTS):
        most = int(np.bincount(part, minlength=number).max())
        others = math.log(HERE_AND_THERE / (number - 1))
        own = most * math.log(1 - HERE_AND_THERE) + (part.size - most) * others
        margin += part.size * math.log(1 / number) - own
    return margin
