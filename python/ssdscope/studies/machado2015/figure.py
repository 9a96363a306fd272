"""Figure 1, and the same as differences: four panels, ten lines.

Lines that coincide are told apart: a setting has a colour, greedy is a pale band with a hollow
marker, wear-aware a thin line on it. What no axis can show is marked at its edge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.studies.machado2015.claims import OVERHEAD_4GB, OVERHEAD_32GB
from ssdscope.studies.machado2015.procedure import CLEARED, PATTERNS, Cell, Cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "read": "(a) Sequential read",
    "randread": "(b) Random read",
    "write": "(c) Sequential write",
    "randwrite": "(d) Random write",
}
MARKERS = "o^sDv"
LEGEND_COLUMNS = 4
"""So that the paper's order gives a column to each size and policy."""
LINEAR_PERCENT = 10
"""Differences are linear up to here, so that 5.5 % and 7 % can be read; then by powers."""


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    colour: str
    marker: str
    marker_size: float
    thin: bool

    def line(self, *, dotted: bool = False) -> dict[str, Any]:
        """Give what matplotlib wants of it."""
        return {
            "color": self.colour,
            "marker": "." if self.thin else self.marker,
            "markersize": 3.5 if self.thin else self.marker_size,
            "markerfacecolor": self.colour if self.thin else "none",
            "linewidth": 0.9 if self.thin else 2.6,
            "linestyle": (0, (1, 1.5)) if dotted else "-",
            "alpha": 1 if self.thin else 0.6,
        }


def looks(lines: Sequence[str]) -> dict[str, Look]:
    """Give each line its look, by its settings and its policy."""
    settings = [line.removeprefix("Wear-Aware/").removeprefix("Greedy/") for line in lines]
    places = {name: place for place, name in enumerate(dict.fromkeys(settings))}
    return {
        line: Look(
            LIGHT.series(places[name]),
            MARKERS[places[name] % len(MARKERS)],
            10 - 1.2 * places[name],
            line.startswith("Wear-Aware/"),
        )
        for line, name in zip(lines, settings, strict=True)
    }


def four_panels(cells: Cells, lines: Sequence[str], path: Path) -> None:
    """Draw mean response time against request size, one panel per pattern; SVG and PNG.

    Random reads have a second set of lines where they were also run with the read bit cleared.
    """
    figure, panels = _four()
    limits = _limits(cells)
    for axes, pattern in zip(panels, PATTERNS, strict=True):
        axes.set_yscale("log")
        if not _row(cells, lines[0], pattern):
            remark = "not run: the target\nis open for reading only"
            axes.text(0.5, 0.5, remark, **_centred(axes))
            axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
            continue
        marks = _panel(axes, cells, lines, pattern, limits)
        if pattern == "randread" and _row(cells, lines[0], CLEARED):
            marks += _panel(axes, cells, lines, CLEARED, limits, dotted=True)
            marks.append("dotted: read bit cleared")
        _remark(axes, marks)
        axes.set_ylim(*limits)
        _size_axis(axes, cells)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_ylabel("mean response time (ms)")
    legend_below(figure, panels[0], min(len(lines), LEGEND_COLUMNS))
    save_both(figure, path)


def _four() -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 8), layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(2, 2).flat)
    for axes, pattern in zip(panels, PATTERNS, strict=True):
        style.dress(axes, LIGHT)
        axes.set_title(TITLES[pattern], loc="left", fontsize=10, color=LIGHT.ink)
    return figure, panels


def _limits(cells: Cells) -> tuple[float, float]:
    """Give one range in ms for all panels, so that reads and writes can be compared."""
    means = [cell.mean_ns / 1e6 for cell in cells.values() if not cell.failure]
    highs = [cell.ci95_high_ns / 1e6 for cell in cells.values() if not cell.failure]
    return (0.6 * min(means), 1.8 * max(highs)) if means else (0.1, 1)


def _row(cells: Cells, line: str, pattern: str) -> list[Cell]:
    """Give the points of a line by size."""
    row = [cell for (name, p, _), cell in cells.items() if (name, p) == (line, pattern)]
    return sorted(row, key=lambda cell: cell.size_bytes)


def _panel(
    axes: "Axes",
    cells: Cells,
    lines: Sequence[str],
    pattern: str,
    limits: tuple[float, float],
    *,
    dotted: bool = False,
) -> list[str]:
    """Draw the lines of a panel, and give the words for what was marked at its edges."""
    words: dict[str, None] = {}
    floor, top = limits
    for line, look in looks(lines).items():
        row = _row(cells, line, pattern)
        sizes = np.array([cell.size_bytes / 1024 for cell in row])
        mean, low, high = (
            np.array([getattr(cell, name) for cell in row]) / 1e6
            for name in ("mean_ns", "ci95_low_ns", "ci95_high_ns")
        )
        drawn = look.line(dotted=dotted)
        if dotted:  # laid over another set of lines: intervals would cross it
            axes.plot(sizes, mean, **drawn)
        else:
            errors = [mean - np.maximum(low, floor), high - mean]
            axes.errorbar(sizes, mean, yerr=errors, elinewidth=0.9, label=line, **drawn)
        below, stuck = low < floor, np.isnan(mean)
        if below.any() and not dotted:
            axes.plot(sizes[below], 1.12 * floor * np.ones(below.sum()), "v", color=look.colour)
            words["triangle: the interval goes on to 0"] = None
        if stuck.any():
            axes.plot(sizes[stuck], top / 1.25 * np.ones(stuck.sum()), "x", color=look.colour)
            words["cross: the drive gets stuck"] = None
    return list(words)


