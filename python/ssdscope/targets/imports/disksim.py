"""DiskSim's parameter file (``.parv``) with an SSD of Microsoft Research's extension.

What the drive does is its firmware, `msr` here; times are milliseconds there, pages are counted
in sectors. Where a file asks for another way of working than ours, it is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value, drive_toml
from ssdscope.targets.imports.reading import Values, header, natural, positive, quantity, truth

SECTOR_BYTES = 512
STORED_SECTOR_BYTES = 528
"""Of a sector in flash: with the 16 bytes that cross the channel, too."""
NS = 1_000_000
"""In DiskSim's millisecond."""
SSD = "ssdmodel_ssd"
OTHER_DRIVES = ("disksim_disk", "disksim_simpledisk", "dm_disk", "memsmodel_mems")
ENDURANCE_ERASES = 50
"""A constant of the extension."""
POLICIES = {"2": "greedy", "3": "wear-aware"}
_BLOCK = re.compile(r"^\s*(\w+)\s+(\w+)\s*\{", re.MULTILINE)
_SETTING = re.compile(r"([A-Za-z][^=,{}\[\]]*?)\s*=\s*([^=,{}\[\]]+?)\s*(?=[,}\n]|$)")
_COMMENT = re.compile(r"#.*")

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


@dataclass(frozen=True)
class Block:
    """A block ``module name { ... }`` of the file, with its own settings only."""

    module: str
    name: str
    line: int
    settings: dict[str, str]


def is_one(text: str) -> bool:
    """Say whether a text is a parameter file of DiskSim."""
    return (
        re.search(r"^\s*(disksim_\w+|ssdmodel_ssd|instantiate)\b", text, re.MULTILINE) is not None
    )


def drive(text: str, path: str, notes: list[str]) -> str:
    """Write the drive file.

    Raises
    ------
    ConfigError
        If there is no such SSD in it, or one that works in a way that is not simulated here.
    """
    blocks = list(_blocks(_COMMENT.sub("", text), path))
    ssds = [each for each in blocks if each.module == SSD]
    if not ssds:
        raise ConfigError(_no_ssd(path, blocks), hint=f"the block of an SSD begins `{SSD} NAME {{`")
    ssd = ssds[0]
    given = Values(f"{path}, line {ssd.line}, {SSD} {ssd.name}", ssd.settings, notes)
    for name, (allowed, why) in ONLY.items():
        given.only(name, allowed, why)
    values = _geometry(given) | _timing(given) | _link(given, blocks) | _cleaning(given)
    _check_blocks(given, values)
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    notes += [f"{SSD} {each.name}: a second SSD, left out" for each in ssds[1:]]
    others = sorted({each.module for each in blocks} - {SSD})
    if others:
        notes.append(f"{', '.join(others)}: the rest of a machine; only the drive is taken")
    return drive_toml(values, header(path, notes))


def _no_ssd(path: str, blocks: list[Block]) -> str:
    for each in blocks:
        if each.module in OTHER_DRIVES:
            return (
                f"{path}, line {each.line}: {each.module} is a drive of another module of DiskSim, "
                "and only SSDs are imported"
            )
    return f"{path}: there is no {SSD} in it"


def _blocks(text: str, path: str) -> Iterator[Block]:
    """Give the outermost blocks, each without what is nested in it."""
    at = 0
    while found := _BLOCK.search(text, at):
        end = _closing(text, found.end())
        line = text.count("\n", 0, found.start(1)) + 1
        if end is None:
            raise ConfigError(f"{path}, line {line}: the block of {found[2]} does not end")
        settings = dict(_SETTING.findall(_outermost(text[found.end() : end])))
        yield Block(
            found[1], found[2], line, {name.strip(): each for name, each in settings.items()}
        )
        at = end + 1


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None


def _outermost(text: str) -> str:
    """Drop nested blocks, with the setting that each is the value of."""
    while (shorter := re.sub(r"[^,{}]*\{[^{}]*\}", "", text)) != text:
        text = shorter
    return text


def _geometry(given: Values) -> dict[str, Value]:
    return {
        "description": "imported from a parameter file of DiskSim",
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


def _link(given: Values, blocks: list[Block]) -> dict[str, Value]:
    """Give the link: a sector takes as long as on the slowest of drive and buses."""
    slowest = given.take("Bulk sector transfer time", quantity)
    for each in blocks:
        times = [each.settings.get(f"{way} block transfer time", "0") for way in ("Read", "Write")]
        slowest = max(slowest, *(float(time) for time in times if _is_number(time)))
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


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False
