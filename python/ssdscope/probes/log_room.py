"""How much random data the log blocks of a drive take before it must merge.

Small writes all over the drive, none at the beginning of a merge unit (there a drive may begin a
log block for a sequential stream, and merge another for it). A drive with one log block for each
unit merges for every such write once it has used up as many as it has; one with common log blocks
fills them all, and then merges. It frees one of them at a time, and every write from then on that
begins a log block waits; or what it merges was in all of them, and one write waits very long each
time that all are full. As log blocks hold as many writes as a merge unit, either is at the same
place of a period that is known, and nothing else is. Where somebody else's writes are in the log
blocks, too, waits come a little sooner, one after the other: by how much says how many they were;
or, of one who writes now and then, whole log blocks one after the other but for the first: what is
short of whole ones then is not ours. The first of them may take less long than those that follow.
Very long waits that begin at another place, and show no such pattern, make the count void. So do
waits after a log block each for the few merge units that the mapping table in memory covers, which
a drive with one for each unit shows, too; and so does it if far more writes wait than begin log
blocks: of a drive with one for each unit those to units that have none just then, if the table
covers little more units than have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench import Stopped
from ssdscope.probes.overwriting import Granule, write_through
from ssdscope.probes.slow_writes import relative

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

CHUNK = 1024
FIRST_CHUNK = 64
MOST_SHARE = 0.7
"""Of the capacity: more than any log blocks hold."""
MOST_FOREIGN = 0.5
"""Of the time, others may keep the drive busy: it is where waits are that counts, not how long."""
USUAL = 8
"""Writes to one place that tell what one takes."""
MOSTLY, SLOWER = 0.5, 5.0
"""Where so many writes take so many times as long, each is merged for."""
USUALLY, REGULAR, LEAST_WAITS = 0.97, 0.7, 6
"""Quantile of all writes, above which one is slow; of the writes that begin log blocks so many are,
and at least so many, once all are full."""
TOO_MANY, MOST_WAITS = 0.1, 4
"""Of all writes, beside so many for a log block: where more wait, blocks do not fill in common."""
SHORT_WAIT = 0.25
"""Quantile of the waits: shorter ones go with erases alone."""
FEWEST_IN_MERGE = 8
LONG, LONG_WAITS = 100.0, 2
"""Waits of so many times the usual are enough if there are so many."""
FEW_MERGES = 4
"""Where no more merge units are written, each may have filled a log block of its own."""
AT_PLACE = 0.02
"""Of a merge unit: how far from where a log block is full the first wait may be."""
SOONER, SHARED_WAITS, IN_TIME = 0.92, 12, 0.9
"""Of a merge unit: writes between waits in the mean, at least, where others write, too; of so many
waits, of which such a share comes neither later nor at once."""
BY_CHANCE = 0.5
"""Share of waits in step with the next, up to which none but chance need bring them there."""


@dataclass(frozen=True)
class LogRoom:
    """What log blocks take.

    Attributes
    ----------
    writes
        Before the first wait.
    each
        Whether every write from then on waits.
    slowdown
        Mean latency from then on, over that before.
    latencies_ns
        Of all writes, shape (n,).
    others
        Share of these that others wrote beside them, about.
    """

    writes: int
    each: bool
    slowdown: float
    latencies_ns: NDArray[np.float64]
    others: float = 0.0


def log_room(bench: Bench, unit: Granule, merge_bytes: int) -> LogRoom | None:
    """Write at random until waits for merges show a pattern; None if they do not.

    Parameters
    ----------
    unit
        What is written: an RMW unit.
    merge_bytes
        The merge unit; of one that is no multiple of it, nothing is said.

    Raises
    ------
    Stopped
        If others have written meanwhile.
    """
    rng = bench.rng("log_room")
    capacity = bench.info.capacity_bytes
    # Within what the mapping table in memory covers, so that no write waits for the table.
    covered = min(capacity, int(float(bench.found("map_cache_bytes") or capacity)))
    in_merge = merge_bytes // unit.size_bytes
    if in_merge < 2 or merge_bytes % unit.size_bytes:
        return None
    usual = write_through(bench, np.full(USUAL, _place(unit, in_merge, 1, 1)), unit.size_bytes)
    latencies = np.empty(0)
    merges = max((covered + unit.phase_bytes) // merge_bytes - 1, 1)
    before = bench.foreign
    shared = False
    while latencies.size * unit.size_bytes < MOST_SHARE * capacity:
        count = CHUNK if latencies.size else FIRST_CHUNK
        where = rng.integers(1, merges + 1, count), rng.integers(1, in_merge, count)
        places = _place(unit, in_merge, *where)
        more = write_through(bench, places, unit.size_bytes, most_foreign_share=MOST_FOREIGN)
        latencies = np.concatenate([latencies, more])
        shared = bench.foreign.written_bytes > before.written_bytes
        room = _judged(latencies, float(np.median(usual)), in_merge, shared=shared)
        if room is not None:
            few = merges <= FEW_MERGES and room.writes <= merges * in_merge
            return None if few and not room.each else room
    if shared:
        raise Stopped(Reason.INTERFERENCE, "others write, and waits show no pattern")
    return None


def _place(unit: Granule, in_merge: int, merge: object, part: object) -> NDArray[np.uint64]:
    """Give the first byte of a part of a merge unit."""
    index = np.asarray(merge) * in_merge + np.asarray(part)
    return np.asarray(index * unit.size_bytes - unit.phase_bytes, dtype=np.uint64)


def _judged(
    latencies: NDArray[np.float64], usual: float, in_merge: int, *, shared: bool = False
) -> LogRoom | None:
    """Tell either pattern from what was measured so far, `shared` with others or not."""
    slow = latencies > SLOWER * usual
    if slow[latencies.size // 2 :].mean() > MOSTLY:
        # The place that best parts what is not slow from what is.
        before = np.concatenate([[0], np.cumsum(slow)])
        gain = 2 * before - np.arange(before.size)
        return _room(latencies, int(np.argmin(gain)), each=True)
    for pattern in (_shared, _of_wholes) if shared else ():
        if room := pattern(latencies, usual, in_merge):
            return room
    turned, long = _turned_over(latencies, in_merge), _long_waits(latencies, usual, in_merge)
    # One long wait may free all log blocks at once; that they are erased in turn comes later then.
    late = turned is not None and long.size > 0 and turned > long[0] + in_merge
    if late and not shared and not _is_full(int(long[0]), in_merge):
        raise Stopped(Reason.INTERFERENCE, "log blocks are full where writes do not fill them")
    first = None
    if turned is not None and not late and _is_full(turned, in_merge):
        first = turned
    elif late or long.size >= LONG_WAITS:
        full = [_is_full(int(each), in_merge) for each in long[:LONG_WAITS]]
        first = int(long[0]) if all(full) else None
    if first is None or slow[first:].mean() > TOO_MANY + MOST_WAITS / in_merge:
        return None
    # Log blocks are whole.
    writes = round((first + USUAL) / in_merge) * in_merge
    return replace(_room(latencies, first, each=False), writes=writes)


def _shared(latencies: NDArray[np.float64], usual: float, in_merge: int) -> LogRoom | None:
    """Tell waits that follow each other a little sooner than log blocks are full of our writes."""
    slow = np.flatnonzero(latencies > SLOWER * usual)
    # What waits may have the next write wait, too.
    waits = slow[np.diff(slow, prepend=-in_merge) > in_merge // 2]
    if in_merge < 2 * FEWEST_IN_MERGE or waits.size <= SHARED_WAITS:
        return None
    gaps = np.diff(waits)[:SHARED_WAITS]
    late = gaps > (1 + AT_PLACE) * in_merge + 1
    between = float(gaps.mean()) / in_merge
    if late.mean() > 1 - IN_TIME or not SOONER <= between < 1:
        return None
    room = _room(latencies, int(waits[0]), each=False)
    writes, others = room.writes, 1 / between - 1
    return replace(room, writes=round(writes * (1 + others / 2)), others=others)


def _of_wholes(latencies: NDArray[np.float64], usual: float, in_merge: int) -> LogRoom | None:
    """Tell waits that follow each other by whole log blocks, where others filled part of the first.

    Others write now and then, and between most waits nothing. What they wrote before the first is
    what is short of whole log blocks then.
    """
    long = _long_waits(latencies, usual, in_merge)
    if not long.size or in_merge < FEWEST_IN_MERGE:
        return None
    slow = np.flatnonzero(latencies > SLOWER * usual)
    waits = slow[np.diff(slow, prepend=-in_merge) > in_merge // 2]
    gaps = np.diff(waits) / in_merge
    whole = np.abs(gaps - np.round(gaps)) <= max(AT_PLACE, 1 / in_merge)
    at = int(np.searchsorted(waits, long[0]))
    if gaps.size - at < LEAST_WAITS or whole[at:].mean() < REGULAR:
        return None
    # What is merged first may take less long: it begins with waits in step that are not very long.
    in_step = whole[:at].mean() if at else 0.0
    if BY_CHANCE < in_step < IN_TIME:
        return None
    first = int(waits[0] if in_step >= IN_TIME else long[0])
    blocks = math.ceil((first + USUAL) / in_merge - AT_PLACE)
    room = _room(latencies, first, each=False)
    others = 0.0 if _is_full(first, in_merge) else 1 / blocks
    return replace(room, writes=blocks * in_merge, others=others)


def _is_full(first: int, in_merge: int) -> bool:
    """Say whether a write is where a log block is full."""
    off = (first + USUAL + in_merge // 2) % in_merge - in_merge // 2
    return abs(off) <= max(AT_PLACE * in_merge, 1)


def _long_waits(latencies: NDArray[np.float64], usual: float, in_merge: int) -> NDArray[np.int64]:
    """Give the places of very long waits, ascending."""
    waits = np.flatnonzero(latencies > LONG * usual)
    # What takes so long may have the next write wait, too.
    return waits[np.diff(waits, prepend=-in_merge) > in_merge // 2]


def _turned_over(latencies: NDArray[np.float64], in_merge: int) -> int | None:
    """Find the place of the period, and from where on, at which writes are slow again and again."""
    periods = latencies.size // in_merge
    if in_merge < 2 or periods < LEAST_WAITS:
        return None
    # Over their neighbours: at the crest of a drift many writes are among the slowest few.
    kept = relative(latencies)[: periods * in_merge].reshape(periods, in_merge)
    usual, threshold = float(np.median(kept)), float(np.quantile(kept, USUALLY))
    first, place = _slow_from(kept > threshold)
    # By now and then a slow write before them waits would seem to begin sooner: they take as long
    # as waits do.
    long = float(np.quantile(kept[first:, place], SHORT_WAIT))
    level = (usual * long) ** 0.5
    # Of small log blocks waits are more than the slowest few of all writes.
    slow = kept > (level if long > SLOWER * usual else max(threshold, level))
    first, place = _slow_from(slow)
    waits = slow[first:, place]
    if waits.sum() < LEAST_WAITS or waits.mean() < REGULAR:
        return None
    return first * in_merge + place


def _slow_from(slow: NDArray[np.bool_]) -> tuple[int, int]:
    """Find from which period on, and at which place, writes are slow; shape (periods, places)."""
    # From each period on: slow ones less others, for what is slow must be so from there on. Of
    # those that are as good the last: as many before it are slow by chance as are not.
    gain = np.cumsum((2.0 * slow - 1)[::-1], axis=0)
    periods, place = np.unravel_index(int(gain.argmax()), gain.shape)
    return len(slow) - 1 - int(periods), int(place)


def _room(latencies: NDArray[np.float64], writes: int, *, each: bool) -> LogRoom:
    before = latencies[: max(writes, 1)].mean()
    slowdown = float(latencies[writes:].mean() / before)
    return LogRoom(writes + USUAL, each, slowdown, latencies)
