"""What 5.5 and 7 % hang on: how many requests are written before the mean is taken.

Nothing is collected before free blocks come down to the mark, so that few requests do not pay, and
the mean over more of them is of another mixture.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ssdscope.plots import panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015 import claims
from ssdscope.studies.machado2015.procedure import REQUESTS, Configuration, Setting, run_lines
from ssdscope.studies.making import within
from ssdscope.studies.record import Measured, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = (75, 150, REQUESTS, 600, 1200, 2400)
POINTS = (
    (32, claims.LARGEST, (claims.KEPT_32GB, claims.IDEAL)),
    (4, claims.MIB, (claims.KEPT_4GB, claims.SMALL)),
)
"""Where the paper's numbers come out with 300: size in GB, bytes of a write, the two lines."""

Costs = Mapping[tuple[int, int], list[float]]
"""What 50 % kept free cost over 5 %, in percent at each count: by size in GB and bytes."""


def measure(seed: int, progress: StageProgress) -> Measured:
    """Write in order with more and fewer requests."""
    drives = [Configuration("greedy", percent, gb).line() for gb in (32, 4) for percent in (5, 50)]
    what = (("write",), [size for _, size, _ in POINTS])
    runs = [
        run_lines(drives, seed, within(progress, done, len(COUNTS)), *what, Setting(requests=count))
        for done, count in enumerate(COUNTS)
    ]
    costs = {
        (gb, size): [claims.overhead(cells, lines, "write", [size]) for cells in runs]
        for gb, size, lines in POINTS
    }
    heads = [f"{gb} GB, {size // claims.MIB} MB" for gb, size in costs]
    texts = [[f"{cost:+.1f} %" for cost in each] for each in costs.values()]
    rows = tuple((f"{count:,}", *cells) for count, *cells in zip(COUNTS, *texts, strict=True))
    columns = {"requests": COUNTS} | {
        f"{gb}gb_{size}_percent": values for (gb, size), values in costs.items()
    }
    return Measured({}, partial(_drawn, costs), columns, table=Table(("requests", *heads), rows))


def _drawn(costs: Costs) -> "Figure":
    figure, (axes,) = panels.canvas(1, width=6.4, height=3.8)
    drawn = [
        panels.Line(f"{gb} GB, writes of {size // claims.MIB} MB in order", COUNTS, each, index)
        for index, ((gb, size), each) in enumerate(costs.items())
    ]
    panels.lines(axes, drawn)
    axes.set_xscale("log", base=2)
    axes.set_xticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.minorticks_off()
    axes.set_xlabel("requests that the mean is taken of (paper: 300)")
    axes.set_ylabel("50 % kept free over 5 %")
    panels.signed(axes)
    for percent in (5.5, 7):
        panels.paper_line(axes, percent, right=True)
    axes.set_ylim(bottom=-0.5)
    axes.legend(frameon=False, fontsize=8, loc="lower center")
    return figure
