"""Several drives or runs in one picture."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdscope.plots import style
from ssdscope.plots.style import Palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LONG_NAME = 34


def relative(rows: Sequence[Mapping[str, Any]], palette: Palette) -> "Figure":
    """Draw values with intervals, a line for each, the first at the top.

    Parameters
    ----------
    rows
        ``name, value, half``; ``half`` may be None.
    palette
        Colours.
    """
    figure, axes = style.new_figure(palette, (8.8, 0.9 + 0.34 * len(rows)))
    for place, row in enumerate(rows):
        value, half = float(row["value"]), row["half"]
        axes.errorbar(
            [value],
            [place],
            xerr=None if half is None else [[min(half, 0.99 * value)], [half]],
            fmt=MARKERS[place % len(MARKERS)],
            color=palette.series(place),
            markersize=6,
            capsize=3,
        )
    if max(float(row["value"]) for row in rows) > 20:
        axes.set_xscale("log")
        style.plain_log(axes.xaxis, style.count_label)
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.axvline(1, color=palette.muted, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.set_yticks(range(len(rows)), [shortened(str(row["name"])) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("times as long as the fastest")
    return figure


def overlaid(
    lines: Sequence[Mapping[str, Any]], palette: Palette, span_ns: tuple[float, float]
) -> "Figure":
    """Draw latency against size or depth, a line for each, on a scale that is given.

    Parameters
    ----------
    lines
        ``name, place, points``; a point has ``x, axis, mean_ns, low_ns, high_ns``.
    palette
        Colours; each place has its own, and its marker.
    span_ns
        Least and greatest latency of all charts that belong together.
    """
    figure, axes = style.new_figure(palette)
    axes.set_yscale("log")
    axes.set_ylim(span_ns[0] / 1.5, span_ns[1] * 1.5)
    for line in lines:
        points, place = line["points"], int(line["place"])
        xs, ys = [p["x"] for p in points], [p["mean_ns"] for p in points]
        colour = palette.series(place)
        axes.plot(
            xs, ys, color=colour, marker=MARKERS[place % len(MARKERS)], markersize=4,
            linewidth=1.5, label=shortened(str(line["name"])),
        )  # fmt: skip
        if all(p["low_ns"] is not None for p in points):
            low = [max(p["low_ns"], span_ns[0] / 1.5) for p in points]
            axes.fill_between(
                xs, low, [p["high_ns"] for p in points], color=colour, alpha=0.2, linewidth=0
            )
    every = [p["x"] for line in lines for p in line["points"]]
    if lines[0]["points"][0]["axis"] == "size":
        style.log_sizes(axes, every)
        axes.set_xlabel("request size (bytes)")
    else:
        style.log_depths(axes, every)
        is_jobs = lines[0]["points"][0]["axis"] == "jobs"
        axes.set_xlabel("jobs" if is_jobs else "queue depth")
    style.log_times(axes.yaxis)
    style.legend(axes, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.995), ncols=1)
    return figure


def shortened(name: str) -> str:
    """Cut a long name in its middle."""
    if len(name) > LONG_NAME:
        name = f"{name[: LONG_NAME // 2]}…{name[-LONG_NAME // 2 :]}"
    return style.text(name)
