"""Intervals of series whose neighbours are alike, and which percentiles so many samples support."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.stats import correlated_mean, supported


def coverage(keep: float, count: int, span: int = 1, runs: int = 400) -> float:
    """Share of series, each value `keep` of the one before and noise, whose mean of 0 is inside."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(runs):
        noise = rng.normal(size=count)
        series = np.empty(count)
        state = rng.normal() / np.sqrt(1 - keep**2)
        for index in range(count):
            state = keep * state + noise[index]
            series[index] = state
        found = correlated_mean(series, span)
        assert found is not None
        inside += found.low <= 0 <= found.high
    return inside / runs


@pytest.mark.parametrize(("keep", "count"), [(0.0, 400), (0.9, 400), (0.9, 2000), (0.98, 2000)])
def test_intervals_hold_with_and_without_correlation(keep: float, count: int) -> None:
    assert 0.90 <= coverage(keep, count) <= 0.99


def test_a_batch_is_longer_than_a_queue() -> None:
    """Of 400 requests 64 at a time are six queues' worth, too few to judge."""
    assert correlated_mean(np.arange(400.0), span=64) is None
    found = correlated_mean(np.ones(640), span=64)
    assert found is not None
    assert found.half_width == 0


@pytest.mark.parametrize(
    ("percent", "count", "told"),
    [(50, 20, True), (50, 19, False), (99, 1000, True), (99, 999, False),
     (99.9, 10_000, True), (99.99, 20_000, False)],
)  # fmt: skip
def test_ten_samples_lie_beyond_a_percentile(percent: float, count: int, told: bool) -> None:
    assert supported(percent, count) is told
