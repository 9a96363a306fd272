"""How many levels a heap of values has, when each value scatters by a known amount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

APART = 5.0
"""Deviations between two neighbouring levels."""


def levels(
    values: ArrayLike, deviation: float, *, least_share: float = 0.0, apart: float = 0.0
) -> NDArray[Any]:
    """Find levels that a gap separates from each other.

    Values are sorted; where neighbours in a smoothed order lie apart there may be a gap. The
    split that lowers the sum of squares most is taken if the medians on its two sides lie at least
    five deviations apart, and so on within both parts. What was split for the sake of the least
    share may come out alike on both sides, and is one again.

    Parameters
    ----------
    values : array_like, shape (n,)
    deviation : float
        Standard deviation of a value around its level.
    least_share : float
        Levels of fewer values are none; their values are left out of the level next to them.
    apart : float
        Levels closer than this are one, however sharp.

    Returns
    -------
    ndarray, shape (levels,)
        Medians, ascending; at least one.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    least = max(int(np.ceil(least_share * ordered.size)), 1)
    threshold = max(APART * deviation, apart)
    joined: list[NDArray[Any]] = []
    for part in _parts(ordered, least, threshold):
        same = joined and not _are_apart(joined[-1], part, threshold)
        joined.append(np.concatenate([joined.pop(), part]) if same else part)
    return np.array([float(np.median(part)) for part in joined])


def _parts(ordered: NDArray[Any], least: int, threshold: float) -> list[NDArray[Any]]:
    n = ordered.size
    if n < 2 * least:
        return [ordered]
    left = np.arange(least, n - least + 1)
    sums = np.concatenate([[0.0], np.cumsum(ordered - ordered.mean())])
    gain = sums[left] ** 2 * n / (left * (n - left))
    split = int(left[np.argmax(gain)])
    below, above = ordered[:split], ordered[split:]
    if not _are_apart(below, above, threshold):
        return [ordered]
    return _parts(below, least, threshold) + _parts(above, least, threshold)


def _are_apart(below: NDArray[Any], above: NDArray[Any], threshold: float) -> bool:
    gap = float(np.median(above) - np.median(below))
    return gap > 0 and gap >= threshold
