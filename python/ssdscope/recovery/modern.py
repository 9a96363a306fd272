"""Draws drives by other rules than `generator`: large units, many channels, three or four bits.

`docs/observability.md` has them as a table.
"""

import math

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.firmware import (
    PLANE_ORDERS,
    RUNS,
    SPARE_BLOCKS_MIN,
    block_bytes_of,
    draw_water,
    fits,
    planes_of,
    region_block_bytes,
    unit_planes_of,
)
from ssdscope.recovery.hardware import draw_link
from ssdscope.recovery.memory import draw_map
from ssdscope.recovery.shape import number
from ssdscope.targets.drive_writer import Value

KIB = 1 << 10
MIB = 1 << 20
CHANNELS = (5, 24)
UNIT_BYTES = (20 * KIB, 256 * KIB)
CACHE_UNITS_BYTES = tuple(512 * n for n in (1, 2, 3, 4, 8, 12, 16, 32, 48, 96, 128, 256, 512, 1024,
                                            1536, 2048))  # fmt: skip
"""Of write buffers and read caches: from a sector to 1 MiB."""
TIMERS_APART = 2.2
"""At least so many times as long is one of the timers of idle time as the other."""
PLANES_MAX = 96
"""A drive of a few gigabytes has blocks enough on so many planes at most."""
_EXPORTED_BLOCKS_MIN = 24
_CELLS = {
    # bits per cell: mean read, program, erase in nanoseconds; the share of it that each page takes
    2: ((45_000, 70_000), (600_000, 1_000_000), (2_000_000, 3_500_000), (0.8, 1.2)),
    3: ((55_000, 95_000), (660_000, 1_500_000), (3_000_000, 6_000_000), (0.75, 1.0, 1.25)),
    4: ((80_000, 150_000), (1_500_000, 3_000_000), (4_000_000, 10_000_000), (0.7, 0.9, 1.1, 1.3)),
}
_REGION_READ_NS = (20_000, 35_000)

Types = dict[str, list[int]]
"""Times by type of page, by key."""


def draw_modern(
    dice: Dice, capacity_bytes: tuple[float, float]
) -> tuple[dict[str, Value], Types] | None:
    """Draw a page-mapped drive of a capacity between two; None if its chips do not fit there."""
    values, types = _draw_chips(dice)
    if planes_of(values) > PLANES_MAX:
        return None
    values |= draw_link(dice) | _draw_features(dice) | {"ftl.kind": "page"}
    for part in (_draw_units, _draw_collection):
        drawn = part(dice, values)
        if drawn is None:
            return None
        values |= drawn
    sizes = _draw_sizes(dice, values, dice.log_uniform(*capacity_bytes))
    if sizes is None:
        return None
    values |= sizes | {"default_state": "sequential"}
    capacity = capacity_of(values)
    if not capacity_bytes[0] <= capacity <= capacity_bytes[1]:
        return None
    values |= _draw_buffer(dice, values, capacity) | _draw_cache(dice, values, capacity)
    return values | draw_map(dice, values), types


def capacity_of(values: dict[str, Value]) -> float:
    """Give the capacity, near enough to size what hangs on it."""
    raw = number(values, "nand.blocks_per_plane") * planes_of(values) * block_bytes_of(values)
    return raw / (1 + float(values["over_provisioning_ratio"]))


