"""What the template sets on the page: tables and charts; and how to look things up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ssdscope.plots import LIGHT, PAGE, Palette, inline_svg, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = Mapping[str, Any]
Draw = Callable[[Palette], "Figure"]
"""Draws a picture in the colours that it is given."""


@dataclass(frozen=True)
class Table:
    """A table: texts only, escaped by the template."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Chart:
    """A picture with its words and its numbers: the same on a page and in a notebook.

    Attributes
    ----------
    draw
        Draws it; nothing is drawn before it is shown.
    wide
        Whether it takes the whole width.
    """

    id: str
    title: str
    caption: str
    draw: Draw = field(repr=False, compare=False)
    table: Table | None = None
    wide: bool = False

    @cached_property
    def svg(self) -> str:
        """Draw it for a page; the only text there that is not escaped again."""
        return inline_svg(self.draw(PAGE), self.id, f"{self.title}. {self.caption}")

    def figure(self) -> "Figure":
        """Draw it to stand alone: with its title, in the colours of a light page."""
        return titled(self.draw(LIGHT), self.title, LIGHT)


def measured(document: Document, **wanted: Any) -> list[Mapping[str, Any]]:
    """Give what was measured that matches: reads and bursts of the grid, and what is kept up."""
    performance = document["performance"]
    points = [point for point in performance["points"] if point["split"] == "grid"]
    return [
        point
        for point in points + performance["sustained"]
        if point["mean_ns"] is not None
        and all(point[key] == value for key, value in wanted.items())
    ]


def best_known(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out bursts of workloads of which is known what the drive keeps up."""
    kept = {_workload(point) for point in points if point["sort"] == "sustained"}
    return [point for point in points if point["sort"] != "burst" or _workload(point) not in kept]


def burst_of(document: Document, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Give the burst of the workload of a row; None where none was measured."""
    workload = {key: row[key] for key in ("rw", "block_bytes", "iodepth")}
    return next(iter(measured(document, sort="burst", **workload)), None)


def _workload(point: Mapping[str, Any]) -> tuple[Any, ...]:
    return point["rw"], point["block_bytes"], point["iodepth"]
