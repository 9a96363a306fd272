"""Which places share something: classes, from pairs that wait for each other.

Two reads at once take longer if one die has to do both. Of each pair the logarithm of its time has
one of two levels, and a pair conflicts if both ends are in one class. The levels are those of the
greatest likelihood; each pair then speaks for or against its two ends being together by how much
more likely its time is at the one level. Classes are joined one by one, the best first, as long as
all pairs between the two speak for it in sum.

Rivals: classes with one place elsewhere, or with two of them joined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Classes", "partition"]

ROUNDS, MOVES = 50, 4
"""Of the fit, at most; and how often each place may move."""
BEGINNINGS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6)
"""Shares of slow pairs: two dies make a half of them slow, fifty two in a hundred."""
NARROWEST = 1e-4
OUTLIERS = 0.02
"""Of the pairs, that may have any time: what a spike made slow speaks for nothing."""


@dataclass(frozen=True)
class Classes:
    """What belongs together.

    Attributes
    ----------
    of : ndarray of int, shape (places,)
        The class of each place, from 0 on.
    score
        By how much the data speak for these classes rather than for one level of all pairs.
    margin
        By how much rather than for any with one place elsewhere, or two of the classes joined.
    effect
        How much longer pairs of one class take, as a share.
    """

    of: NDArray[np.int64]
    score: float
    margin: float
    effect: float

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
    places = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    levels = _levels(logs)
    gained = levels.gained
    evidence = np.zeros((places, places))
    np.add.at(evidence, (first, second), gained)
    evidence = evidence + evidence.T
    of = _moved(evidence, _joined(evidence))
    together = of[first] == of[second]
    score = float(gained[together].sum() - np.maximum(gained[~together], 0).sum())
    return Classes(
        of, max(score, 0.0), _margin(evidence, of), math.expm1(levels.slow - levels.fast)
    )


@dataclass(frozen=True)
class _Levels:
    """Two normal levels of one width, and anything for a few."""

    fast: float
    slow: float
    deviation: float
    share: float
    gained: NDArray[np.float64]
    likelihood: float


def _levels(logs: NDArray[np.float64]) -> _Levels:
    """Fit the two levels by the greatest likelihood, from several beginnings."""
    return max((_fitted(logs, share) for share in BEGINNINGS), key=lambda each: each.likelihood)


def _fitted(logs: NDArray[np.float64], share: float) -> _Levels:
    """Fit them from a share of slow pairs on, by expectation and maximisation."""
    split = float(np.quantile(logs, 1 - share))
    fast, slow = float(np.median(logs[logs <= split])), float(np.median(logs[logs >= split]))
    deviation = max(float(logs[logs <= split].std()), NARROWEST)
    rest = OUTLIERS / max(float(np.ptp(logs)), NARROWEST)
    for _ in range(ROUNDS):
        scale = deviation * math.sqrt(2 * math.pi)
        here, there = (
            np.exp(-(((logs - level) / deviation) ** 2) / 2) / scale for level in (slow, fast)
        )
        of_slow, of_fast = (1 - OUTLIERS) * share * here, (1 - OUTLIERS) * (1 - share) * there
        every = of_slow + of_fast + rest
        weights = of_slow / every, of_fast / every
        sums = weights[0].sum(), weights[1].sum()
        if min(sums) < 1:
            break
        slow, fast = float(weights[0] @ logs / sums[0]), float(weights[1] @ logs / sums[1])
        squares = weights[0] @ (logs - slow) ** 2 + weights[1] @ (logs - fast) ** 2
        deviation = max(math.sqrt(float(squares) / float(sum(sums))), NARROWEST)
        share = float(sums[0] / sum(sums))
    # What may be a spike speaks for nothing.
    gained = np.log((1 - OUTLIERS) * here + rest) - np.log((1 - OUTLIERS) * there + rest)
    return _Levels(fast, slow, deviation, share, gained, float(np.log(every).sum()))


def _joined(evidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Join classes while the pairs between them speak for it in sum; the best first."""
    links = evidence.copy()
    np.fill_diagonal(links, -np.inf)
    label = np.arange(len(links))
    while len(links) > 1:
        one, other = divmod(int(np.argmax(links)), len(links))
        if links[one, other] <= 0:
            break
        keep, gone = min(one, other), max(one, other)
        joined = links[keep] + links[gone]
        links[keep], links[:, keep] = joined, joined
        links[keep, keep] = -np.inf
        links = np.delete(np.delete(links, gone, 0), gone, 1)
        label[label == gone] = keep
        label[label > gone] -= 1
    return label.astype(np.int64)


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
