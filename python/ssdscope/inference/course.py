"""A curve that rises and levels off: where it has come to a share of what it comes to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.seeds import stream
from ssdscope.stats.changepoint import isotonic, saturation_depth

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["saturation"]

REPLICATES = 400


def saturation(series: Series, share: float, *, seed: int = 0) -> Weighed:
    """Find the place at which a rate first comes to a share of its rate at the last place.

    What noise lets fall is evened out first (isotonic regression); between two places the curve is
    taken as a line over the logarithm of the place.

    Parameters
    ----------
    series
        Positive `x`, as queue depths, each once or more; several strata give the interval.
    share
        In (0, 1].

    Returns
    -------
    Weighed
        The effect is by how much the last place gives more than the first, as a share.
    """
    kept = series.kept()
    places = np.unique(kept.x)
    if places.size < 3:
        return nothing()
    table = _by_stratum(kept, places)
    best, gain = _reached(places, np.exp(np.log(table).mean(axis=0)), share)
    rng = stream(seed, "inference.course")
    draws = rng.integers(0, len(table), (REPLICATES, len(table)))
    samples = np.array(
        [_reached(places, np.exp(np.log(table[draw]).mean(axis=0)), share) for draw in draws]
    )
    low, high = (float(each) for each in np.quantile(samples[:, 0], [0.025, 0.975]))
    gains = np.log(table[:, -1] / table[:, 0])
    error = float(gains.std(ddof=1)) / math.sqrt(gains.size) if gains.size > 1 else math.inf
    t = float(gains.mean()) / error if error > 0 else math.inf
    score = gains.size / 2 * math.log1p(t**2 / max(gains.size - 1, 1)) if t > 0 else 0.0
    bound = float(np.quantile(samples[:, 1], 0.95))
    return Weighed(best, (low, high), score, gain, bound)


def _by_stratum(kept: Series, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrange rates as (strata, places); what a stratum lacks is that of all strata."""
    every = [float(np.median(kept.y[kept.x == place])) for place in places]
    rows = np.tile(every, (np.unique(kept.stratum).size, 1))
    for row, stratum in zip(rows, np.unique(kept.stratum), strict=True):
        there = kept.stratum == stratum
        at = np.searchsorted(places, kept.x[there])
        row[at] = kept.y[there]
    return np.asarray(rows)


def _reached(
    places: NDArray[np.float64], rates: NDArray[np.float64], share: float
) -> tuple[float, float]:
    """Give the place, and the gain from first to last."""
    even = isotonic(rates)
    return saturation_depth(places, rates, share), float(even[-1] / even[0] - 1)
