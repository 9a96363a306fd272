"""The pictures of the study: what was measured in, a figure out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ssdscope.plots import LIGHT, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MIB = 1 << 20
Times = npt.NDArray[np.int64]


def canvas(
    columns: int, *, rows: int = 1, width: float = 4.4, height: float = 3.0
) -> tuple["Figure", list["Axes"]]:
    """Make a figure with panels in the common look."""
    from matplotlib.figure import Figure

    size_inches = (width * columns, height * rows)
    figure = Figure(figsize=size_inches, layout="constrained", facecolor=LIGHT.surface)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        style.dress(axes, LIGHT)
    return figure, panels


def title(axes: "Axes", text: str) -> None:
    """Head a panel."""
    axes.set_title(text, loc="left", fontsize=9.4, color=LIGHT.ink)


def size(size_bytes: float) -> str:
    """Write a size for an axis or a claim: 512 KB, 1 MB."""
    if size_bytes >= MIB:
        return f"{size_bytes / MIB:g} MB"
    return f"{size_bytes / 1024:g} KB"


def milliseconds(axes: "Axes", *, log: bool = False) -> None:
    """Label the y axis as response times, given in ms."""
    axes.set_ylabel("response time (ms)")
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.minorticks_off()
    else:
        axes.set_ylim(bottom=0)


def mark(axes: "Axes", at: float, text: str) -> None:
    """Draw an upright line with a remark at its top."""
    axes.axvline(at, color=LIGHT.muted, linewidth=0.9, linestyle=(0, (3, 2)))
    axes.annotate(
        text,
        (at, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -9),
        textcoords="offset points",
        fontsize=7.8,
        color=LIGHT.muted,
    )


def limit(axes: "Axes", x: Any, y: Any) -> None:
    """End the y axis where nearly all points lie, and show what is above it by triangles."""
    most = float(np.max(y))
    top = 1.3 * float(np.quantile(y, 0.97))
    if most <= 1.5 * top:
        axes.set_ylim(0, 1.3 * most)
        return
    axes.set_ylim(0, top)
    above = np.asarray(y) > top
    axes.plot(np.asarray(x)[above], np.full(above.sum(), 0.97 * top), "^", color=LIGHT.s2)
    axes.annotate(
        f"{above.sum()} above, up to {most:,.0f}",
        (0.0, 1.0),
        xycoords="axes fraction",
        xytext=(3, -24),
        textcoords="offset points",
        fontsize=7.8,
        color=LIGHT.s2,
    )


def dots(
    axes: "Axes", times: Times, colour: str, label: str = "", *, size_points: float = 3.4
) -> None:
    """Draw response times by the number of the request."""
    number = np.arange(1, times.size + 1)
    axes.plot(number, times / 1e6, ".", color=colour, markersize=size_points, label=label)
    axes.set_xlabel("request")


class Rated(Protocol):
    """A point of a sweep over size and place."""

    @property
    def size(self) -> int:
        """Bytes written at once."""

    @property
    def shift(self) -> int:
        """Bytes from the edge of a block to where the write begins."""

    @property
    def rate(self) -> float:
        """Bytes per second."""

    @property
    def whole(self) -> bool:
        """Whether it covers whole effective blocks."""


def rates(axes: "Axes", points: Sequence[Rated], by: str, block: int) -> None:
    """Draw throughput against size or place; whole effective blocks stand out."""
    x = np.array([getattr(each, by) for each in points]) / MIB
    y = np.array([each.rate for each in points]) / 1e6
    whole = np.array([each.whole for each in points])
    axes.plot(x, y, "-", color=LIGHT.s1, linewidth=1.2)
    axes.plot(x[~whole], y[~whole], "o", color=LIGHT.s1, markersize=2.6, label="others")
    label = f"whole effective blocks of {size(block)}"
    axes.plot(x[whole], y[whole], "D", color=LIGHT.s2, markersize=5, label=label)
    axes.set_xlabel({"size": "written at once (MB)", "shift": "begins at (MB)"}[by])
    axes.set_ylabel("throughput (MB/s)")
    axes.set_ylim(bottom=0)


def two_rates(
    by_size: Sequence[Rated], by_place: Sequence[Rated], block: int, titles: tuple[str, str]
) -> "Figure":
    """Draw figure 14."""
    figure, (left, right) = canvas(2)
    rates(left, by_size, "size", block)
    rates(right, by_place, "shift", block)
    title(left, titles[0])
    title(right, titles[1])
    style.legend(left, LIGHT, loc="lower right")
    return figure


def places_and_periods(by_place: Sequence[Rated], times: Times, block: int) -> "Figure":
    """Draw figure 31."""
    figure, (left, right) = canvas(2)
    rates(left, by_place, "shift", block)
    title(left, f"(A) writes of {size(block)} by place; diamonds: at multiples of it")
    dots(right, times, LIGHT.s1)
    title(right, "(B) one place updated again and again, 4 KB each")
    milliseconds(right)
    return figure


def small_against_large(small: Times, large: Times) -> "Figure":
    """Draw figure 9."""
    figure, (axes,) = canvas(1, width=5.6)
    for times, colour, label in (
        (small, LIGHT.s2, "random writes of 4 KB"),
        (large, LIGHT.s1, "sequential writes of 2 MB"),
    ):
        dots(axes, times, colour, label)
    milliseconds(axes)
    style.legend(axes, LIGHT)
    return figure


def random_places(inside: tuple[Times, Times], over: tuple[Times, Times], block: int) -> "Figure":
    """Draw figure 15: places above, response times below; each pair is (offsets, times)."""
    figure, panels = canvas(2, rows=2, height=2.5)
    heads = (f"random within {size(block)}", "random over the drive")
    units = ((1024, "KB"), (1 << 30, "GB"))
    for column, (offsets, times) in enumerate((inside, over)):
        above, below = panels[column], panels[column + 2]
        scale, unit = units[column]
        number = np.arange(1, offsets.size + 1)
        above.plot(number, offsets / scale, ".", color=LIGHT.s8, markersize=2.6)
        above.set_ylabel(f"address ({unit})")
        title(above, heads[column])
        dots(below, times, LIGHT.s2 if column else LIGHT.s1)
        milliseconds(below, log=True)
    return figure


class Ranged(Protocol):
    """Random writes within a range."""

    @property
    def bytes(self) -> int:
        """The range."""

    @property
    def mean_ns(self) -> float:
        """Mean response time."""

    @property
    def median_ns(self) -> float:
        """Median response time."""


def ranges(points: Sequence[Ranged], sequential_ns: float, block: int) -> "Figure":
    """Draw figure 32."""
    figure, (axes,) = canvas(1, width=5.6)
    x = [each.bytes for each in points]
    for key, colour, look, label in (
        ("mean_ns", LIGHT.s2, "o-", "mean"),
        ("median_ns", LIGHT.s1, "s--", "median"),
    ):
        y = [getattr(each, key) / 1e6 for each in points]
        axes.plot(x, y, look, color=colour, markersize=4, linewidth=1.3, label=label)
    axes.axhline(sequential_ns / 1e6, color=LIGHT.s3, linewidth=1.1, label="sequential, mean")
    style.log_sizes(axes, x)
    milliseconds(axes, log=True)
    mark(axes, block, "effective block")
    axes.set_xlabel("range of random writes of 4 KB (bytes)")
    style.legend(axes, LIGHT, loc="upper left", bbox_to_anchor=(0, 0.9))
    return figure


def distances(runs: Mapping[int, Times], block: int) -> "Figure":
    """Draw figure 33: response times, one panel for each distance."""
    figure, panels = canvas(len(runs), width=2.4, height=2.6)
    top = max(float(times.max()) for times in runs.values()) / 1e6
    for axes, (distance, times) in zip(panels, runs.items(), strict=True):
        axes.vlines(np.arange(1, times.size + 1), 0, times / 1e6, color=LIGHT.s2, linewidth=1.3)
        title(axes, f"every {size(distance)}\n({distance / block:g} blocks)")
        axes.set_ylim(0, 1.06 * top)
        axes.set_xlabel("request")
    panels[0].set_ylabel("response time (ms)")
    return figure
