"""Draws drives after the presets: scaled down, and with other values."""

import math
import tomllib
from typing import Any

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.firmware import (
    SPARE_BLOCKS_MIN,
    block_bytes_of,
    planes_of,
    region_block_bytes,
)
from ssdscope.recovery.modern import PLANES_MAX, capacity_of
from ssdscope.recovery.shape import number
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.presets import preset_text

PRESETS = (
    "huang-ssd-a", "huang-ssd-i", "huang-ssd-s", "kuo-intel-mlc", "kuo-mtron-slc", "kuo-ocz-core",
    "kuo-ocz-vertex", "kuo-samsung-slc", "kuo-transcend-mlc", "kuo-transcend-slc", "mqsim-512g",
    "mqsim-8g", "nvme-datacentre", "nvme-dramless", "nvme-tlc", "ryu-a", "ryu-b", "ryu-c",
    "sata-tlc",
)  # fmt: skip
_EXPORTED_BLOCKS_MIN = 40
_PAGES_MIN = 32
_VARIED = {
    "nand.read_ns": (0.7, 1.5), "nand.program_ns": (0.7, 1.5), "nand.erase_ns": (0.6, 1.5),
    "pslc.read_ns": (0.8, 1.25), "pslc.program_ns": (0.7, 1.2),
    "channel.ns_per_byte": (0.6, 1.6), "host.bytes_per_second": (0.7, 1.5),
    "host.command_ns": (0.6, 1.6), "host.firmware_ns": (0.6, 1.6),
    "map.load_ns": (0.5, 2.0), "map.write_back_ns": (0.5, 2.0), "gc.idle_ns": (0.2, 2.0),
}  # fmt: skip
"""Keys of which a preset has a value, and what it is multiplied with."""
_DROPPED = ("description", "pslc.dynamic_bytes", "gc.idle_ns")
"""A region that borrows what is free has no size of its own: here it has blocks of its own."""


def draw_after_preset(dice: Dice, capacity_bytes: tuple[float, float]) -> dict[str, Value] | None:
    """Draw a drive after a preset, of a capacity between two; None if it does not fit there."""
    values = _preset(dice.pick(PRESETS))
    for key, (low, high) in _VARIED.items():
        if key in values:
            varied = float(values[key]) * dice.log_uniform(low, high)
            values[key] = round(varied) if isinstance(values[key], int) else float(f"{varied:.4g}")
    fits = _scale(dice, values, dice.log_uniform(*capacity_bytes))
    if not fits or not capacity_bytes[0] <= capacity_of(values) <= capacity_bytes[1]:
        return None
    _draw_table(dice, values)
    _draw_memory(dice, values)
    if number(values, "nand.page_bytes") % 4096 == 0 and dice.chance(0.5):
        values["host.logical_block_bytes"] = 4096
    if dice.chance(0.5):
        values |= {"gc.background": True, "gc.idle_ns": round(dice.log_uniform(5e6, 1e9))}
    return values


def _preset(name: str) -> dict[str, Value]:
    """Give the values of a preset by dotted key, with those that have to be there."""
    values: dict[str, Value] = {}
    document: dict[str, Any] = tomllib.loads(preset_text(name))
    for key, value in document.items():
        if isinstance(value, dict):
            values |= {f"{key}.{inner}": each for inner, each in value.items()}
        else:
            values[key] = value
    if "pslc.dynamic_bytes" in values:
        values["pslc.bytes"] = number(values, "pslc.bytes")
    for key in _DROPPED:
        values.pop(key, None)
    needed: dict[str, Value] = {
        "nand.ways": 1,
        "nand.dies": 1,
        "nand.planes": 1,
        "ftl.plane_order": "CWDP",
        "ftl.placement_pages": 1,
        "ftl.map_unit_bytes": values["nand.page_bytes"],
        "host.logical_block_bytes": 512,
    }
    fixed: dict[str, Value] = {
        "default_state": "sequential",
        "nand.endurance_erases": 1_000_000,
    }
    return needed | values | fixed


def _scale(dice: Dice, values: dict[str, Value], capacity: float) -> bool:
    """Bring a drive to a capacity, or as near as its planes allow; say whether it is one then."""
    times = capacity / capacity_of(values)
    while planes_of(values) > PLANES_MAX and number(values, "nand.planes") % 2 == 0:
        for key in ("nand.planes", "ftl.reclaim_unit_bytes"):
            values[key] = number(values, key) // 2
    while (
        capacity < _EXPORTED_BLOCKS_MIN * planes_of(values) * block_bytes_of(values)
        and number(values, "nand.pages_per_block") % (2 * _PAGES_MIN) == 0
    ):
        for key in ("nand.pages_per_block", "ftl.reclaim_unit_bytes", "ftl.merge_unit_bytes"):
            if key in values:
                values[key] = number(values, key) // 2
    planes, block = planes_of(values), block_bytes_of(values)
    exported = max(capacity / (planes * block), _EXPORTED_BLOCKS_MIN)
    spare = float(values["over_provisioning_ratio"]) * dice.log_uniform(0.7, 2.0)
    if "ftl.log_blocks" in values:
        logs = number(values, "ftl.log_blocks")
        logs = max(round(logs * times), 8) if logs > 64 else round(logs * dice.uniform(0.5, 1.5))
        values["ftl.log_blocks"] = logs
        least = math.ceil((logs + 3) * number(values, "ftl.merge_unit_bytes") / (planes * block))
    else:
        least = SPARE_BLOCKS_MIN + number(values, "gc.min_free_blocks", 4)
    if "pslc.bytes" in values:
        region = dice.whole(3, 10)
        least += region
        values["pslc.bytes"] = region * region_block_bytes(values, values) * planes
    blocks = max(math.ceil(exported * (1 + spare)), math.ceil(exported) + least)
    if blocks > 3 * exported:
        return False
    values["nand.blocks_per_plane"] = blocks
    values["over_provisioning_ratio"] = round(blocks / exported - 1, 4)
    return True


def _draw_table(dice: Dice, values: dict[str, Value]) -> None:
    """Scale what of the mapping table is in memory."""
    capacity, unit = capacity_of(values), number(values, "ftl.map_unit_bytes")
    match values.get("map.kind", "ram"):
        case "zones":
            step = number(values, "ftl.merge_unit_bytes", unit)
            zone = max(round(dice.log_uniform(capacity / 200, capacity / 8) / step), 1) * step
            resident = max(number(values, "map.resident_zones", 1), 1)
            values["map.zone_bytes"] = zone
            values["map.resident_zones"] = min(resident, max(int(capacity / 3 / zone), 1))
        case "demand":
            entries = max(round(dice.log_uniform(capacity / 64, capacity / 4) / unit), 16)
            values["map.cache_bytes"] = entries * number(values, "map.cached_entry_bytes", 8)


def _draw_memory(dice: Dice, values: dict[str, Value]) -> None:
    """Vary write buffer and read cache, whole units of each, small beside the drive."""
    for table, most in (("write_buffer", 24), ("read_cache", 16)):
        key = f"{table}.bytes"
        if key in values:
            unit = number(values, f"{table}.unit_bytes", 4096)
            size = min(number(values, key) * dice.log_uniform(0.5, 2.0),
                       capacity_of(values) / most)  # fmt: skip
            values[key] = max(round(size / unit), 4) * unit
