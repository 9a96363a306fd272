"""The interval of a mean of a series whose neighbours are alike.

A collection slows many requests in a row, and a full queue makes each wait for those before it.
So the mean is judged by batches of consecutive values, and what correlation the batches still
have widens the interval by the factor of a first-order process (Skart; Tafazzoli et al., 2011).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.stats.summary import BATCHES, MIN_BATCH, MeanInterval, student

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST_BATCHES = 5
LARGEST_CORRELATION = 0.8
"""Beyond this the correction would rest on noise; the factor is then 3."""
SAMPLES_BEYOND = 10
"""A percentile is told if at least so many samples lie beyond it."""


def correlated_mean(
    values: ArrayLike, span: int = 1, confidence: float = 0.95
) -> MeanInterval | None:
    """Give the mean of a stationary series with its interval.

    Parameters
    ----------
    values : array_like, shape (n,)
        In the order in which they came.
    span : int
        So many neighbours depend on each other by construction, as the requests of a queue do;
        a batch is never shorter than two such spans.
    confidence : float
        Of the interval.

    Returns
    -------
    MeanInterval or None
        None if the values do not fill `LEAST_BATCHES` batches.
    """
    series = np.asarray(values, dtype=float)
    count = min(BATCHES, series.size // max(MIN_BATCH, 2 * span))
    if count < LEAST_BATCHES:
        return None
    length = series.size // count
    means = series[series.size - count * length :].reshape(count, length).mean(axis=1)
    half = student(means, confidence).half_width * _widening(means)
    mean = float(series.mean())
    return MeanInterval(mean, mean - half, mean + half)


def _widening(means: np.ndarray) -> float:
    centred = means - means.mean()
    squares = float(centred @ centred)
    if squares == 0:
        return 1.0
    # An estimate from so few is too low by about a part in as many.
    raw = float(centred[:-1] @ centred[1:]) / squares + 1 / means.size
    kept = min(max(raw, 0.0), LARGEST_CORRELATION)
    return math.sqrt((1 + kept) / (1 - kept))


def supported(percent: float, count: int) -> bool:
    """Say whether a percentile of so many samples has `SAMPLES_BEYOND` of them beyond it."""
    return round(count * (100 - percent) / 100, 6) >= SAMPLES_BEYOND


def least_count(percent: float) -> int:
    """Give how many samples a percentile takes."""
    return math.ceil(round(SAMPLES_BEYOND * 100 / (100 - percent), 6))
