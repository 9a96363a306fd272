"""Where a long series rises for good, to the value: its mean, or how often it is far above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LIKELIHOOD_DROP = 3.0
"""Places whose log likelihood is no further below the best one's are in the interval: the place
is one of few, and its likelihood no parabola, so that 1.92 would not do."""
PIECES = 16


@dataclass(frozen=True)
class Onset:
    """The best split of a series into two levels.

    Attributes
    ----------
    place
        Index of the first value of the second level.
    interval
        Of the place, both ends included.
    before, after
        Levels: means, or shares of the values that are above.
    score
        How sure: of means, the step in standard errors by the scatter of `PIECES` pieces on
        either side (values next to each other need not be independent); of shares, the gain
        in log likelihood.
    """

    place: int
    interval: tuple[int, int]
    before: float
    after: float
    score: float


def onset(values: ArrayLike, margin: int = 8) -> Onset | None:
    """Split a series into two levels, by least squares.

    Parameters
    ----------
    values : array_like, shape (n,)
        In order.
    margin : int
        The fewest values on either side.

    Returns
    -------
    Onset or None
        None if the series is too short, or constant.
    """
    series = np.asarray(values, dtype=float)
    n = series.size
    if n < max(2 * margin, 4):
        return None
    left = np.arange(margin, n - margin + 1)
    deviations = np.cumsum(series - series.mean())
    gains = deviations[left - 1] ** 2 * (n / (left * (n - left)))
    best = int(np.argmax(gains))
    if gains[best] <= 0:
        return None
    place = int(left[best])
    before, after = series[:place], series[place:]
    residual = (before.var() * before.size + after.var() * after.size) / n
    near = np.flatnonzero(gains >= gains[best] - 2 * LIKELIHOOD_DROP * residual)
    error = np.hypot(_error(before), _error(after))
    step = float(after.mean() - before.mean())
    return Onset(
        place=place,
        interval=(int(left[near[0]]), int(left[near[-1]])),
        before=float(before.mean()),
        after=float(after.mean()),
        score=step / error if error > 0 else float(np.sign(step) * np.inf),
    )


def _error(values: NDArray[Any]) -> float:
    """Estimate the standard error of a mean from the means of consecutive pieces."""
    pieces = min(PIECES, values.size)
    size = values.size // pieces
    means = values[: pieces * size].reshape(pieces, size).mean(axis=1)
    return float(means.std(ddof=1) / np.sqrt(pieces)) if pieces > 1 else float("inf")


def share_gains(above: NDArray[np.bool_], margin: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give what two shares gain over one, for each place from which the larger one may hold.

    Parameters
    ----------
    above : ndarray of bool, shape (n,)
        In order.
    margin : int
        The fewest values on either side.

    Returns
    -------
    places, gains : ndarray
        In log likelihood; minus infinity where the second share is not larger. Empty if the
        series is too short, or all its values are alike.
    """
    n, total = above.size, int(np.count_nonzero(above))
    if n < 2 * margin or total in (0, n):
        return np.empty(0, int), np.empty(0)
    left = np.arange(margin, n - margin + 1)
    hits = np.cumsum(above)[left - 1]
    rest = total - hits
    gains = likelihood(hits, left) + likelihood(rest, n - left) - likelihood(total, n)
    return left, np.where(rest * left > hits * (n - left), gains, -np.inf)


def likelihood(hits: Any, count: Any) -> Any:
    """Log likelihood of so many hits among so many, at their own share."""
    from scipy.special import xlogy

    misses = count - hits
    return xlogy(hits, hits / count) + xlogy(misses, misses / count)
