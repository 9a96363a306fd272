"""The probe `gc_knee`: spare space, from where collection begins.

Physics. A full drive takes random overwrites at full speed until its spare space is used up; from
then on each write waits for collection, which first copies what is still valid. The bytes written
until then are the spare space that a host can use (of blocks always kept free it can use none).

Statistic. As found, and again after everything was discarded and filled in order, the write cache
off if the drive allows it (else each write is flushed past it, as it hides the first that wait, and
what it holds has used up nothing), one write at a time: latencies, each over the median of its
neighbours (collection hits few writes hard, drift hits all alike): where slow ones
become more frequent, and within what is before that once more, since a drive begins to collect
before it must, and shows it first by rare slow writes; or the first of several bursts of waits
evenly apart.

Decision. Writes must become 8 % slower in the mean and stay so, some of that right behind the
place, with a gain in log likelihood of 12, and several may not wait long before. Both beginnings
must show the same knee within 5 %, or a third one bears one of them out, as found if the drive can
be returned to that; `knees_agree` says why they may differ, and by how much. If twice all writes
become 5 % slower at one place before it, that is the knee. Where a region of one bit per cell is
not ruled out, writes in order may not become as slow there. Nor may it be where entries of a
mapping table on demand are written back, the first three times that all in memory have changed; nor
sooner than where no write begins a merge unit, if it is not known whether there are such.

Assumptions. The RMW unit is known, so that whole ones are overwritten; else see `unaligned_knee`,
and behind a buffer that hides it `padded_knee`, unless single entries of a mapping table are loaded
on demand: each that is written back takes space, as padding does.
Cost. Some two to four capacities written: heavy.
Source. PROBING.md 3.2; Luojie and Kurkoski, arXiv:1110.4245.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Ambiguous, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.probes import pslc, table_writes, write_buffer
from ssdscope.probes.bench import Stopped
from ssdscope.probes.hidden_unit import stays_on
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.knee_exhibit import with_knee
from ssdscope.probes.knees_agree import (
    NAME,
    SAME,
    SPARE,
    Course,
    agree,
    begun_before,
    detected_spare,
    judged,
    never_rests,
    slow_as_found,
)
from ssdscope.probes.log_room import log_room
from ssdscope.probes.overwriting import (
    HIDDEN,
    Granule,
    buffered,
    fill_afresh,
    granule,
    latencies_ns,
    may_be_cut,
    unit_or_base,
    why_inexact,
    write_through,
)
from ssdscope.probes.padded_knee import SIZES, padded_knee, padded_writes_capacities
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.slow_writes import (
    COLLAPSED,
    EARLIEST,
    LEAST_REQUESTS,
    Knee,
    knee_alone,
    waits_before,
)
from ssdscope.probes.states import State
from ssdscope.probes.unaligned_knee import unaligned_knee, unaligned_writes_capacities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

ATTEMPTS = 4
PAUSE_NS = 17_000_000_000
"""Between them, and longer each time, on a drive whose beginning can be returned to."""
CHUNK_SHARE = 0.1
"""Of the capacity: how much is written between two looks."""
LONE_MOST = 2.0
"""Capacities written one by one before it is said that nothing happens."""
LONGER = 3.0
"""Times what is before a knee: where units that begin no merge unit must have shown one."""
BUFFERS = 1.3
"""Times what a buffer holds: so much is written before a knee is looked for."""
NOTHING, SHARED_UNSURE = 0.01, 0.03
"""Less spare space than this share of the capacity is none; and by how much of it the count of
log blocks may be off that are of one write each, or shared with others: it is exact else."""
MAY_FOLD = (Reason.MASKED, Reason.EFFECT_BELOW_NOISE)
BESIDE = "all writes are slower from there on, as where collection begins beside them"
TURNS = 3
"""Entries that changed are written back with all of their page, and none has to be until as many
have changed again: such bursts can be told apart for so many turns."""
IN_ORDER, FOLDS = 1.6, 0.4
"""Times what was written before the knee, that is then written in order; and how much of the rise
shows there where blocks are folded."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer, in a quiet hour if others are at work."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            findings = _measured(bench)
        except Stopped as stop:
            # What others write uses up space, too: the beginning must be a clean one.
            last = attempt == ATTEMPTS or not bench.info.snapshot
            if last or stop.reason is not Reason.INTERFERENCE:
                raise
            bench.enter(State.AS_FOUND)
            bench.idle(attempt * PAUSE_NS)
        else:
            yield from findings
            return


