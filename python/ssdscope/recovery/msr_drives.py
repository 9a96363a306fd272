"""Draws drives with the firmware of DiskSim's SSD extension."""

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.shape import number
from ssdscope.recovery.truth_of_msr import logical_pages
from ssdscope.targets.drive_writer import Value

KEPT_BLOCKS_MIN = 6
"""Of a plane, beyond those that start cleaning: with fewer it may make no progress."""


def draw_msr(dice: Dice, capacity_bytes: tuple[float, float]) -> dict[str, Value] | None:
    """Draw such a drive of a capacity between two; None if its chips do not fit there."""
    values: dict[str, Value] = {
        "default_state": "sequential",
        "nand.channels": dice.whole(2, 16),
        "nand.planes": dice.pick((1, 2, 4, 8)),
        "nand.blocks_per_plane": dice.whole(48, 400),
        "nand.pages_per_block": dice.pick((32, 48, 64, 96, 128)),
        "nand.page_bytes": dice.pick((2048, 4096, 4096, 8192)),
        "nand.read_ns": round(dice.log_uniform(20_000, 70_000)),
        "nand.program_ns": round(dice.log_uniform(150_000, 900_000)),
        "nand.erase_ns": round(dice.log_uniform(1e6, 4e6)),
        "nand.endurance_erases": dice.pick((50, 500, 5_000)),
        "channel.ns_per_byte": dice.log_uniform(2, 25),
        "host.bytes_per_second": dice.log_uniform(150e6, 2.2e9),
        "ftl.kind": "msr",
        "gc.policy": dice.pick(("greedy", "wear-aware")),
        "gc.background": dice.chance(0.5),
    }
    blocks = number(values, "nand.blocks_per_plane")
    kept = dice.log_uniform(0.1, 0.4)
    low = dice.uniform(0.1, 0.6) * kept
    if (kept - low) * blocks < KEPT_BLOCKS_MIN:
        return None
    values |= {"msr.reserve_ratio": round(kept, 4), "gc.low_water_ratio": round(low, 4)}
    pages = number(values, "nand.channels") * logical_pages(values)
    capacity = pages * number(values, "nand.page_bytes")
    return values if capacity_bytes[0] <= capacity <= capacity_bytes[1] else None
