"""Mapping table: how much address space one piece covers, and how many pieces stay in memory.

Physics
    A drive that does not hold its whole mapping table in memory loads the piece that a read
    needs (a zone, a mapping page, an entry) before it can read the data. A second read that
    needs the same piece is spared that.
Statistic
    Pairs of reads, by the logarithm of the second latency over that of reads with no relation.
    (a) How it rises with the distance between the two, by least squares (`segments.survey`).
    (b) Edges of pieces: pairs of one distance all over the drive, folded; then the places of
    edges far apart, to the block (`segments.fold`, `edges`).
    (c) How many pieces are kept: so many are read in turn and then backwards (`reuse`).
Decision rule
    Detected if (a) shows (5 % and six standard errors), one size is left that is a whole number of
    blocks (ΔBIC above 10), pairs at edges that were not used bear it out, and (c) shows one step
    twice, within a tenth. The cache is (b) times (c). Absent if reads of neighbouring blocks are
    no faster.
Assumptions
    Pieces are equally large; what was used longest ago, or loaded first, goes. A read cache is
    switched off; where it cannot be, no block is read twice, and where blocks are as large as a
    mapping entry may be, nothing is concluded from their being read again.
Cost
    About 20,000 reads of one block, and three times as many as there are pieces in memory.
Source
    Zones: kuo2009, 3.4 and table 6, whose single reads with one fixed place find the end of the
    first zone of a drive that keeps one. First-touch misses and working sets: PROBING.md 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Exhibit,
    Finding,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes import edges, reuse, segments
from ssdscope.probes.discipline import cautions
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes
from ssdscope.probes.rows import without_read_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.reuse import Kept
    from ssdscope.probes.segments import Fold, Survey

ZONE, CACHE = "map_zone_bytes", "map_cache_bytes"
EXPLAINED_FROM = 0.15
"""Share of the variance of folded pairs that edges must explain."""
MARGIN = 0.1
"""Share of a piece at either end in which nothing is read, as long as its edges are rough."""
SEARCHES = 5
"""For edges, each beginning elsewhere, until two confirmed ones agree to the block."""
MOST_PIECES = 1 << 19
MANY_PIECES = 100
OTHERS_SHARE = 0.01
"""Of many pieces, the reads of others may hide or put out so many."""
MOST_APART = 0.1
"""Of the pieces, by how many counts may differ that are one answer."""
AS_MANY = 0.15
"""Relative difference up to which as many pieces are kept as the read cache has units."""
MORE_THAN_FITS, MOST_FORGOTTEN = 1.05, 1024
"""Of the units of a read cache that stays on: read before each pair at an edge, up to so many, for
blocks around the edge that lie in one unit would else be in the cache."""
SMALL_ENTRY_BYTES = 2048
"""No drive maps less; where a block is less, its neighbour tells of the entry they share."""
GOLDEN_SECTION = 0.618
PROBE_NAME = "map_cache"


@dataclass(frozen=True)
class _Told:
    """What goes into every finding of this probe."""

    notes: Notes

    def refused(self, reason: Reason, *names: str) -> Iterator[Finding]:
        for name in names or (ZONE, CACHE):
            evidence = self.notes.evidence()
            yield Undetectable(name=name, probe=PROBE_NAME, reason=reason, evidence=evidence)

    def absent(self, bound: float, why: str, *names: str) -> Iterator[Finding]:
        for name in names or (ZONE, CACHE):
            evidence = self.notes.evidence()
            yield Absent(name=name, probe=PROBE_NAME, bound=bound, reason=why, evidence=evidence)

    def detected(
        self, name: str, value: float, interval: tuple[float, float] | None, effect: float
    ) -> Finding:
        return Detected(
            name=name,
            probe=PROBE_NAME,
            value=value,
            interval=interval,
            effect=effect,
            evidence=self.notes.evidence(),
        )


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the size of a piece of the mapping table, and of what is kept of it."""
    with without_read_cache(bench) as cached:
        reach = segments.survey(bench, bench.rng("map_cache.survey"))
        bench.progress("reads at a distance of each other", 0.2)
        told = _Told(_notes(bench, reach, cached=cached))
        if reach.shows:
            yield from _of_pieces(bench, reach, told, cached=cached)
        elif cached and bench.info.logical_block_bytes > SMALL_ENTRY_BYTES:
            yield from told.refused(Reason.CACHE_NOT_CONTROLLABLE)
        elif not cached and reach.again_shows and reach.shows_nothing:
            yield from _of_single_blocks(bench, reach, told)
        elif reach.shows_nothing:
            limit = f"{int(reach.distances_bytes[-1]):,}"
            why = f"reads up to {limit} bytes from the last one are no faster than others"
            yield from told.absent(math.expm1(reach.bound), why)
        else:
            yield from told.refused(Reason.EFFECT_BELOW_NOISE)


