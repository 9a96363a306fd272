"""What is neither the question nor an answer: scatter, drift, other users, neighbours alike.

Latencies scatter by shares, not by sums, have a tail of spikes, drift over seconds, and come in
bursts: where one is slow the next often is. Each function takes out one of these, or says how much
of it there is.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "first_of_each",
    "floor",
    "inflation",
    "likelihood",
    "medians",
    "normal_scores",
    "over_usual",
    "quickest",
    "share_gains",
    "usual",
]

PIECES = 32
"""Of a stretch, whose sums say how much neighbours are alike."""
TWO_BELOW = 0.023
"""Of normal values, that lie two standard deviations below their mean."""


def usual(y: ArrayLike, width: int) -> NDArray[np.float64]:
    """Give what values usually are at each place: the median of blocks, joined by lines.

    Parameters
    ----------
    y : array_like, shape (n,)
        In order of time.
    width
        Of a block; what lasts shorter than half of it does not move its median.

    Returns
    -------
    ndarray, shape (n,)
    """
    values = np.asarray(y, dtype=float)
    blocks = max(values.size // width, 1)
    edges = np.linspace(0, values.size, blocks + 1).astype(int)
    medians = [float(np.median(values[begin:end])) for begin, end in pairwise(edges)]
    middles = (edges[:-1] + edges[1:] - 1) / 2
    return np.asarray(np.interp(np.arange(values.size), middles, medians))


def over_usual(y: ArrayLike, width: int) -> NDArray[np.float64]:
    """Give values over the usual ones of their time, which drift moves and a rare wait does not."""
    values = np.asarray(y, dtype=float)
    return np.asarray(values / usual(values, width))


def floor(y: ArrayLike) -> NDArray[np.float64]:
    """Give what values that delays only lengthen are above: as far below the least as the next is.

    To first order that is where they end, whatever they are drawn from (Robson and Whitlock 1964).

    Parameters
    ----------
    y : array_like, shape (n, ...)
        Two at least along the first axis; NaN where one is missing.
    """
    least, second = np.sort(np.asarray(y, dtype=float), axis=0)[:2]
    return np.asarray(2 * least - second)


def quickest(
    y: ArrayLike, piece: ArrayLike, longer: ArrayLike
) -> tuple[NDArray[np.float64], float]:
    """Give what requests take when nothing delays them, of requests that were repeated.

    What lasts, as drift, is common to all requests about a time; the lowest it comes to counts.
    What is left is chance: of each request the least value counts, less as much as these lie above
    their `floor` in the mean.

    Parameters
    ----------
    y : array_like, shape (repetitions, n)
        Positive, each row in order of time; NaN where a value is missing. Every request has two.
    piece : array_like of int, shape (n,)
        Which part of a row a request is in, from 0 on.
    longer : array_like, shape (repetitions, pieces, k)
        How many times as long as at their quickest other reads took beside each piece, if that is.

    Returns
    -------
    floors : ndarray, shape (n,)
    correction : float
        By what share the least values were lowered: about how far floors may be off.
    """
    logs, of = np.log(np.asarray(y, dtype=float)), np.asarray(piece)
    beside = np.log(np.where(np.greater(longer, 0), longer, np.nan))
    usual = np.nanmedian(logs, axis=0)
    ends = np.flatnonzero(np.diff(of)) + 1
    # How pieces compare with each other the reads beside them tell, and over time they themselves.
    own = np.column_stack([medians(part) for part in np.split(logs - usual, ends, axis=1)])
    apart = np.median(beside, axis=2) - own
    drift = own + np.nansum(apart, axis=0) / np.maximum(np.isfinite(apart).sum(axis=0), 1)
    steady = logs - drift[:, of]
    least, second = np.sort(steady, axis=0)[:2]
    gaps = np.sort(second - least)
    gap = float(gaps[gaps.size // 10 : gaps.size - gaps.size // 10].mean())
    # The median of n values scatters by about twice their usual distance from it, over the root of
    # n. The lowest of the drift is two such deviations too low.
    scatter = float(np.nanmedian(np.abs(steady - np.nanmedian(steady, axis=0))))
    counted = of.size / drift.shape[1], beside.shape[2] * len(logs)
    deviation = 2 * scatter * math.hypot(*(1 / math.sqrt(each) for each in counted))
    lowest = float(np.nanquantile(drift, TWO_BELOW)) + 2 * deviation
    return np.exp(least - gap + lowest), gap


def medians(part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the median of each row; NaN where nothing is there."""
    found = np.full(len(part), np.nan)
    there = np.isfinite(part).any(axis=1)
    found[there] = np.nanmedian(part[there], axis=1)
    return found


