"""The drawings of cases, with blocks and pages: figures 25 to 29, 34 and 39."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdscope.plots import LIGHT, schemes
from ssdscope.plots.panels import canvas, head
from ssdscope.plots.schemes import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ssdscope.studies.kuo2009.layout import Request


LAYOUT_WIDTH = 54.0
PAGE_WIDTH = 2.0
NAND_WIDTH = 3.2


def layout(
    requests: Sequence["Request"],
    file: Sequence[int],
    page_sectors: int,
    block_pages: int,
    text: str,
) -> "Figure":
    """Draw a step of figures 25 to 28: requests over their pages, and the pages as written.

    Parameters
    ----------
    file
        Numbers of the requests that update the file; the others are hot data.
    """
    figure, (axes,) = canvas(1, width=10.5, height=2.9)
    schemes.bare(axes, LAYOUT_WIDTH, 6.9)
    looks = {each.number: "first" if each.number in file else "second" for each in requests}
    blocks = sorted({page // block_pages for each in requests for page in each.pages()})
    for place, block in enumerate(blocks):
        left = place * (block_pages * PAGE_WIDTH + 1)
        schemes.note(axes, left, 0.6, f"logical block {block}")
        begin, end = block * block_pages, (block + 1) * block_pages
        pages = [Box(f"P{page}", width=PAGE_WIDTH) for page in range(begin, end)]
        schemes.row(axes, left, 1.9, pages)
        for each in requests:
            # Of a request that crosses the edge of a block, the part in this one.
            first = max(each.first, begin * page_sectors)
            last = min(each.first + each.sectors, end * page_sectors)
            if first < last:
                sector = PAGE_WIDTH / page_sectors
                at = left + (first - begin * page_sectors) * sector
                box = Box(str(each.number), looks[each.number], width=(last - first) * sector)
                schemes.row(axes, at, 0.9, [box])
    _as_written(axes, requests, looks, page_sectors)
    schemes.note(
        axes,
        0,
        6.6,
        "blue: the file; orange: hot data; hatched: read, modified and written",
        muted=True,
    )
    head(axes, text)
    return figure


def _as_written(
    axes: "Axes", requests: Sequence["Request"], looks: Mapping[int, str], page_sectors: int
) -> None:
    """Draw the NAND row: effective pages in the order of writing."""
    schemes.note(axes, 0, 3.9, "NAND flash: effective pages as they are written")
    x = 0.0
    for each in requests:
        end = each.first + each.sectors
        boxes = [
            Box(
                f"P{page}",
                looks[each.number],
                page * page_sectors < each.first or (page + 1) * page_sectors > end,
                NAND_WIDTH,
            )
            for page in each.pages()
        ]
        schemes.note(axes, x, 5.7, f"request {each.number}", muted=True)
        x = schemes.row(axes, x, 4.1, boxes) + 0.9


PAGES_OF_BLOCK = 8
"""As many as are drawn of a block; it has more."""


def merge_cases(counted: Sequence[str]) -> "Figure":
    """Draw figure 29: what is left to copy if half a block, or a whole one, was written.

    Parameters
    ----------
    counted
        What the drive counted in each case.
    """
    figure, panels = canvas(2, width=4.6, height=2.4)
    heads = ("case 1: x < effective block", "case 2: x = effective block")
    for axes, written, case, text in zip(panels, (4, 8), heads, counted, strict=True):
        schemes.bare(axes, 11.5, 4.6)
        rest = range(written, PAGES_OF_BLOCK)
        data = [Box("", "stale")] * written + [Box("", "kept")] * len(rest)
        log = [Box("x", "first")] * written + [Box("", "kept")] * len(rest)
        schemes.row(axes, 0, 0.2, data, "data block\n(grey: stale)")
        schemes.row(axes, 0, 2.2, log, "log block")
        for page in rest:
            schemes.arrow(axes, (page + 0.5, 1.0), (page + 0.5, 2.2))
        schemes.note(axes, 0, 4.2, text)
        head(axes, case)
    return figure


def page_cases(read_first: Mapping[tuple[int, int], int], page: int) -> "Figure":
    """Draw figure 34: which pages writes cover, by (size, place), and how many are read first."""
    figure, panels = canvas(2, width=4.4, height=2.2)
    heads = ("case 1: x < effective page", "case 2: x = effective page")
    sizes = sorted({size for size, _ in read_first})
    for axes, size, case in zip(panels, sizes, heads, strict=True):
        schemes.bare(axes, 11.0, 4.4)
        places = sorted(place for each, place in read_first if each == size)
        for turn, place in enumerate(places):
            top = 0.9 + 2.1 * turn
            covered = range(place // page, -(-(place + size) // page))
            cut = [at * page < place or (at + 1) * page > place + size for at in covered]
            boxes = [
                Box(f"P{at}", "plain", at in covered and cut[at - covered.start], 3.0)
                for at in range(2)
            ]
            found = read_first[size, place]
            tail = f"{place // 1024} KB: {found} read,\nmodified, written"
            schemes.row(axes, 0, top, boxes, tail)
            _bar(axes, 3.0 * place / page, top - 0.32, 3.0 * size / page)
        head(axes, f"{case} ({size // 1024} KB of {page // 1024})")
    return figure


def _bar(axes: "Axes", x: float, y: float, width: float) -> None:
    """Draw what a write covers, over the pages."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, 0.22, facecolor=LIGHT.s1))


def zone_cases(loads: Sequence[int], turns: int) -> "Figure":
    """Draw figure 39: A and B in one zone and in two, and the tables loaded."""
    figure, panels = canvas(2, width=4.4, height=2.0)
    heads = ("case 1: A and B in one zone", "case 2: A and B in two zones")
    for axes, second, case, loaded in zip(panels, (2.4, 4.0), heads, loads, strict=True):
        schemes.bare(axes, 10.0, 4.2)
        used = ["kept", "kept" if second > 3 else "plain", "plain"]
        zones = [Box(f"zone {number}", look, width=3.0) for number, look in enumerate(used)]
        schemes.row(axes, 0, 0.9, zones)
        for name, at in (("A", 0.4), ("B", second)):
            schemes.note(axes, at - 0.2, 0.55, name)
            schemes.arrow(axes, (at, 0.5), (at, 0.95))
        tables = "0" if second < 3 else "0, then 1, then 0, ..."
        schemes.row(axes, 0, 2.3, [Box(f"in RAM: table of zone {tables}", "first", width=6.0)])
        schemes.note(axes, 0, 3.9, f"{turns} turns: {loaded} tables loaded")
        head(axes, case)
    return figure
