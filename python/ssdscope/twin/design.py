"""A drive that might be the measured one: its structure, and the times of its parts.

A design is written as a drive file. Its structure is what findings say or what a search tries; its
times are what least squares fit. Whatever the structure, the file has the measured capacity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

Value: TypeAlias = str | int | float | bool

MANY_BLOCKS = 1 << 18
"""Of a plane; a larger drive gets larger blocks instead of more."""
LEAST_SPARE_BLOCKS = 8
"""Of a plane: two that are written, one to clean with, two that stop writes, and some to work."""
LOGS_ROOM, BESIDE_LOGS = 1.1, 3
"""Spare space over what log blocks take; units of merging that a drive needs beside them."""
LEAST_PAGE_BYTES, MOST_PAGE_BYTES = 2048, 65_536
"""Of pages that drives have."""
ENOUGH_BYTES = 4 << 30
"""Of a page-mapped drive, to see what bursts take."""
TYPICAL_NS = {
    "firmware": 5_000.0,
    "link": 3.0,
    "read": 50_000.0,
    "transfer": 2.0,
    "program": 400_000.0,
    "erase": 2_000_000.0,
    "copy": 0.2,
    "load": 200_000.0,
    "write_back": 400_000.0,
}
"""Times by name: nanoseconds, of ``link``, ``transfer`` and ``copy`` per byte."""


@dataclass(frozen=True)
class Design:
    """Structure and times of a flash drive.

    Attributes
    ----------
    capacity_bytes, logical_block_bytes
        As the host sees them.
    log_block
        Whether it merges log blocks; else it maps pages.
    page_bytes, channels, ways, planes, pages_per_block
        Of the array: units that work side by side are channels times ways times planes.
    map_unit_bytes, phase_bytes
        What is rewritten as one, and where the first begins.
    merge_unit_bytes, log_blocks
        Of a drive that merges.
    spare_ratio
        Raw over exported capacity, less 1.
    queue_depth
        Commands inside the drive.
    interface, on_link
        The host link; and whether what a request takes at least occupies it, or the firmware
        while the link serves others.
    state
        What it went through before.
    extra
        Further keys of a drive file, as they stand there.
    times
        By the names of `TYPICAL_NS`.
    """

    capacity_bytes: int
    logical_block_bytes: int
    log_block: bool = False
    page_bytes: int = 4096
    channels: int = 4
    ways: int = 1
    planes: int = 1
    pages_per_block: int = 64
    map_unit_bytes: int = 4096
    phase_bytes: int = 0
    merge_unit_bytes: int = 0
    log_blocks: int = 8
    spare_ratio: float = 0.07
    queue_depth: int = 256
    interface: str = "simple"
    on_link: bool = True
    state: str = "sequential"
    extra: Mapping[str, Value] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=lambda: dict(TYPICAL_NS))

    @property
    def units(self) -> int:
        """Planes that work side by side."""
        return self.channels * self.ways * self.planes

    def spare_for_logs(self, blocks: int) -> float:
        """Give the share of spare space that so many log blocks need."""
        bytes_needed = (blocks + BESIDE_LOGS) * self.merge_unit_bytes
        return LOGS_ROOM * bytes_needed / self.capacity_bytes

    def with_logs(self, blocks: int) -> Self:
        """Give the same drive with another number of log blocks, and spare space for them."""
        spare = max(self.spare_ratio, self.spare_for_logs(blocks))
        return replace(self, log_blocks=blocks, spare_ratio=spare)

    def timed(self, times: Mapping[str, float]) -> Self:
        """Give the same structure with other times."""
        return replace(self, times={**self.times, **times})

    def also(self, **extra: Value) -> Self:
        """Give it with further keys, dots written as two underscores; None is not possible."""
        keys = {key.replace("__", "."): value for key, value in extra.items()}
        return replace(self, extra={**self.extra, **keys})

    def trimmed(self) -> Self:
        """Give it with less of the same, where how much there is shows in no burst.

        A large drive takes long to be opened as one that was written to. Parts of a mapping
        table are met as often as there are few of them, and caches likewise, so there it stays.
        """
        kept = ("map.kind", "read_cache.bytes", "pslc.dynamic_bytes")
        if self.log_block or any(key in self.extra for key in kept):
            return self
        step = max(self.map_unit_bytes, self.page_bytes)
        capacity = ENOUGH_BYTES // step * step - self.phase_bytes
        if capacity >= self.capacity_bytes:
            return self
        return replace(self, capacity_bytes=capacity)

    def values(self) -> dict[str, Value]:
        """Write it as keys of a drive file."""
        return {
            "default_state": self.state,
            **self._array(),
            **self._timings(),
            **self._firmware(),
            **self.extra,
        }

    def _array(self) -> dict[str, Value]:
        """Size the array to the capacity and the spare space."""
        span = self.merge_unit_bytes if self.log_block else max(self.map_unit_bytes, 1)
        exported = math.ceil((self.capacity_bytes + self.phase_bytes) / span) * span
        per_block, block_pages = self.pages_per_block, self.units * self.page_bytes
        if self.log_block:
            per_block = self.merge_unit_bytes // (self._width() * self.page_bytes)
        spare = max(self.spare_ratio, 0.005)
        while exported * (1 + spare) / (block_pages * per_block) > MANY_BLOCKS:
            if self.log_block:
                break
            per_block *= 2
        blocks = math.ceil(exported * (1 + spare) / (block_pages * per_block))
        least = LEAST_SPARE_BLOCKS
        if self.log_block:
            groups = max(self.units // self._width(), 1)
            least = math.ceil((self.log_blocks + BESIDE_LOGS) / groups)
        blocks = max(blocks, math.ceil(exported / (block_pages * per_block)) + least)
        raw = blocks * block_pages * per_block
        return {
            # So written that the drive exports what it does, whatever blocks were rounded up to.
            "over_provisioning_ratio": raw / exported - 1,
            "nand.channels": self.channels,
            "nand.ways": self.ways,
            "nand.planes": self.planes,
            "nand.blocks_per_plane": blocks,
            "nand.pages_per_block": per_block,
            "nand.page_bytes": self.page_bytes,
            # A twin is for times, and shall not wear out before the question is answered.
            "nand.endurance_erases": 1_000_000,
        }

    def _width(self) -> int:
        """Blocks side by side in a merge unit: all, or as many as it holds evenly."""
        pages = self.merge_unit_bytes // self.page_bytes
        unit_pages = max(self.map_unit_bytes // self.page_bytes, 1)
        for width in range(self.units, 0, -1):
            rows = pages // width
            whole = self.units % width == 0 and pages % width == 0
            if whole and rows >= 1 and (width * rows) % unit_pages == 0:
                return width
        return 1

    def _timings(self) -> dict[str, Value]:
        times = {**TYPICAL_NS, **self.times}
        values: dict[str, Value] = {
            "nand.read_ns": round(times["read"]),
            "nand.program_ns": round(times["program"]),
            "nand.erase_ns": round(times["erase"]),
            "channel.ns_per_byte": float(f"{times['transfer']:.5g}"),
            "host.interface": self.interface,
            "host.logical_block_bytes": self.logical_block_bytes,
            "host.queue_depth": self.queue_depth,
        }
        on_link = self.on_link and self.interface != "nvme"
        values["host.command_ns" if on_link else "host.firmware_ns"] = round(times["firmware"])
        if self.interface == "nvme":
            values["host.lane_bytes_per_second"] = float(f"{1e9 / times['link'] / 4:.5g}")
        else:
            values["host.bytes_per_second"] = float(f"{1e9 / times['link']:.5g}")
        if "write_buffer.bytes" in self.extra:
            values["write_buffer.ns_per_byte"] = float(f"{times['copy']:.5g}")
        if "read_cache.bytes" in self.extra:
            values["read_cache.ns_per_byte"] = float(f"{times['copy']:.5g}")
        if self.extra.get("map.kind") == "zones":
            values["map.load_ns"] = round(times["load"])
            values["map.write_back_ns"] = round(times["write_back"])
        return values

    def _firmware(self) -> dict[str, Value]:
        values: dict[str, Value] = {
            "ftl.kind": "log-block" if self.log_block else "page",
            "ftl.map_unit_bytes": self.map_unit_bytes,
        }
        if self.phase_bytes:
            values["ftl.phase_bytes"] = self.phase_bytes
        if self.log_block:
            values["ftl.merge_unit_bytes"] = self.merge_unit_bytes
            values["ftl.log_blocks"] = self.log_blocks
        return values
