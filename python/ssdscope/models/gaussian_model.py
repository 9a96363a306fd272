"""A fitted Gaussian process as plain data: it predicts with numpy alone, and is kept as JSON."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError

Array = npt.NDArray[Any]
FORMAT = "ssdscope-gaussian"
ROWS_AT_ONCE = 1024
ROOT5 = 5**0.5


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """A fitted process as plain data: ``mean + sum of weights * covariance(row, point)``.

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
    """

    points: Array
    weights: Array
    length_scales: Array
    mean: float
    log_target: bool
    low: Array
    high: Array

    def evaluate(self, rows: Array) -> Array:
        """Predict; shape (n,)."""
        scaled = rows / self.length_scales
        parts = [
            matern(distances(scaled[start : start + ROWS_AT_ONCE], self.points)) @ self.weights
            for start in range(0, len(scaled), ROWS_AT_ONCE)
        ]
        answer = self.mean + np.concatenate([np.empty(0), *parts])
        return np.exp(answer) if self.log_target else answer

    def to_json(self) -> dict[str, Any]:
        """Write the model as plain data."""
        return {
            "format": FORMAT,
            "version": 1,
            "scale": "log" if self.log_target else "identity",
            "mean": self.mean,
            "length_scales": self.length_scales.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "points": self.points.tolist(),
            "weights": self.weights.tolist(),
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
            names = ("points", "weights", "length_scales", "low", "high")
            arrays = {name: np.array(data[name], dtype=float) for name in names}
            model = cls(
                **arrays,
                mean=float(data["mean"]),
                log_target={"log": True, "identity": False}[data["scale"]],
            )
        except (KeyError, TypeError, ValueError) as fault:
            raise UsageError(f"the model is damaged: {fault!r}") from fault
        if model.points.shape != (len(model.weights), len(model.length_scales)):
            raise UsageError("the model is damaged: its points do not go with its weights")
        return model


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
