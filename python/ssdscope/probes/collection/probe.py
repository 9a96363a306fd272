"""The family `collection`: after how much a drive frees a block, how much it frees, and when.

Question. How many bytes written to one place cost one collection, or one merge? How much does a
page-mapped drive fill side by side?

Physics. A full drive takes a new block for every block's worth that is written, and frees one.
Writing one place again and again leaves nothing else to do, so that one write in a block's worth
waits (kuo2009, PROBING.md 1.5). A stream of writes in order fills a block on every plane side by
side, and as it goes round after round, what it leaves is stale as a whole: waits return once in
such a round of blocks, whatever addresses it goes to (PROBING.md 3.3).

Plans. `OnePlace` at two places; the second, on the drive as the first has left it, in requests
eight times as large where the RMW unit is not known, as padding would show. Then `InTurn`: a window
written in order, and likewise in several streams that take turns.

Engine. `recurrence` of waits, and `in_step` among many that are slow for other reasons, at the
level of latencies that shows most. Both series must have one period, and each is a rival to the
other. So are pages of one type, which are slow to program: a quarter of all writes or more wait
for these, and few for collection.

What it cannot tell. Periods of less than 32 KiB, which no block has, or of few requests, as pages
of unlike speed take turns, too. Of planes that are out of step it is the part that each wait makes
of a round. What a protected buffer or a region of one bit per cell hides.

Cost. The drive filled twice, and up to three capacities written, most often far less; more for the
idle onset, which `idle` answers.
Source. kuo2009, 3.1; PROBING.md 1.5, 3.1, 3.3.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import (
    PROPERTIES,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Recurrence,
    series,
)
from ssdscope.inference.series import Rival, Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import MIN_REQUEST_BYTES
from ssdscope.probes.collection import idle
from ssdscope.probes.collection.in_turn import TURNS, InTurn, cost, levels
from ssdscope.probes.collection.one_place import Emptied, OnePlace, waits
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, State, Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.targets.records import DeviceInfo

NAME = "collection"
PERIOD, RECLAIM = "gc_period_bytes", "reclaim_unit_bytes"

WRITTEN = {PERIOD: "One place written again and again", RECLAIM: "Overwrites in order"}
PLACES = (0.43, 0.61)
"""Shares of the capacity; not at its ends."""
UNPADDED = 8
"""Times the smallest request, that the second place is written in where no unit is known. Twice as
much takes twice the units where it lies across two of them; eight times hardly ever."""
LEAST_BLOCK_BYTES, LEAST_REQUESTS = 32 * 1024, 8
"""No flash is erased in smaller blocks; and what a period must hold to be told by whole ones."""
IN_ORDER_BYTES, STRIPED_BYTES, OF_PERIOD = 1 << 16, 1 << 20, 32
"""Requests in order, also behind a buffer that stays on and passes on what all dies take at once;
and how many a period must hold."""
LARGER_BYTES = (1 << 17, 1 << 19)
"""Requests in order where one unit, or two, do not wait, or the unit is not known."""
FOLDS = 1.25
"""Times most of the writes, the mean of those in order on an empty drive. Erases alone made it 1.17
at most of 40 drawn drives, folding 1.4 and more of 12."""
STREAMS, DEARER, GRAINS = 3, 1.3, 16
"""That take turns; times what one costs, that they may cost at most; and parts of a period, within
which planes may wait that keep step."""
WINDOW, HELD, COVERED = 0.95, 0.6, 0.1
"""Of the capacity, and of what the table in memory covers: what is overwritten; and of the
capacity, what most tables cover."""
POINTS = 500
"""Of an exhibit."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer all; what stops one of both is no reason to stop the other."""
    try:
        yield from _blocks(ask)
    except Stopped as stop:
        for name in (PERIOD, RECLAIM):
            yield verdict.refused(name, stop.reason, Evidence(detail=stop.detail), probe=NAME)
    yield idle.found_onset(ask, NAME)


def _blocks(ask: Ask) -> Iterator[Finding]:
    """Answer what is filled, and what is freed."""
    first = _plan(ask)
    merge = ask.found("merge_unit_bytes")
    exact = ask.size("rmw_unit_bytes", unknown=math.inf) < math.inf
    size = first.size_bytes * (1 if exact else UNPADDED)
    second = replace(first, place=PLACES[1], state=None, afresh=False, size_bytes=size)
    period = _period(ask, first, second)
    if merge is None and _folds(ask, first, period):
        said = Evidence(detail="writes in order wait as if blocks were folded")
        for name in (PERIOD, RECLAIM):
            yield verdict.refused(name, Reason.MASKED, said, probe=NAME)
        return
    yield period
    tolerance = PROPERTIES[PERIOD].tolerance or 0.0
    if merge is None:
        yield _reclaim(ask, first, exact=exact)
    elif isinstance(period, Detected) and abs(float(period.value) / float(merge) - 1) <= tolerance:
        evidence, why = Evidence(), "the drive merges log blocks, and has no other unit to reclaim"
        yield verdict.absent(RECLAIM, 0.0, evidence, probe=NAME, reason=why)
    else:
        said = Evidence(detail="nothing bears out that the drive merges log blocks")
        yield verdict.refused(RECLAIM, Reason.MASKED, said, probe=NAME)


