"""Steps, levels and changes: what scipy and ruptures say of the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import ruptures
from scipy import stats as scipy_stats

from ssdscope import stats
from ssdscope.stats.robust import NORMAL_CONSISTENCY

PENALTY = 12.0


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20091221)


def stepped(rng: np.random.Generator, place: int, height: float, count: int = 80) -> np.ndarray:
    return rng.normal(size=count) + np.where(np.arange(count) >= place, height, 0.0)


@pytest.mark.parametrize("least", [1, 4, 20])
def test_one_step_is_where_ruptures_puts_it(rng: np.random.Generator, least: int) -> None:
    """Also where there is none: both minimise the same squares."""
    for trial in range(20):
        series = stepped(rng, 5 + 3 * trial, 1.5 if trial % 2 else 0.0)
        exact = ruptures.Dynp(model="l2", min_size=least, jump=1).fit_predict(series, n_bkps=1)
        assert stats.best_splits(series[None, :], least)[0] == exact[0]


@pytest.mark.parametrize("noise", [0.05, 0.3, 1.0])
def test_changes_are_those_of_binary_segmentation(rng: np.random.Generator, noise: float) -> None:
    for _ in range(10):
        series = np.repeat(rng.normal(size=5), rng.integers(20, 60, 5))
        series = series + noise * rng.normal(size=series.size)
        sigma = NORMAL_CONSISTENCY * np.median(np.abs(np.diff(series))) / np.sqrt(2)
        penalty = PENALTY * np.log(series.size) * sigma**2
        search = ruptures.Binseg(model="l2", min_size=5, jump=1).fit(series)
        assert stats.change_points(series, 5, PENALTY) == search.predict(pen=penalty)[:-1]


def test_levels_are_the_parts_that_ruptures_makes_of_the_sorted_values(
    rng: np.random.Generator,
) -> None:
    """As many as were drawn, and cut where the squares within are least."""
    for count in (2, 3, 5):
        centres = np.cumsum(rng.uniform(6, 15, count))
        values = rng.permutation(np.repeat(centres, 40) + rng.normal(size=40 * count))
        found = stats.levels(values, 1.0)
        ordered = np.sort(values)
        ends = ruptures.Dynp(model="l2", min_size=1, jump=1).fit_predict(ordered, count - 1)
        parts = np.split(ordered, ends[:-1])
        assert found == pytest.approx([np.median(part) for part in parts])
        assert found == pytest.approx(centres, abs=0.8), "four deviations of a median"


def test_scatter_alone_is_one_level(rng: np.random.Generator) -> None:
    for _ in range(300):
        values = rng.normal(3.0, 1.0, 200)
        assert stats.levels(values, 1.0) == pytest.approx([np.median(values)])


def test_no_level_is_found_twice() -> None:
    # The five highest are split off, though most of them are like those below.
    values = [0.0] * 590 + [1.0] * 9 + [20.0]
    assert stats.levels(values, 0.0, least_share=0.008, apart=0.04).tolist() == [0.0, 1.0]
    assert stats.levels([2.0] * 50, 0.0).tolist() == [2.0]


def test_levels_closer_than_asked_for_are_one(rng: np.random.Generator) -> None:
    values = np.concatenate([rng.normal(0.0, 0.01, 50), rng.normal(1.0, 0.01, 50)])
    assert stats.levels(values, 0.01).size == 2
    assert stats.levels(values, 0.01, apart=1.5).size == 1
    assert stats.levels(values, 0.25).size == 1, "not five deviations apart"


def test_a_few_wild_values_are_no_level(rng: np.random.Generator) -> None:
    values = np.concatenate([rng.normal(0, 1, 100), rng.normal(20, 1, 100), [90.0, 92.0]])
    assert stats.levels(values, 1.0).size == 3
    assert stats.levels(values, 1.0, least_share=0.1) == pytest.approx([0, 20], abs=0.5)


def test_the_bootstrap_gives_the_intervals_of_scipy(rng: np.random.Generator) -> None:
    sample = rng.lognormal(size=(60, 3))
    draws = stats.block_bootstrap(sample, lambda b: b.mean(axis=0), replicates=9_999, seed=1)
    theirs = scipy_stats.bootstrap(
        (sample,), np.mean, axis=0, method="percentile", n_resamples=9_999, rng=rng
    ).confidence_interval
    width = theirs.high - theirs.low
    low, high = stats.percentile_interval(draws)
    assert np.abs(low - theirs.low).max() < 0.04 * width.min()
    assert np.abs(high - theirs.high).max() < 0.04 * width.max()


def test_evened_rates_never_fall_and_are_nearest(rng: np.random.Generator) -> None:
    """No small move of any run of equal values comes nearer."""
    values = np.arange(30) + 5 * rng.normal(size=30)
    evened = stats.isotonic(values)
    assert (np.diff(evened) >= 0).all()
    runs = np.split(values, np.flatnonzero(np.diff(evened)) + 1)
    assert evened == pytest.approx(np.concatenate([np.full(r.size, r.mean()) for r in runs]))
