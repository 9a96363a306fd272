"""The probe `gc_knee`: spare space, from where collection begins.

Physics. A full drive takes random overwrites at full speed until its spare space is used up; from
then on each write waits for collection, which first copies what is still valid. The bytes written
until then are the spare space that a host can use (blocks that the drive always keeps free it
cannot).

Statistic. Twice, from different beginnings, the write cache off if the drive allows it:

1. as found, one write at a time: latencies, each over the median of its neighbours (collection
   hits few writes hard, drift hits all alike): where slow ones become more frequent, and within
   what is before that once more, since a drive begins to collect before it must, and shows it
   first by rare slow writes;
2. everything discarded and filled in order, many writes at once: the rate is split in two levels,
   and followed until it has settled (`workloads.steady`, at least twice the capacity).

Decision. Writes one by one must become 8 % slower in the mean and stay so, with a gain in log
likelihood of 12, and several may not wait long before. The spare space is that of the first
experiment, whose end is the sharper, if the second comes to the same but for what drives keep free
(5 % of all blocks); if the second comes to less, it is ambiguous, as of a drive that was found
empty, and if it comes to more, neither counts. Without any knee in the second (some collect
clumsily from the first write on) the first counts if it is unmistakable, with a caution, and if
writes in order do not become as slow there: then it is a region of one bit per cell.

Assumptions. As found the drive held data everywhere, or else the second experiment disagrees.
The RMW unit is known, so that whole ones are overwritten; else see `padded_knee`.
Cost. Some four to six capacities written: heavy.
Source. PROBING.md 3.2, 3.6; Luojie and Kurkoski, arXiv:1110.4245.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes import write_buffer
from ssdscope.probes.bench import Stopped
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.knee_picture import picture_of_knee
from ssdscope.probes.log_room import log_room
from ssdscope.probes.overwriting import (
    HIDDEN,
    Granule,
    buffered,
    completions_ns,
    fill_afresh,
    granule,
    latencies_ns,
    unit_or_base,
    why_inexact,
)
from ssdscope.probes.padded_knee import SIZES, padded_knee, padded_writes_capacities
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.slow_writes import (
    COLLAPSED,
    EARLIEST,
    LEAST_REQUESTS,
    Knee,
    knee_alone,
    knee_together,
    waits_before,
)
from ssdscope.probes.states import State
from ssdscope.workloads.steady import GATE_REGIONS, ROUND_SHARE, settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "gc_knee"
SPARE = "over_provisioning_ratio"

ATTEMPTS = 4
PAUSE_NS = 17_000_000_000
"""Between them, and longer each time, on a drive whose beginning can be returned to."""
DEPTH = 64
CHUNK_SHARE = 0.1
"""Of the capacity: how much is written between two looks."""
LONE_MOST = 2.0
"""Capacities written one by one before it is said that nothing happens."""
SETTLE_MOST = 3.0
LATE = 2.0
"""Times the spare space: by then a second knee must have come."""
BUFFERS = 1.3
"""Times what a buffer holds: so much is written before a knee is looked for."""
KEPT_FREE = 0.05
NOTHING = 0.01
"""Less spare space than this share of the capacity is none."""
SPARE_ERROR = 0.04
"""Of the place of the knee, beyond scatter: blocks are whole, and are on planes of their own."""
SMALL_AGREE = 0.6
"""Nor may they differ by more than this share of the spare space itself."""
SURELY_FULL = 0.6
"""A drive with so much spare space and more may as well have been empty in part, as found."""
IN_ORDER, FOLDS = 1.6, 0.4
"""Times what was written before the knee, that is then written in order; and how much of the rise
shows there where blocks are folded."""
UNMISTAKABLE = 1.3
"""Times slower: what nobody else's requests come to, even if they begin at the wrong moment."""


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
    unit = granule(bench)
    if not unit.exact or buffered(bench):
        return [_of_padded(bench)]
    if bench.info.capacity_bytes < 500 * unit.size_bytes:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    if _merges(bench, unit):
        raise Stopped(Reason.MASKED, "it writes like a drive that merges log blocks")
    capacity = bench.info.capacity_bytes
    evidence: dict[str, Any] = {"granule_bytes": unit.size_bytes, "units_known": unit.exact}
    alone, latencies = _overwrite_alone(bench, unit)
    if alone is None:
        return _no_knee(evidence)
    evidence |= picture_of_knee(alone.spare_bytes, latencies, unit.size_bytes, capacity)
    evidence["slowdown_alone"] = alone.slowdown
    bench.progress("filling the drive again", 0.3)
    fill_afresh(bench, unit)
    with bench.without_caches(read=False):
        together = _overwrite_together(bench, unit, alone.spare_bytes)
    evidence |= together.evidence()
    if _clumsy(alone, together, capacity) and _folds(bench, unit, alone):
        raise Stopped(Reason.MASKED, "writes in order become as slow, as where blocks are folded")
    return [_spare(alone, together, capacity, evidence)]


