"""Statistics that a few wild values cannot move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Makes the median absolute deviation of a normal sample its standard deviation.
NORMAL_CONSISTENCY = 1.482602218505602


def log_median(values: ArrayLike, axis: int | None = None) -> Any:
    """Median taken in the logarithm: for an even count, the geometric middle.

    Parameters
    ----------
    values : array_like
        All positive.
    axis : int, optional
        As in numpy; absent, over everything.
    """
    logs = np.log(np.asarray(values, dtype=float))
    return np.exp(np.median(logs, axis=axis))


def mad(values: ArrayLike) -> float:
    """Median absolute deviation, scaled to the standard deviation of a normal sample."""
    sample = np.asarray(values, dtype=float)
    return float(NORMAL_CONSISTENCY * np.median(np.abs(sample - np.median(sample))))
