"""What was fitted to series: seven kinds, each drawn in its own way whichever probe it is from.

`Line`
    A value grows with each unit of the place: a cost per request and one per byte.
`Step`
    Values change at one place: a knee, a buffer that is full, a cache that holds no more.
`Course`
    A curve over time or requests that a theory gives.
`Period`
    Places differ, and the pattern repeats after so much: units that begin somewhere.
`Recurrence`
    Waits return after so much: collections.
`Contrast`
    One condition against another.
`Partition`
    Places or bits fall into classes: dies, volumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from ssdscope.findings import reading

__all__ = ["Contrast", "Course", "Fit", "Line", "Partition", "Period", "Recurrence", "Step"]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What is common to all kinds."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data, its kind first."""
        return {"kind": self.kind} | {
            each.name: reading.plain(getattr(self, each.name)) for each in fields(self)
        }

    @staticmethod
    def from_json(value: Any, where: str) -> Fit:
        """Read one of any kind."""
        found = dict(reading.mapping(value, where))
        kind = KINDS.get(str(found.pop("kind", None)))
        if kind is None:
            reading.refuse(f"{where}.kind", f"expected one of {', '.join(KINDS)}")
        wanted = {each.name: str(each.type) for each in fields(kind)}
        values = reading.chosen(found, where, (), wanted)
        for name, one in values.items():
            if one is not None or "None" not in wanted[name]:
                take = _TAKES[wanted[name].removesuffix(" | None")]
                values[name] = take(one, f"{where}.{name}")
        try:
            return kind(**values)
        except (TypeError, ValueError) as error:
            reading.refuse(where, str(error).removeprefix(f"{kind.__name__}.__init__() "))


@dataclass(frozen=True, kw_only=True)
class Line(Fit):
    """A straight line, which holds from `first` to `last`.

    Attributes
    ----------
    error
        By what share it misses what was measured there, as a root mean square.
    """

    kind: ClassVar[str] = "line"

    intercept: float
    slope: float
    first: float
    last: float
    error: float
    word: str = "line"

    def __post_init__(self) -> None:
        _require(self.first < self.last, "a line begins before it ends")

    def at(self, place: Any) -> Any:
        """Give its value at a place, or at an array of them."""
        return self.intercept + self.slope * place


@dataclass(frozen=True, kw_only=True)
class Step(Fit):
    """A place at which values change.

    Attributes
    ----------
    low, high
        Its interval of 95 %, if it has one.
    word
        What begins or ends there.
    """

    kind: ClassVar[str] = "step"

    at: float
    word: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _require((self.low is None) == (self.high is None), "an interval has both ends, or none")
        if self.low is not None and self.high is not None:
            _require(not self.high < self.low, "an interval ends where it begins, or later")


@dataclass(frozen=True, kw_only=True)
class Course(Fit):
    """A curve: values `y` over places `x`, shapes (n,)."""

    kind: ClassVar[str] = "course"

    word: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        _require(len(self.x) == len(self.y) > 0, f"{len(self.y)} values over {len(self.x)} places")


@dataclass(frozen=True, kw_only=True)
class Period(Fit):
    """A pattern over places that begins anew at `phase` and at each `period` from there."""

    kind: ClassVar[str] = "period"

    period: float
    word: str
    phase: float = 0.0

    def __post_init__(self) -> None:
        _require(self.period > 0, "a period is longer than nothing")


@dataclass(frozen=True, kw_only=True)
class Recurrence(Fit):
    """Waits that return after `every`.

    Attributes
    ----------
    share
        How much of what is slow returns so.
    p_value
        How probable that is by chance.
    """

    kind: ClassVar[str] = "recurrence"

    every: float
    word: str
    share: float | None = None
    p_value: float | None = None

    def __post_init__(self) -> None:
        _require(self.every > 0, "what returns does so after more than nothing")


@dataclass(frozen=True, kw_only=True)
class Contrast(Fit):
    """One condition against another.

    Attributes
    ----------
    one, other
        Names of the two conditions.
    one_at, other_at
        Their means, on the `axis` that they are measured on.
    ratio, low, high
        Of `one` over `other`, and its interval of 95 % if it has one.
    p_value
        How probable it is by chance, if that was asked.
    """

    kind: ClassVar[str] = "contrast"

    one: str
    other: str
    one_at: float
    other_at: float
    ratio: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    axis: Literal["x", "y"] = "y"

    def __post_init__(self) -> None:
        _require((self.low is None) == (self.high is None), "an interval has both ends, or none")
        _require(self.axis in ("x", "y"), f"axis {self.axis!r} is neither x nor y")


@dataclass(frozen=True, kw_only=True)
class Partition(Fit):
    """Classes of places on the x axis.

    Attributes
    ----------
    names
        Of the classes, one each.
    members
        The places of each class.
    """

    kind: ClassVar[str] = "partition"

    names: tuple[str, ...]
    members: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        count = len(self.members)
        _require(len(self.names) == count > 0, f"{len(self.names)} names for {count} classes")


KINDS: dict[str, type[Fit]] = {
    each.kind: each for each in (Line, Step, Course, Period, Recurrence, Contrast, Partition)
}
"""Every kind by the word that JSON has for it."""


def _texts(value: Any, where: str) -> tuple[str, ...]:
    listed = reading.listed(value, where)
    return tuple(reading.text(each, f"{where}[{at}]") for at, each in enumerate(listed))


def _classes(value: Any, where: str) -> tuple[tuple[float, ...], ...]:
    listed = reading.listed(value, where)
    return tuple(reading.numbers(each, f"{where}[{at}]") for at, each in enumerate(listed))


_TAKES: dict[str, Callable[[Any, str], Any]] = {
    "float": reading.number,
    "str": reading.text,
    "Literal['x', 'y']": reading.text,
    "tuple[float, ...]": reading.numbers,
    "tuple[str, ...]": _texts,
    "tuple[tuple[float, ...], ...]": _classes,
}
"""By the type of a field, what reads it."""


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
