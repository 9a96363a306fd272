"""Bursts of small writes into an emptied write buffer: what the probe `write_buffer` counts.

Each write of a burst is one logical block in a span of its own, so it takes a whole management
unit of the buffer and as little of the link as can be: the buffer fills faster than it drains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import in_peace
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_READ, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import Log

SPAN_BYTES = 96 * 1024
"""Whole units of any power of two up to 32 KiB, and three times that: all spans are cut alike."""
FIRST_WRITES, MOST_WRITES = 64, 1 << 14
FIRST_IDLE_NS, MOST_IDLE_NS = 200_000_000, 60_000_000_000
MARGIN = 8
GREW = 0.02
"""A fast phase that is longer by less than this share did not grow."""
LAST_FLUSHES, EMPTY = 8, 3.0
"""How often a buffer is flushed that others write to, and how much longer than the shortest flush
one may take that found nothing."""
FLUSHES = 10.0
"""A flush so many times slower than a write had something to do."""


@dataclass
class Bursts:
    """Bursts on a drive, and how its buffer is emptied before each.

    Attributes
    ----------
    idle_ns
        To wait before a burst.
    thorough
        Whether waiting and flushing alone do not empty the buffer.
    depth
        Writes at once.
    flush_ns
        What the flushes so far took.
    write_ns
        What a write of the last bursts took, in the middle.
    reached
        Spans that were ever written.
    """

    bench: Bench
    idle_ns: int = FIRST_IDLE_NS
    thorough: bool = False
    depth: int = 1
    flush_ns: list[int] = field(default_factory=list)
    write_ns: float = 0.0
    reached: int = 0
    _least_flush_ns: int = MOST_IDLE_NS

    @property
    def block_bytes(self) -> int:
        """The smallest write."""
        return self.bench.info.logical_block_bytes

    @property
    def most_writes(self) -> int:
        """The most spans of a burst."""
        return min(MOST_WRITES, self.bench.window.size_bytes // SPAN_BYTES - 1)

    @property
    def can_forget(self) -> bool:
        """Whether there is more than flushing and waiting to empty a buffer with."""
        return self.bench.info.discard or self.bench.info.write_cache.control == "switchable"

    def run(
        self,
        spans: int,
        count: int,
        *,
        at: Sequence[int] = (0,),
        length: int = 0,
        thinktime_ns: int = 0,
    ) -> NDArray[Any]:
        """Repeat a burst, each time into the emptied buffer.

        Parameters
        ----------
        spans, count
            Of a burst; how many bursts.
        at, length
            Where in its span each write begins, one or several; and its bytes, a logical block
            if zero.

        Returns
        -------
        ndarray, shape (count, spans times places)
            Latencies in nanoseconds.
        """
        spans = min(spans, self.most_writes)
        offsets = self._offsets(spans, at)

        def burst() -> NDArray[Any]:
            self.empty()
            self.reached = max(self.reached, spans + 1 + max(at) // SPAN_BYTES)
            log = self.bench.issue(
                OP_WRITE,
                offsets,
                length or self.block_bytes,
                thinktime_ns=thinktime_ns,
                iodepth=self.depth,
            )
            return _in_order(log)

        rows = [in_peace(self.bench, burst) for _ in range(count)]
        self.write_ns = float(np.median(rows))
        return np.array(rows, dtype=float)

    def read_back(
        self, spans: int, ages: NDArray[Any], *, at: Sequence[int] = (0,), length: int = 0
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Write a burst and read some of its spans, one after the other.

        Parameters
        ----------
        spans, at, length
            As of `run`.
        ages
            Which to read, in this order: by how many spans were written after them.

        Returns
        -------
        ndarray, ndarray
            Latencies of the writes and of the reads, in the order of issue.
        """
        written = self._offsets(spans, at)
        read = (spans - 1 - np.asarray(ages)).astype(np.uint64) * np.uint64(SPAN_BYTES)
        ops = np.repeat(np.array([OP_WRITE, OP_READ], np.uint8), (written.size, read.size))
        lengths = np.where(ops == OP_WRITE, length or self.block_bytes, self.block_bytes)
        # A pause, as short as can be: the first read waits until the last write is done.
        pauses = (ops == OP_READ).astype(np.uint64)
        # Of a write the first and the last block in turn: one unit of it may leave first.
        ends = np.array([at[0], at[-1] + (length or self.block_bytes) - self.block_bytes])
        offsets = np.concatenate([written, read + np.resize(ends.astype(np.uint64), read.size)])

        def burst() -> Log:
            self.empty()
            self.reached = max(self.reached, spans + 1)
            return self.bench.issue(ops, offsets, lengths, iodepth=self.depth, pauses_ns=pauses)

        latency = _in_order(in_peace(self.bench, burst))
        return latency[: written.size], latency[written.size :]

    def read_at_once(self, spans: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Write a block in each span and read it straight away; give what both took."""
        offsets = np.repeat(spans.astype(np.uint64) * np.uint64(SPAN_BYTES), 2)
        ops = np.tile(np.array([OP_WRITE, OP_READ], np.uint8), spans.size)
        self.empty()
        log = in_peace(self.bench, lambda: self.bench.issue(ops, offsets, self.block_bytes))
        self.reached = max(self.reached, int(spans.max()) + 1)
        latency = _in_order(log)
        return latency[::2], latency[1::2]

    def read_later(self, spans: NDArray[Any]) -> NDArray[Any]:
        """Read a block in each span once the buffer was emptied; give the latencies."""
        self.empty()
        offsets = spans.astype(np.uint64) * np.uint64(SPAN_BYTES)
        return in_peace(self.bench, lambda: self.bench.read(offsets, self.block_bytes)).latency_ns

    def _offsets(self, spans: int, at: Sequence[int]) -> NDArray[np.uint64]:
        starts = np.arange(spans, dtype=np.uint64) * np.uint64(SPAN_BYTES)
        return (starts[:, None] + np.array(at, dtype=np.uint64)).ravel()

    def empty(self) -> None:
        """Bring what the last burst left to flash, or make the drive forget it.

        At the end once more, until it takes no longer than that of an empty buffer: others may have
        written in the meantime.
        """
        first_ns = self._flush()
        self.flush_ns.append(first_ns)
        self.bench.idle(self.idle_ns)
        if self.thorough and self.bench.info.write_cache.control == "switchable":
            with self.bench.caches(write=False):
                pass
        elif self.thorough and self.reached:
            self.bench.issue([OP_DISCARD], [0], [self.reached * SPAN_BYTES])
        for _ in range(LAST_FLUSHES):
            took_ns = self._flush()
            self._least_flush_ns = min(self._least_flush_ns, first_ns, took_ns)
            if took_ns <= EMPTY * self._least_flush_ns:
                break

    def _flush(self) -> int:
        return int(self.bench.issue([OP_FLUSH], [0], [0]).latency_ns[0])

    def flush_works(self, spans: int, write_ns: float) -> bool:
        """Whether a flush behind so many takes much longer than a write into the empty buffer."""
        self.run(spans, 1)
        self.empty()
        return self.flush_ns[-1] > FLUSHES * write_ns

    def service_ns(self, count: int) -> float:
        """Measure what it takes to empty the buffer of one write: the least of some flushes."""
        took = []
        for index in range(count):
            self.empty()
            pair = self.bench.issue(
                [OP_WRITE, OP_FLUSH], [index * SPAN_BYTES, 0], [self.block_bytes, 0]
            )
            took.append(float(pair.latency_ns[pair.op == OP_FLUSH][0]))
        return min(took)

    def find(self, count: int) -> tuple[int, stats.Stall | None]:
        """Make bursts longer until they stall; give how long, and where."""
        writes = min(FIRST_WRITES, self.most_writes)
        while True:
            stall = stats.first_stall(self.run(writes, count))
            if stall is not None and writes - stall.requests >= max(16, stall.requests / 4):
                return writes, stall
            if writes == self.most_writes:
                return writes, stall
            wanted = 2 * writes if stall is None else round(1.5 * stall.requests) + 32
            writes = min(wanted, self.most_writes)

    def adapt(self, count: int) -> stats.Stall | None:
        """Find the stall after ever longer idle times, until it comes no later."""
        writes, stall = self.find(count)
        while stall is not None and self.idle_ns < MOST_IDLE_NS:
            self.idle_ns *= 4
            later = stats.first_stall(self.run(writes, count))
            if later is not None and later.requests <= stall.requests * (1 + GREW):
                break
            writes, stall = self.find(count)
        if self.bench.virtual:
            # Longer bursts leave more behind than these did, and simulated time costs nothing.
            self.idle_ns *= MARGIN
        return stall


def _in_order(log: Log) -> NDArray[Any]:
    """Give latencies in the order of issue."""
    latency = np.empty(len(log))
    latency[log.index.astype(np.int64)] = log.latency_ns
    return latency
