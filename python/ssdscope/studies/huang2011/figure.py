"""The pictures of figures 3 to 7: panels by metric, direction and drive."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.plots import LIGHT, panels
from ssdscope.studies.huang2011.procedure import SIZES, Curve, Rows
from ssdscope.workloads.grid import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXES = {"3": "writes (%)", "4": "queue depth"}
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
_Panel = tuple[str, str, list[Curve]]
"""Its head, its metric, and the lines that share it."""


def draw(figure_id: str, rows: Rows) -> "Figure":
    """Draw a figure: panels by metric, and those of sizes and patterns by direction, too."""
    laid = list(_panels(figure_id, [each for each in rows if "steps" not in each.name]))
    across = max(len(row) for row in laid)
    figure, axes = panels.canvas(across, rows=len(laid), width=3.4, height=2.9)
    for each, (head, metric, curves) in zip(axes, itertools.chain(*laid), strict=True):
        for curve in curves:
            _line(each, figure_id, curve, [_value(metric, row) for row in rows[curve]])
        _dress(each, figure_id, _LABELS[metric])
        panels.head(each, head)
    panels.legend_below(figure, axes[0], 6)
    return figure


def _panels(figure_id: str, curves: list[Curve]) -> Iterator[list[_Panel]]:
    """Lay out panels, row by row."""
    if figure_id in "34":
        yield [("", metric, curves) for metric in _LABELS]
        return
    metric = "latency" if figure_id == "6" else "throughput"
    devices = list(dict.fromkeys(each.device for each in curves))
    for way in ("reads", "writes"):
        of_way = [each for each in curves if each.name.startswith(way)]
        if of_way and figure_id == "5":
            yield [(way, each, of_way) for each in _LABELS]
        elif of_way:
            yield [
                (f"{device}, {way}", metric, [each for each in of_way if each.device == device])
                for device in devices
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
    axes.set_xlabel(_AXES.get(figure_id, "request size (KB)"))
    if figure_id in "34":
        panels.plain_log(axes, label)
    else:
        axes.set_ylim(bottom=0)
    if figure_id == "4":
        axes.set_xscale("log", base=2)
        ticks = (1, 4, 16, 64)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
    if figure_id in "567":
        axes.set_xticks([size // 1024 for size in SIZES if size >= 16 * 1024])
