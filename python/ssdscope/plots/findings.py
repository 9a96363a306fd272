"""The evidence of a finding, drawn: series by their look, what was fitted by its kind."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Axis,
    Contrast,
    Course,
    Exhibit,
    Fit,
    Line,
    Partition,
    Period,
    Recurrence,
    Series,
    Step,
)
from ssdscope.plots import style
from ssdscope.plots.pointing import set_unit
from ssdscope.plots.style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_DECADES_OF_A_LOG_AXIS = 0.35
"""Values that span less of a decade are shown on a plain axis, where ticks say more."""
HEADROOM = 1.08
"""Of an axis that begins at zero: what is greatest shall not lie on the edge."""
_MOST_MARKS = 8
"""Of a period; more are a fence."""
_MOST_NAMED = 4
"""Classes in the legend; of more the axis says which is which."""
_DASHES, _DOTS = (0, (3, 2)), (0, (1, 1.5))


def exhibit(shown: Exhibit, palette: Palette) -> "Figure":
    """Draw series on their axes, and what was fitted to them.

    Parameters
    ----------
    shown
        Of any probe.
    palette
        Colours by role.
    """
    figure, axes = style.new_figure(palette)
    for index, each in enumerate(shown.series):
        _draw(axes, each, palette.series(index))
    _scale(axes, shown.x, _values(shown, "x"), "x")
    _scale(axes, shown.y, _values(shown, "y"), "y")
    for fit in shown.fitted:
        _BY_KIND[type(fit)](axes, fit, shown, palette)
    axes.set_xlabel(shown.x.label)
    axes.set_ylabel(shown.y.label)
    if len(axes.get_legend_handles_labels()[1]) > 1:
        style.legend(axes, palette)
    return figure


def _draw(axes: "Axes", each: Series, colour: str) -> None:
    xs, ys = np.array(each.x, dtype=float), np.array(each.y, dtype=float)
    look: dict[str, Any] = {"color": colour, "label": each.name}
    match each.look:
        case "points" if each.low is not None and each.high is not None:
            ends = np.array([ys - np.array(each.low), np.array(each.high) - ys])
            axes.errorbar(
                xs, ys, yerr=np.maximum(ends, 0), fmt="o", markersize=3.4, linewidth=1, **look
            )
            return
        case "points":
            axes.plot(xs, ys, "o", markersize=3, alpha=0.8, **look)
        case "steps":
            axes.step(xs, ys, where="post", linewidth=1.4, **look)
        case "bars":
            width = float(np.min(np.diff(np.unique(xs)))) * 0.8 if len(np.unique(xs)) > 1 else 0.8
            axes.bar(xs, ys, width=width, **look)
        case _:
            axes.plot(xs, ys, "o-", markersize=2.4, linewidth=1.4, **look)
    if each.low is not None and each.high is not None:
        axes.fill_between(xs, each.low, each.high, color=colour, alpha=0.2, linewidth=0)


def _values(shown: Exhibit, name: str) -> "NDArray[Any]":
    parts = [np.array(getattr(each, name), dtype=float) for each in shown.series]
    values = np.concatenate(parts)
    return np.asarray(values[np.isfinite(values)])


def _scale(axes: "Axes", wanted: Axis, usable: "NDArray[Any]", name: str) -> None:
    """Give an axis its scale and labels with units; a log scale only where it helps."""
    positive = usable.size > 0 and bool((usable > 0).all())
    wide = positive and np.log10(usable.max() / usable.min()) > _DECADES_OF_A_LOG_AXIS
    axis = axes.xaxis if name == "x" else axes.yaxis
    label = style.LABELS.get(wanted.unit)
    set_unit(axis, wanted.unit)
    if wanted.log and wide:
        (axes.set_xscale if name == "x" else axes.set_yscale)("log")
        if name == "x" and wanted.unit in ("bytes", "depth"):
            (style.log_sizes if wanted.unit == "bytes" else style.log_depths)(axes, usable)
        elif wanted.unit == "ns":
            style.log_times(axis)
        else:
            style.plain_log(axis, label or style.count_label)
        return
    if name == "y" and positive:
        axes.set_ylim(0, max(axes.get_ylim()[1], HEADROOM * float(usable.max())))
    if wanted.unit == "bytes" and usable.size:
        axis.set_major_locator(style.binary_steps(float(np.ptp(usable))))
    if label is not None:
        axis.set_major_formatter(lambda value, _: label(value) if value else "0")


def _mark(axes: "Axes", place: float, word: str, palette: Palette) -> None:
    """Mark a place that is in view, with its word on the side where there is room."""
    low, high = axes.get_xlim()
    if low <= place <= high:
        across = axes.transAxes.inverted().transform(axes.transData.transform((place, 1)))[0]
        style.mark(axes, place, word, palette, dash=_DASHES, right=across < 0.5)


def _line(axes: "Axes", fit: Line, shown: Exhibit, palette: Palette) -> None:
    """Draw a line where it holds, and dashed where it does not."""
    ends = _values(shown, "x")
    for first, last, width, dash in (
        (fit.first, fit.last, 1.6, "-"),
        (ends.min(), fit.first, 1.0, _DASHES),
        (fit.last, ends.max(), 1.0, _DASHES),
    ):
        if first < last:
            places = (np.geomspace if first > 0 else np.linspace)(first, last, 200)
            label = fit.word if dash == "-" else None
            axes.plot(
                places, fit.at(places), color=palette.s2, linewidth=width, linestyle=dash,
                label=label,
            )  # fmt: skip


def _step(axes: "Axes", fit: Step, _shown: Exhibit, palette: Palette) -> None:
    """Mark a place, and shade its interval."""
    if fit.low is not None and fit.high is not None:
        view = axes.get_xlim()
        axes.axvspan(
            max(fit.low, view[0]), min(fit.high, view[1]), color=palette.s2, alpha=0.2, linewidth=0
        )
        axes.set_xlim(view)
    _mark(axes, fit.at, fit.word, palette)


def _course(axes: "Axes", fit: Course, _shown: Exhibit, palette: Palette) -> None:
    """Draw a curve over what was measured."""
    axes.plot(fit.x, fit.y, color=palette.s2, linewidth=1.6, label=fit.word)


def _period(axes: "Axes", fit: Period, _shown: Exhibit, palette: Palette) -> None:
    """Mark each beginning in view, the first with the word."""
    view = axes.get_xlim()
    first = int(np.ceil((max(view[0], 0.0) - fit.phase) / fit.period))
    last = int(np.floor((view[1] - fit.phase) / fit.period))
    for number in range(first, min(last, first + _MOST_MARKS - 1) + 1):
        word = fit.word if number == first else ""
        _mark(axes, fit.phase + number * fit.period, word, palette)


def _recurrence(axes: "Axes", fit: Recurrence, _shown: Exhibit, palette: Palette) -> None:
    """Mark each return in view, the first with the word."""
    for number in range(1, _MOST_MARKS + 1):
        _mark(axes, number * fit.every, fit.word if number == 1 else "", palette)


def _contrast(axes: "Axes", fit: Contrast, shown: Exhibit, palette: Palette) -> None:
    """Draw both means, each in the colour of its series."""
    colours = {each.name: palette.series(index) for index, each in enumerate(shown.series)}
    draw = axes.axvline if fit.axis == "x" else axes.axhline
    for name, mean in ((fit.one, fit.one_at), (fit.other, fit.other_at)):
        draw(mean, color=colours.get(name, palette.muted), linewidth=1, linestyle=_DOTS)


def _partition(axes: "Axes", fit: Partition, shown: Exhibit, palette: Palette) -> None:
    """Draw a row of ticks below the values for the members of each class."""
    count, named = len(shown.series), len(fit.names) <= _MOST_NAMED
    for index, (name, members) in enumerate(zip(fit.names, fit.members, strict=True)):
        axes.plot(
            members, np.full(len(members), 0.02), "|", markersize=7, label=name if named else None,
            color=palette.series(count + index), transform=axes.get_xaxis_transform(),
        )  # fmt: skip


_BY_KIND: dict[type[Fit], Callable[["Axes", Any, Exhibit, Palette], None]] = {
    Line: _line,
    Step: _step,
    Course: _course,
    Period: _period,
    Recurrence: _recurrence,
    Contrast: _contrast,
    Partition: _partition,
}
"""What draws each kind."""
