"""IOPS and latency of a drive over depth or jobs, a line for each of the other, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.plots import style
from ssdscope.plots.style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vX"


@dataclass(frozen=True)
class Point:
    """A mean over repetitions.

    Attributes
    ----------
    x
        Depth, or jobs.
    half
        Half the width of its 95 % interval; None of a single run.
    """

    x: float
    mean: float
    half: float | None


@dataclass(frozen=True)
class Line:
    """One line of both panels: the same runs in IOPS and in latency (ns)."""

    label: str
    iops: Sequence[Point]
    latency_ns: Sequence[Point]


def rate_and_latency(lines: Sequence[Line], x_name: str, palette: Palette) -> "Figure":
    """Draw IOPS on the left and mean latency on the right, against the same axis."""
    figure = style.blank_figure(palette, (8.8, 3.4))
    left, right = figure.subplots(1, 2)
    every = [point.x for line in lines for point in line.iops]
    for axes, name in ((left, "IOPS"), (right, "mean latency")):
        style.dress(axes, palette)
        for number, line in enumerate(lines):
            _draw(axes, line.iops if axes is left else line.latency_ns, line.label, number, palette)
        style.log_depths(axes, every)
        axes.set_xlabel(x_name)
        axes.set_ylabel(name)
    left.set_ylim(bottom=0)
    left.yaxis.set_major_formatter(lambda value, _: style.count_label(value) if value else "0")
    right.set_yscale("log")
    style.log_times(right.yaxis)
    if len(lines) > 1:
        style.legend(left, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.995), ncols=4)
    return figure


def _draw(axes: "Axes", points: Sequence[Point], label: str, number: int, palette: Palette) -> None:
    halves = [min(point.half or 0.0, 0.99 * point.mean) for point in points]
    axes.errorbar(
        [point.x for point in points],
        [point.mean for point in points],
        yerr=halves if any(halves) else None,
        label=style.text(label),
        color=palette.series(number),
        marker=MARKERS[number % len(MARKERS)],
        markersize=4.5,
        linewidth=1.5,
        capsize=2.5,
    )