def _of_pieces(bench: Bench, reach: Survey, told: _Told, *, cached: bool) -> Iterator[Finding]:
    """Answer for pieces of several blocks."""
    rng = bench.rng("map_cache.fold")
    about = segments.fold(bench, reach.size_bytes, reach, rng)
    told.notes.figures["explained_share"] = about.explained
    if about.explained < EXPLAINED_FROM:
        yield from told.refused(Reason.EFFECT_BELOW_NOISE)
        return
    if len(about.indices) < 4:
        yield from told.refused(Reason.RANGE_TOO_SMALL)
        return
    kept = _kept(bench, about)
    bench.progress("pieces kept", 0.6)
    if kept is None:
        yield from told.refused(Reason.RANGE_TOO_SMALL)
        return
    told.notes.show(_read_backwards(kept))
    if cached and _is_read_cache(bench, kept):
        told.notes.detail = "as many are kept as the read cache holds, which stays on"
        yield from told.refused(Reason.CACHE_NOT_CONTROLLABLE)
        return
    size = _exact_size(bench, about, kept, reach, cached=cached)
    if size is None:
        yield from told.refused(Reason.EFFECT_BELOW_NOISE)
        return
    if isinstance(size, tuple):
        for name, times in ((ZONE, 1), (CACHE, kept.count)):
            yield Ambiguous(
                name=name,
                probe=PROBE_NAME,
                candidates=tuple(each * times for each in size),
                reason="two looks at the edges of pieces disagree",
                evidence=told.notes.evidence(),
            )
        return
    effect = math.expm1(about.contrast)
    yield told.detected(ZONE, size, None, effect)
    yield from _of_kept(told, kept, size, effect)


