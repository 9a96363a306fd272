"""How many of the places that were read last are still held: by one cache, or by several alike.

A cache that keeps what was used last holds a place as long as fewer others came since than it has
room for. Of several caches, as of the disks of an array, each sees some of the others: how many is
binomial, and so the place at which nothing is held any more is no sharp one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["held"]

CACHES = 4
"""Tried at most."""
LOST, FAST = (0.05, 0.2), 0.02
"""Of what is held, that takes long for another reason; of what is not, that is fast by chance."""


def held(series: Series, threshold: float) -> Weighed:
    """Find how many places all caches hold together.

    Parameters
    ----------
    series
        `x` counts the places that were read from a place on, itself included: 1 is the last.
    threshold
        What is held takes less.

    Returns
    -------
    Weighed
        The rivals are other numbers. `detail` has ``caches``, over how many they are spread.
    """
    from scipy.stats import binom

    kept = series.kept()
    if not len(kept):
        return nothing()
    ranks, index = np.unique(kept.x, return_inverse=True)
    counts = np.asarray(np.bincount(index), float)
    hits = np.asarray(np.bincount(index, kept.y < threshold), float)
    none = _likely(hits, counts, np.zeros(ranks.size), 0.0)
    best: dict[int, tuple[float, int]] = {}
    for caches in range(1, CACHES + 1):
        for room in range(1, ranks.size // caches):
            there = np.asarray(binom.cdf(room - 1, ranks - 1, 1 / caches))
            found = max(_likely(hits, counts, there, lost) for lost in LOST), caches
            best[room * caches] = max(found, best.get(room * caches, found))
    if not best:
        return nothing()
    order = sorted(best, key=lambda each: best[each][0], reverse=True)
    value, (score, caches) = order[0], best[order[0]]
    rivals = [Rival("another number", score - best[each][0], float(each)) for each in order[1:]]
    share = float(hits.sum() / counts.sum())
    # Nothing is held if that explains it better than any number does.
    bound = share if score <= none else 1.0
    effect = float((kept.y >= threshold).mean())
    detail = {"caches": float(caches)}
    return Weighed(float(value), None, score - none, effect, bound, tuple(rivals[:2]), detail)


def _likely(
    hits: NDArray[np.float64], counts: NDArray[np.float64], there: NDArray[np.float64], lost: float
) -> float:
    """Give the log likelihood of so many hits where places are held with these probabilities."""
    shares = FAST + (1 - FAST - lost) * there
    return float((hits * np.log(shares) + (counts - hits) * np.log1p(-shares)).sum())
