"""The pictures of the study."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ssdscope.plots import LIGHT, panels, style
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


def benchmark(name: str, points: Points) -> "Figure":
    """Draw one micro-benchmark."""
    canvas, (axes,) = panels.canvas(1, width=7.4, height=4.4)
    _panel(axes, BENCHMARKS[name], points)
    panels.legend_below(canvas, axes, 3 if name == "mix" else 2)
    return canvas


def page(measured: Mapping[str, Points], titles: Mapping[str, str]) -> "Figure":
    """Draw the nine on one page."""
    canvas, every = panels.canvas(3, rows=3, width=5.0, height=4.1)
    for axes, (name, points) in zip(every, measured.items(), strict=False):
        _panel(axes, BENCHMARKS[name], points)
        title = titles[name].partition(":")[0]
        if name == "mix" and points:
            style.legend(axes, LIGHT, loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=3)
            axes.set_title(title, loc="left", fontsize=10, pad=34)
        else:
            axes.set_title(title, loc="left", fontsize=10)
    others = [axes for axes, name in zip(every, measured, strict=False) if name != "mix"]
    panels.legend_below(
        canvas, max(others, key=lambda axes: len(axes.get_legend_handles_labels()[1])), 4
    )
    return canvas


def traces(latencies: Mapping[str, npt.NDArray[np.float64]]) -> "Figure":
    """Draw the response time of every request, and its mean with and without those left out."""
    canvas, every = panels.canvas(2, rows=2, width=5.2, height=3.5)
    for axes, (name, series) in zip(every, latencies.items(), strict=False):
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
    for axes in every[len(latencies) :]:
        axes.set_visible(False)
    return canvas


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
