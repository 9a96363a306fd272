"""The probe `write_buffer`: how much a drive takes before writes wait for flash, and in what units.

Physics. A write buffer acknowledges writes until it is full; then one enters for one that has
left. Statistic. Bursts of fixed small writes, each in a management unit of its own, into the
emptied buffer, with two bounds (`buffer_reading`): of a burst that has filled it, the writes that
are read back in the time of memory are those it holds (`buffer_held`), which are never more than
fit; and the writes before the first that waits (`stats.first_waits`) are never fewer. What leaves
while it is filled moves the second up, and what leaves until it is read the first down. A single
growing request is never used: a step at 128 KiB may be the transport's. The unit is how long a
write can be and still take no more room than a block (`buffer_unit`); writes times units is the
size.

Decision. Detected if the bounds are within 16 % (the middle is told), and the unit was confirmed
on fresh bursts. What is held bounds the size above, too, if little has left since a write waited;
the first wait bounds it below, too, if nothing leaves before, at whatever pace it is filled. A
drive that says that it has no write cache has none. If flushing and waiting leave something
behind, the cache is switched off and on, or its data are discarded; where neither helps the answer
is `plp_no_flush_effect`, and also where a flush takes no time and the cache cannot be switched off:
what was counted then stands in the evidence, as nothing shows that the buffer was ever empty. If no
burst ever waits, flash is as fast as the link: `effect_below_noise`; bounds that are apart, or
contradict each other: `model_misfit`; unless a few long writes fill it before anything can have
left (`buffer_gulps`), which tells the size alone. Where reads from memory and flash do not differ,
waiting writes are counted at several paces (`buffer_paces`). A region of blocks with one bit per
cell, and spare space, are not emptied by a flush, so the bursts behind it would begin slow.

Assumptions. Units are multiples of the logical block that divide 96 KiB. Cost: some hundred
bursts, of a block per write mostly. Source: kuo2009, table 5; PROBING 1.6, 2.5.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.probes import buffer_gulps, buffer_paces, buffer_reading
from ssdscope.probes.buffer_exhibits import room_per_write
from ssdscope.probes.buffer_unit import Filled, Unit, find_unit
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

SIZE, UNIT = "write_buffer_bytes", "write_buffer_unit_bytes"
PROBE_NAME = "write_buffer"
ABOUT, ABOUT_UNIT = "about_bytes", "about_unit_bytes"
"""Keys of the evidence: what a buffer that nothing surely empties seems to hold, in what units."""

ATA_REQUEST_BYTES = 128 * 1024
"""The most that a command with a 28-bit address carries."""
USELESS_WIDTH = 0.2
PROFILE_POINTS = 400


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer size and unit."""
    cache = bench.info.write_cache
    if cache.control == "absent":
        for name in (SIZE, UNIT):
            yield Absent(
                name=name,
                probe=PROBE_NAME,
                bound=float(bench.info.logical_block_bytes),
                reason="the drive says that it has no write cache",
            )
        return
    switched_on = cache.control == "switchable" and not cache.on
    with bench.caches(write=True) if switched_on else nullcontext():
        yield from _measure(bench)


def _measure(bench: Bench) -> Iterator[Finding]:
    notes = Notes()
    with bench.without_caches(write=False):
        filled = buffer_reading.measure(bench, notes)
        if filled is None:
            filled = buffer_paces.measure(bench, notes)
        if isinstance(filled, Reason):
            short = filled in (Reason.EFFECT_BELOW_NOISE, Reason.MODEL_MISFIT)
            held_bytes = buffer_gulps.measure(bench, notes) if short else None
            if held_bytes is None:
                yield from _refused(filled, notes)
            else:
                yield from _by_long_writes(held_bytes, bench.info.logical_block_bytes, notes)
            return
        bench.progress("lengths of a write that take one unit", 0.6)
        unit = find_unit(filled.units, bench.info.logical_block_bytes)
    notes.show(room_per_write(unit.units_per_write, unit.bytes))
    if not notes.figures["flush_works"] and bench.info.write_cache.control != "switchable":
        told = unit.bytes if unit.confirmed else None
        notes.figures |= {ABOUT: told and filled.writes * told, ABOUT_UNIT: told}
        yield from _refused(Reason.PLP_NO_FLUSH_EFFECT, notes)
        return
    yield _size(filled, unit, notes)
    yield _unit(bench, unit, notes)


