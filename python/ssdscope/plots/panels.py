"""Panels of the papers' figures: a canvas, axes as the papers have them, and lines upon them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope.plots import style
from ssdscope.plots.style import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = Sequence[float] | npt.NDArray[Any]
MARKERS = "os^Dv"
SMALL_PT = 7.8
"""Of remarks within a panel."""
DASHED, DOTTED = (0, (4, 3)), (0, (1, 1.5))


def canvas(
    columns: int, *, rows: int = 1, width: float = 4.4, height: float = 3.0
) -> tuple["Figure", list["Axes"]]:
    """Make a figure with panels in the common look.

    Parameters
    ----------
    width, height
        Of one panel, in inches.
    """
    from matplotlib.figure import Figure

    size_inches = (width * columns, height * rows)
    figure = Figure(figsize=size_inches, layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        style.dress(axes, LIGHT)
    return figure, panels


def head(axes: "Axes", text: str) -> None:
    """Head a panel."""
    axes.set_title(text, loc="left", fontsize=9.4, color=LIGHT.ink)


def legend_below(figure: "Figure", axes: "Axes", columns: int) -> None:
    """Put the legend of one panel under all of them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )


@dataclass(frozen=True)
class Line:
    """A line of a panel: its points, and how it looks.

    Attributes
    ----------
    index
        Gives its colour and marker.
    size, width
        Of markers and of the line, in points; lines that lie upon each other go from wide to thin.
    """

    label: str | None
    x: Values
    y: Values
    index: int = 0
    size: float = 5.0
    width: float = 1.2
    dash: Any = "-"

    @property
    def colour(self) -> str:
        """The colour of its series."""
        return LIGHT.series(self.index)


def lines(axes: "Axes", drawn: Iterable[Line]) -> None:
    """Draw lines with hollow markers, so that one upon another still shows it."""
    for each in drawn:
        axes.plot(
            each.x,
            each.y,
            marker=MARKERS[each.index % len(MARKERS)],
            markersize=each.size,
            markerfacecolor="none",
            color=each.colour,
            linewidth=each.width,
            linestyle=each.dash,
            label=each.label,
        )


def size_axis(axes: "Axes", sizes_bytes: Sequence[int], name: str = "request size (KB)") -> None:
    """Make x a logarithmic axis of sizes, whose values are in KB."""
    axes.set_xscale("log", base=2)
    low, high = min(sizes_bytes) / 1024, max(sizes_bytes) / 1024
    powers = [2.0**power for power in range(-1, 21)]
    ticks = [each for each in powers if low <= each <= high]
    axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
    axes.minorticks_off()
    axes.set_xlabel(name)


