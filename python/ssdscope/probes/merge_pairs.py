"""Pairs of single writes around the ends of merge units, where each has a log block of its own.

Physics. A firmware with a log block for each merge unit being written has to merge one for the next
unit, as soon as all are taken. So the second write of a pair goes on at once if it is in the unit
of the first one, wherever there, and waits for a merge if it is in another, however near.

Statistic. First writes in the middle of units that had none for the longest time; second ones near
either end of the same unit, inside and outside, in random order. Single writes far apart go ahead
to see after how many they wait for merges; then so many units take all log blocks.

Decision. Three of four second writes outside take several times as long as three of four of either
kind inside and a read far from the last one together: loading a part of the mapping table costs a
read as much. Of several units those inside would wait, too, and of a part of one those outside
mostly not. They take four times as long; or sixteen times if units may be parts of the mapping
table, which are written back, too. Where the RMW unit is not known, the end of a unit is found to
the block by bisection, which gives the phase; blocks on both sides of it must agree at fresh
places. The unit is what a log block holds of a merge unit over how often one block can be written
from one merge to the next.

Assumptions. The size comes from what repeats in order. On drives with common log blocks nothing is
said. Cost: some two hundred writes, each of which may merge a unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Absent, Detected
from ssdscope.probes import merge_runs, write_through
from ssdscope.probes.merge_begins import (
    FEWEST,
    MOST_LOST,
    REACH_BYTES,
    TRIED,
    WRITES,
    Waits,
    kinds_of,
    mostly,
)
from ssdscope.probes.merge_periods import request_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.merge_periods import Repeating
    from ssdscope.probes.write_through import Writer

READS = 64
"""Far apart."""
LOADS, WRITES_BACK = 4.0, 16.0
"""Times what a write inside takes, and loading what reads load, that one outside does at least; and
if it might write back a part of the mapping table, too, with a few programs."""
PLACES = (0.35, 0.6)
"""In a merge unit, that are written again and again."""
LOGS, FEWEST_REWRITES = 5, 256
ALIKE = 0.75
"""Log blocks that must be full, writes for that at first, and share that took the usual number."""
PAIR = 2
"""Writes that are judged as one."""


def measure(bench: Bench, found: Repeating) -> Waits | None:
    """Compare second writes outside of units with such inside; None if that shows no merges."""
    size, unit = found.size_bytes, request_bytes(bench, found)
    margin = max(min(2 * REACH_BYTES, size // 4) // unit * unit, unit)
    behind = np.array([0, size - margin, -margin, size])
    rng = bench.rng(f"pairs in merge units {size}")
    kind = rng.permuted(np.repeat(np.arange(behind.size), WRITES))
    apart = merge_runs.far_apart(bench, unit, -found.stream.phase_bytes)
    # Where they are slow from the first one on, all log blocks were taken before.
    logs_taken = apart.writes if apart.logs else merge_runs.BATCH
    taken_ns = _second_ns(bench, found, behind[kind], unit, logs_taken, rng)
    if taken_ns is None:
        return None
    kinds = kinds_of(taken_ns, kind)
    if min(each.size for each in kinds) < FEWEST:
        return None
    inside = max(float(np.percentile(each, 75)) for each in kinds[:2])
    outside = min(float(np.percentile(each, 25)) for each in kinds[2:])
    block = bench.info.logical_block_bytes
    places = rng.integers(0, bench.info.capacity_bytes // block, READS) * block
    loaded = float(np.median(bench.read(places, block).latency_ns))
    times = WRITES_BACK if _may_be_zone(bench, found) else LOADS
    return Waits(outside, inside, logs_taken) if outside >= times * (inside + loaded) else None


def _may_be_zone(bench: Bench, found: Repeating) -> bool:
    """Whether the drive may load its mapping table in parts of that size."""
    zone = bench.known.get("map_zone_bytes")
    if isinstance(zone, Detected):
        return abs(float(zone.value) - found.size_bytes) <= found.stream.unit_bytes
    return not isinstance(zone, Absent)


def first_unit(bench: Bench, found: Repeating, waits: Waits) -> tuple[int | None, int | None]:
    """Give how long before multiples of their size merge units begin, and the RMW unit, in bytes.

    None for what is not clear; the unit is not if it does not hold the phase.
    """
    phase = _phase_bytes(bench, found, waits)
    unit = None if phase is None else _rmw_unit_bytes(bench, found, waits)
    return phase, unit if unit is not None and unit > (phase or 0) else None


def _phase_bytes(bench: Bench, found: Repeating, waits: Waits) -> int | None:
    """Give how long before multiples of their size merge units begin."""
    block = bench.info.logical_block_bytes
    outside, inside = -min(REACH_BYTES, found.size_bytes // 4) // block, 0

    def waits_at(at: int, count: int = TRIED) -> bool | None:
        return _waits(bench, found, at, count, waits)

    if waits_at(inside) is not True or waits_at(outside) is not False:
        return None
    while inside - outside > 1:
        middle = (inside + outside) // 2
        is_inside = waits_at(middle)
        if is_inside is None:
            return None
        inside, outside = (middle, outside) if is_inside else (inside, middle)
    if waits_at(inside, WRITES) is not True or waits_at(outside, WRITES) is not False:
        return None
    return -inside * block


def _rmw_unit_bytes(bench: Bench, found: Repeating, waits: Waits) -> int | None:
    """Give the RMW unit: a log block holds as many writes to one place, however short.

    Two places must agree on a whole part of the merge unit.
    """
    rng = bench.rng(f"log blocks of merge units {found.size_bytes}")
    block = bench.info.logical_block_bytes
    units = rng.integers(1, bench.info.capacity_bytes // found.size_bytes - 1, len(PLACES))
    counts = []
    for unit, place in zip(units, PLACES, strict=True):
        at = (int(unit) * found.size_bytes + int(place * found.size_bytes)) // block * block
        counts.append(_writes_a_log(bench, found, at, waits))
    if counts[0] is None or counts[0] != counts[1] or found.size_bytes % (counts[0] * block):
        return None
    return found.size_bytes // counts[0]


def _writes_a_log(bench: Bench, found: Repeating, place: int, waits: Waits) -> int | None:
    """Count the writes of a block from one merge to the next; None if most differ."""
    block = bench.info.logical_block_bytes
    units = np.setdiff1d(np.arange(1, _units(bench, found)), place // found.size_bytes)
    most = (LOGS + 1) * found.size_bytes // block
    taken_ns = np.empty(0)
    merge_runs.renew(bench)
    with write_through.writing(bench) as writer:
        _take_logs(writer, found, units[: waits.logs_taken])
        while taken_ns.size < most:
            count = min(max(taken_ns.size, FEWEST_REWRITES), most - taken_ns.size)
            more = merge_runs.undisturbed(writer, np.full(count, place), block, most_lost=1.0)
            taken_ns = np.append(taken_ns, more)
            between = np.diff(_merges(taken_ns > waits.limit_ns))
            if between.size >= LOGS:
                usual = int(np.median(between))
                return usual if (between == usual).mean() > ALIKE else None
    return None


def _merges(waits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give the writes that a merge began with; where each one waits, all wait for somebody else."""
    return np.flatnonzero(waits[1:] & ~waits[:-1]) + 1


