"""What the family `dies` makes of pairs that were made up."""

from __future__ import annotations

from itertools import chain
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ssdscope.inference.series import Series
from ssdscope.probes.dies import probe as dies
from ssdscope.probes.dies import sorting
from ssdscope.probes.dies.partition import partition
from ssdscope.probes.plan import Stopped
from ssdscope.probes.shared.at_once import (
    FORGETTING_BYTES,
    AtOnce,
    Kept,
    Pairs,
    Together,
    _meetings,
)

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(37)


@pytest.mark.parametrize("count", [2, 8, 12])
def test_nobody_meets_another_twice(count: int) -> None:
    one, other = _meetings(np.random.default_rng(1).permutation(count), np.arange(count - 1))
    met = set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(met) == one.size == count * (count - 1) // 2
    assert (one < other).all()
    for turn in np.split(np.array([one, other]), count - 1, axis=1):
        assert np.unique(turn).size == count


def test_false_reads_do_not_cut_a_die_in_two(rng: np.random.Generator) -> None:
    """Of two dies, by a first plan; one read in twenty says the contrary."""
    for _ in range(15):
        of = rng.integers(0, 2, 128)
        one, other = _meetings(rng.permutation(128), rng.permutation(127)[:10])
        waits = (of[one] == of[other]) ^ (rng.random(one.size) < 0.05)
        found = partition(one, other, rng.lognormal(0, 0.05, one.size) * np.where(waits, 1.7, 1))
        assert (np.bincount(found.of) > 5).sum() == 2


def ask_of(of: np.ndarray, rng: np.random.Generator, **found: int) -> Any:
    """A drive of which some places are on some dies."""

    def take(_plan: Pairs) -> Series:
        one, other = np.triu_indices(of.size, 1)
        took = rng.lognormal(0, 0.05, one.size) * np.where(of[one] == of[other], 1.7, 1)
        return Series.of(
            np.concatenate([MIB * np.arange(of.size), one]),
            np.concatenate([np.ones(of.size), took]),
            stratum=np.concatenate([np.full(of.size, -1), other]),
        )

    return SimpleNamespace(take=take, found=found.get)


PLAN = Pairs(places=128, partners=127, times=3, high_bytes=1 << 30)


def test_a_place_that_waits_for_no_other_is_no_die(rng: np.random.Generator) -> None:
    of = rng.integers(0, 4, 100)
    of[:3] = [10, 11, 12]
    found = sorting.sorted_by(ask_of(of, rng), PLAN)
    assert found.weighed.estimate == 4
    assert found.enough
    assert found.places.size == 97


def test_few_places_do_not_tell_that_there_are_no_other_dies(rng: np.random.Generator) -> None:
    found = sorting.sorted_by(ask_of(rng.integers(0, 4, 30), rng), PLAN)
    assert found.weighed.estimate == 4
    assert not found.enough


@pytest.mark.parametrize(
    ("units", "told"),
    [
        ([[0, 1], [1, 2]], False),  # other units lie on other dies
        ([[0, 1, 2, 3]] * 2, False),  # four planes take turns; then those of other dies
        ([[0, 1, 2, 3, 4]] * 2, True),
        ([[0, 1, 4], [1, 2], [2, 3]], True),
    ],
)
def test_dies_must_be_gone_round_to_twice(units: list[list[int]], told: bool) -> None:
    """Merge units of a megabyte, of which a zone holds a few."""
    step = 32 * KIB
    rows = [
        [(each * MIB + step * place + die * 4 * KIB, die) for each in mine for place in range(32)]
        for die, mine in enumerate(units)
    ]
    places, of = np.array(sorted(chain.from_iterable(rows))).T
    found = SimpleNamespace(
        places=places.astype(float), of=of, weighed=SimpleNamespace(estimate=float(len(units)))
    )
    ask = SimpleNamespace(found={"merge_unit_bytes": MIB}.get)
    assert dies._all_in(cast("Any", ask), cast("Any", found)) == told


class Reads:
    """A drive with a read cache of some size, which notes what is read."""

    def __init__(self) -> None:
        self.info = SimpleNamespace(capacity_bytes=4096 * MIB, logical_block_bytes=4096)
        self.places = np.empty(0, np.uint64)

    def read(self, offsets: Any, _length: int, iodepth: int) -> None:  # noqa: ARG002 - as a bench
        self.places = np.asarray(offsets)


def together(cache_bytes: int, unit_bytes: int) -> tuple[Reads, Together]:
    reads = Reads()
    plan = SimpleNamespace(kept=Kept(cache_bytes * 115 // 100 // unit_bytes, unit_bytes), times=1)
    made = Together(cast("Any", reads), np.random.default_rng(1), cast("AtOnce", plan))
    return reads, made


def test_more_than_a_cache_holds_is_read_and_nothing_twice() -> None:
    reads, read = together(1024 * MIB, 32 * KIB)
    read.forget()
    places = np.sort(reads.places.astype(np.int64))
    assert np.diff(places).min() >= FORGETTING_BYTES
    assert 1024 * MIB < places.size * FORGETTING_BYTES < 1.2 * 1024 * MIB


def test_a_huge_cache_is_not_emptied_a_thousand_times() -> None:
    _, read = together(1024 * MIB, 32 * KIB)

    def often() -> None:
        for _ in range(1500):
            read.forget()

    with pytest.raises(Stopped, match="too large"):
        often()


def test_what_lies_at_the_ends_of_a_drive_is_looked_up_within_it() -> None:
    reads, read = together(MIB, 4 * KIB)
    ends = np.array([0, reads.info.capacity_bytes - 4096])
    for side in (1, -1):
        beside = read.beside(ends, side)
        assert (beside >= 0).all()
        assert (beside < reads.info.capacity_bytes).all()
        assert (np.abs(beside - ends) == 3 * 4096).all()
