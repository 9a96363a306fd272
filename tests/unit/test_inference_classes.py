"""Engines that are built on levels: of pairs, of stretches, of kinds, of classes."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.inference.levels import APART, FOUND
from ssdscope.inference.mixture import levels_of
from ssdscope.inference.series import Series
from ssdscope.probes.dies.halves import halves
from ssdscope.probes.dies.lengths import common_length, onset
from ssdscope.probes.dies.partition import partition


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(37)


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.5), (0.97, 0.03), (0.6, 0.3, 0.1)])
def test_levels_are_those_of_the_drawing(
    rng: np.random.Generator, shares: tuple[float, ...]
) -> None:
    centres = np.array([0.05, 0.4, 0.7])[: len(shares)]
    of = rng.choice(centres.size, 1500, p=shares)
    logs = centres[of] + 0.03 * np.abs(rng.normal(size=of.size))
    logs += np.where(rng.random(of.size) < 0.01, rng.uniform(0, 3, of.size), 0)
    found = levels_of(logs)
    assert found.count == len(shares)
    assert found.centres == pytest.approx(centres + 0.024, abs=0.02)
    assert found.shares == pytest.approx(shares, abs=0.03)


def test_classes_are_found_below_a_level_of_few_spikes(rng: np.random.Generator) -> None:
    of = rng.integers(0, 4, 60)
    one, other = np.triu_indices(60, 1)
    values = rng.lognormal(0, 0.05, one.size) * np.where(of[one] == of[other], 1.7, 1)
    values[rng.random(one.size) < 0.03] *= 8
    found = partition(one, other, values)
    assert found.count == 4
    assert found.level < found.levels.count - 1
    assert found.effect == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize("parted", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_bit_parts_classes_so_far(rng: np.random.Generator, parted: float, share: float) -> None:
    of = rng.integers(0, 6, 900)
    way = np.where(of % 2, parted, -parted)
    marked = share * (1 + way) / (share * (1 + way) + (1 - share) * (1 - way))
    found = halves(of, rng.random(of.size) < marked)
    # Where the mark is rare, both kinds of classes together have it more often than that.
    assert found.estimate == pytest.approx(parted, abs=0.2 if parted < 0.5 else 0.12)
    assert found.margin >= APART
    assert (found.effect >= 0.5) == (parted >= 0.5)


def test_what_parts_classes_by_a_half_is_not_decided(rng: np.random.Generator) -> None:
    of = rng.integers(0, 6, 300)
    marked = rng.random(of.size) < np.where(of % 2, 0.75, 0.25)
    assert halves(of, marked).margin < APART


def pairs_of_stretches(lengths: list[int], rng: np.random.Generator) -> Series:
    distances = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16])
    took = np.where(distances < np.array(lengths)[:, None], 1.8, 1.0)
    took *= rng.lognormal(0, 0.05, took.shape)
    numbers = np.repeat(np.arange(len(lengths)), distances.size)
    return Series.of(np.tile(distances, len(lengths)), took, stratum=numbers)


@pytest.mark.parametrize(
    ("lengths", "told"),
    [([6] * 40, True), ([6] * 36 + [2, 3, 4, 12], True), ([6] * 24 + [12] * 16, False)],
)
def test_stretches_have_a_length_in_common(
    rng: np.random.Generator, lengths: list[int], told: bool
) -> None:
    found = common_length(pairs_of_stretches(lengths, rng), 1000)
    assert found.estimate == 6
    assert found.score >= FOUND["partition"]
    assert (found.margin >= APART) == told


def test_without_waiting_there_is_no_length(rng: np.random.Generator) -> None:
    assert common_length(pairs_of_stretches([0] * 40, rng), 1000).estimate is None


@pytest.mark.parametrize("first", [1, 2, 3])
def test_requests_cost_more_from_a_kind_on(rng: np.random.Generator, first: int) -> None:
    kinds = np.tile(np.arange(4), 200)
    values = rng.lognormal(0, 0.1, kinds.size) * np.where(kinds >= first, 1.3, 1.0)
    values[rng.random(kinds.size) < 0.02] *= 10
    found = onset(Series.of(kinds, values))
    assert found.estimate == first
    assert min(found.score, found.margin) > APART
    assert found.effect == pytest.approx(0.3, abs=0.05)


def test_a_kind_apart_from_the_order_is_no_onset(rng: np.random.Generator) -> None:
    kinds = np.tile(np.arange(4), 200)
    values = rng.lognormal(0, 0.05, kinds.size) * np.where(kinds == 1, 1.3, 1.0)
    assert onset(Series.of(kinds, values)).margin < 0
    assert onset(Series.of(kinds, rng.lognormal(0, 0.05, kinds.size))).bound < 0.03
