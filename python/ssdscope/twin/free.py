"""What of a design is a number that is fitted: times and sizes, as logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.twin.design import SPARE

if TYPE_CHECKING:
    from ssdscope.twin.design import Design, Value

__all__ = ["Free", "at_bounds", "free_of", "moved"]


@dataclass(frozen=True)
class Free:
    """A number that may be fitted.

    Attributes
    ----------
    key
        Of a drive file.
    low, high
        What it lies between on drives.
    step
        By which its logarithm is changed to see what depends on it.
    at_rest
        Whether what is kept up depends on it much.
    """

    key: str
    low: float
    high: float
    step: float = 0.05
    at_rest: bool = False


PROGRAM = Free("nand.program_ns", 1e4, 1e7, at_rest=True)
REGION_PROGRAM = Free("pslc.program_ns", 1e4, 1e7, at_rest=True)
PROGRAMS = (PROGRAM, REGION_PROGRAM)
"""What sets the pace of writes."""
ERASE = Free("nand.erase_ns", 3e5, 1e7, step=0.2, at_rest=True)
TIMES = (
    Free("host.firmware_ns", 50, 1e8),
    Free("nand.read_ns", 1e3, 1e7, at_rest=True),
    PROGRAM,
    ERASE,
    Free("channel.ns_per_byte", 1e-3, 200, at_rest=True),
)
OF_LINKS = {
    "nvme": (Free("host.lane_bytes_per_second", 1e6, 1e11),),
    "simple": (Free("host.command_ns", 50, 1e8), Free("host.bytes_per_second", 1e6, 1e11)),
}
OF_TABLES = {
    "write_buffer.bytes": (
        Free("write_buffer.ns_per_byte", 1e-3, 100),
        Free("write_buffer.bytes", 4096, 1 << 32, step=0.15, at_rest=True),
    ),
    "read_cache.bytes": (Free("read_cache.ns_per_byte", 1e-3, 100),),
    "pslc.bytes": (
        REGION_PROGRAM,
        Free("pslc.read_ns", 1e3, 1e7),
        Free("pslc.bytes", 1 << 20, 1 << 38, step=0.2, at_rest=True),
    ),
    "pslc.dynamic_bytes": (REGION_PROGRAM,),
    "map.load_ns": (Free("map.load_ns", 1e3, 1e8), Free("map.write_back_ns", 1e3, 1e8)),
    "map.cache_bytes": (Free("map.cache_bytes", 256, 1 << 32, step=0.2),),
}
"""By the key that is not nothing where there is such a part."""
OF_FTL = {
    "page": (Free(SPARE, 0.01, 1.0, step=0.06, at_rest=True),),
    "log-block": (Free("ftl.log_blocks", 1, 1e5, step=0.3, at_rest=True),),
}
OF_DISKS = (
    Free("host.command_ns", 50, 1e8),
    Free("host.bytes_per_second", 1e6, 1e11),
    Free("host.firmware_ns", 50, 1e8),
    Free("disk.rpm", 3000, 16_000, step=0.02),
    Free("disk.seek_track_ns", 1e5, 1e7),
    Free("disk.seek_average_ns", 5e5, 3e7),
    Free("disk.seek_full_ns", 1e6, 6e7),
    Free("disk.head_switch_ns", 1e5, 1e7),
    Free("disk.outer_sectors_per_track", 100, 10_000),
    Free("disk.inner_sectors_per_track", 50, 10_000),
    Free("disk.write_cache_bytes", 4096, 1 << 30, step=0.15),
)
WHOLE = ("_ns", "_bytes", ".bytes", "log_blocks", "rpm", "sectors_per_track")
"""Ends of keys whose values are whole numbers."""
PACES = ("bytes_per_second", "rpm")
"""Ends of keys whose values are one over a time."""
BY_TYPE = {"nand.read_ns": "nand.read_by_type_ns", "nand.program_ns": "nand.program_by_type_ns"}


def free_of(design: Design) -> list[Free]:
    """List what is fitted of a design."""
    every: dict[str, Free] = {each.key: each for each in _every(design)}
    return [each for key, each in every.items() if design.number(key) > 0]


def _every(design: Design) -> Iterator[Free]:
    if design.disk:
        yield from OF_DISKS
        return
    yield from TIMES
    yield from OF_LINKS["nvme" if design.values.get("host.interface") == "nvme" else "simple"]
    yield from OF_FTL["log-block" if design.log_block else "page"]
    for key, each in OF_TABLES.items():
        if design.number(key) > 0:
            yield from each


def moved(design: Design, free: Mapping[Free, float]) -> Design:
    """Multiply numbers by the exponentials of what is given, as far as their bounds go."""
    keys: dict[str, Value] = {}
    for each, by in free.items():
        now = design.number(each.key)
        wanted = min(max(now * math.exp(by), each.low), each.high)
        keys[each.key] = _written(design, each.key, wanted)
        types = design.values.get(BY_TYPE.get(each.key, ""))
        if isinstance(types, list):
            keys[BY_TYPE[each.key]] = [round(one * wanted / now) for one in types]
    return design.having(keys)


def paced(design: Design, reads: float, writes: float) -> Design:
    """Let all times be longer by a factor, and those of writing flash by another, as logarithms."""
    of_writes, every = (*PROGRAMS, ERASE), free_of(design)
    longer = {each: writes if each in of_writes else reads for each in every if _is_time(each)}
    return moved(design, longer | {each: -reads for each in every if each.key.endswith(PACES)})


def _is_time(free: Free) -> bool:
    return free.key.endswith(("_ns", "ns_per_byte"))


def _written(design: Design, key: str, value: float) -> Value:
    if key == "write_buffer.bytes":
        unit = design.whole("write_buffer.unit_bytes", 4096)
        return max(round(value / unit), 1) * unit
    if key == "pslc.bytes":
        step = design.row_bytes // design.whole("nand.bits_per_cell", 1)
        return max(round(value / step), 1) * step
    whole = key.endswith(WHOLE) and not key.endswith("per_byte")
    return max(round(value), 1) if whole else float(f"{value:.6g}")


def at_bounds(design: Design, free: Set[Free]) -> list[str]:
    """Name the numbers that ended on a bound of their range."""
    edges = ((each, design.number(each.key)) for each in free)
    return sorted(
        each.key for each, now in edges if now <= 1.001 * each.low or now >= 0.999 * each.high
    )
