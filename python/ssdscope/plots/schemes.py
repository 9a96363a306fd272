"""Drawings of blocks, pages and timings, as the thesis has them: boxes in rows, bars in lanes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.plots import LIGHT
from ssdscope.plots.panels import canvas, head

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {
    "plain": ("none", LIGHT.ink),
    "first": (LIGHT.s1, LIGHT.surface),
    "second": (LIGHT.s2, LIGHT.surface),
    "third": (LIGHT.s3, LIGHT.surface),
    "kept": ("#d5e3f7", LIGHT.ink),
    "stale": (LIGHT.grid, LIGHT.muted),
}
"""Colours of a box and of what is written on it."""


@dataclass(frozen=True)
class Box:
    """A page, a block, a sector: a box in a row.

    Attributes
    ----------
    look
        One of `LOOKS`.
    hatched
        Read, modified and written.
    """

    text: str = ""
    look: str = "plain"
    hatched: bool = False
    width: float = 1.0


def bare(axes: "Axes", width: float, height: float) -> None:
    """Take everything but what will be drawn away, and fix the extent; y grows downwards."""
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)


def row(axes: "Axes", x: float, y: float, boxes: Sequence[Box], tail: str = "") -> float:
    """Draw boxes side by side, with a remark behind them, and give where they end."""
    from matplotlib.patches import Rectangle

    for box in boxes:
        fill, ink = LOOKS[box.look]
        axes.add_patch(
            Rectangle((x, y), box.width, 0.8, facecolor=fill, edgecolor=LIGHT.ink, linewidth=0.7)
        )
        if box.hatched:
            _hatch(axes, x, y, box.width)
        axes.text(
            x + box.width / 2,
            y + (0.3 if box.hatched else 0.4),
            box.text,
            ha="center",
            va="center",
            fontsize=7.4,
            color=ink,
        )
        x += box.width
    if tail:
        axes.text(x + 0.2, y + 0.4, tail, va="center", fontsize=8, color=LIGHT.ink)
    return x


def _hatch(axes: "Axes", x: float, y: float, width: float) -> None:
    """Hatch the lower part of a box, so that what is written on it stays readable."""
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (x, y + 0.52),
            width,
            0.28,
            facecolor=LIGHT.surface,
            edgecolor=LIGHT.ink,
            hatch="//////",
            linewidth=0.7,
        )
    )


def note(axes: "Axes", x: float, y: float, text: str, *, muted: bool = False) -> None:
    """Write a remark whose left end is at a place."""
    colour = LIGHT.muted if muted else LIGHT.ink
    axes.text(x, y, text, ha="left", va="bottom", fontsize=8, color=colour)


def arrow(axes: "Axes", begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow: copied to."""
    axes.annotate(
        "",
        end,
        begin,
        arrowprops={"arrowstyle": "-|>", "color": LIGHT.s2, "linewidth": 1.0},
    )


@dataclass(frozen=True)
class Lane:
    """What is busy when: a lane of a timing diagram.

    Attributes
    ----------
    spans
        Begins and ends, in nanoseconds.
    look
        One of `LOOKS`.
    """

    label: str
    spans: Sequence[tuple[float, float]]
    look: str


def timings(
    panels: Mapping[str, Sequence[Lane]], words: Mapping[str, str], *, unit: str = "µs"
) -> "Figure":
    """Draw timing diagrams, one panel each, on one scale of time.

    Parameters
    ----------
    words
        What each look means.
    """
    from matplotlib.patches import Patch

    scale = {"µs": 1e3, "ms": 1e6}[unit]
    most = max(len(lanes) for lanes in panels.values())
    figure, drawn = canvas(len(panels), width=4.4, height=0.9 + 0.28 * most)
    end = max(stop for lanes in panels.values() for lane in lanes for _, stop in lane.spans)
    for axes, (title, lanes) in zip(drawn, panels.items(), strict=True):
        for place, lane in enumerate(lanes):
            bars = [(begin / scale, (stop - begin) / scale) for begin, stop in lane.spans]
            axes.broken_barh(bars, (place - 0.35, 0.7), facecolors=LOOKS[lane.look][0])
        axes.set_yticks(range(len(lanes)), [lane.label for lane in lanes])
        axes.set_ylim(most - 0.4, -0.6)
        axes.set_xlim(0, 1.03 * end / scale)
        axes.set_xlabel(f"time ({unit})")
        head(axes, title)
    figure.legend(
        handles=[Patch(color=LOOKS[look][0], label=word) for look, word in words.items()],
        loc="outside lower center",
        ncols=len(words),
        frameon=False,
        fontsize=8,
    )
    return figure
