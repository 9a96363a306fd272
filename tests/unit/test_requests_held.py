"""What holds answers back is taken out of the rates of short queues."""

import numpy as np
import pytest
from scipy.stats import binom

from ssdscope.probes.latency.held import OFTEN, never_held

DEPTHS = np.array([8.0, 1, 2, 3, 5, 64])


def one_in_two(count: np.ndarray) -> np.ndarray:
    """Return the rate of a drive that serves two requests at once."""
    return np.minimum(count, 2.0)


def held(depths: np.ndarray, share: float) -> np.ndarray:
    """Return the rates of such a drive while each request is inside for a share of the time."""
    every = [np.arange(depth + 1) for depth in depths]
    means = [
        one_in_two(each) @ binom.pmf(each, depth, share)
        for each, depth in zip(every, depths, strict=True)
    ]
    return np.array(means)


def test_rates_of_short_queues_are_those_of_requests_that_all_are_inside() -> None:
    share = 0.91
    rates, strata = held(DEPTHS, share), np.zeros(DEPTHS.size, int)
    assert rates[2] / rates[-1] < 0.95, "a queue of two seems too short"
    places, found = never_held(DEPTHS, rates, share * DEPTHS, strata)
    short = share**DEPTHS >= OFTEN
    assert short.tolist() == [False, True, True, True, True, False]
    assert places[short].tolist() == DEPTHS[short].tolist()
    assert found[short] == pytest.approx(one_in_two(DEPTHS[short]))
    assert found[~short].tolist() == rates[~short].tolist()
    assert places[~short] == pytest.approx(share * DEPTHS[~short])


def test_what_is_measured_together_counts_together() -> None:
    strata = np.repeat([0, 1], DEPTHS.size)
    shares = np.where(strata == 0, 1.0, 0.85)
    depths = np.tile(DEPTHS, 2)
    rates = np.concatenate([held(DEPTHS, 1.0), held(DEPTHS, 0.85)])
    places, found = never_held(depths, rates, shares * depths, strata)
    calm = strata == 0
    assert places[calm].tolist() == depths[calm].tolist()
    assert found[calm] == pytest.approx(rates[calm])
    short = shares**depths >= OFTEN
    assert found[short] == pytest.approx(one_in_two(depths[short]))
