"""What is neither the question nor an answer: scatter, drift, other users, neighbours alike.

Latencies scatter by shares, not by sums, have a tail of spikes, drift over seconds, and come in
bursts: where one is slow the next often is. Each function takes out one of these, or says how much
of it there is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["inflation", "normal_scores", "over_usual", "usual"]

PIECES = 32
"""Of a stretch, whose sums say how much neighbours are alike."""


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


def inflation(flags: ArrayLike, pieces: int = PIECES) -> float:
    """Say how many times more the sums of pieces scatter than those of independent flags would.

    What comes in bursts counts as fewer than it is: a log likelihood of independent flags is too
    large by this factor (Wedderburn 1974, quasi-likelihood).

    Parameters
    ----------
    flags : array_like of bool, shape (n,)
        In order.
    pieces
        At most so many, of at least four each.

    Returns
    -------
    float
        At least 1.
    """
    marks = np.asarray(flags, dtype=float)
    count = min(pieces, marks.size // 4)
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
    from scipy.stats import rankdata

    values, kinds = np.asarray(y, dtype=float), np.asarray(stratum)
    scores = np.empty(values.size)
    for kind in np.unique(kinds):
        there = kinds == kind
        scores[there] = ndtri((rankdata(values[there]) - 0.375) / (there.sum() + 0.25))
    return scores
