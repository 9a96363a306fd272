"""Reference measurements by reads: how strongly a mechanism shows on the undisturbed twin.

Each gives a contrast: how much longer the slower of two things takes, as a share of the faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdscope.recovery.addresses import pages_in_a_row
from ssdscope.recovery.shape import number
from ssdscope.recovery.truth import runs_width
from ssdscope.recovery.twin import Offsets, Twin, flush, force, read, write
from ssdscope.targets.device import Device

PAIRS = 384
READ_BYTES = 4096
SETTLE_NS = 2_000_000_000
PARTS = 8
ORDER_DEPTHS, ORDERS = (1, 8), 8
"""Depths; and how many random orders: one alone may show a little, or hide it, by chance."""
LOOKED_UP = 32
"""Large reads at once whose entries are looked up before."""


def conflict(twin: Twin) -> float:
    """Two page reads at once that meet on one die, against two that do not."""
    device = twin.fork()
    size = min(twin.shape.page_bytes, READ_BYTES)
    size = max(size, twin.block_bytes)
    units = np.unique(twin.resident_units(2 * PAIRS))
    pages = twin.stream.integers(0, twin.shape.unit_bytes // twin.shape.page_bytes, units.size)
    chosen = units + (pages * twin.shape.page_bytes).astype(np.uint64)
    chosen -= chosen % np.uint64(twin.block_bytes)
    kept = not twin.values.get("read_cache.switchable", True)
    if kept:  # What is read twice comes from the cache: looked up is what lies beside, if it can in
        # the same RMW unit.
        by, unit = max(number(twin.values, "read_cache.unit_bytes"), size), twin.shape.unit_bytes
        beside = chosen + np.uint64(by)
        if unit >= 2 * by:
            beside = units + (chosen - units + np.uint64(by)) % np.uint64(unit)
        inside = beside + np.uint64(size) <= twin.shape.capacity_bytes
        read(device, beside[inside], size)
        starts = twin.stream.permutation(chosen[inside])[: inside.sum() // 2 * 2].reshape(-1, 2)
    else:
        read(device, chosen, size)
        starts = twin.stream.choice(chosen, (PAIRS, 2))
    pairs = [read(device, pair, size, depth=2).max() for pair in starts if pair[0] != pair[1]]
    # Of two units half of the pairs meet, of more fewer: a fifth do not in any case.
    return float(np.max(pairs) / np.percentile(pairs, 20) - 1)


def chunk(twin: Twin) -> float:
    """Two reads at once on one plane, against two next to each other where a row of pages ends.

    Only a block of each page is read, so that the array counts and not the link. NaN where no two
    such pages are on the drive.
    """
    shape, size = twin.shape, twin.block_bytes
    phase, width = number(twin.values, "ftl.phase_bytes"), runs_width(twin.values, shape)
    log_block = twin.values["ftl.kind"] == "log-block"
    turn = shape.run_pages * shape.page_bytes * width
    row = (pages_in_a_row(twin.values, shape, width) or turn // shape.page_bytes) * shape.page_bytes
    if row == turn and log_block:
        row = shape.collected_bytes
    base = max(shape.collected_bytes if log_block else turn, row)
    bases = (np.unique(twin.resident_units(64)).astype(np.int64) + phase) // base * base
    # A page before the end of a row, and the page at its place in the turn before.
    last = bases + max(row, turn + row % turn) - phase - size
    last = last[
        (last - turn >= shape.page_bytes) & (last + shape.page_bytes < shape.capacity_bytes)
    ]
    if not last.size:
        return float("nan")
    # Beforehand what a block beside needs is looked up: a cache that stays on would keep the block.
    beside = min(size, shape.page_bytes - size)
    if beside <= 0:
        beside = 0 if twin.values.get("read_cache.switchable", True) else size
    medians = []
    for by in (size, -turn):
        device = twin.fork()
        for page in (last - beside, last + size + beside, last - beside - turn):
            read(device, page, size)
        # The one that the other follows goes second, lest it be read ahead.
        pairs = np.column_stack([last + by, last])
        medians.append(np.median([read(device, pair, size, depth=2).max() for pair in pairs]))
    across, same = medians
    return float(same / across - 1)


def volumes(twin: Twin, bits: Sequence[int]) -> float:
    """Random reads at depth with a bit of the address fixed, against free; of bits the least."""
    return min((_halving(twin, bit) for bit in bits), default=0.0)


def _halving(twin: Twin, bit: int) -> float:
    device, shape = twin.fork(), twin.shape
    depth = 8 * shape.dies
    count = max(2048, 16 * depth)
    size = max(min(shape.page_bytes, READ_BYTES), twin.block_bytes)
    free = twin.stream.integers(0, shape.capacity_bytes // size, count).astype(np.uint64)
    free *= np.uint64(size)
    fixed = free & ~np.uint64(1 << bit)
    rates = []
    for starts in (free, fixed):
        before = device.now_ns()
        read(device, starts, size, depth)
        rates.append(device.now_ns() - before)
    return rates[1] / rates[0] - 1


def reread(twin: Twin) -> float:
    """Time a read from flash against the same read from the cache."""
    device = twin.fork(caches=True)
    starts = twin.resident_units(32)
    read(device, starts + np.uint64(twin.block_bytes), twin.block_bytes)
    pairs = read(device, np.repeat(starts, 2), twin.block_bytes).reshape(-1, 2)
    return float(np.median(pairs[:, 0]) / np.median(pairs[:, 1]) - 1)


def ahead(twin: Twin) -> float:
    """Time a read that follows none, against one that follows two others after a pause."""
    device, size = twin.fork(caches=True), twin.shape.unit_bytes
    alone, following = [], []
    starts = twin.resident_units(24)
    for start in starts[starts + np.uint64(3 * size) <= twin.shape.capacity_bytes]:
        others = np.array([start, start + size], np.uint64)
        alone.append(read(device, others, size)[0])
        device.idle(50_000_000)
        following.append(read(device, [int(start) + 2 * size], size)[0])
    return float(np.median(alone) / np.median(following) - 1)


def map_miss(twin: Twin) -> float:
    """Time a read whose part of the table must be loaded, against one whose part is there."""
    device, size = twin.fork(), twin.block_bytes
    near = twin.resident_units(64)
    read(device, near, size)
    # Another block of the unit, where there is one: a read cache that stays on has the first.
    beside = size if twin.shape.unit_bytes > size else 0
    warm = float(np.median(read(device, near + np.uint64(beside), size)))
    far = twin.random_units(4096)
    cold = read(device, far, size)
    return float(np.percentile(cold, 75)) / warm - 1


@dataclass(frozen=True)
class OrderEffect:
    """What the order of writing does to large reads, as a share; longer or less long.

    Attributes
    ----------
    mean
        Of two regions, each of which is written in order once and at random once.
    least
        With the regions that way or the other, whichever shows it less; 0 if they contradict.
    """

    mean: float
    least: float


def order(twin: Twin) -> OrderEffect:
    """Large reads of a region written in random order, against one in order; of a drive in use.

    At the depth where they differ most. One region may lie better than another wherever its data
    came from, so both are exchanged; each way in several orders.
    """
    orders = [[_in_disorder(twin, way) for way in (False, True)] for _ in range(ORDERS)]
    both = np.mean(orders, axis=0)
    one, other = both[:, np.argmax(np.abs(both.mean(axis=0)))]
    least = min(abs(one), abs(other)) if one * other > 0 else 0.0
    return OrderEffect(float(np.expm1(abs(one + other) / 2)), float(np.expm1(least)))


def _in_disorder(twin: Twin, exchanged: bool) -> NDArray[np.float64]:
    """Logarithm of what reading takes of data written at random over in order, by depth."""
    # Else what looks up entries of a table would fill a read cache that stays on with the data, and
    # how many zones are loaded for some hundred reads in random order differs by chance.
    device, unit, (stream,) = twin.data_only.fork(), twin.shape.unit_bytes, twin.stream.spawn(1)
    count = min(32 << 20, twin.shape.capacity_bytes // 8) // unit
    phase = number(twin.values, "ftl.phase_bytes")
    begins = (1, 2 * count, 4 * count)
    *regions, before = [np.arange(first, first + count) * unit - phase for first in begins]
    if exchanged:
        regions.reverse()
    # Fresh from a fill, what is written in order keeps step on all planes; in use it does not.
    for part in np.array_split(np.arange(count), PARTS):
        force(device, stream.choice(before, part.size).astype(np.uint64), unit)
        force(device, regions[0][part].astype(np.uint64), unit)
        force(device, stream.permutation(regions[1][part]).astype(np.uint64), unit)
    # What came last must not be what a region of one bit per cell still holds.
    more = 2 * number(twin.values, "pslc.bytes") // unit
    write(device, stream.choice(before, more).astype(np.uint64), unit)
    if twin.values.get("write_buffer.power_loss_protected"):  # nor a buffer that no flush empties
        elsewhere = np.arange(5 * count, twin.shape.capacity_bytes // unit - 1) * unit - phase
        more = 2 * number(twin.values, "write_buffer.bytes") // unit
        write(device, stream.choice(elsewhere, more).astype(np.uint64), unit)
    flush(device)
    device.idle(SETTLE_NS)
    size = max(128 << 10, 4 * unit) // unit * unit
    contrasts = []
    for depth in ORDER_DEPTHS:
        copy, times = device.fork(), []
        pieces = stream.permutation(count // (size // unit)) * (size // unit)
        for region in regions:
            starts = region[pieces].astype(np.uint64)
            read(copy, starts, size, depth)
            times.append(_looked_up_ns(twin, copy, starts, size, depth))
        contrasts.append(np.log(times[1] / times[0]))
    return np.array(contrasts)


def _looked_up_ns(twin: Twin, device: Device, starts: Offsets, size: int, depth: int) -> int:
    """Read at a depth; give how long it took, without entries of a table on demand being loaded.

    Pages of such a table lie on the dies as well, by when they were last written back.
    """
    if twin.values.get("map.kind") != "demand":
        before_ns = device.now_ns()
        read(device, starts, size, depth)
        return device.now_ns() - before_ns
    units, took_ns = np.arange(0, size, twin.shape.unit_bytes, dtype=np.uint64), 0
    for some in np.array_split(starts, -(-starts.size // LOOKED_UP)):
        read(device, (some[:, None] + units).ravel(), twin.block_bytes, depth)
        before_ns = device.now_ns()
        read(device, some, size, depth)
        took_ns += device.now_ns() - before_ns
    return took_ns
