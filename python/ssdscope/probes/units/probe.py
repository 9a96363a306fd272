"""The family `units`: which span a small write rewrites, and where such spans begin.

Physics. A drive that maps units of U bytes writes every unit that a request touches. A request that
lies across a boundary touches one more; and a unit that is not written whole must be read before.
(ryu2009, figure 6, and kuo2009, table 4, look for the same; PROBING.md 1.1 and 1.6 say why they can
fail.)

Plan. Writes of two sizes at two depths, at random places. What they take repeats with the number of
boundaries that they lie across, and with nothing else: of all lengths and beginnings the likeliest
is the unit (engine `period`, `scan`). Then writes that begin with a unit, of one block less, of all
of it, and around all of its parts, tell it from rows, chunks and parts (`unit_rivals`; engine
`contrast`, `signed`).

Where a buffer that is protected against power loss stays on, no write waits for the flash, and
filling a large drive takes long: there rates tell, of writes at depth behind a full buffer
(`rates`).

What it cannot tell. Units above 512 KiB, or that take so long to program that reading one is lost
in the noise; by rates, units of 64 KiB and more, or of 5, 7 and more times a power of two blocks.

Cost. 8,192 to 32,768 writes of a few KiB, and a few thousand of a unit; at most nine tenths of the
capacity.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Period, Reason, series
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.period import scan
from ssdscope.inference.series import Rival, Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.units.plans import (
    KINDS,
    LOOKS,
    PAGE_STEPS,
    all_looks,
    lengths_blocks,
    lengths_plan,
    shifted_plans,
    sizes_blocks,
)
from ssdscope.probes.units.rivals import parts_are_clear, several_at_once, with_wholes
from ssdscope.probes.units.settled import Settled
from ssdscope.probes.verdict import absent, detected, refused, weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.targets.records import DeviceInfo

NAME = "units"
UNIT, PHASE = "rmw_unit_bytes", "alignment_phase_bytes"

KIB = 1024
LARGE_BYTES = 1 << 35
"""Of capacity: there rates, which need a part of the drive, come first."""
UNKNOWN_BYTES = 32 << 20
"""What a buffer is taken to hold whose size is not known."""
TYPICAL_BYTES = 64 * KIB
"""Units up to which places must be alike, for there to be none."""


def plans(info: DeviceInfo) -> list[Plan]:
    """Declare the most that is written."""
    largest = int(lengths_blocks(info).max(initial=2))
    both = [
        lengths_plan(info, largest, 0, (1, largest - 1, largest, largest + 1), look)
        for look in range(2)
    ]
    single, rates = [*shifted_plans(info), *both], Settled(held_bytes=UNKNOWN_BYTES)
    if info.capacity_bytes >= LARGE_BYTES:
        return [*single, rates]
    # Of smaller drives rates are asked only where the first single write is refused.
    more = rates.writes_bytes(info) > sum(each.writes_bytes(info) for each in single)
    return [*single[:1], rates] if more else list(single)


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer unit and phase: by rates first where filling the drive takes long."""
    if ask.info.capacity_bytes >= LARGE_BYTES and (found := _by_rates(ask)):
        yield from found
        return
    try:
        yield from _by_single_writes(ask)
    except Stopped as stop:
        protected = stop.reason is Reason.PLP_NO_FLUSH_EFFECT
        found = _by_rates(ask) if protected and ask.info.capacity_bytes < LARGE_BYTES else []
        if not found:
            raise
        yield from found


