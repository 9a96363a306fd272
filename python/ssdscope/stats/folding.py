"""Periods in position: fold a response at every candidate period and ask chance for its best.

What a drive does may repeat in address: every unit, every log block. A response is folded at a
period by grouping it by position modulo that period; the share of its variance that lies between
the groups (one-way analysis of variance, adjusted for the number of groups) says how well the
period explains it. Trying many periods finds some that look good by chance, so the best one is
held against the best of the same scan over shuffled positions, and a period counts only if two
halves of the data name the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ALPHA = 0.01
PERMUTATIONS = 199
TOLERANCE = 0.05
"""A period that explains this share less than the best is as good, and the smallest of those is
the period: all multiples of the truth explain the same."""


@dataclass(frozen=True)
class PeriodScan:
    """How well each candidate explains a response, and which is the period.

    Attributes
    ----------
    periods
        The candidates, ascending.
    explained
        Adjusted share of variance by period, same length.
    by_chance
        What the best candidate of a scan over shuffled positions explains in one scan of a
        hundred (for alpha 0.01).
    p_value
        Of the best candidate, by the permutation of the whole scan.
    period
        The answer; None if the scan is explained by chance.
    """

    periods: NDArray[np.int64]
    explained: NDArray[Any]
    by_chance: float
    p_value: float
    period: int | None


def explained_share(
    positions: ArrayLike, values: ArrayLike, period: int, strata: ArrayLike | None = None
) -> float:
    """Give the adjusted R2 of the one-way analysis of variance of values by folded position.

    Parameters
    ----------
    positions : array_like of int, shape (n,)
        In steps of the grid that periods are counted in.
    values : array_like, shape (n,)
    period : int
    strata : array_like of int, shape (n,), optional
        Values of different strata (request sizes) have profiles of their own; their means must
        not differ, see `centred`.
    """
    folds = _Folds(np.asarray(positions), np.array([period]), _strata(strata, positions))
    return float(folds.shares(np.asarray(values, dtype=float))[0])


def centred(values: ArrayLike, strata: ArrayLike) -> NDArray[Any]:
    """Take the mean of its stratum from each value."""
    sample, index = np.asarray(values, dtype=float), np.asarray(strata)
    means = np.bincount(index, sample) / np.maximum(np.bincount(index), 1)
    return np.asarray(sample - means[index])


def scan_periods(
    positions: ArrayLike,
    values: ArrayLike,
    periods: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    alpha: float = ALPHA,
    permutations: int = PERMUTATIONS,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> PeriodScan:
    """Find the period of a response among candidates, or that there is none.

    The period is the smallest candidate that explains more than chance does in the best of a
    shuffled scan, and as much as the best candidate, but for a tolerated share of it or for what
    chance adds to what is left.

    Parameters
    ----------
    positions : array_like of int, shape (n,)
        Best drawn at random, or a full grid in random order: then the null is exact.
    values : array_like, shape (n,)
    periods : array_like of int
        Candidates, each at most half of the range of positions.
    strata : array_like of int, shape (n,), optional
        As in `explained_share`.
    alpha : float
        Error probability of the whole scan.
    permutations : int
        At least ``1 / alpha - 1``.
    tolerance : float
        Share of what the best explains that a period may explain less. More than the default
        where something else repeats at a larger distance and makes the multiples look better.
    seed : int
        Of the permutations.

    Raises
    ------
    ValueError
        If so few permutations cannot reach alpha.
    """
    if permutations < round(1 / alpha) - 1:
        raise ValueError(f"{permutations} permutations cannot show a probability of {alpha}")
    candidates = np.unique(np.asarray(periods, dtype=np.int64))
    sample = np.asarray(values, dtype=float)
    kinds = _strata(strata, positions)
    folds = _Folds(np.asarray(positions, dtype=np.int64), candidates, kinds)
    explained = folds.shares(sample)
    rng = stream(seed, "stats.folding")
    shuffles = (sample[_permutation(rng, kinds)] for _ in range(permutations))
    null = np.array([folds.shares(shuffled).max() for shuffled in shuffles])
    best = float(explained.max())
    p_value = (1 + int((null >= best).sum())) / (1 + permutations)
    by_chance = max(float(np.quantile(null, 1 - alpha)), 0.0)
    period = None
    if p_value <= alpha:
        enough = max(best - max(tolerance * best, by_chance * (1 - best)), by_chance)
        period = int(candidates[np.argmax(explained >= enough)])
    return PeriodScan(candidates, explained, by_chance, p_value, period)


def _strata(strata: ArrayLike | None, positions: ArrayLike) -> NDArray[np.int64]:
    shape = np.shape(positions)
    return np.zeros(shape, np.int64) if strata is None else np.asarray(strata, dtype=np.int64)


class _Folds:
    """Positions folded at every candidate, ready for the same analysis of many responses."""

    def __init__(
        self, positions: NDArray[Any], periods: NDArray[np.int64], strata: NDArray[np.int64]
    ) -> None:
        kinds = int(strata.max(initial=0)) + 1
        self._periods = [int(each) for each in periods]
        # A period's groups are sums of those of its multiples: few must be counted.
        self._multiple = {
            each: next((n for n in self._periods if n > each and n % each == 0), None)
            for each in self._periods
        }
        self._places = {
            each: positions % each + each * strata
            for each, multiple in self._multiple.items()
            if multiple is None
        }
        self._kinds = kinds
        sizes = self._sums(np.ones(positions.size))
        self._sizes = {each: np.maximum(counts, 1) for each, counts in sizes.items()}
        self._groups = np.array([int((sizes[each] > 0).sum()) for each in self._periods])

    def _sums(self, values: NDArray[Any]) -> dict[int, NDArray[Any]]:
        """Sum values by group; shape (strata, period) of each."""
        sums: dict[int, NDArray[Any]] = {}
        for each in reversed(self._periods):
            multiple = self._multiple[each]
            kinds = self._kinds
            if multiple is None:
                flat = np.bincount(self._places[each], values, kinds * each)
                sums[each] = flat.reshape(kinds, each)
            else:
                sums[each] = sums[multiple].reshape(kinds, -1, each).sum(axis=1)
        return sums

    def shares(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give the adjusted R2 of values by group, per period."""
        count = values.size
        apart = values - values.mean()
        total = float(apart @ apart)
        free = count - self._groups
        if total <= 0 or (free <= 0).any():
            return np.zeros(len(self._periods))
        sums = self._sums(apart)
        between = np.array([float((sums[n] ** 2 / self._sizes[n]).sum()) for n in self._periods])
        return np.asarray(1 - (1 - between / total) * (count - 1) / free)


def _permutation(rng: np.random.Generator, strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Shuffle within strata."""
    order = np.arange(strata.size)
    for kind in np.unique(strata):
        there = np.flatnonzero(strata == kind)
        order[there] = rng.permutation(there)
    return order
