"""How far a curve that falls holds, in all: the area under it."""

from __future__ import annotations

import math

import numpy as np

from ssdscope.inference.levels import NEGLIGIBLE, NORMAL
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.stats.changepoint import isotonic

__all__ = ["extent"]

LEAST_PLACES = 8


def extent(series: Series, reach: float) -> Weighed:
    """Return the area under a curve that falls from 1 to 0: how many places it holds for, in all.

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
    even = math.log(max(value, NEGLIGIBLE)) * holds.sum() + math.log(max(1 - value, NEGLIGIBLE)) * (
        holds.size - holds.sum()
    )
    likely = np.where(holds > 0, np.maximum(share, NEGLIGIBLE), np.maximum(1 - share, NEGLIGIBLE))
    half = NORMAL * error
    return Weighed(
        reach * value,
        (reach * max(value - half, 0.0), reach * (value + half)),
        float(np.log(likely).sum()) - even,
        float(share[0] - share[-1]),
        1.0,
        detail={"begins": float(share[0])},
    )
