"""GUIDE trees as estimators: lines recovered, odd inputs, the same twice."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.linear_model import LinearRegression, QuantileRegressor

from ssdscope.models.guide.check_loss import CheckLoss
from ssdscope.models.guide.estimators import (
    GuideBagging,
    GuideQuantileRegressor,
    GuideRegressor,
)

Array = npt.NDArray[Any]
KINDS = (GuideRegressor, GuideBagging, GuideQuantileRegressor)
EVERY = pytest.mark.parametrize("kind", KINDS)


def two_slopes(x: Array) -> Array:
    """Flat below a knee, proportional above it, as a drive's latency over its queue depth."""
    return np.where(x[:, 0] <= 3, 2.0, 2.0 + 1.5 * (x[:, 0] - 3)) + 0.5 * x[:, 1]


def inside(x: Array, rng: np.random.Generator, n: int) -> Array:
    """Points within the ranges of ``x``."""
    return rng.uniform(x.min(axis=0), x.max(axis=0), (n, x.shape[1]))


def test_a_knee_is_recovered() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 8, (600, 2))
    model = GuideRegressor(random_state=1).fit(x, two_slopes(x))
    unseen = inside(x, rng, 400)
    error = np.abs(model.predict(unseen) - two_slopes(unseen))
    assert np.median(error) < 0.01
    assert error.max() < 0.25
    line = LinearRegression().fit(x, two_slopes(x))
    assert error.mean() < np.abs(line.predict(unseen) - two_slopes(unseen)).mean() / 50


def test_a_jump_between_two_lines_is_found_exactly() -> None:
    rng = np.random.default_rng(2)
    x = rng.permutation(np.arange(400) / 10).reshape(-1, 1)
    y = np.where(x[:, 0] < 17.2, 1 + 2 * x[:, 0], 90 - x[:, 0])
    model = GuideRegressor(random_state=2).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-6)
    tree = model.model_.trees[0]
    assert tree.leaves <= 4, "two lines, and the cuts that lead to the jump"
    assert any(abs(threshold - 17.15) < 1e-9 for threshold in tree.threshold[~tree.is_leaf])


def test_a_plane_needs_no_split() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3))
    y = x @ [1.0, -2.0, 0.5] + 4 + rng.normal(0, 0.1, 300)
    model = GuideRegressor(random_state=3).fit(x, y)
    assert model.model_.trees[0].leaves == 1
    line = LinearRegression().fit(x, y)
    middle = np.abs(x).max(axis=1) < 1.5
    np.testing.assert_allclose(model.predict(x[middle]), line.predict(x[middle]), atol=1e-6)


def test_an_interaction_without_main_effects_is_found() -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (600, 5))
    y = np.sign(x[:, 1]) * np.sign(x[:, 3]) + rng.normal(0, 0.1, 600)
    tree = GuideRegressor(random_state=4).fit(x, y).model_.trees[0]
    assert tree.feature[0] in (1, 3)


def test_noise_is_pruned_away() -> None:
    rng = np.random.default_rng(5)
    leaves = []
    for trial in range(10):
        x, y = rng.uniform(size=(300, 4)), rng.normal(size=300)
        pruned = GuideRegressor(random_state=trial).fit(x, y).model_.trees[0]
        grown = GuideRegressor(random_state=trial, cv=0).fit(x, y).model_.trees[0]
        assert grown.leaves > 5
        leaves.append(pruned.leaves)
    assert np.median(leaves) == 1, leaves


def test_bagging_beats_one_tree_on_a_curve() -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(0, 3, (800, 3))

    def curve(at: Array) -> Array:
        return np.sin(3 * at[:, 0]) * at[:, 1] + np.cos(4 * at[:, 2])

    y = curve(x) + rng.normal(0, 0.1, 800)
    unseen = inside(x, rng, 500)
    one, many = (
        np.sqrt(np.mean((model.fit(x, y).predict(unseen) - curve(unseen)) ** 2))
        for model in (GuideRegressor(random_state=6), GuideBagging(random_state=6))
    )
    assert many < 0.9 * one


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.95])
def test_a_quantile_of_a_spread_that_grows(quantile: float) -> None:
    def spread(at: Array) -> Array:
        return 0.2 + 0.3 * np.maximum(0, at[:, 0] - 4)

    rng = np.random.default_rng(7)
    x = rng.uniform(0, 8, (500, 2))
    y = two_slopes(x) + spread(x) * rng.standard_exponential(500)
    model = GuideQuantileRegressor(quantile=quantile, random_state=7).fit(x, y)
    unseen = inside(x, rng, 1000)
    truth = two_slopes(unseen) - np.log(1 - quantile) * spread(unseen)
    line = QuantileRegressor(quantile=quantile, alpha=0).fit(x, y)
    ours, straight = (np.abs(each.predict(unseen) - truth).mean() for each in (model, line))
    assert ours < straight / 4
    assert (y <= model.predict(x)).mean() == pytest.approx(quantile, abs=0.02)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.95])