def inflation(flags: ArrayLike) -> float:
    """Say how many times more the sums of pieces scatter than those of independent flags would.

    What comes in bursts counts as fewer than it is: a log likelihood of independent flags is too
    large by this factor (Wedderburn 1974, quasi-likelihood).

    Parameters
    ----------
    flags : array_like of bool, shape (n,)
        In order.

    Returns
    -------
    float
        At least 1.
    """
    marks = np.asarray(flags, dtype=float)
    count = min(PIECES, marks.size // 4)
    share = float(marks.mean()) if marks.size else 0.0
    if count < 4 or share in (0.0, 1.0):
        return 1.0
    length = marks.size // count
    sums = marks[: count * length].reshape(count, length).sum(axis=1)
    return max(float(sums.var(ddof=1)) / (length * share * (1 - share)), 1.0)


def normal_scores(y: ArrayLike, stratum: ArrayLike) -> NDArray[np.float64]:
    """Give the normal quantiles of the ranks within strata: spikes and scale count for nothing.

    Parameters
    ----------
    y : array_like, shape (n,)
    stratum : array_like of int, shape (n,)
        Of each value; ranks are within one.

    Returns
    -------
    ndarray, shape (n,)
        Of equal values the same.
    """
    from scipy.special import ndtri

    values, kinds = np.asarray(y, dtype=float), np.asarray(stratum)
    order = np.lexsort((values, kinds))
    of, within = kinds[order], values[order]
    begins, new = (np.append(True, each[1:] != each[:-1])[: each.size] for each in (of, within))
    firsts, changes = np.flatnonzero(begins), np.flatnonzero(begins | new)
    sizes, alike = (np.diff(each, append=values.size) for each in (firsts, changes))
    ranks = np.repeat(changes + (alike + 1) / 2, alike) - np.repeat(firsts, sizes)
    scores = np.empty(values.size)
    scores[order] = ndtri((ranks - 0.375) / (np.repeat(sizes, sizes) + 0.25))
    return scores


def first_of_each(events: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave of each row of consecutive events the first."""
    first: NDArray[np.bool_] = events.copy()
    first[1:] &= ~events[:-1]
    return first


def share_gains(above: NDArray[np.bool_], margin: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what two shares gain over one, for each place from which the larger one may hold.

    Parameters
    ----------
    above : ndarray of bool, shape (n,)
        In order.
    margin : int
        The fewest values on either side.

    Returns
    -------
    places, gains : ndarray
        In log likelihood; minus infinity where the second share is not larger. Empty if the
        series is too short, or all its values are alike.
    """
    n, total = above.size, int(np.count_nonzero(above))
    if n < 2 * margin or total in (0, n):
        return np.empty(0, int), np.empty(0)
    left = np.arange(margin, n - margin + 1)
    hits = np.cumsum(above)[left - 1]
    rest = total - hits
    gains = likelihood(hits, left) + likelihood(rest, n - left) - likelihood(total, n)
    return left, np.where(rest * left > hits * (n - left), gains, -np.inf)


def likelihood(hits: Any, count: Any) -> Any:
    """Log likelihood of so many hits among so many, at their own share."""
    from scipy.special import xlogy

    misses = count - hits
    return xlogy(hits, hits / count) + xlogy(misses, misses / count)
