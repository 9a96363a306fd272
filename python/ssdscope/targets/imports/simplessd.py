"""SimpleSSD's configurations: ``.cfg`` of versions 1.0 to 2.0, ``.xml`` of 2.1.

Times are picoseconds. A transfer takes a millionth of 2^20 in its rate, as the sources have it.
"""

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports import simplessd_old
from ssdscope.targets.imports.reading import Account, Entry, Values, quantity, share, unlike
from ssdscope.targets.imports.settings_text import sections
from ssdscope.targets.imports.simplessd_names import (
    ELSEWHERE,
    LEVELS,
    WITHOUT_MEANING,
    XML_NAMES,
)
from ssdscope.targets.imports.simplessd_units import above_zero, flag, nanoseconds, whole
from ssdscope.targets.imports.writing import written

Keys = dict[str, Value | list[int]]
ROOT = "simplessd"
COMMAND_CYCLES, ERASE_CYCLES = 7, 5
PCIE_BYTES = {"0": 250e6, "1": 500e6, "2": 8e9 * 128 / 130 / 8}
"""Bytes per second of a lane, by version 2.0's number of a generation."""
POLICIES = {"0": "greedy", "1": "cost-benefit", "2": "random", "3": "d-choices"}
XML_POLICIES = {"0": "greedy", "1": "random"}
"""Of version 2.1, whose further numbers changed from one sample file to the next."""
DEFAULTS = {
    "pal": {
        "Channel": "8", "Package": "4", "Die": "2", "Plane": "1", "Block": "512", "Page": "512",
        "PageSize": "16384", "EnableMultiPlaneOperation": "1", "DMASpeed": "400", "DMAWidth": "8",
        "NANDType": "1", "LSBRead": "40000000", "LSBWrite": "500000000", "MSBRead": "65000000",
        "MSBWrite": "1300000000", "Erase": "3500000000", "SuperblockSize": "CWDP",
        "PageAllocation": "CWDP",
    },
    "ftl": {
        "MappingMode": "0", "OverProvisioningRatio": "0.25", "GCThreshold": "0.05",
        "EraseThreshold": "100000", "EvictPolicy": "0", "GCMode": "0", "GCReclaimBlocks": "1",
        "DChoiceParam": "3", "FillRatio": "0", "InvalidPageRatio": "0", "EnableRandomIOTweak": "0",
    },
    "icl": {"EnableReadCache": "0", "EnableWriteCache": "0", "EnableReadPrefetch": "0"},
    "nvme": {},
}  # fmt: skip
"""What SimpleSSD's sources take for a value that is missing."""


def is_one(text: str) -> bool:
    """Say whether a text is a configuration of SimpleSSD, of the simulator or its front."""
    if simplessd_old.is_one(text):
        return True
    return re.search(r"^\s*\[(pal|generator)\]\s*(#.*)?$", text, re.MULTILINE) is not None


def drive(text: str, path: str, account: Account) -> str:
    """Write the drive file of a ``.cfg``.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, or of something that is not simulated here.
    """
    if simplessd_old.is_one(text):
        return written(simplessd_old.values(text, path, account), account, path)
    return _written(sections(text, path), path, account)


def drive_of_xml(root: Element, path: str, account: Account) -> str:
    """Write the drive file of version 2.1's XML, by the names of 2.0."""
    parts: dict[str, dict[str, str]] = {"pal": {"EnableMultiPlaneOperation": "0"}}
    for place, text in _leaves(root, ""):
        if place in XML_NAMES:
            section, name = XML_NAMES[place]
            parts.setdefault(section, {})[name] = _as_in_2_0(place, text)
        elif found := re.fullmatch(r"fil\.nand\.timing\.(tR|tPROG)@([012])", place):
            _add_timing(parts["pal"], found[1], found[2], text)
        elif text:
            why = _elsewhere(place.partition(".")[0])
            account.add(Entry(place, place.rpartition(".")[2], text, "without counterpart", why))
    _add_cache(parts.setdefault("icl", {}))
    if "Channel" not in parts["pal"]:
        raise ConfigError(
            f"{path}: <section name='fil'> is missing: the file says nothing of the flash"
        )
    return _written(parts, path, account)


def _elsewhere(section: str) -> str:
    return ELSEWHERE.get(section, "there is no such choice here")


def _add_cache(icl: dict[str, str]) -> None:
    """Say as 2.0 does whether there is a cache: first by a flag, later by its mode."""
    has = icl.pop("EnableCache", icl.get("CacheMode", "0"))
    icl |= {"EnableWriteCache": has, "EnableReadCache": has}


