"""Draws what a drive keeps in its memory: write buffer, read cache, parts of the mapping table."""

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.shape import Values, number, shape_of
from ssdscope.targets.drive_writer import Value

KIB = 1 << 10
MIB = 1 << 20
UNITS_BYTES = (4096, 4096, 8192, 12_288, 16_384, 32_768)


def draw_write_buffer(dice: Dice, values: Values) -> dict[str, Value]:
    """Draw a write buffer, of half of the drives."""
    if not dice.chance(0.5):
        return {}
    unit = dice.pick(UNITS_BYTES)
    least = max(64 * KIB, 2 * number(values, "ftl.map_unit_bytes"))
    most = min(32 * MIB, shape_of(values).capacity_bytes // 32)
    drain = dice.pick(("eager", "high-water", "full", "idle"))
    drawn: dict[str, Value] = {
        "write_buffer.bytes": max(round(dice.log_uniform(least, most) / unit), 4) * unit,
        "write_buffer.unit_bytes": unit,
        "write_buffer.drain": drain,
        "write_buffer.order": dice.pick(("sequential-runs", "fifo", "lru")),
        "write_buffer.concurrent_drains": dice.pick((1, 2, 4, 8, 16, 32)),
        "write_buffer.ns_per_byte": dice.log_uniform(0.05, 0.5),
        "write_buffer.power_loss_protected": dice.chance(0.35),
        "write_buffer.switchable": dice.chance(0.65),
    }
    if drain == "high-water":
        drawn["write_buffer.high_water_ratio"] = dice.uniform(0.3, 0.9)
    if drain == "idle":
        drawn["write_buffer.idle_ns"] = round(dice.log_uniform(1e6, 1e8))
    return drawn


def draw_read_cache(dice: Dice, values: Values) -> dict[str, Value]:
    """Draw a read cache, of half of the drives, and reading ahead, of more than half of those."""
    if not dice.chance(0.5):
        return {}
    unit = dice.pick(UNITS_BYTES)
    most = min(64 * MIB, shape_of(values).capacity_bytes // 16)
    size = max(round(dice.log_uniform(256 * KIB, most) / unit), 8) * unit
    drawn: dict[str, Value] = {
        "read_cache.bytes": size,
        "read_cache.unit_bytes": unit,
        "read_cache.ns_per_byte": dice.log_uniform(0.05, 0.5),
        "read_cache.switchable": dice.chance(0.65),
    }
    step = number(values, "ftl.map_unit_bytes")
    if dice.chance(0.6) and size // 2 >= step:
        pages = round(dice.log_uniform(step, min(size // 2, 2 * MIB)) / step)
        drawn["read_cache.read_ahead_bytes"] = max(pages, 1) * step
    return drawn


def draw_map(dice: Dice, values: Values) -> dict[str, Value]:
    """Draw how the mapping table is kept: in memory, in zones, or (page-mapped) on demand."""
    capacity = shape_of(values).capacity_bytes
    if values["ftl.kind"] == "log-block":
        kind = dice.pick(("ram", "zones"))
    else:
        kind = dice.pick(("ram", "zones", "demand"))
    if kind == "demand":
        return _draw_demand(dice, values, capacity)
    if kind == "ram":
        return {"map.kind": "ram"}
    log_block = values["ftl.kind"] == "log-block"
    step = number(values, "ftl.merge_unit_bytes" if log_block else "ftl.map_unit_bytes")
    zone = max(round(dice.log_uniform(capacity / 256, capacity / 12) / step), 1) * step
    fit = max(capacity // 3 // zone, 1)
    return {
        "map.kind": "zones",
        "map.zone_bytes": zone,
        "map.resident_zones": min(round(dice.log_uniform(1, 24)), fit),
        "map.load_ns": round(dice.log_uniform(50_000, 2_000_000)),
        "map.write_back_ns": round(dice.log_uniform(200_000, 3_000_000)),
    }


def _draw_demand(dice: Dice, values: Values, capacity: int) -> dict[str, Value]:
    unit = number(values, "ftl.map_unit_bytes")
    entries = max(round(dice.log_uniform(capacity / 64, capacity / 4) / unit), 16)
    return {
        "map.kind": "demand",
        "map.cache_bytes": entries * 8,
        "map.load_bytes": dice.pick((512, 1024, 2048)),
    }