def plain_log(axes: "Axes", name: str) -> None:
    """Make y a logarithmic axis with plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel(name)


def percent_axis(axes: "Axes", least: float, most: float, linear: float) -> None:
    """Make y an axis of differences in percent, linear up to some, then by powers."""
    axes.set_yscale("symlog", linthresh=linear)
    low, high = min(-1.0, 1.3 * least), max(linear, 1.6 * most)
    axes.set_ylim(low, high)
    powers = [each * 10**power for power in range(1, 5) for each in (1, 2, 5)]
    ticks = [0, 2, 4, 6, 8, *powers, *(-each for each in (2, 4, 6, 8, *powers))]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.minorticks_off()
    signed(axes)


def signed(axes: "Axes") -> None:
    """Write y as percentages with their sign."""
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g} %" if value else "0")


def paper_line(axes: "Axes", percent: float, *, right: bool = False) -> None:
    """Mark a percentage that the paper quotes, in words at one end."""
    axes.axhline(percent, color=LIGHT.muted, linewidth=0.9, linestyle=DASHED, zorder=1)
    axes.annotate(
        f"paper: {percent:g} %",
        (0.98 if right else 0.02, percent),
        xycoords=("axes fraction", "data"),
        ha="right" if right else "left",
        va="bottom",
        color=LIGHT.muted,
        fontsize=SMALL_PT,
    )


def remark(axes: "Axes", words: Iterable[str], place: tuple[float, float] = (0.02, 0.97)) -> None:
    """Write remarks where no line is: at a place, as shares of the axes."""
    axes.text(
        *place,
        "\n".join(dict.fromkeys(words)),
        ha="left" if place[0] < 0.5 else "right",
        va="top",
        transform=axes.transAxes,
        color=LIGHT.muted,
        fontsize=SMALL_PT,
    )


def centred(axes: "Axes", text: str) -> None:
    """Write a remark in the middle of a panel."""
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=LIGHT.muted)


def mark(axes: "Axes", at: float, text: str) -> None:
    """Draw an upright line with a remark at its top."""
    axes.axvline(at, color=LIGHT.muted, linewidth=0.9, linestyle=(0, (3, 2)))
    _from_corner(axes, text, (at, 1.0), ("data", "axes fraction"), -9, LIGHT.muted)


def milliseconds(axes: "Axes", *, log: bool = False) -> None:
    """Label y as response times, given in ms."""
    if log:
        plain_log(axes, "response time (ms)")
        axes.yaxis.minorticks_off()
    else:
        axes.set_ylabel("response time (ms)")
        axes.set_ylim(bottom=0)


def limit(axes: "Axes", x: Values, y: Values) -> None:
    """End y where nearly all points lie, and show what is above it by triangles."""
    most = float(np.max(y))
    top = 1.3 * float(np.quantile(y, 0.97))
    if most <= 1.5 * top:
        axes.set_ylim(0, 1.3 * most)
        return
    axes.set_ylim(0, top)
    above = np.asarray(y) > top
    axes.plot(np.asarray(x)[above], np.full(above.sum(), 0.97 * top), "^", color=LIGHT.s2)
    said = f"{above.sum()} above, up to {most:,.0f}"
    _from_corner(axes, said, (0.0, 1.0), "axes fraction", -24, LIGHT.s2)


def _from_corner(
    axes: "Axes", text: str, at: tuple[float, float], of: Any, down: int, colour: str
) -> None:
    axes.annotate(
        text,
        at,
        xycoords=of,
        xytext=(3, down),
        textcoords="offset points",
        fontsize=SMALL_PT,
        color=colour,
    )


@dataclass(frozen=True)
class Panel:
    """What a panel shows: lines, or bars upon each other.

    Attributes
    ----------
    x, y
        Names of the axes.
    bars
        Heights by the label of their part of the bars, under `names`.
    sizes, log
        Whether x is a logarithmic axis of bytes, and y a logarithmic one.
    marks
        Upright lines with a remark.
    level
        A lying line.
    legend
        Where it is; none if empty.
    limited
        Whether y ends where nearly all points lie.
    """

    head: str
    drawn: Sequence[Line] = ()
    x: str = ""
    y: str = ""
    bars: Mapping[str, Values] = field(default_factory=dict)
    names: Sequence[str] = ()
    sizes: bool = False
    log: bool = False
    marks: Sequence[tuple[float, str]] = ()
    level: tuple[float, str] | None = None
    legend: str = ""
    limited: bool = False

    def onto(self, axes: "Axes") -> None:
        """Draw it."""
        head(axes, self.head)
        lines(axes, self.drawn)
        self._bars(axes)
        if self.level is not None:
            axes.axhline(self.level[0], color=LIGHT.s3, linewidth=1.1, label=self.level[1])
        if self.sizes:
            style.log_sizes(axes, [value for each in self.drawn for value in each.x])
        axes.set_xlabel(self.x)
        self._scale(axes)
        for at, text in self.marks:
            mark(axes, at, text)
        if self.legend:
            style.legend(axes, LIGHT, loc=self.legend)

    def _bars(self, axes: "Axes") -> None:
        places = np.arange(len(self.names))
        bottom = np.zeros(len(self.names))
        for index, (label, heights) in enumerate(self.bars.items()):
            colour = LIGHT.series(index)
            axes.bar(places, heights, 0.6, bottom=bottom, color=colour, label=label or None)
            bottom += np.asarray(heights, dtype=float)
        if self.names:
            axes.set_xticks(places, list(self.names))

    def _scale(self, axes: "Axes") -> None:
        if self.log:
            plain_log(axes, self.y)
            axes.yaxis.minorticks_off()
            return
        axes.set_ylabel(self.y)
        if self.limited:
            x, y = (
                np.concatenate([np.asarray(getattr(each, name)) for each in self.drawn])
                for name in "xy"
            )
            limit(axes, x, y)
        else:
            axes.set_ylim(bottom=0, top=1.15 * axes.get_ylim()[1] if self.legend else None)


def in_panels(
    every: Sequence[Panel], *, rows: int = 1, width: float = 4.4, height: float = 3.0
) -> "Figure":
    """Draw panels beside each other, in so many rows."""
    columns = -(-len(every) // rows)
    figure, axes = canvas(columns, rows=rows, width=width, height=height)
    for each, panel in zip(axes, every, strict=False):
        panel.onto(each)
    for empty in axes[len(every) :]:
        empty.set_axis_off()
    return figure
