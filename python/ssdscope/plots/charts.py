"""The charts of a report: plain records in, a figure out."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import style
from ssdscope.plots.pointing import set_unit
from ssdscope.plots.style import PATTERN_LOOK, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SORTS = ("burst", "read", "sustained")
BURST_DASH = (0, (3, 1.6))
GB, MB = 1e9, 1e6
BEYOND = 10
"""Requests that lie beyond a percentile; from fewer none is drawn."""
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


def by_percentile(series: Records, palette: Palette) -> "Figure":
    """Draw latency by percentile; each line ends where ten requests lie beyond."""
    figure, axes = style.new_figure(palette)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for index, each in enumerate(series):
        beyond, latency = np.array(each["exceeded"]), np.array(each["latency_ns"])
        kept = beyond * each["requests"] >= BEYOND
        axes.plot(
            beyond[kept],
            latency[kept],
            color=getattr(palette, PATTERN_LOOK[each["rw"]][0]),
            linewidth=1.7,
            linestyle=("-", (0, (4, 1.4)))[index % 2],
            marker="." if len(latency) < 20 else None,
            label=style.text(each["name"]),
        )
    axes.set_xlim(1, 1e-4)
    axes.set_xticks([10.0**-power for power in range(5)], ["0", "p90", "p99", "p99.9", "p99.99"])
    axes.minorticks_off()
    set_unit(axes.xaxis, "beyond")
    axes.set_xlabel("percentile")
    style.log_times(axes.yaxis)
    style.legend(axes, palette)
    return figure


def settling(courses: Records, capacity_bytes: int, palette: Palette) -> "Figure":
    """Draw write rates over what was written, with the fill, the cliff and the steady state.

    Parameters
    ----------
    courses
        Each with ``name``, ``rw``, ``start_bytes_per_s`` (of the burst before, or None),
        ``rates_bytes_per_s``, ``round_bytes``, ``fall`` (place of the steepest in the rates, or
        None) and ``steady_rounds`` (at the end, none if it did not come to rest).
    capacity_bytes
        What fills the drive once.
    palette
        Colours by role.
    """
    figure, axes = style.new_figure(palette, (8.8, 3.2))
    axes.set_yscale("log")
    for index, each in enumerate(courses):
        colour = getattr(palette, PATTERN_LOOK[each["rw"]][0])
        dash = ("-", (0, (4, 1.4)))[index % 2]
        rates = each["rates_bytes_per_s"]
        step = each["round_bytes"] / capacity_bytes
        x = [step * (place + 1) for place in range(len(rates))]
        if each["start_bytes_per_s"]:
            x, rates = [0.0, *x], [each["start_bytes_per_s"], *rates]
        axes.plot(x, rates, "o", color=colour, linestyle=dash, linewidth=1.4, markersize=2.4,
                  label=each["name"])  # fmt: skip
        steady = each["steady_rounds"]
        if steady:
            axes.plot(x[-steady:], rates[-steady:], color=colour, linewidth=5, alpha=0.35,
                      solid_capstyle="butt")  # fmt: skip
            _note(axes, (x[-1], rates[-1]), "steady", colour, (0, 7), "right")
        if each["fall"] is not None:
            place = each["fall"] + (1 if each["start_bytes_per_s"] else 0)
            axes.plot(x[place], rates[place], "v", color=colour, markersize=7)
            _note(axes, (x[place], rates[place]), each["fall_name"], colour, (5, -11), "left")
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.1, high * 1.25)
    axes.set_xlim(left=0)
    axes.axvline(1.0, color=palette.muted, linewidth=1, linestyle=(0, (3, 2)))
    axes.annotate("written once over", (1.0, 0.95), xycoords=("data", "axes fraction"),
                  xytext=(5, 0), textcoords="offset points", color=palette.muted, fontsize=8,
                  va="top")  # fmt: skip
    style.plain_log(axes.yaxis, style.rate_label)
    axes.set_xlabel("written, as a multiple of the capacity")
    style.legend(axes, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.995), ncols=4,
                 handlelength=3)  # fmt: skip
    return figure


def filling(
    written_bytes: Sequence[float], rates: Sequence[float], marks: Mapping[str, float],
    palette: Palette,
) -> "Figure":  # fmt: skip
    """Draw the rate of writes in order over how much was written, from 0 up.

    Parameters
    ----------
    written_bytes
        Behind each round, shape (n,).
    rates
        Of each round, in bytes per second, shape (n,).
    marks
        Places to mark by a name: bytes.
    """
    figure, axes = style.new_figure(palette, (8.8, 2.8))
    role, _, label = PATTERN_LOOK["write"]
    x = [each / GB for each in (0.0, *written_bytes)]
    y = [rates[0] / MB, *(rate / MB for rate in rates)]
    colour = getattr(palette, role)
    axes.fill_between(x, y, step="pre", color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, y, color=colour, drawstyle="steps-pre", linewidth=1.8, label=label)
    for name, at in marks.items():
        if at / GB <= x[-1]:
            axes.axvline(at / GB, color=palette.muted, linewidth=1, linestyle=(0, (3, 2)))
            _note(axes, (at / GB, max(y)), name, palette.muted, (4, 6), "left")
    axes.set_xlim(0, x[-1])
    axes.set_ylim(0, 1.15 * max(y))
    axes.set_xlabel("written in order (GB)")
    axes.set_ylabel("MB/s")
    return figure


def _note(axes: "Axes", at: tuple[float, float], word: str, colour: str,
          away: tuple[float, float], side: str) -> None:  # fmt: skip
    axes.annotate(
        word, at, xytext=away, textcoords="offset points", ha=side, color=colour, fontsize=8
    )


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
