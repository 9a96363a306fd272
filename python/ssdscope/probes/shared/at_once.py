"""Blocks read at once, two by two: how long the slower waits for the other.

Each pair is read one by one first, twice: the drive looks up what it must, and then shows what
each takes alone, a moment before they go out together. What counts is by how much the slower of
both takes longer than it would alone, as a share of what the faster takes. So cells of other
times, drift and tables make no difference. A cache that stays on would answer the second time:
there blocks beside them are looked up, every place is read once in a round, and what was read is
put out of the cache between rounds.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.series import Series
from ssdscope.probes.bench.rows import patient_read, random_blocks, slow_changes
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.units import KIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["AtOnce", "Chosen", "Kept", "Pairs", "Together", "kept_by"]

APART_NS = 1000
"""Rest before each burst: the one before has ended."""
ASIDE = 3
"""Blocks from a place to what is looked up in its stead; a table has entries of more."""
EVICTED_BY, SPARE_UNITS = 1.15, 50
"""How many times its units put all out of a cache, and how many more: sizes are estimates."""
FORGETTING_BYTES = 128 * KIB
"""Of a read to that end: large ones are quicker."""
MOST_FORGOTTEN_BYTES = 1 << 37
LEAST = 0.1
"""Of a time: what noise brings below it has no logarithm."""


@dataclass(frozen=True)
class Kept:
    """A read cache that stays on: how many units put everything out of it; none if it is off."""

    units: int = 0
    unit_bytes: int = 0


def kept_by(ask: Ask) -> Kept:
    """Say what a drive keeps of what was read.

    Raises
    ------
    Stopped
        If a cache may be at work whose size is not known.
    """
    cache, block = ask.info.read_cache, ask.info.logical_block_bytes
    if not cache.stays_on:
        return Kept()
    size = ask.size("read_cache_bytes", unknown=math.inf)
    if not 0 < size < math.inf:
        said = "its size is not known" if size else "none was seen, but one may be there"
        raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, said)
    unit = int(ask.found("read_cache_unit_bytes") or block)
    return Kept(int(EVICTED_BY * size / unit) + SPARE_UNITS, unit)


@dataclass(frozen=True, kw_only=True)
class AtOnce(Plan):
    """Reads at once; `times` says how often each."""

    kept: Kept = Kept()
    times: int


class Together:
    """Reads blocks at once, for a plan."""

    def __init__(self, bench: Bench, rng: np.random.Generator, plan: AtOnce) -> None:
        self.bench, self.rng, self.kept, self.times = bench, rng, plan.kept, plan.times
        self.block = bench.info.logical_block_bytes
        self._forgotten = 0
        self._places, self._alone = np.empty(0, np.int64), np.empty(0)

    def read(
        self, one: NDArray[np.int64], other: NDArray[np.int64], *, copies: int = 1, rounds: int = 1
    ) -> NDArray[np.float64]:
        """Read each of some blocks, and of another so many copies, at once.

        Parameters
        ----------
        one, other : ndarray, shape (n,)
            Starts of blocks.
        rounds
            In so many parts no place comes twice; if nothing is kept, it may.

        Returns
        -------
        ndarray, shape (n,)
            Medians of what the slowest takes beyond what it takes alone, over the faster, plus 1.
        """
        values = np.empty((self.times, one.size))
        parts = rounds if self.kept.units else 1
        for turn in range(self.times):
            for part in np.array_split(np.arange(one.size), parts):
                order = self.rng.permutation(part)
                self.forget()
                values[turn, order] = self._at_once(one[order], other[order], copies)
        return np.asarray(np.median(values, axis=0))

    def _at_once(
        self, one: NDArray[np.int64], other: NDArray[np.int64], copies: int
    ) -> NDArray[np.float64]:
        # The greater address is asked for first: nothing is read ahead of what does not follow.
        burst = [other] * copies + [one]
        if self.kept.units:
            latency = self.bursts([self.beside(other, 1), self.beside(one, -1)], burst)[:, 2:]
            own = np.column_stack([self._known(other), self._known(one)])
            first = latency[:, 0] if self._places.size else latency.min(axis=1)
            now = np.exp(slow_changes(np.log(first / own[:, 0])))
            return _beyond(latency.max(axis=1) / now, own)
        both = [other, one]
        latency = self.bursts(both + both, burst)[:, len(both) :]
        return _beyond(latency[:, 2:].max(axis=1), latency[:, :2])

    def learn(self, places: NDArray[np.int64]) -> None:
        """Read places alone, in ascending order of theirs, where that cannot be done at once."""
        if not self.kept.units:
            return
        values = np.empty((self.times, places.size))
        for turn in range(self.times):
            order = self.rng.permutation(places.size)
            self.forget()
            values[turn, order] = self.bursts([self.beside(places[order], 1)], [places[order]])[
                :, 1
            ]
        self._places, self._alone = places, np.median(values, axis=0)

    def _known(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give what places take alone, as far as it was learnt; 1 otherwise."""
        if not self._places.size:
            return np.ones(places.size)
        return np.asarray(self._alone[np.searchsorted(self._places, places)])

    def bursts(
        self, before: list[NDArray[np.int64]], burst: list[NDArray[np.int64]], blocks: int = 1
    ) -> NDArray[np.float64]:
        """Read blocks one by one, and then others at once; what each takes, shape (n, reads)."""
        places = np.column_stack(before + burst)
        pauses = np.zeros(places.shape, np.int64)
        pauses[:, : len(before) + 1] = APART_NS
        lengths = np.full(places.shape, self.block)
        lengths[:, len(before) :] *= blocks
        log = patient_read(
            self.bench,
            places.ravel(),
            lengths.ravel(),
            iodepth=len(burst),
            pauses_ns=pauses.ravel(),
        )
        latency = log.in_order_ns
        if np.median(latency) <= 0:
            raise Stopped(Reason.EFFECT_BELOW_NOISE, "reads take no time that the clock can tell")
        return np.maximum(latency, 1.0).reshape(places.shape)

    def beside(self, places: NDArray[np.int64], side: int) -> NDArray[np.int64]:
        """Give places a few blocks further; on the other side of those at an end of the drive."""
        aside = side * ASIDE * self.block
        within = (places + aside >= 0) & (places + aside < self.bench.info.capacity_bytes)
        return np.asarray(np.where(within, places + aside, places - aside))

    def forget(self) -> None:
        """Read so much else that a read cache holds nothing of what was read."""
        if not self.kept.units:
            return
        count = -(-self.kept.units * self.kept.unit_bytes // FORGETTING_BYTES)
        self._forgotten += count * FORGETTING_BYTES
        if self._forgotten > MOST_FORGOTTEN_BYTES:
            raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, "the read cache is too large")
        # No place twice: what is read again takes no room.
        slots = self.rng.permutation(self.bench.info.capacity_bytes // FORGETTING_BYTES - 1)[:count]
        shift = self.rng.integers(FORGETTING_BYTES // self.block) * self.block
        with suppress(Stopped):
            self.bench.read(slots * FORGETTING_BYTES + shift, FORGETTING_BYTES, iodepth=4)


def _beyond(slowest: NDArray[np.float64], alone: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give what the slowest takes beyond what it takes alone, over the faster, plus 1."""
    beyond = (slowest - alone.max(axis=1)) / alone.min(axis=1)
    return np.asarray(np.maximum(1 + beyond, LEAST))


@dataclass(frozen=True, kw_only=True)
class Pairs(AtOnce):
    """Places at random, each with so many others.

    The series has a row for each place, with its address as `x` and stratum -1, and then one for
    each pair: the number of one place as `x`, that of the other as stratum, and what it took.
    """

    places: int
    partners: int
    low_bytes: int = 0
    high_bytes: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Draw places, and pair all of them again and again, each time anew."""
        return self.paired(bench, rng, self.drawn(bench, rng))

    def drawn(self, bench: Bench, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the places, ascending, an even number of them."""
        block = bench.info.logical_block_bytes
        drawn = np.unique(random_blocks(rng, self.low_bytes, self.high_bytes, self.places, block))
        return drawn[: drawn.size // 2 * 2]

    def paired(self, bench: Bench, rng: np.random.Generator, places: NDArray[np.int64]) -> Series:
        """Read pairs of some places."""
        together = Together(bench, rng, self)
        together.learn(places)
        # Of rounds that follow each other each has nearly the same pairs of neighbours: whoever
        # meets in any of them would be a chain, that a few false reads cut in two.
        rounds = rng.permutation(places.size - 1)[: self.partners]
        one, other = _meetings(rng.permutation(places.size), rounds)
        took = together.read(places[one], places[other], rounds=rounds.size)
        return Series.of(
            np.concatenate([places, one]),
            np.concatenate([np.ones(places.size), took]),
            stratum=np.concatenate([np.full(places.size, -1), other]),
        )

    @staticmethod
    def parts(series: Series) -> tuple[NDArray[np.float64], Series]:
        """Give the places of a series, and its pairs."""
        of_places = series.stratum < 0
        return series.x[of_places], series.where(~of_places)


@dataclass(frozen=True, kw_only=True)
class Chosen(AtOnce):
    """Pairs that were chosen, in rounds of equal length, in none of which a place comes twice."""

    one: tuple[int, ...]
    other: tuple[int, ...]
    rounds: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read each pair."""
        one, other = np.array(self.one), np.array(self.other)
        together = Together(bench, rng, self)
        together.learn(np.unique([one, other]))
        return Series.of(one, together.read(one, other, rounds=self.rounds))


def _meetings(seats: NDArray[np.int64], rounds: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Pair places so that none meets another twice, and none comes twice in a round.

    Of an even number one stays and the others go round (Kirkman's schedule), of which some rounds
    are played. Gives the lesser and the greater number of each pair, round by round.
    """
    turns = []
    for each in rounds.tolist():
        seated = np.concatenate([seats[:1], np.roll(seats[1:], each)])
        first, second = seated[: seats.size // 2], seated[seats.size // 2 :][::-1]
        turns.append(np.sort([first, second], axis=0))
    one, other = np.concatenate(turns, axis=1) if turns else np.empty((2, 0), np.int64)
    return one, other
