"""Which places share something: classes, from pairs that wait for each other.

Two reads at once take longer if one die has to do both. Of each pair the logarithm of its time has
one of a few levels (`mixture`). Those that share most lie on the highest, unless it is one of
spikes: then no classes explain it, and the next is tried. Each pair speaks for or against its two
ends being together by how much more likely its time is on that level. Classes are joined one by
one, the best first, as long as all pairs between the two speak for it in sum.

Rivals: classes with one place elsewhere, or with two of them joined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import FOUND
from ssdscope.inference.mixture import Levels, levels_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Classes", "partition"]

MOVES = 4
"""How often each place may move."""


@dataclass(frozen=True)
class Classes:
    """What belongs together.

    Attributes
    ----------
    of : ndarray of int, shape (places,)
        The class of each place, from 0 on.
    score
        By how much the data speak for these classes rather than for none, less what it takes to
        name the class of each place.
    margin
        By how much rather than for any with one place elsewhere, or two of the classes joined.
    effect
        How much longer pairs of one class take, as a share.
    levels
        On which pairs lie.
    level
        Which of them those of one class lie on.
    evidence : ndarray, shape (places, places)
        How much the data speak for two places being together.
    """

    of: NDArray[np.int64]
    score: float
    margin: float
    effect: float
    levels: Levels
    level: int
    evidence: NDArray[np.float64]

    @property
    def count(self) -> int:
        """How many classes there are."""
        return int(self.of.max(initial=-1)) + 1


def partition(one: ArrayLike, other: ArrayLike, y: ArrayLike) -> Classes:
    """Find classes of places.

    Parameters
    ----------
    one, other : array_like of int, shape (n,)
        The two places of each pair, from 0 on.
    y : array_like, shape (n,)
        Its time.
    """
    first, second = np.asarray(one, np.int64), np.asarray(other, np.int64)
    logs = np.log(np.asarray(y, dtype=float))
    levels = levels_of(logs)
    found = [_of_level(first, second, logs, levels, at) for at in range(levels.count - 1, 0, -1)]
    if not found:
        places = _count(first, second)
        nothing = np.zeros((places, places))
        return Classes(np.arange(places), 0.0, 0.0, 0.0, levels, 0, nothing)
    good = (each for each in found if each.score >= FOUND["partition"])
    return next(good, max(found, key=lambda each: each.score))


def _count(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    return int(max(first.max(initial=-1), second.max(initial=-1))) + 1


def _of_level(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    logs: NDArray[np.float64],
    levels: Levels,
    at: int,
) -> Classes:
    """Find the classes of places whose pairs lie on one of the levels."""
    places, gained = _count(first, second), levels.gained(logs, at)
    evidence = np.zeros((places, places))
    np.add.at(evidence, (first, second), gained)
    evidence = evidence + evidence.T
    of = _moved(evidence, _joined(evidence))
    together = of[first] == of[second]
    score = float(gained[together].sum() - np.maximum(gained[~together], 0).sum())
    score -= places * math.log(int(of.max()) + 1)
    effect = math.expm1(float(levels.centres[at] - levels.centres[0]))
    return Classes(of, max(score, 0.0), _margin(evidence, of), effect, levels, at, evidence)


def _joined(evidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Join classes while the pairs between them speak for it in sum; the best first."""
    links = evidence.copy()
    np.fill_diagonal(links, -np.inf)
    count = len(links)
    label, best = np.arange(count), links.argmax(axis=1)
    while count > 1:
        every = links[np.arange(len(links)), best]
        one = int(np.argmax(every))
        other = int(best[one])
        if every[one] <= 0:
            break
        keep, gone = min(one, other), max(one, other)
        links[keep] += links[gone]
        links[:, keep] = links[keep]
        links[keep, keep] = links[gone] = links[:, gone] = -np.inf
        label[label == gone] = keep
        # Only rows whose best was one of the two, or has become the new class, are looked at again.
        stale = np.flatnonzero((best == keep) | (best == gone))
        best[stale] = links[stale].argmax(axis=1)
        better = links[:, keep] > links[np.arange(len(links)), best]
        best[better] = keep
        best[keep] = links[keep].argmax()
        count -= 1
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _moved(evidence: NDArray[np.float64], of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move places one by one to where their pairs speak for, the surest first."""
    for _ in range(MOVES * of.size):
        # One class more, that is empty: to be alone.
        one_of = np.eye(int(of.max()) + 2)[of]
        to_class = evidence @ one_of
        gains = to_class - to_class[np.arange(of.size), of][:, None]
        place, there = divmod(int(np.argmax(gains)), gains.shape[1])
        if gains[place, there] <= 0:
            break
        of = of.copy()
        of[place] = there
        of = np.unique(of, return_inverse=True)[1]
    return of.astype(np.int64)


def _margin(evidence: NDArray[np.float64], of: NDArray[np.int64]) -> float:
    """Give what the cheapest change costs: a place that goes elsewhere, or two classes joined."""
    one_of = np.eye(int(of.max()) + 1)[of]
    to_class = evidence @ one_of
    own = to_class[np.arange(of.size), of]
    elsewhere = np.where(one_of > 0, 0.0, to_class).max(axis=1, initial=0.0)
    alone = one_of.sum(axis=0)[of] == 1
    moves = np.where(alone, np.inf, own - elsewhere)
    between = one_of.T @ to_class
    apart = -between[~np.eye(len(between), dtype=bool)]
    return float(min(moves.min(), apart.min(initial=np.inf)))
