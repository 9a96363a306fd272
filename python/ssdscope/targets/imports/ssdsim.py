"""SSDsim's ``page.parameters``: the simulator of Huazhong University, version 2.1 and its forks.

Times are nanoseconds. Commands take cycles of `t_WC`, data one cycle a byte, as its sources have
it: a read 7 of them, a program 7, an erase 5.
"""

import re

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.reading import (
    Account,
    Values,
    natural,
    overriding,
    positive,
    quantity,
    share,
)
from ssdscope.targets.imports.settings_text import settings
from ssdscope.targets.imports.writing import written

COMMAND_CYCLES, ERASE_CYCLES = 7, 5
COPYBACK, TWO_PLANE_PROGRAM, INTERLEAVE = 0b00010, 0b00100, 0b01000
BUFFER_UNIT = 4096
FAST_LINK = 1e12
"""Bytes per second of a link that takes no time: SSDsim has none."""
STATIC_ORDERS = dict(enumerate(("WDPC", "CWDP", "CPWD", "CDWP", "CPDW", "CDPW")))
"""What a static allocation advances first, by its number."""
DEFAULTS = {
    "allocation": "0",
    "dynamic_allocation": "0",
    "static_allocation": "1",
    "advanced command": "0",
    "aged": "0",
    "active write": "0",
    "dram capacity": "0",
}
GEOMETRY = (
    ("channel number", "nand.channels", positive),
    ("die number", "nand.dies", positive),
    ("plane number", "nand.planes", positive),
    ("block number", "nand.blocks_per_plane", positive),
    ("page number", "nand.pages_per_block", positive),
    ("page capacity", "nand.page_bytes", positive),
    ("t_BERS", "nand.erase_ns", positive),
    ("t_R", "nand.read_ns", positive),
    ("t_PROG", "nand.program_ns", positive),
    ("erase limit", "nand.endurance_erases", positive),
)
ONLY = {
    "address mapping": ("1", "SSDsim itself maps by the page whatever it says, a fork may not"),
    "active write": ("0", "writes in idle time are not simulated here"),
    "flash mode": ("0", "cells of several bits of SSDsim's 3D fork are not simulated here"),
}
UNUSED_TIMES = (
    "DBSY", "CLS", "CLH", "CS", "CH", "WP", "ALS", "ALH", "DS", "DH", "WH", "ADL", "AR", "CLR",
    "RR", "RP", "WB", "REA", "CEA", "RHZ", "CHZ", "RHOH", "RLOH", "COH", "REH", "IR", "RHW", "WHR",
    "RST",
)  # fmt: skip
POWER = (
    "flash operating current", "flash supply voltage", "dram active current",
    "dram standby current", "dram refresh current", "dram voltage",
)  # fmt: skip
WITHOUT_MEANING = {
    **{f"t_{each}": "SSDsim reads it and does not use it" for each in UNUSED_TIMES},
    **dict.fromkeys(POWER, "there is no energy"),
    "subpage page": "a sector is 512 bytes",
    "subpage capacity": "a sector is 512 bytes",
    "wear leveling": "SSDsim reads it and does not use it; see wear.dynamic",
    "gc": "SSDsim reads it and does not use it: greedy",
    "gc threshold": "without active writes SSDsim goes by the hard threshold",
    "buffer management": "SSDsim reads it and does not use it: least recently used",
    "scheduling algorithm": "SSDsim reads it and does not use it",
    "advanced command priority": "what waits decides",
    "advanced command priority2": "what waits decides",
    "greed CB command": "what waits decides",
    "greed MPW command": "what waits decides",
    "aged ratio": "see default_state, and `--state`",
    "queue_length": "what is in flight is the workload's `iodepth`",
    "requset queue depth": "what is in flight is the workload's `iodepth`",
}


def is_one(text: str) -> bool:
    """Say whether a text is SSDsim's."""
    return re.search(r"^\s*chip number\s*\[0\]\s*=", text, re.MULTILINE) is not None


