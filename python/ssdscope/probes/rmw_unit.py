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
writing it whole (`inner_units`). The unit must divide what both halves name. More data are taken,
twice at most, until the halves agree, or see none and places hardly differ. Where a buffer that
stays on hides what a write takes, reads may, or how fast small writes go on (`hidden_unit`).

Assumptions. Writes reach the flash before they are acknowledged (`write_through`); there is no
unit only where that is sure. Units are at most 128 KiB, and 1, 3, 5, 7, 9 or 15 times a power of
two blocks.

Cost. 16,384 writes, up to four times as many; at most nine tenths of the capacity. Half as many
at first on a drive of which they would write half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes import hidden_unit, inner_units, shifted_writes, write_through
from ssdscope.probes.bench import Stopped
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.shifted_writes import Samples
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "rmw_unit"
UNIT, PHASE = "rmw_unit_bytes", "alignment_phase_bytes"

LARGEST_UNIT_BYTES = 128 << 10
FIRST_WRITES = 8192
"""Of each depth, in the first look; the second look doubles, and so does the third."""
LOOKS = 3
TOLERANCE = 0.2
"""Log blocks repeat at distances far above a unit, which adds to what its multiples explain."""
LEAST_SHARE = 0.015
"""Of the variance, for a period to be one: what explains less is there, but is no unit."""
SMALLEST_PAGE_BYTES = 2048
"""No flash is written in less: a unit of one smaller block is a unit that was not seen."""
SIDE_BY_SIDE, SERIAL_GAIN = 1.05, 1.3
"""More gets done at once. Where commands are served one by one units can be written side by
side and never show, so that there is no saying that there is none."""
QUEUED = 2.0
"""Depth of reading that still gains, above which a drive surely takes several commands; reads that
only overlap with their answers gain up to 1.6."""
LEAST_FIT = 0.4
"""Correlation of the folded latency with the number of units that a write touches. Below, and at
the largest candidate, the period is something else's: of merges, or a divisor of it."""
AS_WELL = 0.85
"""Of how well the first blocks of units fit, which boundaries must fit."""
HOPELESS = 0.2
"""Probability by chance above which, in both halves, more data are not asked for."""
MOST_PLACES, NO_EFFECT = 16, 0.03
"""Share of the latency by which no place that is slow in one half of the data may be slower in the
other, of periods of so many, where none is said to be."""


@dataclass(frozen=True)
class _Answer:
    """What one half of the data says, in logical blocks; None where it says nothing."""

    scan: stats.PeriodScan
    unit: int | None
    boundary: int | None


def candidates_blocks(info: DeviceInfo) -> NDArray[np.int64]:
    """Give the units that are looked for, in logical blocks."""
    largest = LARGEST_UNIT_BYTES // info.logical_block_bytes
    odd = np.array([1, 3, 5, 7, 9, 15])
    every = np.unique(odd[:, None] << np.arange(int(largest).bit_length())[None, :])
    return every[(every >= 2) & (every <= largest)]


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
    halves: list[_Answer] = []
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
        halves = [_answer(half, candidates) for half in _halves(samples)]
        bench.progress("units of writing", (look + 1) / LOOKS)
        if _agreed(halves) or _hopeless(bench.info, samples, halves):
            break
    period = _common(halves) if halves else None
    inner = None if period is None else _inner(bench, samples, period)
    if inner is not None and (inner == candidates[-1] or not _straddles(samples, inner)):
        inner = None
    yield from _findings(bench.info, samples, halves, inner, waits=waits, forced=forced)


def _inner(bench: Bench, samples: Samples, unit: int) -> int | None:
    """Give the unit that the period consists of, if it is clear."""
    _renew(bench)
    with write_through.writing(bench) as writer:
        write_ns = float(np.median(samples.latency_ns)) / 2
        boundary, _ = _boundary(samples, samples.ranks(), unit)
        serial = _gain(samples) < SERIAL_GAIN
        queued = float(bench.found("queue_depth_knee") or 1) > QUEUED
        period = inner_units.Period(unit, boundary, write_ns, serial, queued)
        return inner_units.innermost(writer, period)


def _renew(bench: Bench) -> None:
    """Return to the filled drive, where that costs nothing: collection would only blur."""
    bench.renew(State.FILLED)


def _hopeless(info: DeviceInfo, samples: Samples, halves: list[_Answer]) -> bool:
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


def _common(halves: list[_Answer]) -> int | None:
    """Give the period of which both halves see all or a whole part, as of several units."""
    units = sorted(each.unit or 0 for each in halves)
    return units[1] if units[0] and not units[1] % units[0] else None


def _agreed(halves: list[_Answer]) -> bool:
    first, second = halves
    return first.unit is not None and (first.unit, first.boundary) == (second.unit, second.boundary)


