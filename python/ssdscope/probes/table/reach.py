"""How far apart two places may be for the first to help the second, in cells anywhere.

Places at a distance d lie in different cells of a size with probability d / size, up to 1. So
values rise in proportion to the distance up to the size, and are even from there on: a likelihood
of their ranks for each size. This tells the size roughly, wherever cells begin; `cells` tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import INTERVAL_DROP, NEGLIGIBLE
from ssdscope.inference.noise import normal_scores
from ssdscope.inference.series import Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["reach"]


def reach(series: Series, sizes: ArrayLike) -> Weighed:
    """Find about how large cells are.

    Parameters
    ----------
    series
        `x` is the distance of each pair.
    sizes : array_like
        Candidates, ascending.

    Returns
    -------
    Weighed
        The effect is that on the means of ranks, of which nothing is told.
    """
    kept = series.kept()
    tried = np.asarray(sizes, float)
    if len(kept) < 2 or np.ptp(kept.y) == 0:
        return nothing()
    scores = normal_scores(kept.y, np.zeros(len(kept)))
    apart = np.minimum(kept.x / tried[:, None], 1)
    apart -= apart.mean(axis=1, keepdims=True)
    along = np.maximum(apart @ scores, 0)
    spread = np.maximum((apart**2).sum(axis=1) * float(scores @ scores), np.finfo(float).tiny)
    gained = -len(kept) / 2 * np.log(np.clip(1 - along**2 / spread, NEGLIGIBLE, None))
    near = np.flatnonzero(gained > gained.max() - INTERVAL_DROP)
    best = int(np.argmax(gained))
    ends = float(tried[near[0]]), float(tried[near[-1]])
    return Weighed(float(tried[best]), ends, float(gained[best]), 1.0, 1.0)
