"""Curves: where one that rises has come to a share of its end, and how far one that falls holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.grouped import group_medians
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.seeds import stream
from ssdscope.stats.changepoint import isotonic, saturation_depth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["extent", "saturation"]

REPLICATES = 400
NORMAL = 1.96
"""Standard errors of an interval of 95 %."""
LEAST_PLACES = 8
EVEN = 1e-12
"""A share that is as good as none."""


def saturation(
    series: Series, share: float, *, place: ArrayLike | None = None, seed: int = 0
) -> Weighed:
    """Find the place at which a rate first comes to a share of its rate at the last place.

    What noise lets fall is evened out first (isotonic regression); between two places the curve is
    taken as a line over the logarithm of the place.

    Parameters
    ----------
    series
        Positive `x`, as queue depths, each once or more; several strata give the interval.
    share
        In (0, 1].
    place : array_like of int, shape (n,)
        Which place a row is of, from 0 on, where its `x` is itself measured and scatters; the mean
        counts.

    Returns
    -------
    Weighed
        The effect is by how much the last place gives more than the first, as a share.
    """
    kept = series.kept()
    of = np.unique(kept.x, return_inverse=True)[1] if place is None else np.asarray(place)
    of = of if of.size == len(kept) else of[series.valid]
    if np.unique(of).size < 3:
        return nothing()
    places, table = (_by_stratum(np.log(each), kept, of) for each in (kept.x, kept.y))
    best, gain = _reached(places, table, share)
    rng = stream(seed, "inference.course")
    draws = rng.integers(0, len(table), (REPLICATES, len(table)))
    samples = np.array([_reached(places[draw], table[draw], share) for draw in draws])
    low, high = (float(each) for each in np.quantile(samples[:, 0], [0.025, 0.975]))
    gains = table[:, -1] - table[:, 0]
    error = float(gains.std(ddof=1)) / math.sqrt(gains.size) if gains.size > 1 else math.inf
    t = float(gains.mean()) / error if error > 0 else math.inf
    score = gains.size / 2 * math.log1p(t**2 / max(gains.size - 1, 1)) if t > 0 else 0.0
    bound = float(np.quantile(samples[:, 1], 0.95))
    return Weighed(best, (low, high), score, gain, bound)


def _by_stratum(
    values: NDArray[np.float64], kept: Series, of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Arrange values as (strata, places); what a stratum lacks is that of all strata."""
    strata, row = np.unique(kept.stratum, return_inverse=True)
    table = np.tile(group_medians(values, of, int(of.max()) + 1), (strata.size, 1))
    table[row, of] = values
    return table


def _reached(
    places: NDArray[np.float64], table: NDArray[np.float64], share: float
) -> tuple[float, float]:
    """Give the place by some of the strata, and the gain from first to last; all are logarithms."""
    at = np.maximum.accumulate(np.exp(places.mean(axis=0)))
    even = isotonic(np.exp(table.mean(axis=0)))
    return saturation_depth(at, even, share), float(even[-1] / even[0] - 1)


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
