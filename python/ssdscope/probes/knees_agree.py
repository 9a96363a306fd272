"""Knees of one drive from several beginnings, as found and filled afresh, held against each other.

A knee may be seen early or late by chance, so two beginnings must show the same within 5 %, or a
third one bears one of them out. What begins gently as found, as the drive collects before it must,
may not show when it was filled afresh and has been erasing stale blocks all along: it is slow a
little later then, by no more than it keeps free. Or it may collect sooner than as found:

- to keep more blocks free (5 % of all);
- as blocks that are stale as a whole are erased, which costs a little: then it is hardly slower
  from there to where it became slow as found, and slow from there on;
- as it collects blindly what was just filled, from the first write on: it waits before its knee,
  too, where it did not as found, and goes on as slowly. Of a drive that was found empty in part,
  and filled, the first writes wait for nothing either, so this tells the two apart; or it shows no
  knee at all, and what was seen as found counts if it is unmistakable.

Else it is ambiguous, as of a drive that was found empty; and so it is where only the first one, as
found, shows it sooner by more than a tenth and no more than is kept free: there it may begin to
collect beside the writes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ssdscope.findings import Ambiguous, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.probes.bench import Stopped
from ssdscope.probes.slow_writes import (
    EARLIEST,
    LEAST_REQUESTS,
    MIN_RISE,
    Knee,
    relative,
    slower_from,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Course: TypeAlias = "tuple[Knee | None, NDArray[np.float64]]"
"""The knee, if there is one, and the latencies of writes one by one; shape (n,)."""

NAME = "gc_knee"
SPARE = "over_provisioning_ratio"

SAME = 0.05
"""By how much of the later one the knees of two beginnings may differ, to be the same."""
KEPT_FREE, LESS = 0.05, 0.6
"""Of all blocks, and of the spare space: so much less or more a drive that was filled afresh may
take, by what it keeps free."""
SURELY_FULL = 0.6
"""A drive with so much spare space and more may as well have been empty in part, as found."""
UNMISTAKABLE = 1.3
"""Times slower: what nobody else's requests come to, even if they begin at the wrong moment."""
WAITS, STANDARD_ERRORS, AS_SLOW = 0.05, 4.0, 0.5
"""How much longer the first writes take than as found, if they wait already, and not for erases
alone; by how many standard errors more wait; and how much of the rise as found the last show."""
FIRST_WRITES, RARE = 0.25, 0.001
"""Of as many as there are before the knee as found, if the filled drive shows one; and which of
these wait."""
HARDLY, BEHIND = 0.25, 0.5
"""Of the rise: how much a write that waits for erases alone may take; and of what is before the
knee, how much is behind it."""
SPARE_ERROR, WIDEST = 0.04, 0.4
"""Of the place of the knee, beyond scatter: blocks are whole, and are on planes of their own; and
how wide an interval may be."""


def judged(
    first: Knee,
    afresh: Knee | None,
    again: Knee | None,
    capacity: int,
    evidence: Evidence,
    *,
    restless: bool = False,
    erases: bool = False,
) -> Finding:
    """Answer from a knee as found, one of a drive filled afresh, and a third if they differ.

    Parameters
    ----------
    restless
        Whether it waits from the first write on when filled afresh, as `never_rests` says.
    erases
        Whether it is slow only from the knee as found on then, too, as `slow_as_found` says.
    """
    below = Reason.EFFECT_BELOW_NOISE
    refused = Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    if again is None:
        return refused
    if afresh is not None and agree(afresh, again) and again is not afresh:
        return _unless_sooner(first, _mean(afresh, again), capacity, evidence)
    if not agree(first, again):
        # Collection that never rests, or knees too early or too late by chance.
        return refused
    both = _mean(first, again)
    share = both.spare_bytes / capacity
    if afresh is None or restless or afresh.spare_bytes < EARLIEST * capacity:
        # Some collect at random blocks that others would leave alone, and are slow from the first.
        if share > SURELY_FULL or not (restless or both.slowdown >= UNMISTAKABLE):
            return refused
        caution = "filled again the drive never rests: that it was full as found is assumed"
        return detected_spare(both, capacity, replace(evidence, cautions=(caution,)))
    other = afresh.spare_bytes / capacity
    kept_free = abs(share - other) < _most_kept_free(share)
    if agree(first, afresh) or erases or kept_free:
        return detected_spare(both, capacity, evidence)
    if other > share:
        return refused
    why = "as found and filled again, the drive takes different amounts before it slows down"
    return _either((other, share), why, evidence)


def _most_kept_free(share: float) -> float:
    """Give what is kept free at most of so much spare space, as a share of the capacity."""
    return min(KEPT_FREE * (1 + share), LESS * share)


def _either(candidates: tuple[float, float], why: str, evidence: Evidence) -> Finding:
    return Ambiguous(name=SPARE, probe=NAME, candidates=candidates, reason=why, evidence=evidence)


