"""The period of a response over places: units, blocks, zones, whatever repeats in address.

Values are ranked within their strata, folded at each candidate, and the share of variance between
the places of a period (one-way analysis of variance, adjusted for their number) says how well it
explains them. The best is held against the best of the same scan over values shuffled within
strata: nulls of maxima have an exponential tail, so that a Gumbel law through 199 of them tells
what is rarer than one in 200. Where the profile of a period is known, one of few places that stand
out is seen, too (`scan`); if it is known where it begins, in one sum (`multiples`). Rivals are the
parts of a period, which explain less, and its multiples, which explain no more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import NEGLIGIBLE, ONE_SIDED, QUARTILES
from ssdscope.inference.noise import normal_scores
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

__all__ = ["multiples", "period", "scan"]

PERMUTATIONS = 199
EULER = 0.5772156649
MEMBERS = 8
"""Of an array, at most, one of which has a stretch of a period."""


def period(series: Series, periods: ArrayLike, *, seed: int = 0) -> Weighed:
    """Find the period among candidates.

    Parameters
    ----------
    series
        `x` whole numbers: places in steps of the grid that periods are counted in.
    periods : array_like of int
        Candidates, each at most half of the range of places.
    seed
        Of the shuffles.

    Returns
    -------
    Weighed
        The estimate is the smallest candidate that explains as much as the best but for what chance
        adds; the effect by how much the slowest place is above the median of all.
    """
    kept = series.kept()
    candidates = np.unique(np.asarray(periods, np.int64))
    if len(kept) < 4 or candidates.size == 0:
        return nothing()
    kinds = np.unique(kept.stratum, return_inverse=True)[1]
    folds = _Folds(kept.x.astype(np.int64), candidates, kinds)
    scores = normal_scores(kept.y, kinds)
    shares = folds.shares(scores)
    rng, chance, shuffled = stream(seed, "inference.period"), np.empty(PERMUTATIONS), scores.copy()
    by_kind = np.argsort(kinds, kind="stable")
    for number in range(PERMUTATIONS):
        # Whole parts are strata, so that each is shuffled within itself.
        shuffled[by_kind] = scores[np.argsort(kinds + rng.random(scores.size))]
        chance[number] = folds.shares(shuffled).max()
    deviation = max(float(chance.std(ddof=1)), np.finfo(float).tiny)
    unlikely = (float(shares.max()) - float(chance.mean())) * math.pi / (deviation * math.sqrt(6))
    score = max(unlikely + EULER, 0.0)
    best = float(shares.max())
    # What a multiple gains over the period is what chance gives to as many more places.
    slack = max(float(np.quantile(chance, 0.95)), 0.0) * (1 - best)
    at = int(np.argmax(shares >= best - slack))
    found = int(candidates[at])
    effect = _effect(kept, found)
    return Weighed(
        float(found),
        None,
        score,
        effect,
        effect,
        tuple(_rivals(candidates, shares, at, len(kept))),
        {"explained": float(shares[at])},
    )


def scan(series: Series, lengths: ArrayLike, profile: Callable[[int], ArrayLike]) -> Weighed:
    """Find the length of a period, and where it begins, if the profile of each length is known.

    A known profile takes one parameter a stratum, and not one a place: long periods of which few
    places stand out are seen that way. Every value has a place drawn at random, so that shuffling
    says nothing new: twice the log likelihood that a profile gains by chance follows a chi-square
    law, whose tail is at most that of Chernoff's bound.

    Parameters
    ----------
    series, lengths
        As of `period`; candidates of any length.
    profile
        Gives what is expected at each place of a period of a length, from its beginning on: shape
        (length,) of all strata, or (strata, length) of each, in ascending order.

    Returns
    -------
    Weighed
        The estimate is the likeliest length; its rivals are other lengths. `detail` has ``begin``,
        and ``begin_margin``, by how much the data speak for it rather than for another.
    """
    kept = series.kept()
    candidates = np.unique(np.asarray(lengths, np.int64))
    if len(kept) < 4 or candidates.size == 0:
        return nothing()
    kinds = np.unique(kept.stratum, return_inverse=True)[1]
    ranked = _Ranked(kept.x, normal_scores(kept.y, kinds), kinds)
    profiles = [np.atleast_2d(np.asarray(profile(each), float)) for each in candidates.tolist()]
    every = [ranked.fits(each) for each in profiles]
    gained = np.array([fits.max() for fits in every])
    at = int(np.argmax(gained))
    found, fits = int(candidates[at]), every[at]
    begin = int(np.argmax(fits))
    free = (int(kinds.max()) + 1) / 2
    over = max(gained[at] / free, 1.0)
    score = max(free * (over - 1 - math.log(over)) - math.log(float(candidates.sum())), 0.0)
    others = np.delete(np.arange(candidates.size), at)
    rivals = [_other(int(candidates[each]), found, gained[at] - gained[each]) for each in others]
    effect = _slower(kept, found, begin, profiles[at])
    apart = float(fits[begin] - np.delete(fits, begin).max(initial=0.0))
    detail = {"begin": float(begin), "begin_margin": apart, "gained": float(gained[at])}
    spreads, sizes = _spreads(kept.y, kinds), np.bincount(kinds)
    errors = np.array([_error(spreads, sizes, each) for each in profiles])
    bound = float(np.expm1(((np.sqrt(2 * gained) + ONE_SIDED) * errors).max()))
    return Weighed(float(found), None, score, effect, bound, (), detail).against(rivals)


def _spreads(y: NDArray[np.float64], kinds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the standard deviation of the logarithms of each stratum, by its quartiles."""
    logs = np.log(np.maximum(y, np.finfo(float).tiny))
    every = (logs[kinds == number] for number in range(int(kinds.max()) + 1))
    quartiles = np.array([np.quantile(each, QUARTILES) for each in every])
    # Half of a normal law lies within 0.6745 deviations.
    return np.asarray(np.diff(quartiles, axis=1)[:, 0] / (2 * 0.6745))


