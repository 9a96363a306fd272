"""Engines of hard disks, on series that a spindle, an arm and a cache would make."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.series import Series
from ssdscope.probes.disk.held import held
from ssdscope.probes.disk.tracks import cylinder, tracks
from ssdscope.probes.disk.turn import Turned, beneath, turn

PERIOD = 8.3e6
"""Nanoseconds, of 7,200 turns a minute."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(19560913)


def turning(
    rng: np.random.Generator, least: float, *, sigma: float = 0.1, periods: tuple[float, ...] = ()
) -> Series:
    """Make reads of 48 places, eight each, that take `least` and wait for their place."""
    each = np.resize(np.array(periods or (PERIOD,)), 48)
    angles = rng.uniform(0, 1, 48)
    spots = np.concatenate([rng.permutation(48) for _ in range(8)])
    begun, took, now = np.empty(spots.size), np.empty(spots.size), 0.0
    for at, spot in enumerate(spots):
        begun[at] = now + rng.uniform(0, 4e6)
        there = begun[at] + least
        wait = (angles[spot] * each[spot] - there) % each[spot]
        took[at] = (least + wait) * math.exp(sigma * abs(rng.normal()))
        now = begun[at] + took[at]
    return Series.of(spots, took, stratum=spots, time_ns=begun)


def turned(series: Series) -> Turned:
    return turn(series, 3e6, 20e6)


@pytest.mark.parametrize("sigma", [0.0, 0.05, 0.15])
def test_a_turn_is_told_from_its_half_even_without_noise(
    sigma: float, rng: np.random.Generator
) -> None:
    found = turned(turning(rng, 2e6, sigma=sigma)).found
    assert found.estimate == pytest.approx(PERIOD, rel=2e-4)
    assert found.score > FOUND["turn"]
    assert found.margin > APART


def test_the_interval_holds_the_turn(rng: np.random.Generator) -> None:
    inside = 0
    for _ in range(20):
        low, high = turned(turning(rng, 2e6)).found.interval or (0, 0)
        inside += low <= PERIOD <= high
    assert inside >= 17


def test_what_takes_as_long_as_it_takes_does_not_turn(rng: np.random.Generator) -> None:
    spots = np.concatenate([rng.permutation(48) for _ in range(8)])
    took = 5e6 * np.exp(0.1 * np.abs(rng.normal(size=spots.size)))
    begun = np.cumsum(took + rng.uniform(0, 4e6, spots.size)) - took
    found = turned(Series.of(spots, took, stratum=spots, time_ns=begun)).found
    assert found.score < FOUND["turn"]


def test_each_place_once_says_nothing() -> None:
    found = turned(Series.of(np.arange(40), np.full(40, 5e6), stratum=np.arange(40)))
    assert found.found.estimate is None
    assert not found.together.any()


def test_places_of_another_disk_are_left_out(rng: np.random.Generator) -> None:
    series = turning(rng, 2e6, periods=(PERIOD, 1.11e7))
    found = turned(series)
    assert found.together.mean() == pytest.approx(0.5, abs=0.1)
    other = turned(series.where(~found.together)).found
    both = sorted([found.found.estimate or 0, other.estimate or 0])
    assert both == [pytest.approx(PERIOD, rel=1e-3), pytest.approx(1.11e7, rel=1e-3)]


@pytest.mark.parametrize(("least", "sigma"), [(0.5e6, 0.1), (3e6, 0.1), (12e6, 0.05)])
def test_what_lies_beneath_the_waits(least: float, sigma: float, rng: np.random.Generator) -> None:
    found = turned(turning(rng, least, sigma=sigma))
    period = found.found.estimate or 0
    told = beneath(found.durations, period, found.blur, 0.2)
    low, high = told.interval or (0, 0)
    assert low - found.blur <= least <= high + found.blur
    assert told.detail["others"] < 0.1