def drive(text: str, path: str, account: Account) -> str:
    """Write the drive file.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, or the drive works in a way that is not simulated here.
    """
    given = Values(path, _settings(text, path), account, "", DEFAULTS)
    for name, (allowed, why) in ONLY.items():
        given.only(name, allowed, why)
    values: dict[str, Value] = {"description": "imported from a parameter file of SSDsim"}
    values |= _state(given)
    values |= {key: given.take(name, kind) for name, key, kind in GEOMETRY}
    values["nand.ways"] = _ways(given, int(str(values["nand.channels"])))
    values |= _channel(given, int(str(values["nand.page_bytes"]))) | _placement(given)
    values |= _advanced(given) | _buffer(given)
    values |= {
        "gc.policy": "greedy",
        "gc.low_water_ratio": given.take("gc hard threshold", share),
        "host.bytes_per_second": FAST_LINK,
    }
    account.note("host.bytes_per_second: SSDsim has no link to the host; here one of no time")
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    return written(values, account, path)


def _settings(text: str, path: str) -> dict[str, str]:
    """Read the settings; a comment may also begin behind the semicolon, without a mark."""
    plain = "\n".join(line.partition(";")[0] for line in text.splitlines())
    return settings(plain, path)


def _state(given: Values) -> dict[str, Value]:
    kept = given.take("overprovide", share)
    aged = given.take("aged", natural)
    return {
        "default_state": "random" if aged else "fresh",
        "over_provisioning_ratio": 1 / (1 - kept) - 1,
    }


def _ways(given: Values, channels: int) -> int:
    """Return the chips of a channel, which all channels must have alike."""
    counts = [given.take(f"chip number[{each}]", natural) for each in range(channels)]
    if len(set(counts)) > 1 or counts[0] == 0:
        raise ConfigError(
            f"{given.where}: the channels have {', '.join(map(str, counts))} chips, and here all "
            "have as many",
            hint=f"{overriding('chip number[0]', str(max(counts)))} changes one",
        )
    beyond = [name for name in given.texts if re.fullmatch(r"chip number\[\d+\]", name)]
    unused = "there is no such channel"
    given.without_meaning({n: unused for n in beyond if not given.is_taken(n)})
    if "chip number" in given:
        total = given.take("chip number", positive)
        if total != channels * counts[0]:
            given.account.note(
                f"chip number = {total}: the channels have {channels * counts[0]}, which are taken"
            )
    return counts[0]


def _channel(given: Values, page_bytes: int) -> dict[str, Value]:
    """Return the channel's times; where a byte takes longer one way, the command has the rest."""
    write, read = given.take("t_WC", quantity), given.take("t_RC", quantity)
    byte = min(write, read)
    return {
        "channel.ns_per_byte": byte,
        "channel.read_command_ns": round(COMMAND_CYCLES * write + (read - byte) * page_bytes),
        "channel.program_command_ns": round(COMMAND_CYCLES * write + (write - byte) * page_bytes),
        "channel.erase_command_ns": round(ERASE_CYCLES * write),
    }


def _placement(given: Values) -> dict[str, Value]:
    values: dict[str, Value] = {"ftl.kind": "page"}
    if given.choose("allocation", {"0": "order", "1": "address"}) == "order":
        if given.choose("dynamic_allocation", {"0": False, "1": True}):
            given.account.note("dynamic_allocation = 1: here the channel follows the order, too")
        given.without_meaning({"static_allocation": "the allocation is dynamic"})
        return values | {"ftl.allocation": "order", "ftl.plane_order": "CWDP"}
    orders = {str(number): order for number, order in STATIC_ORDERS.items()}
    given.without_meaning({"dynamic_allocation": "the allocation is static"})
    return values | {
        "ftl.allocation": "address",
        "ftl.plane_order": given.choose("static_allocation", orders),
    }


def _advanced(given: Values) -> dict[str, Value]:
    bits = given.take("advanced command", natural)
    return {
        "gc.copyback": bool(bits & COPYBACK),
        "scheduler.multi_plane": bool(bits & TWO_PLANE_PROGRAM),
        "scheduler.die_interleave": bool(bits & INTERLEAVE),
    }


def _buffer(given: Values) -> dict[str, Value]:
    """Return the write buffer, of whole units, which SSDsim empties for room only."""
    capacity = given.take("dram capacity", natural)
    kept = capacity // BUFFER_UNIT * BUFFER_UNIT
    if kept != capacity:
        given.account.note(f"dram capacity = {capacity}: here {kept}, whole units of 4 KiB")
    if not kept:
        return {}
    return {
        "write_buffer.bytes": kept,
        "write_buffer.drain": "full",
        "write_buffer.order": "lru",
    }
