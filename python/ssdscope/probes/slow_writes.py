"""Writes that wait for collection: where they begin in a series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_REQUESTS = 256
COLLAPSED = 20.0
"""So many times slower than at first: a drive that merges, where every further write is dear."""
MIN_RISE = 0.08
FIRST_RISE = 0.02
MIN_GAIN = 12.0
ONSET_GAIN, INEXACT_GAIN = 10.0, 15.0
"""In log likelihood, over the best of all places and thresholds; more where requests end within
units, and some wait for others."""
THRESHOLDS = tuple(1.5 * 2.0**step for step in range(9))
"""Times the usual latency; a write that waits takes from twice to hundreds of times as long."""
FOLLOWED = 0.5
"""A rise counts once half as much was written behind it as before it."""
NEXT, NEXT_RISE = 0.25, 0.1
"""Times what is before a rise: where at least so much of it must show, lest it begins later."""
WHILES, LONG_BEHIND, PASSED = 8, 0.1, 0.3
"""Of what is behind the first rise, if that is so much of what is before: parts; and how little of
the rise shows in one where it has passed."""
LOCAL = 256
"""Requests whose median stands for what a write takes when nothing is collected."""
DRIFT_MOST = 1.5
FASTER = 0.9
"""Of the writes behind a buffer: many wait for room in it all the time, in turn. Were it half of
them, the median would be the one time now and the other then; the mean of all but the slowest stays
the same."""
BEFORE, AT, PARTS, SLOWER_BEFORE = (0.3, 0.8), 0.02, 5, 1.02
"""Of what is before a knee: from where to where writes are as fast as ever, and how much is at it.
In so many parts; and how many times as long they take in between if collection has begun."""
MANY_PARTS, STEP, SUDDEN, DRIFTS = 100, 0.05, (0.09, 0.8), 0.3
"""Of so many neighbours at a time, or of a quarter; in the logarithm: by so much their medians rise
where collection goes on beside; by how much, and which share of it at once, if surely not by drift;
and of what less is at once, that drifts."""
ANYWHERE = 0.25
"""Of all parts: where a step may be in so many, no place is slower than those before it."""
APART, OFTEN, AS_MUCH = 8, 0.9, 0.7
"""Of so many parts the first and last three are held against each other; and how much of what they
differ by at a step most may differ elsewhere, where there is no drift."""
WAIT, WAITS_BEFORE = 100.0, 0.1
"""Times the usual: what no page takes, nor a spike; and how much rarer such writes must be before
collection begins than from then on, where there are several."""
LONG_WAIT, FIRST_BURSTS, EVENLY = WAIT / 2, 4, 1.25
"""Likewise of what waits in bursts: so many at first that are apart alike, but for so much."""
SLOWEST = 1000.0
"""Times the median: what is slower counts as so slow, so that no single write decides."""
FINE_THRESHOLDS = (1.15, 1.25, 1.35, *THRESHOLDS)
"""Likewise of collection that other planes' work hides: it makes a write a little longer."""
EARLIEST = 0.02
"""Of the capacity: what gets slower before, and not very much so, is no collection."""


@dataclass(frozen=True)
class Knee:
    """Where writes become slow, in bytes overwritten."""

    spare_bytes: float
    low_bytes: float
    high_bytes: float
    slowdown: float


def relative(latencies: NDArray[np.float64], *, in_turn: bool = False) -> NDArray[np.float64]:
    """Give latencies over the usual one of their neighbours.

    Drift moves that, and collection, which hits few writes hard, does not.

    Parameters
    ----------
    latencies : ndarray, shape (n,)
        In order.
    in_turn
        Whether many wait for room in a buffer; else their median is the usual one.
    """
    usual_of = _mean_of_faster if in_turn else np.median
    head = usual_of(latencies[:LOCAL])
    blocks = [
        min(float(usual_of(latencies[start : start + LOCAL])), DRIFT_MOST * head)
        for start in range(0, latencies.size, LOCAL)
    ]
    usual = np.repeat(blocks, LOCAL)[: latencies.size]
    times: NDArray[np.float64] = np.minimum(latencies / usual, SLOWEST)
    return times


def _mean_of_faster(latencies: NDArray[np.float64]) -> float:
    return float(np.sort(latencies)[: max(int(FASTER * latencies.size), 1)].mean())


