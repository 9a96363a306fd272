"""Draws the translation layer of a drive: units, placement, spare space, collection."""

import math

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.shape import number
from ssdscope.targets.drive_writer import Value

MIB = 1 << 20
CAPACITY_BYTES = (256 * MIB, 4096 * MIB)
SPARE_BLOCKS_MIN = 12
"""Of a plane; collection needs five, and what is left is what a probe can find."""
LARGEST_UNIT_BYTES = 64 * 1024
UNIT_PAGES = (2, 3, 4, 6, 8, 12, 16)
RUNS = (1, 2, 3, 4, 6, 8)


def draw_firmware(dice: Dice, chips: dict[str, Value]) -> dict[str, Value] | None:
    """Draw the translation layer for some chips; None if they are too large for any capacity."""
    kind = dice.pick(("page", "log-block"))
    values: dict[str, Value] = {"ftl.kind": kind, "ftl.plane_order": dice.pick(PLANE_ORDERS)}
    values |= _draw_units(dice, chips)
    values |= _draw_page_mapped(dice, chips, values) if kind == "page" else _draw_logs(dice)
    capacity = dice.log_uniform(*CAPACITY_BYTES)
    planes = planes_of(chips)
    block = block_bytes_of(chips)
    spare = dice.log_uniform(0.06, 0.5)
    exported = capacity / (planes * block)
    blocks = math.ceil(exported * (1 + spare))
    if kind == "page":
        extra = number(values, "pslc.blocks")
        values.pop("pslc.blocks", None)
        needed = SPARE_BLOCKS_MIN + extra
        if blocks - exported - extra < SPARE_BLOCKS_MIN or extra > exported:
            return None
        values |= draw_water(dice, blocks, (blocks - exported - extra) / blocks)
    else:
        width = dice.pick(_merge_widths(chips, values))
        values["ftl.merge_unit_bytes"] = width * block
        groups = planes // width
        needed = math.ceil((number(values, "ftl.log_blocks") + 3) / groups)
        if exported * groups < 64:
            return None
    blocks = max(blocks, math.ceil(exported) + needed)
    if exported < 24 or blocks > 3 * exported:
        return None
    values["nand.blocks_per_plane"] = blocks
    values["over_provisioning_ratio"] = round(blocks / exported - 1, 4)
    if "pslc.bytes" in values:
        values["pslc.bytes"] = extra * region_block_bytes(chips, values) * planes
    return values


PLANE_ORDERS = ("CWDP", "CDWP", "CWPD", "PDWC", "WCDP", "CPWD")


def planes_of(values: dict[str, Value]) -> int:
    """Count the planes of the whole drive."""
    keys = ("nand.channels", "nand.ways", "nand.dies", "nand.planes")
    return math.prod(number(values, key, 1) for key in keys)


def block_bytes_of(values: dict[str, Value]) -> int:
    """Give the bytes of a physical block."""
    return number(values, "nand.pages_per_block") * number(values, "nand.page_bytes")


def _draw_units(dice: Dice, chips: dict[str, Value]) -> dict[str, Value]:
    """Draw mapping unit, pages in a row and alignment, of those that fit the chips."""
    page, planes = number(chips, "nand.page_bytes"), planes_of(chips)
    block = number(chips, "host.logical_block_bytes")
    rows_of = number(chips, "nand.pages_per_block")
    fitting = [
        (unit, run)
        for unit in (1, *UNIT_PAGES)
        for run in RUNS
        if unit * page <= LARGEST_UNIT_BYTES and unit * page % block == 0
        if fits(unit, run, planes, rows_of)
    ]
    large = dice.chance(0.5)
    in_a_row = dice.chance(0.4)
    wanted = [(u, r) for u, r in fitting if (u > 1) == large and (r > 1) == in_a_row]
    unit, run = dice.pick(wanted or fitting)
    values: dict[str, Value] = {"ftl.map_unit_bytes": unit * page, "ftl.placement_pages": run}
    blocks = unit * page // block
    if dice.chance(0.4) and blocks > 1:
        values["ftl.phase_bytes"] = dice.whole(1, blocks - 1) * block
    return values