def _error(
    spreads: NDArray[np.float64], sizes: NDArray[np.int64], rows: NDArray[np.float64]
) -> float:
    """Give the standard error of what lies between a profile's least and most, in logarithms."""
    ranges, varied = np.ptp(rows, axis=1), rows.var(axis=1)
    of = np.minimum(np.arange(spreads.size), len(rows) - 1)
    said = (ranges[of] > 0) & (spreads > 0)
    of = of[said]
    weight = float((sizes[said] * varied[of] / (ranges[of] * spreads[said]) ** 2).sum())
    return 1 / math.sqrt(weight) if weight > 0 else math.inf


def _other(length: int, found: int, margin: float) -> Rival:
    """Name another length."""
    name = "part" if found % length == 0 else "multiple" if length % found == 0 else "other period"
    return Rival(name, float(margin), float(length))


def _nearest(candidates: NDArray[np.int64], gained: NDArray[np.float64], at: int) -> list[Rival]:
    """Name of parts, of multiples and of what is neither the one that comes closest to the best."""
    found, margins = int(candidates[at]), gained[at] - gained
    part, multiple = found % candidates == 0, candidates % found == 0
    kinds = part, multiple & ~part, ~(part | multiple)
    others = [np.flatnonzero(each & (candidates != found)) for each in kinds]
    # Of several that come as close the largest.
    closest = [each[::-1][np.argmin(margins[each[::-1]])] for each in others if each.size]
    return [_other(int(candidates[each]), found, margins[each]) for each in closest]


def _slower(kept: Series, length: int, begin: int, rows: NDArray[np.float64]) -> float:
    """Give by how much what a profile says is slowest exceeds what it says is fastest."""
    kinds = np.unique(kept.stratum, return_inverse=True)[1]
    places = (kept.x.astype(np.int64) - begin) % length
    most = 0.0
    for number in range(int(kinds.max()) + 1):
        row, there = rows[min(number, len(rows) - 1)], kinds == number
        slow, fast = (there & (row == end(row))[places] for end in (np.max, np.min))
        if slow.any() and fast.any():
            most = max(most, float(np.median(kept.y[slow]) / np.median(kept.y[fast]) - 1))
    return most


