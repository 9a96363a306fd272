"""Curves: where one that rises has come to a share of its end, and how far one that falls holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.seeds import stream
from ssdscope.stats.changepoint import isotonic, saturation_depth

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["extent", "saturation"]

REPLICATES = 400
NORMAL = 1.96
"""Standard errors of an interval of 95 %."""
LEAST_PLACES = 8
EVEN = 1e-12
"""A share that is as good as none."""


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


def extent(series: Series, reach: float) -> Weighed:
    """Give the area under a curve that falls from 1 to 0: how many places it holds for, in all.

    Whether it falls at one place or over many, and whether it falls all the way, does not matter:
    places cover all of the reach evenly, so that the mean is an estimate without bias.

    Parameters
    ----------
    series
        `x` places, one from each of equal parts of the reach; `y` 1 where it holds and 0 elsewhere.
    reach
        Where places end.

    Returns
    -------
    Weighed
        The score is that of a fall against one share everywhere, the effect by how much it falls.
        `detail` has ``begins``, the share of the first places.
    """
    kept = series.kept()
    if len(kept) < LEAST_PLACES:
        return nothing()
    holds = kept.y[np.argsort(kept.x)]
    share = np.clip(1 - isotonic(1 - holds), 0.0, 1.0)
    value = float(holds.mean())
    # Neighbours differ by what chance makes of them; where it falls at once, by the place that is
    # in between, which holds or not.
    scatter = float((np.diff(holds) ** 2).sum()) / 2
    error = math.sqrt(max(scatter, 1 / 6)) / holds.size
    even = math.log(max(value, EVEN)) * holds.sum() + math.log(max(1 - value, EVEN)) * (
        holds.size - holds.sum()
    )
    likely = np.where(holds > 0, np.maximum(share, EVEN), np.maximum(1 - share, EVEN))
    half = NORMAL * error
    return Weighed(
        reach * value,
        (reach * max(value - half, 0.0), reach * (value + half)),
        float(np.log(likely).sum()) - even,
        float(share[0] - share[-1]),
        1.0,
        detail={"begins": float(share[0])},
    )
