"""What the reserve decides: the paper does not say it.

The reserve is what is not exported, in percent of the blocks, and 51 % is the least that allows
50 % to be kept free. Cleaning starts when the reserve is used up to that mark: the larger the
reserve, the later. Here it is 51 to 60 % on every drive that keeps 50 % free, and all that is said
of figure 1 is asked each time. What else stands in the way is granted: random reads are run as
writes, and requests taken as independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import panels, style
from ssdscope.plots.style import LIGHT
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015 import claims
from ssdscope.studies.machado2015.procedure import Setting, figure_1
from ssdscope.studies.making import within
from ssdscope.studies.paper import Paper
from ssdscope.studies.record import Claim, Columns, Measured, Reading, Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESERVES_PERCENT = tuple(range(51, 61))
LINES = {32: (claims.KEPT_32GB, claims.IDEAL), 4: (claims.KEPT_4GB, claims.SMALL)}
SHOWN = {
    "32 GB: writes in order of 4 MB": "32 GB, 4 MB in order",
    "4 GB: writes in order of 1 MB": "4 GB, 1 MB in order",
    "4 GB: writes in order of 4 MB": "4 GB, 4 MB in order",
    "random writes": "random over in order",
    "settings: random writes": "settings, random writes",
    "confidence": "points within 5 %",
}
"""Rows of figure 1 that hang on the reserve, and the heads of their columns."""

Costs = Mapping[tuple[int, str, int], list[float]]
"""What 50 % kept free cost over 5 %, in percent of each reserve: by size in GB, pattern, bytes."""


def measure(paper: Paper, seed: int, progress: StageProgress) -> Measured:
    """Run figure 1 with every reserve, and judge it."""
    count = len(RESERVES_PERCENT)
    found, runs = {}, []
    granted = Setting(reads_as_writes=True, independent=True)
    others = figure_1(seed, granted, within(progress, 0, 1 + count))
    for done, reserve in enumerate(RESERVES_PERCENT, start=1):
        setting = replace(granted, reserve_50=reserve)
        cells = {**others, **figure_1(seed, setting, within(progress, done, 1 + count), 50)}
        found[reserve] = paper.claims(claims.readings(cells, independent=True))
        runs.append(cells)
    costs = {
        (size_gb, pattern, size): [claims.overhead(cells, lines, pattern, [size]) for cells in runs]
        for size_gb, lines in LINES.items()
        for pattern in claims.WRITES
        for size in (claims.MIB, claims.LARGEST)
    }
    columns: Columns = {
        "reserve_percent": list(RESERVES_PERCENT),
        **{f"{gb}gb_{p}_{size}_percent": values for (gb, p, size), values in costs.items()},
        "rows_that_hold": [len(_held(rows)) for rows in found.values()],
    }
    picture = partial(_drawn, costs)
    return Measured({"one reserve": one_reserve(found)}, picture, columns, NOTES, table(found))


NOTES = (
    "random reads are run as writes, and requests taken as independent: neither is why rows differ",
    "open: which reserve, and which places of random writes, the paper had",
)


def one_reserve(found: Mapping[int, Sequence[Claim]]) -> Reading:
    """Ask for one reserve with which all holds that is said of figure 1."""
    counts = {reserve: len(_held(rows)) for reserve, rows in found.items()}
    most, total = max(counts.values()), len(next(iter(found.values())))
    best = [f"{reserve} %" for reserve, count in counts.items() if count == most]
    said = f"at most {most} of {total} rows hold, with {', '.join(best)} reserved"
    return Reading(said, most == total)


def _held(rows: Sequence[Claim]) -> list[Claim]:
    return [row for row in rows if row.verdict == Verdict.AGREES]


def table(found: Mapping[int, Sequence[Claim]]) -> Table:
    """List what becomes of the rows that hang on the reserve; a star marks one that holds."""
    rows = []
    for reserve, claimed in found.items():
        by_name = {claim.name: claim for claim in claimed}
        cells = [_short(by_name[name]) for name in SHOWN]
        held = f"{len(_held(claimed))} of {len(claimed)}"
        rows.append((f"{reserve} %", *cells, held))
    return Table(("reserved", *SHOWN.values(), "rows that hold (*)"), tuple(rows))


def _short(claim: Claim) -> str:
    said = f"{claim.ours} {claim.unit}".strip().replace(" times as long", "")
    said = said.removeprefix("largest difference between lines ")
    return f"{said} *" if claim.verdict == Verdict.AGREES else said


def _drawn(costs: Costs) -> "Figure":
    """Draw what 50 % kept free cost by reserve, one panel per size of drive and of request."""
    figure, axes = panels.canvas(2, rows=2, width=4.8, height=3.6)
    points = [(gb, size) for gb in (32, 4) for size in (claims.MIB, claims.LARGEST)]
    for each, (size_gb, size) in zip(axes, points, strict=True):
        panels.head(each, f"{size_gb} GB, writes of {size // claims.MIB} MB")
        drawn = [
            panels.Line(
                claims.NAMES[name], RESERVES_PERCENT, costs[size_gb, name, size], at, 9 - 3 * at
            )
            for at, name in enumerate(claims.WRITES)
        ]
        panels.lines(each, drawn)
        if any(np.isnan(line.y).any() for line in drawn):
            panels.remark(each, ["no point: the drive gets stuck"], (0.98, 0.97))
        panels.percent_axis(each, -0.6, 400, 10)
        panels.paper_line(each, 5.5 if size_gb == 32 else 7, right=True)
        each.set_xticks(RESERVES_PERCENT)
        each.set_xlabel("reserved (% of all blocks)")
        each.set_ylabel("50 % kept free over 5 %")
    style.legend(axes[1], LIGHT, loc="upper right")
    return figure
