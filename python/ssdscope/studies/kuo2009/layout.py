"""Figures 25 to 28: a file and hot data, laid out better in three steps.

The thesis shows its request list only in a picture; the one here is a reconstruction that gives
its counts. Requests 1, 3 and 6 update 16 sectors of a file in order, from sector 6 on; 2, 4, 5
and 7 update four sectors of hot data each, across one edge of a page. The steps are those of the
layout adviser (`ssdscope.advise.layout`), which takes any trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.advise.layout import Requests, laid_out
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009 import cases
from ssdscope.studies.kuo2009.bench import (
    SECTOR,
    Drives,
    Served,
    number,
    numbers,
    read,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.targets import Device

PAGE_SECTORS = 4
"""One effective page, as the paper says of its example."""
BLOCK_PAGES = 4
"""Assumed: the smallest block that the file of four pages can replace as a whole."""
DRIVE = (
    "nand.channels=1",
    "nand.ways=1",
    f"nand.pages_per_block={BLOCK_PAGES}",
    f"ftl.merge_unit_bytes={BLOCK_PAGES * PAGE_SECTORS * SECTOR}",
    f"ftl.map_unit_bytes={PAGE_SECTORS * SECTOR}",
    "ftl.log_blocks=16",
    "map.kind=ram",
)
"""The Transcend SLC's chip and firmware with the example's pages and blocks."""
EVICTING = 1024
"""Where writes go that use up the log blocks: far from the example's pages."""
FILE = (1, 3, 6)
"""The requests that update the file."""
LOGS = 64
"""More blocks than any preset has log blocks."""
RECONSTRUCTED = (
    "the request list is a reconstruction: the paper shows it only in a picture; blocks of four "
    "pages are assumed"
)


