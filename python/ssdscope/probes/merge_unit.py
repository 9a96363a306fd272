"""The probe `merge_unit`: the span of a log block and of a data block, where a drive merges them.

Physics. A firmware with log blocks maps whole units of B bytes. Written in order and from its
beginning, a unit only has its old block erased (a switch merge); anything else copies what was not
written. (kuo2009, table 3, and its observation on alignment; ryu2009, figure 6, on drive B.)

Two estimators that share no data must agree.

1. *Period of erasing.* The drive is overwritten in order, one RMW unit at a time. With log blocks
   the first write of every unit waits for an erase, at addresses that are multiples of B less
   the phase (`merge_periods`).
2. *Single writes.* With common log blocks those to beginnings of units of that size wait for
   merges, and none behind them (`merge_begins`). With a log block for each unit the second of two
   writes waits if it is not in the unit of the first (`merge_pairs`). Where neither is clear,
   *collapse of alignment*: whole units are written in random order, then such that lie across two.
   The latter copy, and take longer; shifted by whole stripes, they reach as many dies. At a wrong
   size both or neither are aligned. Single writes far apart go ahead, so that every log block is
   taken, and as many runs as there were of them do not count (`merge_runs`).

Decision. Detected if single writes wait as a unit of that size demands; or if units that lie across
take longer (by ranks or by their sum, 0.1 %) by at least half; where the mapping table is loaded
in parts of that size, by more than four writes far apart take, each of which loads one, or if those
came to wait for merges; else more of the drive is written in order, where something larger may
repeat. Absent if neither they nor writes far apart nor short runs at random places are slower, nor
writes to beginnings than those far apart, and an erase could not have been missed. Where the
mapping table is in memory in part, short runs may be slower by what they load of it, and single
writes than those in order: by less than any merge takes.

Assumptions. Writes wait for flash (`write_through`); RMW unit and phase are those that were found
before. Where they are not known, steps of 4 to 128 KiB are written from 0 on; then the same single
writes tell them.

Cost. At most the capacity once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Exhibit,
    Finding,
    Period,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes import merge_begins, merge_pairs, merge_runs, write_through
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.merge_periods import PHASE, Repeating, Stream, repeating, unit_is_known
from ssdscope.probes.notes import Notes
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "merge_unit"
UNIT, RMW_UNIT = "merge_unit_bytes", "rmw_unit_bytes"

RUNS_SHARE = 0.9
"""Of the capacity, that streams and runs may write; the rest is for what must not be slow."""
LEAST_RUNS, RUNS_LOOKS = 8, 4
STRIPES_LEAST = 8
"""In a size: of three times a power of two units each, which are several stripes of most drives."""
SUSPECT = 0.05
"""Common log blocks that are merged now and then make few units much slower: ranks suspect it."""
SMALLEST_PAGE_BYTES, LARGEST_UNIT_BYTES = 2048, 128 << 10
"""No flash is written in less."""
ERASE_NS, MERGE_NS = 1_000_000, 6_000_000
"""What erasing a block takes at least, and copying one: of 32 pages of 200 microseconds, which a
plane programs one after the other."""


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    return info.capacity_bytes


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the unit, the phase if there is a unit, and the RMW unit, known before or not."""
    known = bench.known.get(RMW_UNIT)
    told = set()
    for finding in _answers(bench):
        told.add(finding.name)
        yield finding
    if RMW_UNIT not in told and isinstance(known, Detected | Absent):
        yield replace(known, probe=NAME)
    elif RMW_UNIT not in told:
        yield Undetectable(name=RMW_UNIT, probe=NAME, reason=Reason.EFFECT_BELOW_NOISE)


def _answers(bench: Bench) -> Iterator[Finding]:
    begun = bench.bytes_written
    stream: Stream | None = None
    unclear: Reason | None = None
    notes = Notes()
    refuted = 0
    for found in repeating(bench):
        stream = found.stream
        if found.period is None or found.size_bytes == refuted:
            notes = notes if notes.figures else _notes(stream, None)
            unclear = unclear if found.clear else Reason.MODEL_MISFIT
            continue
        notes = _notes(stream, found)
        told = _of_period(bench, found, begun, notes)
        if isinstance(told, list):
            yield from told
            return
        unclear, refuted = told or unclear, found.size_bytes
    if stream is not None and unclear is None and unit_is_known(bench):
        yield from _none(bench, stream, notes)
        return
    if stream is not None and unclear is None:
        unclear = Reason.EFFECT_BELOW_NOISE  # A log block that is full too soon hides all others.
    if unclear is Reason.MODEL_MISFIT:
        notes.detail = "slow writes return after several distances, and none explains all"
    why, evidence = unclear or Reason.RANGE_TOO_SMALL, notes.evidence()
    for name in (UNIT, PHASE):
        yield Undetectable(name=name, probe=NAME, reason=why, evidence=evidence)


