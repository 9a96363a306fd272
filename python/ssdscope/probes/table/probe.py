"""Mapping table: how much of the drive one piece covers, and how much the pieces in memory cover.

Question
    Does a drive keep only a part of its mapping table in memory? In pieces of what size?
Physics
    A drive loads the piece that a read needs (a zone, an entry) before it can read the data. A
    second read that needs the same piece is spared that, whichever block of it is read.
Plan
    (1) The block beside one that was read, or one anywhere else. (2) Blocks at distances from one
    that was read, up to a quarter of the drive: about how large pieces are. (3) The same at
    distances up to that size, all over the drive or over 64 pieces of it. (4) Large pieces: edges
    far apart (`edges`). (5) So many pieces, each read, and then backwards at another block.
Engine
    `contrast` (1), `reach` (2), `cells` (3, 4), `step` (5).
Cannot tell
    A table whose pieces are a block, where a read cache stays on: both keep blocks. That is their
    signature: a cache keeps the block that was read, a table what lies beside it, too.
Cost
    About 20,000 reads of a block; more where many pieces are kept.
Source
    Zones: kuo2009, 3.4 and table 6. First-touch misses and working sets: PROBING.md 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Detected, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.cells import cells
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.bench.rows import READS
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.shared.memory import (
    Again,
    Backwards,
    Count,
    Levels,
    count_of,
    kept_bytes,
    second_ns,
)
from ssdscope.probes.table.edges import Edges
from ssdscope.probes.table.reach import reach
from ssdscope.units import KIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["PROBE", "Pairs"]

ZONE, CACHE = "map_zone_bytes", "map_cache_bytes"
IN_VIEW, GRAINS, NEAR = 64, 512, 8
"""Large pieces that are looked at together, and the parts of one in which they are told apart;
and sizes that are tried to either side, in the next finer parts."""
FINER = 4
"""Times as fine is each grain as the one before."""
SMALLEST_ENTRY_BYTES = 2 * KIB
"""No drive maps less; where a block is less, its neighbour tells of the entry they share."""


@dataclass(frozen=True, kw_only=True)
class Pairs(Plan):
    """Blocks after others at distances: `x` is the lower one, `stratum` the distance, in blocks.

    Attributes
    ----------
    farthest_blocks
        The largest distance.
    low_blocks, span_blocks
        Where on the drive.
    """

    farthest_blocks: int
    low_blocks: int
    span_blocks: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read pairs, the upper block first, so that no drive takes them for a row of reads."""
        block = bench.info.logical_block_bytes
        doubled = 2 ** np.arange(self.farthest_blocks.bit_length())
        distances = np.unique(np.concatenate([doubled, 3 * doubled // 2]))
        distances = distances[distances <= self.farthest_blocks]
        apart = rng.permutation(np.resize(distances, READS))
        lower = np.empty_like(apart)

        def drawn(part: slice) -> NDArray[np.int64]:
            last = self.low_blocks + self.span_blocks - apart[part]
            lower[part] = rng.integers(self.low_blocks, last)
            return np.column_stack([lower[part] + apart[part], lower[part]]) * block

        times = second_ns(bench, apart.size, drawn)
        return Series.of(lower, times, stratum=apart)


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer the size of a piece of the mapping table, and of what is kept of it."""
    told = Evidence(cautions=tuple(cautions(ask.info)))
    cached, block = ask.info.read_cache.stays_on, ask.info.logical_block_bytes
    if cached:
        told = replace(told, cautions=(*told.cautions, CACHED))
    beside = contrast(ask.take(Again(below_blocks=(1, None))))
    if _faster(beside):
        yield from _of_pieces(ask, told)
        return
    if cached and block > SMALLEST_ENTRY_BYTES:
        raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, evidence=told)
    yield verdict.weighed(ZONE, replace(beside, estimate=None), "contrast", told)
    same = None if cached else ask.take(Again(below_blocks=(0, None)))
    again = beside if same is None else contrast(same)
    if same is not None and _faster(again):
        # Only the block read last is faster: each is a piece.
        counted = ask.take(Backwards(thing_bytes=block))
        yield kept_bytes(CACHE, counted, Levels.of(same), block, "pieces", told)
    else:
        yield verdict.weighed(CACHE, replace(again, estimate=None), "contrast", told)


CACHED = "read_cache_on: the read cache cannot be switched off"


def _faster(found: Weighed) -> bool:
    """Whether blocks anywhere take longer than those beside the last one."""
    enough = verdict.is_found(found, "contrast") and found.effect >= LEAST_EFFECT
    return enough and (found.estimate or 0) > 1


def _of_pieces(ask: Ask, told: Evidence) -> Iterator[Finding]:
    """Answer for pieces of several blocks."""
    block = ask.info.logical_block_bytes
    there = ask.info.capacity_bytes // block
    far = ask.take(Pairs(farthest_blocks=there // 4, low_blocks=0, span_blocks=there))
    told = told.showing(_by_distance(far, block))
    ask.progress("reads at a distance of each other", 0.0)
    about = reach(Series.of(far.stratum, far.y), np.geomspace(1, there / 2, GRAINS))
    size = max(int(about.estimate or 1), 2)
    # One block more or less of small pieces puts those at the end of the drive elsewhere.
    exact = size**2 <= there
    found = _of_small(ask, size, there) if exact else _of_large(ask, size, there)
    zone = _zone(found, block, told)
    if not isinstance(zone, Detected):
        yield zone
        raise Stopped(Reason.EFFECT_BELOW_NOISE, evidence=told)
    levels = Levels(found.detail["together"], found.detail["apart"])
    counting = Backwards(
        thing_bytes=int(zone.value),
        edge_bytes=int(found.detail["begins"] % (found.estimate or 1)) * block,
        elsewhere=True,
        margin_bytes=0 if exact else int(zone.value) // 4,
    )
    kept = count_of(levels.told_apart(ask.take(counting)))
    ask.progress("pieces kept", 0.5)
    if not exact and kept is not None:
        found = _of_edges(ask, found, kept, levels)
        zone = _zone(found, block, told)
        # Far from where they were looked at, pieces were not known well enough to be counted.
        counting = Backwards(
            thing_bytes=int(found.estimate or 1) * block,
            edge_bytes=int(found.detail.get("begins", 0.0)) * block,
            elsewhere=True,
        )
    if exact or kept is not None:
        yield zone
    if kept is None or not isinstance(zone, Detected):
        reason = Reason.RANGE_TOO_SMALL if kept is None else Reason.EFFECT_BELOW_NOISE
        raise Stopped(reason, evidence=told)
    yield kept_bytes(CACHE, ask.take(counting), levels, int(zone.value), "pieces", told)


def _zone(found: Weighed, block: int, told: Evidence) -> Finding:
    """Answer the size of a piece."""
    value = int((found.estimate or 0) * block)
    return verdict.weighed(ZONE, found.times(block), "cells", told, value=value)


def _of_small(ask: Ask, size: int, there: int) -> Weighed:
    """Weigh all sizes near one, by pairs all over the drive."""
    pairs = ask.take(Pairs(farthest_blocks=2 * size, low_blocks=0, span_blocks=there))
    return cells(pairs, np.arange(max(size // 2, 2), 2 * size + 1))


def _of_large(ask: Ask, size: int, there: int) -> Weighed:
    """Weigh sizes near one in coarse grains; by how much they differ from the next is not told."""
    grain, span = max(size // GRAINS, 1), min(there, IN_VIEW * size)
    low = (there - span) // 2
    pairs = ask.take(Pairs(farthest_blocks=2 * size, low_blocks=low, span_blocks=span))
    coarse = Series.of((pairs.x - low) // grain, pairs.y, stratum=pairs.stratum // grain)
    found = cells(coarse, np.arange(GRAINS // 2, 2 * GRAINS)).times(grain)
    if found.estimate is None:
        return found
    inside = Series.of(pairs.x - low, pairs.y, stratum=pairs.stratum)
    found = _finer(inside, found.estimate, max(grain // FINER, 1), max(grain // FINER**2, 1))
    begins = low + found.detail.get("begins", 0.0)
    rivals = tuple(each for each in found.rivals if each.estimate is None)
    return replace(found, rivals=rivals, detail={**found.detail, "begins": begins})


def _of_edges(ask: Ask, about: Weighed, kept: Count, levels: Levels) -> Weighed:
    """Weigh sizes to the block, in ever finer grains, by pairs at edges."""
    size = about.estimate or 1.0
    plan = Edges(
        size_blocks=size,
        begins_blocks=int(about.detail["begins"]),
        others=2 * int(kept.high) + 1,
        limit_ns=int(levels.between),
    )
    pairs = levels.told_apart(ask.take(plan))
    return _finer(pairs, size, FINER ** max(int(math.log(size / GRAINS, FINER)), 0), 1)


def _finer(pairs: Series, size: float, grain: int, last: int) -> Weighed:
    """Weigh sizes near one in ever finer grains, down to the last; in blocks."""
    near = 2 * NEAR
    while True:
        middle = round(size / grain)
        lower, upper = pairs.x // grain, (pairs.x + pairs.stratum) // grain
        tried = np.arange(max(middle - near, 1), middle + near + 1)
        found = cells(Series.of(lower, pairs.y, stratum=upper - lower), tried)
        size, near = (found.estimate or middle) * grain, NEAR
        if grain <= last:
            begins = found.detail.get("begins", 0.0) * grain
            told = found.times(grain)
            return replace(told, detail={**told.detail, "begins": begins})
        grain = max(grain // FINER, last)


def _by_distance(far: Series, block: int) -> Exhibit:
    """Show how a read fares after one at a distance."""
    distances = np.unique(far.stratum)
    medians = [float(np.median(far.y[far.stratum == each])) for each in distances]
    return Exhibit(
        name="reads-at-a-distance",
        title="A read after another one at a distance",
        caption="It takes longer where no piece of the mapping table is shared.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("latency", "ns"),
        series=(series("second read", distances * block, medians, "points"),),
    )


PROBE = ProbeInfo(
    name="table",
    summary="the mapping table: bytes one piece covers, bytes covered in memory",
    weight="light",
    properties=(ZONE, CACHE),
    cost="about 20,000 reads of a block; more where many pieces are kept",
    detect=detect,
)
