"""What pauses gain, on series made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.series import Series
from ssdscope.probes.collection.pauses import CLOSE, SERVED, Pauses, gain, growth
from ssdscope.probes.collection.trials import Waits

PERIODS = np.geomspace(900_000, 60_000_000_000, 10)


def taken(seed: int, gains: float, onset_ns: float) -> Series:
    """Make trials, finer around the onset, one in ten spoilt; in stratum 1 nothing shows."""
    rng = np.random.default_rng(seed)
    around = [onset_ns * np.geomspace(1 / each, each, 8) for each in (2.5, 1.25)]
    x = np.concatenate([np.tile(PERIODS, 6), np.tile(around, 4).ravel()])
    y = np.where(x > onset_ns, 10.0, gains * 10.0) * rng.lognormal(0, 0.05, x.size)
    y[rng.random(y.size) < 0.1] *= 3
    other = Series.of(x, rng.lognormal(0, 0.05, x.size), stratum=np.ones(x.size))
    served = Series.of(x, np.full(x.size, 90_000.0), stratum=np.full(x.size, SERVED))
    return Series.of(x, y).then(other).then(served)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("onset_ns", [6e6, 1e8, 3e9])
def test_a_step_over_the_pause_is_found_where_it_shows(seed: int, onset_ns: float) -> None:
    series = taken(seed, 1.5, onset_ns)
    found = gain(series)
    assert found.score > FOUND["step"]
    assert found.detail["stratum"] == 0
    assert found.interval is not None
    assert found.interval[0] < onset_ns < found.interval[1]
    assert growth(series, 0).margin > APART


def test_what_gains_a_little_more_is_no_later_onset() -> None:
    """Pauses of hardly more than the onset may get less done; the middle says where it is."""
    series = taken(1, 4.0, 1e8)
    late = (series.stratum == 0) & (series.x > 1.1e8)
    found = gain(series.with_y(np.where(late, series.y / 1.3, series.y)))
    assert found.interval is not None
    assert found.interval[0] < 1e8 < found.interval[1] < 1.1e8


def test_without_a_gain_there_is_none() -> None:
    scores = [gain(taken(seed, 1.0, 1e8)).score for seed in range(30)]
    assert max(scores) < FOUND["step"] / 2


def test_a_gain_that_grows_slowly_is_no_onset() -> None:
    rng = np.random.default_rng(1)
    x = np.repeat(np.geomspace(PERIODS[0], PERIODS[-1], 40), 4)
    y = (25 - np.log(x / PERIODS[0])) * rng.lognormal(0, 0.03, x.size)
    series = Series.of(x, y)
    assert growth(series, 0).margin < 0


def test_a_series_of_nothing_says_nothing() -> None:
    assert gain(Series.of([], [])).estimate is None


def test_what_a_buffer_holds_is_declared() -> None:
    plan = Pauses(size_bytes=65_536, periods_ns=(900_000,), held_bytes=1 << 20)
    assert "held_bytes=1048576" in repr(plan)


class Bisected(Pauses):
    """Trials of a drive that works after a tenth of a second; every so many show the contrary."""

    ONSET_NS, ODD = 1e8, 12

    def _tried(self, bench: Any, _trials: Any, period_ns: int) -> Series:
        bench.tried.append(period_ns)
        gains = (period_ns >= self.ONSET_NS) != (len(bench.tried) % self.ODD == 0)
        return Series.of([period_ns] * 2, [10.0 if gains else 20.0, 9e4], stratum=[0, SERVED])


@pytest.mark.parametrize("ends_ns", [(4e7, 5e8), (9e7, 3e9), (2e6, 1.1e8)])
def test_bisection_leaves_an_onset_little_room_in_few_trials(ends_ns: tuple[float, float]) -> None:
    low, high = map(round, ends_ns)
    plan = Bisected(size_bytes=4096, periods_ns=(low, high), look=(0, 15.0), wrong=0.1, rounds=64)
    bench = SimpleNamespace(
        tried=[],
        bytes_written=0,
        progress=lambda *_: None,
        info=SimpleNamespace(capacity_bytes=1 << 30),
    )
    trials: Any = SimpleNamespace(waits=Waits(1.0, 2.0, 3.0))
    series = plan._bisected(bench, trials, 0, 0.1)  # type: ignore[arg-type]
    assert len(bench.tried) <= 40
    last = np.array(bench.tried[-8:])
    assert last.max() < CLOSE**2 * Bisected.ONSET_NS
    assert last.min() > Bisected.ONSET_NS / CLOSE**2
    assert (series.stratum == SERVED).sum() == len(bench.tried)