def _folds(ask: Ask, first: OnePlace, period: Finding) -> bool:
    """Say whether writes in order take far longer in the mean than most of them do.

    Of requests that are short beside what is collected, lest most of them wait.
    """
    most = STRIPED_BYTES if ask.info.write_cache.control == "fixed" else IN_ORDER_BYTES
    if isinstance(period, Detected):
        most = min(most, int(float(period.value)) // OF_PERIOD)
    several = max(most // first.size_bytes, 1) * first.size_bytes
    taken = ask.take(Emptied(size_bytes=several, phase_bytes=first.phase_bytes))
    return bool(np.median(taken.y) > FOLDS)


def _reclaim(ask: Ask, one_place: OnePlace, *, exact: bool) -> Finding:
    """Write in order, in larger requests where smaller ones do not wait, and in streams."""
    unit = one_place.size_bytes if exact else LARGER_BYTES[0]
    tried: dict[str, list[float]] = {"request_bytes": [], "period_bytes": []}
    sizes: tuple[int, ...] = LARGER_BYTES
    if exact:
        sizes = (unit, 2 * unit, *(each // unit * unit for each in sizes if each > 2 * unit))
    for done, size in enumerate(sizes):
        ask.progress("overwriting in order", (1 + done) / (2 + len(sizes)))
        plan = InTurn(size_bytes=size, phase_bytes=one_place.phase_bytes, window_bytes=_window(ask))
        taken = ask.take(plan)
        found = waits(levels(taken)).times(size)
        tried["request_bytes"].append(size)
        tried["period_bytes"].append(found.estimate or 0.0)
        told = found.estimate is not None and verdict.is_found(found, "recurrence")
        if told and (found.estimate or 0.0) >= LEAST_REQUESTS * size:
            return _in_streams(ask, plan, taken, found, exact=exact)
    said = Evidence(detail="writes in order do not wait regularly", figures={**tried})
    return verdict.refused(RECLAIM, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)


def _in_streams(ask: Ask, plan: InTurn, taken: Series, found: Weighed, *, exact: bool) -> Finding:
    """Write in three streams, too, and decide."""
    period = round(found.estimate or 0.0)
    size = plan.size_bytes * (1 if exact else 2)
    streams = replace(plan, streams=_streams(ask, period), period_bytes=period, size_bytes=size)
    if streams.streams > STREAMS and streams.apart_bytes < period:
        said = Evidence(detail="a buffer may sort as many streams as there is room for")
        return verdict.refused(RECLAIM, Reason.RANGE_TOO_SMALL, said, probe=NAME)
    again = ask.take(streams)
    other = waits(levels(again)).times(size)
    if not _alike(found, other):
        several = max(period // size // GRAINS, 1)
        other = waits(_in_grains(levels(again), several)).times(several * size)
    dearer = cost(again) / cost(taken)
    evidence = Evidence(figures={"request_bytes": plan.size_bytes, "dearer": dearer})
    evidence = evidence.showing(_folded(levels(taken), found, plan.size_bytes, RECLAIM))
    sure = verdict.is_found(other, "recurrence") and _alike(found, other)
    if other.estimate is None or not sure:
        said = evidence.saying("streams in turn do not wait alike")
        return verdict.refused(RECLAIM, Reason.MODEL_MISFIT, said, probe=NAME)
    if dearer > DEARER:
        said = evidence.saying("streams in turn cost more, as where log blocks are merged")
        return verdict.refused(RECLAIM, Reason.MODEL_MISFIT, said, probe=NAME)
    rise = float(_profile(levels(taken), round(period / plan.size_bytes)).max()) - 1
    joint = replace(found, effect=max(rise, 0.0), score=min(found.score, other.score))
    return verdict.weighed(RECLAIM, joint, "recurrence", evidence, probe=NAME)


def _in_grains(taken: Series, several: int) -> Series:
    """Give the longest wait of so many writes each.

    Streams that begin on unlike planes keep those a few writes apart, not always the same ones.
    """
    count = len(taken) // several
    return Series.of(np.arange(count), taken.y[: count * several].reshape(count, -1).max(axis=1))


def _streams(ask: Ask, period: int) -> int:
    """Give how many streams take turns: no buffer may join two turns of one before it is merged."""
    merged_bytes = ask.size("merge_unit_bytes", unknown=math.inf)
    if ask.info.write_cache.control != "fixed" or not merged_bytes:
        return STREAMS
    held = float(ask.found("write_buffer_bytes") or ask.info.capacity_bytes / idle.BUFFERED)
    return max(STREAMS, math.ceil(2 * held * TURNS / period))


def _window(ask: Ask) -> int:
    """Give what is overwritten: all, or what the mapping table in memory surely covers."""
    capacity = ask.info.capacity_bytes
    covered = ask.size("map_cache_bytes", unknown=COVERED * capacity) or math.inf
    return int(min(HELD * covered, WINDOW * capacity))


def _plan(ask: Ask) -> OnePlace:
    """Plan to write one RMW unit, within a merge unit where there is one."""
    block = ask.info.logical_block_bytes
    unit = int(ask.size("rmw_unit_bytes", unknown=max(MIN_REQUEST_BYTES, block)) or block)
    merge = int(float(ask.found("merge_unit_bytes") or 0))
    phase = int(ask.found("alignment_phase_bytes") or 0)
    return OnePlace(
        state=State.FILLED if merge else State.AS_FOUND,
        place=PLACES[0],
        size_bytes=unit,
        phase_bytes=phase % max(merge, unit),
        within_bytes=merge,
        afresh=not merge,
    )


def _period(ask: Ask, first: OnePlace, second: OnePlace) -> Finding:
    """Write one place, then another, and decide."""
    taken = ask.take(first)
    found = waits(taken).times(first.size_bytes)
    evidence = Evidence(figures={"request_bytes": first.size_bytes, **found.detail})
    if found.estimate is None or not verdict.is_found(found, "recurrence"):
        said = evidence.saying("slow writes do not come back regularly")
        return verdict.refused(PERIOD, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    ask.progress("another place", 1 / 3)
    again = waits(ask.take(second)).times(second.size_bytes)
    evidence = evidence.showing(_folded(taken, found, first.size_bytes, PERIOD))
    if again.estimate is None or not verdict.is_found(again, "recurrence"):
        said = evidence.saying("slow writes do not come back regularly at another place")
        return verdict.refused(PERIOD, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    least = max(LEAST_BLOCK_BYTES, LEAST_REQUESTS * second.size_bytes)
    if min(found.estimate, again.estimate) < least:
        said = evidence.saying("so few writes in turn are slow for other reasons, too")
        return verdict.refused(PERIOD, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    if not _alike(found, again):
        if first.size_bytes != second.size_bytes:
            said = evidence.saying("the RMW unit is not known, and padding counts as data")
            return verdict.refused(PERIOD, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
        found = found.against([Rival("another place", 0.0, again.estimate)])
    rise = float(_profile(taken, round((found.estimate or 0.0) / first.size_bytes)).max()) - 1
    found = replace(found, effect=max(rise, 0.0))
    return verdict.weighed(PERIOD, found, "recurrence", evidence, probe=NAME)


def _alike(one: Weighed, other: Weighed) -> bool:
    """Say whether intervals of two estimates meet."""
    if one.interval is None or other.interval is None:
        return False
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]


def _profile(taken: Series, period: int) -> np.ndarray:
    """Give the mean of each place of a period, over all rounds."""
    rounds = max(len(taken) // period, 1)
    return np.asarray(taken.y[: rounds * period].reshape(rounds, -1).mean(axis=0))


def _folded(taken: Series, found: Weighed, size: int, name: str) -> Exhibit:
    """Show waits at one place of a period."""
    period = round((found.estimate or 0.0) / size)
    profile, step = _profile(taken, period), max(1, period // POINTS)
    kept = profile[: period // step * step].reshape(-1, step).max(axis=1)
    return Exhibit(
        name="one-place-folded" if name == PERIOD else "in-order-folded",
        title=f"{WRITTEN[name]}, laid over itself at the period",
        caption=f"Of each write in {period}, the mean of all rounds, over the usual latency.",
        x=Axis("written since the period began", "bytes"),
        y=Axis("times the usual latency"),
        series=(series("writes", np.arange(kept.size) * step * size, kept, "steps"),),
        fitted=(Recurrence(every=float(period * size), share=found.effect, word="again"),),
    )


def plans(info: DeviceInfo) -> list[Plan]:
    """Give the largest plans."""
    unit = info.logical_block_bytes
    first = OnePlace(place=PLACES[0], size_bytes=unit)
    merging = replace(first, state=State.FILLED, afresh=False)
    order = InTurn(size_bytes=unit, window_bytes=info.capacity_bytes)
    in_order = [replace(order, number=number) for number in range(3 + len(LARGER_BYTES))]
    second = replace(first, state=None, place=PLACES[1], afresh=False)
    blocks = [Emptied(size_bytes=STRIPED_BYTES), first, merging, second, *in_order]
    return [*blocks, *idle.plans(info)]


PROBE = ProbeInfo(
    name=NAME,
    summary="after how much written, and how much idle time, a drive collects, and how much as one",
    weight="heavy",
    properties=(PERIOD, RECLAIM, idle.ONSET),
    cost="the drive filled twice, up to three capacities written, and ten or more for the onset",
    detect=detect,
    plans=plans,
    needs=(
        "rmw_unit_bytes",
        "alignment_phase_bytes",
        "merge_unit_bytes",
        "map_cache_bytes",
        "write_buffer_bytes",
        "write_buffer_unit_bytes",
    ),
)
