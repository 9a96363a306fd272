"""The pictures of the detectors."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ssdscope.plots import LIGHT, style
from ssdscope.studies.kuo2009.pictures import canvas, milliseconds, title

if TYPE_CHECKING:
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


def merges(counts: Mapping[str, Sequence[int]], kinds: Sequence[str]) -> "Figure":
    """Draw figure 29: merges by kind."""
    figure, (axes,) = canvas(1, width=5.0, height=2.4)
    left = np.zeros(len(counts))
    for index, kind in enumerate(kinds):
        width = np.array([each[index] for each in counts.values()], dtype=float)
        axes.barh(list(counts), width, 0.6, left=left, color=LIGHT.series(index), label=kind)
        left += width
    axes.set_xlabel("merges")
    axes.set_xlim(right=1.3 * float(left.max()))
    axes.invert_yaxis()
    style.legend(axes, LIGHT, loc="upper right")
    return figure


def cases(values: Mapping[str, float]) -> "Figure":
    """Draw figures 34 and 39: what is counted in each case."""
    figure, (axes,) = canvas(1, width=5.0, height=2.4)
    bars = axes.barh(list(values), list(values.values()), 0.6, color=LIGHT.s1)
    axes.bar_label(bars, fontsize=8, padding=3)
    axes.invert_yaxis()
    axes.set_xticks([])
    return figure


def by_size(rates: Mapping[str, Sequence[float]], sizes: Sequence[int]) -> "Figure":
    """Draw figure 30: throughput by size."""
    figure, panels = canvas(len(rates), width=3.4)
    for axes, (label, each) in zip(panels, rates.items(), strict=True):
        axes.plot(sizes, np.asarray(each) / 1e6, "o-", color=LIGHT.s1, markersize=4, linewidth=1.2)
        title(axes, label)
        style.log_sizes(axes, sizes)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("written at once (bytes)")
    panels[0].set_ylabel("throughput (MB/s)")
    return figure


def pairs(times: Mapping[str, Times]) -> "Figure":
    """Draw figure 35: response times at 0 and at 1 KB, by size."""
    figure, panels = canvas(len(times), width=3.2)
    for axes, (label, each) in zip(panels, times.items(), strict=True):
        sizes = np.arange(1, len(each) + 1)
        for column, (colour, at) in enumerate(((LIGHT.s1, "at 0 KB"), (LIGHT.s2, "at 1 KB"))):
            axes.plot(sizes, each[:, column] / 1e3, ".-", color=colour, linewidth=1, label=at)
        # One collection would flatten all the rest.
        axes.set_ylim(0, 1.3 * float(np.quantile(each, 0.97)) / 1e3)
        title(axes, label)
        axes.set_xlabel("size (KB)")
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
        if run.end is not None:
            axes.axvline(run.end / scale, color=LIGHT.muted, linewidth=0.9, linestyle=(0, (3, 2)))
        title(axes, run.label)
        axes.set_xlabel(f"at once ({unit})")
        milliseconds(axes)
        axes.set_ylim(top=1.3 * float(np.quantile(run.times_ns, 0.97)) / 1e6)
    return figure


def far(runs: Mapping[str, Times], random: Times | None = None) -> "Figure":
    """Draw figures 40 and 41: response times at B by its distance, and of random reads."""
    figure, panels = canvas(len(runs) + (random is not None), width=3.4)
    for axes, (label, times) in zip(panels, runs.items(), strict=False):
        axes.plot(np.arange(len(times)), times / 1e3, ".", color=LIGHT.s1, markersize=3)
        title(axes, label)
        axes.set_xlabel("distance of A and B (MB)")
        axes.set_ylim(0, 1.3 * float(np.quantile(times, 0.97)) / 1e3)
    if random is not None:
        panels[-1].plot(random / 1e3, ".", color=LIGHT.s2, markersize=3)
        panels[-1].set_xlabel("request")
        panels[-1].set_ylim(bottom=0)
        title(panels[-1], "(D) Samsung SLC, random reads")
    panels[0].set_ylabel("response time (us)")
    return figure
