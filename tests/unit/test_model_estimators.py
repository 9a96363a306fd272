"""The estimators beside GUIDE: what they learn, and predictions as plain data."""

import json
from typing import Any

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.models import registry
from ssdscope.models.estimators import (
    CartRegressor,
    LeastSquaresRegressor,
    LightgbmRegressor,
    LinearQuantileRegressor,
)
from ssdscope.models.gaussian import GaussianProcess, _left_out, _likelihood
from ssdscope.models.gaussian_model import GaussianModel, distances, matern
from ssdscope.models.guide.estimators import GuideRegressor
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.service import ServiceRegressor
from ssdscope.models.service_model import ServiceModel, summed

BOOSTED = pytest.mark.skipif(
    "lightgbm" not in registry.available(100), reason="LightGBM is not installed"
)


def data(rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (rows, 4))
    y = np.exp(2 * x[:, 0] + x[:, 2] * (x[:, 1] > 0.5) + rng.normal(0, 0.02, rows))
    return x, y


@pytest.mark.parametrize(
    "name", [name for name, each in registry.FAMILIES.items() if not each.own_features]
)
def test_what_is_kept_predicts_the_same(name: str) -> None:
    if name == "lightgbm" and name not in registry.available(9):
        pytest.skip("LightGBM is not installed")
    x, y = data()
    fitted = registry.family(name).make(1).fit(x, y)
    kind = GaussianModel if name == "gp" else GuideModel
    again = kind.from_json(json.loads(json.dumps(fitted.model_.to_json())))
    assert (again.evaluate(x) == fitted.predict(x)).all()
    assert np.median(np.abs(fitted.predict(x) / y - 1)) < 0.25


@pytest.mark.parametrize(("tree", "rows"), [(False, 20), (True, 40)])
def test_times_that_add_up_are_learnt_from_few_rows(tree: bool, rows: int) -> None:
    rng = np.random.default_rng(1)
    features, times = rng.uniform(0, 3, (80, 2)), rng.uniform(0, 1, (80, 3))
    y = 1e5 * (times @ [1.0, 30.0, 0.0] + 0.5) * (1 + 0.02 * features[:, 0])
    x = np.column_stack([features, times, np.ones(80)])
    fitted, plain = (
        ServiceRegressor(terms, tree=tree, log_target=True, random_state=0).fit(x[:rows], y[:rows])
        for terms in (4, 0)
    )
    errors = [np.abs(each.predict(x[40:]) / y[40:] - 1).mean() for each in (fitted, plain)]
    assert errors[0] < 0.005 < errors[1] / 2
    assert fitted.model_.coefficients == pytest.approx([1e5, 3e6, 0, 5e4], rel=0.1, abs=1e4)
    again = ServiceModel.from_json(json.loads(json.dumps(fitted.model_.to_json())))
    assert (again.evaluate(x) == fitted.predict(x)).all()


def test_a_tree_of_times_is_told_what_share_of_their_sum_each_is() -> None:
    """Where one of two times doubles for some rows, shares say by how much their sum is off."""
    rng = np.random.default_rng(2)
    where, times = rng.uniform(0, 1, (400, 1)), rng.uniform(0.2, 1, (400, 2))
    x = np.column_stack([where, times])
    y = times @ [1.0, 1.0] + np.where(where[:, 0] > 0.5, times[:, 1], 0)
    fitted = ServiceRegressor(2, tree=True, log_target=True, random_state=0).fit(x[:300], y[:300])
    off = np.abs(fitted.predict(x[300:]) / y[300:] - 1).mean()
    alone = GuideRegressor(log_target=True, random_state=0)
    sums = summed(x[:, 1:], fitted.model_.coefficients, fitted.model_.least)
    alone.fit(where[:300], y[:300] / sums[:300])
    assert off < 0.02 < np.abs(alone.model_.evaluate(where[300:]) * sums[300:] / y[300:] - 1).mean()
    data = fitted.model_.to_json()
    assert data["shares"]
    assert len(data["ratio"]["features"]) == 1 + 2
    again = ServiceModel.from_json(json.loads(json.dumps(data)))
    assert (again.evaluate(x) == fitted.predict(x)).all()


def test_slopes_of_a_tree_are_held_back_on_request() -> None:
    x, y = data()
    free, held = (
        GuideRegressor(max_depth=0, ridge=ridge, log_target=True).fit(x, y) for ridge in (1e-9, 1.0)
    )
    slopes = [np.abs(each.model_.trees[0].coefficients[0]).sum() for each in (free, held)]
    assert slopes[1] < 0.6 * slopes[0]
    with pytest.raises(ValueError, match="ridge must be a number of at least 0"):
        GuideRegressor(ridge=-1).fit(x, y)


def test_the_next_rows_are_those_of_which_least_is_known() -> None:
    x, y = data(40)
    chosen = GaussianProcess(random_state=0).fit(x[:20], y[:20]).most_uncertain(x, 3)
    assert len(set(chosen)) == 3
    assert min(chosen) >= 20, "what was measured is known"


def test_times_need_columns_and_a_positive_target() -> None:
    x, y = data(40)
    with pytest.raises(ValueError, match="terms must be from 0 to 3, got 4"):
        ServiceRegressor(terms=4).fit(x, y)
    with pytest.raises(ValueError, match="positive y"):
        ServiceRegressor(terms=2).fit(x, -y)


def test_of_many_rows_times_that_add_up_are_learnt_from_some() -> None:
    assert {"service", "gp"} <= set(registry.available(4096))
    assert "service" in registry.available(12_000)
    assert "gp" not in registry.available(12_000), "one such process of 12,000 rows is enough"


