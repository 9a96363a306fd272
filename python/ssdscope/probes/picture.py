"""What convinces of a finding, as plain data: axes, series, and marks on them.

A probe says what to draw and not how. It goes into the evidence under ``picture``; several
findings that rest on one measurement carry the same picture, which is then shown once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Axis:
    """One axis; values are written in its unit, a log scale is used where it helps."""

    label: str
    unit: Literal["bytes", "ns", "bytes/s", "iops", ""] = ""
    log: bool = False


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
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    look: Literal["points", "line", "steps", "bars"] = "line"


@dataclass(frozen=True)
class Picture:
    """A chart.

    Attributes
    ----------
    marks
        Places on the x axis with a word each: the knee, the multiples of a period.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    marks: Sequence[tuple[float, str]] = ()

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


def series(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    look: Literal["points", "line", "steps", "bars"] = "line",
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> Series:
    """Make a series of arrays."""

    def plain(values: ArrayLike | None) -> list[float] | None:
        return None if values is None else [float(each) for each in np.asarray(values).ravel()]

    return Series(name, plain(x) or [], plain(y) or [], plain(low), plain(high), look)
