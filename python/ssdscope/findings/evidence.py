"""What convinces of a finding: what was measured, what was fitted to it, and numbers besides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias, TypeVar

from ssdscope.findings import reading
from ssdscope.findings.fits import Fit
from ssdscope.findings.series import Axis, Series

__all__ = ["DEPTH_SWEEP", "SIZE_SWEEP", "Evidence", "Exhibit", "Figure"]

SIZE_SWEEP, DEPTH_SWEEP = "size-sweep", "depth-sweep"
"""Names of exhibits that others build on: read latency by size, reads per second by depth."""

Scalar: TypeAlias = bool | int | float | str | None
Figure: TypeAlias = Scalar | tuple[Scalar, ...]
"""A number or word by its name, or a few of them."""

Kind = TypeVar("Kind", bound=Fit)
RESERVED = ("exhibits", "cautions", "detail")


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One or more series on the same axes, and what was fitted to them.

    Attributes
    ----------
    name
        In lower-case words joined by hyphens; findings that rest on one measurement share its
        exhibit.
    caption
        What was measured, in a sentence or two.
    """

    name: str
    title: str
    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    fitted: tuple[Fit, ...] = ()

    def __post_init__(self) -> None:
        if not self.series:
            raise ValueError("an exhibit has a series at least")
        if not re.fullmatch("[a-z0-9-]+", self.name):  # pages make an id of it
            raise ValueError(f"name {self.name!r} is not lower-case words joined by hyphens")

    @property
    def span(self) -> tuple[float, float]:
        """Ends of the places at which something was measured."""
        places = [place for each in self.series for place in each.x]
        return min(places), max(places)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "x": vars(self.x) | {},
            "y": vars(self.y) | {},
            "series": [each.to_json() for each in self.series],
            "fitted": [each.to_json() for each in self.fitted],
        }

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Read it."""
        keys = ("name", "title", "caption", "x", "y", "series")
        found = reading.chosen(value, where, keys, ("fitted",))
        rows, fits = (
            reading.listed(found.get(key, []), f"{where}.{key}") for key in ("series", "fitted")
        )
        try:
            return cls(
                **{key: reading.text(found[key], f"{where}.{key}") for key in keys[:3]},
                x=Axis.from_json(found["x"], f"{where}.x"),
                y=Axis.from_json(found["y"], f"{where}.y"),
                series=tuple(
                    Series.from_json(each, f"{where}.series[{at}]") for at, each in enumerate(rows)
                ),
                fitted=tuple(
                    Fit.from_json(each, f"{where}.fitted[{at}]") for at, each in enumerate(fits)
                ),
            )
        except ValueError as error:
            reading.refuse(where, str(error))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a finding rests on.

    Attributes
    ----------
    exhibits
        What was measured, and what was fitted to it.
    figures
        Numbers and words by their names, which carry units; or flat lists of them, kept as tuples.
    cautions
        What a reader should know before relying on it.
    detail
        Why the answer is no better, where one reason has many causes.
    """

    exhibits: tuple[Exhibit, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    detail: str | None = None

    def __post_init__(self) -> None:
        plain = {name: _figure(name, value) for name, value in self.figures.items()}
        object.__setattr__(self, "figures", plain)

    def exhibit(self, name: str) -> Exhibit | None:
        """Give the exhibit of a name, if there is one."""
        return next((each for each in self.exhibits if each.name == name), None)

    def fit(self, kind: type[Kind]) -> Kind | None:
        """Give the first fit of a kind, if there is one."""
        fits = (each for shown in self.exhibits for each in shown.fitted)
        return next((each for each in fits if isinstance(each, kind)), None)

    def saying(self, detail: str) -> Self:
        """Give the same with another detail."""
        return replace(self, detail=detail)

    def noting(self, **figures: Any) -> Self:
        """Give the same with more figures."""
        return replace(self, figures={**self.figures, **figures})

    def fitting(self, name: str, *fits: Fit) -> Self:
        """Give the same with more fitted to the exhibit of a name."""
        return replace(
            self,
            exhibits=tuple(
                replace(each, fitted=(*each.fitted, *fits)) if each.name == name else each
                for each in self.exhibits
            ),
        )

    def unfitted(self) -> Self:
        """Give the same without what was fitted, where that is nobody's answer."""
        return replace(self, exhibits=tuple(replace(each, fitted=()) for each in self.exhibits))

    def showing(self, *exhibits: Exhibit) -> Self:
        """Give the same with more exhibits; of one name the last stays."""
        shown = {each.name: each for each in (*self.exhibits, *exhibits)}
        return replace(self, exhibits=tuple(shown.values()))

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data: figures by their names, the rest where there is any."""
        plain: dict[str, Any] = {name: reading.plain(value) for name, value in self.figures.items()}
        if self.exhibits:
            plain["exhibits"] = [each.to_json() for each in self.exhibits]
        if self.cautions:
            plain["cautions"] = list(self.cautions)
        return plain | ({} if self.detail is None else {"detail": self.detail})

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Read it."""
        found = dict(reading.mapping(value, where))
        shown = reading.listed(found.pop("exhibits", []), f"{where}.exhibits")
        cautions = reading.listed(found.pop("cautions", []), f"{where}.cautions")
        detail = found.pop("detail", None)
        try:
            return cls(
                exhibits=tuple(
                    Exhibit.from_json(each, f"{where}.exhibits[{at}]")
                    for at, each in enumerate(shown)
                ),
                figures=found,
                cautions=tuple(reading.text(each, f"{where}.cautions") for each in cautions),
                detail=None if detail is None else reading.text(detail, f"{where}.detail"),
            )
        except ValueError as error:
            reading.refuse(where, str(error))


def _figure(name: str, value: Any) -> Figure:
    """Take a scalar or a flat list of them, of arrays too."""
    if name in RESERVED:
        raise ValueError(f"{name!r} cannot be the name of a figure")
    plain = reading.plain(value.tolist() if hasattr(value, "tolist") else value)
    if isinstance(plain, list):
        return tuple(_scalar(name, each) for each in plain)
    return _scalar(name, plain)


def _scalar(name: str, value: Any) -> Scalar:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name!r} is neither a number nor a word, nor a list of them")
