"""The organisation as paper and slides print it, beside the one that the simulator reads.

The paper has pages of 8 KB, 64 in a block of 256 KB, which is no product; the slides have pages of
64 KB in blocks of 256 KB. The simulator's file counts sectors and pages in a block: 8 sectors are
4 KB, and 64 of those pages are 256 KB. Each reading is run with 5 and 50 % kept free, on both
sizes.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.plots import panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015.claims import LARGEST, MIB, of_percent
from ssdscope.studies.machado2015.procedure import (
    SIZES_BYTES,
    Cells,
    Configuration,
    Line,
    columns,
    gaps,
    run_lines,
)
from ssdscope.studies.record import Measured, Reading, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLANES = 8 * 8
"""Chips, and planes of each."""
BLOCKS = {32: 2048, 4: 256}
"""Of each plane, by size in GB."""
PATTERNS = ("read", "write")
POINTS = {32: LARGEST, 4: MIB}
"""Where the paper's overheads come out with the simulator's own organisation."""


@dataclass(frozen=True)
class Organisation:
    """One reading of what is printed."""

    source: str
    page_kb: int
    pages_per_block: int

    @property
    def label(self) -> str:
        """Page and block."""
        return f"{self.page_kb} KB pages, {self.pages_per_block} in a block"

    def raw_gb(self, size_gb: int) -> float:
        """Return what a drive holds that is said to hold so much."""
        return PLANES * BLOCKS[size_gb] * self.pages_per_block * self.page_kb / MIB

    def lines(self) -> list[Line]:
        """Give the drives of both sizes, with 5 and with 50 % kept free."""
        sets = (
            f"nand.page_bytes={self.page_kb * 1024}",
            f"nand.pages_per_block={self.pages_per_block}",
        )
        return [
            Line(
                self.name(size, percent),
                partial(Configuration("greedy", percent, size).open, sets=sets),
            )
            for size in (32, 4)
            for percent in (5, 50)
        ]

    def name(self, size_gb: int, percent: int) -> str:
        """Name a line."""
        return f"{self.label}, {percent}% min/{size_gb}GB"


ORGANISATIONS = (
    Organisation("the simulator's reading", 4, 64),
    Organisation("paper: page and block", 8, 32),
    Organisation("paper: page and pages in a block", 8, 64),
    Organisation("slides: page and block", 64, 4),
)


def measure(seed: int, sectors: bool, progress: StageProgress) -> Measured:
    """Run all of them, in order.

    Parameters
    ----------
    sectors
        Read whatever is printed as the simulator does.
    """
    lines = [line for each in ORGANISATIONS for line in each.lines()]
    cells = run_lines(lines, seed, progress, PATTERNS)
    picture = partial(_drawn, cells)
    read = readings(cells, sectors=sectors)
    return Measured(read, picture, columns(cells), gaps(cells), table(cells))


def overhead(cells: Cells, organisation: Organisation, size_gb: int, size: int) -> float:
    """Give what 50 % kept free cost writes in order of one size, in percent."""
    few, half = (
        cells[organisation.name(size_gb, percent), "write", size].mean_ns for percent in (5, 50)
    )
    return 100 * (half / few - 1)


def readings(cells: Cells, *, sectors: bool = False) -> dict[str, Reading]:
    """Read off, of each organisation, all that the paper says of it."""
    found: dict[str, Reading] = {}
    for each in ORGANISATIONS:
        read = _readings(cells, ORGANISATIONS[0] if sectors else each)
        found |= {f"{name}: {each.source}": reading for name, reading in read.items()}
    return found


def _readings(cells: Cells, organisation: Organisation) -> dict[str, Reading]:
    served = [
        size for size in SIZES_BYTES if not cells[organisation.name(32, 5), "write", size].failure
    ]
    least = min(served) // 1024 if served else 0
    return {
        **{f"raw {gb} GB": Reading(organisation.raw_gb(gb)) for gb in BLOCKS},
        "smallest request": Reading(least),
        **{
            f"cost on {gb} GB": of_percent(overhead(cells, organisation, gb, size))
            for gb, size in POINTS.items()
        },
    }


def table(cells: Cells) -> Table:
    """List what 50 % kept free cost writes in order: each organisation at all sizes."""
    heads = [f"{size // 1024} KB" for size in SIZES_BYTES]
    rows = []
    for each in ORGANISATIONS:
        for size_gb in BLOCKS:
            costs = [overhead(cells, each, size_gb, size) for size in SIZES_BYTES]
            texts = ["-" if math.isnan(cost) else f"{cost:+.2f} %" for cost in costs]
            rows.append((f"{each.label}, {size_gb} GB", *texts))
    return Table(("writes in order, 50 % kept free over 5 %", *heads), tuple(rows))


def _drawn(cells: Cells) -> "Figure":
    """Draw each organisation: mean response time, and what 50 % kept free cost."""
    figure, axes = panels.canvas(3, width=4.0, height=4.2)
    panels.lines(
        axes[0], [line for index, _ in enumerate(ORGANISATIONS) for line in _times(cells, index)]
    )
    panels.head(axes[0], "32 GB, 5 % kept free: writes, and reads (dotted)")
    panels.plain_log(axes[0], "mean response time (ms)")
    for each, size_gb, paper in zip(axes[1:], POINTS, (5.5, 7), strict=True):
        costs = [
            _line(None, [overhead(cells, o, size_gb, size) for size in SIZES_BYTES], index)
            for index, o in enumerate(ORGANISATIONS)
        ]
        panels.lines(each, costs)
        panels.head(each, f"{size_gb} GB: writes in order, 50 % kept free over 5 %")
        panels.signed(each)
        each.set_ylim(-0.8, 20)
        panels.paper_line(each, paper)
    for each in axes:
        panels.size_axis(each, SIZES_BYTES)
        each.tick_params(axis="x", labelsize=7)
    panels.legend_below(figure, axes[0], 4)
    return figure


def _times(cells: Cells, index: int) -> list[panels.Line]:
    organisation = ORGANISATIONS[index]
    line = organisation.name(32, 5)
    writes, reads = (
        [cells[line, pattern, size].mean_ns / 1e6 for size in SIZES_BYTES]
        for pattern in ("write", "read")
    )
    return [
        _line(organisation.label, writes, index),
        replace(_line(None, reads, index), dash=panels.DOTTED),
    ]


def _line(label: str | None, values: list[float], index: int) -> panels.Line:
    return panels.Line(label, [size / 1024 for size in SIZES_BYTES], values, index, 8 - 1.2 * index)