def _of_padded(bench: Bench) -> Finding:
    """Answer where the RMW unit is not known, or a buffer hides what writes of one take."""
    why = why_inexact(bench)
    if why not in HIDDEN:
        raise Stopped(why, "the RMW unit must be known, or padding would count as data")
    capacity = bench.info.capacity_bytes
    if capacity < LEAST_REQUESTS * SIZES[0]:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    found = padded_knee(bench, partial(_overwrite_alone, bench))
    evidence: dict[str, Any] = {"granule_bytes": SIZES[-1], "units_known": False}
    if found is None or found.knee.spare_bytes < EARLIEST * capacity:
        evidence["detail"] = "the RMW unit is not known, and padding may count as data"
        return Undetectable(name=SPARE, probe=NAME, reason=why, evidence=evidence)
    spare = found.knee.spare_bytes
    evidence |= picture_of_knee(spare, found.latencies_ns, SIZES[-1], capacity)
    evidence["padding_bytes"] = found.padding_bytes
    return _detected_spare(found.knee, capacity, evidence)


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
    if bench.found("pslc_bytes") is not None:
        return Reason.MASKED, "data reach their blocks by folding, which hides collection"
    period = bench.known.get("gc_period_bytes")
    if isinstance(period, Undetectable) and period.reason is Reason.MASKED:
        return Reason.MASKED, "writes in order wait as if blocks were folded"
    return None


