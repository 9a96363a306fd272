"""A line of few features out of many, for samples with hardly more rows than features."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models.estimators import Line

Array = npt.NDArray[Any]


class LassoRegressor(Line):
    """Least squares with a penalty on the sum of absolute slopes (Tibshirani 1996).

    The penalty is the one that predicts folds of neighbouring rows best, so that rows in the
    order of time are not predicted from those just before and after them.

    Parameters
    ----------
    folds : int, default=5
        Folds that choose the penalty; fewer where there are fewer rows.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.

    Attributes
    ----------
    model_ : GuideModel
        The line as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(self, folds: int = 5, log_target: bool = False) -> None:
        self.folds = folds
        self.log_target = log_target

    def _line(self, points: Array, values: Array) -> tuple[Array, float]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LassoCV

        folds = min(self.folds, len(values))
        if folds < 2 or np.ptp(values) == 0:
            return np.zeros(points.shape[1]), float(values.mean())
        # The smallest penalties may end short of the optimum where columns nearly repeat each
        # other; they are judged by what they predict, like all others.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LassoCV(cv=folds, max_iter=5000).fit(points, values)
        return fitted.coef_, float(fitted.intercept_)
