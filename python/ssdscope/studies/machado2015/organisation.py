"""The organisation as paper and slides print it, beside the one that the simulator reads.

The paper has pages of 8 KB, 64 in a block of 256 KB, which is no product; the slides have pages of
64 KB in blocks of 256 KB. The simulator's parameter counts sectors: 8 are 4 KB, and 64 of those
pages are 256 KB. Each reading is run with 5 and 50 % kept free, on both sizes.
"""

from dataclasses import dataclass
from functools import partial

from ssdscope.probes.budget import StageProgress
from ssdscope.studies import judging
from ssdscope.studies.machado2015.claims import (
    LARGEST,
    MIB,
    OVERHEAD_4GB,
    OVERHEAD_32GB,
)
from ssdscope.studies.machado2015.procedure import (
    SIZES_BYTES,
    Cells,
    Configuration,
    Line,
    run_lines,
)
from ssdscope.studies.record import Claim, Verdict

BLOCKS = 8 * 8 * 2048
"""Chips, planes of each, blocks of each."""
RAW_GB = 32
PATTERNS = ("read", "write")
POINTS = ((32, LARGEST, OVERHEAD_32GB), (4, MIB, OVERHEAD_4GB))
"""Where the paper's overheads come out with the simulator's own organisation."""
WHY = "the parameter counts sectors of 512 bytes, so that the paper's 8 are pages of 4 KB"


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

    @property
    def raw_gb(self) -> float:
        """What the larger drive holds."""
        return BLOCKS * self.pages_per_block * self.page_kb / MIB

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


def run(seed: int, progress: StageProgress) -> Cells:
    """Run all of them, in order."""
    lines = [line for each in ORGANISATIONS for line in each.lines()]
    return run_lines(lines, seed, progress, PATTERNS)


def overhead(cells: Cells, organisation: Organisation, size_gb: int, size: int) -> float:
    """Give what 50 % kept free cost writes in order of one size, in percent."""
    few, half = (
        cells[organisation.name(size_gb, percent), "write", size].mean_ns for percent in (5, 50)
    )
    return 100 * (half / few - 1)


def compare(cells: Cells) -> list[Claim]:
    """Ask of each organisation all that the paper says; the first one explains the others."""
    rows = [_row(cells, each) for each in ORGANISATIONS]
    if rows[0].verdict != Verdict.AGREES:
        return rows
    tried = f"{ORGANISATIONS[0].label}: {rows[0].ours}"
    return [judging.explained(row, WHY, tried) for row in rows]


def _row(cells: Cells, organisation: Organisation) -> Claim:
    served = [
        size for size in SIZES_BYTES if not cells[organisation.name(32, 5), "write", size].failure
    ]
    costs = [overhead(cells, organisation, size_gb, size) for size_gb, size, _ in POINTS]
    return judging.claim(
        f"{organisation.source} ({organisation.label})",
        f"{RAW_GB} GB; 10 sizes from 8 KB; +{OVERHEAD_32GB} % and +{OVERHEAD_4GB:g} %",
        f"{organisation.raw_gb:g} GB; {len(served)} sizes from {served[0] // 1024} KB; "
        f"{costs[0]:+.2f} % (32 GB, 4 MB) and {costs[1]:+.2f} % (4 GB, 1 MB)",
        "",
        holds=organisation.raw_gb == RAW_GB
        and len(served) == len(SIZES_BYTES)
        and all(
            judging.quoted(paper, ours) for (*_, paper), ours in zip(POINTS, costs, strict=True)
        ),
    )


def notes(cells: Cells) -> list[str]:
    """Say which sizes an organisation does not serve."""
    found = []
    for each in ORGANISATIONS:
        row = [cells[each.name(32, 5), "write", size] for size in SIZES_BYTES]
        gaps = [cell for cell in row if cell.failure]
        if gaps:
            sizes = ", ".join(f"{cell.size_bytes // 1024} KB" for cell in gaps)
            found.append(f"{each.label}, at {sizes}: {gaps[0].failure}")
    return found
