"""The pictures of the open questions: random reads, wear, the reserve, the organisation."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import LIGHT, style
from ssdscope.studies.machado2015.claims import OVERHEAD_4GB, OVERHEAD_32GB
from ssdscope.studies.machado2015.figure import (
    legend_below,
    paper_line,
    save_both,
    size_axis,
)
from ssdscope.studies.machado2015.organisation import ORGANISATIONS, Organisation, overhead
from ssdscope.studies.machado2015.procedure import SIZES_BYTES, Cells
from ssdscope.studies.machado2015.random_reads import Evidence
from ssdscope.studies.machado2015.reserve import Point, Sweep
from ssdscope.studies.machado2015.wear import Life

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^"


def _panels(count: int, size_inches: tuple[float, float]) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_inches, layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(1, count, squeeze=False).flat)
    for axes in panels:
        style.dress(axes, LIGHT)
    return figure, panels


def _title(axes: "Axes", text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9, color=LIGHT.ink)


def candidates(evidence: Evidence, path: Path) -> None:
    """Draw what was run in place of the paper's random reads, over reads in order, by size."""
    figure, panels = _panels(2, (9.6, 4.2))
    rows = (*evidence.candidates, evidence.writes)
    for axes, share, title in zip(
        panels, (0, 1), ("32 GB, 5 % kept free", "32 GB, 50 % kept free"), strict=True
    ):
        _title(axes, title)
        for index, candidate in enumerate(rows):
            sizes = list(candidate.means_ns)
            ratios = [
                candidate.means_ns[size][share] / evidence.reads.means_ns[size][share]
                for size in sizes
            ]
            axes.plot(
                [size / 1024 for size in sizes],
                ratios,
                marker="o^sDv"[index],
                markersize=10 - 1.6 * index,
                markerfacecolor="none",
                color=LIGHT.series(index),
                linewidth=2.4 if index < len(rows) - 1 else 1,
                alpha=0.8,
                label=candidate.name,
            )
        size_axis(axes, SIZES_BYTES)
        axes.set_ylim(0, 2.6)
        axes.set_ylabel("times reads in order")
    legend_below(figure, panels[0], 3)
    save_both(figure, path)


def reserves(sweep: Sweep, path: Path) -> None:
    """Draw what 50 % kept free cost by reserve, one panel per request size."""
    sizes = sorted({point.size_bytes for point in sweep.points})
    figure, panels = _panels(len(sizes), (9.6, 4.2))
    for axes, size in zip(panels, sizes, strict=True):
        _title(axes, f"4 GB, writes of {size >> 20} MB")
        points = [point for point in sweep.points if point.size_bytes == size]
        for index, (name, label) in enumerate(
            (
                ("in_order", "in order"),
                ("random", "random"),
                ("once", "random, no place twice"),
            )
        ):
            _by_reserve(axes, points, name, label, index)
        axes.set_yscale("symlog", linthresh=10)
        axes.set_ylim(-0.6, 700)
        axes.set_yticks([0, 2, 4, 6, 8, 10, 20, 50, 100, 200, 500])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")
        paper_line(axes, OVERHEAD_4GB, right=True)
        axes.set_xticks([point.reserve_percent for point in points])
        axes.set_xlabel("reserved (% of all blocks)")
        axes.set_ylabel("50 % kept free over 5 %")
    style.legend(panels[-1], LIGHT, loc="upper right")
    save_both(figure, path)


def _by_reserve(axes: "Axes", points: Sequence[Point], name: str, label: str, index: int) -> None:
    costs = np.array([getattr(point, name) for point in points])
    reserved = np.array([point.reserve_percent for point in points])
    look: dict[str, Any] = {"marker": MARKERS[index], "markerfacecolor": "none"}
    look |= {"color": LIGHT.series(index), "markersize": 9 - 2 * index}
    axes.plot(reserved, costs, label=label, **look)
    stuck = np.isnan(costs)
    if stuck.any():
        top = 560 / 1.6 ** (index - 1)
        axes.plot(reserved[stuck], top * np.ones(stuck.sum()), "x", color=LIGHT.series(index))
        axes.annotate(
            "stuck",
            (reserved[stuck][-1], top),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.6,
            color=LIGHT.series(index),
        )


