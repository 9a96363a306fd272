"""What a model has learnt, drawn: its tree, its dependences, a map of its predictions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import style
from ssdscope.plots.style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABELS = {
    "wr_ratio": "writes (%)",
    "q_dep": "queue depth",
    "wr_size": "write size (bytes)",
    "rd_size": "read size (bytes)",
    "wr_rand": "random writes (%)",
    "rd_rand": "random reads (%)",
    "wr_stride": "gap of writes (bytes)",
    "rd_stride": "gap of reads (bytes)",
}
_WRAPPED = 15
"""Characters of a line beside a branch of the tree."""
_MIXES = (("reads", 0, 0), ("writes", 100, 100), ("both", 1, 99))
"""Words for shares of writes, from and to."""
_CLOSE = 1.6
"""Branches nearer than so many leaves have their words outside."""


def tree(root: Mapping[str, Any], palette: Palette, *, functions: bool = False) -> "Figure":
    """Draw a tree as `models.explaining.nested` gives it, the root on top.

    With `functions` each leaf also shows what changes its value.
    """
    leaves, depth = _leaves(root), _depth(root)
    each, below = (1.9, 1.2) if functions else (1.25, 0.0)
    size = (max(8.8, each * leaves), 0.8 + 0.95 * depth + below)
    figure, axes = style.new_figure(palette, size)
    _draw_tree(axes, root, palette)
    if functions:
        axes.set_ylim(-_depth(root) + 0.4 - 0.95, 0.5)
        _draw_functions(axes, root, 0.0, 0, palette)
    return figure


def _draw_functions(
    axes: "Axes", node: Mapping[str, Any], left: float, level: int, palette: Palette
) -> None:
    """Write the function of each leaf below it."""
    if "left" in node:
        _draw_functions(axes, node["left"], left, level + 1, palette)
        _draw_functions(axes, node["right"], left + _leaves(node["left"]), level + 1, palette)
        return
    axes.annotate(
        "\n".join(node["terms"]),
        (left, -level - 0.3),
        ha="center",
        va="top",
        size=6,
        color=palette.ink,
    )


def explanation(
    root: Mapping[str, Any],
    dependences: Mapping[str, Sequence[Mapping[str, float]]],
    importances: Mapping[str, float],
    target: str,
    palette: Palette,
) -> "Figure":
    """Draw the tree, which characteristics matter, and how, on one sheet."""
    names = [name for name in importances if name in dependences]
    rows = (len(names) + 1 + 2) // 3
    figure = style.blank_figure(palette, (10.5, 4.2 + 2.5 * rows))
    figure.patch.set_alpha(1)
    parts: Any = figure.subfigures(2, 1, height_ratios=[4.2, 2.5 * rows])
    top, bottom = parts
    axes = top.add_subplot()
    style.dress(axes, palette)
    _draw_tree(axes, root, palette)
    panels = bottom.subplots(rows, 3, squeeze=False).ravel()
    for panel in panels:
        style.dress(panel, palette)
    _draw_importances(panels[0], importances, palette)
    for panel, name in zip(panels[1:], names, strict=False):
        _draw_dependence(panel, name, dependences[name], target, palette)
    for panel in panels[1 + len(names) :]:
        panel.set_axis_off()
    return figure


def predicted(rows: Sequence[Mapping[str, Any]], palette: Palette) -> "Figure":
    """Draw predictions with their intervals against measurements, by what the workload does."""
    figure, axes = style.new_figure(palette)
    axes.set_xscale("log")
    axes.set_yscale("log")
    values = [row[key] for row in rows for key in ("mean_ns", "predicted_ns")]
    ends = [min(values) / 1.3, max(values) * 1.3]
    axes.plot(ends, ends, color=palette.muted, linewidth=1, linestyle=(0, (3, 2)))
    for index, (label, low, high) in enumerate(_MIXES):
        chosen = [row for row in rows if low <= row["wr_ratio"] <= high]
        if not chosen:
            continue
        y = np.array([row["predicted_ns"] for row in chosen])
        reach = [y - [row["low_ns"] for row in chosen], [row["high_ns"] for row in chosen] - y]
        axes.errorbar(
            [row["mean_ns"] for row in chosen],
            y,
            yerr=reach,
            fmt="os^"[index],
            color=palette.series(index),
            markersize=4,
            linewidth=0.9,
            label=label,
        )
    style.log_times(axes.xaxis)
    style.log_times(axes.yaxis)
    axes.set_xlabel("measured mean latency")
    axes.set_ylabel("predicted mean latency")
    style.legend(axes, palette, ncols=3)
    return figure


def latency_map(
    sizes_bytes: Sequence[int],
    depths: Sequence[int],
    predicted: Sequence[Sequence[Mapping[str, float]]],
    palette: Palette,
) -> "Figure":
    """Draw predicted latency by size and depth, one row of cells per depth.

    Each cell has the value and, below it, the 90 % interval.
    """
    figure, axes = style.new_figure(palette, (8.8, 0.9 + 0.42 * len(depths)))
    values = np.array([[cell["value"] for cell in row] for row in predicted])
    logs = np.log(values)
    shade = 0.06 + 0.5 * (logs - logs.min()) / max(float(np.ptp(logs)), 1e-9)
    for y, row in enumerate(predicted):
        for x, cell in enumerate(row):
            _cell(axes, x, y, cell, float(shade[y, x]), palette)
    axes.set_xlim(-0.5, len(sizes_bytes) - 0.5)
    axes.set_ylim(-0.5, len(depths) - 0.5)
    axes.set_xticks(range(len(sizes_bytes)), [style.size_label(size) for size in sizes_bytes])
    axes.set_yticks(range(len(depths)), [f"{depth}" for depth in depths])
    axes.grid(visible=False)
    axes.set_xlabel("request size (bytes)")
    axes.set_ylabel("queue depth")
    return figure


def _cell(
    axes: "Axes", x: int, y: int, cell: Mapping[str, float], shade: float, palette: Palette
) -> None:
    axes.fill_between(
        [x - 0.48, x + 0.48], y - 0.46, y + 0.46, color=palette.s1, alpha=shade, linewidth=0
    )
    low, high = style.time_label(cell["low"]), style.time_label(cell["high"])
    middle: dict[str, Any] = {"ha": "center", "va": "center"}
    axes.text(x, y + 0.16, style.time_label(cell["value"]), color=palette.ink, size=8.4, **middle)
    axes.text(x, y - 0.22, f"{low} to {high}", color=palette.muted, size=6.4, **middle)


def _leaves(node: Mapping[str, Any]) -> int:
    return 1 if "left" not in node else _leaves(node["left"]) + _leaves(node["right"])


def _depth(node: Mapping[str, Any]) -> int:
    return 1 if "left" not in node else 1 + max(_depth(node["left"]), _depth(node["right"]))


def _draw_tree(axes: "Axes", root: Mapping[str, Any], palette: Palette) -> None:
    axes.set_axis_off()
    axes.set_xlim(-0.6, _leaves(root) - 0.4)
    axes.set_ylim(-_depth(root) + 0.4, 0.5)
    _draw_node(axes, root, 0.0, 0, palette)


def _draw_node(
    axes: "Axes", node: Mapping[str, Any], left: float, level: int, palette: Palette
) -> float:
    """Draw a node over its leaves, which begin at `left`; give where it stands."""
    if "left" not in node:
        place = left
    else:
        parts = []
        start = left
        for side in ("left", "right"):
            parts.append(_draw_node(axes, node[side], start, level + 1, palette))
            start += _leaves(node[side])
        place = sum(parts) / 2
        # Words stand away from each other where the branches are close.
        sides = (("right", 0.2, node["left_if"]), ("left", -0.2, node["right_if"]))
        close = parts[1] - parts[0] < _CLOSE
        for end, (side, away, condition) in zip(parts, sides, strict=True):
            axes.plot([place, end], [-level, -level - 1], color=palette.muted, linewidth=1)
            axes.annotate(
                _wrapped(condition),
                ((place + end) / 2 + (away if close else 0), -level - 0.52),
                ha=side if close else "center",
                va="center",
                size=7.2,
                color=palette.muted,
                bbox={"boxstyle": "round,pad=0.1", "fc": palette.surface, "ec": "none"},
            )
    leaf = "left" not in node
    axes.annotate(
        f"{node['typical']}\n{node['rows']} runs",
        (place, -level),
        ha="center",
        va="center",
        size=8.2,
        color=palette.ink,
        bbox={
            "boxstyle": "round,pad=0.3",
            "fc": palette.surface,
            "ec": palette.s1 if leaf else palette.muted,
        },
    )
    return place


def _wrapped(text: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, _WRAPPED))


def _draw_importances(axes: "Axes", importances: Mapping[str, float], palette: Palette) -> None:
    names = list(importances)[::-1]
    axes.barh(names, [importances[name] - 1 for name in names], left=1, color=palette.s1)
    axes.set_xlabel("exchanging it moves predictions x")
    axes.grid(visible=False, axis="y")


def _draw_dependence(
    axes: "Axes",
    name: str,
    points: Sequence[Mapping[str, float]],
    target: str,
    palette: Palette,
) -> None:
    shown = [each for each in points if each["value"] > 0 or name.endswith(("ratio", "rand"))]
    x, y = [each["value"] for each in shown], [each["predicted"] for each in shown]
    axes.set_yscale("log")
    axes.plot(x, y, "o-", color=palette.s2, markersize=3, linewidth=1.5)
    if max(y) < 3 * min(y):
        middle = float(np.sqrt(max(y) * min(y)))
        axes.set_ylim(middle / 2, middle * 2)
    if name == "q_dep":
        style.log_depths(axes, x)
    elif not name.endswith(("ratio", "rand")):
        style.log_sizes(axes, x)
    style.plain_log(axes.yaxis, style.time_label if target.endswith("_ns") else style.count_label)
    axes.set_xlabel(_LABELS[name])
