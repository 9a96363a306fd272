"""Blocks read at once: how long the slowest of them takes, again and again.

Beforehand the drive reads what it must look up for them, one by one. What counts is the slowest of
a burst, over the fastest of the bursts about then, which waits for nothing.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import Absent, Reason
from ssdscope.probes.bench.ledger import Stopped
from ssdscope.probes.rows import patient_read, slow_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

APART_NS = 1000
"""Rest before each burst: the one before has ended."""
ASIDE_BLOCKS = 3
EVICTED_BY, SPARE_UNITS = 1.15, 50
MOST_FORGOTTEN_BYTES = 1 << 37
"""Read to put others out of a cache."""
FORGETTING_BYTES = 128 << 10
"""Of a read to that end: large ones are quicker."""


def slowest(bench: Bench, before: NDArray[Any], burst: NDArray[Any]) -> NDArray[Any]:
    """Read bursts of blocks at once, and other blocks one by one before each.

    Parameters
    ----------
    before, burst : ndarray of int64, shapes (bursts, m) and (bursts, n)
        Starts of blocks.

    Returns
    -------
    ndarray, shape (bursts,)
        Logarithm of the greatest latency, over the least ones of the bursts about then.
    """
    places = np.hstack([before, burst]).astype(np.uint64)
    alone = before.shape[1]
    pauses = np.zeros(places.shape, np.uint64)
    pauses[:, : alone + 1] = APART_NS
    log = patient_read(
        bench,
        places.ravel(),
        bench.info.logical_block_bytes,
        iodepth=burst.shape[1],
        pauses_ns=pauses.ravel(),
    )
    latency = np.empty(places.size)
    latency[log.index.astype(np.int64)] = log.latency_ns
    if np.median(latency) <= 0:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "reads take no time that the clock can tell")
    logs = np.log(np.maximum(latency, 1.0)).reshape(places.shape)[:, alone:]
    return np.asarray(logs.max(axis=1) - slow_changes(logs.min(axis=1)))


@dataclass(frozen=True)
class Repeated:
    """Pairs that were read several times over.

    Attributes
    ----------
    slower
        Median of each pair, shape (pairs,).
    deviation
        Standard deviation of such a median.
    """

    slower: NDArray[Any]
    deviation: float


class Together:
    """Reads blocks at once.

    Parameters
    ----------
    cached_units
        Units of a read cache that stays on; what is read twice is put out of it in between.
    """

    def __init__(self, bench: Bench, rng: np.random.Generator, cached_units: int) -> None:
        self._bench = bench
        self._rng = rng
        self.cached_units = cached_units
        self._forgotten = 0

    def read(
        self, first: NDArray[Any], other: NDArray[Any], times: int, *, copies: int = 1
    ) -> Repeated:
        """Read each of some blocks after each of its others, so many copies of those, at once.

        Parameters
        ----------
        first : ndarray of int64, shape (n,)
        other : ndarray of int64, shape (n, m)
        """
        values = np.empty((times, *other.shape))
        each = np.broadcast_to(first[:, None], other.shape).ravel()
        if self.cached_units:
            for turn, column in np.ndindex(times, other.shape[1]):
                order = self._rng.permutation(first.size)
                self.forget()
                read = self._at_once(first[order], other[order, column], copies)
                values[turn, order, column] = read
        else:
            for turn in range(times):
                order = self._rng.permutation(other.size)
                read = self._at_once(each[order], other.ravel()[order], copies)
                values[turn].ravel()[order] = read
        medians = np.median(values, axis=0)
        spread = stats.mad((values - medians).ravel()) * math.sqrt(times / max(times - 1, 1))
        return Repeated(medians, float(1.2533 * spread / math.sqrt(times)))

    def _at_once(self, first: NDArray[Any], other: NDArray[Any], copies: int) -> NDArray[Any]:
        """Read bursts, what is looked up for them first."""
        before = np.column_stack([other, first])
        if self.cached_units:  # other blocks that are looked up in the same place
            before = np.column_stack([self._beside(other, 1), self._beside(first, -1)])
        # The greater address first: nothing is read ahead of what does not follow.
        burst = [other] * copies + [first]
        return slowest(self._bench, before, np.column_stack(burst))

    def _beside(self, places: NDArray[Any], side: int) -> NDArray[Any]:
        """Give places a few blocks further; on the other side of those at an end of the drive."""
        aside = side * ASIDE_BLOCKS * self._bench.info.logical_block_bytes
        beside = places + aside
        within = (beside >= 0) & (beside < self._bench.info.capacity_bytes)
        return np.asarray(np.where(within, beside, places - aside))

    def forget(self) -> None:
        """Read so much else that a read cache holds nothing of what was read."""
        if self.cached_units:
            info, unit = self._bench.info, cached_unit_bytes(self._bench)
            count = -(-self.cached_units * unit // FORGETTING_BYTES)
            self._forgotten += count * FORGETTING_BYTES
            if self._forgotten > MOST_FORGOTTEN_BYTES:
                raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, "the read cache is too large")
            # No place twice: what is read again takes no room.
            slots = self._rng.permutation(info.capacity_bytes // FORGETTING_BYTES - 1)[:count]
            shift = self._rng.integers(FORGETTING_BYTES // info.logical_block_bytes)
            others = slots * FORGETTING_BYTES + shift * info.logical_block_bytes
            with suppress(Stopped):
                self._bench.read(others.astype(np.uint64), FORGETTING_BYTES, iodepth=4)


def cached_units(bench: Bench) -> int:
    """Give how many reads put everything out of a cache that stays on."""
    size = bench.found("read_cache_bytes")
    if not isinstance(size, (int, float)):
        absent = isinstance(bench.known.get("read_cache_bytes"), Absent)
        said = "none was seen, but one may be there" if absent else "its size is not known"
        raise Stopped(Reason.CACHE_NOT_CONTROLLABLE, said)
    return int(EVICTED_BY * size / cached_unit_bytes(bench)) + SPARE_UNITS


def cached_unit_bytes(bench: Bench) -> int:
    """Give the unit of a read cache; the logical block if it is not known."""
    return int(bench.found("read_cache_unit_bytes") or bench.info.logical_block_bytes)
