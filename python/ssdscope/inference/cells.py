"""The size of cells side by side, by pairs of places: two in one cell fare better than two apart.

Places and distances are drawn at random. Whether a pair lies in one cell follows from the size of
the cells and where one begins, so each size and beginning is held against all pairs by the
likelihood of two levels, of ranks or of shares above a threshold; how probable as much is by chance
counts times all that were tried (Bonferroni). Rivals are all other sizes, and *the distance*: that
pairs fare by how far apart they are (an arm that moves), or that what lies apart shares (an array).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.inference.levels import NEGLIGIBLE
from ssdscope.inference.noise import likelihood, normal_scores
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["cells"]

WILD = 0.03
"""Of the variance, that no explanation need explain."""


def cells(series: Series, sizes: ArrayLike, *, above: float | None = None) -> Weighed:
    """Find the size of the cells.

    Parameters
    ----------
    series
        `x` is the lower place of each pair and `stratum` how much higher the other lies, both whole
        numbers.
    sizes : array_like of int
        Candidates.
    above
        If given, values count as those above it and those that are not.

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
    scores = normal_scores(kept.y, np.zeros(len(kept))) if above is None else kept.y > above
    if np.ptp(scores.astype(float)) == 0:
        return nothing()
    judge = _Scores(scores)
    fits = [_phase(lower, apart, judge, int(size)) for size in tried]
    gained = np.array([each for each, _ in fits])
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
        _rivals(tried, gained, best, _by_distance(kept, parted, scores, float(gained[best]))),
        {
            "begins": float(begins),
            "together": float(np.median(kept.y[~parted])),
            "apart": float(np.median(kept.y[parted])),
        },
    )


class _Scores:
    """Scores of pairs, with what every size and beginning asks of them."""

    def __init__(self, scores: NDArray[Any]) -> None:
        self.are_flags = scores.dtype == np.bool_
        self.size, self.total = scores.size, np.count_nonzero(scores)
        self.each, self.mean = scores.astype(float), scores.mean()
        self.squares = float(((scores - self.mean) ** 2).sum())

    def gained(self, sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the log likelihood of two levels against one, by sum and number of those apart."""
        if self.are_flags:
            hits, held = np.round(sums), np.round(counts)
            both = likelihood(hits, held) + likelihood(self.total - hits, self.size - held)
            return np.asarray(both - likelihood(self.total, self.size))
        more = sums - self.mean * counts
        share = more**2 * (1 / counts + 1 / (self.size - counts)) / self.squares
        return np.asarray(-self.size / 2 * np.log(np.maximum(1 - share, NEGLIGIBLE)))


def _phase(
    lower: NDArray[np.int64], apart: NDArray[np.int64], scores: _Scores, size: int
) -> tuple[float, int]:
    """Find where cells of a size begin, and give the log likelihood that they gain, too.

    A pair is parted by a beginning at any of the places behind the lower, up to the higher.
    """
    near = apart < size
    first = lower[near] + 1
    first -= first // size * size
    last, each = first + apart[near], scores.each[near]
    ends = np.concatenate([first, last])
    parted = np.bincount(ends, np.concatenate([each, -each]), minlength=2 * size)
    sums = np.cumsum(parted).reshape(2, size).sum(axis=0)
    begun, ended = (np.bincount(at, minlength=2 * size) for at in (first, last))
    counts = np.cumsum(begun - ended).reshape(2, size).sum(axis=0).astype(float)
    sums += scores.each[~near].sum()
    counts += np.count_nonzero(~near)
    more = sums - scores.mean * counts
    both = (counts > 0.5) & (counts < scores.size - 0.5) & (more > 0)
    if not both.any():
        return 0.0, 0
    gained = np.zeros(size)
    gained[both] = scores.gained(sums[both], counts[both])
    best = int(np.argmax(gained))
    return float(gained[best]), best


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
    kept: Series, parted: NDArray[np.bool_], scores: NDArray[Any], gained: float
) -> float:
    """Give by how much two levels are better than levels of their own for distances.

    For each half of an octave, as there may be as many distances as pairs; what more levels cost is
    after Schwarz (1978). A few values are wild: what explains these, too, explains no more.
    """
    halves = np.floor(2 * np.log2(1.0 + kept.stratum)).astype(np.int64)
    groups = np.unique(2 * halves + parted, return_inverse=True)[1]
    counts = np.bincount(groups)
    sums, size = np.bincount(groups, scores.astype(float)), scores.size
    if scores.dtype == np.bool_:
        hits = np.round(sums)
        every = float(likelihood(hits, counts).sum() - likelihood(hits.sum(), size))
        left = math.exp(-2 * every / size)
    else:
        centred = scores - scores.mean()
        between = ((sums - scores.mean() * counts) ** 2 / counts).sum()
        left = 1 - float(between) / float(centred @ centred)
    better = math.log((math.exp(-2 * gained / size) + WILD) / (left + WILD)) * size / 2
    return (counts.size - 2) / 2 * math.log(size) - better
