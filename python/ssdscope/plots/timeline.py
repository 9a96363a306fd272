"""A run over time: IOPS, bandwidth and latency in windows, with the drops of the rate marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import style
from ssdscope.plots.style import PATTERN_LOOK, Palette
from ssdscope.results.timeline import Series, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE_INCHES = (8.8, 5.6)
HEIGHTS = (3, 2, 3)
"""Of the rate, the bandwidth and the latency."""
DASHES = ("-", (0, (4, 1.4)), (0, (1, 1)), (0, (4, 1, 1, 1)))
"""By which flows are told apart, beside their colours."""
MOST_NUMBERED = 20
"""Of more drops the numbers would hide each other."""


def timeline(shown: Timeline, palette: Palette) -> Figure:
    """Draw a run over time.

    Lines are steps, as wide as the windows. A percentile of several windows is a step over all of
    them.

    Parameters
    ----------
    shown
        The run.
    palette
        Colours by role.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    figure.patch.set_alpha(0)
    panels: Sequence[Axes] = figure.subplots(3, sharex=True, height_ratios=HEIGHTS)
    rate, bandwidth, latency = panels
    for axes in panels:
        style.dress(axes, palette)
        _drops(axes, shown, palette, numbered=axes is rate)
    lines = [each for each in shown.flows or shown.whole if each.op != "flush"]
    for place, series in enumerate(lines):
        look = {"color": _colour(series, place, shown, palette), "linestyle": DASHES[place % 4]}
        _steps(rate, shown, series.values("iops"), label=_plural(series), **look)
        _steps(bandwidth, shown, series.values("bandwidth_bytes_per_s"), **look)
        for name, width, dash in (("p50", 1.5, "-"), ("p99", 1.0, (0, (3, 1)))):
            values = series.values(f"{name}_ns")
            if not np.isnan(values).all():
                _steps(latency, shown, values, color=look["color"], linewidth=width,
                       linestyle=dash, label=f"{_plural(series)}, {name}")  # fmt: skip
    _label(rate, bandwidth, latency, palette)
    latency.set_xlim(0, shown.end_s)
    return figure


def _colour(series: Series, place: int, shown: Timeline, palette: Palette) -> str:
    """Colour reads and writes as everywhere, and flows one after the other."""
    look = PATTERN_LOOK.get(f"rand{series.op}")
    if shown.flows or look is None:
        return palette.series(place)
    return str(getattr(palette, look[0]))


def _plural(series: Series) -> str:
    return series.name + ("s" if series.op in ("read", "write", "discard") else "")


def _steps(axes: Axes, shown: Timeline, values: np.ndarray, **look: Any) -> None:
    edges = np.append(shown.begin_s, shown.end_s)
    # Lines, not stairs: where a value is not known a line has a gap, and a single one a dot.
    axes.plot(
        edges,
        np.append(values, values[-1:]),
        **{"drawstyle": "steps-post", "linewidth": 1.3, **look},
    )


def _drops(axes: Axes, shown: Timeline, palette: Palette, *, numbered: bool) -> None:
    """Shade the drops; the rate's panel has their numbers."""
    drops = shown.document["drops"]
    for number, drop in enumerate(drops, start=1):
        begin = drop["begin_ns"] / 1e9
        end = shown.end_s if drop["end_ns"] is None else drop["end_ns"] / 1e9
        axes.axvspan(begin, end, color=palette.s2, alpha=0.09, linewidth=0)
        if numbered and len(drops) <= MOST_NUMBERED:
            axes.annotate(
                f"{number}", (begin, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3),
                textcoords="offset points", va="top", color=palette.s2, fontsize=8.4,
            )  # fmt: skip


def _label(rate: Axes, bandwidth: Axes, latency: Axes, palette: Palette) -> None:
    from matplotlib.ticker import FuncFormatter

    for axes, label, name in (
        (rate, style.count_label, "IOPS"),
        (bandwidth, style.rate_label, "bandwidth"),
    ):
        axes.set_ylim(0, 1.1 * max(axes.get_ylim()[1] / 1.05, 1e-9))
        axes.yaxis.set_major_formatter(FuncFormatter(_or_zero(label)))
        axes.set_ylabel(name)
    latency.set_ylabel("latency")
    if latency.lines:
        latency.set_yscale("log")
        style.log_times(latency.yaxis)
        style.legend(latency, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=4)
    else:
        latency.set_yticks([])
        latency.annotate("too few requests for percentiles", (0.5, 0.5), ha="center",
                         xycoords="axes fraction", color=palette.muted, fontsize=8)  # fmt: skip
    latency.set_xlabel("time")
    seconds = _or_zero(lambda value: style.time_label(value * 1e9))
    latency.xaxis.set_major_formatter(FuncFormatter(seconds))
    if rate.lines:
        style.legend(rate, palette, loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4)


def _or_zero(label: Callable[[float], str]) -> Callable[[float, object], str]:
    """Write nothing as 0, without a unit."""
    return lambda value, _: label(value) if value else "0"
