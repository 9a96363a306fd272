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
from ssdscope.studies.kuo2009 import cases
from ssdscope.studies.kuo2009.bench import SECTOR, Drives, Served, write
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult
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
    "map.kind=ram",
)
"""The Transcend SLC's chip and firmware with the example's pages and blocks."""
EVICTING = 1024
"""Where writes go that use up the log blocks: far from the example's pages."""
FILE = (1, 3, 6)
"""The requests that update the file."""
FILE_PAGES = 4
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


def make(name: str, drives: Drives, binder: Binder) -> FigureResult:
    """Count one of the four layouts, and compare it with the one before."""
    requests = LAYOUTS[name]
    cost = count(drives, requests)
    before = cost if name == "25" else count(drives, LAYOUTS[str(int(name) - 1)])
    rows = claims(name, cost, before)
    columns: Columns = {
        "request": [each.number for each in requests],
        "first_sector": [each.first for each in requests],
        "sectors": [each.sectors for each in requests],
        "pages": [len(each.pages()) for each in requests],
    }
    head = f"{cost.pages:g} page writes, {cost.rmw} of them read-modify-write"
    picture = cases.layout(requests, FILE, PAGE_SECTORS, BLOCK_PAGES, head)
    return hand_in(name, rows, picture, columns, binder, [RECONSTRUCTED])


def claims(name: str, cost: Cost, before: Cost) -> list[Claim]:
    """Hold a layout against the paper's counts and words.

    Parameters
    ----------
    before
        The layout of the step before; of figure 25 itself.
    """
    pages = {"25": 14, "26": 9, "27": 8, "28": 8}[name]
    words = {"25": _at_first, "26": _aligned, "27": _whole, "28": _blocks}[name]
    return [
        exact("effective pages written for the seven requests", pages, cost.pages, "pages"),
        *words(cost, before),
    ]


def _at_first(cost: Cost, _before: Cost) -> list[Claim]:
    return [
        stated(
            "of these read, modified and written",
            "most",
            f"{cost.rmw} of {cost.pages:g}",
            cost.rmw > 0.5 * cost.pages,
        ),
    ]


def _aligned(cost: Cost, before: Cost) -> list[Claim]:
    return [
        stated(
            "read-modify-write",
            "nearly all gone",
            f"{cost.rmw} left of {before.rmw}",
            cost.rmw < 0.25 * before.rmw,
        ),
        stated(
            "the file is still not updated in order",
            "a page is written twice",
            f"{cost.file_pages:g} pages written for its 4",
            cost.file_pages > FILE_PAGES,
        ),
    ]


def _whole(cost: Cost, before: Cost) -> list[Claim]:
    return [
        exact("of these read, modified and written", 0, cost.rmw, "pages"),
        stated(
            "the file is updated in order",
            "pages 1 to 4, once each",
            f"{cost.file_pages:g} pages written instead of {before.file_pages:g}",
            cost.file_pages == FILE_PAGES,
        ),
    ]


def _blocks(cost: Cost, before: Cost) -> list[Claim]:
    return [
        exact("of these read, modified and written", 0, cost.rmw, "pages"),
        stated(
            "the file can be merged by a switch",
            "yes",
            f"{_told(cost)}; before, {_told(before)}",
            cost.merges["switch"] > before.merges["switch"] and cost.copied < before.copied,
        ),
        stated(
            "hot data in one logical block make better use of log blocks",
            "yes",
            f"{cost.log_blocks} log blocks used instead of {before.log_blocks}",
            cost.log_blocks < before.log_blocks,
        ),
    ]


def _told(cost: Cost) -> str:
    kinds = ", ".join(f"{number} {kind}" for kind, number in cost.merges.items() if number)
    return f"{kinds}; {cost.copied} pages copied"
