"""Periods by folding: right where there is one, silent where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ssdscope import stats

OFFSETS, PERIOD = 128, 8
CANDIDATES = range(2, 17)


def profile(
    seed: int, effect: float, repetitions: int, period: int = PERIOD
) -> tuple[np.ndarray, np.ndarray]:
    """Medians of lognormal latencies with spikes; every `period`-th offset is slower."""
    rng = np.random.default_rng(seed)
    places = np.arange(OFFSETS)
    latency = np.where(places % period == 0, 1 + effect, 1.0)
    latency = latency * rng.lognormal(0, 0.15, (repetitions, OFFSETS))
    latency[rng.random(latency.shape) < 0.01] *= 20
    return places, np.log(np.median(latency, axis=0))


def verdicts(effect: float, repetitions: int, runs: int) -> dict[str, float]:
    """Shares of runs whose two halves name the right period, none, a wrong one."""
    told = {"right": 0, "none": 0, "wrong": 0}
    for run in range(runs):
        found = {
            stats.scan_periods(
                *profile(seed, effect, repetitions), CANDIDATES, permutations=99
            ).period
            for seed in (2 * run, 2 * run + 1)
        }
        period = found.pop() if len(found) == 1 else None
        told["none" if period is None else "right" if period == PERIOD else "wrong"] += 1
    return {word: count / runs for word, count in told.items()}


@pytest.mark.parametrize(
    ("effect", "repetitions", "least_right"), [(0.5, 4, 1.0), (0.2, 16, 1.0), (0.1, 64, 0.95)]
)
def test_the_power_of_the_published_table(
    effect: float, repetitions: int, least_right: float
) -> None:
    told = verdicts(effect, repetitions, runs=20)
    assert told["right"] >= least_right
    assert told["wrong"] == 0


def test_a_flat_drive_has_no_period() -> None:
    assert verdicts(0.0, 16, runs=30) == {"right": 0, "none": 1, "wrong": 0}


@pytest.mark.parametrize("period", [3, 6, 12, 5, 16])
def test_periods_that_are_no_power_of_two(period: int) -> None:
    scan = stats.scan_periods(*profile(1, 0.5, 16, period), CANDIDATES, permutations=99)
    assert scan.period == period
    assert scan.p_value == 0.01


def test_of_nested_periods_the_outer_one() -> None:
    places, logs = profile(1, 0.3, 16)
    nested = logs + np.where(places % 4 == 0, 0.1, 0.0)
    assert stats.scan_periods(places, nested, CANDIDATES, permutations=99).period == PERIOD


def test_the_share_is_that_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(1)
    places, values = rng.integers(0, 1000, 600), rng.normal(size=600)
    values += places % 5
    groups = [values[places % 5 == each] for each in range(5)]
    f = scipy_stats.f_oneway(*groups).statistic
    plain = f * 4 / (f * 4 + 595)
    assert stats.explained_share(places, values, 5) == pytest.approx(1 - (1 - plain) * 599 / 595)


def test_the_null_is_exact_for_places_drawn_at_random() -> None:
    """A series that is far from independent shows a period no more often than it should."""
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        drift = np.cumsum(rng.normal(size=200)) + 3 * (np.arange(200) % 8 == 0)
        places = rng.integers(0, 10_000, 200)
        scan = stats.scan_periods(places, drift, CANDIDATES, alpha=0.05, permutations=39)
        found += scan.period is not None
    assert found <= 12  # of a binomial with 5 in 100, one time in a thousand more


def test_strata_have_profiles_of_their_own() -> None:
    rng = np.random.default_rng(2)
    places, kind = rng.integers(0, 4096, 2000), rng.integers(0, 2, 2000)
    opposite = np.where(kind == 0, 1, -1) * np.where(places % 6 == 0, 1.0, 0.0)
    values = stats.centred(opposite + rng.normal(0, 0.3, 2000), kind)
    scan = stats.scan_periods(places, values, CANDIDATES, strata=kind, permutations=99)
    assert scan.period == 6
    apart = stats.scan_periods(places, values, CANDIDATES, permutations=99)
    assert apart.explained.max() < scan.explained.max() / 2


def test_too_few_permutations_are_refused() -> None:
    with pytest.raises(ValueError, match="permutations cannot show"):
        stats.scan_periods(*profile(1, 0.5, 4), CANDIDATES, permutations=50)


def test_values_that_are_all_the_same_explain_nothing() -> None:
    scan = stats.scan_periods(np.arange(64), np.ones(64), CANDIDATES, permutations=99)
    assert scan.period is None
