"""FlashSim's flash inside DiskSim, as Penn State's version has it: ``disksim_simpleflash``.

Its file says how large the flash is and which FTL it has. All else are constants of its sources:
blocks of 64 pages of 2 KiB on one chip, no channel, a time per page.
"""

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.parv import Block
from ssdscope.targets.imports.reading import Account, Values, natural, positive, quantity

SECTOR_BYTES = 512
LEAST_NS_PER_BYTE = 0.001
"""Of a channel here: FlashSim has none."""
PAGE_BYTES, PAGES_PER_BLOCK = 2048, 64
BLOCK_SECTORS = PAGE_BYTES * PAGES_PER_BLOCK // SECTOR_BYTES
READ_NS, PROGRAM_NS, ERASE_NS = 130_900, 405_900, 1_500_000
FTLS: dict[str, dict[str, Value]] = {
    "1": {"ftl.kind": "page", "map.kind": "ram"},
    "3": {"ftl.kind": "page", "map.kind": "demand"},
    "4": {"ftl.kind": "log-block", "ftl.log_association": "many-to-one"},
}
WITHOUT_MEANING = {
    "Bus transaction latency": "the bus is one of a single drive",
    "Never disconnect": "the bus is one of a single drive",
    "Print stats": "statistics are always printed",
    "Max queue length": "what is in flight is the workload's `iodepth`",
}


def flash(block: Block, link: float, account: Account) -> dict[str, Value]:
    """Return the keys of a drive.

    Raises
    ------
    ConfigError
        If a value is missing or wrong.
    """
    given = Values(block.where, block.texts(), account)
    sectors, extra = given.take("Block count", positive), given.take("Extra Block count", natural)
    blocks = -(-(sectors + extra) // BLOCK_SECTORS)
    if sectors % BLOCK_SECTORS:
        raise ConfigError(
            f"{given.where}: Block count is {sectors}, not whole blocks of {BLOCK_SECTORS} sectors"
        )
    ftl = given.choose("FTL type", FTLS)
    account.note("page, block and times are constants of FlashSim: 2 KiB, 64 pages, no channel")
    values: dict[str, Value] = {
        "over_provisioning_ratio": blocks / (sectors // BLOCK_SECTORS) - 1,
        "nand.channels": 1,
        "nand.blocks_per_plane": blocks,
        "nand.pages_per_block": PAGES_PER_BLOCK,
        "nand.page_bytes": PAGE_BYTES,
        "nand.read_ns": READ_NS,
        "nand.program_ns": PROGRAM_NS,
        "nand.erase_ns": ERASE_NS,
        "channel.ns_per_byte": LEAST_NS_PER_BYTE,
        **ftl,
    }
    if ftl["ftl.kind"] == "log-block":
        values["ftl.merge_unit_bytes"] = PAGE_BYTES * PAGES_PER_BLOCK
        values["ftl.log_blocks"] = max(1, blocks - sectors // BLOCK_SECTORS - 2)
        account.note(f"ftl.log_blocks = {values['ftl.log_blocks']}: what the extra blocks allow")
    slowest = max(given.take("Bulk sector transfer time", quantity), link)
    if slowest > 0:
        values["host.bytes_per_second"] = SECTOR_BYTES / slowest * 1000
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    return values