def _size(filled: Filled, unit: Unit, notes: Notes) -> Finding:
    if unit.bytes is None or not unit.confirmed:
        notes.detail = f"it takes {filled.writes:g} writes, but in what units is not certain"
        return Undetectable(
            name=SIZE, probe=PROBE_NAME, evidence=notes.evidence(), reason=Reason.EFFECT_BELOW_NOISE
        )
    low, high = (each * unit.bytes for each in filled.interval)
    value = filled.writes * unit.bytes
    if high - low > USELESS_WIDTH * value:
        return Undetectable(
            name=SIZE, probe=PROBE_NAME, evidence=notes.evidence(), reason=Reason.EFFECT_BELOW_NOISE
        )
    if low <= ATA_REQUEST_BYTES <= high:
        notes.cautions.append(
            "equals the ATA request limit of 128 KiB: here it was found by small writes, elsewhere "
            "a single growing write shows the limit"
        )
    effect = notes.figures["slow_ns"] / notes.figures["fast_ns"] - 1
    return Detected(
        name=SIZE,
        probe=PROBE_NAME,
        evidence=notes.evidence(),
        value=value,
        interval=(low, high),
        effect=effect,
    )


def _by_long_writes(held_bytes: int, block: int, notes: Notes) -> Iterator[Finding]:
    """Tell a size that long writes filled; they do not show in what units room is taken."""
    value = float(held_bytes)
    effect = notes.figures["slow_ns"] / notes.figures["fast_ns"] - 1
    common: dict[str, Any] = {"probe": PROBE_NAME, "evidence": notes.evidence()}
    yield Detected(
        name=SIZE, value=value, interval=(value - block, value + block), effect=effect, **common
    )
    yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _unit(bench: Bench, unit: Unit, notes: Notes) -> Finding:
    block = bench.info.logical_block_bytes
    common: dict[str, Any] = {"name": UNIT, "probe": PROBE_NAME, "evidence": notes.evidence()}
    if unit.bytes is None:
        return Undetectable(reason=Reason.RANGE_TOO_SMALL, **common)
    if not unit.confirmed:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if unit.bytes == block:
        reason = "room is taken by single logical blocks"
        return Absent(bound=float(block), reason=reason, **common)
    return Detected(value=unit.bytes, interval=None, effect=1.0, **common)


def _refused(reason: Reason, notes: Notes) -> Iterator[Finding]:
    for name in (SIZE, UNIT):
        yield Undetectable(name=name, probe=PROBE_NAME, evidence=notes.evidence(), reason=reason)


def about_bytes(bench: Bench) -> float | None:
    """Give what the buffer holds, also where it is not sure enough to be told; None if unknown."""
    size = bench.found(SIZE)
    if size is None and SIZE in bench.known:
        size = bench.known[SIZE].evidence.figures.get(ABOUT)
    return None if size is None else float(size)


def about_unit_bytes(bench: Bench) -> int | None:
    """Give what the buffer takes room in, likewise."""
    unit = bench.found(UNIT)
    if unit is None and UNIT in bench.known:
        unit = bench.known[UNIT].evidence.figures.get(ABOUT_UNIT)
    return None if unit is None else int(unit)


def staying_bytes(bench: Bench) -> float:
    """Give what a buffer that cannot be switched off holds, as far as that is known; else 0."""
    fixed = bench.info.write_cache.control != "switchable"
    return (about_bytes(bench) or 0.0) if fixed else 0.0


def may_stay(bench: Bench) -> bool:
    """Whether there is a buffer that cannot be switched off, or none is ruled out."""
    fixed = bench.info.write_cache.control == "fixed"
    return fixed and not isinstance(bench.known.get(SIZE), Absent)


def _declared(info: DeviceInfo) -> int:
    return info.capacity_bytes


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="write buffer: its size, what drains meanwhile taken out, and its management unit",
    weight="standard",
    properties=(SIZE, UNIT),
    cost="some hundred bursts of small writes",
    detect=detect,
    declared_writes_bytes=_declared,
)
