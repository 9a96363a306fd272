"""How much a write buffer takes before writes wait for flash, and in what units.

Physics. A write buffer acknowledges writes until it is full; then one enters for what has left.
What is in it is read in the time of the link, what has left in that of flash. Room is taken in
whole units: writes far apart take one each, and what lies in one unit shares it.

Plans. *Fill*: bursts of blocks far apart, into the emptied buffer, ever longer and closer, until
all runs wait at one and the same write (`locked`). Just before it the buffer is full.
*Spread*: such bursts at several distances, of which blocks are read back: the share that is in
memory times their number is what is held, whatever left before, in whatever order
(`extent`). It is the same at all distances above a unit, and the more the closer below.
*Pairs*: two blocks at the ends of a unit take the room of one, two on both sides of its end that
of two, and both only if the unit is exactly that long (`contrast`). *Held*: the size, in units.

What it cannot tell. Buffers that drain as fast as they fill at any depth, or read like flash, if
they hold more than one write brings while a page is programmed; units that are no 1 or 3 times a
power of two blocks; more than 16,384 units. Where flash reads take milliseconds there is none, but
a disk.

Cost: a few thousand blocks written and read, some hundred flushes. Source: kuo2009, table 5.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Period,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.buffer.burst_plans import Deep
from ssdscope.probes.buffer.deep import by_bursts
from ssdscope.probes.buffer.locked import locked
from ssdscope.probes.buffer.long_writes import by_long_writes, lengths_of_units
from ssdscope.probes.buffer.plans import (
    FINEST,
    FLUSHES,
    GAPS,
    HOW,
    LARGE_BYTES,
    MORE,
    MOST_WRITES,
    READS,
    WAITS,
    WIDEST,
    Fill,
    Held,
    Pairs,
    Spread,
    Stretches,
    Told,
)
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.verdict import absent, detected, refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdscope.targets.records import DeviceInfo

NAME = "buffer"
SIZE, UNIT = "write_buffer_bytes", "write_buffer_unit_bytes"
HELD = 0.75
"""Share of what was written last, that must be in a buffer that is full."""
LEFT = 0.01
"""Of what is held, that may leave while some is read."""
UNSURE = LEAST_EFFECT
"""Of what is held, that its interval may be wide before more is read."""
MOST_OF_TWO, MOST_OF_THREE = 3 / 2, 2
"""Times the room of one, that two take at most if a unit is another, and three blocks."""
MOST_BLOCKS = 4 * MOST_WRITES
"""Of a buffer whose units single blocks may count."""
CANDIDATES = 4
FEW_UNITS = 32
"""In so small a buffer the first block of a pair may have left before the second comes."""
EVERY = (2, 5, 7, 11, 25, 49, 101, 201, 401, 801)
"""Units from one that is written to the next: by no number that a wrong unit is likely to be off,
except the first, where there is no room."""
SOONEST = 1.6
"""Times what comes from memory takes what a chip still holds, at least: noise does so seldom."""
MOST_APART, MANY_READS, POINTS = 32, 128, 400
SLOWEST_FLASH_NS = 2e6
"""Reads that take longer wait for a disk to turn."""
ATA_REQUEST_BYTES = 128 * 1024
"""The most that a command with a 28-bit address carries."""


class _Filled:
    """What the first plan has shown."""

    def __init__(self, series: Series) -> None:
        self.waits, self.gaps, self.flushes, self.reads, how = (
            series.where(series.stratum == kind) for kind in (WAITS, GAPS, FLUSHES, READS, HOW)
        )
        (self.spacing, runs), self.depth = how.x.astype(int).tolist(), int(how.y[0])
        self.first = locked(self.waits, runs)
        self.full = int(self.first.estimate or 0)
        memory, flash = (self.reads.y[self.reads.x == each] for each in (0, 1))
        # Halfway between nine in ten of either; but a page that is still in a chip comes sooner.
        between = float(np.quantile(memory, 0.9) * np.quantile(flash, 0.1)) ** 0.5
        below = min(between, SOONEST * float(np.median(memory)))
        self.told = Told(
            round(below), float((memory < below).mean()), float((flash < below).mean())
        )
        self.flash_ns = float(flash.mean())
        self.pace_ns = float(self.gaps.y[self.full :].mean())

    def plan(self, held: float = 0.0) -> dict[str, Any]:
        """Give what the next plans have in common; so many reads that hardly anything leaves."""
        few = len(self.waits) / 64
        reads = 2 * LEFT * held * self.pace_ns / self.flash_ns if held else few
        return {
            "depth": self.depth,
            "least": round(held) or self.full,
            "reads": int(min(max(reads, 1), MANY_READS)),
        }

    def alike(self) -> bool:
        """Whether memory and flash read alike."""
        return not verdict.is_found(_apart(self.reads), "contrast")

    def stays(self, ask: Ask) -> bool:
        """Whether nothing surely empties it: a flush of a full one takes no longer than another."""
        found = _apart(self.flushes)
        flushed = verdict.is_found(found, "contrast") and (found.estimate or 0) > 1
        return ask.info.write_cache.control != "switchable" and not flushed


def _apart(pairs: Series) -> Weighed:
    """Hold the first half of the rows against the second, or odd ones against even ones."""
    order = np.lexsort((pairs.time_ns, pairs.x))
    half = len(pairs) // 2
    strata = np.empty(len(pairs), np.int64)
    strata[order] = np.arange(len(pairs)) % half
    return contrast(Series.of(pairs.x, pairs.y, stratum=strata))


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer size and unit."""
    block = ask.info.logical_block_bytes
    if ask.info.write_cache.control == "absent":
        said = "the drive says that it has no write cache"
        for name in (SIZE, UNIT):
            yield absent(name, float(block), Evidence(), probe=NAME, reason=said)
        return
    if ask.info.capacity_bytes >= LARGE_BYTES:
        size = by_bursts(ask).finding(SIZE, NAME)
        if isinstance(size, Detected) and float(size.value) >= MOST_BLOCKS * block:
            many = size.evidence.saying("single blocks do not fill so large a buffer")
            yield from (size, refused(UNIT, Reason.EFFECT_BELOW_NOISE, many, probe=NAME))
            return
    found = _answers(ask)
    ask.progress("deep bursts", 0.9)
    yield from _with_bursts(ask, found)


