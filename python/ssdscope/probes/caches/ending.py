"""Where something ends that is rounded up to places unknown, as to whole pages: one end a stratum.

Of each stratum (a row of reads) values are small up to its end and larger behind it. Ends lie
anywhere from the place sought to a width behind it, as pages begin anywhere. A few values are on
the wrong side by chance, and a few strata end somewhere else, for reasons of their own. The
likelihood of all values tells place and width together.

Rivals: *here and there*, that far more values are on the wrong side than chance puts there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import HERE_AND_THERE, INTERVAL_DROP
from ssdscope.inference.noise import PIECES, likelihood
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ending"]

MISREAD = 0.03
"""Values on the wrong side of an end, usually; where there is no one end it is `HERE_AND_THERE`."""
ELSEWHERE = 0.1
"""Strata that end somewhere else."""
WIDTHS = 40


def ending(series: Series, places: ArrayLike, widest: float) -> Weighed:
    """Find the place from which on strata end, within a width.

    Parameters
    ----------
    series
        Of two levels of `y`, the smaller before the end of each stratum.
    places : array_like, shape (n,)
        Where ends may be, ascending.
    widest
        That the width may be.

    Returns
    -------
    Weighed
        `detail` has ``width``.
    """
    kept = series.kept()
    where = np.asarray(places, float)
    if min(len(kept), where.size) < 2 or np.ptp(kept.y) == 0:
        return nothing()
    large = kept.y > (kept.y.min() + kept.y.max()) / 2
    widths = np.geomspace(np.diff(where).min(), widest, WIDTHS)
    fits = [_fit(kept, large, where, widths, wild) for wild in (MISREAD, HERE_AND_THERE)]
    fit, loose = (each.max(axis=0) for each in fits)
    alike = where[:-1][fit > fit.max() - 1]
    near = np.flatnonzero(fit > fit.max() - INTERVAL_DROP)
    best = float(alike.mean())
    before, behind = kept.y[kept.x < best], kept.y[kept.x >= best]
    effect = float(behind.mean() / before.mean() - 1) if before.size and behind.size else 0.0
    return Weighed(
        best,
        (float(where[near[0]]), float(where[near[-1]])),
        max(float(fit.max()) - _evenly(kept, large), 0.0),
        effect,
        effect,
        (Rival("here and there", float(fit.max() - loose.max())),),
        {"width": float(widths[np.argmax(fits[0].max(axis=1))])},
    )


def _evenly(kept: Series, large: NDArray[np.bool_]) -> float:
    """Give the log likelihood if larger ones are anywhere, each piece of time having its share.

    So what drifts from some strata to others is no end.
    """
    which = np.unique(kept.stratum, return_inverse=True)[1]
    pieces = which * PIECES // (which.max() + 1)
    hits, counts = np.bincount(pieces, large), np.bincount(pieces)
    return float(likelihood(hits, counts)[counts > 0].sum())


def _fit(
    kept: Series,
    large: NDArray[np.bool_],
    places: NDArray[np.float64],
    widths: NDArray[np.float64],
    wild: float,
) -> NDArray[np.float64]:
    """Give the log likelihood of each width and place but the last, shape (widths, places - 1)."""
    which = np.unique(kept.stratum, return_inverse=True)[1]
    # What a value says once the end is behind it, beyond what it said before.
    said = np.where(large, -1, 1) * math.log((1 - wild) / wild)
    passed = np.zeros((which.max() + 1, places.size + 1))
    np.add.at(passed, (which, np.searchsorted(places, kept.x, side="right")), said)
    none = np.bincount(which, np.where(large, math.log(1 - wild), math.log(wild)))
    logs = np.cumsum(passed, axis=1)[:, : places.size - 1] + none[:, None]
    highest = logs.max(axis=1, keepdims=True)
    sums = np.zeros((len(logs), places.size))
    sums[:, 1:] = np.cumsum(np.exp(logs - highest) * np.diff(places), axis=1)
    anywhere = ELSEWHERE * sums[:, -1:] / (places[-1] - places[0])
    found = np.empty((widths.size, places.size - 1))
    first = np.arange(places.size - 1)
    for row, width in enumerate(widths):
        behind = np.searchsorted(places, places[:-1] + width).clip(first + 1, first.size)
        inside = (sums[:, behind] - sums[:, :-1]) / (places[behind] - places[:-1])
        found[row] = np.log((1 - ELSEWHERE) * inside + anywhere).sum(axis=0)
    return found + float(highest.sum())
