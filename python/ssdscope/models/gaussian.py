"""A Gaussian process for small samples: exact, with a length scale per feature.

Covariance Matern 5/2: latencies have kinks, which a smoother one would round off. Length
scales, amplitude and noise maximise the marginal likelihood on at most `TUNING_ROWS` rows (its
cost is cubic), with the gradient written out; then all rows are fitted (Rasmussen and Williams
2006, chapters 2 and 5).

Noise is not everywhere alike: where a disk's arm goes between two streams a run differs from the
next by a quarter, where all is random by a percent. One noise for both follows the luck of the
first and smooths the second. So what each row misses when it is left out, which a fit tells
without fitting again (Rasmussen and Williams 2006, 5.12), is averaged over its neighbours and
gives the noise its shape; then all is tuned once more (after Goldberg, Williams and Bishop 1997).
"""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from ssdscope.models.gaussian_model import ROOT5, GaussianModel, distances, matern
from ssdscope.models.scaling import deviations

Array = npt.NDArray[Any]
TUNING_ROWS = 512
LEAST_NOISE = 0.005
"""Of the logarithm of a target: no mean of a run is known better than to half a percent."""
TUNING_STEPS, AGAIN_STEPS = 30, 10
LENGTHS, SEVERAL_STARTS_ROWS = (1.0, 0.0), 128
"""Logarithms of the length scales to begin from. Of so few rows the likelihood has several peaks,
and that of nothing but noise is often the nearest: then all are tried, else the first alone."""
WARM_STEPS = 5
"""Steps of the fits that begin where another has ended."""
NOISE_NEIGHBOURS = 24
"""Rows, itself among them, whose misses tell the noise of a row; of fewer than three times as many
rows it is taken to be alike."""
JITTERS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Added to the diagonal of a covariance, which is about 1, until the covariance has a factor."""
_BOUNDS = {"amplitude": (-3.0, 4.0), "noise": (-11.0, 1.0), "length": (-3.0, 5.0)}
"""Of logarithms, for standardised columns and target."""


class Before(NamedTuple):
    """What a fit was tuned to, with noise alike and with noise of a shape: logarithms."""

    alike: Array
    shaped: Array


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process regression with a length scale per feature.

    Parameters
    ----------
    log_target : bool, default=True
        Fit the logarithm of a target that is positive throughout, and predict its exponential;
        any other target is fitted as it is.
    max_rows : int, default=4200
        Rows that are fitted at most; of more these are drawn.
    random_state : int, RandomState or None, default=None
        Draws rows.
    warm_start : bool, default=False
        Begin to tune where the fit before ended, if it had as many columns.

    Attributes
    ----------
    model_ : GaussianModel
        The fitted process as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(
        self,
        log_target: bool = True,
        max_rows: int = 4200,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.log_target = log_target
        self.max_rows = max_rows
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit on finite ``X`` of shape (n, features) and ``y`` of shape (n,)."""
        points, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        random = check_random_state(self.random_state)
        logarithm = bool(self.log_target and (target > 0).all())
        values = np.log(target) if logarithm else target.astype(float)
        low, high = points.min(axis=0), points.max(axis=0)
        if len(points) > self.max_rows:
            kept = random.permutation(len(points))[: self.max_rows]
            points, values = points[kept], values[kept]
        scale, mean = deviations(points), float(values.mean())
        spread = float(deviations(values[:, None])[0])
        standard, answers = points / scale, (values - mean) / spread
        chosen = random.permutation(len(points))[:TUNING_ROWS]
        least = LEAST_NOISE / spread if logarithm else 0.0
        lengths = self._settle(standard, answers, chosen, least)
        weights = self._amplitude * _solve(self._factor, answers)
        self.model_ = GaussianModel(
            points=self._points,
            weights=spread * weights,
            length_scales=scale * lengths,
            mean=mean,
            log_target=logarithm,
            low=low,
            high=high,
        )
        return self

    def _settle(self, points: Array, values: Array, chosen: Array, least: float) -> Array:
        """Tune and fit, with noise of a shape if there are rows to tell it; the length scales."""
        shape = np.ones(len(points))
        before: Before | None = getattr(self, "_before", None) if self.warm_start else None
        if before is not None and before.alike.size != 2 + points.shape[1]:
            before = None
        lengths = LENGTHS if len(points) <= SEVERAL_STARTS_ROWS else LENGTHS[:1]
        cold = [np.concatenate([[0.0, -5.0], np.full(points.shape[1], each)]) for each in lengths]
        starts, steps = (cold, TUNING_STEPS) if before is None else ([before.alike], WARM_STEPS)
        alike = found = self._condition(points, values, chosen, shape, starts, steps, least)
        if len(points) >= 3 * NOISE_NEIGHBOURS:
            shape = _shape(self._points, _left_out(self._factor, values))
            start, steps = (alike, AGAIN_STEPS) if before is None else (before.shaped, WARM_STEPS)
            found = self._condition(points, values, chosen, shape, [start], steps, least)
        self._before = Before(alike, found)
        return np.exp(found[2:])

    def _condition(
        self,
        points: Array,
        values: Array,
        chosen: Array,
        shape: Array,
        starts: list[Array],
        steps: int,
        least: float,
    ) -> Array:
        """Tune on some rows and fit all; logarithms of amplitude, noise and length scales."""
        logs = _tune(points[chosen], values[chosen], shape[chosen], starts, steps, least)
        self._amplitude, self._noise = np.exp(logs[:2]).tolist()
        self._points = points / np.exp(logs[2:])
        covariance = self._amplitude * matern(distances(self._points, self._points))
        covariance[np.diag_indices_from(covariance)] += self._noise * shape
        self._factor = _cholesky(covariance)
        return logs

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict for ``X`` of shape (n, features)."""
        check_is_fitted(self)
        return self.model_.evaluate(validate_data(self, X, reset=False, dtype=np.float64))

    def most_uncertain(self, X: Any, count: int) -> list[int]:  # noqa: N803
        """Choose rows one by one, each where the variance is largest given those before it."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64) / self.model_.length_scales
        cross = self._amplitude * matern(distances(rows, self._points))
        known = _forward(self._factor, cross.T)
        # What is left of the covariance between candidates, lowered by each that is chosen.
        left = self._amplitude * matern(distances(rows, rows)) - known.T @ known
        chosen: list[int] = []
        for _ in range(min(count, len(rows))):
            variance = np.diag(left).copy()
            variance[chosen] = -np.inf
            best = int(variance.argmax())
            chosen.append(best)
            column = left[:, best] / np.sqrt(max(left[best, best], 0) + self._noise)
            left = left - np.outer(column, column)
        return chosen