def _answer(samples: Samples, candidates: NDArray[np.int64]) -> _Answer:
    """Find period and phase of one half."""
    values, strata = samples.ranks(), samples.strata
    scan = stats.scan_periods(
        samples.place, values, candidates, strata=strata, permutations=99, tolerance=TOLERANCE
    )
    if scan.period is None or scan.explained.max() < LEAST_SHARE:
        return _Answer(scan, None, None)
    unit = scan.period
    boundary, fit = _boundary(samples, values, unit)
    if fit < LEAST_FIT:
        return _Answer(scan, None, None)
    return _Answer(scan, unit, boundary)


def _boundary(samples: Samples, values: NDArray[Any], unit: int) -> tuple[int, float]:
    """Find the place within a unit, in blocks, at which units begin, and how well it fits.

    What fits is the number of units that a write touches, place by place; as a correlation.
    """
    match, best_of_each = _match(samples, values, unit, straddling=True)
    best = int(np.argmax(match))
    return best, float(best_of_each[best])


def _match(
    samples: Samples, values: NDArray[Any], unit: int, *, straddling: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Correlate places with how many boundaries a write straddles, or first blocks it contains.

    Returns
    -------
    tuple of ndarray, shape (unit,)
        By the place of the boundary: over all sizes and depths, and of the best of them.
    """
    match, best, weight = np.zeros(unit), np.zeros(unit), 0
    for number in np.unique(samples.strata):
        there = samples.strata == number
        size = int(samples.size[there][0])
        profile, counts = stats.folded_profile(samples.place[there], values[there], unit)
        # One first block more than boundaries is in writes that begin with it.
        reach = np.arange(unit) + size if straddling else np.arange(-1, unit - 1) % unit + size + 1
        touched = -(-reach // unit)
        if touched.min() < touched.max():
            fits = stats.shift_match(profile, touched)
            match += fits * counts.sum()
            best = np.maximum(best, fits)
            weight += int(counts.sum())
    return match / max(weight, 1), best


def _straddles(samples: Samples, unit: int) -> bool:
    """Whether what costs is to straddle a boundary, and not to write the first block of something.

    A firmware may keep a log block for streams, and merge it for any write to a unit's beginning.
    """
    values = samples.ranks()
    straddling, containing = (
        float(_match(samples, values, unit, straddling=each)[0].max()) for each in (True, False)
    )
    return straddling >= AS_WELL * containing


def _findings(
    info: DeviceInfo,
    samples: Samples,
    halves: list[_Answer],
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
        yield Ambiguous(name=UNIT, candidates=_parts(unit, block), reason=why, **common)
        yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)
        return
    effect = shifted_writes.effect(samples, unit, max(shifted_writes.DEPTHS))
    unit = inner
    phase = -(first.boundary or 0) % unit * block
    yield Detected(name=UNIT, value=unit * block, interval=None, effect=effect, **common)
    yield Detected(name=PHASE, value=phase, interval=None, effect=effect, **common)


def _parts(unit: int, block: int) -> tuple[float, ...]:
    """Give all units of more than a block that a period may consist of, in bytes."""
    parts = (part for part in range(1, unit // 2 + 1) if unit % part == 0)
    return tuple(float(unit // part * block) for part in parts)


def _nothing_found(
    info: DeviceInfo,
    samples: Samples,
    halves: list[_Answer],
    common: dict[str, Any],
    *,
    waits: bool,
) -> Iterator[Finding]:
    """Say that there is no unit above a block, if none could have been missed."""
    block, quiet = info.logical_block_bytes, _differ(info, samples) < NO_EFFECT
    quiet &= all(each.scan.explained.max() < LEAST_SHARE for each in halves)
    seen = not write_through.too_fast(samples.latency_ns) and block >= SMALLEST_PAGE_BYTES
    if quiet and seen and waits and _gain(samples) > SIDE_BY_SIDE:
        why = "no place costs a write more than any other"
        yield Absent(name=UNIT, bound=float(block), reason=why, **common)
    else:
        yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)
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


def _evidence(info: DeviceInfo, samples: Samples, halves: list[_Answer]) -> dict[str, Any]:
    """Gather the scan of both halves and, of a unit found, the folded profile."""
    block = info.logical_block_bytes
    scan = halves[0].scan
    evidence: dict[str, Any] = {
        "write_sizes_bytes": [size * block for size in shifted_writes.sizes_blocks(info)],
        "depths": list(shifted_writes.DEPTHS),
        "candidates_bytes": (scan.periods * block).tolist(),
        "explained_share": [each.scan.explained.tolist() for each in halves],
        "explained_by_chance": [each.scan.by_chance for each in halves],
        "p_value": [each.scan.p_value for each in halves],
        "median_latency_ns": float(np.median(samples.latency_ns)),
    }
    unit = halves[0].unit
    if unit is not None and _agreed(halves):
        evidence["picture"] = shifted_writes.picture(
            samples, unit, halves[0].boundary or 0, block
        ).to_json()
    return evidence


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
