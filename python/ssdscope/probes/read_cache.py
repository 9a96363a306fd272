"""Read cache: its size, the unit in which it takes room, and how far it reads ahead.

Physics
    A block that is still in the drive's memory is read in the time of the link; of flash, in the
    time of a read. A drive that sees reads follow each other may fetch what comes next.
Statistic
    (a) A block read a second time at once, against the first time. (b) Units and their size:
    `cache_units`. (c) Reading ahead: four reads in a row, a pause, and single reads at distances
    behind the last one; how often they are fast falls where what was fetched ends.
Decision rule
    The size is detected with the unit: one size in whole blocks must explain all pairs, at the
    places where it puts the borders of units. Else `effect_below_noise`. What a second read gains
    is not a cache's if the drive says that it has none, or another block nearby gains as much
    (its mapping table). (c) is detected if the fall is sharp to 10 %.
Assumptions
    What was used longest ago goes; of a unit only what was read is there. All reads are of one
    block, so that no limit of a command (128 KiB on ATA) can be taken for a cache, and none but
    those of (c) follow each other.
Cost
    Some 20,000 reads of a block, and about ten times the units of the cache.
Source
    kuo2009, 3.3.2 and table 5, reads ever more at once: there the command's limit, reading ahead
    and the cache of the host look alike. PROBING.md 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Exhibit,
    Finding,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes import read_ahead
from ssdscope.probes.cache_units import CacheUnits
from ssdscope.probes.discipline import cautions
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes
from ssdscope.probes.rows import random_blocks, read_rows, slow_changes

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench
    from ssdscope.probes.cache_units import Units
    from ssdscope.probes.read_ahead import Ahead

SIZE, UNIT, AHEAD = "read_cache_bytes", "read_cache_unit_bytes", "read_ahead_bytes"
PROBE_NAME = "read_cache"
PAIRS = 256
SHOWS_FROM = 0.05
BESIDE_BLOCKS = 3
"""So many blocks aside another one of the same piece of the mapping table is read."""
MANY_UNITS = 100
OTHERS_SHARE = 0.01
"""Of many units, the reads of others may take so many."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer size, unit and reading ahead."""
    notes = Notes(cautions=cautions(bench.info))
    again, beside, memory = _gains(bench)
    notes.figures |= {"again_faster": math.expm1(again), "beside_faster": math.expm1(beside)}
    gain = again - beside
    if gain < SHOWS_FROM or bench.info.read_cache.control == "absent":
        yield from _absent(bench, again, notes)
        return
    bench.progress("blocks read again", 0.1)
    units = CacheUnits(bench, gain, bench.rng("read_cache.units")).measure()
    bench.progress("units", 0.7)
    yield from _sizes(bench, units, gain, notes)
    ahead = read_ahead.measure(bench, memory, gain, bench.rng("read_cache.ahead"))
    yield _of_ahead(ahead, gain, notes)


def _gains(bench: Bench) -> tuple[float, float, float]:
    """Give how much faster a block is a second time, and one beside it, and what it takes then."""
    rng, block = bench.rng("read_cache.gains"), bench.info.logical_block_bytes
    aside = BESIDE_BLOCKS * block
    first = random_blocks(rng, aside, bench.info.capacity_bytes, 2 * PAIRS, block)
    second = first - np.where(np.arange(2 * PAIRS) % 2, aside, 0)
    logs = read_rows(bench, np.column_stack([first, second]))
    faster = slow_changes(logs[:, 0]) - logs[:, 1]
    same, other = float(np.median(faster[::2])), float(np.median(faster[1::2]))
    return same, other, float(np.median(logs[::2, 1]))


def _absent(bench: Bench, again: float, notes: Notes) -> Iterator[Finding]:
    why = "a block read again is no faster"
    if again >= SHOWS_FROM:
        why = "blocks nearby are as fast the second time: it is not the block that is kept"
        if bench.info.read_cache.control == "absent":
            why = "the drive says that it has no read cache; what is faster is not the block itself"
    for name in (SIZE, UNIT, AHEAD):
        yield Absent(
            name=name,
            probe=PROBE_NAME,
            bound=abs(math.expm1(again)),
            reason=why,
            evidence=notes.evidence(),
        )


def _sizes(bench: Bench, units: Units | None, gain: float, notes: Notes) -> Iterator[Finding]:
    if units is None or units.unit_bytes is None:
        for name in (SIZE, UNIT):
            yield Undetectable(
                name=name,
                probe=PROBE_NAME,
                reason=Reason.EFFECT_BELOW_NOISE,
                evidence=notes.evidence(),
            )
        return
    kept, unit = units.count, units.unit_bytes
    lost = OTHERS_SHARE * kept.count if kept.count > MANY_UNITS else 0.0
    notes.figures["units"] = kept.count
    notes.show(_read_backwards(units))
    yield Detected(
        name=SIZE,
        probe=PROBE_NAME,
        value=kept.count * unit,
        interval=((kept.low - lost) * unit, (kept.high + lost) * unit),
        effect=math.expm1(gain),
        evidence=notes.evidence(),
    )
    if unit == bench.info.logical_block_bytes:
        why = "every logical block takes room of its own"
        yield Absent(name=UNIT, probe=PROBE_NAME, bound=0.0, reason=why, evidence=notes.evidence())
        return
    yield Detected(
        name=UNIT,
        probe=PROBE_NAME,
        value=unit,
        interval=None,
        effect=math.expm1(gain),
        evidence=notes.evidence(),
    )


def _refused(name: str, notes: Notes) -> Finding:
    below, evidence = Reason.EFFECT_BELOW_NOISE, notes.evidence()
    return Undetectable(name=name, probe=PROBE_NAME, reason=below, evidence=evidence)


def _of_ahead(ahead: Ahead | None, gain: float, notes: Notes) -> Finding:
    if ahead is None:
        return Undetectable(
            name=AHEAD,
            probe=PROBE_NAME,
            reason=Reason.EFFECT_BELOW_NOISE,
            evidence=notes.evidence(),
        )
    if ahead.bytes == 0:
        return Absent(
            name=AHEAD,
            probe=PROBE_NAME,
            bound=0.1,
            reason="what follows reads in a row is no faster than other blocks",
            evidence=notes.evidence(),
        )
    return Detected(
        name=AHEAD,
        probe=PROBE_NAME,
        value=ahead.bytes,
        interval=(ahead.low, ahead.high),
        effect=math.expm1(gain),
        evidence=notes.evidence().showing(ahead.exhibit()),
    )


def _read_backwards(units: Units) -> Exhibit:
    ratio = np.exp(units.count.slower)
    kept = units.count
    return Exhibit(
        name="blocks-read-backwards",
        title="Blocks far apart, read again backwards",
        caption="Fast as long as they are in the read cache; each takes one of its units.",
        x=Axis("blocks back"),
        y=Axis("relative latency"),
        series=(series("read again", units.count.back, ratio, "points"),),
        fitted=(Step(at=kept.count, low=kept.low, high=kept.high, word="units"),),
    )


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="the read cache: bytes, management unit, reading ahead",
    weight="light",
    properties=(SIZE, UNIT, AHEAD),
    cost="some 20,000 reads of a block; more for a large cache of small units",
    detect=detect,
)
