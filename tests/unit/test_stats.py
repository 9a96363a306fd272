"""The statistics, held against scipy where it has the same and against known answers elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from ssdscope import stats


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20150424)


@pytest.mark.parametrize("percent", [0.1, 5, 50, 90, 99, 100])
def test_nearest_rank_is_numpys_inverted_cdf(rng: np.random.Generator, percent: float) -> None:
    values = rng.lognormal(size=1000)
    assert stats.nearest_rank(values, percent) == np.percentile(
        values, percent, method="inverted_cdf"
    )


def test_nearest_rank_of_999_permille_is_rank_999() -> None:
    """Decimal shares are not exact in binary; numpy answers with rank 1000 here."""
    assert stats.nearest_rank(np.arange(1, 1001), 99.9) == 999


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_nearest_rank_refuses_what_is_no_percentile(percent: float) -> None:
    with pytest.raises(ValueError, match="percent must lie in"):
        stats.nearest_rank([1.0], percent)


def test_student_equals_scipy(rng: np.random.Generator) -> None:
    values = rng.normal(5, 2, size=17)
    ours = stats.student(values)
    low, high = scipy_stats.t.interval(0.95, 16, values.mean(), scipy_stats.sem(values))
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-12)


def test_one_value_has_no_known_width() -> None:
    assert stats.student([3.0]).relative_half_width == np.inf


def test_batch_means_covers_an_autocorrelated_mean_where_student_does_not(
    rng: np.random.Generator,
) -> None:
    """AR(1) with a correlation of 0.9: Student covers less than half of the time."""
    covered = {"batch": 0, "student": 0}
    for _ in range(200):
        noise = rng.normal(size=4000)
        series = np.empty(4000)
        series[0] = noise[0]
        for i in range(1, 4000):
            series[i] = 0.9 * series[i - 1] + noise[i]
        for name, found in (
            ("batch", stats.batch_means(series)),
            ("student", stats.student(series)),
        ):
            covered[name] += found.low <= 0 <= found.high
    assert covered["student"] < 120
    assert covered["batch"] > 170


def test_mean_interval_picks_by_count(rng: np.random.Generator) -> None:
    values = rng.normal(size=300)
    assert stats.mean_interval(values[:50]) == stats.student(values[:50])
    assert stats.mean_interval(values) == stats.batch_means(values)


def test_ecdf_keeps_the_tail(rng: np.random.Generator) -> None:
    values = rng.lognormal(size=100_000)
    value, exceeded = stats.ecdf(values, points=100)
    assert len(value) <= 100
    assert value[-1] == values.max()
    assert exceeded[-1] == 0
    middle = len(value) // 2
    assert exceeded[middle] == pytest.approx((values > value[middle]).mean())


def test_log_median_of_two_is_the_geometric_mean() -> None:
    assert stats.log_median([1.0, 100.0]) == pytest.approx(10.0)


def test_block_bootstrap_covers_the_median(rng: np.random.Generator) -> None:
    covered = 0
    for trial in range(100):
        sample = rng.lognormal(size=(40, 3))
        draws = stats.block_bootstrap(
            sample, lambda b: np.median(b, axis=0), replicates=400, seed=trial
        )
        low, high = stats.percentile_interval(draws)
        covered += int(((low <= 1) & (high >= 1)).sum())
    assert 0.90 <= covered / 300 <= 0.99


def test_fit_line_recovers_and_reports_the_worst_point() -> None:
    x = np.array([4096, 8192, 65536])
    fit = stats.fit_line(x, 80_000 + 2.5 * x)
    assert (fit.intercept, fit.slope) == pytest.approx((80_000, 2.5))
    assert fit.max_relative_error < 1e-12


def test_fit_line_equals_weighted_curve_fit(rng: np.random.Generator) -> None:
    x = np.geomspace(4096, 1 << 20, 16)
    y = (80_000 + 2.5 * x) * rng.lognormal(0, 0.05, size=16)
    ours = stats.fit_line(x, y)
    theirs, _ = optimize.curve_fit(lambda s, a, b: a + b * s, x, y, p0=[1, 1], sigma=y)
    assert (ours.intercept, ours.slope) == pytest.approx(tuple(theirs), rel=1e-4)


def test_relative_nnls_equals_weighted_scipy(rng: np.random.Generator) -> None:
    design = rng.uniform(size=(20, 3))
    y = design @ [1.0, 0.0, 2.0] + 0.5
    ours, residual = stats.relative_nnls(design, y)
    theirs, theirs_residual = optimize.nnls(design / y[:, None], np.ones(20))
    assert ours == pytest.approx(theirs)
    assert residual == pytest.approx(theirs_residual)


def test_a_line_tells_how_far_it_misses(rng: np.random.Generator) -> None:
    x = np.geomspace(4096, 1 << 20, 400)
    fit = stats.fit_line(x, (5e4 + 2 * x) * (1 + rng.normal(0, 0.05, 400)))
    assert fit.typical_relative_error == pytest.approx(0.05, rel=0.1)
    assert fit.max_relative_error > 2 * fit.typical_relative_error


def test_saturation_depth_interpolates_on_the_log_axis() -> None:
    depths = [1, 2, 4, 8, 16, 32]
    rates = [1.0, 2.0, 4.0, 4.0, 4.0, 4.0]
    assert stats.saturation_depth(depths, rates, share=0.75) == pytest.approx(2**1.5)
    assert stats.saturation_depth(depths, [5.0] * 6) == 1


def test_saturation_depth_is_that_of_what_was_measured() -> None:
    """``q / (q + 7)`` gives 0.973 at 256, and 90 % of that at 49; between depths it is a line."""
    depths = 2.0 ** np.arange(9)
    assert stats.saturation_depth(depths, depths / (depths + 7)) == pytest.approx(49, rel=0.06)
    assert stats.saturation_depth(depths, depths) == pytest.approx(0.9 * 256, rel=0.05)


def test_noise_on_a_plateau_does_not_move_the_depth(rng: np.random.Generator) -> None:
    depths = 2.0 ** np.arange(9)
    rates = np.minimum(depths, 8) * (1 + rng.normal(0, 0.01, (50, 9)))
    found = [stats.saturation_depth(depths, each) for each in rates]
    assert np.std(found) < 0.02 * np.mean(found)


def test_prediction_errors_by_hand() -> None:
    errors = stats.prediction_errors([1.0, 2.0, 4.0], [1.1, 2.0, 3.0])
    assert errors.mre == pytest.approx((0.1 + 0 + 0.25) / 3)
    assert errors.median_ape == pytest.approx(0.1)
    assert errors.mae == pytest.approx((0.1 + 1.0) / 3)
    assert errors.r2 == pytest.approx(1 - (0.01 + 1) / (14 / 3))


def test_a_saturating_curve_rises_once() -> None:
    depths = 2.0 ** np.arange(9)
    assert stats.second_rise(depths, 100 * depths / (depths + 12)) is None


def test_a_second_step_is_found_where_it_is() -> None:
    depths = 2.0 ** np.arange(9)
    rates = 100 * depths / (depths + 2) * np.where(depths > 64, 1.3, 1.0)
    pair = stats.second_rise(depths, rates)
    assert pair is not None
    flat, steep = pair
    assert depths[steep] == 64
    assert depths[flat] == 32
    assert stats.doubling_gains(depths, rates)[steep] == pytest.approx(np.log(1.3), abs=0.03)


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
