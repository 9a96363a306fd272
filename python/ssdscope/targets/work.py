"""What it costs to simulate a run: counted, not timed, so that what hangs on it hangs on the seed.

The constants are what the presets take on one core of a usual machine (`benchmarks/work.py`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ssdscope.targets.device import Device
    from ssdscope.targets.records import RunResult

READ_S, WRITE_S = 0.8e-6, 1.2e-6
"""A request of the host; what writes makes changes in memory that no other copy shares."""
STEP_S, PAGE_S = 0.22e-6, 0.02e-6
"""A command of the flash that is simulated by itself; and a page that is read or programmed, with
others in one go or not."""
PIECE_S, FREED_S, UNIT_S, LOAD_S = 7e-6, 0.03e-6, 0.25e-6, 0.7e-6
"""A piece of a table that is first written; a page that a discard frees; a unit that a write buffer
takes in; and a part of a map on demand that is read from flash or written back."""
CALL_S = 0.4e-3
"""What Python adds to a call, who asks and looks at what comes out."""

BYTE_S = STEP_S / 4096
"""What a byte is expected to cost: a command of the flash for a small page."""


class FlashWork(NamedTuple):
    """What simulating the flash took, counted since a drive was opened, or of a run.

    Attributes
    ----------
    steps
        Commands that were simulated one by one.
    pages
        Read or programmed.
    pieces
        Of the tables, first written.
    freed
        Pages, by discards.
    buffered
        Units that a write buffer took in.
    loaded
        Parts of a map on demand, read or written back.
    """

    steps: int = 0
    pages: int = 0
    pieces: int = 0
    freed: int = 0
    buffered: int = 0
    loaded: int = 0

    @property
    def seconds(self) -> float:
        """What it cost, in seconds of one core."""
        costs = (STEP_S, PAGE_S, PIECE_S, FREED_S, UNIT_S, LOAD_S)
        return sum(count * cost for count, cost in zip(self, costs, strict=True))

    @classmethod
    def of(cls, counters: Mapping[str, Any] | None) -> FlashWork:
        """Take it from what a drive counted; zeros where nothing is counted."""
        if counters is None:
            return cls()
        pages = counters["flash_pages_read"] + counters["flash_pages_programmed"]
        took = counters["simulated"]
        loaded = counters["map_loads"] + counters["map_write_backs"]
        return cls(
            took["flash_steps"], pages, took["table_pieces"], took["pages_freed"],
            took["units_buffered"], loaded,
        )  # fmt: skip


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
    flash = FlashWork.of(result.counters)
    flash = flash._replace(pages=round(whole * flash.pages))
    requests = whole * (result.requests - writes), whole * writes
    return of_requests(*requests) + flash.seconds


def of_requests(reads: float, writes: float) -> float:
    """Count what a call costs but for the flash, in seconds of one core.

    Parameters
    ----------
    reads, writes
        How many it asks for; what only discards counts as a read.
    """
    return CALL_S + reads * READ_S + writes * WRITE_S


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
    begun_s = device.flash_work().seconds
    try:
        yield
    finally:
        add(of_requests(reads, writes) + device.flash_work().seconds - begun_s)