def _draw_chips(dice: Dice) -> tuple[dict[str, Value], Types]:
    bits = dice.pick((2, 3, 3, 4))
    read, program, erase, shares = _CELLS[bits]
    values: dict[str, Value] = {
        "nand.channels": dice.whole(*CHANNELS),
        "nand.ways": dice.pick((1, 1, 2)),
        "nand.dies": dice.pick((1, 1, 2)),
        "nand.planes": dice.pick((1, 1, 2, 4)),
        "nand.pages_per_block": dice.pick((48, 60, 72, 96, 120, 144, 192, 240)),
        "nand.page_bytes": dice.pick((4096, 4096, 8192, 16_384)),
        "nand.read_ns": round(dice.log_uniform(*read)),
        "nand.program_ns": round(dice.log_uniform(*program)),
        "nand.erase_ns": round(dice.log_uniform(*erase)),
        "nand.bits_per_cell": bits,
        "nand.endurance_erases": 1_000_000,
        "channel.ns_per_byte": dice.log_uniform(0.6, 5.0),
        "channel.read_command_ns": dice.whole(0, 500),
        "channel.program_command_ns": dice.whole(0, 500),
        "channel.erase_command_ns": dice.whole(0, 500),
    }
    types: Types = {}
    for kind in ("read", "program") if dice.chance(0.75) else ():
        mean = number(values, f"nand.{kind}_ns")
        types[f"nand.{kind}_by_type_ns"] = [round(mean * share) for share in shares]
    return values, types


def _draw_features(dice: Dice) -> dict[str, Value]:
    """Draw what chips and controllers can do besides."""
    values: dict[str, Value] = {
        f"scheduler.{name}": dice.chance(share)
        for name, share in (
            ("way_interleave", 0.8), ("die_interleave", 0.8), ("multi_plane", 0.7),
            ("multi_plane_erase", 0.4), ("cached_read", 0.25), ("cached_program", 0.25),
            ("data_first", 0.5),
        )
    }  # fmt: skip
    values["gc.copyback"] = dice.chance(0.2)
    suspend = dice.pick(("none", "none", "erase", "program-and-erase"))
    if suspend != "none":
        values["scheduler.suspend"] = suspend
        values["scheduler.suspend_ns"] = dice.whole(5_000, 50_000)
        values["scheduler.resume_ns"] = dice.whole(5_000, 50_000)
    return values


