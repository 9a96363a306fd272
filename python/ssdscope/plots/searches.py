"""A search as a picture: a front of two figures or more, or the best of one so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.plots import style
from ssdscope.plots.style import Palette
from ssdscope.search.running import Found
from ssdscope.search.trials import DONE, RUN, STOPPED_EARLY, keeps_limits, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 12.0
"""A figure that varies by more has a logarithmic axis."""


@dataclass(frozen=True)
class Seen:
    """A trial that ran whole.

    Attributes
    ----------
    number
        Its place among the trials.
    values
        What is minimised.
    kept
        Whether it keeps all limits.
    best
        Whether it is one of the best.
    """

    number: int
    values: tuple[float, ...]
    kept: bool
    best: bool


def picture(found: Found, palette: Palette) -> "Figure":
    """Draw what a search found: a front, or of one figure the best so far."""
    run = [each for each in found.trials if each.status in RUN]
    best = {id(row.trial) for row in found.best}
    seen = [
        Seen(number, values_of(found.plan, each), keeps_limits(found.plan, each), id(each) in best)
        for number, each in enumerate(run, start=1)
        if each.status == DONE
    ]
    if not seen:
        raise UsageError("no trial was run to its end: there is nothing to draw")
    if len(found.plan.minimise) > 1:
        return front(seen, found.plan.minimise, palette)
    stopped = [number for number, each in enumerate(run, start=1) if each.status == STOPPED_EARLY]
    return course(seen, stopped, found.plan.minimise[0], palette)


def front(trials: Sequence[Seen], names: Sequence[str], palette: Palette) -> "Figure":
    """Draw the first figure against each of the others: every trial, and the front."""
    others = len(names) - 1
    figure = style.blank_figure(palette, (6.4, 4.0 * others))
    figure.patch.set_alpha(1)
    for place in range(1, len(names)):
        axes = figure.add_subplot(others, 1, place)
        style.dress(axes, palette)
        _points(axes, [(each.values[0], each.values[place], each) for each in trials], palette)
        best = sorted((each.values[0], each.values[place]) for each in trials if each.best)
        if best:
            line = "steps-post" if others == 1 else "default"
            axes.plot(
                *zip(*best, strict=True), color=palette.s1, linewidth=1.4, marker="o",
                markersize=5, drawstyle=line if others == 1 else None,
                linestyle="-" if others == 1 else "none", label="the front",
            )  # fmt: skip
        _axis(axes, "x", names[0], [each.values[0] for each in trials])
        _axis(axes, "y", names[place], [each.values[place] for each in trials])
        style.legend(axes, palette)
    return figure


def course(trials: Sequence[Seen], stopped: Sequence[int], name: str, palette: Palette) -> "Figure":
    """Draw every trial in its turn, and the best that kept all limits so far.

    `stopped` has the places of trials that were stopped early.
    """
    figure, axes = style.new_figure(palette, (6.4, 4.0))
    figure.patch.set_alpha(1)
    _points(axes, [(each.number, each.values[0], each) for each in trials], palette)
    xs: list[int] = []
    ys: list[float] = []
    for each in trials:
        if each.kept and (not ys or each.values[0] < ys[-1]):
            xs.append(each.number)
            ys.append(each.values[0])
    if ys:
        last = max([each.number for each in trials] + list(stopped))
        axes.plot(
            [*xs, last], [*ys, ys[-1]], color=palette.s1, linewidth=1.6,
            drawstyle="steps-post", label="the best so far",
        )  # fmt: skip
    if stopped:
        axes.plot(
            stopped, [0.02] * len(stopped), transform=axes.get_xaxis_transform(), marker="|",
            markersize=7, linestyle="none", color=palette.s2, label="stopped early",
        )  # fmt: skip
    _axis(axes, "y", name, [each.values[0] for each in trials])
    axes.set_xlabel("trial")
    style.legend(axes, palette)
    return figure


def _points(axes: "Axes", points: Sequence[tuple[float, float, Seen]], palette: Palette) -> None:
    within = "within the limits" if not all(each.kept for _, _, each in points) else "all trials"
    for kept, label in ((True, within), (False, "beyond a limit")):
        xs = [x for x, _, each in points if each.kept is kept]
        ys = [y for _, y, each in points if each.kept is kept]
        if xs:
            axes.plot(
                xs, ys, marker="o" if kept else "x", markersize=3.6, linestyle="none",
                color=palette.s8, label=label, alpha=0.9,
            )  # fmt: skip


def _axis(axes: "Axes", which: str, name: str, values: Sequence[float]) -> None:
    """Label an axis with the name of its figure, and its values with their unit."""
    from matplotlib.ticker import FuncFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(name)
    label = style.time_label if "_ns" in name else style.count_label
    positive = values and min(values) > 0
    if positive and max(values) / min(values) > WIDE:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        style.plain_log(axis, label)
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
