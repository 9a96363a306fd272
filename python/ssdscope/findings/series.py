"""What was measured: values over places, and the axes they are measured on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from ssdscope.findings import reading

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Axis", "Look", "Series", "series"]

Unit = Literal["bytes", "ns", "bytes/s", "iops", "depth", ""]
Look = Literal["points", "line", "steps", "bars"]


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    unit
        In which values are written; empty for a plain number.
    log
        Whether a log scale is used where it helps.
    """

    label: str
    unit: Unit = ""
    log: bool = False

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise ValueError(f"unit {self.unit!r} is none of {', '.join(get_args(Unit)[:-1])}")

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Read it."""
        found = reading.chosen(value, where, ("label",), ("unit", "log"))
        try:
            return cls(
                reading.text(found["label"], f"{where}.label"),
                found.get("unit", ""),
                bool(found.get("log", False)),
            )
        except ValueError as error:
            reading.refuse(where, str(error))


@dataclass(frozen=True)
class Series:
    """Values over places; shapes (n,).

    Attributes
    ----------
    low, high
        Ends of 95 % intervals, or None.
    look
        ``points``, ``line``, ``steps`` (each value holds up to the next place) or ``bars``.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    look: Look = "line"

    def __post_init__(self) -> None:
        if self.look not in get_args(Look):
            raise ValueError(f"look {self.look!r} is none of {', '.join(get_args(Look))}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has both ends, low and high, or none")
        for name in ("y", "low", "high"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.x):
                raise ValueError(f"{name} has {len(values)} values over {len(self.x)} places")

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            key: list(each) if isinstance(each, tuple) else each
            for key, each in asdict(self).items()
        }

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Read it."""
        found = reading.chosen(value, where, ("name", "x", "y"), ("low", "high", "look"))
        arrays = {
            key: None if found.get(key) is None else reading.numbers(found[key], f"{where}.{key}")
            for key in ("x", "y", "low", "high")
        }
        try:
            return cls(
                reading.text(found["name"], f"{where}.name"),
                arrays["x"] or (),
                arrays["y"] or (),
                arrays["low"],
                arrays["high"],
                found.get("look", "line"),
            )
        except ValueError as error:
            reading.refuse(where, str(error))


def series(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    look: Look = "line",
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> Series:
    """Make a series of arrays."""
    low, high = (None if each is None else _plain(each) for each in (low, high))
    return Series(name, _plain(x), _plain(y), low, high, look)


def _plain(values: ArrayLike) -> tuple[float, ...]:
    import numpy as np

    return tuple(float(each) for each in np.asarray(values).ravel())
