"""Traces made up after patterns: each shows what its name says, and nothing else."""

from functools import cache

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.targets.traces import COLUMN_TYPES, SYNTHETIC_MARK, TraceRows
from ssdscope.workloads.patterns import PATTERNS, SPACE_BYTES, make, recipe_of
from ssdscope.workloads.windows import window_features

HOUR_S = 3600.0
SEEDS = (1, 2, 3)


@cache
def made(name: str, seed: int) -> tuple[TraceRows, dict[str, np.ndarray]]:
    rows = make(name, seconds=HOUR_S, seed=seed)
    return rows, window_features(rows)


def spread(values: np.ndarray) -> float:
    return float(values.std() / values.mean())


@pytest.mark.parametrize("name", PATTERNS)
def test_requests_are_in_order_and_in_their_space(name: str) -> None:
    rows, table = made(name, 1)
    at = rows.arrival_ns.astype(np.int64)
    assert at[0] == 0
    assert (np.diff(at) >= 0).all()
    assert at[-1] <= HOUR_S * 1e9
    assert len(table["iops"]) == 60
    assert (table["requests"] > 0).all()
    assert {key: getattr(rows, key).dtype for key in COLUMN_TYPES} == COLUMN_TYPES
    assert not (rows.offset_bytes % np.uint64(4096)).any()
    assert (rows.offset_bytes + rows.bytes).max() <= SPACE_BYTES + 2**20
    again = make(name, seconds=HOUR_S, seed=1)
    assert (again.offset_bytes == rows.offset_bytes).all(), "the same seed, the same trace"


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes_in_a_steady_one(seed: int) -> None:
    _, table = made("steady", seed)
    assert spread(table["iops"]) < 0.2
    assert spread(table["wr_ratio"]) < 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_a_daily_wave_comes_two_to_four_times(seed: int) -> None:
    _, table = made("daily", seed)
    waves = np.abs(np.fft.rfft(table["iops"] - table["iops"].mean()))
    assert 2 <= waves.argmax() <= 4
    assert spread(table["iops"]) > 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_bursts_are_few_and_high(seed: int) -> None:
    _, table = made("bursts", seed)
    high = table["iops"] > 2 * np.median(table["iops"])
    assert 0.05 < high.mean() < 0.3
    assert table["iops"].max() > 5 * np.median(table["iops"])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_batch_job_starts_in_the_second_half_and_stays(seed: int) -> None:
    rows, _ = made("batch", seed)
    at_min = rows.arrival_ns[rows.bytes >= np.uint64(2**17)] / 60e9
    assert 30 <= at_min[0] <= 55
    assert at_min[-1] > 59


@pytest.mark.parametrize("seed", SEEDS)
def test_a_working_set_moves_and_its_rate_does_not(seed: int) -> None:
    rows, table = made("moving", seed)
    minute = rows.arrival_ns // np.uint64(60_000_000_000)
    first, last = (set((rows.offset_bytes[minute // 6 == n] >> 24).tolist()) for n in (0, 9))
    assert len(first & last) <= 0.3 * len(first)
    assert spread(table["iops"]) < 0.2


def test_two_seeds_are_two_servers() -> None:
    rates = {round(float(made("steady", seed)[1]["iops"].mean()), 2) for seed in SEEDS}
    assert len(rates) == len(SEEDS)


def test_what_is_made_says_so() -> None:
    recipe = recipe_of("Mix")
    assert recipe.name == "mix"
    assert recipe.label.startswith(SYNTHETIC_MARK)
    assert len(recipe.make(600, 1)) > 1000


def test_too_short_or_too_long_is_refused() -> None:
    for seconds in (60.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="no pattern shows"):
            make("daily", seconds=seconds, seed=1)
    with pytest.raises(UsageError, match="more than"):
        make("daily", seconds=1e8, seed=1)
