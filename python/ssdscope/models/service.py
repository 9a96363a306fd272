"""Times that add up, and a model of what they miss.

Latency is a sum of times far more than it is a product of powers. So the coefficients of what
times are proportional to are fitted first: least squares of relative errors, none negative, for
no request gets time back. Then a model has only the ratio to that sum to explain, which is nearly
1: a Gaussian process, or a GUIDE tree, which can be read. What the sum misses in a part of the
workloads is mostly that one of its times is another there. So the tree is told each time's share of
the sum, of which leaves are nearly linear functions, and needs few other features beside.

Times of one request add up. The time of a request alone and that of the queue do not where one of
them rules: then latency is near the larger one, and the sum is up to twice that (`knee`).
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ssdscope.models.gaussian import GaussianProcess
from ssdscope.models.guide.estimators import GuideRegressor
from ssdscope.models.knee import bounds_of
from ssdscope.models.service_model import ServiceModel, joined, with_shares

Array = npt.NDArray[Any]
LEAST_SHARE = 0.1
"""A sum of times is held above this share of the least target."""
RIDGE = 5e-3
"""Of the tree: shares add up to one, and in a leaf few of them vary by much."""


class ServiceRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A sum of times, and a model of the ratio to it.

    Parameters
    ----------
    terms : int, default=0
        So many of the last columns, none negative, are what times are proportional to; the
        target is positive, then. Without any, the model is of the target itself.
    tree : bool, default=False
        Whether the model is a GUIDE tree, of the features and of the shares of times; else it is a
        Gaussian process of the features.
    knee : bool, default=False
        Whether times in a queue, which are the first half of the terms, bound the target rather
        than add to those of a request alone, the second half.
    log_target : bool, default=False
        Fit the logarithm of the ratio, or of a positive target, and predict its exponential.
    random_state : int, RandomState or None, default=None
        Of the model.
    warm_start : bool, default=False
        As of `GaussianProcess`; a tree has nothing to begin from.

    Attributes
    ----------
    model_ : ServiceModel
        The fit as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(
        self,
        terms: int = 0,
        tree: bool = False,
        knee: bool = False,
        log_target: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.terms = terms
        self.tree = tree
        self.knee = knee
        self.log_target = log_target
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit on finite ``X`` of shape (n, features + terms) and ``y`` of shape (n,)."""
        rows, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        features = rows.shape[1] - self.terms
        if features < 1 or self.terms < 0:
            raise ValueError(f"terms must be from 0 to {rows.shape[1] - 1}, got {self.terms}")
        told, terms = rows[:, :features], rows[:, features:]
        if self.knee and self.terms % 2:
            raise ValueError(f"a knee needs as many terms of the queue as alone, got {self.terms}")
        coefficients, least, sharpness = np.empty(0), 0.0, 1.0
        if self.terms:
            coefficients, least = added_up(terms, target)
            if self.knee:
                coefficients, sharpness = bounds_of(terms, target, coefficients)
            total = joined(terms, coefficients, least, sharpness)
            target = target / total
            if self.tree:
                told = with_shares(told, terms, coefficients, total)
        random = check_random_state(self.random_state)
        common: dict[str, Any] = {"log_target": self.log_target, "random_state": random}
        ratio = self._begun(common)
        ratio.fit(told, target)
        self._ratio = ratio
        self.model_ = ServiceModel(
            ratio.model_, features, coefficients, least, shares=self.tree, sharpness=sharpness
        )
        return self

    def _begun(self, common: dict[str, Any]) -> GuideRegressor | GaussianProcess:
        """Begin a model of the ratio: where the one before was tuned to, if it may."""
        if self.tree:
            return GuideRegressor(ridge=RIDGE, **common)
        if self.warm_start and isinstance(before := getattr(self, "_ratio", None), GaussianProcess):
            before.set_params(**common)
            return before
        return GaussianProcess(**common, warm_start=self.warm_start)

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict for ``X`` of shape (n, features + terms)."""
        check_is_fitted(self)
        return self.model_.evaluate(validate_data(self, X, reset=False, dtype=np.float64))


def added_up(times: Array, target: Array) -> tuple[Array, float]:
    """Weigh times so that their sum is near a positive target; coefficients, and its least."""
    from scipy.optimize import nnls

    if not (target > 0).all():
        raise ValueError("terms need a positive y")
    coefficients, _ = nnls(times / target[:, None], np.ones(len(target)))
    return coefficients, LEAST_SHARE * float(target.min())
