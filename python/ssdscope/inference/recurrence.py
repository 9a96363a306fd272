"""How far apart rare waits come back: the period of what happens once in so many steps.

What recurs does not keep in step for ever: pairs of events are counted by their distance, whatever
is in between. Under chance a distance has as many pairs as its neighbours; Poisson's law says how
unlikely more of them are, over all distances tried. Rivals are the parts of a period. What does
keep in step is seen among far more that is slow for other reasons (`in_step`): at one place of a
period there are events in more rounds than chance has at any.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.noise import first_of_each
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["in_step", "recurrence"]

SHORTEST, REPEATS = 3, 6
"""Steps; and how often a period must fit into the series."""
AS_MANY = 0.75
"""Of the events that return after the best distance: what returns after a shorter one, too."""
NEIGHBOURS = 101
"""Distances whose median says how many pairs there are by chance."""
CANDIDATES = 128
"""Distances that stand out most, whose places are looked at."""


def recurrence(series: Series, threshold: float) -> Weighed:
    """Find the distance after which values above a threshold come back.

    Parameters
    ----------
    series
        `x` ascending in even steps.
    threshold
        Of a row of values above it the first counts.

    Returns
    -------
    Weighed
        The estimate is a distance on `x`, its interval a step on either side over the number of
        rounds; the effect the share of the events that come back after it.
    """
    kept = series.kept()
    events = first_of_each(kept.y > threshold)
    count, n = int(events.sum()), events.size
    lags = _tried(count, n)
    if not lags.size:
        return nothing()
    single = _returns(events, int(lags[-1]))
    pairs = _summed(single)[lags]
    chance, unlikely = _chance(pairs, count, n, lags)
    share = np.maximum(pairs - chance, 0) / (count * (1 - lags / n))
    best = _shortest(share, unlikely - math.log(lags.size))
    parts = [
        (at, part)
        for part in range(2, int(lags[best]) // SHORTEST + 1)
        if 0 <= (at := round(lags[best] / part) - SHORTEST) < lags.size
    ]
    step = float(kept.x[1] - kept.x[0])
    whole = float(_centre(single[lags], chance / 3, best) + SHORTEST)
    rivals = [
        Rival("part", float(unlikely[best] - unlikely[at]), step * whole / part)
        for at, part in parts
    ]
    rounds = max(int((n - lags[best]) / lags[best]), 1)
    half = step * max(1.0, whole / rounds) / 2
    return Weighed(
        step * whole,
        (step * whole - half, step * whole + half),
        max(float(unlikely[best]) - math.log(lags.size), 0.0),
        float(share[best]),
        1.0,
        tuple(sorted(rivals, key=lambda each: each.margin)),
        {"events": float(count), "rounds": float(rounds)},
    )


def _tried(count: int, n: int) -> NDArray[np.int64]:
    """Give the distances at which so many events of so many places may return; none of too few."""
    longest = n // REPEATS
    return np.arange(SHORTEST, longest + 1 if count >= REPEATS and longest > SHORTEST else SHORTEST)


def in_step(series: Series, threshold: float) -> Weighed:
    """Find the distance at which values above a threshold come in step, to the place.

    Parameters
    ----------
    series, threshold
        As of `recurrence`.

    Returns
    -------
    Weighed
        As of `recurrence`; the effect is the share of the rounds that have one at the place.
    """
    kept = series.kept()
    events = first_of_each(kept.y > threshold)
    count, n = int(events.sum()), events.size
    lags = _tried(count, n)
    if not lags.size:
        return nothing()
    by_chance = (count / n) ** 2 * (n - lags)
    beyond = (_returns(events, int(lags[-1]))[lags] - by_chance) / np.sqrt(by_chance + 1)
    tried = np.sort(lags[np.argsort(beyond)[-CANDIDATES:]])
    places = np.flatnonzero(events)
    scores, shares = (
        np.array(each)
        for each in zip(*(_held(places, n, int(lag), count / n) for lag in tried), strict=True)
    )
    scores = scores - math.log(lags.size) - np.log(tried)
    best = _shortest(shares, scores)
    step, lag = float(kept.x[1] - kept.x[0]), int(tried[best])
    rivals = [
        Rival("part", float(scores[best] - scores[at]), step * float(tried[at]))
        for at in np.flatnonzero((tried < lag) & (lag % tried == 0))
    ]
    half = step * max(1.0, lag * lag / n) / 2
    return Weighed(
        step * lag,
        (step * lag - half, step * lag + half),
        max(float(scores[best]), 0.0),
        float(shares[best]),
        1.0,
        tuple(sorted(rivals, key=lambda each: each.margin)),
        {"events": float(count), "rounds": float(n // lag)},
    )


def _held(places: NDArray[np.int64], n: int, lag: int, rate: float) -> tuple[float, float]:
    """Say how unlikely the most rounds are that have an event at one place, and their share.

    What fewer than half of them have is not in step.
    """
    from scipy.stats import binom

    rounds = n // lag
    most = int(np.bincount(places[places < rounds * lag] % lag, minlength=lag).max())
    if 2 * most <= rounds:
        return 0.0, most / rounds
    return -float(binom.logsf(most - 1, rounds, rate)), most / rounds


def _shortest(share: NDArray[np.float64], score: NDArray[np.float64]) -> int:
    """Give the shortest distance after which about as many return as after any.

    All multiples of a period have as many pairs as it has. Of what is not beyond chance the best.
    """
    most = float(score.max())
    if most <= 0:
        return int(np.argmax(score))
    good = np.flatnonzero(score >= most / 2)
    enough = good[share[good] >= AS_MANY * share[good].max()]
    first = int(enough[0])
    near = enough[enough <= first + 2]
    return int(near[np.argmax(score[near])])


def _chance(
    pairs: NDArray[np.float64], count: int, n: int, lags: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give how many pairs are by chance, and minus the logarithm of how probable more are."""
    from scipy.ndimage import median_filter
    from scipy.stats import poisson

    even = 3 * (count / n) ** 2 * (n - lags)
    around = median_filter(pairs, min(NEIGHBOURS, lags.size), mode="mirror")
    chance = np.maximum(even, around)
    # Neighbours share pairs, so that three of them are about one trial.
    return chance, -poisson.logsf(pairs - 0.5, chance)


def _centre(pairs: NDArray[np.float64], chance: NDArray[np.float64], best: int) -> float:
    """Give the middle of what stands out around the best distance.

    Of single distances: three that are summed are alike where all return at one. If most do at a
    neighbour, that is the middle: two waits in a round are two distances apart from each other.
    """
    excess = np.maximum(pairs - chance, 0)
    near = np.arange(max(best - 1, 0), min(best + 2, pairs.size))
    most = int(near[np.argmax(excess[near])])
    if 2 * excess[most] > excess[near].sum():
        near = np.arange(max(most - 1, 0), min(most + 2, pairs.size))
    excess = excess[near]
    return float(excess @ near / excess.sum()) if excess.sum() else float(best)


def _returns(events: NDArray[np.bool_], longest: int) -> NDArray[np.float64]:
    """Count pairs of events at each lag up to the longest, shape (longest + 2,)."""
    size = 1 << int(np.ceil(np.log2(events.size + longest + 2)))
    spectrum = np.fft.rfft(events.astype(float), size)
    pairs = np.fft.irfft(spectrum * spectrum.conj(), size)[: longest + 2]
    return np.round(pairs)


def _summed(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add to each lag the one before it and the one after it."""
    padded = np.concatenate([[0.0], pairs, [0.0]])
    total: NDArray[np.float64] = padded[:-2] + padded[1:-1] + padded[2:]
    return total
