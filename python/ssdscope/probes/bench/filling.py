"""Bursts of small writes into an emptied write buffer, and what of them is in memory.

The writes of a burst lie a fixed distance apart, so that each takes as much of a buffer as can be
and as little of the link. Behind it some are read: what is in the buffer comes in the time of the
link, what has left it in that of flash.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bench.discipline import in_peace
from ssdscope.seeds import stream
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_READ, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["WAITED", "Burst", "Bursts", "waits"]

REST_NS, SHORT_REST_NS = 6_000_000_000, 200_000_000
"""Behind a flush, in which a drive tidies up: on a simulated drive, and where it takes time."""
WAITED = 2
"""Times what is usual, from which on a write has waited: the worst noise does so once in 10^5."""
PIECE = 32
"""Blocks that are read in a row, so that they fall between what others do."""
MOST_PLACES = 1 << 21
"""More take longer to draw than to write to."""
FIRST, USUAL = 8, 0.2
"""Writes of a burst, and the quantile of them that is usual: of eight two find room at least."""


@dataclass(frozen=True)
class Burst:
    """One burst.

    Attributes
    ----------
    gaps_ns : ndarray, shape (writes,)
        From the end of one write to that of the next; the first from the beginning.
    read_ns, read_at_ns : ndarray, shape (reads,)
        What reads took, and when they began, from the end of the last write on.
    """

    gaps_ns: NDArray[np.float64]
    read_ns: NDArray[np.float64]
    read_at_ns: NDArray[np.float64]


def waits(gaps_ns: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which writes of bursts waited, shape (..., writes)."""
    return np.asarray(gaps_ns > WAITED * np.quantile(gaps_ns[..., :FIRST], USUAL))


@dataclass(frozen=True)
class Bursts:
    """Bursts whose writes lie so far apart.

    Attributes
    ----------
    depth
        Writes at once.
    scatter
        Up to how many bytes further on a write may lie.
    length
        Bytes of a write; a logical block if zero.
    """

    bench: Bench
    spacing: int
    depth: int = 1
    scatter: int = 0
    length: int = 0

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where writes lie; what is longer begins again with the first."""
        block = self.bench.info.logical_block_bytes
        count = min(max(self.bench.info.capacity_bytes // self.spacing - 2, 1), MOST_PLACES)
        moved = stream(self.spacing, "filling").integers(0, self.scatter // block + 1, count)
        return (1 + np.arange(count)) * self.spacing + moved * block

    def run(self, count: int, ages: ArrayLike = (), at: tuple[int, ...] = (0,)) -> Burst:
        """Write a burst, and read back what was written so many places before its end.

        Parameters
        ----------
        at
            Where blocks are written at each place; which of them is read goes round.
        """
        back = np.asarray(ages, np.int64)
        places = np.resize(self.places[:count], count)
        written = (places[:, None] + np.array(at)).ravel()
        read = places[count - 1 - back] + np.resize(at, back.size)
        ops = np.repeat(np.array([OP_WRITE, OP_READ], np.uint8), (written.size, back.size))
        offsets = np.concatenate([written, read])
        block = self.bench.info.logical_block_bytes
        lengths = np.where(ops == OP_WRITE, self.length or block, block)
        # A pause, as short as can be: the first read waits until the last write is done.
        pauses = ops == OP_READ

        def once() -> Burst:
            self.empty()
            # Of many runs what all have in common counts, and nobody else is in step with that.
            most: dict[str, Any] = {} if back.size else {"most_foreign_share": 1.0}
            log = self.bench.issue(
                ops, offsets, lengths, iodepth=self.depth, pauses_ns=pauses, **most
            )
            order = np.argsort(log.index)
            reads = order[log.op[order] == OP_READ]
            ends = np.sort(log.complete_ns[log.op == OP_WRITE].astype(float))
            gaps = np.diff(ends, prepend=float(log.submit_ns.min()))
            since = log.submit_ns[reads] - ends[-1]
            return Burst(gaps, log.latency_ns[reads].astype(float), since)

        return in_peace(self.bench, once, patient=True)

    def together_ns(self, place: int, lengths: Sequence[int]) -> float:
        """Write one behind the other from a place on, and give what that took in all."""
        offsets = place + np.cumsum([0, *lengths[:-1]])

        def once() -> float:
            self.empty()
            log = self.bench.issue(OP_WRITE, offsets, lengths)
            return float(log.latency_ns.sum())

        return in_peace(self.bench, once, patient=True)

    def flushed_ns(self, count: int) -> tuple[float, float]:
        """Write a burst and flush twice; give what both took."""

        def once() -> tuple[float, float]:
            self.run(count)
            log = self.bench.issue([OP_FLUSH, OP_FLUSH], [0, 0], [0, 0])
            first, second = log.in_order_ns.tolist()
            return first, second

        return in_peace(self.bench, once, patient=True)

    def read_ns(self, count: int, filling: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Read what was just written, and what so many writes drove out; give what both took."""
        pieces = max(count // PIECE, 1)
        halves = [np.resize(each, count) for each in (self.places[::2], self.places[1::2])]
        took = [
            in_peace(self.bench, partial(self._now_and_later, now, later, filling), patient=True)
            for now, later in zip(*(np.array_split(each, pieces) for each in halves), strict=True)
        ]
        memory, flash = (np.concatenate(each) for each in zip(*took, strict=True))
        return memory, flash

    def _now_and_later(
        self, now: NDArray[np.int64], later: NDArray[np.int64], filling: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        block = self.bench.info.logical_block_bytes
        # Not by a discard: of what was discarded the map knows, and no flash is read.
        near = self.places[: filling + later.size]
        driven = np.resize(near[~np.isin(near, later)], filling)
        self.bench.write(np.concatenate([later, driven]), block, most_foreign_share=1.0)
        self.bench.issue([OP_FLUSH], [0], [0])
        self.bench.idle(REST_NS if self.bench.virtual else SHORT_REST_NS)
        left = self.bench.read(later, block)
        log = self.bench.issue(np.tile([OP_WRITE, OP_READ], now.size), np.repeat(now, 2), block)
        return log.latency_ns[log.op == OP_READ].astype(float), left.latency_ns.astype(float)

    def empty(self) -> None:
        """Bring to flash what is in the buffer, or make the drive forget it."""
        self.bench.issue([OP_FLUSH], [0], [0])
        self.bench.idle(REST_NS if self.bench.virtual else SHORT_REST_NS)
        if self.bench.info.write_cache.control == "switchable":
            with self.bench.caches(write=False):
                pass
        elif self.bench.info.discard:
            self.bench.issue([OP_DISCARD], [0], [self.bench.info.capacity_bytes])
        self.bench.issue([OP_FLUSH], [0], [0])
