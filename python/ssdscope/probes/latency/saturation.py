"""The place at which a curve that rises has come to a share of its end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import ENDS
from ssdscope.inference.series import Series, Weighed, group_medians, nothing
from ssdscope.seeds import stream
from ssdscope.stats.changepoint import isotonic, saturation_depths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["saturation", "saturations"]

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
    return saturations(series, (share,), place=place, seed=seed)[0]


def saturations(
    series: Series, shares: Sequence[float], *, place: ArrayLike | None = None, seed: int = 0
) -> list[Weighed]:
    """Find the places of several shares; as `saturation`, at the cost of one."""
    kept = series.kept()
    of = np.unique(kept.x, return_inverse=True)[1] if place is None else np.asarray(place)
    of = of if of.size == len(kept) else of[series.valid]
    if np.unique(of).size < 3:
        return [nothing() for _ in shares]
    places, table = (_by_stratum(np.log(each), kept, of) for each in (kept.x, kept.y))
    rng = stream(seed, "inference.course")
    draws = rng.integers(0, len(table), (REPLICATES, len(table)))
    # The first replicate is of all strata, each once.
    of_all = np.vstack([np.arange(len(table)), draws])
    # Few strata are drawn in few ways.
    every, which = np.unique(of_all, axis=0, return_inverse=True)
    at = np.maximum.accumulate(np.exp(places[every].mean(axis=1)), axis=1)
    even = np.array([isotonic(each) for each in np.exp(table[every].mean(axis=1))])
    gain, *sampled = (even[:, -1] / even[:, 0] - 1)[which].tolist()
    gains = table[:, -1] - table[:, 0]
    error = float(gains.std(ddof=1)) / math.sqrt(gains.size) if gains.size > 1 else math.inf
    t = float(gains.mean()) / error if error > 0 else math.inf
    score = gains.size / 2 * math.log1p(t**2 / max(gains.size - 1, 1)) if t > 0 else 0.0
    bound = float(np.quantile(sampled, 0.95))
    found = []
    for best, *samples in saturation_depths(at, even, shares)[:, which].tolist():
        low, high = (float(each) for each in np.quantile(samples, ENDS))
        found.append(Weighed(best, (low, high), score, gain, bound))
    return found


def _by_stratum(
    values: NDArray[np.float64], kept: Series, of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Arrange values as (strata, places); what a stratum lacks is that of all strata."""
    strata, row = np.unique(kept.stratum, return_inverse=True)
    table = np.tile(group_medians(values, of, int(of.max()) + 1), (strata.size, 1))
    table[row, of] = values
    return table
