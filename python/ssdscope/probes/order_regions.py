"""Regions written in order and in random order, side by side, and what is written beside them.

The probe `allocation` reads them back; here is how data come to lie there: on a drive in use,
passing the write buffer, and with as much written elsewhere as what holds data for a while takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Ambiguous, Detected, Reason
from ssdscope.probes import pslc
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.bench.ledger import Stopped
from ssdscope.probes.bench.states import SETTLE_NS
from ssdscope.targets.records import OP_WRITE, OP_WRITE_FUA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

PAIRS, BATCHES = 12, 5
"""Pairs of regions until it is asked whether it is clear; how often."""
REGIONS_SHARE, USED_SHARE = 4, 64
"""Which part of the capacity all regions are together at most; and what is written before."""
PIECES, PIECE_BYTES = 8, 128 << 10
"""Of a region."""
FIRST_WRITES, FIRST_WINDOW_BYTES = 2048, 8 << 20
"""Of a unit each, before all regions; within so much, lest each have log blocks merged."""
STRAY_WRITES = 24
"""Of a unit, before each region: less than the region's."""
BESIDE_SHARE, BESIDE_EXCESS, MOST_BESIDE_SHARE = 40, 1.2, 20
"""Which part of the capacity a region of one bit per cell may be, or a buffer, how much more is
written, and at most."""
OTHER_WRITE_BYTES = 64 << 10
OTHER_WINDOW_BYTES = 2 << 20
"""What is written in between is random within so much, lest each write merge log blocks."""
WRITE_DEPTH = 4


@dataclass(frozen=True)
class Regions:
    """What is written where, in bytes; ``begins`` has the shape (pairs, 2)."""

    begins: NDArray[np.int64]
    piece: int
    step: int
    ordered: NDArray[np.int64]
    """Which region of each pair is the ordered one, shape (pairs,)."""

    @property
    def size(self) -> int:
        """Bytes of a region."""
        return PIECES * self.piece

    def part(self, first: int, last: int) -> Regions:
        """Give some of the pairs."""
        pairs = slice(first, last)
        return Regions(self.begins[pairs], self.piece, self.step, self.ordered[pairs])


