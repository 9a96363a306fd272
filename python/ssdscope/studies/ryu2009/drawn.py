"""The pictures of the detectors."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ssdscope.plots import LIGHT, style
from ssdscope.probes.literal import placement
from ssdscope.probes.literal.allocation import Gap
from ssdscope.studies.ryu2009 import placing
from ssdscope.studies.ryu2009.detecting import Detecting
from ssdscope.studies.ryu2009.figure import canvas, written
from ssdscope.studies.ryu2009.management_block import Measured

PERIODS = 6
"""How many management blocks of a sweep are drawn."""
WITHOUT_PAPER = 48
"""Positions that are drawn where the paper knows no block."""


def sweeps(found: Measured, path: Path) -> Path:
    """Draw figure 6's means by position, and which the repaired reading collects."""
    figure, axes_of = canvas(2, -(-len(found) // 2), (4.0 * -(-len(found) // 2), 5.6))
    for axes, ((subject, sweep), each) in zip(axes_of, found.items(), strict=False):
        block = subject.paper_bytes
        count = PERIODS * block // sweep.shift_bytes if block else WITHOUT_PAPER
        means = each.mean_ns[:count] / 1e3
        offsets = np.arange(means.size) * sweep.shift_bytes / 1024
        axes.plot(offsets, means, ".-", color=LIGHT.s1, linewidth=1, label="mean of the chunks")
        chosen = [position for position in each.repaired.positions if position < means.size]
        axes.plot(offsets[chosen], means[chosen], "D", color=LIGHT.s2, label="collected")
        label = f"{subject.label}, writes of {sweep.write_bytes // 1024} KB"
        axes.set_title(label, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("position (KB)")
        axes.set_ylim(bottom=0)
    for axes in axes_of[len(found) :]:
        axes.set_axis_off()
    axes_of[0].set_ylabel("response time (us)")
    style.legend(axes_of[0], LIGHT, loc="lower right")
    return written(figure, path)


def orders(gaps: Mapping[str, Gap], path: Path) -> Path:
    """Draw T1 and T2 of every drive."""
    figure, (axes,) = canvas(1, 1, (5.6, 3.2))
    places = np.arange(len(gaps))
    for shift, colour, label, times in (
        (-0.2, LIGHT.s2, "T1, after random writes", [each.t1_ns for each in gaps.values()]),
        (0.2, LIGHT.s1, "T2, after sequential writes", [each.t2_ns for each in gaps.values()]),
    ):
        axes.bar(places + shift, np.array(times) / 1e3, 0.38, color=colour, label=label)
    axes.set_xticks(places, list(gaps))
    axes.set_ylim(top=1.35 * max(each.t1_ns for each in gaps.values()) / 1e3)
    axes.set_ylabel("mean time of a read (us)")
    style.legend(axes, LIGHT, loc="upper right")
    return written(figure, path)


def curves(detecting: Detecting, path: Path) -> Path:
    """Draw measured response time by read size, with equation (2) fitted for every k."""
    subjects = list(detecting.subjects)
    figure, axes_of = canvas(1, len(subjects), (4.2 * len(subjects), 3.6))
    for axes, subject in zip(axes_of, subjects, strict=True):
        sizes = np.array(subject.pages) * subject.page_bytes / 1024
        measured = detecting.curve(subject) / 1e3
        axes.plot(sizes, measured, "o", color=LIGHT.ink, markersize=3, label="measured")
        fits = sorted(placing.fitted(detecting, subject), key=lambda fit: fit.placement.unit_pages)
        for index, fit in enumerate(fits):
            label = f"(2) and a link, k = {fit.placement.unit_pages}"
            times = placement.predicted(fit, subject.pages) / 1e3
            axes.plot(sizes, times, color=LIGHT.series(index), linewidth=1.1, label=label)
        axes.set_title(subject.label, loc="left", fontsize=10, color=LIGHT.ink)
        axes.set_xlabel("read size (KB)")
        axes.set_ylim(bottom=0)
    axes_of[0].set_ylabel("mean response time (us)")
    style.legend(axes_of[0], LIGHT, loc="lower right")
    return written(figure, path)
