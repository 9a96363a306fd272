"""One step in a noisy series, and periods from pairs of places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CHI_SQUARE_95 = 3.84


@dataclass(frozen=True)
class Step:
    """Where a series goes from one level to another.

    Attributes
    ----------
    index
        The first value of the second level.
    first, last
        The least and the greatest index that explain the series about as well (95 %, normal
        errors around two levels).
    before, after
        The two levels.
    deviation
        Standard deviation around them.
    """

    index: int
    first: int
    last: int
    before: float
    after: float
    deviation: float

    @property
    def height(self) -> float:
        """How far it goes up; negative if it goes down."""
        return self.after - self.before


def best_step(values: ArrayLike, min_length: int = 1) -> Step:
    """Fit two levels to a series by least squares.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least ``2 * min_length``; clip wild ones first.
    min_length : int
        The fewest values of a level.
    """
    series = np.asarray(values, dtype=float)
    n = series.size
    if n < 2 * min_length:
        raise ValueError(f"{n} values hold no step between levels of {min_length}")
    left = np.arange(min_length, n - min_length + 1)
    sums = np.concatenate([[0.0], np.cumsum(series)])
    before, after = sums[left] / left, (sums[-1] - sums[left]) / (n - left)
    gain = (after - before) ** 2 * left * (n - left) / n
    best = int(np.argmax(gain))
    total = float(((series - series.mean()) ** 2).sum())
    variance = max((total - float(gain[best])) / max(n - 2, 1), 0.0)
    alike = np.flatnonzero(gain >= gain[best] - max(CHI_SQUARE_95 * variance, 1e-12 * total))
    return Step(
        index=int(left[best]),
        first=int(left[alike[0]]),
        last=int(left[alike[-1]]),
        before=float(before[best]),
        after=float(after[best]),
        deviation=float(np.sqrt(variance)),
    )


@dataclass(frozen=True)
class PairPeriod:
    """A period that tells which pairs of places have a boundary between them.

    Attributes
    ----------
    period, phase
        Boundaries are at ``phase + n * period``.
    explained
        Share of the variance that it explains.
    step
        Between the phases that were tried.
    """

    period: float
    phase: float
    explained: float
    step: float


def pair_period(
    places: ArrayLike, distance: float, values: ArrayLike, period: float, bins: int
) -> PairPeriod:
    """Fit one period to values of pairs: high if a boundary is between the two.

    Parameters
    ----------
    places : array_like, shape (n,)
        The lower place of each pair.
    distance
        To the higher one, less than a period.
    values : array_like, shape (n,)
        Clip wild ones first.
    period
        To be tried.
    bins
        Phases to be tried, evenly spaced.
    """
    where, ys = np.asarray(places, dtype=float), np.asarray(values, dtype=float)
    width = period / bins
    cell = (np.mod(where, period) / width).astype(np.int64) % bins
    sums = np.bincount(cell, ys - ys.mean(), minlength=bins)
    counts = np.bincount(cell, minlength=bins).astype(float)
    arc = min(max(round(distance / width), 1), bins - 1)
    inside, held = _circular(sums, arc), _circular(counts, arc)
    rest = counts.sum() - held
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where((held > 0) & (rest > 0), inside**2 * (1 / held + 1 / rest), 0.0)
    gain = np.where(inside > 0, gain, 0.0)  # a boundary makes slower, not faster
    best = int(np.argmax(gain))
    total = float(((ys - ys.mean()) ** 2).sum()) or 1.0
    phase = (best + arc) * width % period
    return PairPeriod(period, phase, float(gain[best]) / total, width)


def _circular(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Sum so many neighbours from each place on, round the end."""
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values]))])
    return np.asarray(sums[length : length + values.size] - sums[: values.size])
