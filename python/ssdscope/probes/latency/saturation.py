"""The place at which a curve that rises has come to a share of its end."""

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

__all__ = ["saturation"]

REPLICATES = 400


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
