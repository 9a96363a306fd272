"""Medians of many groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["group_medians"]


def group_medians(
    values: NDArray[np.float64], group: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """Give the median of each group; NaN of one that has none.

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