def organisations(cells: Cells, path: Path) -> None:
    """Draw each organisation: mean response time, and what 50 % kept free cost."""
    figure, panels = _panels(3, (12, 4.2))
    for index, organisation in enumerate(ORGANISATIONS):
        _times(panels[0], cells, organisation, index)
        for axes, size_gb in zip(panels[1:], (32, 4), strict=True):
            costs = [overhead(cells, organisation, size_gb, size) for size in SIZES_BYTES]
            _organisation_line(axes, costs, index)
    _title(panels[0], "32 GB, 5 % kept free: writes, and reads (dotted)")
    panels[0].set_yscale("log")
    panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panels[0].set_ylabel("mean response time (ms)")
    for axes, size_gb, paper in zip(
        panels[1:], (32, 4), (OVERHEAD_32GB, OVERHEAD_4GB), strict=True
    ):
        _title(axes, f"{size_gb} GB: writes in order, 50 % kept free over 5 %")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")
        axes.set_ylim(-0.8, 20)
        paper_line(axes, paper)
    for axes in panels:
        size_axis(axes, SIZES_BYTES)
        axes.tick_params(axis="x", labelsize=7)
    legend_below(figure, panels[0], 4)
    save_both(figure, path)


def _times(axes: "Axes", cells: Cells, organisation: Organisation, index: int) -> None:
    line = organisation.name(32, 5)
    for pattern, dash in (("write", "-"), ("read", (0, (1, 1.5)))):
        means = [cells[line, pattern, size].mean_ns / 1e6 for size in SIZES_BYTES]
        label = organisation.label if pattern == "write" else None
        _organisation_line(axes, means, index, dash=dash, label=label)


def _organisation_line(
    axes: "Axes",
    values: Sequence[float],
    index: int,
    dash: str | tuple[int, tuple[float, float]] = "-",
    label: str | None = None,
) -> None:
    axes.plot(
        [size / 1024 for size in SIZES_BYTES],
        values,
        marker=MARKERS[index],
        markersize=8 - 1.2 * index,
        markerfacecolor="none",
        color=LIGHT.series(index),
        linestyle=dash,
        linewidth=1.3,
        label=label,
    )


def erase_spread(lives: Sequence[Life], path: Path) -> None:
    """Draw the spread of the erase counts over the drive's life, one panel per load."""
    skews = list(dict.fromkeys(life.skew for life in lives))
    figure, panels = _panels(len(skews), (8.8, 3.8))
    for axes, skew in zip(panels, skews, strict=True):
        _title(axes, skew.label)
        for index, life in enumerate(each for each in lives if each.skew == skew):
            # Both end at the most that a block is made for: a pale band below a thin line.
            look: dict[str, Any] = {"color": LIGHT.series(index), "linewidth": (2.6, 1.2)[index]}
            x = [wear.drive_writes for wear in life.rounds]
            for values, dash in (
                ([wear.erases.max() for wear in life.rounds], "-"),
                ([wear.erases.mean() for wear in life.rounds], (0, (2, 2))),
            ):
                label = f"{life.policy}: {'most erased' if dash == '-' else 'mean'}"
                axes.plot(x, values, linestyle=dash, label=label, alpha=0.7, **look)
            most = life.rounds[-1].erases.max()
            axes.plot(x[-1:], [most], "x", color=LIGHT.series(index), markersize=8)
        axes.set_xlabel("drive writes (x: worn out)")
        axes.set_ylabel("erases of a block")
    legend_below(figure, panels[0], 4)
    save_both(figure, path)
