"""The engines that tell how much a memory holds: waits at one step of all runs, and an area."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.inference.calibrate import NULLS, latencies
from ssdscope.inference.course import extent
from ssdscope.inference.levels import FOUND
from ssdscope.inference.locked import locked
from ssdscope.inference.series import Series
from ssdscope.seeds import stream

RUNS, STEPS = 8, 250


def waiting(times: np.ndarray) -> Series:
    """Count the runs that wait at each step: for twice what most do not take."""
    return Series.of(np.arange(times.shape[1]), (times > 2 * np.quantile(times, 0.2)).sum(axis=0))


@pytest.mark.parametrize("kind", NULLS)
def test_runs_that_have_nothing_in_common_wait_at_no_step(kind: str) -> None:
    for number in range(40):
        rng = stream((5, number), f"locked {kind}")
        times = np.array([latencies(kind, STEPS, rng) for _ in range(RUNS)])
        assert locked(waiting(times), RUNS).score < FOUND["locked"]


@pytest.mark.parametrize("again", [1, 40])
def test_the_first_common_wait_is_found_however_seldom_it_comes_again(again: int) -> None:
    for number in range(20):
        rng = stream((5, number), "locked")
        times = np.array([latencies("spikes", STEPS, rng) for _ in range(RUNS)])
        times[:, 70::again] *= 10
        found = locked(waiting(times), RUNS)
        assert found.estimate == 70
        assert found.score >= FOUND["locked"]
        assert found.effect == 1


def test_a_memory_of_a_few_steps_is_found() -> None:
    times = np.ones((RUNS, 64))
    times[:, 5:] = 20
    assert locked(Series.of(np.arange(64), (times > 2).sum(axis=0)), RUNS).estimate == 5


def test_of_nothing_no_step_is_told() -> None:
    assert locked(Series.of([], []), RUNS).estimate is None
    assert locked(Series.of(np.arange(64), np.zeros(64)), RUNS).estimate is None


@pytest.mark.parametrize("width", [0.0, 0.3, 1.0])
def test_the_area_is_told_wherever_the_curve_falls(width: float) -> None:
    """A memory that lets go of the oldest first, and one that does so in any order."""
    covered = 0
    for number in range(200):
        rng = stream((5, number), "extent")
        held = rng.uniform(0.3, 0.6)
        places = (rng.permutation(256) + rng.random(256)) / 256
        low, high = held - width / 2 * held, held + width / 2 * held
        share = np.interp(places, [low, high + 1e-9], [1.0, 0.0])
        found = extent(Series.of(places, rng.random(256) < share), 1000)
        assert found.estimate is not None
        assert found.interval is not None
        assert found.estimate == pytest.approx(1000 * held, rel=0.2)
        covered += found.interval[0] <= 1000 * held <= found.interval[1]
    assert covered >= 0.93 * 200


def test_where_nothing_falls_all_of_it_holds() -> None:
    places = (np.arange(64) + 0.5) / 64
    found = extent(Series.of(places, np.ones(64)), 100)
    assert found.estimate == 100
    assert found.effect == 0
    assert extent(Series.of([], []), 100).estimate is None
