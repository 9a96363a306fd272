"""The size of cells side by side, by pairs of places: two in one cell fare better than two apart.

A unit of a cache, a piece of a table: what one place brings in serves the other, if both lie in the
same cell. Places and distances are drawn at random. Whether a pair lies in one cell follows from
the size of the cells and where one begins, so each size and beginning is held against all pairs by
the likelihood of two levels, of the ranks of values. How probable as much is by chance is known for
each (one degree of freedom); over all that were tried, times their number (Bonferroni).

Rivals are all other sizes, and *the distance*: that pairs fare by how far apart they are, wherever
they lie (an arm that moves), or that some of what lies apart shares after all (an array).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.noise import normal_scores
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["cells"]

WILD = 0.03
"""Of the variance, that no explanation need explain."""


def cells(series: Series, sizes: ArrayLike) -> Weighed:
    """Find the size of the cells.

    Parameters
    ----------
    series
        `x` is the lower place of each pair and `stratum` how much higher the other lies, both whole
        numbers.
    sizes : array_like of int
        Candidates.

    Returns
    -------
    Weighed
        The effect is by how much two apart take longer than two in one cell, as a share.
        `detail` has ``begins``, where one cell does, and the medians of both, ``together`` and
        ``apart``.
    """
    kept = series.kept()
    tried = np.unique(np.asarray(sizes, np.int64))
    if len(kept) < 4 or tried.size == 0:
        return nothing()
    lower, apart = kept.x.astype(np.int64), kept.stratum
    scores = normal_scores(kept.y, np.zeros(len(kept)))
    if np.ptp(scores) == 0:
        return nothing()
    fits = [_phase(lower, apart, scores, int(size)) for size in tried]
    shares = np.array([share for share, _ in fits])
    gained = -len(kept) / 2 * np.log(np.clip(1 - shares, 1e-12, None))
    best = int(np.argmax(gained))
    size, begins = int(tried[best]), fits[best][1]
    parted = (lower - begins) // size != (lower + apart - begins) // size
    if parted.all() or not parted.any():
        return nothing()
    logs = np.log(np.maximum(kept.y, np.finfo(float).tiny))
    effect = math.expm1(float(logs[parted].mean() - logs[~parted].mean()))
    return Weighed(
        float(size),
        None,
        max(float(gained[best]) - math.log(tried.sum()), 0.0),
        effect,
        math.inf,
        _rivals(tried, gained, best, _by_distance(kept, parted, scores, float(shares[best]))),
        {
            "begins": float(begins),
            "together": float(np.median(kept.y[~parted])),
            "apart": float(np.median(kept.y[parted])),
        },
    )


def _phase(
    lower: NDArray[np.int64], apart: NDArray[np.int64], scores: NDArray[np.float64], size: int
) -> tuple[float, int]:
    """Find where cells of a size begin, and give the share of variance that they explain, too.

    A pair is parted by a beginning at any of the places behind the lower, up to the higher.
    """
    near = apart < size
    first = (lower[near] + 1) % size
    ends = np.concatenate([first, first + apart[near]])
    sums, counts = (
        np.cumsum(np.bincount(ends, np.concatenate([each, -each]), minlength=2 * size))
        .reshape(2, size)
        .sum(axis=0)
        for each in (scores[near], np.ones(first.size))
    )
    sums += scores[~near].sum() - scores.mean() * (counts + np.count_nonzero(~near))
    counts += np.count_nonzero(~near)
    both = (counts > 0.5) & (counts < scores.size - 0.5) & (sums > 0)
    if not both.any():
        return 0.0, 0
    held = counts[both]
    explained = np.zeros(size)
    explained[both] = sums[both] ** 2 * (1 / held + 1 / (scores.size - held))
    best = int(np.argmax(explained))
    total = float(((scores - scores.mean()) ** 2).sum())
    return float(explained[best]) / total, best


def _rivals(
    tried: NDArray[np.int64], gained: NDArray[np.float64], best: int, by_distance: float
) -> tuple[Rival, ...]:
    """Give the distance, and the best of parts, of multiples and of other sizes."""
    found = int(tried[best])
    kinds = np.where(found % tried == 0, "part", np.where(tried % found == 0, "multiple", "other"))
    rivals = [Rival("the distance between them", by_distance)]
    for kind in ("part", "multiple", "other"):
        others = np.flatnonzero((kinds == kind) & (tried != found))
        if others.size:
            next_best = others[np.argmax(gained[others])]
            margin = float(gained[best] - gained[next_best])
            rivals.append(Rival(f"{kind} size", margin, float(tried[next_best])))
    return tuple(sorted(rivals, key=lambda each: each.margin))


def _by_distance(
    kept: Series, parted: NDArray[np.bool_], scores: NDArray[np.float64], share: float
) -> float:
    """Give by how much two levels are better than levels of their own for distances.

    For each half of an octave, as there may be as many distances as pairs; what more levels cost is
    after Schwarz (1978). A few values are wild: what explains these, too, explains no more.
    """
    halves = np.floor(2 * np.log2(1.0 + kept.stratum)).astype(np.int64)
    groups = np.unique(2 * halves + parted, return_inverse=True)[1]
    counts = np.bincount(groups)
    centred = scores - scores.mean()
    between = float((np.bincount(groups, centred) ** 2 / counts).sum()) / float(centred @ centred)
    gained = math.log((1 - share + WILD) / (1 - between + WILD)) * scores.size / 2
    return (counts.size - 2) / 2 * math.log(scores.size) - gained