def _overwrite_alone(bench: Bench, unit: Granule) -> tuple[Knee | None, NDArray[np.float64]]:
    """Write one by one until it has become slower for good; the knee, and all latencies."""
    rng = bench.rng("gc_knee alone")
    capacity = bench.info.capacity_bytes
    parts: list[NDArray[np.float64]] = []
    # Short stretches are spoiled by anybody's burst.
    count, written = max(int(CHUNK_SHARE * capacity) // unit.size_bytes, LEAST_REQUESTS), 0
    skipped = math.ceil(BUFFERS * write_buffer.staying_bytes(bench) / unit.size_bytes)
    knee = None
    with bench.without_caches(read=False):
        while written < LONE_MOST * capacity:
            places = unit.places(count, capacity, rng)
            parts.append(latencies_ns(bench.write(places, unit.size_bytes)))
            written += count * unit.size_bytes
            bench.progress("overwriting as found", 0.3 * written / (LONE_MOST * capacity))
            done = np.concatenate(parts)
            knee = knee_alone(done, unit.size_bytes, capacity, skipped=skipped, exact=unit.exact)
            collapsed = np.median(parts[-1]) > COLLAPSED * np.median(parts[0])
            if knee is not None or collapsed:
                break
    if knee is not None and waits_before(done, int(knee.spare_bytes) // unit.size_bytes):
        knee = None
    return knee, done


@dataclass(frozen=True)
class Together:
    """What overwriting with many requests at once came to.

    Attributes
    ----------
    edges_bytes, rates
        Rate in bytes per second up to each place; shapes (n,).
    knee
        None if the rate never fell for good.
    settled
        Whether it came to rest.
    """

    edges_bytes: NDArray[np.float64]
    rates: NDArray[np.float64]
    knee: Knee | None
    settled: bool

    def evidence(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rate_after_bytes": self.edges_bytes.tolist(),
            "rates_bytes_per_s": self.rates.tolist(),
            "refilled_spare_bytes": None if self.knee is None else self.knee.spare_bytes,
            "slowdown": None if self.knee is None else self.knee.slowdown,
            "settled": self.settled,
        }


def _overwrite_together(bench: Bench, unit: Granule, expected_bytes: float) -> Together:
    """Write many at once, in rounds, until the rate has settled or no knee is where one must be."""
    rng = bench.rng("gc_knee together")
    capacity = bench.info.capacity_bytes
    count = int(ROUND_SHARE * capacity) // unit.size_bytes
    bins = max(1, min(count // 16, 50))
    rates: list[float] = []
    edges: list[float] = []
    rounds: list[float] = []
    while (len(rounds) + 1) * ROUND_SHARE <= SETTLE_MOST + 1e-9:
        log = bench.write(unit.places(count, capacity, rng), unit.size_bytes, iodepth=DEPTH)
        done = completions_ns(log)
        ends = np.linspace(0, count, bins + 1).astype(int)[1:] - 1
        moved = np.diff(ends, prepend=-1) * unit.size_bytes
        rates += (moved / np.maximum(np.diff(done[ends], prepend=0.0), 1) * 1e9).tolist()
        edges += ((len(rounds) * count + ends + 1) * unit.size_bytes).tolist()
        rounds.append(count * unit.size_bytes / done[-1] * 1e9)
        bench.progress("overwriting until settled", 0.4 + 0.6 * len(rounds) / 30)
        if settled(rounds):
            break
        late = len(rounds) * count * unit.size_bytes > LATE * expected_bytes + 0.1 * capacity
        if late and knee_together(np.array(edges), np.array(rates), rounds[-1]) is None:
            break
    last = np.array(rounds[-max(len(rounds) - int(GATE_REGIONS / ROUND_SHARE), 5) :])
    level = float(last.size / np.sum(1 / last))
    knee = knee_together(np.array(edges), np.array(rates), level)
    return Together(np.array(edges), np.array(rates), knee, settled(rounds))


def _no_knee(evidence: dict[str, Any]) -> list[Finding]:
    """Answer for a drive that writes as fast, or as slowly, all the time."""
    below = Reason.EFFECT_BELOW_NOISE
    return [Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)]


def _of_merges(bench: Bench, merge_bytes: int) -> Iterator[Finding]:
    """Answer for a drive with log blocks: what they take is what a host can overwrite."""
    unit = unit_or_base(bench)
    capacity = bench.info.capacity_bytes
    room = log_room(bench, unit, merge_bytes) if merge_bytes % unit.size_bytes == 0 else None
    evidence: dict[str, Any] = {"granule_bytes": unit.size_bytes, "units_known": unit.exact}
    if room is None:
        yield from _no_knee(evidence)
        return
    taken = float(room.writes * unit.size_bytes)
    evidence |= picture_of_knee(taken, room.latencies_ns, unit.size_bytes, capacity)
    if room.each and not isinstance(bench.known.get("map_cache_bytes"), (Absent, Detected)):
        # Writes may as well wait for parts of the mapping table.
        yield Undetectable(name=SPARE, probe=NAME, reason=Reason.MASKED, evidence=evidence)
    elif taken < 0.97 * NOTHING * capacity:
        reason = "less than 1 % can be overwritten before the drive merges"
        yield Absent(name=SPARE, probe=NAME, bound=NOTHING, reason=reason, evidence=evidence)
    elif taken < 1.03 * NOTHING * capacity or room.each:
        below = Reason.EFFECT_BELOW_NOISE
        yield Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    else:
        others = 1 + room.others / 2
        knee = Knee(taken, taken / others, taken * others, room.slowdown)
        yield _detected_spare(knee, capacity, evidence)


def _clumsy(alone: Knee, together: Together, capacity: int) -> bool:
    """Say whether only the first experiment shows a knee, and that an unmistakable one.

    Some collect at random blocks that others would leave alone, and are slow from the first on.
    """
    early = together.knee is None or together.knee.spare_bytes < EARLIEST * capacity
    return early and alone.spare_bytes < SURELY_FULL * capacity and alone.slowdown > UNMISTAKABLE


def _folds(bench: Bench, unit: Granule, alone: Knee) -> bool:
    """Say whether writes in order, which leave nothing to copy, become slow there, too.

    A region of one bit per cell is full of them all the same, and blocks are folded.
    """
    if not bench.info.snapshot:
        return False
    bench.enter(State.AS_FOUND)
    count = int(alone.spare_bytes) // unit.size_bytes
    steps = np.arange(
        1, min(int(IN_ORDER * count), bench.info.capacity_bytes // unit.size_bytes - 1)
    )
    places = (steps * unit.size_bytes - unit.phase_bytes).astype(np.uint64)
    with bench.without_caches(read=False):
        latencies = latencies_ns(bench.write(places, unit.size_bytes))
    slower = latencies[count:].mean() / latencies[:count].mean() - 1
    return bool(slower > FOLDS * (alone.slowdown - 1))


def _detected_spare(alone: Knee, capacity: int, evidence: dict[str, Any]) -> Detected:
    share = alone.spare_bytes / capacity
    low = min(alone.low_bytes / capacity, share * (1 - SPARE_ERROR))
    high = max(alone.high_bytes / capacity, share * (1 + SPARE_ERROR))
    return Detected(
        name=SPARE,
        probe=NAME,
        value=share,
        interval=(low, high),
        effect=alone.slowdown - 1,
        evidence=evidence,
    )


def _spare(alone: Knee, together: Together, capacity: int, evidence: dict[str, Any]) -> Finding:
    share = alone.spare_bytes / capacity
    other = share if together.knee is None else together.knee.spare_bytes / capacity
    if _clumsy(alone, together, capacity) and share >= EARLIEST:
        caution = "filled again the drive shows no knee: that it was full as found is assumed"
        return _detected_spare(alone, capacity, evidence | {"cautions": [caution]})
    same = abs(share - other) <= min(KEPT_FREE * (1 + share), SMALL_AGREE * share)
    if share < EARLIEST or (share < other and not same):
        # A buffer that fills, collection that never rests, a knee too early or too late, a drive
        # that was in use for long: none is a candidate.
        below = Reason.EFFECT_BELOW_NOISE
        return Undetectable(name=SPARE, probe=NAME, reason=below, evidence=evidence)
    if together.knee is not None and same:
        return _detected_spare(alone, capacity, evidence)
    return Ambiguous(
        name=SPARE,
        probe=NAME,
        candidates=tuple(sorted({share, other})),
        reason="as found and filled again, the drive takes different amounts before it slows down",
        evidence=evidence,
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Both experiments to their ends, a fill between them; again where others interfered."""
    known = LONE_MOST + CHUNK_SHARE + 2 + SETTLE_MOST + IN_ORDER * SURELY_FULL
    unknown = padded_writes_capacities(LONE_MOST + CHUNK_SHARE)
    once = int(max(known, unknown) * info.capacity_bytes) + (1 << 30)
    return once * (ATTEMPTS if info.snapshot else 1)


PROBE = ProbeInfo(
    name=NAME,
    summary="spare space, from where collection begins",
    weight="heavy",
    properties=(SPARE,),
    cost="four to six capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