def _cholesky(covariance: Array) -> Array:
    """Factor a covariance, of which the diagonal is changed; what is above it in a factor is 0.

    Rows that are nearly alike make it singular but for rounding: what is added to the diagonal
    grows until there is a factor.

    Raises
    ------
    LinAlgError
        If there is none even with the largest of `JITTERS`.
    """
    from scipy.linalg import cholesky

    added = 0.0
    for jitter in JITTERS:
        covariance.flat[:: len(covariance) + 1] += jitter - added
        added = jitter
        try:
            return np.asarray(cholesky(covariance, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError(f"a covariance has no factor with {JITTERS[-1]} on its diagonal")


def _solve(factor: Array, values: Array) -> Array:
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve((factor, True), values, check_finite=False))


def _forward(factor: Array, values: Array) -> Array:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, values, lower=True))


def _inverse(factor: Array) -> Array:
    """Invert the matrix of a factor, in a third of the work of solving for each column."""
    from scipy.linalg.lapack import dpotri

    lower = dpotri(factor, lower=True)[0]
    whole: Array = lower + lower.T
    whole.flat[:: len(whole) + 1] /= 2
    return whole


def _left_out(factor: Array, values: Array) -> Array:
    """Give what a fit without a row would miss there, for each row; shape (n,)."""
    missed: Array = _solve(factor, values) / np.diag(_inverse(factor))
    return missed


def _shape(points: Array, missed: Array) -> Array:
    """Give the noise variance of each row relative to the typical one; shape (n,)."""
    from scipy.spatial import cKDTree

    near = cKDTree(points).query(points, k=NOISE_NEIGHBOURS)[1]
    around = np.maximum(np.abs(missed)[near].mean(axis=1), 1e-9)
    shape: Array = (around / np.exp(np.log(around).mean())) ** 2
    return shape


def _tune(
    points: Array, values: Array, shape: Array, starts: list[Array], steps: int, least_noise: float
) -> Array:
    """Maximise the marginal likelihood; logarithms of amplitude, noise and length scales.

    The best end is taken of those that several starts lead to.
    """
    from scipy.optimize import minimize

    features = points.shape[1]
    low, high = _BOUNDS["noise"]
    noise_bounds = (float(np.clip(2 * np.log(max(least_noise, 1e-9)), low, high)), high)
    bounds = [_BOUNDS["amplitude"], noise_bounds, *[_BOUNDS["length"]] * features]
    # About their mean: differences of large numbers would lose digits.
    centred = points - points.mean(axis=0)
    # On so few rows threads of BLAS wait for each other longer than they compute.
    with threadpool_limits(limits=1, user_api="blas"):
        ends = [
            minimize(
                _likelihood,
                start,
                args=(centred, values, shape),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": steps},
            )
            for start in starts
        ]
    return np.asarray(min(ends, key=lambda end: float(end.fun)).x)


def _likelihood(logs: Array, points: Array, values: Array, shape: Array) -> tuple[float, Array]:
    """Give the negative log marginal likelihood and its gradient.

    No pair of rows is looked at feature by feature: a sum over pairs of ``weight * (a - b)**2``,
    with weights alike both ways, is that of ``2 * a * weight * (a - b)``, two matrix products.
    """
    amplitude, noise = np.exp(logs[:2]).tolist()
    scaled = points * np.exp(-logs[2:])
    far = ROOT5 * distances(scaled, scaled)
    fallen = np.exp(-far)
    slope = (1 + far) * fallen
    kernel = slope + far**2 / 3 * fallen
    np.fill_diagonal(kernel, 1)
    covariance = amplitude * kernel
    covariance.flat[:: len(values) + 1] += noise * shape
    try:
        factor = _cholesky(covariance)
    except np.linalg.LinAlgError:
        return 1e25, np.zeros_like(logs)
    weights = _solve(factor, values)
    loss = 0.5 * values @ weights + np.log(factor.diagonal()).sum()
    outer = _inverse(factor)
    outer -= weights[:, None] * weights
    # d kernel / d log length = amplitude * 5/3 * (1 + sqrt5 r) exp(-sqrt5 r) * square / length^2
    slope *= outer
    lengths = (scaled**2).T @ slope.sum(axis=1) - (scaled * (slope @ scaled)).sum(axis=0)
    gradient = [
        0.5 * amplitude * np.vdot(outer, kernel),
        0.5 * noise * outer.diagonal() @ shape,
        *(amplitude * 5 / 3 * lengths),
    ]
    return float(loss), np.array(gradient)
