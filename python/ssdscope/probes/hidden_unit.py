"""The RMW unit where a write buffer stays on and hides what a write takes: other ways to it.

By reads first, which write next to nothing (`moved_units`), and else by how fast small writes go
on once the buffer is full (`sustained_unit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.probes import moved_units, sustained_unit
from ssdscope.probes.staying import about_unit_bytes

if TYPE_CHECKING:
    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo


def stays_on(info: DeviceInfo) -> bool:
    """Whether there is a buffer that cannot be switched off."""
    return info.write_cache.on and info.write_cache.control == "fixed"


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    if not stays_on(info):
        return 0
    return moved_units.writes_bytes(info) + sustained_unit.writes_bytes(info)


def detect(bench: Bench, unit: str, phase: str, probe: str, *, rates: bool) -> list[Finding]:
    """Answer the unit and its phase under these names, or nothing.

    `rates` says whether to write as much as rates take: not after as much was written otherwise.
    """
    held_bytes = about_unit_bytes(bench)
    found = moved_units.detect(bench, unit, phase, probe, held_bytes)
    if not found and rates:
        found = sustained_unit.detect(bench, unit, phase, probe, held_bytes)
    return found