def _of_period(
    bench: Bench, found: Repeating, begun_bytes: int, notes: Notes
) -> list[Finding] | Reason | None:
    """Answer if a period is a merge unit; else why it may be one, or None if it is not.

    What tells it goes into the evidence. When the probe began, so much had been written.
    """
    one, begins = merge_begins.of_one(bench, found)
    if begins is not None and begins.alone:
        notes.join(_notes(one.stream, one))
        notes.figures["begins_slower"] = begins.contrast
        known = unit_is_known(bench)
        first = (None, None) if known else merge_begins.first_unit(bench, one, begins)
        return list(_detected(bench, one, begins.contrast, notes, first))
    pairs = merge_pairs.measure(bench, found)
    if pairs is not None:
        notes.figures["across_slower"] = pairs.contrast
        known = unit_is_known(bench)
        first = (None, None) if known else merge_pairs.first_unit(bench, found, pairs)
        return list(_detected(bench, found, pairs.contrast, notes, first))
    left = int(bench.info.capacity_bytes * RUNS_SHARE) - (bench.bytes_written - begun_bytes)
    collapse = _collapse(bench, found, left)
    if collapse is None:
        return Reason.RANGE_TOO_SMALL
    collapse.note(notes)
    if _may_be_rmw_unit(bench, found) or collapse.halves:
        return Reason.EFFECT_BELOW_NOISE
    if collapse.sure and (collapse.merges or not _is_zone(bench, found)):
        return list(_detected(bench, found, collapse.contrast, notes))
    waits = begins is not None and begins.wait_at_all(collapse.apart.first_ns)
    half_collapses = collapse.contrast >= merge_runs.COLLAPSES / 2
    if half_collapses or waits or _suspect(bench, found, collapse):
        return Reason.EFFECT_BELOW_NOISE
    return None


def _detected(
    bench: Bench,
    found: Repeating,
    effect: float,
    notes: Notes,
    first: tuple[int | None, int | None] = (None, None),
) -> Iterator[Finding]:
    """Answer; also the RMW unit and its phase, if merge units were seen to begin with one."""
    common: dict[str, Any] = {"probe": NAME, "evidence": notes.evidence()}
    told = common | {"effect": effect, "interval": None}
    yield Detected(name=UNIT, value=found.size_bytes, **told)
    if unit_is_known(bench):  # Less than an RMW unit does not show in whole merge units.
        yield Detected(name=PHASE, value=found.stream.phase_bytes, **told)
        return
    phase, unit = first
    if phase is None:
        yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)
    else:
        yield Detected(name=PHASE, value=phase, **told)
    if unit is None:
        return
    if unit > bench.info.logical_block_bytes:
        yield Detected(name=RMW_UNIT, value=unit, **told)
    elif unit >= SMALLEST_PAGE_BYTES:
        why = "a merge unit consists of single blocks"
        yield Absent(name=RMW_UNIT, bound=float(unit), reason=why, **common)