def lay_out(bench: Bench) -> Regions | None:
    """Lay pairs of regions over the drive, on whole units if they are known."""
    info = bench.info
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(info))
    phase = int(bench.found("alignment_phase_bytes") or 0)
    piece = max(PIECE_BYTES, 4 * unit) // unit * unit
    size = PIECES * piece
    count = min(info.capacity_bytes // REGIONS_SHARE // (2 * size), BATCHES * PAIRS)
    if count < PAIRS:
        return None
    rng = bench.rng("allocation layout")
    apart = (info.capacity_bytes - 2 * unit) // count // unit * unit
    begins = np.arange(count) * apart + unit - phase
    return Regions(
        begins=rng.permutation(begins)[:, None] + np.array([0, size])[None, :],
        piece=piece,
        step=unit,
        ordered=rng.integers(0, 2, count),
    )


def use(bench: Bench, layout: Regions, rng: np.random.Generator) -> None:
    """Write at random, so that planes do not keep step.

    On a drive that was filled in order one command reads what was written in order from several
    planes, wherever addresses place it; on a drive in use it cannot.
    """
    count = min(FIRST_WRITES, bench.info.capacity_bytes // USED_SHARE // layout.step)
    window = min(FIRST_WINDOW_BYTES, layout.begins.max() - layout.begins.min()) // layout.step
    places = layout.begins.min() + rng.integers(0, max(window, 1), count) * layout.step
    _write_anyway(bench, places, layout.step)
    bench.idle(SETTLE_NS)


def write(
    bench: Bench, layout: Regions, rng: np.random.Generator, depth: int = WRITE_DEPTH
) -> None:
    """Write regions in order, by turns with parts of all the others at random.

    A write cache is off if possible, or passed by forced writes: it would put in order what is
    random in one region. On a drive that merges log blocks the order is random within regions
    only, lest each write merge.
    """
    steps = np.arange(0, layout.size, layout.step)
    pairs = np.arange(len(layout.begins))
    mixed = layout.begins[pairs, 1 - layout.ordered][:, None] + steps
    if write_cache_stays_on(bench) and merges(bench) is None:
        mixed = rng.permutation(mixed.ravel()).reshape(mixed.shape)
    else:
        mixed = rng.permuted(mixed, axis=1)
    with bench.without_caches(read=False):
        for pair in rng.permutation(pairs):
            both = layout.begins[pair, layout.ordered[pair]] + steps, mixed[pair]
            for first in rng.permutation(2):
                # On a drive in use planes do not keep step, so that one command serves several.
                stray = layout.begins[pair, 0] + 2 * layout.size + rng.choice(steps, STRAY_WRITES)
                _write_anyway(bench, stray, layout.step, depth)
                _write_anyway(bench, both[first], layout.step, depth)


def write_cache_stays_on(bench: Bench) -> bool:
    """Say whether writes reach the medium by way of a buffer, even if they are forced."""
    cache = bench.info.write_cache
    return cache.control == "unknown" or (cache.control == "fixed" and cache.on)


def merges(bench: Bench) -> bool | None:
    """Whether the drive merges blocks, where data wait in order of arrival; None if not known."""
    known = bench.known.get("merge_unit_bytes")
    return None if not isinstance(known, Detected | Absent) else isinstance(known, Detected)


def _write_anyway(
    bench: Bench, places: NDArray[np.int64], length: int, depth: int = WRITE_DEPTH
) -> None:
    """Write what is not timed, whoever else is there."""
    op = OP_WRITE_FUA if write_cache_stays_on(bench) else OP_WRITE
    try:
        bench.issue(op, places, length, iodepth=depth)
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise


def write_beside(bench: Bench, layout: Regions) -> None:
    """Write in between as much as a region of one bit per cell holds, or a buffer that stays on.

    Before and after what is to be compared, so that none of it goes, or stays, where it is read
    sooner. Where no region was seen, though it was looked for, nothing is written for one: it would
    use up the spare space, and what comes while room is short goes where collection has just made
    some, in order or not.
    """
    capacity, unknown = bench.info.capacity_bytes, bench.info.capacity_bytes // BESIDE_SHARE
    held, region = 0.0, bench.known.get(pslc.SIZE)
    if region is None or isinstance(region, Ambiguous | Detected):
        held += float(bench.found(pslc.SIZE) or unknown)
    if write_cache_stays_on(bench):
        held += float(bench.found("write_buffer_bytes") or unknown)
    each = min(int(held * BESIDE_EXCESS), capacity // MOST_BESIDE_SHARE) // len(layout.begins)
    for begin in layout.begins[:, 0] + 2 * layout.size:
        _write_anyway(bench, begin + np.arange(0, each, layout.step), layout.step)


def write_elsewhere(
    bench: Bench, layout: Regions, most_bytes: int, rng: np.random.Generator
) -> None:
    """Write between the regions what makes log blocks give up what they hold."""
    taken = np.sort(layout.begins[:, 0])
    ends = np.append(taken[1:], bench.info.capacity_bytes)
    for begin, end in zip(taken + 2 * layout.size, ends, strict=True):
        share = max(min(int(end - begin), most_bytes // len(taken)) - OTHER_WRITE_BYTES, 0)
        window = min(share, OTHER_WINDOW_BYTES)
        steps = np.arange(0, window, OTHER_WRITE_BYTES)
        for first in int(begin) + window * np.arange(share // max(window, 1)):
            places = rng.permutation(steps) + first
            aligned = places // base_request_bytes(bench.info) * base_request_bytes(bench.info)
            _write_anyway(bench, aligned, OTHER_WRITE_BYTES)
    bench.idle(SETTLE_NS)
