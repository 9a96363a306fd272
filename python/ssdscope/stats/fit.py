"""Lines by relative error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class LineFit:
    """``intercept + slope * x``, and how well it sits."""

    intercept: float
    slope: float
    max_relative_error: float
    """Largest distance of a point from the line, as a share of the point."""
    typical_relative_error: float
    """Root mean square of those distances."""

    def __call__(self, x: ArrayLike) -> NDArray[Any]:
        """Values of the line at ``x``."""
        return self.intercept + self.slope * np.asarray(x, dtype=float)


def fit_line(x: ArrayLike, y: ArrayLike) -> LineFit:
    """Fit a line that makes *relative* errors small: weights 1/y², so no size rules the fit.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        At least two points; ``y`` positive.
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    design = np.column_stack([np.ones_like(xs), xs]) / ys[:, None]
    (intercept, slope), *_ = np.linalg.lstsq(design, np.ones_like(ys), rcond=None)
    errors = np.abs(intercept + slope * xs - ys) / ys
    typical = float(np.sqrt(np.mean(errors**2)))
    return LineFit(float(intercept), float(slope), float(errors.max()), typical)


def relative_nnls(design: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], float]:
    """Non-negative coefficients that minimise the relative errors.

    Parameters
    ----------
    design : array_like, shape (n, k)
        One column per term.
    y : array_like, shape (n,)
        Positive.

    Returns
    -------
    coefficients : ndarray, shape (k,)
    residual : float
        Square root of the sum of squared relative errors.
    """
    from scipy.optimize import nnls

    ys = np.asarray(y, dtype=float)
    coefficients, residual = nnls(np.asarray(design, dtype=float) / ys[:, None], np.ones_like(ys))
    return coefficients, float(residual)