def _leaves(element: Element, inside: str) -> list[tuple[str, str]]:
    """Return the values of an XML with their places, as ``fil.nand.Die``."""
    found = []
    for each in element:
        place = f"{inside}.{each.get('name', '')}".strip(".")
        if each.tag == "config":
            level = f"@{each.get('level')}" if each.get("level") else ""
            found.append((place + level, (each.text or "").strip()))
        else:
            found += _leaves(each, place)
    return found


def _as_in_2_0(place: str, text: str) -> str:
    """Return a value of 2.1 as 2.0 has it: rates are transfers per second there."""
    if place == "fil.nand.DMASpeed":
        try:
            return repr(whole(text) / 2**20)
        except (KeyError, ValueError):
            return text
    return text


def _add_timing(pal: dict[str, str], kind: str, level: str, text: str) -> None:
    """Add a page's time under the name that 2.0 has for its level, which NANDType decides."""
    cells = LEVELS.get(pal.get("NANDType", "1"), ())
    if int(level) < len(cells):
        pal[f"{cells[int(level)]}{'Read' if kind == 'tR' else 'Write'}"] = text


def _written(parts: Mapping[str, Mapping[str, str]], path: str, account: Account) -> str:
    if "pal" not in parts:
        raise ConfigError(
            f"{path}: [pal] is missing: the file says nothing of the flash",
            hint="this is the front's file, with a trace or a workload; the drive's has [pal]",
        )
    given = {
        name: Values(f"{path}, [{name}]", dict(parts.get(name, {})), account, name, defaults)
        for name, defaults in DEFAULTS.items()
    }
    pal, ftl, icl, nvme = given.values()
    ftl.only("MappingMode", "0", "SimpleSSD has no other map that works")
    values: Keys = {"description": "imported from a configuration of SimpleSSD"}
    values |= _state(ftl) | _nand(pal) | _channel(pal) | _placement(pal, ftl)
    values |= _collection(ftl) | _caches(icl, values) | _link(nvme, ftl)
    for name, each in given.items():
        reasons = {key: why for key, why in WITHOUT_MEANING[name].items() if why}
        each.without_meaning({key: why for key, why in reasons.items() if not each.is_taken(key)})
        each.name_the_rest()
    for name, others in parts.items():
        for key, text in others.items() if name not in DEFAULTS else ():
            account.add(Entry(name, key, text, "without counterpart", _elsewhere(name)))
    return written(values, account, path)


def _state(ftl: Values) -> Keys:
    kept = ftl.take("OverProvisioningRatio", share)
    filled = ftl.take("Warmup" if "Warmup" in ftl else "FillRatio", quantity)
    overwritten = ftl.take("InvalidPageRatio", quantity)
    state = "fresh" if filled == 0 else "random" if overwritten else "sequential"
    if 0 < filled < 1 or 0 < overwritten < 1:
        ftl.account.note(
            f"default_state = {state}: the drive is filled to a part; `--state` says more"
        )
    return {"default_state": state, "over_provisioning_ratio": 1 / (1 - kept) - 1}


def _nand(pal: Values) -> Keys:
    names = pal.choose("NANDType", LEVELS)
    reads = [round(pal.take(f"{name}Read", nanoseconds)) for name in names]
    programs = [round(pal.take(f"{name}Write", nanoseconds)) for name in names]
    unused = {f"{name}{way}" for name in ("CSB", "MSB") for way in ("Read", "Write")}
    pal.without_meaning({n: "no such page" for n in sorted(unused) if not pal.is_taken(n)})
    values: Keys = {
        "nand.channels": pal.take("Channel", above_zero),
        "nand.ways": pal.take("Package", above_zero),
        "nand.dies": pal.take("Die", above_zero),
        "nand.planes": pal.take("Plane", above_zero),
        "nand.blocks_per_plane": pal.take("Block", above_zero),
        "nand.pages_per_block": pal.take("Page", above_zero),
        "nand.page_bytes": pal.take("PageSize", above_zero),
        "nand.read_ns": reads[0],
        "nand.program_ns": programs[0],
        "nand.erase_ns": round(pal.take("Erase", nanoseconds)),
        "nand.bits_per_cell": len(names),
    }
    if unlike(reads):
        values["nand.read_by_type_ns"] = reads
    if unlike(programs):
        values["nand.program_by_type_ns"] = programs
    if len(names) == len(LEVELS["2"]) and (unlike(reads) or unlike(programs)):
        values["nand.type_order"] = "pairs"
    return values


