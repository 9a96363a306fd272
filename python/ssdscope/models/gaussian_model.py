"""A fitted Gaussian process as plain data: it predicts with numpy alone, and is kept as JSON."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError

Array = npt.NDArray[Any]
ROWS_AT_ONCE = 1024
ROOT5 = 5**0.5


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """A fitted process as plain data: ``mean + sum of weights * covariance(row, point)``.

    If there are coefficients, that is of the target's ratio to a sum of times: the last columns
    of a row, each times its coefficient.

    Attributes
    ----------
    points : ndarray, shape (n, features)
        What it was fitted on, in units of the length scales.
    weights : ndarray, shape (n,)
        Amplitude included.
    length_scales : ndarray, shape (features,)
        In units of the features.
    mean : float
        What it falls back to far from all points.
    log_target : bool
        Whether this is of the natural logarithm of the target.
    low, high : ndarray, shape (features,)
        Ranges of the features it was fitted on.
    coefficients : ndarray, shape (terms,)
        Of the times that add up; nothing if the target is what is modelled.
    least : float
        What their sum is held above.
    """

    points: Array
    weights: Array
    length_scales: Array
    mean: float
    log_target: bool
    low: Array
    high: Array
    coefficients: Array = field(default_factory=lambda: np.empty(0))
    least: float = 0.0

    def evaluate(self, rows: Array) -> Array:
        """Predict; shape (n,)."""
        features = len(self.length_scales)
        scaled = rows[:, :features] / self.length_scales
        parts = [
            matern(distances(scaled[start : start + ROWS_AT_ONCE], self.points)) @ self.weights
            for start in range(0, len(scaled), ROWS_AT_ONCE)
        ]
        answer = self.mean + np.concatenate([np.empty(0), *parts])
        if self.log_target:
            answer = np.exp(answer)
        if len(self.coefficients):
            answer = answer * summed(rows[:, features:], self.coefficients, self.least)
        return answer

    def to_json(self) -> dict[str, Any]:
        """Write the model as plain data."""
        return {
            "format": "ssdscope-gaussian",
            "version": 1,
            "scale": "log" if self.log_target else "identity",
            "mean": self.mean,
            "length_scales": self.length_scales.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "points": self.points.tolist(),
            "weights": self.weights.tolist(),
            "coefficients": self.coefficients.tolist(),
            "least": self.least,
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            If it is not such a model.
        """
        try:
            names = ("points", "weights", "length_scales", "low", "high", "coefficients")
            arrays = {name: np.array(data[name], dtype=float) for name in names}
            model = cls(
                **arrays,
                mean=float(data["mean"]),
                least=float(data["least"]),
                log_target={"log": True, "identity": False}[data["scale"]],
            )
        except (KeyError, TypeError, ValueError) as fault:
            raise UsageError(f"the model is damaged: {fault!r}") from fault
        if model.points.shape != (len(model.weights), len(model.length_scales)):
            raise UsageError("the model is damaged: its points do not go with its weights")
        return model


def summed(terms: Array, coefficients: Array, least: float) -> Array:
    """Add times up; shape (n,)."""
    total: Array = np.maximum(terms @ coefficients, least)
    return total


def distances(one: Array, other: Array) -> Array:
    """Give the distance of each row of one from each of the other."""
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    apart: Array = np.sqrt(np.maximum(squares, 0))
    return apart


def matern(distance: Array) -> Array:
    """Evaluate the Matern 5/2 correlation."""
    scaled = ROOT5 * distance
    correlation: Array = (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
    return correlation
