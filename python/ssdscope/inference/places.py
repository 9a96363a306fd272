"""Whether places differ: each is visited several times, in another order each time.

What drifts, or comes and goes, meets every place alike then. Two halves of the visits agree on
which places are slow only if places are; the correlation of their ranks says so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import NEGLIGIBLE, ONE_SIDED
from ssdscope.inference.noise import normal_scores, usual
from ssdscope.inference.series import Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["halves_of", "logs_of", "places"]

NEIGHBOURS = 64
"""Visits one after the other, whose median is the usual of their time."""
RANGE = math.sqrt(6)
"""Deviations between the ends of three equal levels, which lie further apart than two do."""


def halves_of(x: ArrayLike, orders: ArrayLike, latencies: ArrayLike) -> Series:
    """Return what the even visits, and the odd ones, make of each place: medians, as two strata.

    Parameters
    ----------
    x : array_like, shape (n,)
        The places.
    orders, latencies : array_like, shape (visits, n)
        Which place was visited when, and what that took.
    """
    there, order, logs = np.asarray(x), np.asarray(orders), np.log(np.asarray(latencies, float))
    values = np.empty(logs.shape)
    np.put_along_axis(values, order, logs, axis=1)
    # Drift is what all places share: beyond what each of them usually takes.
    beyond = logs - np.median(values, axis=0)[order]
    drift = usual(beyond.ravel(), NEIGHBOURS).reshape(logs.shape)
    np.put_along_axis(values, order, logs - drift, axis=1)
    values -= np.median(values)
    medians = [np.exp(np.median(values[first::2], axis=0)) for first in (0, 1)]
    return Series.of(np.tile(there, 2), np.ravel(medians), stratum=np.repeat([0, 1], there.size))


def logs_of(series: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the places of a series of halves, and the logarithm of what each takes."""
    logs = np.log(series.y).reshape(2, -1)
    return series.x[: logs.shape[1]], np.asarray(logs.mean(axis=0))


def places(series: Series) -> Weighed:
    """Say whether places differ.

    Parameters
    ----------
    series
        Of `halves_of`.

    Returns
    -------
    Weighed
        The estimate is the standard deviation of places, in logarithms. The bound is the most by
        which the slowest of up to three levels may exceed the fastest.
    """
    one, other = np.log(series.y).reshape(2, -1)
    if one.size < 4:
        return nothing()
    if min(one.std(), other.std()) == 0:
        return nothing(0.0)
    kinds = np.zeros(one.size)
    agreed = float(np.corrcoef(normal_scores(one, kinds), normal_scores(other, kinds))[0, 1])
    score = -one.size / 2 * math.log(max(1 - max(agreed, 0.0) ** 2, NEGLIGIBLE))
    shared = max(float(np.cov(one, other)[0, 1]), 0.0)
    most = shared + ONE_SIDED * float(one.std() * other.std()) / math.sqrt(one.size)
    effect, bound = (math.expm1(RANGE * math.sqrt(each)) for each in (shared, most))
    return Weighed(math.sqrt(shared), None, score, effect, bound)
