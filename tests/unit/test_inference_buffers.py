"""The engines that tell how much a memory holds: waits of all runs at one step, ends, an area."""

from __future__ import annotations

import numpy as np
import pytest
from scripts.calibration.nulls import NULLS, latencies

from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.series import Series
from ssdscope.probes.buffer.extent import extent
from ssdscope.probes.buffer.locked import locked
from ssdscope.probes.region.filled import filled
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


def runs_to(ends: list[int], share: float, steps: int = STEPS) -> Series:
    """Make runs of noise that wait at their ends, and behind them as often as a share says."""
    rng = stream(5, "filled")
    times = np.array([latencies("noise", steps, rng) for _ in ends])
    for row, end in zip(times, ends, strict=True):
        behind = end + np.flatnonzero(rng.random(steps - end) < share)
        row[[end, *behind]] *= 20
    strata = np.repeat(np.arange(len(ends)), steps)
    return Series.of(np.tile(np.arange(steps), len(ends)), times, stratum=strata)


@pytest.mark.parametrize("share", [0.05, 1.0])
def test_a_memory_is_as_large_as_the_fullest_run(share: float) -> None:
    """What earlier runs have left ends the others a little sooner."""
    found = filled(runs_to([100, 97, 95, 99, 100, 96], share))
    assert found.score >= FOUND["filled"]
    assert found.margin >= APART
    assert found.estimate == pytest.approx(100, abs=2)
    assert found.interval is not None
    assert found.interval[0] <= 100 <= found.interval[1]


def test_runs_that_end_here_and_there_have_no_place_in_common() -> None:
    found = filled(runs_to([100, 60, 140, 90, 170, 45], 0.3))
    assert found.score < FOUND["filled"] or found.margin < APART


@pytest.mark.parametrize("steps", [0, 10])
def test_of_too_few_steps_no_end_is_told(steps: int) -> None:
    times = np.ones(2 * steps)
    series = Series.of(np.tile(np.arange(steps), 2), times, stratum=np.repeat([0, 1], steps))
    assert filled(series).estimate is None