def test_two_arms_are_not_taken_for_one(rng: np.random.Generator) -> None:
    waits = rng.uniform(0, PERIOD, 400)
    one = beneath(9e6 + waits, PERIOD, 3e4, 0.2)
    assert one.estimate == pytest.approx(9e6, rel=0.02)
    assert one.margin > APART
    assert beneath(np.where(np.arange(400) % 2, 9e6, 14e6) + waits, PERIOD, 3e4, 0.2).margin < 0
    assert beneath(np.full(3, math.nan), PERIOD, 3e4, 0.2).estimate is None


def angles(length: float, heads: int, jumps: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Give places each 32 KiB, and when they come round: jumps at heads and at cylinders."""
    places = np.arange(512) * 32768.0
    track = np.floor(places / length)
    cylinders = np.floor(track / heads)
    turns = places / length + jumps[0] * (track - cylinders) + jumps[1] * cylinders
    return places, turns % 1


@pytest.mark.parametrize(("heads", "jumps"), [(4, (0.08, 0.16)), (3, (0.1, 0.1)), (1, (0, 0.12))])
def test_tracks_end_where_angles_jump(
    heads: int, jumps: tuple[float, float], rng: np.random.Generator
) -> None:
    places, turns = angles(700_416.0, heads, jumps)
    ends = (turns + rng.normal(0, 0.004, 512)) * PERIOD
    found = tracks(places, ends, PERIOD)
    assert found.estimate == pytest.approx(700_416, rel=2e-3)
    assert found.score > FOUND["turn"]
    assert found.margin > APART


def test_angles_without_order_have_no_tracks(rng: np.random.Generator) -> None:
    places = np.arange(512) * 32768.0
    assert tracks(places, rng.uniform(0, PERIOD, 512), PERIOD).score == 0
    assert tracks(places[:8], np.zeros(8), PERIOD).estimate is None


def seeks(heads: int, switch: float, first: float, rise: float) -> np.ndarray:
    counts = np.arange(1, 17)
    over = counts // heads
    times = np.where(over > 0, first + rise * (np.sqrt(np.maximum(over, 1)) - 1), 0)
    return np.asarray(np.where(counts % heads > 0, np.maximum(times, switch), times))


def test_a_cylinder_is_where_a_seek_is_no_switch() -> None:
    errors = np.full(16, 0.02)
    assert cylinder(seeks(5, 1.5, 0.5, 0.05), errors, 0.1) == 5
    assert cylinder(seeks(4, 0.6, 1.4, 0.05), errors, 0.1) == 4
    # A switch that takes as long as a seek: any number means the same seek.
    assert cylinder(seeks(4, 1.0, 1.0, 0.001), errors, 0.1) is not None
    # Of one head a seek over one, two, three cylinders, or of two, and none can be told.
    assert cylinder(seeks(1, 0.0, 0.5, 0.15), np.full(16, 0.2), 0.1) is None


def read_again(rng: np.random.Generator, caches: int, room: int) -> Series:
    """Read 40 places in a row, and again backwards, 24 times over."""
    rows = []
    for _ in range(24):
        where = rng.integers(0, caches, 40)
        since = np.array([(where[: at + 1] == where[at]).sum() for at in range(40)])
        rows.append(np.where(since <= room, 0.3, 8.0) * np.exp(0.1 * np.abs(rng.normal(size=40))))
    return Series.of(np.tile(np.arange(1, 41), 24), np.concatenate(rows))


@pytest.mark.parametrize(("caches", "room"), [(1, 1), (1, 12), (1, 32), (2, 1), (2, 6)])
def test_how_many_places_are_held(caches: int, room: int, rng: np.random.Generator) -> None:
    found = held(read_again(rng, caches, room), 1.0)
    assert found.score > FOUND["turn"]
    assert found.estimate == pytest.approx(caches * room, abs=0 if found.margin > APART else 2)
    assert caches == 1 or found.detail["caches"] > 1


def test_no_cache_holds_nothing(rng: np.random.Generator) -> None:
    found = held(read_again(rng, 1, 0), 1.0)
    assert found.score <= 0
    assert found.bound == 0
    assert held(Series.of([], []), 1.0).estimate is None
