"""GUIDE's choice of variable and cut: against scipy, against brute force, and without bias."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from ssdscope.models.guide.estimators import GuideRegressor
from ssdscope.models.guide.growing import _between
from ssdscope.models.guide.selection import UNTESTABLE, calibrate, no_multipliers, ranked, run_tests

Array = npt.NDArray[Any]
DATASETS = 500


def contingency(groups: Array, above: Array) -> tuple[float, int]:
    """Pearson's statistic and degrees of freedom as scipy has them."""
    table = [[(above[groups == g] == sign).sum() for g in np.unique(groups)] for sign in (0, 1)]
    found = stats.chi2_contingency(np.array(table), correction=False)
    return found.statistic, found.dof


@pytest.mark.parametrize("strength", [0.7, 1.0, 1.5, 2.0])
def test_statistics_are_those_of_contingency_tables(strength: float) -> None:
    """On one degree of freedom, but as significant as scipy finds them on three."""
    rng = np.random.default_rng(1)
    column = rng.normal(size=203)
    above = rng.random(203) < 1 / (1 + np.exp(-strength * (np.abs(column) - 0.7)))
    ordered = np.sort(column)
    cuts = np.array([ordered[203 // 4], ordered[203 // 2], ordered[3 * 203 // 4]])
    statistic, degrees = contingency((column[:, None] > cuts).sum(axis=1), above)
    found = run_tests(ranked(column[:, None])[0], above, no_multipliers(1)).curvature[0]
    assert degrees == 3
    expected = stats.chi2.logsf(statistic, degrees)
    assert stats.chi2.logsf(found, 1) == pytest.approx(expected, rel=0.08)


def test_a_product_shows_in_the_quadrants_alone() -> None:
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(3, 203))
    above = rng.random(203) < 1 / (1 + np.exp(-3 * columns[0] * columns[2]))
    tests = run_tests(ranked(columns.T)[0], above, no_multipliers(3))
    assert tests.pair == (0, 2)
    upper = columns > np.sort(columns, axis=1)[:, [203 // 2]]
    quadrant, _ = contingency(2 * upper[0] + upper[2], above)
    halves = [contingency(upper[at], above)[0] for at in (0, 2)]
    assert quadrant > 10 * max(halves)


def test_variables_of_few_values_are_grouped_by_value() -> None:
    rng = np.random.default_rng(2)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        binary = (rng.random(200) < share).astype(float)
        above = rng.random(200) < 0.3 + 0.4 * binary
        tests = run_tests(
            ranked(np.column_stack([binary, np.ones(200)]))[0], above, no_multipliers(2)
        )
        assert tests.curvature[0] == pytest.approx(contingency(binary, above)[0])
        assert tests.curvature[1] == UNTESTABLE


def test_calibrated_statistics_have_a_mean_of_one() -> None:
    rng = np.random.default_rng(3)
    drawn = []
    for _ in range(200):
        x = np.column_stack([rng.uniform(size=120), rng.integers(0, 2, 120)])
        design = np.column_stack([np.ones(120), x])
        y = rng.normal(size=120)
        residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        ranks, _ = ranked(x)
        multipliers = calibrate(ranks, design, residuals, np.random.RandomState(3))
        tests = run_tests(ranks, residuals > 0, multipliers)
        plain = run_tests(ranks, residuals > 0, no_multipliers(2))
        drawn.append([*tests.curvature, plain.curvature[1]])
    uniform, binary, uncorrected = np.mean(drawn, axis=0)
    assert uniform == pytest.approx(1, abs=0.25)
    assert binary == pytest.approx(1, abs=0.25)
    assert uncorrected < 0.6, "a line through two means leaves little to find"


def chosen_at_the_root(draw: Any, seed: int) -> Array:
    """How often each variable splits the root of data without any structure."""
    rng = np.random.default_rng(seed)
    counts: list[int] = []
    for trial in range(DATASETS):
        x = draw(rng)
        model = GuideRegressor(max_depth=1, cv=0, min_samples_leaf=10, random_state=trial)
        tree = model.fit(x, rng.normal(size=len(x))).model_.trees[0]
        counts.append(int(tree.feature[0]))
    return np.bincount(counts, minlength=x.shape[1])


def test_variables_of_one_kind_are_chosen_alike() -> None:
    counts = chosen_at_the_root(lambda rng: rng.uniform(size=(80, 4)), 4)
    assert counts.sum() == DATASETS
    assert stats.chisquare(counts).pvalue > 0.01, counts


def test_noise_of_many_values_is_chosen_no_more_often_than_its_share() -> None:
    """CART's bias: variables with more places to cut win more often. Here they must not."""

    def draw(rng: np.random.Generator) -> Array:
        few = [rng.integers(0, values, 80) for values in (5, 4, 3)]
        return np.column_stack([rng.uniform(size=80), *few]).astype(float)

    counts = chosen_at_the_root(draw, 5)
    share = stats.binomtest(int(counts[0]), DATASETS, 1 / 4, alternative="greater")
    assert share.pvalue > 0.01, counts
    assert counts.min() > DATASETS / 4 / 2, counts


def test_noise_is_left_alone_beside_a_signal() -> None:
    rng = np.random.default_rng(6)
    for trial in range(50):
        x = np.column_stack([rng.uniform(size=80), rng.integers(0, 5, 80), rng.uniform(size=80)])
        y = np.abs(x[:, 1] - 2) + rng.normal(0, 0.3, 80)
        tree = GuideRegressor(max_depth=1, cv=0, random_state=trial).fit(x, y).model_.trees[0]
        assert tree.feature[0] == 1


def squares(x: Array, y: Array) -> float:
    """Residual squares of a least-squares fit."""
    design = np.column_stack([np.ones(len(x)), x])
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


def brute_force_cut(x: Array, y: Array, feature: int, min_rows: int) -> tuple[float, float]:
    """Try every threshold; return the least squares of both sides, and where that is."""
    found = []
    values = np.unique(x[:, feature])
    for low, high in itertools.pairwise(values):
        left = x[:, feature] <= low
        if min(left.sum(), (~left).sum()) >= min_rows:
            found.append(
                (squares(x[left], y[left]) + squares(x[~left], y[~left]), (low + high) / 2)
            )
    return min(found)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, least = 42, 10
    x = np.column_stack([rng.normal(size=n), rng.integers(0, 6, n), rng.uniform(0, 1e6, n)])
    y = np.abs(x[:, 0]) * 3 + (x[:, 1] > 2) * x[:, 2] / 1e6 + rng.normal(0, 0.2, n)
    model = GuideRegressor(max_depth=1, cv=0, min_samples_leaf=least, random_state=seed).fit(x, y)
    tree = model.model_.trees[0]
    loss, threshold = brute_force_cut(x, y, int(tree.feature[0]), least)
    assert tree.threshold[0] == pytest.approx(threshold, rel=1e-12)
    scale = y.std() ** 2
    assert tree.loss[1] + tree.loss[2] == pytest.approx(loss / scale, rel=1e-6)
    for side, rows in (
        (1, x[:, tree.feature[0]] <= threshold),
        (2, x[:, tree.feature[0]] > threshold),
    ):
        design = np.column_stack([np.ones(rows.sum()), x[rows]])
        line = np.linalg.lstsq(design, y[rows], rcond=None)[0]
        fitted = tree.intercept[side] + x[rows] @ tree.coefficients[side]
        np.testing.assert_allclose(fitted, design @ line, atol=1e-6)


def test_thresholds_lie_between_neighbours_even_in_floating_point() -> None:
    """Halfway between two neighbours is one of them, and must not be the upper one."""
    for low in (1.0, -1.0, 0.0, 1e300, np.nextafter(1.0, 2)):
        high = float(np.nextafter(low, np.inf))
        assert low <= _between(low, high) < high
    assert _between(-2.0, 4.0) == 1.0
    assert _between(-1e308, 1e308) < 1e308


def test_ranks_keep_order_and_ties() -> None:
    points = np.array([[3.0, 1.0], [-1.0, 1.0], [3.0, 2.0]])
    ranks, values = ranked(points)
    assert ranks.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert [each.tolist() for each in values] == [[-1.0, 3.0], [1.0, 2.0]]
