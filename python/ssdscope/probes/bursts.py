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
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SPAN_BYTES = 96 * 1024
"""Whole units of any power of two up to 32 KiB, and three times that: all spans are cut alike."""
FIRST_WRITES, MOST_WRITES = 64, 1 << 14
FIRST_IDLE_NS, MOST_IDLE_NS = 200_000_000, 60_000_000_000
MARGIN = 8
GREW = 0.02
"""A fast phase that is longer by less than this share did not grow."""
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
    flush_ns: list[int] = field(default_factory=list)
    write_ns: float = 0.0
    reached: int = 0

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
        starts = np.arange(spans, dtype=np.uint64) * np.uint64(SPAN_BYTES)
        offsets = (starts[:, None] + np.array(at, dtype=np.uint64)).ravel()

        def burst() -> NDArray[Any]:
            self.empty()
            self.reached = max(self.reached, spans + 1)
            log = self.bench.issue(
                OP_WRITE, offsets, length or self.block_bytes, thinktime_ns=thinktime_ns
            )
            return log.latency_ns

        rows = [in_peace(self.bench, burst) for _ in range(count)]
        self.write_ns = float(np.median(rows))
        return np.array(rows, dtype=float)

    def empty(self) -> None:
        """Bring what the last burst left to flash, or make the drive forget it."""
        log = self.bench.issue([OP_FLUSH], [0], [0])
        self.flush_ns.append(int(log.latency_ns[0]))
        if self.thorough and self.bench.info.write_cache.control == "switchable":
            with self.bench.caches(write=False):
                pass
        elif self.thorough and self.reached:
            self.bench.issue([OP_DISCARD], [0], [self.reached * SPAN_BYTES])
        self.bench.idle(self.idle_ns)

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
