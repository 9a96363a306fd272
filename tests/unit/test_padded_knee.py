"""Spare space and padding, from where requests of three sizes find the knee."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.probes import padded_knee
from ssdscope.probes.padded_knee import SIZES
from ssdscope.probes.slow_writes import Knee, knee_alone, slower_before, waits_before

SPARE = 400e6


@pytest.mark.parametrize("padding", [0.0, 8192.0, 65536.0])
def test_spare_space_is_told_from_padding(padding: float) -> None:
    knees = SPARE / (1 + padding / np.array(SIZES)) * np.array([1.002, 0.999, 1.001])
    line = padded_knee._line(knees)
    assert line is not None
    assert line[0] == pytest.approx(SPARE, rel=0.02)
    assert line[1] == pytest.approx(padding, abs=3000)


@pytest.mark.parametrize(
    "shares",
    [
        (0.2761, 0.2587, 0.2436),  # the first collections show late
        (0.1859, 0.2215, 0.2188),  # so they do, by chance
        (0.0711, 0.0608, 0.0568),  # common log blocks, with other merges before
        (0.4187, 0.0540, 0.0540),  # likewise
        (0.4, 0.2, 0.1),  # a log block for each unit: as many requests
    ],
)
def test_what_is_no_spare_space_depends_on_the_size_otherwise(shares: tuple[float, ...]) -> None:
    assert padded_knee._line(np.array(shares) * 1e9) is None


@pytest.mark.parametrize("size", SIZES)
def test_no_request_begins_a_merge_unit_or_runs_over_into_one(size: int) -> None:
    """Shared log blocks take what begins a unit elsewhere, which longer requests do more often."""
    unit, span = 512 * 1024, 1 << 30
    places = padded_knee._within(size).places(5000, span, np.random.default_rng(1)).astype(np.int64)
    assert ((places % unit != 0) & (places // unit == (places + size - 1) // unit)).all()
    assert places.min() < span // 50
    assert span - span // 50 < places.max() < span - size


def test_where_writes_wait_before_there_is_no_knee() -> None:
    """Log blocks are merged again and again; a burst of somebody else's is one wait."""
    latencies = np.ones(4000)
    latencies[2000::40] = 300.0
    assert not waits_before(latencies, 2000)
    latencies[500] = 300.0
    assert not waits_before(latencies, 2000)
    latencies[:2000:100] = 300.0
    assert waits_before(latencies, 2000)


IN_TURN = np.array([63.6, 63.6, 109.0, 483.4])
"""Microseconds that writes behind a buffer take in turn, on a datacentre drive."""


def test_waits_for_room_in_a_buffer_are_no_knee() -> None:
    """Where half of all writes wait, their median is that of either half by chance."""
    latencies = np.tile(IN_TURN, 600)
    latencies[1002::64] = 63.6
    assert knee_alone(latencies, SIZES[0], SIZES[0] * 20_000, exact=False) is None


def test_behind_a_buffer_the_first_long_wait_tells_where_collection_begins() -> None:
    """More writes wait from there on, too, which is surer, but not as sharp."""
    begin, size = 9600, SIZES[1]
    latencies = np.tile(IN_TURN, 4000)
    later = np.arange(begin + 700, latencies.size)
    latencies[later[later % 8 == 0]] = 483.4
    latencies[begin::280] = 40_000.0
    knee = knee_alone(latencies, size, size * 20_000, exact=False)
    assert knee is not None
    assert knee.spare_bytes == pytest.approx(begin * size, rel=0.002)


def test_a_few_that_take_a_little_longer_for_a_while_are_no_knee() -> None:
    """A table turns over now and then; what waits for collection does so for long, and rarely."""
    rng = np.random.default_rng(5)
    latencies = np.exp(0.1 * np.abs(rng.standard_normal(20_000)))
    begin, turn = 9000, np.arange(3600, 4000)
    for after in (0, 4000, 8000, 12_000):
        latencies[turn + after] *= np.where(rng.random(400) < 0.1, 1.8, 1.0)
    waiting = np.arange(begin, latencies.size)
    latencies[waiting[rng.random(waiting.size) < 0.01]] *= 300.0
    knee = knee_alone(latencies, 4096, 4096 * 100_000)
    assert knee is not None
    assert knee.spare_bytes == pytest.approx(begin * 4096, rel=0.02)


def test_a_rise_that_passes_is_no_beginning() -> None:
    """A table that turns over now and then makes writes longer for a while, as collection does."""
    rng = np.random.default_rng(5)
    latencies = rng.normal(100.0, 8.0, 110_000)
    latencies[48_000:51_000][rng.random(3000) < 0.4] *= 1.5
    latencies[60_000:72_000][rng.random(12_000) < 0.15] *= 1.3
    latencies[72_000:][rng.random(38_000) < 0.2] *= 10.0
    knee = knee_alone(latencies, 4096, 4096 * 200_000)
    assert knee is not None
    assert knee.spare_bytes > 59_900 * 4096


@pytest.mark.parametrize("apart", [1500, 900])
def test_the_first_of_bursts_evenly_apart_is_the_beginning(apart: int) -> None:
    """One write of a thousand waits in the first few: too few, by their number alone."""
    rng = np.random.default_rng(8)
    latencies = rng.normal(100.0, 8.0, 40_000)
    latencies[rng.random(latencies.size) < 0.005] *= 1.5
    first = 17_000
    for round_, burst in enumerate(range(first, latencies.size - 9, apart)):
        latencies[burst : burst + (1 if round_ < 3 else 9)] *= 100.0
    knee = knee_alone(latencies, 4096, 4096 * 80_000)
    assert knee is not None
    assert knee.spare_bytes == first * 4096


def test_waits_begin_where_none_were_however_little_they_add() -> None:
    """One in sixty waits from there on; all others take longer, too, and pass for drift."""
    rng = np.random.default_rng(12)
    latencies = rng.normal(100.0, 8.0, 50_000)
    first, forced = 18_700, 26_000
    latencies[first:] *= 1.05
    latencies[first:][rng.random(latencies.size - first) < 0.016] *= 2.2
    latencies[forced:][rng.random(latencies.size - forced) < 0.03] *= 80.0
    knee = knee_alone(latencies, 4096, 4096 * 250_000)
    assert knee is not None
    assert knee.spare_bytes == pytest.approx(first * 4096, rel=0.02)


def test_collection_beside_writes_is_seen_before_they_wait_for_it() -> None:
    """A drift is not seen there more than elsewhere."""
    knee = Knee(1000 * SIZES[0], 0.0, 0.0, 2.0)
    noise = np.random.default_rng(1).normal(1.0, 0.05, 1000)
    drift = 1 + 0.05 * np.sin(np.arange(1000) / 60)
    beside = np.where(np.arange(1000) < 850, 1.0, 1.06)
    assert not slower_before(noise, knee, SIZES[0])
    assert not slower_before(noise * drift, knee, SIZES[0])
    assert slower_before(noise * beside, knee, SIZES[0])
