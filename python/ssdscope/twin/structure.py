"""What findings say of the structure of a drive, and which of it a twin cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdscope.twin.design import Design, Value

if TYPE_CHECKING:
    from ssdscope.findings import Finding, Findings
    from ssdscope.targets.records import DeviceInfo

SIMPLEST = {
    "map_zone_bytes": "the mapping table is in memory",
    "read_ahead_bytes": "nothing is read ahead",
    "write_buffer_bytes": "a write buffer only if the measured curves ask for one",
    "read_cache_bytes": "nothing that was read is kept",
    "rmw_unit_bytes": "the unit of rewriting is the page that fits the curves best",
    "merge_unit_bytes": "pages are mapped one by one",
    "interleave_degree": "so many units side by side as fit the curves best",
    "allocation": "places are chosen by address",
    "placement": "pages go round the units one by one",
    "over_provisioning_ratio": "so much spare space as fits the curves best",
    "pslc_bytes": "all cells are alike",
    "idle_gc_onset_ns": "nothing is collected in idle time",
    "internal_volume_bits": "there is one volume",
    "open_units": "as many units are open as the simplest firmware has",
}
"""Of properties that could not be detected: what the twin has instead."""
ENTRY_BYTES = 8
ONE_BIT_SHARE = 3
"""Cells of three bits, where there is a fast region: what is sold has them."""


@dataclass(frozen=True)
class Known:
    """What is known beforehand.

    Attributes
    ----------
    design
        With the structure that was found, and typical times.
    sure
        Properties that were found, whose values a search leaves alone.
    not_modelled
        Sentences for the others.
    """

    design: Design
    sure: frozenset[str]
    not_modelled: tuple[str, ...]


def known(findings: Findings, info: DeviceInfo, disturbed: Mapping[str, Value]) -> Known:
    """Make a design of what was found, and of the noise that was measured."""
    found = dict(findings)
    values = {name: _value(finding) for name, finding in found.items()}
    sure = frozenset(
        name
        for name, each in found.items()
        if each.outcome in ("detected", "absent") and values[name] is not False
    )
    design = Design(info.capacity_bytes, info.logical_block_bytes)
    design = _memories(_firmware(design, values), values)
    design = replace(design, extra={**design.extra, **disturbed})
    return Known(design, sure, tuple(_left_out(found)))


def _value(finding: Finding) -> float | str | None:
    """Give what was detected, or the first of several that explain it; None if it is not there."""
    if finding.value is not None:
        return finding.value
    return finding.candidates[0] if finding.candidates else None


def _whole(values: dict[str, float | str | None], name: str) -> int:
    value = values.get(name)
    return round(value) if isinstance(value, int | float) else 0


def _firmware(design: Design, values: dict[str, float | str | None]) -> Design:
    unit, merge = _whole(values, "rmw_unit_bytes"), _whole(values, "merge_unit_bytes")
    page = max(4096, design.logical_block_bytes)
    if unit:
        page = (
            unit
            if unit < 4096
            else next((size for size in (4096, 8192, 2048) if unit % size == 0), unit)
        )
    design = replace(
        design,
        log_block=merge > 0,
        merge_unit_bytes=merge,
        map_unit_bytes=max(unit, page),
        page_bytes=page,
        phase_bytes=_whole(values, "alignment_phase_bytes"),
    )
    extra: dict[str, Value] = {}
    if not merge and values.get("allocation") in ("order", "address"):
        extra["ftl.allocation"] = str(values["allocation"])
    run = _whole(values, "placement_pages")
    if run > 1:
        extra["ftl.placement_pages"] = run
        # A run of pages lies in one block.
        design = replace(design, pages_per_block=-(-design.pages_per_block // run) * run)
    spare = values.get("over_provisioning_ratio")
    if isinstance(spare, int | float) and spare > 0:
        design = replace(design, spare_ratio=float(spare))
    onset = _whole(values, "idle_gc_onset_ns")
    if onset:
        extra |= {"gc.background": True, "gc.idle_ns": onset}
    fast = _whole(values, "pslc_bytes")
    if fast and not merge:
        extra |= {"pslc.dynamic_bytes": fast, "nand.bits_per_cell": ONE_BIT_SHARE}
    return replace(design, extra=extra)


def _memories(design: Design, values: dict[str, float | str | None]) -> Design:
    """Add write buffer, read cache, and the part of the mapping table that is in memory."""
    extra: dict[str, Value] = dict(design.extra)
    buffer, unit = _whole(values, "write_buffer_bytes"), _whole(values, "write_buffer_unit_bytes")
    if buffer:
        unit = unit or min(4096, buffer)
        extra |= {
            "write_buffer.bytes": max(buffer // unit, 1) * unit,
            "write_buffer.unit_bytes": unit,
        }
    cache, cell = _whole(values, "read_cache_bytes"), _whole(values, "read_cache_unit_bytes")
    ahead = _whole(values, "read_ahead_bytes")
    if cache or ahead:
        cell = cell or 4096
        held = max(cache, 2 * ahead, 8 * cell)
        extra |= {"read_cache.bytes": held // cell * cell, "read_cache.unit_bytes": cell}
    if ahead:
        extra["read_cache.read_ahead_bytes"] = (
            max(ahead // design.map_unit_bytes, 1) * design.map_unit_bytes
        )
    zone, resident = _whole(values, "map_zone_bytes"), _whole(values, "map_cache_bytes")
    if zone:
        step = design.merge_unit_bytes if design.log_block else design.map_unit_bytes
        zone = max(round(zone / step), 1) * step
        extra |= {
            "map.kind": "zones",
            "map.zone_bytes": zone,
            "map.resident_zones": max(round(resident / zone), 1),
        }
    elif resident and not design.log_block:
        entries = max(resident // design.map_unit_bytes, 16)
        extra |= {"map.kind": "demand", "map.cache_bytes": entries * ENTRY_BYTES}
    return replace(design, extra=extra)


def _left_out(found: dict[str, Finding]) -> Iterator[str]:
    for name, instead in SIMPLEST.items():
        finding = found.get(name)
        if finding is None or finding.outcome not in ("detected", "absent"):
            if finding is None:
                yield f"{name}: not looked for; {instead}"
            else:
                yield f"{name}: {finding.about.name.lower()} {finding.outcome}; {instead}"
