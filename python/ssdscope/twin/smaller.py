"""The same drive with less of it, on which writes show the same in a fraction of the time.

A drive that was filled in order costs next to nothing to make, so bursts run on all of it. Random
writes that were kept up before cost as much as there are units. What is kept up hangs on shares
alone: of spare space over what collection keeps free, of tables and buffers in what is written all
over. So there the shares are kept, of as many units as a burst leaves room for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ssdscope.twin.design import BESIDE_LOGS, SPARE, STOP_BLOCKS

if TYPE_CHECKING:
    from ssdscope.twin.design import Design, Value

__all__ = ["at_rest", "for_bursts", "written_over"]

WHOLE_UNITS = 1 << 26
"""Of a drive that was filled in order: so many cost next to nothing."""
BURSTS = 8
"""Times the longest burst, that a smaller drive holds at least: then collection finds as little."""
RANDOM_UNITS = 250_000
"""Of a drive that was written over at random, at least, if bursts run on it."""
ROOM_BURSTS = 2
"""Times the longest burst, of what is free or fast, beyond which more of it never shows."""
UNITS, MOST_UNITS = 25_000, 400_000
"""Of a drive that is brought to rest, where that leaves blocks enough, and at most: what it costs
goes with them, and not with its bytes."""
LEAST_BLOCKS = 128
"""In a plane of such a drive: those that are open or kept free are then a small share."""
LEAST_ROOM = 12
"""Blocks of a plane that collection has to work with: one more or less is then some percent."""
LEAST_PAGES = 32
"""In a block of it. Blocks are made smaller only if they must: a drive stops for as long as one is
collected."""
FRONTIERS = 3
"""Blocks of a plane that collection cannot use: two are being written, one is being collected."""
LOW_WATER, HIGH_WATER, LEAST_FREE = 0.05, 0.06, 4
"""The defaults of ``gc.low_water_ratio``, ``gc.high_water_ratio`` and ``gc.min_free_blocks``."""
LEAST_MERGE_UNITS, LEAST_LOGS = 256, 12
"""Units of merging; and log blocks, that are the same share of fewer units within some percent."""
DRAINED_PAGES = 16
"""For each plane: what a buffer sends to the flash at once by default."""


def for_bursts(design: Design, longest_bytes: int) -> Design:
    """Return a drive on which bursts up to a length take as long.

    Parameters
    ----------
    longest_bytes
        What the longest burst writes.
    """
    if design.disk or design.log_block:
        return design
    least = max(RANDOM_UNITS, BURSTS * longest_bytes // design.unit_bytes)
    if written_over(str(design.values.get("default_state"))):
        return _collecting(design, least)
    if design.capacity_bytes <= WHOLE_UNITS * design.unit_bytes:
        return design
    return _with_room(design, least * design.unit_bytes, ROOM_BURSTS * longest_bytes)


def written_over(state: str) -> bool:
    """Say whether a drive in a state costs as much to make as it has units."""
    return state.startswith(("random", "steady"))


def _with_room(design: Design, capacity: int, enough_bytes: int) -> Design:
    """Keep what is free or fast, up to what is enough."""
    bits = design.whole("nand.bits_per_cell", 1)
    region = min(design.whole("pslc.bytes"), enough_bytes)
    spare = design.number(SPARE) * design.capacity_bytes - design.region_raw_bytes
    keys: dict[str, Value] = {}
    if design.whole("pslc.bytes"):
        step = design.row_bytes // bits
        keys["pslc.bytes"] = max(region // step, 1) * step
    if design.whole("pslc.dynamic_bytes"):
        keys["pslc.dynamic_bytes"] = min(design.whole("pslc.dynamic_bytes"), enough_bytes)
    keys[SPARE] = (min(max(spare, 0.0), bits * enough_bytes) + bits * region) / capacity
    share = capacity / design.capacity_bytes
    return _of(design, capacity, keys | _tables(design, share, capacity))


def at_rest(design: Design) -> Design:
    """Return a drive that comes to the same rest, small enough to be brought there at once."""
    if design.disk:
        return design
    return _merging(design) if design.log_block else _collecting(design, UNITS)


def _merging(design: Design) -> Design:
    unit, logs = design.whole("ftl.merge_unit_bytes"), design.whole("ftl.log_blocks", 8)
    whole = design.capacity_bytes / unit
    units = max(LEAST_MERGE_UNITS, math.ceil(whole * min(LEAST_LOGS / logs, 1)))
    if units >= whole:
        return design
    capacity, share = units * unit, units / whole
    logs = max(round(logs * share), 1)
    keys: dict[str, Value] = {"ftl.log_blocks": logs, SPARE: (logs + BESIDE_LOGS) * unit / capacity}
    return _of(design, capacity, keys | _memories(design, share, capacity))


def _collecting(design: Design, least_units: int) -> Design:
    """Keep the share that collection has to work with, over what it keeps free."""
    all_blocks, used = design.blocks, design.capacity_bytes / design.row_bytes
    spare = all_blocks - used - design.region_raw_bytes / design.row_bytes - FRONTIERS
    # Where it always collects, what it works with are the last blocks.
    always = spare - _kept_free(design, all_blocks) < 1
    room = max(spare - _kept_free(design, all_blocks, always=always), 1.0)
    pages, blocks = _shape(design, all_blocks, room / used, least_units)
    if (pages, blocks) == (design.whole("nand.pages_per_block", 64), all_blocks):
        return design
    row = design.planes * pages * design.page_bytes
    bits = design.whole("nand.bits_per_cell", 1)
    step, whole_step = row / bits, design.row_bytes / bits
    ratio = blocks / all_blocks
    regions = [design.whole(key) / whole_step for key in ("pslc.bytes", "pslc.dynamic_bytes")]
    fewer = [max(round(each * ratio), 1) if each else 0 for each in regions]
    held = blocks - fewer[0] - _kept_free(design, blocks, always=always) - FRONTIERS
    capacity = int(held * row / (1 + room / used)) // design.unit_bytes * design.unit_bytes
    keys: dict[str, Value] = {"nand.pages_per_block": pages, SPARE: blocks * row / capacity - 1}
    for key, count in zip(("pslc.bytes", "pslc.dynamic_bytes"), fewer, strict=True):
        if count:
            keys[key] = round(count * step)
    if design.whole("ftl.reclaim_unit_bytes"):
        share_of_block = pages / design.whole("nand.pages_per_block", 64)
        keys["ftl.reclaim_unit_bytes"] = round(
            design.whole("ftl.reclaim_unit_bytes") * share_of_block
        )
    share = capacity / design.capacity_bytes
    return _of(design, capacity, keys | _memories(design, share, capacity))


def _shape(design: Design, blocks: int, room: float, least_units: int) -> tuple[int, int]:
    """Return pages of a block and blocks of a plane, so that there are few units.

    Parameters
    ----------
    blocks
        Of a plane, of the whole drive.
    room
        What collection has to work with, as a share of what is held.
    least_units
        Of the drive.
    """
    pages, quantum = design.whole("nand.pages_per_block", 64), design.quantum_pages
    row = design.unit_bytes / (design.planes * design.page_bytes)
    least = min(blocks, max(LEAST_BLOCKS, math.ceil(LEAST_ROOM * (1 + room) / room)))
    while pages * least > MOST_UNITS * row and pages >= 2 * LEAST_PAGES:
        if pages % (2 * quantum):
            break
        pages //= 2
    blocks = min(blocks, max(math.ceil(least_units * row / pages), least))
    return pages, blocks


def _kept_free(design: Design, blocks: int, *, always: bool = False) -> float:
    """Return the blocks of a plane that it keeps free on average; at least, if it always collects.

    It collects from low to high water.
    """
    stops = design.whole("gc.stop_writes_blocks", STOP_BLOCKS)
    if always:
        return stops
    least = max(design.whole("gc.min_free_blocks", LEAST_FREE), stops)
    low, high = (
        design.number(f"gc.{name}_water_ratio", usual) * blocks
        for name, usual in (("low", LOW_WATER), ("high", HIGH_WATER))
    )
    low = max(math.floor(low), least)
    return (low + max(math.floor(high), low)) / 2


def _memories(design: Design, share: float, capacity: int) -> dict[str, Value]:
    """Leave of buffers and tables their shares, but for what keeps all planes at work."""
    keys = _tables(design, share, capacity)
    buffer, unit = design.whole("write_buffer.bytes"), design.whole("write_buffer.unit_bytes", 4096)
    if buffer:
        least = min(buffer, 2 * DRAINED_PAGES * design.planes * design.page_bytes)
        keys["write_buffer.bytes"] = max(int(buffer * share), least, unit) // unit * unit
    return keys


def _tables(design: Design, share: float, capacity: int) -> dict[str, Value]:
    keys: dict[str, Value] = {}
    if design.values.get("map.kind") == "demand":
        keys["map.cache_bytes"] = max(int(design.number("map.cache_bytes", 2 << 20) * share), 128)
    if design.values.get("map.kind") == "zones":
        step = design.whole("ftl.merge_unit_bytes") if design.log_block else design.unit_bytes
        zone = max(round(design.number("map.zone_bytes", 64 << 20) * share / step), 1) * step
        keys["map.zone_bytes"] = min(zone, capacity // step * step)
    cache, cell = design.whole("read_cache.bytes"), design.whole("read_cache.unit_bytes", 4096)
    if cache:
        least = min(cache, 4 * design.whole("read_cache.read_ahead_bytes"))
        keys["read_cache.bytes"] = max(int(cache * share), least, cell) // cell * cell
    return keys


def _of(design: Design, capacity: int, keys: dict[str, Value]) -> Design:
    capacity -= design.whole("ftl.phase_bytes")
    return type(design)({**design.values, **keys}, capacity)
