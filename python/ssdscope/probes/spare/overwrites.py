"""Plans of the family `spare`: a drive is overwritten at random, one by one or many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.inference.noise import over_usual
from ssdscope.inference.series import Series
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.bench.overwriting import completions_ns, write_through
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["DEPTH", "WAITS", "AtOnce", "InOrder", "OneByOne", "Overwrites", "slowest", "times"]

ROWS = 4096
"""Of a series at most: each is of several writes, lest it be bulky."""
CHUNK = 0.1
"""Of the capacity: written between two looks."""
LEAST, MOST_REQUESTS = 256, 300_000
"""Of a chunk, lest a burst of others spoil it; and in one pass over the drive: more are joined."""
BEHIND = 1.5
"""Times what is before a step, that is written in all: what comes behind says that it stays."""
WAITS, NEIGHBOURS = 1.6, 256
"""Times the usual, what noise of 15 % exceeds once in a thousand; and whose median that is."""
DEPTH, WINDOW = 64, 0.01
FOREIGN = 0.5
"""Of the time that others may keep the drive busy: what they write counts as overwritten, too."""
SLOWEST = 1 << 20
"""Number of the first stratum of the slowest writes; those of times are numbered from 0 on."""


@dataclass(frozen=True, kw_only=True)
class Overwrites(Plan):
    """What both have in common.

    Attributes
    ----------
    unit_bytes, phase_bytes
        Of RMW units; these begin so far before multiples of their size.
    every
        Units of a merge unit, the first of which is never written; 1 if there are none.
    share
        Of the capacity, that is written at most.
    """

    unit_bytes: int
    phase_bytes: int = 0
    every: int = 1
    share: float = 1.0

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return int((self.share + CHUNK) * info.capacity_bytes) + 2 * LEAST * self.unit_bytes

    def size_bytes(self, info: DeviceInfo) -> int:
        """Give the length of a request: as few units as make no more requests than are useful."""
        units = info.capacity_bytes // self.unit_bytes
        return self.unit_bytes * (max(1, units // MOST_REQUESTS) if self.every == 1 else 1)

    def _places(self, info: DeviceInfo, units: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Give the first bytes of requests by their number."""
        return (units * self.size_bytes(info) - self.phase_bytes).astype(np.uint64)

    def _count(self, info: DeviceInfo) -> int:
        """Count the requests that lie on the drive, phase or not."""
        return (info.capacity_bytes + self.phase_bytes) // self.size_bytes(info)

    def _drawn(self, info: DeviceInfo, rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
        """Draw the first bytes of requests."""
        return self._places(info, rng.integers(1, self._count(info), count))

    def _chunks(self, info: DeviceInfo, rng: np.random.Generator) -> list[NDArray[np.uint64]]:
        """Draw what is written between looks."""
        last = self._count(info)
        count = max(int(CHUNK * last), LEAST)
        return [
            self._drawn(info, rng, count) for _ in range(max(round(self.share * last / count), 1))
        ]


@dataclass(frozen=True, kw_only=True)
class OneByOne(Overwrites):
    """One write at a time, as near to the flash as the drive allows, until they stay slower.

    Gives rows of several writes, by the bytes overwritten before: their means, and in another
    stratum the slowest of each over what is usual around it.

    Attributes
    ----------
    first
        Bytes in which they may become slower for another reason.
    """

    first: int = 0

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Overwrite, and look."""
        size, written = self.size_bytes(bench.info), 0.0
        latencies: list[NDArray[Any]] = []
        places: list[NDArray[Any]] = []
        chunks = self._chunks(bench.info, rng)
        for number, chunk in enumerate(chunks):
            before = bench.foreign
            latencies.append(write_through(bench, chunk, size, most_foreign_share=FOREIGN))
            bytes_each = size + bench.foreign.since(before).written_bytes / chunk.size
            places.append(written + np.arange(chunk.size) * bytes_each)
            written += chunk.size * bytes_each
            bench.progress("overwriting one by one", (number + 1) / len(chunks))
            series = _rows(np.concatenate(places), np.concatenate(latencies))
            found = step(slowest(series.where(series.x >= self.first)), above=WAITS)
            sure = verdict.is_found(found, "step of rare waits", times=2)
            if sure and written >= BEHIND * (found.estimate or math.inf):
                break
        return series


def _rows(places: NDArray[np.float64], latencies: NDArray[np.float64]) -> Series:
    """Join writes to rows."""
    size = max(-(-latencies.size // ROWS), 1)
    count = latencies.size // size
    means = latencies[: count * size].reshape(count, size).mean(axis=1)
    most = over_usual(latencies, NEIGHBOURS)[: count * size].reshape(count, size).max(axis=1)
    where = places[: count * size : size]
    kinds = np.repeat([0, SLOWEST], count)
    return Series.of(np.tile(where, 2), np.concatenate([means, most]), stratum=kinds)


@dataclass(frozen=True, kw_only=True)
class AtOnce(Overwrites):
    """Many writes at once, which keep the flash busy: what one takes in the mean."""

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Overwrite; give mean times by the bytes overwritten when they end."""
        return _timed(bench, self._chunks(bench.info, rng), self.size_bytes(bench.info))


@dataclass(frozen=True, kw_only=True)
class InOrder(Overwrites):
    """A few units all over the drive, and then one after the other, many at once.

    Blocks become stale as a whole, though others hold something stale, too: a drive that chooses
    what it collects copies nothing.

    Attributes
    ----------
    few
        Share of the capacity that is overwritten at random before.
    """

    few: float = 0.0

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Overwrite; give mean times by the bytes overwritten when they end."""
        last = self._count(bench.info)
        first = rng.permutation(np.arange(1, last))[: max(int(self.few * last), DEPTH)]
        rest = np.arange(1, last)[: int(self.share * last) - first.size]
        # Near each other in random order, so that planes meet as in uniform overwrites.
        window = max(int(WINDOW * last), LEAST)
        mixed = [rng.permutation(rest[at : at + window]) for at in range(0, rest.size, window)]
        count = max(int(CHUNK * last), LEAST)
        order = np.concatenate([first, *mixed])
        parts = [order[at : at + count] for at in range(0, order.size, count)]
        chunks = [self._places(bench.info, part) for part in parts if part.size >= 2 * DEPTH]
        return _timed(bench, chunks, self.size_bytes(bench.info))


def _timed(bench: Bench, chunks: list[NDArray[np.uint64]], size: int) -> Series:
    """Write many at once; give the mean times of pieces by the bytes overwritten when they end."""
    ends: list[NDArray[Any]] = []
    means: list[NDArray[Any]] = []
    written, pieces = 0.0, max(ROWS // 2 // len(chunks), 1)
    for number, chunk in enumerate(chunks):
        before = bench.foreign
        log = bench.write(chunk, size, iodepth=DEPTH, most_foreign_share=FOREIGN)
        done = np.concatenate([[0.0], completions_ns(log)])
        edges = np.linspace(0, chunk.size, min(pieces, chunk.size // 2) + 1).astype(int)
        bytes_each = size + bench.foreign.since(before).written_bytes / chunk.size
        ends.append(written + edges[1:] * bytes_each)
        means.append(np.asarray(np.diff(done[edges]) / np.diff(edges), float))
        written += chunk.size * bytes_each
        bench.progress("overwriting many at once", (number + 1) / len(chunks))
    return Series.of(np.concatenate(ends), np.concatenate(means))


def times(series: Series) -> Series:
    """Give the mean times of a series."""
    return series.where(series.stratum < SLOWEST)


def slowest(series: Series) -> Series:
    """Give the slowest writes of each row, over what is usual around them."""
    return series.where(series.stratum == SLOWEST)
