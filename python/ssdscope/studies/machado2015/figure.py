"""Figure 1, and the same as differences: four panels, ten lines.

Lines that coincide are told apart: a setting has a colour, greedy is a pale band with a hollow
marker, wear-aware a thin line on it. What no axis can show is marked at its edge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import LIGHT, panels
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
            panels.MARKERS[places[name] % len(panels.MARKERS)],
            10 - 1.2 * places[name],
            line.startswith("Wear-Aware/"),
        )
        for line, name in zip(lines, settings, strict=True)
    }


def four_panels(cells: Cells, lines: Sequence[str]) -> "Figure":
    """Draw mean response time against request size, one panel per pattern; SVG and PNG.

    Random reads have a second set of lines where they were also run with the read bit cleared.
    """
    figure, every = _four()
    limits = _limits(cells)
    for axes, pattern in zip(every, PATTERNS, strict=True):
        panels.plain_log(axes, "mean response time (ms)")
        if not _row(cells, lines[0], pattern):
            panels.centred(axes, "not run: the target\nis open for reading only")
            axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
            continue
        marks = _panel(axes, cells, lines, pattern, limits)
        if pattern == "randread" and _row(cells, lines[0], CLEARED):
            marks += _panel(axes, cells, lines, CLEARED, limits, dotted=True)
            marks.append("dotted: read bit cleared")
        panels.remark(axes, marks)
        axes.set_ylim(*limits)
        panels.size_axis(axes, [cell.size_bytes for cell in cells.values()])
    panels.legend_below(figure, every[0], min(len(lines), LEGEND_COLUMNS))
    return figure


def _four() -> "tuple[Figure, list[Axes]]":
    figure, every = panels.canvas(2, rows=2, width=4.8, height=4.0)
    for axes, pattern in zip(every, PATTERNS, strict=True):
        panels.head(axes, TITLES[pattern])
    return figure, every


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


def differences(cells: Cells, lines: Sequence[str]) -> "Figure":
    """Draw how much longer each line takes than the first, in percent."""
    figure, every = _four()
    for axes, pattern in zip(every, PATTERNS, strict=True):
        percents = _differences(axes, cells, lines, pattern)
        words = []
        if pattern == "randread" and _row(cells, lines[0], CLEARED):
            percents += _differences(axes, cells, lines, CLEARED, dotted=True)
            words = ["solid: all lines coincide", "dotted: read bit cleared"]
        found = np.concatenate(percents)
        if np.nanmax(np.abs(found)) < 0.01:
            panels.centred(axes, "all lines coincide")
        panels.percent_axis(axes, float(np.nanmin(found)), float(np.nanmax(found)), LINEAR_PERCENT)
        if np.isnan(found).any():
            words.append("a line that ends: the drive gets stuck")
        panels.remark(axes, words, (0.98, 0.58))
        panels.size_axis(axes, [cell.size_bytes for cell in cells.values()])
        axes.set_ylabel(f"longer than {lines[0]}")
    for percent in (5.5, 7):
        panels.paper_line(every[2], percent)
    panels.legend_below(figure, every[0], min(len(lines), LEGEND_COLUMNS))
    return figure


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