def knee_alone(
    latencies: NDArray[np.float64],
    size_bytes: int,
    capacity: int,
    *,
    skipped: int = 0,
    exact: bool = True,
) -> Knee | None:
    """Find where writes one by one become slow for good, and there the first that were.

    Parameters
    ----------
    latencies : ndarray, shape (n,)
        Of writes of `size_bytes` each, in order.
    size_bytes, capacity
        Of a write, and of the drive.
    skipped
        So many at first go into a buffer, and do not count.
    exact
        Whether these are whole RMW units.
    """
    gain = ONSET_GAIN if exact else INEXACT_GAIN
    warm = skipped
    while latencies.size - warm >= LEAST_REQUESTS:
        slow = relative(latencies[warm:], in_turn=not exact)
        split = _surest(slow)
        if split is None or slow.size < (1 + FOLLOWED) * split.place:
            return None
        slowdown = float(slow[split.place :].mean() / slow[: split.place].mean())
        if not _lasting(slow, split.place, MIN_RISE):
            return None
        if (warm + split.place) * size_bytes >= EARLIEST * capacity or slowdown > COLLAPSED:
            begin = max(int(EARLIEST * capacity / size_bytes) - warm, 0)
            if not exact:
                split = _sharper(slow, split, begin, gain)
            first = _first_of_bursts(slow, _first_slow(slow, split, begin, gain), begin)
            low, high = ((warm + each) * size_bytes for each in first.interval)
            return Knee((warm + first.place) * size_bytes, low, high, slowdown)
        # A buffer that has filled, a table that was loaded: not yet what is sought.
        warm += split.place + LOCAL
    return None


def surest_from(latencies: NDArray[np.float64], knee: Knee, size_bytes: int) -> float:
    """Give from which byte on writes that end within RMW units are slow the surest.

    That is the knee, or behind it: it begins with the first few.
    """
    split = _surest(relative(latencies, in_turn=True))
    return max(knee.spare_bytes, float(split.place * size_bytes) if split else 0.0)


def _surest(slow: NDArray[np.float64]) -> stats.Onset | None:
    """Give the surest place from which on writes are slow, at any threshold.

    A few may be a little slower for a while, as when a table turns over, and come to more than
    those that wait long, which are few: where writes are soon as fast as before nothing begins.
    """
    found = (stats.excess_onset(slow, (threshold,)) for threshold in THRESHOLDS)
    begins = [each for each in found if each and each.score >= MIN_GAIN and _begins(slow, each)]
    return max(begins, key=lambda each: each.score, default=None)


def _begins(slow: NDArray[np.float64], split: stats.Onset) -> bool:
    """Say whether some of what writes take more in the end shows right behind a place."""
    place = split.place
    before, after = slow[:place].mean(), slow[place:].mean()
    next_ones = slow[place : place + max(int(NEXT * place), LEAST_REQUESTS)]
    return bool(next_ones.mean() - before >= NEXT_RISE * (after - before))


def waits_before(latencies: NDArray[np.float64], place: int) -> bool:
    """Say whether writes wait long before a knee, too, as where log blocks are merged in turn."""
    waits = latencies > WAIT * np.median(latencies[:place])
    before, after = waits[:place], waits[place:]
    return bool(before.sum() > 1 and before.mean() > WAITS_BEFORE * after.mean())


def slower_before(latencies: NDArray[np.float64], knee: Knee, size_bytes: int) -> bool:
    """Say whether writes are slower right before a knee than ever before: collection has begun.

    What drifts is slower now and then, and not by as much again just there.
    """
    place = int(knee.spare_bytes) // size_bytes
    first, last, end = (int(share * place) for share in (*BEFORE, 1 - AT))
    if end <= last or last - first < PARTS:
        return False
    earlier = max(_mean_of_faster(part) for part in np.array_split(latencies[first:last], PARTS))
    return bool(_mean_of_faster(latencies[last:end]) > SLOWER_BEFORE * earlier)


@dataclass(frozen=True)
class Rise:
    """Where most writes become slower.

    Attributes
    ----------
    write
        The first of them.
    low, high
        What it may be.
    sudden
        Whether they become so all at once, and much; or so late that it is not clear where.
    at_once
        Which share of it they become at once.
    """

    write: int
    low: int
    high: int
    sudden: bool
    at_once: float