def _measured(bench: Bench) -> list[Finding]:
    if refuse := _masked(bench):
        raise Stopped(*refuse)
    merge = bench.found("merge_unit_bytes")
    if merge is not None:
        return list(_of_merges(bench, int(float(merge))))
    return [_unless_written_back(bench, _of_collection(bench))]


def _of_collection(bench: Bench) -> Finding:
    unit = granule(bench)
    if not unit.exact or buffered(bench):
        return _of_padded(bench)
    if bench.info.capacity_bytes < 500 * unit.size_bytes:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    if _merges(bench, unit):
        raise Stopped(Reason.MASKED, "it writes like a drive that merges log blocks")
    finding = _repeated(bench, unit)
    merges_known = isinstance(bench.known.get("merge_unit_bytes"), Absent | None)
    if isinstance(finding, Detected) and not merges_known:
        _require_as_soon(bench, unit, float(finding.value) * bench.info.capacity_bytes)
    return finding


def _require_as_soon(bench: Bench, unit: Granule, spare_bytes: float) -> None:
    """Refuse where writes that begin no merge unit stay fast for longer.

    Where log blocks are shared, what begins one goes to a log of its own, and may be merged for;
    units of odd numbers begin none. (Of page-mapped planes they may use up half, and sooner.)
    """
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)
    odd = replace(unit, phase_bytes=unit.phase_bytes - unit.size_bytes, apart=2)
    knee, _ = _overwrite_alone(bench, odd, LONGER * spare_bytes, number=3)
    if knee is None or knee.spare_bytes > (1 + SAME) * spare_bytes:
        raise Stopped(Reason.MASKED, "log blocks may be what is full")


def _unless_written_back(bench: Bench, finding: Finding) -> Finding:
    """Refuse where writes become slower as all entries in memory are written back."""
    if not isinstance(finding, Detected):
        return finding
    place, knee = table_writes.first_written_back(bench), float(finding.value)
    if any(abs(knee / turn - place) < SAME * place for turn in range(1, TURNS + 1)):
        raise Stopped(Reason.MASKED, "entries of the mapping table are written back there")
    return finding


def _repeated(bench: Bench, unit: Granule) -> Finding:
    """Overwrite as found and filled afresh, and once more if the two do not agree."""
    capacity = bench.info.capacity_bytes
    evidence = Evidence(figures={"granule_bytes": unit.size_bytes, "units_known": True})
    below = Reason.EFFECT_BELOW_NOISE
    first, latencies = as_found = _overwrite_alone(bench, unit)
    if first is None or first.spare_bytes < EARLIEST * capacity:
        return Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    evidence = with_knee(evidence, first.spare_bytes, latencies, unit.size_bytes, capacity)
    bench.enter(State.AS_FOUND)
    afresh, _ = filled = _afresh(bench, unit, 1)
    courses = [as_found, filled]
    if not agree(first, afresh):
        once_more = _after_a_pause if bench.renew(State.AS_FOUND) else _afresh
        courses.append(once_more(bench, unit, number=2))
    again = courses[-1][0]
    knees = (first, afresh, again)
    evidence = evidence.noting(knees_bytes=[each and each.spare_bytes for each in knees])
    size, skipped = unit.size_bytes, _buffered(bench, unit)
    restless = never_rests(as_found, filled, size, skipped)
    erases = slow_as_found(first, filled, size)
    finding = judged(first, afresh, again, capacity, evidence, restless=restless, erases=erases)
    if isinstance(finding, Ambiguous) and may_be_cut(bench):
        raise Stopped(Reason.WRITE_ACKED_FROM_BUFFER, "parts of units may leave the buffer")
    if not isinstance(finding, Detected):
        return finding
    if _folds(bench, unit, first):
        raise Stopped(Reason.MASKED, "writes in order become as slow, as where blocks are folded")
    begun = begun_before(courses, first, size, max(skipped, int(EARLIEST * capacity / size)))
    return finding if begun is None else detected_spare(begun, capacity, evidence.saying(BESIDE))


