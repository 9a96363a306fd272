"""The pictures of the study, each as SVG and PNG."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ssdscope.plots import LIGHT, save, style
from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.studies.uflip.bench import Points
from ssdscope.studies.uflip.benchmarks import BENCHMARKS, MIXES, PATTERNS, Benchmark
from ssdscope.studies.uflip.phases import find_phases, running_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vX"
_LOOKS = {
    name: (getattr(LIGHT, colour), marker, f"{name}: {words}")
    for name, (colour, marker, words) in ((name, PATTERN_LOOK[rw]) for name, rw in PATTERNS.items())
} | {series: (LIGHT.series(index), _MARKERS[index], series) for index, series in enumerate(MIXES)}
LEAST_SHARE = 0.1
"""An interval that begins lower than this share of the mean is drawn from there on."""
_SHIFT = 0.05
"""Series are beside each other, so that those of one height are both seen."""


def benchmark(name: str, points: Points, path: Path) -> Path:
    """Draw one micro-benchmark."""
    canvas, (axes,) = _canvas(1, 1, (7.4, 4.4))
    _panel(axes, BENCHMARKS[name], points)
    _legend_below(canvas, axes, 3 if name == "mix" else 2)
    return _written(canvas, path)


def page(measured: Mapping[str, Points], path: Path) -> Path:
    """Draw the nine on one page."""
    canvas, panels = _canvas(3, 3, (15.0, 12.4))
    for axes, (name, points) in zip(panels, measured.items(), strict=False):
        _panel(axes, BENCHMARKS[name], points)
        title = BENCHMARKS[name].title.partition(":")[0]
        if name == "mix" and points:
            style.legend(axes, LIGHT, loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=3)
            axes.set_title(title, loc="left", fontsize=10, pad=34)
        else:
            axes.set_title(title, loc="left", fontsize=10)
    others = [axes for axes, name in zip(panels, measured, strict=False) if name != "mix"]
    _legend_below(canvas, max(others, key=lambda axes: len(axes.get_legend_handles_labels()[1])), 4)
    return _written(canvas, path)


def traces(latencies: Mapping[str, npt.NDArray[np.float64]], path: Path) -> Path:
    """Draw the response time of every request, and its mean with and without those left out."""
    canvas, panels = _canvas(2, 2, (10.4, 7.0))
    for axes, (name, series) in zip(panels, latencies.items(), strict=False):
        startup = find_phases(series).startup
        colour, _, label = _LOOKS[name]
        numbers = np.arange(1, len(series) + 1)
        axes.plot(numbers, series, ".", markersize=2, color=colour, alpha=0.55)
        axes.plot(numbers, running_mean(series), color=LIGHT.ink, label="running average of all")
        if startup:
            later = running_mean(series[startup:])
            axes.plot(
                numbers[startup:], later, "--", color=LIGHT.s5, label="of the running phase alone"
            )
            style.mark(axes, startup, "start-up ends", LIGHT, dash=":", right=True)
        axes.set_yscale("log")
        axes.set_ylim(series.min() / 2, series.max() * 2)
        style.log_times(axes.yaxis)
        axes.set_title(label, loc="left", fontsize=10, color=LIGHT.ink, pad=22)
        axes.set_xlabel("request")
        axes.set_ylabel("response time")
        style.legend(axes, LIGHT)
    for axes in panels[len(latencies) :]:
        axes.set_visible(False)
    return _written(canvas, path)


def _panel(axes: "Axes", benchmark: Benchmark, points: Points) -> None:
    values = sorted({value for each in points.values() for value in each})
    place = {value: index for index, value in enumerate(values)}
    shown = list(points)
    for index, series in enumerate(shown):
        colour, marker, label = _LOOKS[series]
        line = points[series]
        x = [place[value] + _SHIFT * (index - (len(shown) - 1) / 2) for value in line]
        mean = np.array([point.mean_ns for point in line.values()])
        low = mean - np.array([point.low_ns for point in line.values()])
        high = np.array([point.high_ns for point in line.values()]) - mean
        axes.errorbar(
            x,
            mean,
            yerr=(np.minimum(low, mean * (1 - LEAST_SHARE)), high),
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=label,
        )
    axes.set_xticks(range(len(values)), [benchmark.label(value) for value in values])
    axes.set_yscale("log")
    if points:
        drawn = [point for line in points.values() for point in line.values()]
        lowest = min(max(each.low_ns, LEAST_SHARE * each.mean_ns) for each in drawn)
        # Room on either side, so that what differs by a tenth does not look like much.
        axes.set_ylim(max(lowest, 1.0) / 2, max(1.0, *(each.high_ns for each in drawn)) * 2)
    style.log_times(axes.yaxis)
    axes.set_xlabel(benchmark.parameter)
    axes.set_ylabel("mean response time")


def _canvas(rows: int, columns: int, size: tuple[float, float]) -> tuple["Figure", list["Axes"]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        style.dress(axes, LIGHT)
    return figure, panels


def _legend_below(figure: "Figure", axes: "Axes", columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.4
    )


def _written(figure: "Figure", path: Path) -> Path:
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path
