"""Piecewise-linear regression in the logarithm of the latency, with a calibrated interval.

Every feature enters as itself and as hinges max(0, x - knot), and in products with the other
features; ridge regression picks the weights. On log size and log depth this is a piecewise
power law: flat below a knee, proportional above it, which is how drives behave.

The interval is split-conformal (Lei et al. 2018): a part of the training points is not fitted
but used to see how far off the fit is, so the interval covers without any assumption on the
shape of the errors.
"""

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import RidgeCV
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

Array = npt.NDArray[Any]
MIN_CALIBRATION = 10


class PiecewiseLatencyModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regress the log of a positive target on hinges of the features and their products.

    A target that is not positive throughout has no logarithm and is fitted as it is.

    Parameters
    ----------
    knots : int, default=3
        Hinges per feature, at evenly spread quantiles of its distinct values.
    calibration_share : float, default=0.25
        Part of the points kept from the fit to calibrate intervals. With fewer than ten such
        points the fit takes all of them, and the interval comes from its own residuals.
    random_state : int, RandomState or None, default=None
        Draws the calibration points.

    Attributes
    ----------
    log_target_ : bool
        Whether the logarithm was fitted.
    calibration_residuals_ : ndarray
        Sorted absolute residuals, in the unit of the fit.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(
        self, knots: int = 3, calibration_share: float = 0.25, random_state: Any = None
    ) -> None:
        self.knots = knots
        self.calibration_share = calibration_share
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit on ``X`` of shape (n, features) and ``y`` of shape (n,)."""
        points, target = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2)
        self.log_target_ = bool((target > 0).all())
        values = np.log(target) if self.log_target_ else target.astype(float)
        order = check_random_state(self.random_state).permutation(len(values))
        held = round(self.calibration_share * len(values))
        enough = held >= MIN_CALIBRATION
        calibration, training = (order[:held], order[held:]) if enough else (order, order)
        self._place_knots(points[training])
        basis = self._basis(points[training])
        self._center, self._scale = basis.mean(axis=0), basis.std(axis=0)
        self._scale[self._scale == 0] = 1
        self._ridge = RidgeCV(alphas=np.logspace(-6, 2, 17))
        self._ridge.fit((basis - self._center) / self._scale, values[training])
        residuals = np.abs(values[calibration] - self._raw(points[calibration]))
        self.calibration_residuals_ = np.sort(residuals)
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict for ``X`` of shape (n, features)."""
        check_is_fitted(self)
        return self._from_raw(self._raw(validate_data(self, X, reset=False)))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:  # noqa: N803
        """Predict low and high, shape (n, 2), so that ``coverage`` of such points lie between."""
        check_is_fitted(self)
        raw = self._raw(validate_data(self, X, reset=False))
        n = len(self.calibration_residuals_)
        rank = min(math.ceil((n + 1) * coverage), n)
        reach = self.calibration_residuals_[rank - 1]
        return np.column_stack([self._from_raw(raw - reach), self._from_raw(raw + reach)])

    def _place_knots(self, points: Array) -> None:
        quantiles = np.arange(1, self.knots + 1) / (self.knots + 1)
        self._knots = [
            np.unique(np.quantile(distinct, quantiles)) if len(distinct) > 2 else np.empty(0)
            for distinct in (np.unique(column) for column in points.T)
        ]

    def _basis(self, points: Array) -> Array:
        """Hinges of each feature, and the products of hinges of different features."""
        groups = [
            np.column_stack([column, np.maximum(0, column[:, None] - knots)])
            for column, knots in zip(points.T, self._knots, strict=True)
        ]
        products = [
            (left[:, :, None] * right[:, None, :]).reshape(len(points), -1)
            for index, left in enumerate(groups)
            for right in groups[index + 1 :]
        ]
        return np.hstack(groups + products)

    def _raw(self, points: Array) -> Array:
        standard = (self._basis(points) - self._center) / self._scale
        return np.asarray(self._ridge.predict(standard))

    def _from_raw(self, raw: Array) -> Array:
        return np.exp(raw) if self.log_target_ else raw
