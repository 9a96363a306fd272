"""A drive that might be the measured one: every key of a drive file, but for how much of it is.

How many blocks there are follows from what the host sees and from the share of spare space. So the
same drive can be had smaller: what writes show hangs on shares, and on how much a buffer or a
region of one bit holds, but not on how large the drive is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from ssdscope.targets.drive_writer import Value as Single

Value = Single | list[int]

SPARE = "over_provisioning_ratio"
BLOCKS = "nand.blocks_per_plane"
STOP_BLOCKS = 2
"""The default of ``gc.stop_writes_blocks``."""
BESIDE_STOP = 3
"""Blocks that a plane needs beside those: two that are written, and one to clean with."""
BESIDE_LOGS = 2
"""Merge units that a drive needs beside its log blocks."""
MOST_BLOCKS = 1 << 18
"""Of a plane; a larger drive has larger blocks."""
ENDURES = 1_000_000
"""Erases: a twin is for times, and shall not wear out before the question is answered."""
ROUNDING = 1e-12
"""Taken off a share, so that no unit is lost to the last digit."""
ENTRY_BYTES = 8
SECTOR_BYTES, LEAST_CYLINDERS = 512, 16


@dataclass(frozen=True)
class Design:
    """Keys of a drive file, of which the number of blocks is worked out.

    Attributes
    ----------
    values
        By dotted key. ``over_provisioning_ratio`` is the share of spare space that is wanted.
    capacity_bytes
        As the host sees it.
    """

    values: Mapping[str, Value]
    capacity_bytes: int

    def number(self, key: str, default: float = 0) -> float:
        """Look up a number."""
        value = self.values.get(key, default)
        return float(value) if isinstance(value, int | float) else default

    def whole(self, key: str, default: int = 0) -> int:
        """Look up a whole number."""
        return round(self.number(key, default))

    def having(self, keys: Mapping[str, Value]) -> Self:
        """Return it with other keys."""
        return replace(self, values={**self.values, **keys})

    def without(self, table: str) -> Self:
        """Return it without a table of keys, such as ``write_buffer``."""
        kept = {key: v for key, v in self.values.items() if not key.startswith(f"{table}.")}
        return replace(self, values=kept)

    @property
    def key(self) -> str:
        """What tells it from other designs of the same drive."""
        return repr(sorted(self.values.items(), key=str))

    def differs(self, other: Self) -> set[str]:
        """Return the keys in which two designs differ."""
        keys = self.values.keys() | other.values.keys()
        return {key for key in keys if self.values.get(key) != other.values.get(key)}

    @property
    def disk(self) -> bool:
        """Whether it is a hard disk."""
        return "disk.rpm" in self.values

    @property
    def log_block(self) -> bool:
        """Whether it merges log blocks."""
        return self.values.get("ftl.kind") == "log-block"

    @property
    def dies(self) -> int:
        """Dies that work side by side."""
        return math.prod(self.whole(f"nand.{each}", 1) for each in ("channels", "ways", "dies"))

    @property
    def planes(self) -> int:
        """Planes of all dies."""
        return self.dies * self.whole("nand.planes", 1)

    @property
    def page_bytes(self) -> int:
        """Bytes of a flash page."""
        return self.whole("nand.page_bytes", 4096)

    @property
    def unit_bytes(self) -> int:
        """Bytes that are mapped as one."""
        return self.whole("ftl.map_unit_bytes", self.page_bytes)

    @property
    def row_bytes(self) -> int:
        """Bytes of a block of every plane."""
        return self.planes * self.whole("nand.pages_per_block", 64) * self.page_bytes

    @property
    def blocks(self) -> int:
        """Blocks of a plane."""
        blocks = self.file().get(BLOCKS, 0)
        return blocks if isinstance(blocks, int) else 0

    def file(self) -> dict[str, Value]:
        """Write it as keys of a drive file, sized to its capacity."""
        if self.disk:
            return {**self.values, "disk.cylinders": self._cylinders()}
        span = self.whole("ftl.merge_unit_bytes") if self.log_block else self.unit_bytes
        exported = self.capacity_bytes + self.whole("ftl.phase_bytes")
        exported = -(-exported // span) * span
        sized = self._of_moderate_blocks(exported)
        row = sized.row_bytes
        blocks = math.ceil(
            max(exported * (1 + sized.number(SPARE)), exported + sized._least()) / row
        )
        return {
            **sized.values,
            SPARE: blocks * row / exported - 1 - ROUNDING,
            BLOCKS: blocks,
            "nand.endurance_erases": ENDURES,
        }

    def _cylinders(self) -> int:
        """Return as many cylinders as the capacity asks for."""
        ends = (self.number(f"disk.{each}_sectors_per_track", 500) for each in ("outer", "inner"))
        cylinder = sum(ends) / 2 * SECTOR_BYTES * self.whole("disk.surfaces", 1)
        return max(round(self.capacity_bytes / cylinder), LEAST_CYLINDERS)

    def _of_moderate_blocks(self, exported: int) -> Self:
        """Make blocks so large that a plane has not too many of them."""
        times = 1
        while exported / (self.row_bytes * times) > MOST_BLOCKS and not self.log_block:
            times *= 2
        return self.having({"nand.pages_per_block": times * self.whole("nand.pages_per_block", 64)})

    def _least(self) -> int:
        """Return the raw bytes over the exported ones without which it could not work."""
        if self.log_block:
            return (self.whole("ftl.log_blocks", 8) + BESIDE_LOGS) * self.whole(
                "ftl.merge_unit_bytes"
            )
        blocks = self.whole("gc.stop_writes_blocks", STOP_BLOCKS) + BESIDE_STOP + 1
        return blocks * self.row_bytes + self.region_raw_bytes + self._map_bytes()

    @property
    def region_raw_bytes(self) -> int:
        """Raw space under the region of one bit, in whole blocks of every plane."""
        held = self.whole("pslc.bytes") * self.whole("nand.bits_per_cell", 1)
        return -(-held // self.row_bytes) * self.row_bytes

    def _map_bytes(self) -> int:
        if self.values.get("map.kind") != "demand":
            return 0
        return 2 * math.ceil(self.capacity_bytes / self.unit_bytes) * ENTRY_BYTES

    @property
    def quantum_pages(self) -> int:
        """Pages of which a block holds a whole number: of a run, a unit, and all bits of a cell."""
        unit, run = self.unit_bytes // self.page_bytes, self.whole("ftl.placement_pages", 1)
        rows = max(min(run, unit), -(-unit // self.planes))
        bits = self.whole("nand.bits_per_cell", 1) if self.has_region else 1
        return max(run, rows) * bits

    @property
    def has_region(self) -> bool:
        """Whether some of its cells hold one bit."""
        return bool(self.number("pslc.bytes") or self.number("pslc.dynamic_bytes"))

    def evened(self) -> Self:
        """Let runs, units, blocks and regions fit into each other, as near to it as they do."""
        if self.disk:
            return self
        unit, run = max(self.unit_bytes // self.page_bytes, 1), self.whole("ftl.placement_pages", 1)
        runs = [each for each in range(1, 4 * max(run, unit) + 1) if self._goes_round(each, unit)]
        if self.log_block:
            pages = self.whole("nand.pages_per_block", 64)
            runs = [each for each in runs if pages % each == 0]
        run = min(runs, key=lambda each: abs(math.log(each / run)), default=run)
        even = self.having({"ftl.placement_pages": run})
        if self.log_block:
            return even
        quantum, pages = even.quantum_pages, even.whole("nand.pages_per_block", 64)
        even = even.having({"nand.pages_per_block": max(round(pages / quantum), 1) * quantum})
        step = even.row_bytes // even.whole("nand.bits_per_cell", 1)
        keys: dict[str, Value] = {}
        if held := even.whole("pslc.bytes"):
            keys["pslc.bytes"] = max(round(held / step), 1) * step
        if even.whole("ftl.reclaim_unit_bytes") and not even._reclaims_evenly():
            keys["ftl.reclaim_unit_bytes"] = 0
        return even.having(keys)

    def _goes_round(self, run: int, unit: int) -> bool:
        if run % unit == 0:
            return True
        wide = unit // run
        return unit % run == 0 and (self.planes % wide == 0 or wide % self.planes == 0)

    def _reclaims_evenly(self) -> bool:
        block = self.row_bytes // self.planes
        unit = self.unit_bytes // self.page_bytes
        width = max(unit // self.whole("ftl.placement_pages", 1), 1)
        blocks, rest = divmod(self.whole("ftl.reclaim_unit_bytes"), block)
        return (
            rest == 0
            and self.planes % max(blocks, 1) == 0
            and blocks % min(width, self.planes) == 0
        )
