"""A fitted model and its error, on the points it learnt from and on points it has not seen."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models.collect import Measurement
from ssdscope.models.design import FEATURES, Point, features

COVERAGE = 0.9
MIN_TRAINING = 12
NAIVE = "constant (naive)"


@dataclass(frozen=True)
class FittedModel:
    """A model of the mean latency, and what is known of its error.

    Attributes
    ----------
    rows
        One per split, as `model evaluate` prints them; the naive baseline is one of them.
    held_out
        Measured and predicted latency of each point it has not seen.
    """

    name: str
    estimator: Any
    rows: list[dict[str, Any]]
    held_out: list[dict[str, Any]]

    def predict(self, points: Sequence[Point]) -> npt.NDArray[Any]:
        """Predict mean latencies in ns, with low and high of the 90 % interval; shape (n, 3)."""
        columns = features(points)
        interval = self.estimator.predict_interval(columns, COVERAGE)
        return np.column_stack([self.estimator.predict(columns), interval])

    def to_json(self) -> dict[str, Any]:
        """Write what the page shows."""
        return {"name": self.name, "rows": self.rows, "held_out": self.held_out}


def fit_and_evaluate(
    training: Sequence[Measurement], held_out: Sequence[Measurement], *, seed: int
) -> FittedModel | None:
    """Fit the mean latency on `training`, and hold it to `held_out`.

    Returns
    -------
    FittedModel or None
        None where too few points were measured to learn from.
    """
    # Loading scikit-learn takes seconds; whoever fits nothing does not pay for it.
    from ssdscope.models.piecewise import PiecewiseLatencyModel

    seen = [row for row in training if row.failure is None]
    unseen = [row for row in held_out if row.failure is None]
    if len(seen) < MIN_TRAINING:
        return None
    started = time.perf_counter()
    model = PiecewiseLatencyModel(random_state=seed)
    model.fit(features([row.point for row in seen]), np.array([row.mean_ns for row in seen]))
    fitted = FittedModel("piecewise", model, [], [])
    fit_s = time.perf_counter() - started
    typical = float(stats.log_median([row.mean_ns for row in seen]))
    for split, rows in (("in-sample", seen), ("off-grid", unseen)):
        if not rows:
            continue
        truth = np.array([row.mean_ns for row in rows])
        guess = fitted.predict([row.point for row in rows])
        inside = (guess[:, 1] <= truth) & (truth <= guess[:, 2])
        counts = {"n_train": len(seen), "n_test": len(rows)}
        fitted.rows.append(
            _row("piecewise", split, truth, guess[:, 0])
            | {"coverage90": float(inside.mean()), "fit_s": fit_s}
            | counts
        )
        constant = _row(NAIVE, split, truth, np.full(len(rows), typical))
        fitted.rows.append(constant | {"coverage90": None, "fit_s": 0.0} | counts)
    for row, (guess_ns, low, high) in zip(
        unseen, fitted.predict([row.point for row in unseen]) if unseen else [], strict=True
    ):
        fitted.held_out.append(
            row.to_json() | {"predicted_ns": guess_ns, "low_ns": low, "high_ns": high}
        )
    return fitted


def _row(name: str, split: str, truth: npt.NDArray[Any], guess: npt.NDArray[Any]) -> dict[str, Any]:
    errors = stats.prediction_errors(truth, guess).to_json()
    del errors["n"]
    return {
        "name": name,
        "features": list(FEATURES),
        "target": "mean_latency_ns",
        "split": split,
    } | errors
