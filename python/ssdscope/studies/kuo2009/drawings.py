"""The pictures of pages, layouts, buffers and zones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ssdscope.plots import LIGHT, style
from ssdscope.studies.kuo2009.pictures import canvas, dots, mark, milliseconds, size, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Costed(Protocol):
    """What a write of one size takes."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def mean_ns(self) -> float:
        """Mean response time."""

    @property
    def rmw_ns(self) -> float:
        """Time of it spent reading."""


def small_writes(costs: Mapping[str, Sequence[Costed]], pages: Mapping[str, int]) -> "Figure":
    """Draw figure 17: response times by size, and the part that goes into reading."""
    figure, panels = canvas(len(costs))
    for axes, (drive, points) in zip(panels, costs.items(), strict=True):
        x = np.array([each.size for each in points]) / 1024
        whole = np.array([each.mean_ns for each in points]) / 1e6
        reading = np.array([each.rmw_ns for each in points]) / 1e6
        width = 0.8 * (x[1] - x[0])
        axes.bar(x, whole - reading, width, color=LIGHT.s1, label="write")
        axes.bar(
            x, reading, width, bottom=whole - reading, color=LIGHT.s2, label="read what is kept"
        )
        title(axes, f"{drive}, effective page {size(pages[drive])}")
        axes.set_xlabel("written at once (KB)")
        milliseconds(axes)
        axes.set_ylim(top=1.25 * whole.max())
        style.legend(axes, LIGHT, loc="upper left", ncols=2)
    return figure


