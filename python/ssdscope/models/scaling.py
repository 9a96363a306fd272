"""The scale by which columns are divided before a model is fitted to them."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
ROUNDING = 1e-12
"""A column whose values differ by less, as a share of the largest, is constant but for rounding."""


def deviations(points: Array) -> Array:
    """Compute the standard deviation of each column, and 1 for a constant; shape (features,).

    The mean of equal numbers is rounded, so that their deviation is 1e-17 rather than 0. Divided
    by that they are 1e15, and distances between them are nothing but rounding.

    Parameters
    ----------
    points : ndarray, shape (n, features)
    """
    varies = np.ptp(points, axis=0) > ROUNDING * np.abs(points).max(axis=0)
    scale: Array = np.where(varies, points.std(axis=0), 1.0)
    return scale
