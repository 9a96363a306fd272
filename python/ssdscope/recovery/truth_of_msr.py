"""What a host sees of the firmware of DiskSim's SSD extension (`ftl.kind = "msr"`).

It maps by page, and a page's address chooses the element: page p is on element p mod their number.
An element does one thing at a time. A write goes to the plane that has most room: that is the one
that was cleaned last, until its new block is full. One page that is written again and again stays
on a plane, as a later version must lie in a later block. So an element looks like one plane with
the blocks of all of its planes, of which one is filled, and then one collected; the last page of a
block holds no data. Said so, all that is measured or worked out of other drives holds of this one.
Its logical block is a page.
"""

from ssdscope.recovery.shape import Values, number
from ssdscope.targets.drive_writer import Value

NO_EFFECT_OF_DISCARDS = 0.0
"""The drive takes none."""


def logical_pages(values: Values) -> int:
    """Count the pages of an element that a host may write."""
    blocks = number(values, "nand.blocks_per_plane")
    # As the simulator rounds: down, but for what a fraction in decimals is short of.
    reserve = int(blocks * float(values["msr.reserve_ratio"]) + 1e-6)
    return (blocks - reserve) * number(values, "nand.planes", 1) * _data_pages(values)


def seen_values(values: Values) -> dict[str, Value]:
    """Describe the drive as the page-mapped drive that it looks like."""
    elements = number(values, "nand.channels")
    blocks = number(values, "nand.blocks_per_plane") * number(values, "nand.planes", 1)
    row = _data_pages(values)
    page = number(values, "nand.page_bytes")
    return {
        "default_state": "sequential",
        # A little less, so that rounding takes no page away.
        "over_provisioning_ratio": blocks * row / logical_pages(values) - 1 - 1e-12,
        "nand.channels": elements,
        "nand.blocks_per_plane": blocks,
        "nand.pages_per_block": row,
        "nand.page_bytes": page,
        "nand.read_ns": values["nand.read_ns"],
        "nand.program_ns": values["nand.program_ns"],
        "nand.erase_ns": values["nand.erase_ns"],
        "ftl.kind": "page",
        "ftl.allocation": "address",
        "ftl.plane_order": "CWDP",
        "ftl.map_unit_bytes": page,
        "gc.policy": values["gc.policy"],
        "host.logical_block_bytes": page,
    }


def _data_pages(values: Values) -> int:
    return number(values, "nand.pages_per_block") - 1