def _collapse(bench: Bench, found: Repeating, left_bytes: int) -> merge_runs.Collapse | None:
    """Write units of a size aligned, and across two; None if there are too few."""
    size, stream = found.size_bytes, found.stream
    apart = merge_runs.far_apart(bench, stream.unit_bytes, -stream.phase_bytes)
    half = _half_bytes(size, stream.unit_bytes)
    # Runs across two take two log blocks each.
    layouts = [
        merge_runs.Layout(size, stream.unit_bytes, shift - stream.phase_bytes, before)
        for shift, before in ((0, apart.logs), (half, apart.logs // 2))
    ]
    left = left_bytes // (2 * size)
    collapse, none = None, merge_runs.Runs(np.empty(0), np.empty(0, bool))
    aligned, across = none, none
    for look in range(RUNS_LOOKS):
        runs = min(layouts[0].runs, left, layouts[0].slots(bench.info))
        if runs < LEAST_RUNS:
            break
        left -= runs
        more = [merge_runs.run_times(bench, each, runs, look) for each in layouts]
        aligned, across = aligned.followed_by(more[0]), across.followed_by(more[1])
        if min(aligned.ns.size, across.ns.size) < 2:
            continue
        p_value = merge_runs.by_chance(across.ns, aligned.ns)
        collapse = merge_runs.Collapse(size, aligned, across, p_value, apart)
        if p_value <= merge_runs.BY_CHANCE or collapse.contrast < merge_runs.COLLAPSES / 2:
            break
    return collapse


def _half_bytes(size: int, unit: int) -> int:
    """Give about half of a size, in whole stripes: requests from there on reach dies alike.

    These are stripes of a power of two units, and of three times as many as half of one.
    """
    most = size // unit // STRIPES_LEAST
    stripe = 3 << most.bit_length() - 1 if most >= 3 else max(most, 1)
    return round(size / 2 / (stripe * unit)) * stripe * unit


def _is_zone(bench: Bench, found: Repeating) -> bool:
    """Whether that may be loading the mapping table, which times of writes must then refute."""
    zone = bench.found("map_zone_bytes")
    return zone is not None and abs(float(zone) - found.size_bytes) <= found.stream.unit_bytes


def _may_be_rmw_unit(bench: Bench, found: Repeating) -> bool:
    """Whether RMW units may be that large, of which runs across two write twice as many."""
    unit = bench.known.get(RMW_UNIT)
    if isinstance(unit, Ambiguous):
        return found.size_bytes in unit.candidates
    return isinstance(unit, Undetectable) and found.size_bytes <= LARGEST_UNIT_BYTES


def _suspect(bench: Bench, found: Repeating, collapse: merge_runs.Collapse) -> bool:
    """Whether units across two may be merged now and then: two zones of a table are loaded, too."""
    return collapse.p_value <= SUSPECT and (collapse.merges or not _is_zone(bench, found))


def _none(bench: Bench, stream: Stream, notes: Notes) -> Iterator[Finding]:
    """Say that nothing is merged, if an erase would have shown and no scattered write is slow."""
    spread = float(np.subtract(*np.nanpercentile(stream.latency_ns, [75, 25])))
    singles = merge_runs.far_apart(bench, stream.unit_bytes, -stream.phase_bytes)
    apart, in_order_ns = singles.slower, float(np.nanmedian(stream.latency_ns))
    runs, longer_ns = _short_runs(bench, stream)
    notes.figures |= {"spread_ns": spread, "short_runs": runs, "far_apart": apart}
    common: dict[str, Any] = {"probe": NAME, "evidence": notes.evidence()}
    told = not write_through.too_fast(stream.known_ns()) and spread < ERASE_NS
    # First ones that take longer than the last wait for merges that were due before.
    alike = 1 / merge_runs.MERGES < 1 + apart < merge_runs.MERGES
    # Or all of them wait, but for the first few, as there are only so few log blocks.
    alike &= singles.first_ns - in_order_ns < MERGE_NS
    loads = longer_ns < MERGE_NS and bench.found("map_cache_bytes") is not None
    if told and (runs < merge_runs.COLLAPSES or loads) and alike:
        why = "neither shifted units nor short runs nor writes far apart are slower than others"
        yield Absent(name=UNIT, bound=max(runs, 0.0), reason=why, **common)
    else:
        yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)
    common["evidence"] = common["evidence"].saying("no unit was found that begins anywhere")
    yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _short_runs(bench: Bench, stream: Stream) -> tuple[float, float]:
    """How much longer short runs at random places take than the same bytes in order.

    As a share, and in nanoseconds.
    """
    rng = bench.rng(f"{NAME} short")
    unit = stream.unit_bytes
    length = max(merge_runs.RUN_BYTES // unit, 4)
    slots = bench.info.capacity_bytes // (length * unit) - 1
    count = min(4 * merge_runs.RUNS, slots, bench.info.capacity_bytes // 8 // (length * unit))
    first = rng.permutation(slots)[:count] * length + 1 + length // 3
    merge_runs.renew(bench)
    places = (first[:, None] + np.arange(length)) * unit - stream.phase_bytes
    with write_through.writing(bench) as writer:
        latency = merge_runs.undisturbed(writer, places.ravel(), unit).reshape(places.shape)
    in_order = stream.latency_ns[: stream.latency_ns.size // length * length]
    usual = np.nanmedian(in_order.reshape(-1, length).mean(axis=1))
    slower = float(_typical_run_ns(latency[count // 2 :]) / usual - 1)
    return slower, slower * float(usual) * length


def _typical_run_ns(latency: NDArray[np.float64]) -> float:
    """Give the mean of a typical run, shape (runs, writes), where others did not disturb all."""
    known = latency[~np.isnan(latency).all(axis=1)]
    return float(np.nanmedian(np.nanmean(known, axis=1)))


def _notes(stream: Stream, found: Repeating | None) -> Notes:
    notes = Notes(
        {
            "written_in_order": int(stream.latency_ns.size),
            "step_bytes": stream.unit_bytes,
            "median_latency_ns": float(np.nanmedian(stream.latency_ns)),
        }
    )
    period = None if found is None else found.period
    if found is None or period is None:
        return notes
    on = stream.ranks()[period.units :: period.units]
    folded = np.concatenate([[np.nan], stream.latency_ns])
    folded = folded[: folded.size // period.units * period.units].reshape(-1, period.units)
    medians = np.nanmedian(folded[1:], axis=0)
    places = np.arange(period.units) * stream.unit_bytes
    exhibit = Exhibit(
        name="in-order-folded",
        title="Latency of a write in order, folded at the merge unit",
        caption="The first write of a unit waits until the unit before is erased.",
        x=Axis("offset within a merge unit", "bytes"),
        y=Axis("median latency", "ns"),
        series=(series("in order", places, medians, "steps"),),
        fitted=(Period(period=float(found.size_bytes), word="unit begins"),),
    )
    notes.show(exhibit)
    notes.figures |= {
        "periods": int(on.size),
        "mean_rank": period.height,
        "standard_errors": period.sure,
    }
    return notes


PROBE = ProbeInfo(
    name=NAME,
    summary="span that is merged at once, on drives with log blocks",
    weight="standard",
    properties=(UNIT, PHASE, RMW_UNIT),
    cost="up to the capacity written, mostly in order",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.FILLED,
)