@dataclass(frozen=True)
class Request:
    """A write of the example, in sectors."""

    number: int
    first: int
    sectors: int

    def pages(self) -> range:
        """Give the effective pages it touches."""
        end = self.first + self.sectors
        return range(self.first // PAGE_SECTORS, -(-end // PAGE_SECTORS))


def _requests(*spans: tuple[int, int]) -> tuple[Request, ...]:
    return tuple(Request(number, *span) for number, span in enumerate(spans, start=1))


FIRST = _requests((6, 4), (66, 4), (10, 6), (113, 4), (163, 4), (16, 6), (210, 4))
"""The seven requests at first; the file is requests 1, 3 and 6."""


def _layouts() -> dict[str, tuple[Request, ...]]:
    """Let the layout adviser take its steps, in which no request of the example is lost."""
    first = Requests.writes([(each.first * SECTOR, each.sectors * SECTOR) for each in FIRST])
    page = PAGE_SECTORS * SECTOR
    steps = laid_out(first, page, BLOCK_PAGES * page).values()
    spans = [[(at // SECTOR, size // SECTOR) for at, size in step.spans()] for step in steps]
    return {figure: _requests(*step) for figure, step in zip(FIGURES, spans, strict=True)}


FIGURES = ("25", "26", "27", "28")
LAYOUTS = _layouts()
"""The seven requests at first and after each step."""


@dataclass(frozen=True)
class Cost:
    """What the drive counted of a layout.

    Attributes
    ----------
    pages, file_pages
        Effective pages written for the seven requests, and for the file's alone.
    rmw
        Of these read first.
    merges
        Merges of the log blocks they used, by kind.
    copied
        Pages copied by these.
    """

    pages: float
    file_pages: float
    rmw: int
    merges: dict[str, int]
    copied: int

    @property
    def log_blocks(self) -> int:
        """Log blocks that the seven requests used."""
        return sum(self.merges.values())


def count(drives: Drives, requests: Sequence[Request]) -> Cost:
    """Run a layout, then use up all log blocks so that its own are merged."""
    device = drives.fork("transcend-slc", *DRIVE)
    page = PAGE_SECTORS * SECTOR
    served = _write(device, requests)
    others = (EVICTING + np.arange(LOGS) * 2 * BLOCK_PAGES) * page
    merges = dict.fromkeys(("switch", "partial", "full"), 0)
    copied = 0
    # The log blocks of the example are the oldest, so the first ones merged are its own.
    for each in (served, *(write(device, other, page) for other in others)):
        if sum(merges.values()) == _log_blocks(requests):
            break
        copied += each.counts["gc_pages_moved"]
        for kind in merges:
            merges[kind] += each.counts[kind]
    file_alone = _write(
        drives.fork("transcend-slc", *DRIVE), [each for each in requests if each.number in FILE]
    )
    return Cost(
        _written(served),
        _written(file_alone),
        served.counts["rmw_reads"],
        merges,
        copied,
    )


def _written(served: Served) -> float:
    """Give the effective pages that requests wrote; what merges copy is counted apart."""
    copied = served.counts["gc_pages_moved"]
    return served.counts["flash_bytes_programmed"] / (PAGE_SECTORS * SECTOR) - copied


def _write(device: Device, requests: Sequence[Request]) -> Served:
    offsets = [each.first * SECTOR for each in requests]
    return write(device, offsets, [each.sectors * SECTOR for each in requests])


def _log_blocks(requests: Sequence[Request]) -> int:
    """Count the blocks the requests touch: each has a log block of its own."""
    return len({page // BLOCK_PAGES for each in requests for page in each.pages()})


def measure(name: str, drives: Drives, _: StageProgress) -> Measured:
    """Count one of the four layouts, and compare it with the one before."""
    requests = LAYOUTS[name]
    cost = count(drives, requests)
    before = cost if name == FIGURES[0] else count(drives, LAYOUTS[str(int(name) - 1)])
    found = {f"{HEADS[name]}, pages": number(cost.pages)} | leaves(name, cost, before)
    if name == FIGURES[-1]:
        found |= gains(repeated(drives, LAYOUTS[FIGURES[0]]), repeated(drives, requests))
    columns: Columns = {
        "request": [each.number for each in requests],
        "first_sector": [each.first for each in requests],
        "sectors": [each.sectors for each in requests],
        "pages": [len(each.pages()) for each in requests],
    }
    head = f"{cost.pages:g} page writes, {cost.rmw} of them read-modify-write"
    return Measured(
        found,
        lambda: cases.layout(requests, FILE, PAGE_SECTORS, BLOCK_PAGES, head),
        columns,
        [RECONSTRUCTED],
    )


HEADS = dict(zip(FIGURES, ("at first", "step 1", "step 2", "step 3"), strict=True))


def leaves(name: str, cost: Cost, before: Cost) -> dict[str, Reading]:
    """Read off what a layout leaves of cut pages, out of order, and for merges."""
    cut, file = number(cost.rmw), number(cost.file_pages)
    if name == "25":
        return {"example, cut": number(cost.rmw / cost.pages)}
    if name == "26":
        left = Reading(f"{cost.rmw} left of {before.rmw}", cost.rmw / max(before.rmw, 1))
        return {"step 1, cut": left, "step 1, file": file}
    if name == "27":
        return {"step 2, cut": cut, "step 2, file": file}
    more = cost.merges["switch"] - before.merges["switch"]
    used = f"{cost.log_blocks} used instead of {before.log_blocks}"
    return {
        "step 3, cut": cut,
        "step 3, switch merges": Reading(f"{_in_words(cost)}; before, {_in_words(before)}", more),
        "step 3, copied": number(cost.copied - before.copied),
        "step 3, log blocks": Reading(used, cost.log_blocks - before.log_blocks),
    }


def _in_words(cost: Cost) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in cost.merges.items() if count)
    return f"{kinds}; {cost.copied} pages copied"


@dataclass(frozen=True)
class Repeated:
    """A layout used again and again, and hot data read back.

    Attributes
    ----------
    loads
        Tables loaded for the hot data's requests, once.
    """

    write_ns: float
    read_ns: float
    copied: int
    erased: int
    loads: int


ZONES = ("map.kind=zones", f"map.zone_bytes={4 * BLOCK_PAGES * PAGE_SECTORS * SECTOR}",
         "map.resident_zones=1", "map.load_ns=400000", "ftl.log_blocks=4")  # fmt: skip
"""Zones so small that the hot data lie in several at first, and as few log blocks."""
ROUNDS = 100


def repeated(drives: Drives, requests: Sequence[Request]) -> Repeated:
    """Run a layout many times, with zones, and then read its hot data."""
    device = drives.fork("transcend-slc", *DRIVE, *ZONES)
    hot = [each for each in requests if each.number not in FILE]
    served = _write(device, list(requests) * drives.long(ROUNDS))
    once = drives.fork("transcend-slc", *DRIVE, *ZONES)
    loads = _write(once, hot).counts["map_loads"]
    back = read(device, [each.first * SECTOR for each in hot], PAGE_SECTORS * SECTOR)
    return Repeated(
        served.mean_ns,
        back.mean_ns,
        served.counts["gc_pages_moved"],
        served.counts["block_erases"],
        loads,
    )


def gains(first: Repeated, last: Repeated) -> dict[str, Reading]:
    """Compare the layout at first with the last one, in time."""
    return numbers(
        {
            "example, faster": first.write_ns / last.write_ns,
            "example, reads": first.read_ns / last.read_ns,
            "example, copied": last.copied / max(first.copied, 1),
            "example, erased": last.erased / max(first.erased, 1),
            "example, tables": last.loads / max(first.loads, 1),
        }
    )
