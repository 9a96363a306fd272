"""What the template sets on the page: tables, charts, tiles; and how to look things up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table: texts only, escaped by the template."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Chart:
    """A picture with its words and its numbers.

    Attributes
    ----------
    svg
        Made by us from numbers; the only text in the page that is not escaped again.
    wide
        Whether it takes the whole width.
    """

    id: str
    title: str
    caption: str
    svg: str
    table: Table | None = None
    wide: bool = False


@dataclass(frozen=True)
class Tile:
    """One number at the top of the page."""

    name: str
    value: str
    note: str


def measured(document: Document, **wanted: Any) -> list[Mapping[str, Any]]:
    """Give the measured points of the grid that match."""
    return [
        point
        for point in document["performance"]["points"]
        if point["failure"] is None
        and point["split"] == "grid"
        and all(point[key] == value for key, value in wanted.items())
    ]


def finding(document: Document, name: str) -> Mapping[str, Any] | None:
    """Give the finding on a property, if it was probed."""
    return next((each for each in document["findings"] if each["property"] == name), None)