def _answers(ask: Ask) -> tuple[Finding, ...]:
    """Answer by single writes; what stops these does not stop bursts."""
    try:
        return tuple(_by_single_writes(ask))
    except Stopped as stop:
        return tuple(_neither(stop.reason, Evidence(detail=stop.detail or None)))


def _with_bursts(ask: Ask, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Tell the size by deep bursts where nothing else does; where both do, they must agree.

    Of the unit bursts say nothing.
    """
    try:
        burst = by_bursts(ask)
    except Stopped:
        return found
    if not any(isinstance(each, Detected) for each in found):
        size = burst.finding(SIZE, NAME)
        return (size, *found[1:]) if isinstance(size, Detected) else found
    alone = found[0]
    if isinstance(alone, Detected) and burst.contradicts(alone):
        said = f"single writes say {alone.value:,.0f} bytes, and bursts {burst.held.estimate:,.0f}"
        return tuple(_neither(Reason.MODEL_MISFIT, alone.evidence.saying(said)))
    return found


def _by_single_writes(ask: Ask) -> Iterator[Finding]:
    """Answer by bursts of single blocks, which count units."""
    rows = ask.take(Fill())
    if not len(rows):
        yield from _by_long_writes(ask, Evidence(detail="no write ever waits"))
        return
    filled = _Filled(rows)
    seen = Evidence(exhibits=(_burst(filled),))
    if filled.alike():
        alike = seen.saying("what is in memory reads like what is not")
        yield from _by_long_writes(ask, alike)
    elif np.median(filled.reads.y[filled.reads.x == 1]) > SLOWEST_FLASH_NS:
        yield from _neither(Reason.MODEL_MISFIT, seen.saying("no flash reads as slowly"))
    else:
        ask.progress("units", 0.3)
        try:
            yield from _counted(ask, filled, seen)
        except Stopped:
            if not filled.stays(ask):
                raise
            # However much more was written, it would not be told.
            yield from _neither(Reason.PLP_NO_FLUSH_EFFECT, seen)


def _counted(ask: Ask, filled: _Filled, seen: Evidence) -> Iterator[Finding]:
    block = ask.info.logical_block_bytes
    spread = ask.take(
        Spread(spacing=filled.spacing, below_ns=filled.told.below_ns, **filled.plan())
    )
    alone, likely = _units(spread, block)
    seen = Evidence(exhibits=(*seen.exhibits, _distances(spread, likely[0] if likely else None)))
    unit = _unit(ask, filled, alone, likely)
    ask.progress("size", 0.8)
    count = None if unit is None else _held(ask, filled, alone, unit)
    if count is not None and unit is not None:
        # Reads tell what it holds, whether or not anything empties it.
        yield from _told(count, unit, block, seen)
        return
    taken = f"it takes {alone:.3g} writes, but in what units is not certain"
    said = seen.saying(taken if alone >= 1 else "single blocks leave it as fast as they come")
    if filled.stays(ask):
        yield from _neither(Reason.PLP_NO_FLUSH_EFFECT, said)
    else:
        yield from _by_long_writes(ask, said)


def _by_long_writes(ask: Ask, seen: Evidence) -> Iterator[Finding]:
    """Try what single blocks do not fill; where that tells nothing, either, say what was seen."""
    ask.progress("long writes", 0.9)
    found = by_long_writes(ask)
    if found is None:
        yield from _neither(Reason.EFFECT_BELOW_NOISE, seen)
    else:
        yield from _told(*found, ask.info.logical_block_bytes, Evidence())


def _told(count: Weighed, unit: int, block: int, seen: Evidence) -> Iterator[Finding]:
    low, high = (each * unit for each in count.interval or (0.0, 0.0))
    if low <= ATA_REQUEST_BYTES <= high:
        seen = Evidence(exhibits=seen.exhibits, cautions=(ATA_CAUTION,))
    value = (count.estimate or 0.0) * unit
    size = detected(SIZE, value, (low, high), count.effect, seen, probe=NAME)
    yield size
    if isinstance(size, Undetectable):
        yield refused(UNIT, size.reason, seen, probe=NAME)
    elif unit <= block:
        said = "room is taken by single logical blocks"
        yield absent(UNIT, float(block), seen, probe=NAME, reason=said)
    else:
        yield detected(UNIT, unit, None, 1.0, seen, probe=NAME)


ATA_CAUTION = (
    "equals the ATA request limit of 128 KiB: here several writes filled it, elsewhere "
    "a single growing write shows the limit"
)


def _units(spread: Series, block: int) -> tuple[float, list[int]]:
    """Give how many are held of writes in units of their own, and how long these may be.

    Of distances below a unit the longest tells it best: the nearest two of 1 and 3 times a power of
    two blocks may be.
    """
    kept = spread.kept()
    order = np.argsort(kept.x)
    places, counts = kept.x[order], kept.y[order]
    if not counts.size:
        return 0.0, []
    alone, several = float(counts[-1]), lengths_of_units(block)
    shared = np.flatnonzero(counts > MORE * alone)
    if not shared.size:
        # Closer ones may not have filled it: then it may be any up to where one filled a unit.
        below = [each for each in several if block < each <= places[0]]
        return alone, [block, *sorted(below, reverse=True)[:CANDIDATES]]
    near = shared[-1]
    about = float(places[near] * counts[near] / alone)
    # No more are held than there is room for, but fewer may be: it is hardly any shorter.
    fitting = (each for each in several if each * MORE >= about)
    return alone, sorted(fitting, key=lambda each: abs(math.log(each / about)))[:2]


def _pairs(ask: Ask, filled: _Filled, alone: float, unit: int) -> Series:
    """Take pairs in every so manieth unit: by no number that a wrong unit is likely to be off."""
    room = ask.info.capacity_bytes / (unit * (2 * alone + 8))
    wide = (each for each in EVERY if each <= room and each * unit <= 2 * WIDEST)
    apart = max(wide, default=EVERY[0])
    plan = Pairs(
        unit=unit,
        spacing=apart * unit,
        alone=round(alone, 1),
        below_ns=filled.told.below_ns,
        **filled.plan(alone),
    )
    return ask.take(plan)


def _unit(ask: Ask, filled: _Filled, alone: float, likely: Sequence[int]) -> int | None:
    """Give the unit that is certain."""
    block = ask.info.logical_block_bytes
    for unit in likely:
        if _exact(_pairs(ask, filled, alone, unit), unit, block):
            return unit
    if not likely or alone > FEW_UNITS:
        return None
    plan = Stretches(
        spacing=2 * WIDEST if ask.info.capacity_bytes > 4 * alone * WIDEST else WIDEST,
        alone=round(alone, 1), below_ns=filled.told.below_ns, **filled.plan(alone),
    )  # fmt: skip
    rows = ask.take(plan)
    unit = int(rows.y[-1]) if len(rows) else 0
    return unit if unit > block and _exact(rows, unit, block) else None


def _exact(rows: Series, unit: int, block: int) -> bool:
    """Say whether a unit is just so long: what takes two takes twice the room of what takes one.

    Of any other unit it takes half as much more at most; three single blocks twice as much.
    """
    found = contrast(rows.where(rows.x >= 0))
    most = MOST_OF_TWO if unit > block else MOST_OF_THREE
    return found.interval is not None and found.interval[0] > most


def _held(ask: Ask, filled: _Filled, alone: float, unit: int) -> Weighed | None:
    """Count units by writes scattered over all of the drive, which may be an array of several."""
    room = ask.info.capacity_bytes / (unit * (2 * alone + 8))
    apart = 2 ** int(math.log2(min(max(room, 1), MOST_APART)))
    ways = {"spacing": apart * unit, "scatter": (apart - 1) * unit}, {"spacing": filled.spacing}
    plans = (Held(**way, **filled.plan(alone)) for way in ways if way["spacing"] >= unit)
    taken = ((plan, ask.take(plan)) for plan in plans)
    plan, rows = next(((plan, rows) for plan, rows in taken if len(rows)), (None, None))
    if plan is None or rows is None:
        return None
    found = filled.told.count(rows)
    cells = min(FINEST, plan.affordable(ask.info, int(rows.stratum.max())))
    wide = found.interval is not None and np.ptp(found.interval) > UNSURE * (found.estimate or 0.0)
    if wide and cells > plan.cells:
        rows = rows.then(ask.take(replace(plan, cells=cells)))
        found = filled.told.count(rows)
    if found.estimate is None or found.interval is None or found.detail["begins"] < HELD:
        return None
    # The last has just entered, and the next to leave may leave before anything is read.
    left, most = float(rows.time_ns.mean()) / filled.pace_ns + 1, int(rows.stratum.max())
    low, high = found.interval
    effect = filled.pace_ns / float(np.median(filled.gaps.y[: filled.full])) - 1
    # It holds whole ones, and no more than were written.
    value = min(round(found.estimate + left / 2), most)
    ends = float(min(math.ceil(low), value)), float(max(min(math.floor(high + left), most), value))
    return replace(found, estimate=value, interval=ends, effect=effect)


def _neither(reason: Reason, evidence: Evidence) -> Iterator[Finding]:
    for name in (SIZE, UNIT):
        yield refused(name, reason, evidence, probe=NAME)


def _burst(filled: _Filled) -> Exhibit:
    gaps = filled.gaps
    shown = gaps.where(np.arange(0, len(gaps), -(-len(gaps) // POINTS)))
    return Exhibit(
        name="burst-into-the-buffer",
        title="A burst fills the write buffer",
        caption="Mean over equal bursts into the emptied buffer; writes far apart.",
        x=Axis("write of the burst"),
        y=Axis("time from one to the next", "ns", log=True),
        series=(series("write", shown.x, shown.y, "points"),),
        fitted=(Step(at=float(filled.full), word="full"),),
    )


def _distances(spread: Series, unit: int | None) -> Exhibit:
    order = np.argsort(spread.x)
    return Exhibit(
        name="held-by-distance",
        title="Writes that the buffer holds, by how far apart they are",
        caption="Those closer than a unit share one.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("writes held"),
        series=(series("write", spread.x[order], spread.y[order], "points"),),
        fitted=() if unit is None else (Period(period=float(unit), word="unit"),),
    )


def _plans(info: DeviceInfo) -> Sequence[Plan]:
    how: dict[str, Any] = {"spacing": 1, "depth": 1, "least": MOST_WRITES, "reads": 1}
    return (
        *([Deep()] if info.capacity_bytes >= LARGE_BYTES else []),
        Fill(),
        Spread(below_ns=0, **how),
        Pairs(unit=1, alone=0, below_ns=0, **how),
        Pairs(unit=1, alone=0, below_ns=0, number=1, **how),
        Stretches(alone=0, below_ns=0, **how),
        Held(**how),
        # The rest writes little, and comes where some of these are not asked for.
    )


PROBE = ProbeInfo(
    name=NAME,
    summary="write buffer: its size, and the units in which room is taken",
    weight="standard",
    properties=(SIZE, UNIT),
    cost="some hundred bursts of small writes",
    detect=detect,
    plans=_plans,
)
