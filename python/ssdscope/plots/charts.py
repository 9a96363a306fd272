"""The charts of a report: plain records in, a figure out."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import style
from ssdscope.plots.style import PATTERN_LOOK, Palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SORTS = ("burst", "read", "sustained")
BURST_DASH = (0, (3, 1.6))
Records = Sequence[Mapping[str, Any]]


def by_pattern(
    points: Records, x: str, y: str, palette: Palette, *, low: str = "", high: str = ""
) -> "Figure":
    """Draw one line per access pattern: latency or bandwidth against size or depth."""
    figure, axes = style.new_figure(palette)
    axes.set_yscale("log")
    floor = min(p[y] for p in points) / 2
    for (rw, (role, marker, label)), sort in product(PATTERN_LOOK.items(), SORTS):
        rows = sorted(
            (p for p in points if p["rw"] == rw and p["sort"] == sort), key=lambda p: float(p[x])
        )
        if not rows:
            continue
        xs, ys = [p[x] for p in rows], [p[y] for p in rows]
        colour = getattr(palette, role)
        # Random patterns are thin and in front: lines that coincide stay visible.
        width, mark = (1.3, 3) if rw.startswith("rand") else (3, 5.5)
        burst = sort == "burst"
        axes.plot(
            xs, ys, color=colour, marker=marker, markersize=mark, linewidth=width,
            linestyle=BURST_DASH if burst else "-", alpha=0.6 if burst else 1,
            label=f"{label}, burst" if burst else label,
        )  # fmt: skip
        if low and all(p[low] is not None for p in rows):
            # A few very slow requests make an interval that reaches below zero: down to the edge.
            bounds = [max(p[low], floor) for p in rows], [p[high] for p in rows]
            axes.fill_between(xs, *bounds, color=colour, alpha=0.2, linewidth=0)
    if x == "block_bytes":
        style.log_sizes(axes, [p[x] for p in points])
        axes.set_xlabel("request size (bytes)")
    else:
        style.log_depths(axes, [p[x] for p in points])
        axes.set_xlabel("queue depth")
    if y.endswith("_ns"):
        style.log_times(axes.yaxis)
    else:
        style.plain_log(axes.yaxis, style.rate_label)
    style.legend(axes, palette)
    return figure


def exceedance(series: Records, palette: Palette) -> "Figure":
    """Draw which share of requests takes longer than a time, both on log axes."""
    figure, axes = style.new_figure(palette)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for index, each in enumerate(series):
        axes.plot(
            each["latency_ns"],
            np.maximum(each["exceeded"], 0.5 / each["requests"]),
            color=getattr(palette, PATTERN_LOOK[each["rw"]][0]),
            linewidth=1.7,
            linestyle=("-", (0, (4, 1.4)))[index % 2],
            label=each["name"],
        )
    for share, label in ((0.5, "p50"), (0.1, "p90"), (0.01, "p99"), (0.001, "p99.9")):
        axes.axhline(share, color=palette.grid, linewidth=0.6)
        axes.annotate(
            label,
            (1.01, share),
            xycoords=("axes fraction", "data"),
            ha="left",
            va="center",
            color=palette.muted,
            fontsize=7.4,
        )
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    style.log_times(axes.xaxis)
    axes.set_xlabel("latency")
    style.legend(axes, palette)
    return figure


def predicted(rows: Records, palette: Palette, *, predicted_label: str) -> "Figure":
    """Draw predictions against measurements, with their intervals if they have any."""
    figure, axes = style.new_figure(palette)
    axes.set_xscale("log")
    axes.set_yscale("log")
    values = [row[key] for row in rows for key in ("mean_ns", "predicted_ns")]
    ends = [min(values) / 1.3, max(values) * 1.3]
    axes.plot(ends, ends, color=palette.muted, linewidth=1, linestyle=(0, (3, 2)))
    for rw, (role, marker, label) in PATTERN_LOOK.items():
        chosen = [row for row in rows if row["rw"] == rw]
        if not chosen:
            continue
        x = np.array([row["mean_ns"] for row in chosen])
        y = np.array([row["predicted_ns"] for row in chosen])
        spread = None
        if "low_ns" in chosen[0]:
            low, high = (np.array([row[key] for row in chosen]) for key in ("low_ns", "high_ns"))
            spread = [np.maximum(y - low, 0), np.maximum(high - y, 0)]
        axes.errorbar(
            x,
            y,
            yerr=spread,
            fmt=marker,
            color=getattr(palette, role),
            markersize=4,
            linewidth=0.9,
            label=label,
        )
    style.log_times(axes.xaxis)
    style.log_times(axes.yaxis)
    axes.set_xlabel("measured mean latency")
    axes.set_ylabel(predicted_label)
    style.legend(axes, palette)
    return figure


def timeline(windows: Mapping[str, Any], palette: Palette) -> "Figure":
    """Draw a trace's latency over time: median and 99th percentile per window and direction."""
    figure, axes = style.new_figure(palette, (8.8, 2.7))
    axes.set_yscale("log")
    for name in ("read", "write"):
        if name not in windows:
            continue
        rows = windows[name]
        colour = getattr(palette, PATTERN_LOOK[f"rand{name}"][0])
        for series, key, label, width, dash in (
            (rows, "p50_ns", "median", 1.5, "-"),
            (rows["tail"], "p99_ns", "p99", 0.9, (0, (3, 1))),
        ):
            if not any(series[key]):
                continue  # too few requests in any window
            axes.plot(
                series["start_s"],
                [np.nan if value is None else value for value in series[key]],
                color=colour,
                linewidth=width,
                linestyle=dash,
                marker="." if len(series["start_s"]) < 20 else None,
                label=f"{name}s, {label}",
            )
    style.log_times(axes.yaxis)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("time in the trace (s)")
    if axes.lines:  # a trace that was cut off early may have too few requests for any
        style.legend(axes, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.995), ncols=4)
    return figure
