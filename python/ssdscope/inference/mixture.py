"""Values that lie on a few levels: which levels there are, and how much each value speaks for one.

Logarithms of times are normal about each level, with one width, and a few may be anything. Levels
are added one by one, by expectation and maximisation, as long as the likelihood gains twice what
Schwarz's criterion asks of two more numbers. Levels that are closer than their width allows to
tell values apart are one: noise has a tail, which two levels describe better than one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import LEAST_EFFECT

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["WIDTHS", "Levels", "fitted", "levels_of"]

ROUNDS, MOST_VALUES = 50, 2000
"""Of the fit, at most; and values that it is made from."""
BEGINNINGS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6)
"""Shares of values beyond a new level: two dies make half of the pairs slow, fifty one in fifty."""
MOST_LEVELS = 4
"""Free, sharing a channel, sharing a die, and one more."""
WIDTHS = 4.0
"""Between neighbours: of values half-way between them one in twenty is on the wrong side."""
NARROWEST = 1e-4
OUTLIERS = 0.02
"""Of the values, that may be anything: what a spike made slow speaks for nothing."""


@dataclass(frozen=True)
class Levels:
    """Levels in the logarithm, ascending, and what share of all values lies on each."""

    centres: NDArray[np.float64]
    shares: NDArray[np.float64]
    deviation: float
    rest: float

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.centres.size)

    def gained(self, logs: ArrayLike, level: int = -1) -> NDArray[np.float64]:
        """Say how much more likely each value is on one level than on any other.

        Returns
        -------
        ndarray, shape (n,)
            Logarithms; of what may be a spike none.
        """
        each = (1 - OUTLIERS) * _density(
            np.asarray(logs, float) - self.centres[:, None], self.deviation
        )
        others = np.delete(each, level, axis=0).max(axis=0, initial=0.0)
        return np.asarray(np.log(each[level] + self.rest) - np.log(others + self.rest))


def levels_of(logs: ArrayLike) -> Levels:
    """Find the levels that values lie on.

    Parameters
    ----------
    logs : array_like, shape (n,)
        Logarithms of times.
    """
    values = np.sort(np.asarray(logs, dtype=float))
    values = values[:: -(-values.size // MOST_VALUES)]
    found = fitted(values, np.array([float(np.median(values))]))
    while found[0].count < MOST_LEVELS:
        centres = found[0].centres
        # Of sorted values, the median of a share at either end.
        ends = np.quantile(values, [end for share in BEGINNINGS for end in _ends(share)])
        tries = (fitted(values, np.append(centres, end)) for end in dict.fromkeys(ends.tolist()))
        more = max(tries, key=lambda each: each[1])
        if more[1] - found[1] <= 2 * math.log(values.size):
            break
        found = more
    return _apart(values, found[0])


def _ends(share: float) -> tuple[float, float]:
    """Give where the medians of a share of values at either end are."""
    return share / 2, 1 - share / 2


def _apart(values: NDArray[np.float64], found: Levels) -> Levels:
    """Make one of levels that values cannot be told apart by."""
    while found.count > 1:
        gaps = np.diff(found.centres)
        nearest = int(np.argmin(gaps))
        if gaps[nearest] >= max(WIDTHS * found.deviation, math.log1p(LEAST_EFFECT)):
            break
        weights = found.shares[nearest : nearest + 2]
        centre = float(weights @ found.centres[nearest : nearest + 2] / weights.sum())
        centres = np.delete(found.centres, nearest + 1)
        centres[nearest] = centre
        found = fitted(values, centres)[0]
    return found


def fitted(
    values: NDArray[np.float64], centres: NDArray[np.float64], *, equal: bool = False
) -> tuple[Levels, float]:
    """Fit so many levels by the greatest likelihood, of equal shares if so; return that, too."""
    count = centres.size
    apart = values - centres[:, None]
    deviation = max(float(np.abs(apart).min(axis=0).mean()), NARROWEST)
    shares = np.full(count, 1 / count)
    rest = OUTLIERS / max(float(np.ptp(values)), NARROWEST)
    likelihood = -math.inf
    weights, squares = np.empty_like(apart), np.empty_like(apart)
    for _ in range(ROUNDS):
        # In place: most of what a round takes would be memory that is asked for.
        weights = _density(apart, deviation, out=weights)
        weights *= (1 - OUTLIERS) * shares[:, None]
        every = np.add.reduce(weights, axis=0)
        every += rest
        weights /= every
        before, likelihood = likelihood, float(np.log(every).sum())
        sums = np.add.reduce(weights, axis=1)
        if sums.min() < 1:
            likelihood = -math.inf
            break
        if likelihood - before < NARROWEST:
            break
        centres = weights @ values / sums
        shares = shares if equal else sums / sums.sum()
        np.subtract(values, centres[:, None], out=apart)
        np.square(apart, out=squares)
        squares *= weights
        deviation = max(math.sqrt(float(squares.sum()) / float(sums.sum())), NARROWEST)
    order = np.argsort(centres)
    return Levels(centres[order], shares[order], deviation, rest), likelihood


def _density(
    apart: NDArray[np.float64], deviation: float, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Give the normal density so far from a level."""
    found = np.divide(apart, deviation, out=out)
    np.square(found, out=found)
    found /= -2
    np.exp(found, out=found)
    found /= deviation * math.sqrt(2 * math.pi)
    return found