def fits(unit: int, run: int, planes: int, pages_per_block: int) -> bool:
    """Whether units of so many pages, so many in a row, go evenly onto the planes."""
    if unit % run and run % unit:
        return False
    runs = -(-unit // run)
    if planes % runs and runs % planes:
        return False
    rows = unit // min(unit // min(run, unit), planes)
    units_in_a_row = max(run // unit, 1)
    return pages_per_block % rows == 0 and pages_per_block // rows % units_in_a_row == 0


def _draw_page_mapped(
    dice: Dice, chips: dict[str, Value], layout: dict[str, Value]
) -> dict[str, Value]:
    """Draw what only page-mapped drives have."""
    values: dict[str, Value] = {
        "ftl.allocation": dice.pick(("order", "address")),
        "gc.policy": dice.pick(("greedy", "greedy", "greedy", "cost-benefit", "fifo", "random")),
    }
    if dice.chance(0.6):
        width = unit_planes_of(chips, layout)
        groups = [n for n in range(2, planes_of(chips) + 1) if planes_of(chips) // width % n == 0]
        if groups:
            values["ftl.reclaim_unit_bytes"] = dice.pick(groups) * width * block_bytes_of(chips)
    if number(chips, "nand.bits_per_cell") > 1 and dice.chance(0.75):
        program = number(chips, "nand.program_ns")
        fold_when_idle = not dice.chance(0.3)
        values |= {
            "pslc.blocks": dice.whole(3, 12),
            "pslc.bytes": 0,
            "pslc.read_ns": dice.whole(20_000, 35_000),
            "pslc.program_ns": round(program * dice.uniform(0.2, 0.5)),
            "pslc.fold_when_idle": fold_when_idle,
            "pslc.overflow": dice.pick(("fold", "direct")) if fold_when_idle else "fold",
        }
    return values | _draw_idle(dice)


def unit_planes_of(chips: dict[str, Value], layout: dict[str, Value]) -> int:
    """Count the planes that a mapping unit lies on."""
    unit = number(layout, "ftl.map_unit_bytes") // number(chips, "nand.page_bytes")
    in_a_row = min(number(layout, "ftl.placement_pages"), unit)
    return min(unit // in_a_row, planes_of(chips))


def region_block_bytes(chips: dict[str, Value], values: dict[str, Value]) -> int:
    """Bytes that a block of the one-bit region holds: whole units, whole turns of a superblock."""
    unit = number(values, "ftl.map_unit_bytes") // number(chips, "nand.page_bytes")
    width = unit_planes_of(chips, values)
    rows = unit // width
    pages = number(chips, "nand.pages_per_block") // number(chips, "nand.bits_per_cell") // rows
    if number(values, "ftl.reclaim_unit_bytes") > width * block_bytes_of(chips):
        in_a_row = max(number(values, "ftl.placement_pages") // unit, 1)
        pages -= pages % in_a_row
    return pages * rows * number(chips, "nand.page_bytes")


def _draw_idle(dice: Dice) -> dict[str, Value]:
    """Draw collection or merging in idle time."""
    return {
        "gc.background": dice.chance(0.5),
        "gc.idle_ns": round(dice.log_uniform(5e6, 1e9)),
    }


def draw_water(dice: Dice, blocks: int, spare_ratio: float) -> dict[str, Value]:
    """Draw when collection starts and stops, within the spare space that there is."""
    low = min(dice.uniform(0.01, 0.04), spare_ratio / 3)
    high = min(low + dice.uniform(0.01, 0.1), 2 * spare_ratio / 3)
    return {
        "gc.low_water_ratio": round(low, 4),
        "gc.high_water_ratio": round(max(high, low), 4),
        "gc.min_free_blocks": min(4, max(3, blocks // 32)),
    }


def _draw_logs(dice: Dice) -> dict[str, Value]:
    """Draw the log blocks; their size is decided with the capacity."""
    return {
        "ftl.log_association": dice.pick(("one-to-one", "many-to-one")),
        "ftl.log_blocks": dice.whole(3, 40),
        "ftl.log_victim": dice.pick(("lru", "fifo")),
        **_draw_idle(dice),
    }


def _merge_widths(chips: dict[str, Value], values: dict[str, Value]) -> list[int]:
    """How many blocks side by side a merge unit may be."""
    planes, least = planes_of(chips), unit_planes_of(chips, values)
    return [width for width in range(least, planes + 1, least) if planes % width == 0]