def _remark(axes: "Axes", words: Sequence[str], place: tuple[float, float] = (0.02, 0.97)) -> None:
    """Explain the marks of a panel, where no line is: at a place, as shares of the axes."""
    axes.text(
        *place,
        "\n".join(dict.fromkeys(words)),
        ha="left" if place[0] < 0.5 else "right",
        va="top",
        transform=axes.transAxes,
        color=LIGHT.muted,
        fontsize=7.6,
    )


def legend_below(figure: "Figure", axes: "Axes", columns: int) -> None:
    """Put the legend of one panel under all of them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )


def _size_axis(axes: "Axes", cells: Cells) -> None:
    size_axis(axes, [cell.size_bytes for cell in cells.values()])


def size_axis(axes: "Axes", sizes_bytes: Sequence[int]) -> None:
    """Give axes a logarithmic x of request sizes in KB."""
    axes.set_xscale("log", base=2)
    low, high = min(sizes_bytes) // 1024, max(sizes_bytes) // 1024
    ticks = [2**power for power in range(3, 13) if low <= 2**power <= high]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("request size (KB)")


def differences(cells: Cells, lines: Sequence[str], path: Path) -> None:
    """Draw how much longer each line takes than the first, in percent; SVG and PNG."""
    figure, panels = _four()
    for axes, pattern in zip(panels, PATTERNS, strict=True):
        percents = _differences(axes, cells, lines, pattern)
        words = []
        if pattern == "randread" and _row(cells, lines[0], CLEARED):
            percents += _differences(axes, cells, lines, CLEARED, dotted=True)
            words = ["solid: all lines coincide", "dotted: read bit cleared"]
        every = np.concatenate(percents)
        if np.nanmax(np.abs(every)) < 0.01:
            axes.text(0.5, 0.5, "all lines coincide", **_centred(axes))
        _percent_axis(axes, float(np.nanmin(every)), float(np.nanmax(every)))
        if np.isnan(every).any():
            words.append("a line that ends: the drive gets stuck")
        _remark(axes, words, (0.98, 0.58))
        _size_axis(axes, cells)
        axes.set_ylabel(f"longer than {lines[0]}")
    for percent in (OVERHEAD_32GB, OVERHEAD_4GB):
        paper_line(panels[2], percent)
    legend_below(figure, panels[0], min(len(lines), LEGEND_COLUMNS))
    save_both(figure, path)


def _differences(
    axes: "Axes", cells: Cells, lines: Sequence[str], pattern: str, *, dotted: bool = False
) -> list[np.ndarray]:
    """Draw every line against the first, and give the differences in percent."""
    base = {cell.size_bytes: cell.mean_ns for cell in _row(cells, lines[0], pattern)}
    percents = []
    for line, look in looks(lines).items():
        row = _row(cells, line, pattern)
        percent = np.array([100 * (cell.mean_ns / base[cell.size_bytes] - 1) for cell in row])
        sizes = [cell.size_bytes / 1024 for cell in row]
        label = None if dotted else line
        axes.plot(sizes, percent, label=label, **look.line(dotted=dotted))
        percents.append(percent)
    return percents


def _percent_axis(axes: "Axes", least: float, most: float) -> None:
    axes.set_yscale("symlog", linthresh=LINEAR_PERCENT)
    low, high = min(-1.0, 1.3 * least), max(float(LINEAR_PERCENT), 1.6 * most)
    axes.set_ylim(low, high)
    powers = [each * 10**power for power in range(1, 5) for each in (1, 2, 5)]
    ticks = [0, 2, 4, 6, 8, *powers, *(-each for each in (2, 4, 6, 8, *powers))]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")


def paper_line(axes: "Axes", percent: float, *, right: bool = False) -> None:
    """Mark what the paper quotes, in words at one end."""
    axes.axhline(percent, color=LIGHT.muted, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        f"paper: {percent:g} %",
        (0.98 if right else 0.02, percent),
        xycoords=("axes fraction", "data"),
        ha="right" if right else "left",
        va="bottom",
        color=LIGHT.muted,
        fontsize=7.6,
    )


def _centred(axes: "Axes") -> dict[str, Any]:
    """Give the options of a remark in the middle of a panel."""
    return {"ha": "center", "va": "center", "transform": axes.transAxes, "color": LIGHT.muted}


def save_both(figure: "Figure", path: Path) -> None:
    """Write a picture as SVG and as PNG."""
    save(figure, path)
    save(figure, path.with_suffix(".png"))