def _unless_sooner(first: Knee, later: Knee, capacity: int, evidence: Evidence) -> Finding:
    """Answer with a knee seen twice, unless one as found is sooner by no more than is kept free.

    A drive may begin to collect there beside the writes, which need not show each time.
    """
    sooner, share = first.spare_bytes / capacity, later.spare_bytes / capacity
    if not 2 * SAME * share < share - sooner < _most_kept_free(share):
        return detected_spare(later, capacity, evidence)
    why = "as found it slows down a little sooner, where it may begin to collect"
    return _either((sooner, share), why, evidence)


def begun_before(
    courses: list[Course], found: Knee, size_bytes: int, skipped: int = 0
) -> Knee | None:
    """Give where, before a knee, all writes become slower, if they do so both times that it showed.

    None of them is slow beside its neighbours then, as where collection begins beside the writes,
    and they wait for it in full only later. What drifts does not rise at the same place again.

    Raises
    ------
    Stopped
        If that shows only once, but all at once.
    """
    rises = [
        slower_from(latencies, knee, size_bytes, skipped)
        for knee, latencies in courses
        if knee is not None
        and abs(knee.spare_bytes - found.spare_bytes) <= SAME * found.spare_bytes
    ]
    seen = [rise for rise in rises if rise is not None]
    places = [rise.write for rise in seen]
    if len(places) < max(len(rises), 2) or max(places) > (1 + SAME) * min(places):
        if any(rise.sudden for rise in seen):
            raise Stopped(Reason.EFFECT_BELOW_NOISE, "writes become slower before, but only once")
        return None
    return replace(
        found,
        spare_bytes=size_bytes * sum(places) / len(places),
        low_bytes=size_bytes * min(rise.low for rise in seen),
        high_bytes=size_bytes * max(rise.high for rise in seen),
    )


def never_rests(found: Course, afresh: Course, size_bytes: int, skipped: int = 0) -> bool:
    """Say whether a drive waits from the first write on, when it was filled afresh.

    Parameters
    ----------
    found, afresh
        Knees, the first of which is there, and latencies: as found, and filled afresh.
    size_bytes
        Of a write.
    skipped
        So many at first go into a buffer, and do not count.
    """
    (knee, slowly), (sooner, again) = found, afresh
    place = 0 if knee is None else int(knee.spare_bytes) // size_bytes - skipped
    if place < 1 or again.size <= skipped:
        return False
    before, after = np.split(relative(slowly[skipped:]), [place])
    filled = relative(again[skipped:])
    count = before.size
    if sooner is not None:
        first = max(int(FIRST_WRITES * count), LEAST_REQUESTS)
        count = min(first, int(sooner.spare_bytes) // size_bytes - skipped, count)
    count = min(count, filled.size)
    begin = filled[:count]
    longer = begin.mean() / before.mean() - 1
    usual, waits = RARE * count, (begin > np.quantile(before, 1 - RARE)).sum()
    at_last = filled[filled.size // 2 :].mean() - before.mean()
    return bool(
        longer > WAITS
        and waits - usual > STANDARD_ERRORS * np.sqrt(usual + 1)
        and at_last > AS_SLOW * (after.mean() - before.mean())
    )


def slow_as_found(found: Knee, afresh: Course, size_bytes: int) -> bool:
    """Say whether a drive that was filled afresh is slow only from the knee as found on.

    Parameters
    ----------
    found
        The knee as found.
    afresh
        The knee, and latencies, of the drive filled afresh.
    size_bytes
        Of a write.
    """
    sooner, latencies = afresh
    filled = relative(latencies)
    place = int(found.spare_bytes) // size_bytes
    behind = filled[place : place + int(BEHIND * place)]
    if sooner is None or sooner.spare_bytes >= found.spare_bytes or behind.size < LEAST_REQUESTS:
        return False
    before, between = np.split(filled[:place], [int(sooner.spare_bytes) // size_bytes])
    rise = behind.mean() / before.mean() - 1
    return bool(rise >= MIN_RISE and between.mean() / before.mean() - 1 < HARDLY * rise)


def agree(one: Knee, other: Knee | None) -> bool:
    """Say whether two knees are the same."""
    if other is None:
        return False
    larger = max(one.spare_bytes, other.spare_bytes)
    return abs(one.spare_bytes - other.spare_bytes) <= SAME * larger


def _mean(one: Knee, other: Knee) -> Knee:
    return Knee(
        (one.spare_bytes + other.spare_bytes) / 2,
        min(one.low_bytes, other.low_bytes),
        max(one.high_bytes, other.high_bytes),
        (one.slowdown + other.slowdown) / 2,
    )


def detected_spare(alone: Knee, capacity: int, evidence: Evidence) -> Finding:
    """Answer with a knee, unless it may be anywhere in a wide range."""
    share = alone.spare_bytes / capacity
    low = min(alone.low_bytes / capacity, share * (1 - SPARE_ERROR))
    high = max(alone.high_bytes / capacity, share * (1 + SPARE_ERROR))
    if high - low > WIDEST * share:
        below = Reason.EFFECT_BELOW_NOISE
        return Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    return Detected(
        name=SPARE,
        probe=NAME,
        value=share,
        interval=(low, high),
        effect=alone.slowdown - 1,
        evidence=evidence,
    )
