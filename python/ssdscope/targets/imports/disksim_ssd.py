"""DiskSim's SSD, of Microsoft Research's extension.

What the drive does is its firmware, `msr` here; times are milliseconds there, pages are counted
in sectors. Where a file asks for another way of working than ours, it is refused.
"""

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.parv import Block
from ssdscope.targets.imports.reading import Account, Values, natural, positive, quantity, truth

SECTOR_BYTES = 512
STORED_SECTOR_BYTES = 528
"""Of a sector in flash: with the 16 bytes that cross the channel, too."""
NS = 1_000_000
"""In DiskSim's millisecond."""
ENDURANCE_ERASES = 50
"""A constant of the extension."""
POLICIES = {"2": "greedy", "3": "wear-aware"}

ONLY = {
    "Write policy": ("2", "the other does not work in DiskSim either"),
    "Copy back": ("1", "without it cleaning moves pages between planes, by other rules"),
    "Allocation pool logic": ("1", "gangs and fixed planes place pages by other rules"),
    "Elements per gang": ("1", "gangs place pages by other rules"),
    "Plane block mapping": ("3", "blocks lie on planes in turn"),
    "Element stride pages": ("1", "pages lie on elements in turn"),
    "Timing model": ("1", "the other has no transfers"),
}
WITHOUT_MEANING = {
    "Gang share": "there are no gangs",
    "Never disconnect": "the bus is one of a single drive",
    "Print stats": "statistics are always printed",
    "Max queue length": "what is in flight is the workload's `iodepth`",
    "Bus transaction latency": "the bus is one of a single drive",
}


def ssd(block: Block, link: float, account: Account) -> dict[str, Value]:
    """Return the keys of a drive.

    Parameters
    ----------
    block
        The ``ssdmodel_ssd``.
    link
        Milliseconds of a sector on the slowest bus.
    account
        Of the file.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, or the SSD works in a way that is not simulated here.
    """
    given = Values(block.where, block.texts(), account)
    for name, (allowed, why) in ONLY.items():
        given.only(name, allowed, why)
    values = _geometry(given) | _timing(given) | _link(given, link) | _cleaning(given)
    _check_blocks(given, values)
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    return values


def _geometry(given: Values) -> dict[str, Value]:
    return {
        "default_state": "fresh",
        "nand.channels": given.take("Flash chip elements", positive),
        "nand.planes": given.take("Planes per package", positive),
        "nand.blocks_per_plane": given.take("Blocks per plane", positive),
        "nand.pages_per_block": given.take("Pages per block", positive),
        "nand.page_bytes": SECTOR_BYTES * given.take("Page size", positive),
        "nand.endurance_erases": ENDURANCE_ERASES,
        "ftl.kind": "msr",
    }


def _timing(given: Values) -> dict[str, Value]:
    per_byte_ns = NS * given.take("Chip xfer latency", quantity)
    return {
        "nand.read_ns": round(NS * given.take("Page read latency", quantity)),
        "nand.program_ns": round(NS * given.take("Page write latency", quantity)),
        "nand.erase_ns": round(NS * given.take("Block erase latency", quantity)),
        "channel.ns_per_byte": round(per_byte_ns, 9),
    }


def _link(given: Values, link: float) -> dict[str, Value]:
    """Return the link: a sector takes as long as on the slowest of drive and buses."""
    slowest = max(given.take("Bulk sector transfer time", quantity), link)
    values: dict[str, Value] = {}
    if slowest > 0:
        values["host.bytes_per_second"] = SECTOR_BYTES / slowest * 1000
    if "Command overhead" in given and (overhead := given.take("Command overhead", quantity)):
        values["host.command_ns"] = round(NS * overhead)
    return values


def _cleaning(given: Values) -> dict[str, Value]:
    return {
        "msr.reserve_ratio": given.take("Reserve pages percentage", natural) / 100,
        "msr.parallel_units": given.take("Number of parallel units", positive),
        "gc.policy": given.choose("Cleaning policy", POLICIES),
        "gc.low_water_ratio": given.take("Minimum free blocks percentage", natural) / 100,
        "gc.background": given.take("Cleaning in background", truth),
    }


def _check_blocks(given: Values, values: dict[str, Value]) -> None:
    """Hold the blocks of an element to its planes, as DiskSim does."""
    if "Blocks per element" not in given:
        return
    element = given.take("Blocks per element", positive)
    planes, blocks = (int(str(values[f"nand.{each}"])) for each in ("planes", "blocks_per_plane"))
    if element != planes * blocks:
        raise ConfigError(
            f"{given.where}: Blocks per element is {element}, but {planes} planes of {blocks} "
            f"blocks are {planes * blocks}"
        )
