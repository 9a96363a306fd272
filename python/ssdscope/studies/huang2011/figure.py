"""The pictures of figures 3 to 7, each as SVG and PNG."""

from pathlib import Path
from typing import TYPE_CHECKING

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
_LOOKS = {"reads": ("o", "-"), "writes": ("s", (0, (3, 2))), "mixed": ("o", "-")}
_PATTERNS = {"sequential": "o", "random": "s", "stride": "^"}


def draw(figure_id: str, rows: Rows, path: Path) -> Path:
    """Draw a figure: a panel per metric, or for patterns per direction."""
    from matplotlib.figure import Figure

    by_direction = figure_id in "67"
    metrics = _METRICS[figure_id]
    panels = [(metrics[0], each) for each in ("reads", "writes")] if by_direction else [
        (metric, "") for metric in metrics
    ]  # fmt: skip
    figure = Figure(figsize=(3.6 * len(panels) + 1, 4.0), layout="constrained")
    figure.patch.set_facecolor(LIGHT.surface)
    drawn = figure.subplots(1, len(panels), squeeze=False).flat
    for axes, (metric, direction) in zip(drawn, panels, strict=True):
        style.dress(axes, LIGHT)
        for curve, points in rows.items():
            if curve.name.startswith(direction):
                _line(axes, figure_id, curve, [_value(metric, row) for row in points])
        _dress(axes, figure_id, _LABELS[metric])
        if direction:
            axes.set_title(direction, loc="left", fontsize=10, color=LIGHT.ink)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if by_direction:
        labels = [label.split(", ", 1)[0] + ", " + label.rsplit(", ", 1)[1] for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=7.6)
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path


def _value(metric: str, row: Row) -> float:
    return {
        "latency": row.latency_ns / 1e6,
        "bandwidth": row.bandwidth_bytes_per_s / 1e6,
        "throughput": row.iops,
    }[metric]


def _line(axes: "Axes", figure_id: str, curve: Curve, values: list[float]) -> None:
    name, _, pattern = curve.name.partition(", ")
    marker, dash = (_PATTERNS[pattern], "-") if pattern else _LOOKS[name]
    scale = 1024 if figure_id in "567" else 1
    axes.plot(
        [x / scale for x in curve.x],
        values,
        marker=marker,
        markersize=4,
        color=_COLOURS.get(curve.device, LIGHT.s1),
        linestyle=dash,
        linewidth=1.1,
        label=curve.device if name == "mixed" else f"{curve.device}, {curve.name}",
    )


def _dress(axes: "Axes", figure_id: str, label: str) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel(label)
    axes.set_xlabel(_AXES[figure_id])
    if figure_id == "3":
        return
    axes.set_xscale("log", base=2)
    ticks = [1, 4, 16, 64] if figure_id == "4" else [size // 1024 for size in SIZES]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