def test_a_node_has_as_little_check_loss_as_linear_programming(quantile: float) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(200, 3))
        y = x @ [1.0, -1.0, 0.5] + rng.standard_t(2, 200) * (1 + np.abs(x[:, 0]))
        node = CheckLoss(quantile)
        table = np.column_stack([np.ones(200), x, y])
        own = node.loss(y - table[:, :-1] @ node.fit(table)).sum()
        exact = QuantileRegressor(quantile=quantile, alpha=0).fit(x, y)
        assert own <= node.loss(y - exact.predict(x)).sum() * 1.001


@EVERY
def test_the_logarithm_is_fitted_and_taken_back(kind: Any) -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(0, 5, (300, 2))
    y = np.exp(two_slopes(x))
    logs = kind(random_state=8).fit(x, np.log(y))
    model = kind(random_state=8, log_target=True).fit(x, y)
    np.testing.assert_allclose(model.predict(x), np.exp(logs.predict(x)), rtol=1e-12)
    with pytest.raises(ValueError, match="log_target needs a positive y"):
        kind(log_target=True).fit(x, y - y.max())


@EVERY
def test_predictions_stay_near_what_was_seen(kind: Any) -> None:
    rng = np.random.default_rng(9)
    x = rng.uniform(0, 1, (200, 2))
    y = 10 * x[:, 0]
    model = kind(random_state=9, margin=0.1).fit(x, y)
    far = model.model_.evaluate(np.array([[100.0, 0.5], [-100.0, 0.5]]))
    reach = 0.1 * np.ptp(y)
    assert far.max() <= y.max() + reach + 1e-9
    assert far.min() >= y.min() - reach - 1e-9


@EVERY
def test_degenerate_inputs(kind: Any) -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(80, 3))
    y = np.abs(x[:, 0])
    model = kind(random_state=0)
    assert (model.fit(x, np.full(80, 7.0)).predict(x) == 7.0).all()
    np.testing.assert_allclose(model.fit(np.ones((80, 2)), y).predict(np.ones((1, 2))).shape, 1)
    assert model.fit(x[:1], y[:1]).predict(x[:1]) == pytest.approx(y[:1])
    assert model.fit(x[:2], y[:2]).predict(x[:2]).shape == (2,)
    once = model.fit(x, y).predict(x)
    twice = model.fit(np.hstack([x, x]), y).predict(np.hstack([x, x]))
    with_constant = model.fit(np.column_stack([x, np.ones(80)]), y)
    assert (with_constant.model_.trees[0].coefficients[:, 3] == 0).all()
    for other in (twice, with_constant.predict(np.column_stack([x, np.ones(80)]))):
        assert np.isfinite(other).all()
        assert np.abs(other - y).mean() < 2 * np.abs(once - y).mean() + 0.05
    assert np.isfinite(model.fit(x * [1e9, 1e-9, 1], y * 1e12).predict(x * [1e9, 1e-9, 1])).all()


@EVERY
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(kind: Any, wrong: float) -> None:
    x, y = np.arange(60.0).reshape(30, 2), np.arange(30.0)
    spoilt = x.copy()
    spoilt[3, 1] = wrong
    with pytest.raises(ValueError, match="contains"):
        kind().fit(spoilt, y)
    with pytest.raises(ValueError, match="contains"):
        kind().fit(x, np.where(y == 3, wrong, y))
    with pytest.raises(ValueError, match="contains"):
        kind().fit(x, y).predict(spoilt)


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (GuideRegressor, {"min_samples_leaf": 0}, "min_samples_leaf must be a whole number"),
        (GuideRegressor, {"max_depth": -1}, "max_depth must be"),
        (GuideRegressor, {"cv": 1}, "cv must be 0"),
        (GuideRegressor, {"se_rule": float("nan")}, "se_rule must be a number"),
        (GuideRegressor, {"margin": "wide"}, "margin must be a number"),
        (GuideBagging, {"n_estimators": True}, "n_estimators must be"),
        (GuideQuantileRegressor, {"quantile": 1.0}, "quantile must be between"),
    ],
)
def test_parameters_out_of_place_are_named(kind: Any, wrong: dict[str, Any], message: str) -> None:
    x, y = np.arange(60.0).reshape(30, 2), np.arange(30.0)
    with pytest.raises(ValueError, match=message):
        kind(**wrong).fit(x, y)


@EVERY
def test_the_same_seed_gives_the_same_tree(kind: Any) -> None:
    rng = np.random.default_rng(11)
    x = rng.uniform(0, 8, (200, 3))
    y = two_slopes(x) + rng.normal(0, 0.3, 200)
    first, again = (kind(random_state=5).fit(x, y).model_.to_json() for _ in range(2))
    assert first == again


def test_repeated_rows_are_not_held_to_themselves() -> None:
    """Noise that repeats with its row looks like structure if folds share it."""
    rng = np.random.default_rng(12)
    x = np.repeat(rng.uniform(size=(150, 2)), 10, axis=0)
    y = np.repeat(rng.normal(size=150), 10)
    tree = GuideRegressor(random_state=12).fit(x, y).model_.trees[0]
    assert tree.leaves <= 5
    apart = GuideRegressor(random_state=12, repeats_together=False).fit(x, y).model_.trees[0]
    assert apart.leaves > 4 * tree.leaves
