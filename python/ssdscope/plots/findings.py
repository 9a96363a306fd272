"""The picture that a probe describes, drawn: one function for all of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.plots import style
from ssdscope.plots.style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DECADES_OF_A_LOG_AXIS = 0.35
"""Values that span less of a decade are shown on a plain axis, where ticks say more."""


def picture(described: Mapping[str, Any], palette: Palette) -> "Figure":
    """Draw a picture of a finding.

    Parameters
    ----------
    described
        As `ssdscope.probes.picture.Picture.to_json` gives it.
    palette
        Colours by role.
    """
    figure, axes = style.new_figure(palette)
    for index, each in enumerate(described["series"]):
        _draw(axes, each, palette.series(index))
    _scale(axes, described, "x")
    _scale(axes, described, "y")
    for place, word in described["marks"]:
        _mark(axes, place, word, palette)
    axes.set_xlabel(described["x"]["label"])
    axes.set_ylabel(described["y"]["label"])
    if len(described["series"]) > 1:
        style.legend(axes, palette)
    return figure


def _draw(axes: "Axes", each: Mapping[str, Any], colour: str) -> None:
    xs, ys = np.array(each["x"], dtype=float), np.array(each["y"], dtype=float)
    if each["low"] is not None and each["high"] is not None:
        axes.fill_between(xs, each["low"], each["high"], color=colour, alpha=0.2, linewidth=0)
    look: dict[str, Any] = {"color": colour, "label": each["name"]}
    match each["look"]:
        case "points":
            axes.plot(xs, ys, "o", markersize=3, alpha=0.8, **look)
        case "steps":
            axes.step(xs, ys, where="post", linewidth=1.4, **look)
        case "bars":
            width = float(np.min(np.diff(np.unique(xs)))) * 0.8 if len(np.unique(xs)) > 1 else 0.8
            axes.bar(xs, ys, width=width, **look)
        case _:
            axes.plot(xs, ys, "o-", markersize=2.4, linewidth=1.4, **look)


def _values(described: Mapping[str, Any], name: str) -> "np.ndarray[Any, Any]":
    parts = [np.array(each[name], dtype=float) for each in described["series"]]
    return np.concatenate(parts) if parts else np.empty(0)


def _scale(axes: "Axes", described: Mapping[str, Any], name: str) -> None:
    """Give an axis its scale and labels with units; a log scale only where it helps."""
    wanted = described[name]
    values = _values(described, name)
    usable = values[np.isfinite(values)]
    positive = usable.size > 0 and bool((usable > 0).all())
    wide = positive and np.log10(usable.max() / usable.min()) > _DECADES_OF_A_LOG_AXIS
    axis = axes.xaxis if name == "x" else axes.yaxis
    label = style.LABELS.get(wanted["unit"])
    if wanted["log"] and wide:
        (axes.set_xscale if name == "x" else axes.set_yscale)("log")
        if name == "x" and wanted["unit"] == "bytes":
            style.log_sizes(axes, usable)
        elif wanted["unit"] == "ns":
            style.log_times(axis)
        elif label is not None:
            style.plain_log(axis, label)
        return
    if name == "y" and positive:
        axes.set_ylim(bottom=0)
    if wanted["unit"] == "bytes" and usable.size:
        axis.set_major_locator(style.binary_steps(float(np.ptp(usable))))
    if label is not None:
        axis.set_major_formatter(lambda value, _: label(value) if value else "0")


def _mark(axes: "Axes", place: float, word: str, palette: Palette) -> None:
    """Mark a place that is in the picture, with its word on the side where there is room."""
    low, high = axes.get_xlim()
    if low <= place <= high:
        across = axes.transAxes.inverted().transform(axes.transData.transform((place, 1)))[0]
        style.mark(axes, place, word, palette, dash=(0, (3, 2)), right=across < 0.5)