def _channel(pal: Values) -> Keys:
    transfer_ns = 1e9 / (pal.take("DMASpeed", quantity) * 2**20)
    cycle_ns = transfer_ns / (pal.take("DMAWidth", above_zero) / 8)
    return {
        "channel.ns_per_byte": cycle_ns,
        "channel.read_command_ns": round(COMMAND_CYCLES * cycle_ns),
        "channel.program_command_ns": round(COMMAND_CYCLES * cycle_ns),
        "channel.erase_command_ns": round(ERASE_CYCLES * cycle_ns),
    }


def _placement(pal: Values, ftl: Values) -> Keys:
    """Return the order of planes, and superblocks: those of its levels come first in the order."""
    order = pal.take("PageAllocation", str).upper()
    levels = set(pal.take("SuperblockSize", str).upper()) & set(order)
    together = pal.take("EnableMultiPlaneOperation", flag)
    if together:
        levels.add("P")
        order = "P" + order.replace("P", "")
    return {
        "scheduler.multi_plane": together,
        "ftl.kind": "page",
        "ftl.allocation": "address",
        "ftl.plane_order": "".join(sorted(order, key=lambda each: each not in levels)),
        **_superblock(pal, ftl, levels),
    }


def _superblock(pal: Values, ftl: Values, levels: set[str]) -> Keys:
    names = {"C": "Channel", "W": "Package", "D": "Die", "P": "Plane"}
    pages = 1
    for each in levels:
        pages *= pal.take(names[each], above_zero)
    page_bytes = pal.take("PageSize", above_zero)
    if pages == 1:
        return {}
    if not ftl.take("EnableRandomIOTweak", flag):
        return {"ftl.map_unit_bytes": pages * page_bytes}
    block_bytes = page_bytes * pal.take("Page", above_zero)
    ftl.account.note("EnableRandomIOTweak: pages of a superblock are mapped one by one")
    return {"ftl.reclaim_unit_bytes": pages * block_bytes}


def _collection(ftl: Values) -> Keys:
    if "VictimSelectionPolicy" in ftl:
        policy = ftl.choose("VictimSelectionPolicy", XML_POLICIES)
    else:
        policy = ftl.choose("EvictPolicy", POLICIES)
    values: Keys = {
        "gc.policy": policy,
        "gc.low_water_ratio": ftl.take("GCThreshold", share),
        "nand.endurance_erases": ftl.take("EraseThreshold", above_zero),
    }
    if policy == "d-choices":
        values["gc.choices"] = ftl.take("DChoiceParam", above_zero)
    if ftl.choose("GCMode", {"0": True, "1": False}):
        values["gc.max_victims"] = ftl.take("GCReclaimBlocks", above_zero)
    return values


def _caches(icl: Values, so_far: Keys) -> Keys:
    """Return the caches: SimpleSSD's reads and writes share one."""
    writes, reads = (icl.take(f"Enable{way}Cache", flag) for way in ("Write", "Read"))
    values: Keys = {}
    if not (writes or reads):
        return values
    size = icl.take("CacheSize", whole)
    if writes:
        values["write_buffer.bytes"] = size
    if reads:
        values["read_cache.bytes"] = size
        if icl.take("EnableReadPrefetch", flag):
            planes = 1
            for each in ("channels", "ways", "dies", "planes"):
                planes *= int(str(so_far[f"nand.{each}"]))
            values["read_cache.read_ahead_bytes"] = min(
                size, planes * int(str(so_far["nand.page_bytes"]))
            )
            icl.account.note("read_cache.read_ahead_bytes: a page of each plane")
    if writes and reads:
        icl.account.note(f"CacheSize = {size}: reads and writes share it there, here each has it")
    return values


def _link(nvme: Values, ftl: Values) -> Keys:
    values: Keys = {"host.interface": "nvme"}
    if "PCIEGeneration1" in nvme:
        generations = {str(int(each) + 1): rate for each, rate in PCIE_BYTES.items()}
        values["host.lane_bytes_per_second"] = nvme.choose("PCIEGeneration1", generations)
    elif "PCIEGeneration" in nvme:
        values["host.lane_bytes_per_second"] = nvme.choose("PCIEGeneration", PCIE_BYTES)
    else:
        nvme.account.note("host.lane_bytes_per_second: the file has no link; 1 GB/s on 4 lanes")
    if "PCIELane" in nvme:
        values["host.lanes"] = nvme.take("PCIELane", above_zero)
    if "LBASize" in nvme:
        values["host.logical_block_bytes"] = nvme.take("LBASize", above_zero)
    if "Latency" in ftl:
        values["host.firmware_ns"] = round(ftl.take("Latency", nanoseconds))
    return values
