"""The probe `rmw_unit`: the smallest span that a small write rewrites, and where spans begin.

Physics. A drive that maps units of U bytes reads and rewrites every unit that a write touches. A
write of w bytes touches one unit more when it straddles a boundary, so its latency repeats in the
address with the period U, and the place of the step is the phase. (ryu2009, figure 6, and
kuo2009, table 4, look for the same thing; PROBING.md 1.1 and 1.6 say why they can fail.)

Design. Writes of two sizes at depths 1 and 4 (alone, two units on different chips may be written
side by side and show nothing), at places drawn at random to the logical block, 64 near each other
before the next 64 elsewhere: a firmware with log blocks then merges rarely. Places are random and
fresh, so shuffling them is an exact null whatever else the drive does meanwhile.

Statistic. Ranks of latency within depth and size, folded at every candidate (`stats.folding`).

Decision. Both halves of the data (by turns) must name the same period at 1 % each, or one a
multiple of the other's, and the same phase. A period that consists of several straddling steps
alike is that of the placement, and its step is the unit; full queues tell, and what is saved by
writing it whole (`inner_units`). The unit must divide what both halves name; where it is not clear,
it may be a part of a multiple of that, too. More data are taken, twice at most, until the halves
agree, or see none and places hardly differ. Where a buffer that stays on hides what a write takes,
reads may, or how fast small writes go on (`hidden_unit`).

Assumptions. Writes reach the flash before they are acknowledged (`write_through`); there is no
unit only where that is sure. Units are at most 128 KiB, and 1, 3, 5, 7, 9 or 15 times a power of
two blocks.

Cost. 16,384 writes, up to four times as many; at most nine tenths of the capacity. Half as many
at first on a drive of which they would write half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes import hidden_unit, inner_units, shifted_writes, write_through
from ssdscope.probes.bench import Stopped
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.shifted_writes import Samples
from ssdscope.probes.states import State
from ssdscope.probes.unit_periods import (
    LARGEST_UNIT_BYTES,
    LEAST_SHARE,
    Answer,
    agreed,
    alike,
    answer_of,
    boundary_of,
    candidates_blocks,
    common,
    straddles,
    whole_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "rmw_unit"
UNIT, PHASE = "rmw_unit_bytes", "alignment_phase_bytes"

FIRST_WRITES = 8192
"""Of each depth, in the first look; the second look doubles, and so does the third."""
LOOKS = 3
SMALLEST_PAGE_BYTES = 2048
"""No flash is written in less: a unit of one smaller block is a unit that was not seen."""
SIDE_BY_SIDE, SERIAL_GAIN = 1.05, 1.3
"""More gets done at once. Where commands are served one by one units can be written side by
side and never show, so that there is no saying that there is none."""
QUEUED = 2.0
"""Depth of reading that still gains, above which a drive surely takes several commands; reads that
only overlap with their answers gain up to 1.6."""
HOPELESS = 0.2
"""Probability by chance above which, in both halves, more data are not asked for."""
MOST_PLACES, NO_EFFECT = 16, 0.03
"""Share of the latency by which no place that is slow in one half of the data may be slower in the
other, of periods of so many, where none is said to be."""


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written: a capacity, as the class allows, though hardly ever half."""
    asked = (LOOKS + 1) * write_through.writes_bytes(info)
    parts = inner_units.writes_bytes(info, LARGEST_UNIT_BYTES)
    by_writes = _most_bytes(info) + asked + parts
    return min(info.capacity_bytes, by_writes + hidden_unit.writes_bytes(info))