def _draw_units(dice: Dice, values: dict[str, Value]) -> dict[str, Value] | None:
    """Draw mapping unit, pages in a row and alignment, of those that fit the chips."""
    page, planes = number(values, "nand.page_bytes"), planes_of(values)
    rows = number(values, "nand.pages_per_block")
    pages = range(-(-UNIT_BYTES[0] // page), UNIT_BYTES[1] // page + 1)
    by_unit = {unit: [run for run in (*RUNS, unit) if fits(unit, run, planes, rows)]
               for unit in pages}  # fmt: skip
    units = [unit for unit, runs in by_unit.items() if runs]
    if not units:
        return None
    unit = dice.pick(units)
    drawn: dict[str, Value] = {
        "ftl.plane_order": dice.pick(PLANE_ORDERS),
        "ftl.map_unit_bytes": unit * page,
        "ftl.placement_pages": dice.pick(by_unit[unit]),
    }
    block = number(values, "host.logical_block_bytes")
    if dice.chance(0.3):
        drawn["ftl.phase_bytes"] = dice.whole(1, unit * page // block - 1) * block
    return drawn


def _draw_collection(dice: Dice, values: dict[str, Value]) -> dict[str, Value]:
    drawn: dict[str, Value] = {
        "ftl.allocation": dice.pick(("order", "address")),
        "gc.policy": dice.pick(
            ("d-choices", "d-choices", "greedy", "cost-benefit", "wear-aware", "fifo", "random")
        ),
        "gc.choices": dice.whole(2, 16),
        "gc.background": dice.chance(0.6),
        "gc.idle_ns": round(dice.log_uniform(5e6, 1e9)),
        "wear.dynamic": dice.chance(0.4),
        "wear.static_spread_erases": dice.whole(4, 40) if dice.chance(0.4) else 0,
    }
    width = unit_planes_of(values, values)
    groups = [n for n in range(2, planes_of(values) + 1) if planes_of(values) // width % n == 0]
    if groups and dice.chance(0.6):
        drawn["ftl.reclaim_unit_bytes"] = dice.pick(groups) * width * block_bytes_of(values)
    if number(values, "nand.bits_per_cell") > 2 and dice.chance(0.75):
        empties = dice.chance(0.8)
        drawn |= {
            "pslc.bytes": dice.whole(3, 10),  # in blocks of each plane, until their size is known
            "pslc.read_ns": dice.whole(*_REGION_READ_NS),
            "pslc.program_ns": round(number(values, "nand.program_ns") * dice.uniform(0.1, 0.4)),
            "pslc.fold_when_idle": empties,
            "pslc.overflow": dice.pick(("fold", "direct")) if empties else "fold",
        }
    return drawn


def _draw_sizes(dice: Dice, values: dict[str, Value], capacity: float) -> dict[str, Value] | None:
    """Draw how many blocks there are, and how many of them are spare."""
    planes, block = planes_of(values), block_bytes_of(values)
    exported = capacity / (planes * block)
    region = number(values, "pslc.bytes")
    blocks = math.ceil(exported * (1 + dice.log_uniform(0.07, 0.5)))
    blocks = max(blocks, math.ceil(exported) + SPARE_BLOCKS_MIN + region)
    if exported < _EXPORTED_BLOCKS_MIN or blocks > 3 * exported:
        return None
    sizes = {
        "nand.blocks_per_plane": blocks,
        "over_provisioning_ratio": round(blocks / exported - 1, 4),
        **draw_water(dice, blocks, (blocks - exported - region) / blocks),
    }
    if region:
        sizes["pslc.bytes"] = region * region_block_bytes(values, values) * planes
    return sizes


def _unit(dice: Dice, values: dict[str, Value]) -> int:
    """Draw a unit that holds whole logical blocks, or of which they hold whole ones."""
    block = number(values, "host.logical_block_bytes")
    return dice.pick([n for n in CACHE_UNITS_BYTES if n % block == 0 or block % n == 0])


def _draw_buffer(dice: Dice, values: dict[str, Value], capacity: float) -> dict[str, Value]:
    """Draw a write buffer, of most drives, with a timer unlike that of collection."""
    if not dice.chance(0.75):
        return {}
    unit = _unit(dice, values)
    least = max(128 * KIB, 2 * number(values, "ftl.map_unit_bytes"), 4 * unit)
    most = max(min(64 * MIB, capacity / 24), 2 * least)
    drain = dice.pick(("eager", "high-water", "full", "idle", "idle"))
    drawn: dict[str, Value] = {
        "write_buffer.bytes": round(dice.log_uniform(least, most) / unit) * unit,
        "write_buffer.unit_bytes": unit,
        "write_buffer.drain": drain,
        "write_buffer.order": dice.pick(("sequential-runs", "fifo", "lru")),
        "write_buffer.concurrent_drains": dice.pick((0, 1, 4, 16, 64)),
        "write_buffer.ns_per_byte": dice.log_uniform(0.05, 0.5),
        "write_buffer.power_loss_protected": dice.chance(0.75),
        "write_buffer.switchable": dice.chance(0.5),
    }
    if drain == "high-water":
        drawn["write_buffer.high_water_ratio"] = dice.uniform(0.3, 0.9)
    if drain == "idle":
        apart = dice.log_uniform(TIMERS_APART, 30)
        apart = 1 / apart if dice.chance(0.5) else apart
        drawn["write_buffer.idle_ns"] = round(number(values, "gc.idle_ns") * apart)
    return drawn


def _draw_cache(dice: Dice, values: dict[str, Value], capacity: float) -> dict[str, Value]:
    """Draw a read cache, of half of the drives, and reading ahead, of half of those."""
    if not dice.chance(0.5):
        return {}
    unit, step = _unit(dice, values), number(values, "ftl.map_unit_bytes")
    size = round(dice.log_uniform(max(512 * KIB, 8 * unit), max(capacity / 16, 16 * MIB)) / unit)
    drawn: dict[str, Value] = {
        "read_cache.bytes": size * unit,
        "read_cache.unit_bytes": unit,
        "read_cache.ns_per_byte": dice.log_uniform(0.05, 0.5),
        "read_cache.switchable": dice.chance(0.5),
    }
    if dice.chance(0.5) and size * unit >= 4 * step:
        drawn["read_cache.read_ahead_bytes"] = dice.pick((1, 2)) * step
    return drawn
