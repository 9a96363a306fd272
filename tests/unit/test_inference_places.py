"""Places that differ, and what they differ by: types of pages, or members of an array."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.inference.places import halves_of, logs_of, places
from ssdscope.inference.series import Series
from ssdscope.probes.array.members import apart, members
from ssdscope.probes.types.kinds import beside, kinds, moved
from ssdscope.seeds import stream

VISITS, PLACES = 8, 2400


def visited(factors: np.ndarray, seed: int = 1, noise: float = 0.05) -> Series:
    """Places that take so many times as long, while all of it drifts."""
    rng = stream(seed, "test.places")
    orders = np.array([rng.permutation(factors.size) for _ in range(VISITS)])
    drift = 1 + 0.3 * np.sin(np.arange(orders.size) / 2000).reshape(orders.shape)
    took = drift * np.exp(noise * np.abs(rng.normal(size=orders.shape))) * factors[orders]
    return halves_of(np.arange(factors.size), orders, took)


def in_turn(*levels: float, each: int = 1) -> np.ndarray:
    return np.array(levels)[np.arange(PLACES) // each % len(levels)]


def test_drift_makes_no_place_another() -> None:
    found = places(visited(np.ones(PLACES)))
    assert found.score < 5
    assert found.bound < 0.03


def test_places_that_differ_are_seen_in_both_halves() -> None:
    factors = in_turn(1.0, 1.02)
    found = places(visited(factors))
    assert found.score > 30
    assert found.bound > 0.02
    at, logs = logs_of(visited(factors))
    assert (at == np.arange(PLACES)).all()
    assert np.exp(logs[1::2].mean() - logs[::2].mean()) == pytest.approx(1.02, abs=0.005)


@pytest.mark.parametrize("levels", [(1.0, 1.3), (0.75, 1.0, 1.25), (0.7, 0.9, 1.1, 1.3)])
@pytest.mark.parametrize("each", [1, 16])
def test_levels_of_equal_shares_are_counted(levels: tuple[float, ...], each: int) -> None:
    found = kinds(visited(in_turn(*levels, each=each)))
    assert found.estimate == len(levels)
    assert min(found.score, found.margin) > 10
    assert found.effect == pytest.approx(max(levels) / min(levels) - 1, rel=0.05)


@pytest.mark.parametrize("levels", [(1.0, 1.0, 1.0, 1.4), (1.0, 1.2, 1.2, 1.4)])
def test_levels_of_unlike_shares_are_no_types(levels: tuple[float, ...]) -> None:
    """As where every fourth block lies on two pages."""
    found = kinds(visited(in_turn(*levels)))
    assert found.estimate is None or found.margin < 0


def test_a_part_of_the_stretch_with_a_level_of_its_own_is_no_type() -> None:
    """As where half of it lies in a region of one bit."""
    factors = np.where(np.arange(PLACES) < 0.6 * PLACES, 1.0, 1.4)
    assert kinds(visited(factors)).margin < 0


def test_types_go_by_the_order_of_writing_and_members_do_not() -> None:
    first = in_turn(0.75, 1.0, 1.25)
    other = stream(2, "test.moved").permutation(first)
    types = moved(visited(first), visited(other, 2), 3, PLACES // 8)
    assert types.estimate == pytest.approx(1 / 3, abs=0.05)
    assert types.score > 20
    stays = moved(visited(first), visited(first, 2), 3, PLACES // 8)
    assert stays.estimate == pytest.approx(1.0, abs=0.05)
    assert stays.score == 0
    half = np.where(np.arange(PLACES) % 2, first, other)
    assert moved(visited(first), visited(half, 2), 3, PLACES // 8).score < 10


def test_neighbours_on_unlike_levels_are_paired() -> None:
    one, other = beside(visited(in_turn(0.75, 1.25, each=8)), 2)
    assert (other == one + 1).all()
    assert (one % 8 == 7).all()
    assert one.size == PLACES // 8 - 1


@pytest.mark.parametrize("levels", [(1.0, 1.1), (1.0, 1.3, 1.6), (1.0, 1.2, 1.0, 1.4)])
def test_members_and_their_chunks_are_found(levels: tuple[float, ...]) -> None:
    found = members(np.arange(PLACES), logs_of(visited(in_turn(*levels, each=6)))[1])
    assert found.estimate == len(levels)
    assert found.detail["chunk"] == 6
    assert min(found.score, found.margin) > 7


def test_two_on_two_members_never_wait() -> None:
    rng = stream(3, "test.apart")
    same = np.arange(400) % 2
    noise = np.exp(0.05 * rng.normal(size=400))
    waits = rng.random(400) < 0.3
    array = apart(Series.of(same, noise * np.where(waits & (same == 1), 2, 1)))
    assert min(array.score, array.margin) > 10
    one = apart(Series.of(same, noise * np.where(waits, 2, 1)))
    assert one.margin < 0
