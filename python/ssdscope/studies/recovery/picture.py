"""The picture of the study: one bar per property, of what became of it on all drives."""

from collections.abc import Sequence
from pathlib import Path

from ssdscope.plots import LIGHT, save, style
from ssdscope.recovery.blind import Probed
from ssdscope.recovery.judge import Outcome
from ssdscope.studies.recovery import tally

_COLOURS = {
    Outcome.RIGHT: LIGHT.s3,
    Outcome.ABSENT_RIGHT: LIGHT.s7,
    Outcome.UNDETECTABLE: LIGHT.grid,
    Outcome.AMBIGUOUS: LIGHT.s5,
    Outcome.MISSED: LIGHT.s8,
    Outcome.WRONG: LIGHT.s2,
    Outcome.ABSENT_WRONG: LIGHT.s6,
}
"""From left to right: what is right, what is honest, what is wrong."""


def bars(drives: Sequence[Probed], image: Path) -> None:
    """Draw how many drives came out how, for every property, and write SVG and PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.8, 7.2), layout="constrained", facecolor=LIGHT.surface)
    axes = figure.subplots()
    style.dress(axes, LIGHT)
    names = tally.names_of(drives)
    tallies = [tally.of_property(drives, name) for name in names]
    places = range(len(tallies))
    lefts = [0] * len(tallies)
    for outcome, colour in _COLOURS.items():
        counts = [each.count(outcome) for each in tallies]
        axes.barh(
            places, counts, left=lefts, color=colour, label=str(outcome), height=0.72,
            edgecolor=LIGHT.surface, linewidth=0.6,
            hatch="////" if outcome in (Outcome.WRONG, Outcome.ABSENT_WRONG) else None,
        )  # fmt: skip
        lefts = [left + count for left, count in zip(lefts, counts, strict=True)]
    axes.set_yticks(places, names, fontsize=8.4)
    axes.invert_yaxis()
    axes.set_xlabel("drives")
    axes.set_xlim(0, max(len(drives), 1))
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8.4)
    save(figure, image)
    save(figure, image.with_suffix(".png"))
