"""Figures 9 and 10: by how much the extended models are better than the basic ones.

Figure 9 is the share of the mean relative error that the extended characteristics take away,
figure 10 by what share R2 grows. The paper prints bars without numbers; both follow from its
tables II and III. A share of the error agrees if it is at least the paper's less 15 points. R2
says how much the paper's basic models left to gain, which ours need not: it agrees if the gain
leads as far up, to an R2 of at least the paper's less 0.02.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.plots import LIGHT, save, style
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting import tables
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy, Cell
from ssdscope.studies.huang2011.predicting.published import BASIC, EXTENDED, TARGETS, UNITS
from ssdscope.studies.huang2011.predicting.verdicts import R2_SHORT
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    "9": "Figure 9: what the extended characteristics take from the error",
    "10": "Figure 10: what the extended characteristics add to R2",
}
WHAT = {"9": "share of the error that is taken away", "10": "growth of R2"}
POINTS = 15.0
_Pairs = Sequence[tuple[Cell, Cell]]


def make(name: str, accuracy: Accuracy, folder: Path, progress: StageProgress) -> FigureResult:
    """Make figure 9 or 10, from the models of tables II and III."""
    basic, extended = (
        [held.cell for held in tables.measure(each, accuracy, within(progress, half, 2))]
        for half, each in enumerate(("II", "III"))
    )
    pairs = list(zip(basic, extended, strict=True))
    image = draw(name, pairs, folder / f"huang2011-figure{name}.svg")
    data = image.with_suffix(".csv")
    write(name, pairs, data)
    claims = [_claim(name, *pair) for pair in pairs]
    return FigureResult(name, TITLES[name], claims, image, data, table=table(name, pairs))


def improvement(name: str, basic: float, extended: float) -> float:
    """Say in percent by how much a number is better than that of a basic model."""
    if name == "9":
        return 100 * (1 - extended / basic)
    return 100 * (extended / basic - 1)


def paper(name: str, device: str, target: str) -> float:
    """Work the bar out from the paper's tables."""
    basic, extended = BASIC[target][device], EXTENDED[target][device]
    if name == "9":
        return improvement(name, basic.mre, extended.mre)
    return improvement(name, basic.r2, extended.r2)


def ours(name: str, basic: Cell, extended: Cell) -> float:
    """Work our bar out."""
    key = "mre" if name == "9" else "r2"
    return improvement(name, basic.in_sample[key], extended.in_sample[key])


def _claim(name: str, basic: Cell, extended: Cell) -> Claim:
    key = basic.device, basic.target
    what = f"{basic.device}: {UNITS[basic.target][0]}, {WHAT[name]}"
    bar, found = paper(name, *key), ours(name, basic, extended)
    if name == "9":
        holds, why = found >= bar - POINTS, f"{bar - found:.0f} points less"
    else:
        before, reached = basic.in_sample["r2"], extended.in_sample["r2"]
        holds = reached >= EXTENDED[basic.target][basic.device].r2 - R2_SHORT
        why = f"{before:.3f} grows to {reached:.3f}"
    return judging.claim(what, round(bar, 1), round(found, 2), "%", holds=holds, why=why)


def table(name: str, pairs: _Pairs) -> Table:
    """Lay out the bars."""
    rows = []
    for basic, extended in pairs:
        device, target = basic.device, basic.target
        bars = (paper(name, device, target), ours(name, basic, extended))
        rows.append((device, UNITS[target][0], *(f"{bar:.1f}" for bar in bars)))
    return Table(("device", "metric", "paper %", "ours %"), tuple(rows))


def draw(name: str, pairs: _Pairs, path: Path) -> Path:
    """Draw the bars, the paper's beside ours, a panel per metric, as SVG and PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 3.4), layout="constrained")
    figure.patch.set_facecolor(LIGHT.surface)
    panels = figure.subplots(1, len(TARGETS), squeeze=False).flat
    for axes, target in zip(panels, TARGETS, strict=True):
        style.dress(axes, LIGHT)
        _panel(axes, name, [pair for pair in pairs if pair[0].target == target])
        axes.set_title(UNITS[target][0], loc="left", fontsize=10, color=LIGHT.ink)
    figure.axes[0].set_ylabel("less error (%)" if name == "9" else "more R2 (%, log scale)")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path


def _panel(axes: "Axes", name: str, pairs: _Pairs) -> None:
    places = np.arange(len(pairs))
    bars = (
        ("paper", [paper(name, basic.device, basic.target) for basic, _ in pairs], LIGHT.s8, ""),
        ("ours", [ours(name, *pair) for pair in pairs], LIGHT.s1, "//"),
    )
    for side, (label, heights, colour, hatch) in zip((-0.2, 0.2), bars, strict=True):
        axes.bar(
            places + side, heights, 0.38, label=label, color=colour, hatch=hatch, edgecolor="white"
        )
    axes.set_xticks(places, [basic.device for basic, _ in pairs], fontsize=8)
    if name == "10":
        axes.set_yscale("symlog", linthresh=10)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def write(name: str, pairs: _Pairs, path: Path) -> None:
    """Write every bar as CSV."""
    with creating(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["device", "target", "paper_percent", "ours_percent"])
        for basic, extended in pairs:
            device, target = basic.device, basic.target
            values = (paper(name, device, target), ours(name, basic, extended))
            rows.writerow([device, target, *(f"{value:.3f}" for value in values)])
