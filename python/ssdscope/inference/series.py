"""What an engine is given, a series, and what it gives back: an estimate against its rivals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Rival", "Series", "Weighed", "group_medians", "joined", "nothing"]


@dataclass(frozen=True)
class Series:
    """What was measured, one value a row; all of shape (n,).

    Attributes
    ----------
    x
        Where, on the axis of the question: bytes written, an offset, a distance, a depth.
    y
        What came of it, positive where it is a time.
    stratum
        Of a randomised design: rows of one stratum could have come in any order.
    time_ns
        When, for what drifts.
    valid
        False where others were at work, or a request failed.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    stratum: NDArray[np.int64]
    time_ns: NDArray[np.float64]
    valid: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        *,
        stratum: ArrayLike | None = None,
        time_ns: ArrayLike | None = None,
        valid: ArrayLike | None = None,
    ) -> Self:
        """Make one; without strata all rows are of one, without times they came in their order.

        Raises
        ------
        ValueError
            If the columns differ in length.
        """
        places = np.asarray(x, np.float64).ravel()
        columns = (
            places,
            np.asarray(y, np.float64).ravel(),
            np.zeros(places.size, np.int64) if stratum is None else _column(stratum, np.int64),
            np.arange(places.size, dtype=float) if time_ns is None else _column(time_ns, float),
            np.ones(places.size, np.bool_) if valid is None else _column(valid, np.bool_),
        )
        if len({column.size for column in columns}) > 1:
            raise ValueError(f"columns of {', '.join(str(each.size) for each in columns)} rows")
        return cls(*columns)

    def __len__(self) -> int:
        return int(self.x.size)

    def where(self, chosen: ArrayLike) -> Series:
        """Give some of the rows: by mask, or by index."""
        at = np.asarray(chosen)
        return Series(self.x[at], self.y[at], self.stratum[at], self.time_ns[at], self.valid[at])

    def kept(self) -> Series:
        """Give the rows that can be trusted."""
        return self if self.valid.all() else self.where(self.valid)

    def then(self, other: Series) -> Series:
        """Give these rows, and those of another behind them."""
        pairs = ((getattr(each, name) for each in (self, other)) for name in self.__annotations__)
        return Series(*(np.concatenate(list(pair)) for pair in pairs))

    def with_y(self, y: ArrayLike) -> Series:
        """Give the same with other values."""
        return Series(self.x, _column(y, float), self.stratum, self.time_ns, self.valid)

    def with_x(self, x: ArrayLike) -> Series:
        """Give the same at other places."""
        return Series(_column(x, float), self.y, self.stratum, self.time_ns, self.valid)


def joined(parts: Iterable[Series]) -> Series:
    """Put series one behind the other."""
    return reduce(Series.then, parts)


def _column(values: ArrayLike, dtype: Any) -> Any:
    return np.asarray(values, dtype).ravel()


@dataclass(frozen=True)
class Rival:
    """Another explanation of the same data.

    Attributes
    ----------
    name
        What it is: a part or a multiple of a period, drift, a step elsewhere.
    estimate
        Its value, if it has one.
    margin
        By how much, in log likelihood, the data speak for the estimate rather than for it.
    """

    name: str
    margin: float
    estimate: float | None = None


@dataclass(frozen=True)
class Weighed:
    """What a series says of a question.

    Attributes
    ----------
    estimate
        The best value; None if the data hold nothing to estimate.
    interval
        Of 95 %; None where the value is one of a set, or there is none.
    score
        By how much, in log likelihood, the data speak for the estimate rather than for nothing.
        `levels` says what it takes.
    effect
        How strongly it shows, as a share.
    bound
        The largest effect that could hide in the data, at 95 %, whether one was found or not.
    rivals
        Other explanations, the nearest first.
    detail
        Whatever else was estimated on the way, by name.
    """

    estimate: float | None
    interval: tuple[float, float] | None
    score: float
    effect: float
    bound: float
    rivals: tuple[Rival, ...] = ()
    detail: dict[str, float] = field(default_factory=dict)

    @property
    def margin(self) -> float:
        """By how much it beats the nearest rival; infinite without one."""
        return min((each.margin for each in self.rivals), default=math.inf)

    def against(self, rivals: Sequence[Rival]) -> Weighed:
        """Give the same with further rivals."""
        every = tuple(sorted((*self.rivals, *rivals), key=lambda each: each.margin))
        return Weighed(
            self.estimate, self.interval, self.score, self.effect, self.bound, every, self.detail
        )

    def times(self, factor: float) -> Weighed:
        """Give the same in another unit."""
        rivals = tuple(
            replace(each, estimate=None if each.estimate is None else each.estimate * factor)
            for each in self.rivals
        )
        return replace(
            self,
            estimate=None if self.estimate is None else self.estimate * factor,
            interval=self.interval and (self.interval[0] * factor, self.interval[1] * factor),
            rivals=rivals,
        )


def nothing(bound: float = math.inf) -> Weighed:
    """Say that there is nothing to estimate, and how large an effect could hide all the same."""
    return Weighed(None, None, 0.0, 0.0, bound)


def group_medians(
    values: NDArray[np.float64], group: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """Return the median of each group; NaN of one that has none.

    Parameters
    ----------
    values, group : ndarray, shape (n,)
        What was measured, and of which group it is, from 0 to `count`.
    """
    ordered = np.append(values[np.lexsort((values, group))], np.nan)
    sizes = np.bincount(group, minlength=count)
    begins = sizes.cumsum() - sizes
    lower, upper = begins + (sizes - 1) // 2, begins + sizes // 2
    middles = (ordered[lower] + ordered[upper]) / 2
    return np.where(sizes > 0, middles, np.nan)