def _of_single_blocks(bench: Bench, reach: Survey, told: _Told) -> Iterator[Finding]:
    """Answer where only the block read last is faster, and no read cache is at work."""
    block = bench.info.logical_block_bytes
    rng = bench.rng("map_cache.blocks")
    there = min(bench.info.capacity_bytes // block, 4 * MOST_PIECES)
    kept = reuse.kept(bench, lambda which: which * block, there, reach.again_contrast, rng)
    why = "no two logical blocks share a piece"
    yield from told.absent(math.expm1(reach.bound), why, ZONE)
    if kept is None:
        yield from told.refused(Reason.RANGE_TOO_SMALL, CACHE)
        return
    told.notes.show(_read_backwards(kept))
    effect = math.expm1(reach.again_contrast)
    yield from _of_kept(told, kept, block, effect)


def _of_kept(told: _Told, kept: Kept, size_bytes: int, effect: float) -> Iterator[Finding]:
    """Answer how much is kept, if looks agree in how many pieces."""
    if kept.high - kept.low > MOST_APART * kept.count:
        yield from told.refused(Reason.EFFECT_BELOW_NOISE, CACHE)
        return
    yield told.detected(CACHE, kept.count * size_bytes, _interval(kept, size_bytes), effect)


def _is_read_cache(bench: Bench, kept: Kept) -> bool:
    """Whether so many are kept as a read cache has units, by what was found of it before."""
    units = _read_cache_units(bench)
    return units > 0 and abs(kept.count / units - 1) < AS_MANY


def _read_cache_units(bench: Bench) -> float:
    """How many units a read cache has, by what was found of it before; 0 if nothing was."""
    size, unit = bench.found("read_cache_bytes"), bench.found("read_cache_unit_bytes")
    return float(size or 0) / float(unit or bench.info.logical_block_bytes)


def _to_forget(bench: Bench, kept: Kept, *, cached: bool) -> int:
    """Count the other places after which nothing is left of earlier pairs, near the same edge."""
    units = math.ceil(MORE_THAN_FITS * _read_cache_units(bench)) if cached else 0
    return max(kept.high, units if units <= MOST_FORGOTTEN else 0)


def _interval(kept: Kept, size_bytes: int) -> tuple[float, float]:
    lost = OTHERS_SHARE * kept.count if kept.count > MANY_PIECES else 0.0
    return (kept.low - lost) * size_bytes, (kept.high + lost) * size_bytes


def _kept(bench: Bench, about: Fold) -> Kept | None:
    """Count the pieces that are kept, by reading one place in each."""
    rng, block = bench.rng("map_cache.kept"), bench.info.logical_block_bytes
    margin = MARGIN if about.size_error_bytes else 0.0
    indices = about.indices
    room = max(int((1 - 2 * margin) * about.size_bytes / block), 1)
    last = rng.integers(0, room, len(indices))
    step = _step_round(room)

    def places(which: NDArray[np.int64]) -> NDArray[np.int64]:
        start = about.edge_bytes + (which + indices.start + margin) * about.size_bytes
        first = np.ceil(start / block).astype(np.int64)
        last[which] = (last[which] + step) % room
        return np.asarray((first + last[which]) * block)

    available = min(len(indices) - 1, MOST_PIECES)
    return reuse.kept(bench, places, available, about.contrast, rng)


def _step_round(room: int) -> int:
    """Give the step by which blocks of a piece are gone through, each once in a round.

    A read cache that stays on may still hold those read of it before, and the blocks around them;
    those that lie a golden section apart are new for longest.
    """
    first = round(GOLDEN_SECTION * room)
    return next(step for step in range(first, first + room) if math.gcd(step, room) == 1)


def _exact_size(
    bench: Bench, about: Fold, kept: Kept, reach: Survey, *, cached: bool
) -> int | tuple[int, int] | None:
    """Give the size to the block; two if a second look disagrees, None if none can be told."""
    rng = bench.rng("map_cache.edges")
    if about.size_error_bytes == 0:
        again = segments.fold(bench, about.size_bytes, reach, rng)
        same = again.size_bytes == about.size_bytes and again.edge_bytes == about.edge_bytes
        size_bytes = int(about.size_bytes)
        return size_bytes if same else (size_bytes, int(again.size_bytes))
    forgotten = _to_forget(bench, kept, cached=cached)
    sizes: list[int] = []
    for _ in range(SEARCHES):
        search = edges.Edges(bench, edges.Pieces(about, forgotten), rng)
        found = search.size_bytes()
        if found is None or not search.confirmed(*found):
            continue
        if found[0] in sizes:
            return found[0]
        sizes.append(found[0])
    return None


def _notes(bench: Bench, reach: Survey, *, cached: bool) -> Notes:
    """Begin with how far a piece reaches."""
    notes = Notes(cautions=cautions(bench.info))
    if cached:
        notes.cautions.append("read_cache_on: the read cache cannot be switched off")
    ratio = np.exp(reach.slower)
    exhibit = Exhibit(
        name="reads-at-a-distance",
        title="A read after another one at a distance",
        caption="Latency over that of reads with no relation; it rises until no piece is shared.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("relative latency"),
        series=(series("second read", reach.distances_bytes[1:], ratio[1:], "points"),),
        fitted=(Step(at=float(reach.size_bytes), word="about a piece"),) if reach.shows else (),
    )
    notes.show(exhibit)
    return notes


def _read_backwards(kept: Kept) -> Exhibit:
    """Show how many pieces stay."""
    return Exhibit(
        name="pieces-read-backwards",
        title="Pieces of the mapping table, read again backwards",
        caption="Fast as long as their entries are in memory.",
        x=Axis("pieces back", log=True),
        y=Axis("relative latency"),
        series=(series("read again", kept.back, np.exp(kept.slower), "points"),),
        fitted=(Step(at=kept.count, low=kept.low, high=kept.high, word="pieces kept"),),
    )


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="the mapping table: bytes one piece covers, bytes covered in memory",
    weight="light",
    properties=(ZONE, CACHE),
    cost="about 20,000 reads of a block; more where many pieces are kept",
    detect=detect,
)
