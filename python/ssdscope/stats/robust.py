"""Statistics that a few wild values cannot move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
