"""Shares of events among many: how much likelier two of them are than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["first_of_each", "likelihood", "share_gains"]


def first_of_each(events: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave of each row of consecutive events the first."""
    first: NDArray[np.bool_] = events.copy()
    first[1:] &= ~events[:-1]
    return first


def share_gains(above: NDArray[np.bool_], margin: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what two shares gain over one, for each place from which the larger one may hold.

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
