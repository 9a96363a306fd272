"""Start-up and running phase on made-up response times."""

import numpy as np

from ssdscope.studies.uflip.phases import (
    LEAST_COUNT,
    MOST_COUNT,
    Counts,
    Phases,
    counts,
    find_phases,
    running_mean,
)

N = 2048


def noisy(values: object, seed: int = 1) -> np.ndarray:
    return np.asarray(values, dtype=float) * np.random.default_rng(seed).lognormal(0, 0.05, N)


def test_cheap_writes_at_first_are_a_start_up_phase() -> None:
    found = find_phases(noisy(np.where(np.arange(N) < 128, 1e5, 1e6)))
    assert 120 <= found.startup <= 136
    assert found.startup_ns is not None
    assert abs(found.startup_ns / 1e5 - 1) < 0.1
    assert abs(found.running_ns / 1e6 - 1) < 0.02


def test_what_is_level_has_none() -> None:
    found = find_phases(noisy(np.full(N, 1e5)))
    assert (found.startup, found.period, found.startup_ns) == (0, 1, None)
    constant = find_phases(np.full(N, 7.0))
    assert (constant.startup, constant.period, constant.running_ns) == (0, 1, 7.0)


def test_a_few_slow_requests_are_none() -> None:
    late = np.full(N, 1e4)
    late[[1900, 2000, 2040]] = 1e8
    assert find_phases(noisy(late)).startup == 0


def test_what_costs_at_first_only_is_none() -> None:
    assert find_phases(noisy(np.where(np.arange(N) < 4, 1e7, 1e5))).startup == 0


def test_the_running_phase_goes_up_and_down() -> None:
    found = find_phases(noisy(np.where(np.arange(N) % 32 == 0, 1e6, 1e5)))
    assert (found.startup, found.period) == (0, 32)


def test_what_is_left_out_and_taken_follows_the_phases() -> None:
    level, starting = Phases(0, 1, None, 1.0), Phases(128, 100, 1.0, 9.0)
    assert counts({"SR": level, "RW": starting}) == Counts({"SR": 0, "RW": 144}, 800)
    assert counts({"SR": level}).count == LEAST_COUNT
    assert counts({"RW": Phases(0, 5000, None, 1.0)}).count == MOST_COUNT


def test_the_running_average_is_of_all_so_far() -> None:
    assert list(running_mean([4.0, 2.0, 0.0])) == [4.0, 3.0, 2.0]
