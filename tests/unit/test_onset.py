"""Where a series rises: the place, how sure, and that noise alone rises nowhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ssdscope import stats
from ssdscope.stats.onset import share_gains


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
    places, gains = share_gains(above, 8)
    k = int(places[np.argmax(gains)])
    table = [[above[:k].sum(), (~above[:k]).sum()], [above[k:].sum(), (~above[k:]).sum()]]
    test = scipy_stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert gains.max() == pytest.approx(test.statistic / 2)


def test_what_never_rises_has_no_onset() -> None:
    assert stats.onset(np.ones(50)) is None
    assert stats.onset([1.0, 2.0, 3.0]) is None
    assert not share_gains(np.zeros(50, bool), 8)[1].size
    assert not (share_gains(np.repeat([True, False], 50), 8)[1] > 0).any()