def _after_a_pause(bench: Bench, unit: Granule, number: int) -> Course:
    """Overwrite a drive that was returned to what it was, but not when others were at work."""
    bench.idle(PAUSE_NS)
    return _overwrite_alone(bench, unit, number=number)


def _afresh(bench: Bench, unit: Granule, number: int) -> Course:
    bench.progress("filling the drive again", number / 3)
    fill_afresh(bench, unit)
    return _overwrite_alone(bench, unit, number=number)


def _of_padded(bench: Bench) -> Finding:
    """Answer where the RMW unit is not known, or a buffer hides what writes of one take."""
    why = why_inexact(bench)
    hidden = stays_on(bench.info)
    if hidden and why not in HIDDEN:
        raise Stopped(why, "the RMW unit must be known, or padding would count as data")
    if bench.found("map_cache_bytes") and isinstance(bench.known.get("map_zone_bytes"), Absent):
        raise Stopped(Reason.MASKED, "entries of the mapping table take space, as padding would")
    capacity = bench.info.capacity_bytes
    if capacity < LEAST_REQUESTS * SIZES[0]:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    if hidden:
        found = padded_knee(bench, partial(_overwrite_alone, bench))
    elif isinstance(bench.known.get("pslc_bytes"), Absent):
        found = unaligned_knee(bench, partial(_overwrite_alone, bench))
    else:
        raise Stopped(Reason.MASKED, "a region of one bit per cell is not ruled out")
    evidence = Evidence(figures={"units_known": False})
    if found is None or found.knee.spare_bytes < EARLIEST * capacity:
        evidence = evidence.saying("the RMW unit is not known, and padding may count as data")
        return Undetectable(name=SPARE, probe=NAME, reason=why, evidence=evidence)
    spare = found.knee.spare_bytes
    size = found.size_bytes
    evidence = evidence.noting(granule_bytes=size, padding_bytes=found.padding_bytes)
    evidence = with_knee(evidence, spare, found.latencies_ns, size, capacity)
    return detected_spare(found.knee, capacity, evidence)


def _merges(bench: Bench, unit: Granule) -> bool:
    """Say whether random writes are merged one by one, where the beginning can be returned to."""
    if not bench.info.snapshot:
        return False
    try:
        return merges_for_each(bench, unit)
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise
        return False
    finally:
        bench.enter(State.AS_FOUND)


def _masked(bench: Bench) -> tuple[Reason, str] | None:
    if pslc.seen(bench):
        return Reason.MASKED, "data reach their blocks by folding, which hides collection"
    period = bench.known.get("gc_period_bytes")
    folds = isinstance(period, Undetectable) and period.reason in MAY_FOLD
    if folds and not isinstance(bench.known.get("pslc_bytes"), Absent):
        return Reason.MASKED, "a region of one bit per cell is not ruled out"
    return None


