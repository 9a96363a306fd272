"""Figures 9 and 10: by how much the extended models are better than the basic ones.

Figure 9 is the share of the mean relative error that the extended characteristics take away,
figure 10 by what share R2 grows. The paper prints bars without numbers; both follow from its
tables II and III.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.claims import of
from ssdscope.studies.huang2011.predicting import comparing, tables
from ssdscope.studies.huang2011.predicting.accuracy import TARGETS, Accuracy
from ssdscope.studies.making import within
from ssdscope.studies.paper import Paper
from ssdscope.studies.record import Columns, Measured, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Bar = tuple[str, str, float, float]
"""Device, metric, the paper's bar and ours in percent."""


def measure(
    name: str, paper: Paper, accuracy: Accuracy, basic: str, progress: StageProgress
) -> Measured:
    """Make figure 9 or 10, from the models of tables II and III."""
    models = comparing.Models(accuracy, basic, within(progress, 0, 2))
    better = models.improved if name == "9" else models.grown
    devices = [each for each in tables.ALONE if models.has(each)]
    bars: list[Bar] = [
        (device, metric, _printed(name, paper, f"{device}: {metric}"), better(device, target))
        for device in devices
        for target, metric in comparing.METRICS.items()
    ]
    found = {f"bar {name}: {device}: {metric}": of(ours) for device, metric, _, ours in bars}
    more = comparing.of_table(name, accuracy, basic, within(progress, 1, 2))
    cells = ((*bar[:2], *(f"{each:.1f}" for each in bar[2:])) for bar in bars)
    columns: Columns = {
        "device": [bar[0] for bar in bars],
        "target": [target for _ in devices for target in TARGETS],
        "paper_percent": [f"{bar[2]:.3f}" for bar in bars],
        "ours_percent": [f"{bar[3]:.3f}" for bar in bars],
    }
    table = Table(("device", "metric", "paper %", "ours %"), tuple(cells))
    return Measured(found | more, partial(_drawn, name, bars), columns, table=table)


def _printed(name: str, paper: Paper, case: str) -> float:
    (basic, basic_r2), (extended, r2) = (
        tables.printed(paper, table, case) for table in ("II", "III")
    )
    return 100 * (1 - extended / basic) if name == "9" else 100 * (r2 / basic_r2 - 1)


def _drawn(name: str, bars: Sequence[Bar]) -> "Figure":
    """Draw the bars, the paper's beside ours, a panel per metric."""
    figure, every = panels.canvas(len(TARGETS), width=3.5, height=3.4)
    for axes, metric in zip(every, comparing.METRICS.values(), strict=True):
        _panel(axes, name, [bar for bar in bars if bar[1] == metric])
        panels.head(axes, metric)
    every[0].set_ylabel("less error (%)" if name == "9" else "more R2 (%, log scale)")
    panels.legend_below(figure, every[0], 2)
    return figure


def _panel(axes: "Axes", name: str, bars: Sequence[Bar]) -> None:
    places = np.arange(len(bars))
    for side, label, at, colour, hatch in (
        (-0.2, "paper", 2, LIGHT.s8, ""),
        (0.2, "ours", 3, LIGHT.s1, "//"),
    ):
        heights = [float(bar[at]) for bar in bars]
        axes.bar(
            places + side, heights, 0.38, label=label, color=colour, hatch=hatch, edgecolor="white"
        )
    axes.set_xticks(places, [bar[0] for bar in bars], fontsize=8)
    if name == "10":
        axes.set_yscale("symlog", linthresh=10)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
