"""The pictures of the detectors."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ssdscope.plots import LIGHT, style
from ssdscope.studies.kuo2009.pictures import canvas, limit, mark, milliseconds, size, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Times = npt.NDArray[Any]


class Grown(Protocol):
    """Response times by how much is asked for at once."""

    @property
    def label(self) -> str:
        """Of its panel."""

    @property
    def sizes(self) -> Sequence[int]:
        """Bytes."""

    @property
    def times_ns(self) -> Times:
        """Response times."""

    @property
    def end(self) -> int | None:
        """Where the procedure sees the buffer end."""

    @property
    def paper(self) -> int | None:
        """Where the paper's did."""


def by_size(
    rates: Mapping[str, Sequence[float]],
    sizes: Sequence[int],
    found: Mapping[str, int | None],
    paper: Mapping[str, int | None],
) -> "Figure":
    """Draw figure 30: throughput by size, with the size that was detected and the paper's."""
    figure, panels = canvas(len(rates), width=3.4)
    for axes, (label, each) in zip(panels, rates.items(), strict=True):
        axes.plot(sizes, np.asarray(each) / 1e6, "o-", color=LIGHT.s1, markersize=4, linewidth=1.2)
        title(axes, label)
        style.log_sizes(axes, sizes)
        axes.set_ylim(0, 1.15 * max(each) / 1e6)
        axes.set_xlabel("written at once (bytes)")
        _detected(axes, found[label], paper[label], 1)
    panels[0].set_ylabel("throughput (MB/s)")
    return figure


def _detected(axes: "Axes", found: int | None, paper: int | None, scale: int) -> None:
    """Mark a detected size, and say the paper's beside it."""
    if found is None:
        title(axes, f"{axes.get_title(loc='left')}: none found")
        return
    says = "" if paper is None else f", paper {size(paper)}"
    mark(axes, found / scale, f"detected {size(found)}{says}")


def pairs(
    times: Mapping[str, Times],
    found: Mapping[str, int | None],
    paper: Mapping[str, int | None],
) -> "Figure":
    """Draw figure 35: response times at 0 and at 1 KB, by size; marked what was detected."""
    figure, panels = canvas(len(times), width=3.2)
    for axes, (label, each) in zip(panels, times.items(), strict=True):
        sizes = np.arange(1, len(each) + 1)
        for column, (colour, at) in enumerate(((LIGHT.s1, "at 0 KB"), (LIGHT.s2, "at 1 KB"))):
            axes.plot(sizes, each[:, column] / 1e3, ".-", color=colour, linewidth=1, label=at)
        # One collection would flatten all the rest.
        limit(axes, np.repeat(sizes, 2), each.ravel() / 1e3)
        title(axes, label)
        axes.set_xlabel("size (KB)")
        if label in found:
            _detected(axes, found[label], paper[label], 1024)
    panels[0].set_ylabel("response time (us)")
    style.legend(panels[0], LIGHT, loc="lower right")
    return figure


def growing(runs: Sequence[Grown]) -> "Figure":
    """Draw figures 37 and 38: response times by how much is written, or read again."""
    figure, panels = canvas(len(runs), width=3.4)
    for axes, run in zip(panels, runs, strict=True):
        large = run.sizes[-1] >= 1 << 20
        scale, unit = (1 << 20, "MB") if large else (1024, "KB")
        x = np.asarray(run.sizes) / scale
        axes.plot(x, run.times_ns / 1e6, ".", color=LIGHT.s1, markersize=3)
        title(axes, run.label)
        if run.end is not None or run.paper is not None:
            _detected(axes, run.end, run.paper, scale)
        axes.set_xlabel(f"at once ({unit})")
        milliseconds(axes)
        limit(axes, x, run.times_ns / 1e6)
    return figure


def far(
    runs: Mapping[str, Times],
    random: Times | None = None,
    marks: Mapping[str, tuple[int | None, int | None]] | None = None,
) -> "Figure":
    """Draw figures 40 and 41: response times at B by its distance, and of random reads.

    Parameters
    ----------
    marks
        Where the procedure detects the zone, and the paper did, in bytes, by run.
    """
    figure, panels = canvas(len(runs) + (random is not None), width=3.4)
    for axes, (label, times) in zip(panels, runs.items(), strict=False):
        x = np.arange(len(times))
        axes.plot(x, times / 1e3, ".", color=LIGHT.s1, markersize=3)
        title(axes, label)
        axes.set_xlabel("distance of A and B (MB)")
        limit(axes, x, times / 1e3)
        if label in (marks or {}):
            _detected(axes, *(marks or {})[label], 1 << 20)
    if random is not None:
        panels[-1].plot(random / 1e3, ".", color=LIGHT.s2, markersize=3)
        panels[-1].set_xlabel("request")
        limit(panels[-1], np.arange(random.size), random / 1e3)
        title(panels[-1], "(D) Samsung SLC, random reads")
    panels[0].set_ylabel("response time (us)")
    return figure