def _overwrite_alone(
    bench: Bench, unit: Granule, most_bytes: float = math.inf, number: int = 0
) -> Course:
    """Write one by one until it has become slower for good; the knee, and all latencies."""
    rng = bench.rng(f"gc_knee {number}")
    in_turn = not unit.exact and stays_on(bench.info)
    capacity = bench.info.capacity_bytes
    parts: list[NDArray[np.float64]] = []
    # Short stretches are spoiled by anybody's burst.
    count, written = max(int(CHUNK_SHARE * capacity) // unit.size_bytes, LEAST_REQUESTS), 0
    through = _through(bench, unit)
    write = write_through if through else _written
    skipped = 0 if through else _buffered(bench, unit)
    knee = None
    with bench.without_caches(read=False):
        while written < min(LONE_MOST * capacity, most_bytes):
            places = _places(bench, unit, count, rng)
            parts.append(write(bench, places, unit.size_bytes))
            written += count * unit.size_bytes
            bench.progress("overwriting as found", 0.3 * written / (LONE_MOST * capacity))
            done = np.concatenate(parts)
            knee = knee_alone(done, unit.size_bytes, capacity, skipped=skipped, exact=not in_turn)
            collapsed = np.median(parts[-1]) > COLLAPSED * np.median(parts[0])
            if knee is not None or collapsed:
                break
    if knee is not None and waits_before(done, int(knee.spare_bytes) // unit.size_bytes):
        knee = None
    return knee, done


def _through(bench: Bench, unit: Granule) -> bool:
    """Whether to flush each write past a buffer that stays on, which hides the first that wait."""
    return write_buffer.may_stay(bench) and unit.exact and not buffered(bench)


def _written(bench: Bench, places: NDArray[np.uint64], size_bytes: int) -> NDArray[np.float64]:
    return latencies_ns(bench.write(places, size_bytes))


def _buffered(bench: Bench, unit: Granule) -> int:
    """Count the writes that a buffer may take at first, which cannot be switched off."""
    return math.ceil(BUFFERS * write_buffer.staying_bytes(bench) / unit.size_bytes)


def _places(
    bench: Bench, unit: Granule, count: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Draw whole units, or any places where units are not known.

    A buffer that stays on cuts what begins anywhere into pieces that share units.
    """
    capacity, block = bench.info.capacity_bytes, bench.info.logical_block_bytes
    if unit.exact or stays_on(bench.info):
        return unit.places(count, capacity, rng)
    return rng.integers(0, (capacity - unit.size_bytes) // block, count).astype(np.uint64) * block


def _of_merges(bench: Bench, merge_bytes: int) -> Iterator[Finding]:
    """Answer for a drive with log blocks: what they take is what a host can overwrite."""
    unit = unit_or_base(bench)
    capacity = bench.info.capacity_bytes
    room = log_room(bench, unit, merge_bytes)
    evidence = Evidence(figures={"granule_bytes": unit.size_bytes, "units_known": unit.exact})
    below = Reason.EFFECT_BELOW_NOISE
    if room is None:
        yield Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
        return
    taken = float(room.writes * unit.size_bytes)
    unsure = SHARED_UNSURE if room.each or room.others else 0.0
    evidence = with_knee(evidence, taken, room.latencies_ns, unit.size_bytes, capacity)
    if room.each and not isinstance(bench.known.get("map_cache_bytes"), (Absent, Detected)):
        said = evidence.saying("each write waits, be it for a merge or for what it has to look up")
        yield Undetectable(name=SPARE, probe=NAME, reason=Reason.MASKED, evidence=said)
    elif taken < (1 - unsure) * NOTHING * capacity:
        reason = "less than 1 % can be overwritten before the drive merges"
        yield Absent(name=SPARE, probe=NAME, bound=NOTHING, reason=reason, evidence=evidence)
    elif taken < (1 + unsure) * NOTHING * capacity or room.each:
        yield Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    else:
        others = 1 + room.others / 2
        knee = Knee(taken, taken / others, taken * others, room.slowdown)
        yield detected_spare(knee, capacity, evidence)


def _folds(bench: Bench, unit: Granule, alone: Knee) -> bool:
    """Say whether writes in order, which leave nothing to copy, become slow there, too.

    A region of one bit per cell is full of them all the same, and blocks are folded.
    """
    if not bench.info.snapshot or isinstance(bench.known.get("pslc_bytes"), Absent):
        return False
    bench.enter(State.AS_FOUND)
    count, size = int(alone.spare_bytes) // unit.size_bytes, unit.size_bytes
    steps = np.arange(1, min(int(IN_ORDER * count), bench.info.capacity_bytes // size - 1))
    places = (steps * unit.size_bytes - unit.phase_bytes).astype(np.uint64)
    with bench.without_caches(read=False):
        latencies = latencies_ns(bench.write(places, unit.size_bytes))
    slower = latencies[count:].mean() / latencies[:count].mean() - 1
    return bool(slower > FOLDS * (alone.slowdown - 1))


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Write from each beginning to the end, fill it, and write in order; again where disturbed."""
    known = 3 * (LONE_MOST + CHUNK_SHARE + 1) + IN_ORDER + LONGER + CHUNK_SHARE + 1
    most = LONE_MOST + CHUNK_SHARE
    unknown = max(padded_writes_capacities(most), unaligned_writes_capacities(most))
    once = int(max(known, unknown) * info.capacity_bytes) + (1 << 30)
    return once * (ATTEMPTS if info.snapshot else 1)


PROBE = ProbeInfo(
    name=NAME,
    summary="spare space, from where collection begins",
    weight="heavy",
    properties=(SPARE,),
    cost="two to four capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