def multiples(series: Series, lengths: ArrayLike) -> Weighed:
    """Find the length at whose multiples values are larger, if it is known that it begins at 0.

    The ranks at multiples of each length make one sum. Of several lengths it holds fewer of the
    places that stand out, of a part more of those that do not: so the likeliest is the length.

    Parameters
    ----------
    series
        `x` whole numbers, drawn at random, or all in order.
    lengths : array_like of int
        Candidates.

    Returns
    -------
    Weighed
        Rivals are the other lengths: those that come closest of parts, multiples and others; and
        a stretch of each length, that is slower as a whole. The bound is the share by which values
        at multiples of any of them may be above the others.
    """
    kept = series.kept()
    candidates = np.unique(np.asarray(lengths, np.int64))
    if len(kept) < 4 or candidates.size == 0:
        return nothing()
    scores = normal_scores(kept.y, kept.stratum)
    places = kept.x.astype(np.int64)
    first = int(places.min()) if places.size else 0
    begin = -(-first // candidates) * candidates - first
    sums, counts = (np.bincount(places - first, each) for each in (scores, None))
    # The method of an array asks for more than it adds where there are few.
    add = np.add.reduce
    on = np.array(
        [
            (add(sums[at::each]), add(counts[at::each]))
            for at, each in zip(begin.tolist(), candidates.tolist(), strict=True)
        ]
    )
    gained, free = _above(on[:, 0], on[:, 1], scores)
    at = int(np.argmax(gained))
    found = int(candidates[at])
    rivals = _nearest(candidates, gained, at)
    # Or a stretch of each is slower as a whole, as all that lies on one member of an array.
    widths = [found // each for each in range(2, MEMBERS + 1) if found >= 2 * each]
    within = np.array([places % found < each for each in widths], float).reshape(-1, len(kept))
    within = within[within.sum(axis=1) > np.count_nonzero(places % found == 0)]
    stretches = _above(within @ scores, within.sum(axis=1), scores)[0]
    if stretches.size:
        rivals.append(Rival("stretch", float(gained[at] - stretches.max())))
    there = places % found == 0
    both = there.any() and not there.all()
    effect = float(np.median(kept.y[there]) / np.median(kept.y[~there]) - 1) if both else 0.0
    (spread,) = _spreads(kept.y, np.zeros(len(kept), np.int64))
    errors = (ONE_SIDED + np.sqrt(2 * gained)) * spread / np.sqrt(free)
    bound = math.expm1(float(errors.max())) if errors.max() < 1 else math.inf
    score = max(float(gained[at]) - math.log(candidates.size), 0.0)
    detail = {"gained": float(gained[at])}
    weighed = Weighed(float(found), None, score, max(effect, 0.0), bound, (), detail)
    return weighed.against(sorted(rivals, key=lambda each: -each.margin))


def _above(
    sums: NDArray[np.float64], counts: NDArray[np.float64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the log likelihood gained if so many of the scores, of such sums, are above the others.

    And what is free of their number.
    """
    free = counts * (1 - counts / scores.size)
    # Where all places count, or none does, nothing is told apart. Scores have the mean 0; what is
    # not above the others is nothing.
    more = np.where(free < 1 / 2, 0.0, np.maximum(sums, 0.0))
    free = np.maximum(free, 1 / 2)
    shares = more**2 / free / max(float(scores @ scores), NEGLIGIBLE)
    return -scores.size / 2 * np.log(np.maximum(1 - shares, NEGLIGIBLE)), free


class _Ranked:
    """Normal scores at their places, in all and by stratum, ready for many profiles."""

    def __init__(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], kinds: NDArray[np.int64]
    ) -> None:
        places, strata = x.astype(np.int64), int(kinds.max()) + 1
        each = [scores[kinds == number] for number in range(strata)]
        self._places, self._scores, self._kinds = places, scores, kinds
        self._together = np.array([[scores.size, float(scores @ scores)]])
        self._apart = np.array([[part.size, float(part @ part)] for part in each])

    def fits(self, template: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the log likelihood that a template gains, by where it begins.

        One row stands for all strata together, else each for its own.
        """
        rows, length = template.shape
        # The remainder of a division by one number: numpy divides many numbers at once.
        at = self._places - self._places // length * length
        sizes, totals = self._together.T
        if rows > 1:
            at, (sizes, totals) = at + length * self._kinds, self._apart.T
        shape = rows, length
        folded = (np.bincount(at, each, rows * length) for each in (self._scores, None))
        sums, counts = (np.asarray(each, float).reshape(shape) for each in folded)
        profiles = template - template.mean(axis=1, keepdims=True)
        every = _shifted(sums, counts, profiles, sizes[:, None], totals[:, None])
        return np.asarray(np.sum(every, axis=0))


def _shifted(
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
    profiles: NDArray[np.float64],
    sizes: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Give the log likelihood that a profile gains from each place on; none where it falls.

    Parameters
    ----------
    sums, counts, profiles : ndarray, shape (strata, length)
        Of scores at each place; and what is expected there, whose mean is 0.
    sizes, totals : ndarray, shape (strata, 1)
        How many scores there are, and the sum of their squares.
    """
    at = np.fft.rfft(np.stack([profiles, profiles**2]), axis=2).conj()
    folded = np.fft.rfft(np.stack([sums, counts]), axis=2)
    along, size = np.fft.irfft(folded * at, profiles.shape[1], axis=2)
    share = np.maximum(along, 0) ** 2 / np.maximum(size * totals, np.finfo(float).tiny)
    return np.asarray(-sizes / 2 * np.log(np.maximum(1 - share, NEGLIGIBLE)))


def _rivals(
    candidates: NDArray[np.int64], shares: NDArray[np.float64], at: int, count: int
) -> list[Rival]:
    """Give parts and multiples, and the best of what is neither."""
    found = int(candidates[at])
    gained = -count / 2 * np.log(np.clip(1 - shares, NEGLIGIBLE, None))
    rivals = []
    for index, other in enumerate(candidates.tolist()):
        if index != at and found % other == 0:
            rivals.append(Rival("part", float(gained[at] - gained[index]), float(other)))
    strangers = np.flatnonzero((candidates % found != 0) & (found % candidates != 0))
    if strangers.size:
        next_best = strangers[np.argmax(gained[strangers])]
        margin = float(gained[at] - gained[next_best])
        rivals.append(Rival("another period", margin, float(candidates[next_best])))
    return sorted(rivals, key=lambda each: each.margin)


def _effect(kept: Series, found: int) -> float:
    """Give by how much the slowest place of the period is above the median place, as a share."""
    places = kept.x.astype(np.int64) % found
    logs = np.log(np.maximum(kept.y, np.finfo(float).tiny))
    means = np.bincount(places, logs) / np.maximum(np.bincount(places), 1)
    there = means[np.bincount(places) > 0]
    return float(np.expm1(there.max() - np.median(there))) if there.size > 1 else 0.0


class _Folds:
    """Places folded at every candidate, ready for the same analysis of many responses."""

    def __init__(
        self, places: NDArray[np.int64], periods: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> None:
        self._groups = [
            np.unique(places % each + each * kinds, return_inverse=True)[1]
            for each in periods.tolist()
        ]
        self._sizes = [np.bincount(group) for group in self._groups]
        self._kinds = int(kinds.max(initial=0)) + 1

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the adjusted share of variance between the places of each period."""
        total = float(values @ values)
        n = values.size
        found = []
        for group, sizes in zip(self._groups, self._sizes, strict=True):
            free = n - sizes.size
            if free <= 0 or total <= 0:
                found.append(0.0)
                continue
            between = float((np.bincount(group, values) ** 2 / sizes).sum()) / total
            found.append(1 - (1 - between) * (n - self._kinds) / free)
        return np.array(found)
