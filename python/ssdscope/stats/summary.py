"""Means with honest intervals, percentiles without interpolation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Below this many samples a batch is too short to forget its neighbour.
BATCHES = 20
MIN_BATCH = 10


@dataclass(frozen=True)
class MeanInterval:
    """A mean and the interval that holds it with the stated confidence."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width, in the unit of the mean."""
        return (self.high - self.low) / 2

    @property
    def relative_half_width(self) -> float:
        """Half-width over mean; infinite for a zero mean with a width."""
        if self.half_width == 0:
            return 0.0
        return self.half_width / abs(self.mean) if self.mean else math.inf


def nearest_rank(values: ArrayLike, percent: float) -> float:
    """Return the smallest value that at least ``percent`` % of the values do not exceed.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least one value.
    percent : float
        In (0, 100].
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if ordered.size == 0:
        raise ValueError("a percentile needs at least one value")
    if not 0 < percent <= 100:
        raise ValueError(f"percent must lie in (0, 100], not {percent}")
    # Decimal percentages such as 99.9 are not exact in binary: 0.999 * 1000 must be rank 999.
    rank = math.ceil(round(percent / 100 * ordered.size, 9))
    return float(ordered[max(rank, 1) - 1])


def student(values: ArrayLike, confidence: float = 0.95) -> MeanInterval:
    """Student interval of the mean of independent values (n >= 1; one value has no width known)."""
    from scipy.special import stdtrit

    sample = np.asarray(values, dtype=float)
    if sample.size == 0:
        raise ValueError("a mean needs at least one value")
    mean = float(sample.mean())
    if sample.size == 1:
        return MeanInterval(mean, -math.inf, math.inf)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    half = float(stdtrit(sample.size - 1, (1 + confidence) / 2)) * error
    return MeanInterval(mean, mean - half, mean + half)


def lasting(sittings: ArrayLike, halves: ArrayLike, confidence: float = 0.95) -> float:
    """Half the width of an interval that holds what another run would find.

    What differs between sittings beyond the scatter within them stays through a run, and differs
    in the next: it counts in whole. The scatter within averages out.

    Parameters
    ----------
    sittings
        A value of each of n >= 2 sittings, shape (n,).
    halves
        The same of two interleaved halves of each, shape (n, 2): their difference is the
        scatter within.
    confidence
        Of the interval.

    Examples
    --------
    >>> apart, alike = [1.0, 2.0, 3.0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    >>> round(lasting(apart, alike) / student(apart).half_width, 3)  # square root of 1 + 3
    2.0
    """
    from scipy.special import stdtrit

    values, pairs = np.asarray(sittings, dtype=float), np.asarray(halves, dtype=float)
    total = float(values.var(ddof=1))
    within = float(((pairs[:, 0] - pairs[:, 1]) ** 2).mean()) / 4
    variance = max(0.0, total - within) + total / values.size
    return float(stdtrit(values.size - 1, (1 + confidence) / 2)) * math.sqrt(variance)


def batch_means(
    values: ArrayLike, batches: int = BATCHES, confidence: float = 0.95
) -> MeanInterval:
    """Interval of the mean of a time series, whose neighbours need not be independent.

    Latencies are autocorrelated (a collection slows a run of requests), so a plain
    Student interval is too narrow. The means of long batches are nearly independent.
    The last, incomplete batch is left out of the width, not of the mean.
    """
    series = np.asarray(values, dtype=float)
    length = series.size // batches
    if length < 1:
        raise ValueError(f"{series.size} values do not fill {batches} batches")
    means = series[: length * batches].reshape(batches, length).mean(axis=1)
    inner = student(means, confidence)
    mean = float(series.mean())
    return MeanInterval(mean, mean - inner.half_width, mean + inner.half_width)


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> MeanInterval:
    """Student for few values, batch means for many."""
    series = np.asarray(values, dtype=float)
    if series.size >= BATCHES * MIN_BATCH:
        return batch_means(series, confidence=confidence)
    return student(series, confidence)


def ecdf(values: ArrayLike, points: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    """Empirical distribution, thinned so that the tail keeps its detail.

    Returns
    -------
    value, exceeded : ndarray, shape (<= points,)
        ``exceeded[i]`` is the share of values above ``value[i]``.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = ordered.size
    # Ranks spaced evenly in log of the share that is still above them: decades of the tail.
    above = np.unique(np.round(np.geomspace(1, n, min(points, n))).astype(int))
    index = np.unique(n - above)
    return ordered[index], 1 - (index + 1) / n
