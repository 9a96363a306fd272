"""The pictures of the detectors."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, style
from ssdscope.probes.literal import placement
from ssdscope.probes.literal.allocation import Gap
from ssdscope.stats import fit_line
from ssdscope.studies.ryu2009 import placing
from ssdscope.studies.ryu2009.detecting import Detecting, Subject
from ssdscope.studies.ryu2009.figure import canvas, written
from ssdscope.studies.ryu2009.management_block import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        axes.set_ylim(bottom=0, top=1.1 * means.max())
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


def lines(detecting: Detecting, path: Path) -> Path:
    """Draw measured response time by read size, and the line that says k = 1."""
    subjects = list(detecting.subjects)
    figure, axes_of = canvas(1, len(subjects), (4.2 * len(subjects), 3.6))
    for axes, subject in zip(axes_of, subjects, strict=True):
        sizes = np.array(subject.pages) * subject.page_bytes / 1024
        measured = detecting.curve(subject) / 1e3
        line = fit_line(sizes, measured)
        axes.plot(sizes, line.intercept + line.slope * sizes, color=LIGHT.s2, linewidth=1.1,
                  label="line")  # fmt: skip
        axes.plot(sizes, measured, "o", color=LIGHT.ink, markersize=3, label="measured")
        off = f"{subject.label}, {100 * line.max_relative_error:.1f} % from a line at most"
        _reads(axes, off)
        axes.set_ylim(bottom=0)
    axes_of[0].set_ylabel("mean response time (us)")
    style.legend(axes_of[0], LIGHT, loc="lower right")
    return written(figure, path)


def fits(detecting: Detecting, path: Path) -> Path:
    """Draw equation (2) fitted for every k, as printed and corrected, and how far it is off."""
    subjects = [
        each for each in detecting.subjects
        if each in placing.PAPER_PLACEMENT or detecting.target is not None
    ]  # fmt: skip
    forms, count = placing.FORMS, len(subjects)
    figure, panels = canvas(2 * count, len(forms), (4.2 * len(forms), 5.6 * count))
    for row, subject in enumerate(subjects):
        for column, form in enumerate(forms):
            above = 2 * row * len(forms) + column
            _fits(panels[above], panels[above + len(forms)], detecting, subject, form)
        panels[2 * row * len(forms)].set_ylabel("response time (us)")
        panels[(2 * row + 1) * len(forms)].set_ylabel("fit against measured (%)")
    style.legend(panels[0], LIGHT, loc="lower right")
    return written(figure, path)


def _fits(over: "Axes", below: "Axes", detecting: Detecting, subject: Subject, form: str) -> None:
    """Draw one form of the equation: the curves, and below them the differences."""
    sizes = np.array(subject.pages) * subject.page_bytes / 1024
    measured = detecting.curve(subject) / 1e3
    over.plot(sizes, measured, "o", color=LIGHT.ink, markersize=3, label="measured")
    below.axhline(0, color=LIGHT.ink, linewidth=0.8)
    fits = placing.fitted(detecting, subject, form)
    for index, fit in enumerate(sorted(fits, key=lambda each: each.placement.unit_pages)):
        times = placement.predicted(fit, subject.pages, printed=form == "as printed") / 1e3
        colour, label = LIGHT.series(index), f"k = {fit.placement.unit_pages}"
        over.plot(sizes, times, color=colour, linewidth=1.1, label=label)
        below.plot(sizes, 100 * (times / measured - 1), color=colour, linewidth=1.1)
    _reads(over, f"{subject.label}: equation (2) {form}")
    _reads(below, "")
    over.set_ylim(bottom=0)


def _reads(axes: "Axes", title: str) -> None:
    axes.set_title(title, loc="left", fontsize=10, color=LIGHT.ink)
    axes.set_xlabel("read size (KB)")
    axes.set_xticks(range(0, 129, 16))
