"""The period of a response over places: units, blocks, zones, whatever repeats in address.

Values are ranked within their strata (request sizes, say), folded at each candidate, and the share
of variance between the places of a period (one-way analysis of variance, adjusted for their number)
says how well it explains them. Many candidates find some that look good by chance: the best is held
against the best of the same scan over values shuffled within strata. Nulls of maxima have an
exponential tail, so that a Gumbel law through 199 of them tells also what is rarer than one in 200.

Rivals are the parts of a period, which explain less, and its multiples, which explain no more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.noise import normal_scores
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["period", "phase"]

PERMUTATIONS = 199
EULER = 0.5772156649


def period(series: Series, periods: ArrayLike, *, seed: int = 0) -> Weighed:
    """Find the period among candidates.

    Parameters
    ----------
    series
        `x` whole numbers: places in steps of the grid that periods are counted in.
    periods : array_like of int
        Candidates, each at most half of the range of places.
    seed
        Of the shuffles.

    Returns
    -------
    Weighed
        The estimate is the smallest candidate that explains as much as the best but for what chance
        adds; the effect by how much the slowest place is above the median of all.
    """
    kept = series.kept()
    candidates = np.unique(np.asarray(periods, np.int64))
    if len(kept) < 4 or candidates.size == 0:
        return nothing()
    kinds = np.unique(kept.stratum, return_inverse=True)[1]
    folds = _Folds(kept.x.astype(np.int64), candidates, kinds)
    scores = normal_scores(kept.y, kinds)
    shares = folds.shares(scores)
    rng = stream(seed, "inference.period")
    chance = np.array(
        [folds.shares(_shuffled(rng, scores, kinds)).max() for _ in range(PERMUTATIONS)]
    )
    deviation = max(float(chance.std(ddof=1)), np.finfo(float).tiny)
    unlikely = (float(shares.max()) - float(chance.mean())) * math.pi / (deviation * math.sqrt(6))
    score = max(unlikely + EULER, 0.0)
    best = float(shares.max())
    # What a multiple gains over the period is what chance gives to as many more places.
    slack = max(float(np.quantile(chance, 0.95)), 0.0) * (1 - best)
    at = int(np.argmax(shares >= best - slack))
    found = int(candidates[at])
    effect = _effect(kept, found)
    return Weighed(
        float(found),
        None,
        score,
        effect,
        effect,
        tuple(_rivals(candidates, shares, at, len(kept))),
        {"explained": float(shares[at])},
    )


def phase(series: Series, length: int, template: ArrayLike) -> tuple[int, float]:
    """Find where a known profile of a period begins.

    Parameters
    ----------
    template : array_like, shape (length,)
        What is expected at each place of the period, from its beginning on.

    Returns
    -------
    shift : int
        The place at which the period begins.
    margin : float
        By how much the data speak for it rather than for the next best, in log likelihood.
    """
    kept = series.kept()
    scores = normal_scores(kept.y, kept.stratum)
    places = kept.x.astype(np.int64) % length
    profile = np.asarray(template, dtype=float)
    profile = profile - profile.mean()
    fits = np.array(
        [_explained(scores, profile[(places - shift) % length]) for shift in range(length)]
    )
    order = np.argsort(fits)[::-1]
    return int(order[0]), float(fits[order[0]] - fits[order[1]]) if length > 1 else math.inf


def _explained(scores: NDArray[np.float64], fitted: NDArray[np.float64]) -> float:
    """Give the log likelihood that a profile gains, scaled to the data; none if it falls."""
    size = float(fitted @ fitted)
    along = float(scores @ fitted)
    if size <= 0 or along <= 0:
        return 0.0
    total = float(scores @ scores)
    return -scores.size / 2 * math.log(max(1 - along**2 / (size * total), 1e-12))


def _rivals(
    candidates: NDArray[np.int64], shares: NDArray[np.float64], at: int, count: int
) -> list[Rival]:
    """Give parts and multiples, and the best of what is neither."""
    found = int(candidates[at])
    gained = -count / 2 * np.log(np.clip(1 - shares, 1e-12, None))
    rivals = []
    for index, other in enumerate(candidates.tolist()):
        if index != at and found % other == 0:
            rivals.append(Rival("part", float(gained[at] - gained[index]), float(other)))
    strangers = np.flatnonzero((candidates % found != 0) & (found % candidates != 0))
    if strangers.size:
        next_best = strangers[np.argmax(gained[strangers])]
        margin = float(gained[at] - gained[next_best])
        rivals.append(Rival("another period", margin, float(candidates[next_best])))
    return sorted(rivals, key=lambda each: each.margin)


def _effect(kept: Series, found: int) -> float:
    """Give by how much the slowest place of the period is above the median place, as a share."""
    places = kept.x.astype(np.int64) % found
    logs = np.log(np.maximum(kept.y, np.finfo(float).tiny))
    means = np.bincount(places, logs) / np.maximum(np.bincount(places), 1)
    there = means[np.bincount(places) > 0]
    return float(np.expm1(there.max() - np.median(there))) if there.size > 1 else 0.0


def _shuffled(
    rng: np.random.Generator, values: NDArray[np.float64], kinds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Shuffle within strata."""
    order = np.lexsort((rng.random(values.size), kinds))
    shuffled = np.empty_like(values)
    shuffled[np.argsort(kinds, kind="stable")] = values[order]
    return shuffled


class _Folds:
    """Places folded at every candidate, ready for the same analysis of many responses."""

    def __init__(
        self, places: NDArray[np.int64], periods: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> None:
        self._groups = [
            np.unique(places % each + each * kinds, return_inverse=True)[1]
            for each in periods.tolist()
        ]
        self._sizes = [np.bincount(group) for group in self._groups]
        self._kinds = int(kinds.max(initial=0)) + 1

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the adjusted share of variance between the places of each period."""
        total = float(values @ values)
        n = values.size
        found = []
        for group, sizes in zip(self._groups, self._sizes, strict=True):
            free = n - sizes.size
            if free <= 0 or total <= 0:
                found.append(0.0)
                continue
            between = float((np.bincount(group, values) ** 2 / sizes).sum()) / total
            found.append(1 - (1 - between) * (n - self._kinds) / free)
        return np.array(found)
