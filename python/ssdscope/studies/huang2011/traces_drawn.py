"""The picture of the replayed traces: the latency as it went on, and what was predicted."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.studies.huang2011.traces import Replayed
from ssdscope.workloads.windows import MINUTE_NS, SECOND_NS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETTING = "online"


def draw(found: Sequence[Replayed], path: Path) -> Path:
    """Draw a row of panels per trace, one per drive, as SVG and PNG."""
    from matplotlib.figure import Figure

    traces = list(dict.fromkeys(each.trace for each in found))
    drives = list(dict.fromkeys(each.drive for each in found))
    size = (3.4 * len(drives) + 0.6, 2.3 * len(traces) + 0.7)
    figure = Figure(figsize=size, layout="constrained")
    figure.patch.set_facecolor(LIGHT.surface)
    panels = figure.subplots(len(traces), len(drives), squeeze=False)
    for each in found:
        axes = panels[traces.index(each.trace), drives.index(each.drive)]
        style.dress(axes, LIGHT)
        _panel(axes, each)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path


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
    axes.set_title(f"{kind}{each.trace}, {each.drive}", loc="left", fontsize=9, color=LIGHT.ink)
    axes.set_xlabel("minute" if minutes else f"time (s), means of {scale:g} s")
    axes.set_ylabel("mean latency (ms)")
