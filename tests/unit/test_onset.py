"""Where a series rises: the place, how sure, and that noise alone rises nowhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ssdscope import stats

THRESHOLDS = (1.5, 3.0, 6.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(19790401)


def test_the_best_split_is_that_of_brute_force(rng: np.random.Generator) -> None:
    values = np.concatenate([rng.normal(0, 1, 70), rng.normal(1, 1, 50)])
    found = stats.onset(values)
    costs = [values[:k].var() * k + values[k:].var() * (120 - k) for k in range(8, 113)]
    assert found is not None
    assert found.place == 8 + int(np.argmin(costs))
    assert found.before == pytest.approx(values[: found.place].mean())


def test_the_gain_of_shares_is_that_of_a_likelihood_ratio_test(rng: np.random.Generator) -> None:
    above = np.concatenate([rng.random(300) < 0.02, rng.random(200) < 0.2])
    found = stats.excess_onset(np.where(above, 9.0, 1.0), (3.0,))
    assert found is not None
    k = found.place
    table = [[above[:k].sum(), (~above[:k]).sum()], [above[k:].sum(), (~above[k:]).sum()]]
    test = scipy_stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert found.score == pytest.approx(test.statistic / 2)


def test_intervals_hold_the_place(rng: np.random.Generator) -> None:
    """Latencies of which from some place on one in fifty is ten times as long; spikes as ever."""
    held = 0
    for _ in range(200):
        place = int(rng.integers(1000, 3000))
        values = np.exp(0.1 * np.abs(rng.normal(size=5000)))
        values[rng.random(5000) < 0.01] *= 3
        values[place:][rng.random(5000 - place) < 0.02] *= 10
        found = stats.excess_onset(values, THRESHOLDS)
        assert found is not None
        held += found.interval[0] <= place <= found.interval[1]
    assert held >= 184


def test_rare_slow_values_are_placed_where_the_mean_is_at_a_loss(
    rng: np.random.Generator,
) -> None:
    values = np.exp(0.15 * np.abs(rng.normal(size=4000)))
    values[rng.random(4000) < 0.02] += rng.exponential(8.0)
    values[2500:][rng.random(1500) < 0.02] = 40.0
    found = stats.excess_onset(values, (1.5, 3.0, 6.0, 12.0, 24.0))
    assert found is not None
    assert found.place == pytest.approx(2500, abs=100)


def test_noise_gains_little(rng: np.random.Generator) -> None:
    gains = []
    for _ in range(200):
        found = stats.excess_onset(np.exp(np.abs(rng.normal(size=2000))), THRESHOLDS)
        gains.append(0.0 if found is None else found.score)
    assert max(gains) < 12


def test_what_never_rises_has_no_onset() -> None:
    assert stats.onset(np.ones(50)) is None
    assert stats.onset([1.0, 2.0, 3.0]) is None
    assert stats.excess_onset(np.ones(50), THRESHOLDS) is None
    assert stats.excess_onset(np.repeat([9.0, 1.0], 50), THRESHOLDS) is None