def _most_bytes(info: DeviceInfo) -> int:
    largest = FIRST_WRITES * len(shifted_writes.DEPTHS) << (LOOKS - 1)
    return min(info.capacity_bytes * 9 // 10, largest * _mean_bytes(info))


def _first_writes(info: DeviceInfo) -> int:
    """Leave half of a small drive's allowance to tell one unit from several."""
    most = FIRST_WRITES * len(shifted_writes.DEPTHS) * _mean_bytes(info)
    return FIRST_WRITES // 2 if most > info.capacity_bytes // 2 else FIRST_WRITES


def _mean_bytes(info: DeviceInfo) -> int:
    return sum(shifted_writes.sizes_blocks(info)) * info.logical_block_bytes // 2


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer unit and phase: by what writes take, or where a buffer hides that, by other means."""
    hidden: Stopped | None = None
    found: list[Finding] = []
    try:
        found = list(_by_writes(bench))
    except Stopped as stop:
        if stop.reason is not Reason.PLP_NO_FLUSH_EFFECT:
            raise
        hidden = stop
    told = any(each.name == UNIT and isinstance(each, Detected | Absent) for each in found)
    if hidden or (not told and hidden_unit.stays_on(bench.info)):
        bench.enter(State.FILLED)
        found = hidden_unit.detect(bench, UNIT, PHASE, NAME, rates=hidden is not None) or found
    if hidden and not found:
        raise hidden
    yield from found


def _by_writes(bench: Bench) -> Iterator[Finding]:
    """Answer by what writes at random places take."""
    candidates = candidates_blocks(bench.info)
    if not candidates.size or bench.info.capacity_bytes < 64 * shifted_writes.REGION_BYTES:
        for name in (UNIT, PHASE):
            yield Undetectable(name=name, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    samples = shifted_writes.no_samples()
    halves: list[Answer] = []
    waits, forced = True, False
    for look in range(LOOKS):
        wanted = _first_writes(bench.info) << max(look - 1, 0)
        planned = (samples.place.size + wanted * len(shifted_writes.DEPTHS)) * _mean_bytes(
            bench.info
        )
        if planned > _most_bytes(bench.info):
            break
        if look:
            _renew(bench)
        with write_through.writing(bench) as writer:
            samples = samples.joined(shifted_writes.measure(writer, wanted, look))
            waits, forced = waits and writer.waits, forced or writer.forced
        halves = [answer_of(half, candidates) for half in _halves(samples)]
        bench.progress("units of writing", (look + 1) / LOOKS)
        if agreed(halves) or _hopeless(bench.info, samples, halves):
            break
    inner = _inner(bench, samples, halves) if halves else None
    yield from _findings(bench.info, samples, halves, inner, waits=waits, forced=forced)


def _inner(bench: Bench, samples: Samples, halves: list[Answer]) -> int | None:
    """Give the unit that the period consists of, if it is clear."""
    unit = common(halves)
    if unit is None:
        return None
    _renew(bench)
    with write_through.writing(bench) as writer:
        write_ns = float(np.median(samples.latency_ns)) / 2
        boundary, _ = boundary_of(samples, unit)
        serial = _gain(samples) < SERIAL_GAIN
        queued = float(bench.found("queue_depth_knee") or 1) > QUEUED
        period = inner_units.Period(unit, boundary, write_ns, serial, queued)
        inner = inner_units.innermost(writer, period)
    if inner is None or inner >= candidates_blocks(bench.info)[-1]:
        return None
    return inner if straddles(samples, inner) else None


def _renew(bench: Bench) -> None:
    """Return to the filled drive, where that costs nothing: collection would only blur."""
    bench.renew(State.FILLED)


def _hopeless(info: DeviceInfo, samples: Samples, halves: list[Answer]) -> bool:
    """Whether chance often beats both periods, and neither noise nor haste would hide one."""
    if samples.place.size <= FIRST_WRITES:
        return False
    if info.logical_block_bytes >= SMALLEST_PAGE_BYTES and _differ(info, samples) >= NO_EFFECT:
        return False
    return all(each.scan.p_value > HOPELESS for each in halves)


def _halves(samples: Samples) -> list[Samples]:
    """Split by turns, such that each half has every depth equally often."""
    second = samples.turn // len(shifted_writes.DEPTHS) % 2 == 1
    return [samples.part(~second), samples.part(second)]


def _findings(
    info: DeviceInfo,
    samples: Samples,
    halves: list[Answer],
    inner: int | None,
    *,
    waits: bool,
    forced: bool,
) -> Iterator[Finding]:
    """Answer from what both halves say, and from what full queues say of them."""
    if not halves:
        for name in (UNIT, PHASE):
            yield Undetectable(name=name, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    block = info.logical_block_bytes
    first, second = halves
    common: dict[str, Any] = {
        "probe": NAME,
        "evidence": _evidence(info, samples, halves),
        "requests": samples.place.size,
    }
    if first.unit is None or second.unit is None:
        yield from _nothing_found(info, samples, halves, common, waits=waits)
        return
    if first.unit != second.unit and (inner is None or min(first.unit, second.unit) % inner):
        for name in (UNIT, PHASE):
            yield Undetectable(name=name, reason=Reason.EFFECT_BELOW_NOISE, **common)
        return
    unit = max(first.unit, second.unit)
    if inner is None or ((first.boundary or 0) - (second.boundary or 0)) % inner:
        if forced:  # It may be one of the buffer.
            for name in (UNIT, PHASE):
                yield Undetectable(name=name, reason=Reason.WRITE_ACKED_FROM_BUFFER, **common)
            return
        why = "it is not clear whether the period is one unit or several, or where they begin"
        whole = whole_of(_halves(samples), unit)
        yield Ambiguous(name=UNIT, candidates=_parts(whole, block), reason=why, **common)
        yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)
        return
    effect = shifted_writes.effect(samples, unit, max(shifted_writes.DEPTHS))
    unit = inner
    phase = -(first.boundary or 0) % unit * block
    yield Detected(name=UNIT, value=unit * block, interval=None, effect=effect, **common)
    yield Detected(name=PHASE, value=phase, interval=None, effect=effect, **common)


def _parts(unit: int, block: int) -> tuple[float, ...]:
    """Give all units of more than a block that a period may consist of, in bytes."""
    sizes = (unit // part * block for part in range(1, unit // 2 + 1) if unit % part == 0)
    return tuple(float(size) for size in sizes if size <= LARGEST_UNIT_BYTES)


def _nothing_found(
    info: DeviceInfo,
    samples: Samples,
    halves: list[Answer],
    common: dict[str, Any],
    *,
    waits: bool,
) -> Iterator[Finding]:
    """Say that there is no unit above a block, if none could have been missed."""
    block, quiet = info.logical_block_bytes, _differ(info, samples) < NO_EFFECT
    quiet &= all(each.scan.explained.max() < LEAST_SHARE for each in halves)
    quiet &= not alike(_halves(samples), halves)
    seen = not write_through.too_fast(samples.latency_ns) and block >= SMALLEST_PAGE_BYTES
    if quiet and seen and waits and _gain(samples) > SIDE_BY_SIDE:
        why = "no place costs a write more than any other"
        yield Absent(name=UNIT, bound=float(block), reason=why, **common)
    else:
        yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)
    common["evidence"] = common["evidence"].saying("no unit was found that begins anywhere")
    yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _gain(samples: Samples) -> float:
    """How many times more several writes at once get done than as many one after the other."""
    shallow, deep = min(shifted_writes.DEPTHS), max(shifted_writes.DEPTHS)
    small = samples.size == samples.size.min()
    alone = float(np.median(samples.latency_ns[small & (samples.depth == shallow)]))
    together = float(np.median(samples.latency_ns[small & (samples.depth == deep)]))
    return deep / shallow * alone / together


def _differ(info: DeviceInfo, samples: Samples) -> float:
    """Give the most by which places differ, of one write at a time and small units."""
    depth, units = min(shifted_writes.DEPTHS), candidates_blocks(info)
    small = units[units <= MOST_PLACES]
    return shifted_writes.held_out(_halves(samples), small, depth, NO_EFFECT)


def _evidence(info: DeviceInfo, samples: Samples, halves: list[Answer]) -> Evidence:
    """Gather the scan of both halves and, of a unit found, the folded profile."""
    block = info.logical_block_bytes
    evidence = Evidence(
        exhibits=(_scanned(halves, block),),
        figures={
            "write_sizes_bytes": [size * block for size in shifted_writes.sizes_blocks(info)],
            "depths": shifted_writes.DEPTHS,
            "explained_by_chance": [each.scan.by_chance for each in halves],
            "p_value": [each.scan.p_value for each in halves],
            "median_latency_ns": float(np.median(samples.latency_ns)),
        },
    )
    unit = halves[0].unit
    if unit is None or not agreed(halves):
        return evidence
    return evidence.showing(shifted_writes.folded(samples, unit, halves[0].boundary or 0, block))


def _scanned(halves: list[Answer], block: int) -> Exhibit:
    """Show how much each unit would explain, by either half of the writes."""
    names = ("first half", "second half")
    return Exhibit(
        name="units-tried",
        title="How much each unit would explain",
        caption="Of what writes at different places take, by either half of the writes.",
        x=Axis("unit", "bytes", log=True),
        y=Axis("share explained"),
        series=tuple(
            series(name, each.scan.periods * block, each.scan.explained, "points")
            for name, each in zip(names, halves, strict=True)
        ),
    )


PROBE = ProbeInfo(
    name=NAME,
    summary="span that a small write rewrites, and where spans begin",
    weight="standard",
    properties=(UNIT, PHASE),
    cost="16,000 to 66,000 writes of a few KiB",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.FILLED,
)