def _waits(bench: Bench, found: Repeating, at: int, count: int, seen: Waits) -> bool | None:
    """Say of a block, by its number from multiples of the size, whether it is in the next unit."""
    block = bench.info.logical_block_bytes
    rng = bench.rng(f"end of merge units {at} {count}")
    behind = np.full(count, found.size_bytes + at * block)
    taken_ns = _second_ns(bench, found, behind, block, seen.logs_taken, rng)
    return None if taken_ns is None else mostly(taken_ns, seen.limit_ns)


def _second_ns(
    bench: Bench,
    found: Repeating,
    behind: NDArray[np.int64],
    size: int,
    logs_taken: int,
    rng: np.random.Generator,
) -> NDArray[Any] | None:
    """Write in the middle of units and then so far behind their beginnings; the latter.

    Of three units side by side the one between is in the middle, so that no pair comes near
    another, and what was longest ago comes next: a unit that has a log block does not wait. For
    the same reason those that come last take the log blocks first. None if others always disturb
    half of it.
    """
    unit = request_bytes(bench, found)
    order = rng.permutation((_units(bench, found) - 1) // 3) * 3 + 1
    begins = np.resize(order, behind.size) * found.size_bytes - found.stream.phase_bytes
    pairs = np.column_stack([begins + found.size_bytes // 2 // unit * unit, begins + behind])
    last = (order[-logs_taken // 3 :, None] + np.array([-1, 0, 1])).ravel()

    def write() -> NDArray[Any]:
        with write_through.writing(bench) as writer:
            _take_logs(writer, found, last)
            return merge_runs.undisturbed(writer, pairs.ravel(), size, MOST_LOST, PAIR)

    taken_ns = merge_runs.afresh(bench, write)
    if taken_ns is None:
        return None
    return np.where(np.isnan(taken_ns[::2]), np.nan, taken_ns[1::2])


def _units(bench: Bench, found: Repeating) -> int:
    """Count whole units; the first one may begin before the drive does."""
    return bench.info.capacity_bytes // found.size_bytes - 1


def _take_logs(writer: Writer, found: Repeating, units: NDArray[np.int64]) -> None:
    """Write to so many units, whether or not others let the times be known."""
    unit = request_bytes(writer.bench, found)
    middle = found.size_bytes // 2 // unit * unit - found.stream.phase_bytes
    merge_runs.alone(writer, units * found.size_bytes + middle, unit, most_lost=1.0)
