"""Models: scikit-learn's own rules, honest errors, intervals that cover."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from ssdscope.models import Measurement, Point, fit_and_evaluate, grid, off_grid
from ssdscope.models.design import FEATURES, features
from ssdscope.models.piecewise import PiecewiseLatencyModel
from ssdscope.targets.records import DeviceInfo


def info(*, writable: bool = True, logical_block_bytes: int = 4096) -> DeviceInfo:
    return DeviceInfo(
        kind="simulated",
        capacity_bytes=1 << 30,
        logical_block_bytes=logical_block_bytes,
        clock="virtual",
        writable=writable,
        discard=True,
        attribution=True,
        snapshot=True,
    )


def latency_ns(point: Point) -> float:
    """A drive of eight units: a knee in depth, a cost per byte, slower random writes."""
    alone = 80_000 + 2.0 * point.block_bytes
    penalty = 3.0 if point.rw == "randwrite" else 1.0
    return alone * penalty * max(1.0, point.iodepth / 8)


def measured(points: list[Point], rng: np.random.Generator, sigma: float) -> list[Measurement]:
    return [Measurement(p, mean_ns=latency_ns(p) * rng.lognormal(0, sigma)) for p in points]


@parametrize_with_checks([PiecewiseLatencyModel(random_state=0)])
def test_scikit_learns_own_checks(estimator: object, check: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)  # type: ignore[operator]


def test_a_read_only_drive_is_only_read() -> None:
    assert {p.rw for p in grid(info(writable=False))} == {"read", "randread"}
    assert {p.rw for p in grid(info())} == {"read", "randread", "write", "randwrite"}


def test_held_out_points_are_off_the_grid_and_aligned() -> None:
    points = off_grid(info(), 40, np.random.default_rng(1))
    assert len(points) == len(set(points)) == 40
    assert not set(points) & set(grid(info()))
    assert all(p.block_bytes % 4096 == 0 for p in points)
    assert {p.rw for p in points} == {"read", "randread", "write", "randwrite"}


def test_features_have_a_column_each() -> None:
    columns = features([Point("randwrite", 8192, 4)])
    assert columns.tolist() == [[13, 2, 1, 1]]
    assert columns.shape[1] == len(FEATURES)


@pytest.mark.parametrize("sigma", [0.0, 0.05])
def test_a_knee_and_a_line_are_learnt(sigma: float) -> None:
    rng = np.random.default_rng(3)
    training = measured(grid(info()), rng, sigma)
    held_out = measured(off_grid(info(), 200, rng), rng, sigma)
    model = fit_and_evaluate(training, held_out, seed=1)
    assert model is not None
    rows = {(row["name"], row["split"]): row for row in model.rows}
    ours, naive = rows["piecewise", "off-grid"], rows["constant (naive)", "off-grid"]
    assert ours["mre"] < 0.12 + sigma
    assert ours["mre"] < naive["mre"] / 4
    assert ours["n_test"] == len(model.held_out) == 200


def test_intervals_cover_points_of_the_same_kind() -> None:
    """Split-conformal: 90 % of exchangeable points, whatever the errors look like."""
    rng = np.random.default_rng(5)
    covered = []
    for trial in range(20):
        x = rng.uniform(0, 8, size=(400, 2))
        y = np.exp(x[:, 0] + 0.3 * np.sin(3 * x[:, 1]) + rng.standard_t(3, 400) * 0.1)
        model = PiecewiseLatencyModel(random_state=trial).fit(x[:200], y[:200])
        low, high = model.predict_interval(x[200:], 0.9).T
        covered.append(((low <= y[200:]) & (y[200:] <= high)).mean())
    assert 0.87 <= np.mean(covered) <= 0.94


def test_too_few_points_give_no_model() -> None:
    rng = np.random.default_rng(1)
    assert fit_and_evaluate(measured(grid(info())[:5], rng, 0.0), [], seed=1) is None


def test_failed_points_are_left_out() -> None:
    rng = np.random.default_rng(1)
    rows = measured(grid(info()), rng, 0.0)
    rows.append(Measurement(Point("randwrite", 4096, 2), failure="plane 3 is stuck"))
    model = fit_and_evaluate(rows, [], seed=1)
    assert model is not None
    assert model.rows[0]["n_train"] == len(rows) - 1


def test_clone_keeps_parameters() -> None:
    assert clone(PiecewiseLatencyModel(knots=2)).knots == 2
