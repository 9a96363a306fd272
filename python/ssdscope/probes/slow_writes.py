"""Writes that wait for collection: where they begin in a series, and after how many they return."""

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
MANY_PARTS, STEP, SUDDEN = 100, 0.05, (0.09, 0.8)
"""Of so many neighbours at a time, or of a quarter; in the logarithm: by so much their medians rise
where collection goes on beside; and by how much, and which share of it at once, if not by drift."""
WAIT, WAITS_BEFORE = 100.0, 0.1
"""Times the usual: what no page takes, nor a spike; and how much rarer such writes must be before
collection begins than from then on, where there are several."""
SLOWEST = 1000.0
"""Times the median: what is slower counts as so slow, so that no single write decides."""
FINE_THRESHOLDS = (1.15, 1.25, 1.35, *THRESHOLDS)
"""Likewise of collection that other planes' work hides: it makes a write a little longer."""
SURE = {0.3: 1e-6, 0.2: 1e-9, 0.1: 1e-12, 0.05: 1e-20}
"""How improbable by chance returns must be that make so small a share of all that is slow."""
SHORT, LONG_REQUEST_BYTES = 32, 128 * 1024
"""Writes: with shorter periods planes and pages of unlike speed return, too, though little slower,
but for requests that lie on many of them."""
LEAST_BLOCK_BYTES = 64 * 1024
"""No flash is erased in smaller blocks."""
SURE_OF_MANY = {0.3: 1e-6, 0.2: 1e-30}
"""Likewise of many requests at once, which wait for each other, and so return with the stripe."""
FITS = 10
"""A period must fit so often into what was written."""
UNEVEN_PARTS, ALSO_SLOW = (4, 3, 2), 0.3
"""Of a period: waits in it that are looked for; and the share of the rise that each must have."""
TURNS, LEAST_ROUNDS, BY_CHANCE = (2, 3, 4), 4, 1e-4
"""So many waits may take turns, so often at least; how improbable by chance their lengths are."""
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
            first = _first_slow(slow, split, begin, gain)
            low, high = ((warm + each) * size_bytes for each in first.interval)
            return Knee((warm + first.place) * size_bytes, low, high, slowdown)
        # A buffer that has filled, a table that was loaded: not yet what is sought.
        warm += split.place + LOCAL
    return None


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
    """

    write: int
    low: int
    high: int
    sudden: bool


def slower_from(
    latencies: NDArray[np.float64], knee: Knee, size_bytes: int, skipped: int = 0
) -> Rise | None:
    """Find where, before a knee, most writes become slower; None if they all are alike.

    What drifts takes more than a few hundred writes to rise by most of what it does. So many at
    first do not count, as they go into a buffer.
    """
    before = latencies[skipped : int(knee.spare_bytes * (1 - AT)) // size_bytes]
    size = LOCAL if before.size >= MANY_PARTS * LOCAL else LOCAL // 4
    usual = np.log([np.median(part) for part in np.array_split(before, before.size // size + 1)])
    if usual.size < 4 * PARTS:
        return None
    step = stats.best_step(usual, PARTS)
    if step.height <= STEP:
        return None
    earlier, behind = usual[: step.index - 1][-3:], usual[step.index + 1 :][:3]
    at_once = float(behind.mean() - earlier.mean()) > SUDDEN[1] * step.height > 0
    late = step.index >= usual.size - PARTS
    of_part = before.size / usual.size
    return Rise(
        write=skipped + round(of_part * step.index),
        low=skipped + round(of_part * (step.first - 1)),
        high=skipped + round(of_part * (step.last + 1)),
        sudden=late or (step.height > SUDDEN[0] and at_once),
    )


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
        place = begin + earlier.place
        if place < split.place / 3 or not _lasting(before, earlier.place, FIRST_RISE):
            return split
        low, high = earlier.interval
        split = replace(earlier, place=place, interval=(begin + low, begin + high))


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


def period_of(
    slow: NDArray[np.float64], size_bytes: int, *, alone: bool = True, shortest: int = 1
) -> stats.Recurrence | None:
    """Find the period of slow writes, by the threshold at which they return most surely.

    Parameters
    ----------
    slow : ndarray, shape (n,)
        Latencies over the usual ones, as `relative` gives them.
    size_bytes
        Of a write.
    alone
        Whether they were written one by one.
    shortest
        Writes: shorter periods do not count.

    Returns
    -------
    Recurrence or None
        None if at no threshold slow writes return more often than chance would have it.
    """
    thresholds, most = (FINE_THRESHOLDS, SURE) if alone else (THRESHOLDS, SURE_OF_MANY)
    sure: list[stats.Recurrence] = []
    for threshold in thresholds:
        found = stats.recurrence(slow > threshold)
        least = max(shortest, LEAST_BLOCK_BYTES / size_bytes)
        if found is None or found.period < least:
            continue
        plain = found.period >= SHORT or size_bytes >= LONG_REQUEST_BYTES
        clear = threshold >= THRESHOLDS[0] and _is_sure(found, SURE_OF_MANY)
        if _is_sure(found, most) and (plain or clear) and FITS * found.period <= slow.size:
            sure.append(found)
    return max(sure, key=lambda each: each.share, default=None)


def folded(slow: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Give the median at each place within a period, over the last periods of the series."""
    rounds = max(min(slow.size // period, FITS), 1)
    return np.asarray(np.median(slow[-rounds * period :].reshape(rounds, period), axis=0))


def uneven_parts(slow: NDArray[np.float64], period: int) -> int:
    """Count the waits in a period that are evenly apart, but for whole writes; 1 if it is one.

    What returns after 13.5 writes is at the same place of a period only after 27.
    """
    profile = folded(slow, period)
    first, rise = int(profile.argmax()), float(profile.max()) - 1
    for parts in UNEVEN_PARTS:
        apart = first + np.arange(1, parts) * period / parts
        held = [profile[each.astype(int) % period] for each in (np.floor(apart), np.ceil(apart))]
        if period % parts and np.maximum(*held).min() - 1 >= ALSO_SLOW * rise:
            return parts
    return 1


def taking_turns(slow: NDArray[np.float64], period: int) -> int:
    """Count the waits after which equally long ones return; 1 if all are alike.

    Every second, third or fourth wait is held against the others (Kruskal and Wallis 1952). Each
    may come a write early or late.
    """
    from scipy.stats import kruskal

    whole = slow[: slow.size // period * period].reshape(-1, period)
    waits = np.arange(int(np.log(whole).mean(axis=0).argmax()), slow.size, period)
    length = np.array([slow[max(wait - 1, 0) : wait + 2].max() for wait in waits])
    chances = {1: BY_CHANCE}
    for turns in TURNS:
        several = [length[start::turns] for start in range(turns)]
        if length.size >= LEAST_ROUNDS * turns and np.ptp(length) > 0:
            chances[turns] = float(kruskal(*several).pvalue)
    return min(chances, key=lambda each: chances[each])


def train_of(
    slow: NDArray[np.float64], shortest: int, thresholds: tuple[float, ...]
) -> stats.Recurrence | None:
    """Find the period of slow writes that are few among others, by the surest threshold."""
    found = (stats.train(slow > threshold, shortest) for threshold in thresholds)
    return min(filter(None, found), key=lambda each: each.p_value, default=None)


def _is_sure(found: stats.Recurrence, at_most: dict[float, float]) -> bool:
    return any(found.share >= share and found.p_value <= p for share, p in at_most.items())