def _by_rates(ask: Ask) -> list[Finding]:
    """Answer by rates behind a full buffer; nothing where these do not tell."""
    ask.progress("rates at depth", 0.0)
    usual = min(UNKNOWN_BYTES, ask.info.capacity_bytes // 512)
    plan = Settled(held_bytes=int(ask.about("write_buffer_bytes") or usual))
    try:
        found = plan.decided(ask.info, ask.take(plan))
    except Stopped:
        return []
    block = ask.info.logical_block_bytes
    if not found.bound:
        why = "two blocks take twice as long as one, however they lie"
        nothing_found = absent(UNIT, float(block), Evidence(), probe=NAME, reason=why)
        return [nothing_found, _no_phase(Evidence())]
    if found.estimate is None:
        return []
    figures = {"across_over_within": 1 + found.effect}
    said = "writes at depth, behind a full buffer, at the end of a unit and within it"
    return list(_findings(ask.info, found, "contrast", Evidence(figures=figures, detail=said)))


def _by_single_writes(ask: Ask) -> Iterator[Finding]:
    """Answer by what single writes take."""
    info = ask.info
    looks = shifted_plans(info)
    if not looks or not lengths_blocks(info).size:
        for name in (UNIT, PHASE):
            yield refused(name, Reason.RANGE_TOO_SMALL, Evidence(), probe=NAME)
        return
    parts: list[Series] = []
    for look, plan in enumerate(looks):
        parts.append(ask.take(plan))
        taken = all_looks(parts)
        found = _scanned(info, taken)
        ask.progress("units of writing", (look + 1) / (LOOKS + 2))
        if _seen(found) and parts_are_clear(info, taken, found):
            break
    evidence = _evidence(info, taken, found)
    if _seen(found):
        found = with_wholes(ask, taken, found)
    # What hardly costs anything is there all the same, and says which blocks lie together.
    elif not verdict.is_found(found, "scan") and _nothing(info, taken):
        why = "no place costs a write more than any other"
        yield absent(UNIT, info.logical_block_bytes, evidence, probe=NAME, reason=why)
        yield _no_phase(evidence)
        return
    yield from _findings(info, found, "scan", evidence)


def _nothing(info: DeviceInfo, samples: Series) -> bool:
    """Say whether no unit of several blocks could hide where several writes are at work at once."""
    kept = samples.kept()
    deep = kept.where(kept.stratum % KINDS > 1)
    small = lengths_blocks(info)
    small = small[small * info.logical_block_bytes <= TYPICAL_BYTES]
    if info.logical_block_bytes < PAGE_STEPS[0][0] or not several_at_once(kept) or not small.size:
        return False
    kinds = np.unique(deep.stratum)
    found = scan(deep, small, lambda length: _touched(info, kinds, length))
    return found.bound <= LEAST_EFFECT


def _touched(info: DeviceInfo, kinds: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Give how many units a write touches, by its place in one: a row for each stratum."""
    sizes = np.array(sizes_blocks(info))[kinds % 2]
    return np.asarray(-(-(np.arange(length) + sizes[:, None]) // length))


def _scanned(info: DeviceInfo, samples: Series) -> Weighed:
    """Find unit and beginning by what writes at random places take."""
    kinds = np.unique(samples.kept().stratum)
    found = scan(samples, lengths_blocks(info), lambda length: _touched(info, kinds, length))
    begin = Rival("another beginning", found.detail.get("begin_margin", 0.0))
    # What depth must show is not bounded by writes one by one (`_nothing`).
    return replace(found, bound=math.inf).against([begin])


def _seen(found: Weighed) -> bool:
    return verdict.is_sure(found, "scan") and found.effect >= LEAST_EFFECT


def _findings(
    info: DeviceInfo, found: Weighed, engine: str, evidence: Evidence
) -> Iterator[Finding]:
    """Answer, in bytes."""
    block = info.logical_block_bytes
    rivals = [
        replace(each, estimate=None if each.estimate is None else each.estimate * block)
        for each in found.rivals
    ]
    unit = None if found.estimate is None else found.estimate * block
    told = weighed(
        UNIT, replace(found, estimate=unit, rivals=tuple(rivals)), engine, evidence, probe=NAME
    )
    yield told
    if told.outcome != "detected" or unit is None:
        yield _no_phase(evidence)
        return
    phase = -found.detail["begin"] * block % unit
    yield detected(PHASE, phase, None, found.effect, evidence, probe=NAME)


def _no_phase(evidence: Evidence) -> Finding:
    said = evidence.saying("no unit was found that begins anywhere")
    return refused(PHASE, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)


def _evidence(info: DeviceInfo, samples: Series, found: Weighed) -> Evidence:
    """Show what a write takes by its place in the unit, at the greater depth."""
    block, kept = info.logical_block_bytes, samples.kept()
    evidence = Evidence(
        figures={
            "write_sizes_bytes": [size * block for size in sizes_blocks(info)],
            "writes": len(kept),
            "log_likelihood": found.detail.get("gained", 0.0),
            "median_latency_ns": float(np.median(kept.y)),
        }
    )
    if found.estimate is None or not verdict.is_found(found, "scan"):
        return evidence
    unit = int(found.estimate)
    lines = []
    for kind, size in ((2, sizes_blocks(info)[0]), (3, sizes_blocks(info)[1])):
        there = kept.stratum % KINDS == kind
        places = kept.x[there].astype(np.int64) % unit
        at = np.unique(places)
        medians = [float(np.median(kept.y[there][places == each])) for each in at]
        x = np.concatenate([at, at + unit]) * block
        lines.append(series(f"{size * block} bytes", x, medians + medians, "steps"))
    begins = Period(period=unit * block, phase=found.detail["begin"] * block, word="unit begins")
    return evidence.showing(
        Exhibit(
            name="write-folded",
            title="Latency of a write, folded",
            caption="A write that lies across a boundary rewrites one unit more.",
            x=Axis("offset within two units", "bytes"),
            y=Axis("median latency", "ns"),
            series=tuple(lines),
            fitted=(begins,),
        )
    )


PROBE = ProbeInfo(
    name=NAME,
    summary="span that a small write rewrites, and where spans begin",
    weight="standard",
    properties=(UNIT, PHASE),
    cost="8,000 to 33,000 writes of a few KiB, and some thousand of a unit",
    detect=detect,
    plans=plans,
    needs=("write_buffer_bytes",),
)