def test_a_kind_of_model_with_features_of_its_own_takes_no_others() -> None:
    found = registry.pairs(["gp", "service"], ["basic", "service"])
    assert found == [("gp", "basic"), ("service", "service")]
    with pytest.raises(UsageError, match="gp does not learn from service features"):
        registry.pairs(["gp"], ["service"])


@BOOSTED
@pytest.mark.parametrize("linear", [True, False])
def test_boosted_trees_are_read_right(linear: bool) -> None:
    """Against LightGBM's own predictions."""
    import lightgbm

    x, y = data()
    ours = LightgbmRegressor(n_estimators=50, linear=linear, log_target=True, random_state=3)
    ours.fit(x, y)
    options = {
        "learning_rate": 0.05,
        "num_leaves": 15,
        "min_data_in_leaf": 8,
        "linear_tree": linear,
        "linear_lambda": 0.01,
        "deterministic": True,
        "num_threads": 1,
        "verbosity": -1,
        "seed": np.random.RandomState(3).randint(2**31 - 1),
    }
    rows = lightgbm.Dataset(x, np.log(y), params={"verbosity": -1, "linear_tree": linear})
    theirs = lightgbm.train(options, rows, num_boost_round=50)
    new, _ = data(200, seed=4)
    assert np.log(ours.predict(new)) == pytest.approx(theirs.predict(new), abs=1e-12)


def test_cart_is_scikit_learns() -> None:
    from sklearn.tree import DecisionTreeRegressor

    x, y = data()
    theirs = DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(x, np.log(y))
    ours = CartRegressor(log_target=True, random_state=0).fit(x, y)
    new, _ = data(200, seed=4)
    assert np.log(ours.predict(new)) == pytest.approx(theirs.predict(new))


def test_lines_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LinearRegression

    x, y = data()
    y = np.log(y)
    theirs = LinearRegression().fit(x, y)
    assert LeastSquaresRegressor().fit(x, y).predict(x) == pytest.approx(theirs.predict(x))
    for quantile in (0.1, 0.5, 0.9):
        line = LinearQuantileRegressor(quantile=quantile).fit(x, y)
        assert np.mean(y < line.predict(x)) == pytest.approx(quantile, abs=0.03)


def test_a_line_does_not_go_on_for_ever() -> None:
    x, y = data()
    far = LeastSquaresRegressor(log_target=True).fit(x, y).predict([[1000.0, 0, 0, 0]])[0]
    assert y.max() < far < 2 * y.max()


def test_the_gradient_of_the_likelihood_is_its_slope() -> None:
    x, y = data(40)
    values = np.log(y) - np.log(y).mean()
    at = np.array([0.3, -3.0, 0.2, 0.5, -0.1, 0.4])
    shape = np.linspace(0.2, 3.0, len(values))
    _, gradient = _likelihood(at, x, values, shape)
    for index in range(len(at)):
        step = np.eye(len(at))[index] * 1e-5
        ends = [_likelihood(at + side * step, x, values, shape)[0] for side in (-1, 1)]
        assert gradient[index] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-4, abs=1e-5)


def test_a_gaussian_process_finds_a_smooth_law_in_few_rows() -> None:
    x, y = data(120)
    smooth = np.exp(2 * x[:, 0] + np.sin(3 * x[:, 1]))
    fitted = GaussianProcess(random_state=0).fit(x, smooth)
    new, _ = data(200, seed=3)
    truth = np.exp(2 * new[:, 0] + np.sin(3 * new[:, 1]))
    assert np.mean(np.abs(fitted.predict(new) / truth - 1)) < 0.01
    assert len(GaussianProcess(max_rows=50).fit(x, y).model_.weights) == 50


def test_what_a_row_misses_when_left_out_is_told_without_fitting_again() -> None:
    x, y = data(40)
    values, inside = np.log(y), np.arange(40) > 0
    covariance = matern(distances(x, x)) + 0.1 * np.eye(40)
    known, cross = covariance[np.ix_(inside, inside)], covariance[0, inside]
    again = values[0] - cross @ np.linalg.solve(known, values[inside])
    missed = _left_out(np.linalg.cholesky(covariance), values)
    assert missed[0] == pytest.approx(again, rel=1e-9)


def test_noise_in_one_place_does_not_blur_another() -> None:
    rng = np.random.default_rng(4)
    x, new = rng.uniform(-1, 1, (300, 2)), rng.uniform(-0.9, -0.1, (200, 2))
    law, truth = (np.sin(12 * rows[:, 0]) + rows[:, 1] for rows in (x, new))
    spread = np.where(x[:, 0] > 0, 1.0, 0.003)
    fitted = GaussianProcess(random_state=0).fit(x, np.exp(law + spread * rng.normal(size=300)))
    off = np.log(fitted.predict(new)) - truth
    assert np.sqrt(np.mean(off**2)) < 0.01, "0.08 with the same noise everywhere"


def test_a_target_without_logarithm_is_refused() -> None:
    x, _ = data()
    with pytest.raises(ValueError, match="needs a positive y"):
        CartRegressor(log_target=True).fit(x, np.zeros(len(x)))


def test_unknown_models_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no model 'forest'"):
        registry.family("forest")
    with pytest.raises(UsageError, match="damaged"):
        GaussianModel.from_json({"mean": 1})
    with pytest.raises(UsageError, match="damaged"):
        ServiceModel.from_json({"ratio": {"format": "none"}})
