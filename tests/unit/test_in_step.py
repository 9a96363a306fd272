"""What keeps in step, among far more that is slow for other reasons."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.inference.levels import FOUND
from ssdscope.inference.recurrence import in_step, recurrence
from ssdscope.inference.series import Series
from ssdscope.probes.collection.one_place import levelled, waits
from ssdscope.seeds import stream


def spiky(seed: int, count: int = 32_768, period: int = 0) -> Series:
    """Make latencies with spikes, one in fifty; and waits of the same length, once in a period."""
    rng = np.random.default_rng(seed)
    latencies = rng.lognormal(0.0, 0.1, count)
    latencies[rng.random(count) < 0.02] *= 5
    if period:
        latencies[period // 3 :: period] *= 5
    return levelled(latencies)


@pytest.mark.parametrize("seed", range(3))
def test_rare_waits_in_step_are_found_among_spikes(seed: int) -> None:
    found = in_step(spiky(seed, period=1536), 2.0)
    assert found.estimate == 1536
    assert found.score > FOUND["recurrence"]
    assert found.effect > 0.8


def test_by_chance_nothing_is_in_step() -> None:
    scores = [in_step(spiky(seed, 8192), 2.0).score for seed in range(30)]
    assert max(scores) < FOUND["recurrence"] / 2


@pytest.mark.parametrize("period", [12, 48, 96, 384, 1536])
def test_one_period_is_told_to_the_write(period: int) -> None:
    found = waits(spiky(7, period=period))
    assert found.estimate is not None
    assert found.interval is not None
    assert round(found.estimate) == period
    assert found.interval[0] < period < found.interval[1]


def test_a_period_has_no_half_step() -> None:
    """Three distances that are summed are alike where all waits return at one of them."""
    latencies = np.ones(4096)
    latencies[5::128] = 10.0
    assert recurrence(levelled(latencies), 2.0).estimate == 128


def test_two_waits_in_a_round_move_no_period() -> None:
    """What lies two writes before each round's wait returns two distances beside it, too."""
    latencies = np.ones(4096)
    latencies[5::31] = latencies[7::31] = 10.0
    found = recurrence(levelled(latencies), 2.0)
    assert found.estimate == pytest.approx(31, abs=0.1)


def test_too_few_waits_say_nothing() -> None:
    latencies = np.ones(4096)
    latencies[5::1000] = 10.0
    assert waits(levelled(latencies)).score < FOUND["recurrence"]


def test_pages_of_one_type_are_no_collection() -> None:
    """Rows of slow pages come back as surely, but are a third of all; collection is still seen."""
    rng = stream(5, "test.types")
    writes = np.arange(12_000)
    times = np.array([0.75, 1.0, 1.25])[writes // 16 % 3] * np.exp(0.02 * rng.normal(size=12_000))
    alone = waits(levelled(times))
    assert alone.estimate == 48
    assert alone.margin < 0
    assert alone.rivals[0].name == "pages of one type"
    times[::960] *= 10
    both = waits(levelled(times))
    assert both.estimate == 960
    assert both.margin > 7
