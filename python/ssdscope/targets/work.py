"""What it costs to simulate a run: counted, not timed, so that what hangs on it hangs on the seed.

The constants are what the presets take on one core of a usual machine (`benchmarks/work.py`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ssdscope.targets.device import Device
    from ssdscope.targets.records import RunResult

READ_S, WRITE_S = 0.8e-6, 2.8e-6
"""A request of the host; what writes makes changes in memory that no other copy shares."""
STEP_S, PAGE_S = 0.28e-6, 0.015e-6
"""A command of the flash that is simulated by itself; and a page that is read or programmed, with
others in one go or not."""

BYTE_S = 0.25e-6 / 4096
"""What a byte is expected to cost: a command of the flash for a small page."""


@dataclass(frozen=True)
class Work:
    """Requests to a drive, and the bytes that they move."""

    reads: int = 0
    bytes_read: int = 0
    writes: int = 0
    bytes_written: int = 0

    @classmethod
    def of(cls, result: RunResult) -> Work:
        """Count what a run did."""
        read, write = (
            (0, 0) if each is None else (each.requests, each.bytes)
            for each in (result.read, result.write)
        )
        return cls(*read, *write)

    @property
    def seconds(self) -> float:
        """What it may cost, before anybody has counted what it does to the flash."""
        moved_bytes = self.bytes_read + self.bytes_written
        return self.reads * READ_S + self.writes * WRITE_S + moved_bytes * BYTE_S


def of_run(result: RunResult, ramp_requests: int = 0) -> float:
    """Count what a run cost, in seconds of one core.

    Parameters
    ----------
    ramp_requests
        Served before those of the figures, and taken to be like them.
    """
    whole = 1 + ramp_requests / max(result.requests, 1)
    writes = Work.of(result).writes
    steps, pages = flash_work(result.counters)
    flash = (steps, round(whole * pages))
    return of_requests(whole * (result.requests - writes), whole * writes, flash)


def of_requests(
    reads: float, writes: float, until: tuple[int, int], since: tuple[int, int] = (0, 0)
) -> float:
    """Count what requests cost, in seconds of one core.

    Parameters
    ----------
    reads, writes
        How many; what only discards counts as a read.
    until, since
        `Device.flash_work` behind and before them.
    """
    steps, pages = (after - before for after, before in zip(until, since, strict=True))
    return reads * READ_S + writes * WRITE_S + steps * STEP_S + pages * PAGE_S


@contextmanager
def counted(
    device: Device, add: Callable[[float], object], *, reads: int = 0, writes: int = 0
) -> Iterator[None]:
    """Count what is done to a drive meanwhile, with what it does of itself.

    Parameters
    ----------
    add
        Told the seconds of one core, also where it fails.
    """
    begun = device.flash_work()
    try:
        yield
    finally:
        add(of_requests(reads, writes, device.flash_work(), begun))


def flash_work(counters: Mapping[str, Any] | None) -> tuple[int, int]:
    """Take `Device.flash_work` from what a drive counted; zeros where nothing is counted."""
    if counters is None:
        return 0, 0
    pages = counters["flash_pages_read"] + counters["flash_pages_programmed"]
    return counters["flash_steps"], pages
