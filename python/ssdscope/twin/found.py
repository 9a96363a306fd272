"""What findings say of the inside, put into a design that says the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ssdscope.twin.design import ENTRY_BYTES, SPARE, Design

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.targets.records import DeviceInfo
    from ssdscope.twin.design import Value

__all__ = ["Found", "found_of", "left_open"]

PAGES_BYTES = (16_384, 8192, 4096, 2048)
"""Pages that drives have, the usual last ones for small units."""
CELL_BYTES = 4096
"""What a buffer or a cache takes room in, if nobody knows."""
KNOWN_WITHIN = 0.05
"""A number that was found is fitted within about such a share."""
NUMBERS = {
    "over_provisioning_ratio": SPARE,
    "write_buffer_bytes": "write_buffer.bytes",
    "read_cache_bytes": "read_cache.bytes",
    "pslc_bytes": "pslc.bytes",
    "map_cache_bytes": "map.cache_bytes",
    "rotation_ns": "disk.rpm",
    "seek_track_ns": "disk.seek_track_ns",
    "seek_full_ns": "disk.seek_full_ns",
}
"""Properties whose numbers stand in a drive file under these keys."""
NEW_BUFFER: dict[str, Value] = {
    "write_buffer.unit_bytes": CELL_BYTES,
    "write_buffer.drain": "eager",
    "write_buffer.order": "fifo",
    "write_buffer.ns_per_byte": 0.2,
}
NEW_REGION: dict[str, Value] = {
    "pslc.read_ns": 30_000,
    "pslc.program_ns": 200_000,
    "nand.bits_per_cell": 3,
}
OF_DISKS = ("rotation_ns", "seek_track_ns", "seek_full_ns", "disk_cache_bytes")
OF_FLASH = (
    "rmw_unit_bytes", "merge_unit_bytes", "interleave_degree", "placement_pages", "allocation",
    "write_buffer_bytes", "read_cache_bytes", "read_ahead_bytes", "map_zone_bytes", "pslc_bytes",
    "over_provisioning_ratio", "idle_gc_onset_ns",
)  # fmt: skip
"""Properties that a design takes over."""
MINUTE_NS = 60e9
LINKS: dict[str, dict[str, Value]] = {
    "nvme": {"host.lane_bytes_per_second": 1e9, "host.firmware_ns": 500},
    "simple": {"host.bytes_per_second": 600e6, "host.command_ns": 500, "host.firmware_ns": 500},
}
"""What a link has that nobody wrote down: numbers that are fitted must be there."""


@dataclass(frozen=True)
class Found:
    """What is known of a drive beforehand.

    Attributes
    ----------
    info
        What it says of itself.
    values
        What was detected, by property; None of what is not there.
    disturbance
        Noise that was measured, as keys of a drive file.
    """

    info: DeviceInfo
    values: Mapping[str, float | str | None]
    disturbance: Mapping[str, Value] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """Return a number that was found, 0 if there is none."""
        value = self.values.get(name)
        return round(value) if isinstance(value, int | float) else 0

    def absent(self, name: str) -> bool:
        """Say whether it surely is not there."""
        return name in self.values and not self.values[name]

    def known(self) -> dict[str, float]:
        """Return by key of a drive file how far a number is known, as a share."""
        return {key: KNOWN_WITHIN for name, key in NUMBERS.items() if self.number(name)}

    def allows(self, design: Design) -> bool:
        """Say whether a design is of the same kind."""
        if design.disk != bool(self.number("rotation_ns")):
            return False
        if self.number("merge_unit_bytes"):
            return design.log_block
        if not design.log_block:
            return True
        # A drive has whole units of merging: of others the host would see another capacity.
        whole = self.info.capacity_bytes % design.whole("ftl.merge_unit_bytes", 1) == 0
        return whole and not self.absent("merge_unit_bytes")

    def put_into(self, design: Design) -> Design:
        """Let a design have what was found, and what the host sees."""
        keys = {k: v for k, v in design.values.items() if not k.startswith("disturbance.")}
        keys["host.logical_block_bytes"] = self.info.logical_block_bytes
        link = LINKS["nvme" if keys.get("host.interface") == "nvme" else "simple"]
        keys |= {key: value for key, value in link.items() if not keys.get(key)}
        design = Design({**keys, **self.disturbance}, self.info.capacity_bytes)
        steps = (
            (_arm,) if design.disk
            else (_dies, _pages, _merges, _blocks, _buffer, _cache, _table, _region, _collection)
        )  # fmt: skip
        for step in steps:
            design = step(design, self)
        return design.evened()


def found_of(findings: Findings, info: DeviceInfo, disturbance: Mapping[str, Value]) -> Found:
    """Take what was detected, and what is not there."""
    values = dict(_values(findings))
    # Of a disk, where its arm and its platter stand looks like noise.
    return Found(info, values, {} if values.get("rotation_ns") else disturbance)


def left_open(findings: Findings) -> Iterator[str]:
    """Say what was not found, so that a design has what fits best."""
    rotation = findings.get("rotation_ns")
    disk = rotation is not None and rotation.outcome == "detected"
    for name in OF_DISKS if disk else OF_FLASH:
        finding = findings.get(name)
        if finding is None:
            yield f"{name}: not looked for; as fits best"
        elif finding.outcome not in ("detected", "absent"):
            yield f"{name}: {finding.about.name.lower()} {finding.outcome}; as fits best"


def _values(findings: Findings) -> Iterator[tuple[str, float | str | None]]:
    for name, finding in findings.items():
        if finding.outcome == "absent":
            yield name, None
        elif finding.value is not None:
            yield name, finding.value
        elif finding.candidates:
            yield name, finding.candidates[0]


def _arm(design: Design, found: Found) -> Design:
    keys: dict[str, Value] = {}
    if turn := found.number("rotation_ns"):
        keys["disk.rpm"] = round(MINUTE_NS / turn)
    for name in ("seek_track_ns", "seek_full_ns"):
        if value := found.number(name):
            keys[f"disk.{name}"] = value
    if cache := found.number("disk_cache_bytes"):
        keys["disk.read_cache_bytes"] = cache
    if segments := found.number("disk_cache_segments"):
        keys["disk.read_cache_segments"] = segments
    return design.having(keys)


def _dies(design: Design, found: Found) -> Design:
    count = found.number("interleave_degree")
    if not count or count == design.dies:
        return design
    dies = design.whole("nand.dies", 1)
    dies = dies if count % dies == 0 else 1
    ways = math.gcd(design.whole("nand.ways", 1), count // dies)
    return design.having(
        {"nand.dies": dies, "nand.ways": ways, "nand.channels": count // dies // ways}
    )


def _pages(design: Design, found: Found) -> Design:
    """Let pages divide the unit, and hold whole blocks of the host."""
    block, unit = found.info.logical_block_bytes, found.number("rmw_unit_bytes")
    unit = unit or max(design.unit_bytes, block)
    fitting = [
        page for page in (design.page_bytes, *PAGES_BYTES, unit)
        if unit % page == 0 and page % block == 0
    ]  # fmt: skip
    page = fitting[0] if fitting else unit
    design = design.having({"nand.page_bytes": page, "ftl.map_unit_bytes": unit})
    phase = found.number("alignment_phase_bytes")
    return design.having({"ftl.phase_bytes": phase})


def _merges(design: Design, found: Found) -> Design:
    if not design.log_block:
        return design
    merge = found.number("merge_unit_bytes") or design.whole("ftl.merge_unit_bytes")
    pages = merge // design.page_bytes
    unit_pages = max(design.unit_bytes // design.page_bytes, 1)
    before = design.whole("ftl.merge_unit_bytes") // max(
        design.whole("nand.pages_per_block", 1) * design.page_bytes, 1
    )
    every = [
        width for width in range(design.planes, 0, -1)
        if design.planes % width == 0 and pages % width == 0 and pages % (unit_pages * width) == 0
    ]  # fmt: skip
    width = min(every, key=lambda each: abs(math.log(each / max(before, 1))), default=1)
    return design.having(
        {"ftl.merge_unit_bytes": merge, "nand.pages_per_block": max(pages // width, 1)}
    )


def _blocks(design: Design, found: Found) -> Design:
    """Place pages as found."""
    keys: dict[str, Value] = {}
    if found.values.get("allocation") in ("order", "address") and not design.log_block:
        keys["ftl.allocation"] = str(found.values["allocation"])
    run = found.number("placement_pages") or design.whole("ftl.placement_pages", 1)
    if not design.log_block:
        keys["ftl.placement_pages"] = run
    return design.having(keys)


def _buffer(design: Design, found: Found) -> Design:
    if found.absent("write_buffer_bytes"):
        return design.without("write_buffer")
    if not (size := found.number("write_buffer_bytes")):
        return design
    if not design.number("write_buffer.bytes"):
        design = design.having(NEW_BUFFER)
    unit = found.number("write_buffer_unit_bytes") or design.whole("write_buffer.unit_bytes")
    unit = min(unit, size)
    return design.having(
        {"write_buffer.unit_bytes": unit, "write_buffer.bytes": max(round(size / unit), 1) * unit}
    )


def _cache(design: Design, found: Found) -> Design:
    ahead, size = found.number("read_ahead_bytes"), found.number("read_cache_bytes")
    if found.absent("read_cache_bytes") and not ahead:
        return design.without("read_cache")
    if not size and not ahead:
        return design
    cell = found.number("read_cache_unit_bytes") or design.whole(
        "read_cache.unit_bytes", CELL_BYTES
    )
    held = max(size, 2 * ahead, 8 * cell)
    keys: dict[str, Value] = {
        "read_cache.unit_bytes": cell,
        "read_cache.bytes": held // cell * cell,
        "read_cache.ns_per_byte": design.number("read_cache.ns_per_byte", 0.2),
    }
    if ahead or found.absent("read_ahead_bytes"):
        unit = design.unit_bytes
        keys["read_cache.read_ahead_bytes"] = max(ahead // unit, 1) * unit if ahead else 0
    return design.having(keys)


def _table(design: Design, found: Found) -> Design:
    zone, held = found.number("map_zone_bytes"), found.number("map_cache_bytes")
    if zone:
        step = design.whole("ftl.merge_unit_bytes") if design.log_block else design.unit_bytes
        zone = max(round(zone / step), 1) * step
        keys: dict[str, Value] = {
            "map.kind": "zones",
            "map.zone_bytes": zone,
            "map.resident_zones": max(round(held / zone), 1),
            "map.load_ns": design.whole("map.load_ns", 200_000),
            "map.write_back_ns": design.whole("map.write_back_ns", 400_000),
        }
        return design.without("map").having(keys)
    if held and not design.log_block:
        entries = max(held // design.unit_bytes, 16)
        return design.without("map").having(
            {"map.kind": "demand", "map.cache_bytes": entries * ENTRY_BYTES}
        )
    if found.absent("map_cache_bytes") or found.absent("map_zone_bytes"):
        return design.without("map").having({"map.kind": "ram"})
    return design


def _region(design: Design, found: Found) -> Design:
    """Return it a region of one bit, of whole blocks of every plane."""
    size = found.number("pslc_bytes")
    if found.absent("pslc_bytes") or design.log_block:
        return design.without("pslc")
    if size and not design.number("pslc.bytes"):
        design = design.having(NEW_REGION)
    if size or design.number("pslc.bytes"):
        design = design.having({"pslc.bytes": size or design.whole("pslc.bytes")})
    return design


def _collection(design: Design, found: Found) -> Design:
    keys: dict[str, Value] = {}
    spare = found.values.get("over_provisioning_ratio")
    if isinstance(spare, int | float) and spare > 0 and not design.log_block:
        keys[SPARE] = float(spare)
    if onset := found.number("idle_gc_onset_ns"):
        keys |= {"gc.background": True, "gc.idle_ns": onset}
    return design.having(keys)
