"""How far apart events return: the period, among events that come at random."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope import stats


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(18981206)


@pytest.mark.parametrize("period", [6, 48, 97, 768])
def test_the_period_among_spikes(rng: np.random.Generator, period: int) -> None:
    events = rng.random(50 * period + 2000) < 0.01
    events[period // 3 :: period] = True
    found = stats.recurrence(events)
    assert found is not None
    assert found.period == period
    assert found.p_value < 1e-6


def test_events_that_come_a_step_early_or_late_have_no_multiple_for_their_period() -> None:
    """Lags from 32 on are counted with their neighbours, shorter ones to the step."""
    rng = np.random.default_rng(4)
    at = 16 * np.arange(1, 250)
    events = np.zeros(4096, bool)
    events[(at + rng.integers(-1, 2, at.size))[rng.random(at.size) < 0.7]] = True
    found = stats.recurrence(events)
    assert found is not None
    assert found.period == 16


def test_rare_returns_among_many_events_have_no_multiple_for_their_period() -> None:
    """After each of its multiples as much returns, and one of so many looks most certain."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        events = rng.random(65_536) < 0.054
        at = 72 * np.arange(1, 900) + rng.integers(0, 2, 899)
        events[at[rng.random(at.size) < 0.7]] = True
        found = stats.recurrence(events)
        assert found is not None
        assert (found.period, found.p_value < 1e-12) == (72, True), seed


def test_events_that_half_of_the_rounds_miss_have_no_multiple_for_their_period() -> None:
    """A threshold in the middle of equal waits leaves some of them, and any multiple returns."""
    for seed in range(10):
        events = np.zeros(4096, bool)
        events[5::8] = np.random.default_rng(seed).random(512) < 0.4
        found = stats.recurrence(events)
        assert found is not None
        assert found.period == 8, seed


def test_clusters_and_lost_steps(rng: np.random.Generator) -> None:
    """Three slow writes per period, and now and then a write of somebody else in between."""
    gaps = 200 - (rng.random(60) < 0.2)
    events = np.zeros(gaps.sum() + 50, bool)
    for start in np.cumsum(gaps):
        events[[start, start + 3, start + 7]] = True
    found = stats.recurrence(events)
    assert found is not None
    assert found.period == 200


@pytest.mark.parametrize("apart", [16, 32])
def test_what_returns_within_bursts_only_is_no_period(apart: int) -> None:
    """Planes that are collected in one go make a write wait each, and then none for long."""
    events = np.zeros(12 * 2048, bool)
    for start in range(700, events.size, 2048):
        events[start : start + 6 * apart : apart] = True
    assert stats.recurrence(events[:4096]) is None
    found = stats.recurrence(events)
    assert found is not None
    assert found.period == 2048


def test_a_long_event_counts_once() -> None:
    events = np.zeros(4000, bool)
    for start in range(10, 4000, 100):
        events[start : start + 20] = True
    found = stats.recurrence(events)
    assert found is not None
    assert found.period == 100
    assert found.share == pytest.approx(1.0, abs=0.1)


def test_random_events_do_not_return(rng: np.random.Generator) -> None:
    """The p-value is that of the best of all lags: as uniform as discrete counts allow."""
    found = [stats.recurrence(rng.random(3000) < 0.03) for _ in range(300)]
    values = np.array([each.p_value for each in found if each is not None])
    assert (values < 0.05).mean() < 0.09
    assert values.min() > 1e-5


def test_returns_are_those_of_counting(rng: np.random.Generator) -> None:
    events = rng.random(500) < 0.05
    events[::25] = True
    found = stats.recurrence(events)
    assert found is not None
    first = np.flatnonzero(events & ~np.concatenate([[False], events[:-1]]))
    pairs = sum(later - one == found.period for one in first for later in first)
    expected = (first.size / 500) ** 2 * (500 - found.period)
    share = (pairs - expected) / (first.size * (1 - found.period / 500))
    assert found.share == pytest.approx(share)


def test_a_handful_of_events_has_no_period() -> None:
    events = np.zeros(1000, bool)
    events[[100, 200, 300]] = True
    assert stats.recurrence(events) is None
    assert stats.recurrence(np.ones(10, bool)) is None


def test_events_that_return_less_often_than_by_chance_have_no_period() -> None:
    events = np.zeros(40, bool)
    events[np.random.default_rng(40).choice(40, 6, replace=False)] = True
    assert stats.recurrence(events) is None


@pytest.mark.parametrize("period", [12, 192, 4608])
def test_a_train_is_found_among_many_times_as_many_events(
    rng: np.random.Generator, period: int
) -> None:
    """As spikes do, twenty to each that returns; what was before it began does not matter."""
    events = rng.random(40 * period + 2000) < min(20 / period, 0.02)
    events[10 * period + 5 :: period] = True
    missed = 10 * period + 5 + period * np.arange(2, 30, 9)
    events[missed] = False
    found = stats.train(events, 10)
    assert found is not None
    assert found.period == period
    assert found.share >= 0.8


def test_there_is_no_train_by_chance_nor_in_bursts(rng: np.random.Generator) -> None:
    for _ in range(20):
        assert stats.train(rng.random(20_000) < 0.03, 10) is None
        bursts = np.zeros(20_000, bool)
        for start in rng.integers(0, 19_900, 60):
            bursts[start : start + 60] = rng.random(60) < 0.5
        assert stats.train(bursts, 10) is None


@pytest.mark.parametrize("stripe", [2, 3, 4, 5, 6, 8, 12])
def test_a_short_pattern_is_no_long_period(rng: np.random.Generator, stripe: int) -> None:
    """Planes take turns: where each round has a slow write, there is no period of many rounds."""
    for _ in range(4):
        slow = np.where(np.arange(17_500) % stripe == 0, 0.55, 0.06)
        found = stats.recurrence(rng.random(slow.size) < slow)
        assert found is not None
        assert found.period <= max(2 * stripe, 4)
