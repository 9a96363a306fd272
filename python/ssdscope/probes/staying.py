"""What stays in a write buffer that cannot be switched off, as far as it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from ssdscope.findings import Finding
    from ssdscope.targets.records import DeviceInfo

    class Known(Protocol):
        """A drive, and what was found of it: the bench, or what a family sees of it."""

        @property
        def info(self) -> DeviceInfo:
            """What a host knows of the drive."""

        @property
        def known(self) -> Mapping[str, Finding]:
            """What was found so far."""

        def found(self, name: str) -> float | str | None:
            """Give the value of a property that was detected."""


SIZE, UNIT = "write_buffer_bytes", "write_buffer_unit_bytes"
ABOUT, ABOUT_UNIT = "about_bytes", "about_unit_bytes"
"""Keys of the evidence: what a buffer that nothing surely empties seems to hold, in what units."""


def about_bytes(drive: Known) -> float | None:
    """Give what the buffer holds, also where it is not sure enough to be told; None if unknown."""
    return _about(drive, SIZE, ABOUT)


def about_unit_bytes(drive: Known) -> int | None:
    """Give what the buffer takes room in, likewise."""
    unit = _about(drive, UNIT, ABOUT_UNIT)
    return None if unit is None else int(unit)


def _about(drive: Known, name: str, key: str) -> float | None:
    told = drive.found(name)
    if told is None and name in drive.known:
        figure = drive.known[name].evidence.figures.get(key)
        told = figure if isinstance(figure, int | float) else None
    return None if told is None else float(told)