def slower_from(
    latencies: NDArray[np.float64], knee: Knee, size_bytes: int, skipped: int = 0
) -> Rise | None:
    """Find where, before a knee, most writes become slower; None if they all are alike.

    What drifts takes more than a few hundred writes to rise by most of what it does, or has risen
    and fallen as fast before; or a straight line comes closer to it than a step, or steps elsewhere
    come as close. So many at first do not count, as they go into a buffer.
    """
    before = latencies[skipped : int(knee.spare_bytes * (1 - AT)) // size_bytes]
    size = LOCAL if before.size >= MANY_PARTS * LOCAL else LOCAL // 4
    size = size if before.size >= 4 * PARTS * size else LOCAL // 16
    usual = np.log([np.median(part) for part in np.array_split(before, before.size // size + 1)])
    if usual.size < 4 * PARTS:
        return None
    step = stats.best_step(usual, PARTS)
    if step.height <= STEP:
        return None
    earlier, behind = usual[: step.index - 1][-3:], usual[step.index + 1 :][:3]
    at_once = float(behind.mean() - earlier.mean()) / step.height
    late = step.index >= usual.size - PARTS
    drifts = at_once < DRIFTS or _by_and_by(usual, step.index) or _goes_on(usual, step.index)
    anywhere = step.last - step.first > ANYWHERE * usual.size
    if (drifts or anywhere) and not late:
        return None
    of_part = before.size / usual.size
    return Rise(
        write=skipped + round(of_part * step.index),
        low=skipped + round(of_part * (step.first - 1)),
        high=skipped + round(of_part * (step.last + 1)),
        sudden=late or (step.height > SUDDEN[0] and at_once > SUDDEN[1]),
        at_once=at_once,
    )


def _goes_on(levels: NDArray[np.float64], place: int) -> bool:
    """Say whether levels often changed before about as much as they do at a place."""
    means = np.convolve(levels, np.full(3, 1 / 3), "valid")
    changes = means[APART - 3 :] - means[: 3 - APART]
    before, there = changes[: max(place - APART + 1, 0)], changes[max(place - APART // 2, 0)]
    return bool(before.size > PARTS and np.quantile(np.abs(before), OFTEN) > AS_MUCH * there)


def _by_and_by(levels: NDArray[np.float64], place: int) -> bool:
    """Say whether a straight line fits levels better than a step at a place."""
    order = np.arange(levels.size)
    line = np.polyval(np.polyfit(order, levels, 1), order)
    step = np.where(order < place, levels[:place].mean(), levels[place:].mean())
    return bool(np.sum((levels - line) ** 2) < np.sum((levels - step) ** 2))


def _first_slow(
    slow: NDArray[np.float64], split: stats.Onset, begin: int, gain: float
) -> stats.Onset:
    """Go back from where writes are slow to where the first few of them are, and stay so.

    What is before `begin` does not count: a buffer fills there.
    """
    while True:
        before = slow[begin : split.place]
        earlier = stats.excess_onset(before, FINE_THRESHOLDS)
        if earlier is None or earlier.score < gain:
            return split
        lasts = _lasting(before, earlier.place, FIRST_RISE) and not _passes(before, earlier.place)
        if not lasts:
            # All writes may take a little longer from there on, which is taken for drift.
            earlier = _first_waits(before, gain)
        if earlier is None or begin + earlier.place < split.place / 3:
            return split
        place = begin + earlier.place
        low, high = earlier.interval
        split = replace(earlier, place=place, interval=(begin + low, begin + high))


def _first_waits(slow: NDArray[np.float64], gain: float) -> stats.Onset | None:
    """Find the surest place from which on writes wait, and go on to, where hardly any did before.

    However little that adds to their mean.
    """
    found = []
    for threshold in THRESHOLDS:
        begin = stats.excess_onset(slow, (threshold,))
        if begin is None or begin.score < gain or begin.before > WAITS_BEFORE * begin.after:
            continue
        parts = np.array_split(slow[begin.place :] > threshold, WHILES)
        if min(part.mean() for part in parts) >= PASSED * begin.after:
            found.append(begin)
    return max(found, key=lambda each: each.score, default=None)


def _sharper(slow: NDArray[np.float64], split: stats.Onset, begin: int, gain: float) -> stats.Onset:
    """Go to where waits begin that are rarer, but were not there before.

    Behind a buffer writes wait for room all the time. Collection makes more of them wait, which
    says surely that it has begun, and some for much longer, which says where.
    """
    behind = slow[begin:]
    for threshold in THRESHOLDS:
        rare = stats.excess_onset(behind, (threshold,))
        if rare is None or rare.score < gain or rare.before > 0:
            continue
        place = begin + rare.place
        if split.place / 3 < place < split.place and _lasting(slow, place, MIN_RISE):
            low, high = rare.interval
            split = replace(rare, place=place, interval=(begin + low, begin + high))
    return split


def _lasting(slow: NDArray[np.float64], place: int, rise: float) -> bool:
    """Say whether both halves of what is behind a place are slower, by `rise`, than all before."""
    before, rest = slow[:place].mean(), slow[place:]
    halves = (rest[: rest.size // 2].mean(), rest[rest.size // 2 :].mean())
    return bool(min(halves) >= (1 + rise) * before)


def _first_of_bursts(slow: NDArray[np.float64], split: stats.Onset, begin: int) -> stats.Onset:
    """Go back to the first long wait if it is one of several that come evenly apart.

    Where blocks of all planes are collected together, a few writes of thousands wait, and for long:
    one or two such bursts are too few to be told from chance by how often writes are slow.
    """
    waits = np.flatnonzero(slow > LONG_WAIT)
    bursts = waits[np.diff(waits, prepend=-LOCAL) >= LOCAL][:FIRST_BURSTS]
    if bursts.size < FIRST_BURSTS or not split.place / 3 < bursts[0] < split.place:
        return split
    gaps = np.diff(bursts)
    if gaps.max() > EVENLY * gaps.min() or bursts[0] - begin < FIRST_BURSTS * gaps.max():
        return split
    first, half = int(bursts[0]), int(gaps.mean() / 2)
    return replace(split, place=first, interval=(first - half, first))


def _passes(slow: NDArray[np.float64], place: int) -> bool:
    """Say whether what is behind a place is as fast as before for a while: it began later.

    Of few writes, of which hardly any meets a collection at first, nothing can be said.
    """
    before, rest = slow[:place].mean(), slow[place:]
    if rest.size < max(WHILES * LOCAL, LONG_BEHIND * place):
        return False
    slowest = min(part.mean() for part in np.array_split(rest, WHILES))
    return bool(slowest - before < PASSED * (rest.mean() - before))
