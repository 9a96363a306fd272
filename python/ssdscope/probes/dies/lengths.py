"""How long stretches are that share something, and from which kind on something costs more.

`common_length`: from the begin of each stretch, pairs at growing distances were timed, which wait
as far as the stretch reaches. Of each the likelihood of every length is known; most must have one
in common. Some are cut short, or go on by chance, and may have any length.

`onset`: kinds are in order, and values of those from one on are larger, by one amount. Rivals are
the other kinds, and any other way to part kinds in two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.mixture import levels_of
from ssdscope.inference.series import Rival, Series, Weighed, nothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["common_length", "onset"]

OTHERS, HALF = 0.1, 0.5
"""Share of stretches that may have another length; with that of the rival, it has no name."""
NARROWEST = 1e-9
SPIKES = 5.0
"""Deviations about the median of a kind, beyond which a value counts as if it were there."""


def common_length(series: Series, possible: float) -> Weighed:
    """Find the length of most stretches.

    Parameters
    ----------
    series
        `x` distances, `y` times of pairs, `stratum` the stretch.
    possible
        How many lengths a stretch might have.

    Returns
    -------
    Weighed
        The effect is by how much longer pairs of a stretch take; `detail` has ``share``, of the
        stretches that have the length.
    """
    kept = series.kept()
    levels = levels_of(np.log(kept.y))
    strata = np.unique(kept.stratum)
    if levels.count == 1 or not strata.size:
        return nothing()
    # Waiting is the highest level; what is higher than that by chance waits, too.
    gained = levels.gained(np.minimum(np.log(kept.y), levels.centres[-1]))
    lengths = np.unique(kept.x)
    table = np.array(
        [
            _by_length(kept.where(kept.stratum == each), gained[kept.stratum == each], lengths)
            for each in strata
        ]
    )
    each = np.log((1 - OTHERS) * np.exp(table) + OTHERS / possible)
    every = each.sum(axis=0)
    best = int(np.argmax(every))
    if best == 0:
        return nothing()
    rivals = [
        Rival("another length", float(every[best] - every[at]), float(lengths[at]))
        for at in range(lengths.size)
        if at != best
    ]
    effect = math.expm1(float(levels.centres[-1] - levels.centres[-2]))
    have = np.count_nonzero(table[:, best] > math.log(OTHERS))
    share = have / strata.size
    several = have * math.log((1 - OTHERS) / HALF)
    several += (strata.size - have) * math.log(OTHERS / HALF)
    rivals.append(Rival("several lengths", several))
    score = float(every[best]) + strata.size * math.log(possible) - math.log(lengths.size)
    found = Weighed(
        float(lengths[best]), None, max(score, 0.0), effect, effect, (), {"share": share}
    )
    return found.against(rivals)


def _by_length(
    one: Series, gained: NDArray[np.float64], lengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the log likelihood of each length of one stretch, over that of its best."""
    order = np.argsort(one.x, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(gained[order])])
    found = sums[np.searchsorted(one.x[order], lengths)]
    return np.asarray(found - found.max())


def onset(series: Series) -> Weighed:
    """Find the kind from which on values are larger.

    Parameters
    ----------
    series
        `x` kinds, whole numbers in order.

    Returns
    -------
    Weighed
        Nothing if there is one kind only; the effect is by how much values are larger.
    """
    kept = series.kept()
    kinds = np.unique(kept.x)
    if kinds.size < 2:
        return nothing()
    by_kind = _ByKind.of(kept, kinds)
    splits = {at: by_kind.gain(np.arange(kinds.size) >= at) for at in range(1, kinds.size)}
    best = max(splits, key=lambda at: splits[at])
    high = np.arange(kinds.size) >= best
    rise = by_kind.rise(high)
    by_size = np.argsort(by_kind.means)
    others = [np.isin(np.arange(kinds.size), by_size[cut:]) for cut in range(1, kinds.size)]
    rivals = [
        Rival("another kind", splits[best] - gained, float(kinds[at]))
        for at, gained in splits.items()
        if at != best
    ]
    rivals += [
        Rival("another pattern", splits[best] - by_kind.gain(each))
        for each in others
        if not (each == high).all()
    ]
    bound = math.expm1(float(np.ptp(by_kind.means)) + 2 * by_kind.error(high))
    score = max(splits[best] - math.log(kinds.size), 0.0) if rise > 0 else 0.0
    found = Weighed(float(kinds[best]), None, score, math.expm1(max(rise, 0.0)), bound)
    return found.against(rivals)


@dataclass(frozen=True)
class _ByKind:
    """Means of the logarithms of each kind, without spikes, and how values scatter about them."""

    means: NDArray[np.float64]
    counts: NDArray[np.float64]
    width: float
    within: float

    @classmethod
    def of(cls, kept: Series, kinds: NDArray[np.float64]) -> _ByKind:
        logs = [np.log(kept.y[kept.x == kind]) for kind in kinds]
        middles = [float(np.median(each)) for each in logs]
        off = np.concatenate([each - middle for each, middle in zip(logs, middles, strict=True)])
        width = max(1.4826 * float(np.median(np.abs(off))), NARROWEST)
        off = np.clip(off, -SPIKES * width, SPIKES * width)
        counts = np.array([each.size for each in logs], float)
        ends = np.cumsum(counts).astype(int)[:-1]
        means = np.array(middles) + [float(each.mean()) for each in np.split(off, ends)]
        return cls(means, counts, width, float(off @ off))

    def rise(self, high: NDArray[np.bool_]) -> float:
        """Give by how much some kinds are above the others, in the logarithm."""
        one, other = (np.average(self.means[at], weights=self.counts[at]) for at in (high, ~high))
        return float(one - other)

    def error(self, high: NDArray[np.bool_]) -> float:
        """Give the standard error of that."""
        return self.width * math.sqrt(sum(1 / self.counts[at].sum() for at in (high, ~high)))

    def gain(self, high: NDArray[np.bool_]) -> float:
        """Give the log likelihood that two means gain over one."""
        n, both = float(self.counts.sum()), self.counts[high].sum() * self.counts[~high].sum()
        between = float(both) / n * self.rise(high) ** 2
        whole = float(np.average(self.means, weights=self.counts))
        total = self.within + float(self.counts @ (self.means - whole) ** 2)
        return -n / 2 * math.log(max(1 - between / total, NARROWEST)) if total > 0 else 0.0
