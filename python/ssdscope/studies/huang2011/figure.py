"""The pictures of figures 3 to 7, each as SVG and PNG."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.plots import LIGHT, save, style
from ssdscope.studies.huang2011.procedure import SIZES, Curve, Rows
from ssdscope.workloads.grid import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_METRICS = {
    "3": ("latency", "bandwidth", "throughput"),
    "4": ("latency", "bandwidth", "throughput"),
    "5": ("latency", "bandwidth", "throughput"),
    "6": ("latency",),
    "7": ("throughput",),
}
_AXES = {
    "3": "writes (%)",
    "4": "queue depth",
    "5": "request size (KB)",
    "6": "request size (KB)",
    "7": "request size (KB)",
}
_LABELS = {
    "latency": "mean latency (ms)",
    "bandwidth": "bandwidth (MB/s)",
    "throughput": "throughput (IO/s)",
}
_COLOURS = {"SSD_I": LIGHT.s1, "SSD_S": LIGHT.s2, "HDD_S": LIGHT.s8}


@dataclass(frozen=True)
class _Look:
    """How a line is drawn; without a colour in its drive's."""

    marker: str
    dash: Any = "-"
    width: float = 1.2
    size: float = 4
    colour: str = ""


_LOOKS = {"reads": _Look("o"), "writes": _Look("s", (0, (3, 2))), "mixed": _Look("o")}
_PATTERNS = {
    "sequential": _Look("o", "-", 3.2, 9, LIGHT.s3),
    "random": _Look("s", (0, (4, 2)), 1.6, 6, LIGHT.s1),
    "stride": _Look("^", (0, (1, 1.5)), 1.4, 4, LIGHT.s8),
}
"""From thick to thin, so that one line that covers another still shows it."""


def draw(figure_id: str, rows: Rows, path: Path) -> Path:
    """Draw a figure: panels by metric, and those of sizes and patterns by direction, too."""
    from matplotlib.figure import Figure

    panels = _panels(figure_id, rows)
    across = max(len(row) for row in panels)
    size = (3.3 * across + 0.6, 2.7 * len(panels) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    figure.patch.set_facecolor(LIGHT.surface)
    drawn = figure.subplots(len(panels), across, squeeze=False)
    for axes, panel in zip(drawn.flat, itertools.chain(*panels), strict=True):
        style.dress(axes, LIGHT)
        for curve in panel.curves:
            _line(axes, figure_id, curve, [_value(panel.metric, row) for row in rows[curve]])
        _dress(axes, figure_id, _LABELS[panel.metric])
        axes.set_title(panel.title, loc="left", fontsize=9, color=LIGHT.ink)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path


@dataclass(frozen=True)
class _Panel:
    """Lines of one metric that share axes."""

    title: str
    metric: str
    curves: list[Curve]


def _panels(figure_id: str, rows: Rows) -> list[list[_Panel]]:
    """Lay out panels, row by row."""
    metrics = _METRICS[figure_id]
    if figure_id in "34":
        return [[_Panel("", metric, list(rows)) for metric in metrics]]
    ways = [way for way in ("reads", "writes") if any(each.name.startswith(way) for each in rows)]
    if figure_id == "5":
        return [
            [_Panel(way, metric, [each for each in rows if each.name == way]) for metric in metrics]
            for way in ways
        ]
    devices = list(dict.fromkeys(each.device for each in rows))
    return [
        [
            _Panel(
                f"{device}, {way}",
                metrics[0],
                [each for each in rows if each.device == device and each.name.startswith(way)],
            )
            for device in devices
        ]
        for way in ways
    ]


def _value(metric: str, row: Row) -> float:
    return {
        "latency": row.latency_ns / 1e6,
        "bandwidth": row.bandwidth_bytes_per_s / 1e6,
        "throughput": row.iops,
    }[metric]


def _line(axes: "Axes", figure_id: str, curve: Curve, values: list[float]) -> None:
    name, _, pattern = curve.name.partition(", ")
    look = _PATTERNS[pattern] if pattern else _LOOKS[name]
    scale = 1024 if figure_id in "567" else 1
    colour = look.colour or _COLOURS.get(curve.device, LIGHT.s1)
    axes.plot(
        [x / scale for x in curve.x],
        values,
        marker=look.marker,
        markersize=look.size,
        color=colour,
        markerfacecolor="none" if pattern else colour,
        linestyle=look.dash,
        linewidth=look.width,
        label=pattern or (curve.device if figure_id in "35" else f"{curve.device}, {curve.name}"),
    )


def _dress(axes: "Axes", figure_id: str, label: str) -> None:
    axes.set_ylabel(label)
    axes.set_xlabel(_AXES[figure_id])
    if figure_id in "34":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(bottom=0)
    if figure_id == "4":
        axes.set_xscale("log", base=2)
        ticks = (1, 4, 16, 64)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
    if figure_id in "567":
        axes.set_xticks([size // 1024 for size in SIZES if size >= 16 * 1024])