def page_spans(
    spans: Mapping[str, tuple[int, int]], times_ns: Iterable[float], page_sectors: int
) -> "Figure":
    """Draw figure 18: which sectors of which pages a write covers, and how long it takes."""
    figure, (axes,) = canvas(1, width=6.4, height=2.2)
    for row, ((label, (first, count)), time) in enumerate(
        zip(spans.items(), times_ns, strict=True)
    ):
        touched = range(first // page_sectors, -(-(first + count) // page_sectors))
        for page in touched:
            start = page * page_sectors
            partly = start < first or start + page_sectors > first + count
            axes.barh(
                row,
                page_sectors,
                0.8,
                left=start,
                facecolor="none",
                edgecolor=LIGHT.s2 if partly else LIGHT.muted,
                hatch="////" if partly else None,
                linewidth=0.8,
            )
        axes.barh(row, count, 0.36, left=first, color=LIGHT.s1)
        axes.text(16.4, row, f"{label}\n{time / 1e3:.0f} µs", va="center", fontsize=8.2)
    _sector_axis(axes, 16, page_sectors)
    axes.set_xlim(0, 21)
    axes.set_yticks([])
    axes.invert_yaxis()
    title(axes, "hatched: read, modified and written")
    return figure


def _sector_axis(axes: "Axes", sectors: int, page_sectors: int, first: int = 0) -> None:
    edges = np.arange(first, first + sectors + 1, page_sectors)
    axes.set_xticks(edges, [str(edge) for edge in edges])
    axes.set_xlabel("sector")


def sequential_pieces(
    streams: Mapping[str, tuple[Mapping[str, int], float]], head: str
) -> "Figure":
    """Draw figure 19: merges by kind, and time, of streams that differ in one thing."""
    figure, (left, right) = canvas(2, width=3.6, height=2.7)
    places = np.arange(len(streams))
    bottom = np.zeros(len(streams))
    for index, kind in enumerate(("switch", "partial", "full")):
        heights = np.array([merges[kind] for merges, _ in streams.values()])
        left.bar(places, heights, 0.5, bottom=bottom, color=LIGHT.series(index), label=kind)
        bottom += heights
    left.set_ylabel("merges")
    left.set_ylim(top=1.25 * bottom.max())
    style.legend(left, LIGHT, loc="upper left", ncols=3)
    right.bar(places, [seconds for _, seconds in streams.values()], 0.5, color=LIGHT.s8)
    right.set_ylabel("time (s)")
    title(left, head)
    title(right, "time of the whole")
    for axes in (left, right):
        axes.set_xticks(places, list(streams))
    return figure


def sizes(size_bytes: Any, writes_ns: Any, reads_ns: Any, page: int) -> "Figure":
    """Draw figure 36: response times of writes and reads by size."""
    figure, panels = canvas(2)
    for axes, times, colour, head in (
        (panels[0], writes_ns, LIGHT.s2, "writes"),
        (panels[1], reads_ns, LIGHT.s1, "reads"),
    ):
        x = size_bytes / 1024
        axes.plot(x, times / 1e6, "o-", color=colour, markersize=2.6, linewidth=1)
        whole = size_bytes % page == 0
        axes.plot(
            x[whole],
            times[whole] / 1e6,
            "D",
            color=LIGHT.ink,
            markersize=3.6,
            label=f"multiples of {size(page)}",
        )
        axes.set_xlabel("size (KB)")
        milliseconds(axes)
        title(axes, head)
    style.legend(panels[0], LIGHT, loc="lower right")
    return figure


class Reads(Protocol):
    """Random reads within some zones."""

    @property
    def zones(self) -> float:
        """The range, in zones."""

    @property
    def times_ns(self) -> Any:
        """Response times."""


def zones(inside: Reads, over: Reads, runs: Sequence[Reads], zone: int) -> "Figure":
    """Draw figure 24: response times within and over zones, and their mean by range."""
    figure, (left, right) = canvas(2)
    # Smaller dots in front: both lines have a level in common.
    for reads, colour, dot in ((inside, LIGHT.s1, 8), (over, LIGHT.s2, 3.4)):
        label = f"within {reads.zones:g} zone{'' if reads.zones == 1 else 's'}"
        dots(left, reads.times_ns, colour, label, size_points=dot)
    milliseconds(left)
    left.set_ylim(top=1.2 * max(float(each.times_ns.max()) for each in runs) / 1e6)
    style.legend(left, LIGHT, loc="upper left", ncols=2)
    title(left, "random reads of 4 KB")
    x = [each.zones * zone for each in runs]
    means = [float(each.times_ns.mean()) / 1e6 for each in runs]
    right.plot(x, means, "o-", color=LIGHT.s1, markersize=4, linewidth=1.3)
    style.log_sizes(right, x)
    milliseconds(right)
    mark(right, zone, f"zone, {size(zone)}")
    right.set_xlabel("range of the reads (bytes)")
    right.set_ylabel("mean response time (ms)")
    return figure


class Swept(Protocol):
    """Response times by how much is written at once."""

    @property
    def label(self) -> str:
        """The drive."""

    @property
    def sizes(self) -> Any:
        """Bytes."""

    @property
    def times_ns(self) -> Any:
        """Response times."""

    @property
    def knee(self) -> int | None:
        """The last size before the times leave their line."""


def buffers(runs: Sequence[Swept]) -> "Figure":
    """Draw figure 22: one panel for each run."""
    figure, panels = canvas(2, rows=2, height=2.5)
    for axes, run in zip(panels, runs, strict=True):
        large = run.sizes[-1] >= 1 << 20
        scale, unit = (1 << 20, "MB") if large else (1 << 10, "KB")
        axes.plot(run.sizes / scale, run.times_ns / 1e6, "o-", color=LIGHT.s1, markersize=2.8)
        milliseconds(axes)
        if run.knee is not None:
            mark(axes, run.knee / scale, size(run.knee))
        axes.set_xlabel(f"written at once ({unit})")
        title(axes, run.label)
    return figure


def reordered(merges: Mapping[str, Mapping[str, int]], times_ns: Mapping[str, int]) -> "Figure":
    """Draw figure 21: merges by kind, and time, with the write buffer off and on."""
    streams = {f"buffer {name}": (counts, times_ns[name] / 1e9) for name, counts in merges.items()}
    return sequential_pieces(streams, "pages out of order")
