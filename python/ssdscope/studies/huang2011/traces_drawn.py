"""The picture of the replayed traces: the latency as it went on, and what was predicted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, panels
from ssdscope.studies.huang2011.traces import Replayed
from ssdscope.workloads.windows import MINUTE_NS, SECOND_NS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETTING = "online"


def draw(found: Sequence[Replayed]) -> "Figure":
    """Draw a row of panels per trace, one per drive."""
    traces = list(dict.fromkeys(each.trace for each in found))
    drives = list(dict.fromkeys(each.drive for each in found))
    figure, axes = panels.canvas(len(drives), rows=len(traces), width=3.5, height=2.5)
    for each in found:
        place = traces.index(each.trace) * len(drives) + drives.index(each.drive)
        _panel(axes[place], each)
    panels.legend_below(figure, axes[0], 4)
    return figure


def _panel(axes: "Axes", each: Replayed) -> None:
    made = next(
        made for made in each.forecasts if (made.setting, made.target) == (SETTING, "latency_ns")
    )
    end = int(made.minutes[-1]) + 1
    latency_ms = each.minutes.targets["latency_ns"][:end] / 1e6
    minutes = each.scenario.interval_ns == MINUTE_NS
    scale = 1 if minutes else each.scenario.interval_ns / SECOND_NS
    predicted = made.minutes * scale
    axes.plot(np.arange(end) * scale, latency_ms, color=LIGHT.ink, linewidth=0.8, label="measured")
    low, high = made.interval.T / 1e6
    axes.fill_between(
        predicted, low, high, color=LIGHT.s1, alpha=0.2, linewidth=0, label="90 % interval"
    )
    axes.plot(predicted, made.predicted / 1e6, color=LIGHT.s1, linewidth=1.1, label="predicted")
    axes.axhline(
        made.median[0] / 1e6,
        color=LIGHT.s2,
        linewidth=0.8,
        linestyle=(0, (3, 2)),
        label="median of the training",
    )
    kind = "synthetic " if each.scenario.synthetic else ""
    panels.head(axes, f"{kind}{each.trace}, {each.drive}")
    axes.set_xlabel("minute" if minutes else f"time (s), means of {scale:g} s")
    axes.set_ylabel("mean latency (ms)")
