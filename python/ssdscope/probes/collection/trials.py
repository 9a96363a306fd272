"""Trials of a drive's idle time: work is made, the drive is left alone or kept awake, and written.

What the plans of `pauses` do to a drive, request by request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.levels import NOTICED
from ssdscope.probes.bench.discipline import base_request_bytes, between_bursts
from ssdscope.probes.bench.overwriting import Granule, latencies_ns, write_and_flush
from ssdscope.probes.plan import Stopped
from ssdscope.targets.records import OP_FLUSH, OP_READ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["AWAKE_NS", "LONGEST_NS", "Trials", "Waits"]

AWAKE_NS, LONGEST_NS = 900_000, 60_000_000_000
"""Between reads that keep a drive awake: shorter than any onset that is sought; and the longest."""
GAPS, GAPS_WALL = 512, 16
"""Pauses of a trial at most, of a virtual drive and of a real one."""
QUIET_STALLS, QUIET_NS = 2, 2_000_000_000
"""What a trial takes at least, also in stalls of one write: for idle work to get enough done, for
what was under way to end, and for writes to wait."""
FEW, CHUNK, MOST_WRITES = 8, 48, 1024
"""Writes until one has just waited, or of a look, at once; and at most, of settling and of trials.
So many looks must be slow for room to be used up."""
PARTS = 128
"""Of the capacity, that a look is at most one of."""
SHORTER = 4
"""How many times fewer writes are timed where others disturb; and which part of the capacity is
written at most, for room to be used up."""
QUICK, MOST = 0.1, 0.75
"""Quantile of writes that wait for nothing. Of the mean wait, from which on writes wait again; of
the capacity, that is overwritten for a drive to settle; of writes, that others may disturb."""
SETTLED_BYTES = 1 << 34
"""Overwritten at most for that."""


class Waits(NamedTuple):
    """What writes take on a settled drive: quick ones, all, and those that wait."""

    quick_ns: float
    mean_ns: float
    stall_ns: float

    @classmethod
    def of(cls, latencies_ns: NDArray[np.float64]) -> Self:
        """Tell by some; half of all waiting is in writes that take longer than the last."""
        took = np.sort(latencies_ns)
        quick = float(np.quantile(took, QUICK))
        waited = np.cumsum(np.maximum(took - quick, 0))
        stall = float(took[np.searchsorted(waited, waited[-1] / 2)])
        return cls(quick, float(took.mean()), stall)


class Trials:
    """Makes trials on one drive.

    Parameters
    ----------
    size_bytes, phase_bytes
        Of a write; it begins so far before a multiple of its size.
    within_bytes
        The merge unit, whose first part is not written: what begins one gets a log block for what
        is in order, and merges another for that. 0 for none.
    """

    def __init__(
        self,
        bench: Bench,
        rng: np.random.Generator,
        size_bytes: int,
        phase_bytes: int,
        within_bytes: int,
    ) -> None:
        self.bench, self.rng = bench, rng
        self.unit = Granule(size_bytes, phase_bytes)
        self.within_bytes = within_bytes
        cache = bench.info.write_cache
        self.buffered = cache.control not in ("absent", "switchable")
        self.flushed = False
        self._chunk = self._longest = CHUNK

    def settle(self) -> None:
        """Overwrite most of the drive at random, or for so long where it merges log blocks."""
        most_bytes, spent_ns = min(int(MOST * self.bench.info.capacity_bytes), SETTLED_BYTES), 0.0
        for _ in range(0, most_bytes // self.unit.size_bytes, MOST_WRITES):
            spent_ns += float(self._written(MOST_WRITES, most_lost=MOST).sum())
            if self.within_bytes and spent_ns > FEW * LONGEST_NS:
                return

    def calibrate(self, waits: Waits | None) -> None:
        """Tell what writes take on a settled drive, if that is not known; and if flushes work."""
        self.flushed = self.buffered and self._flush_works()
        units = self.bench.info.capacity_bytes // self.unit.size_bytes
        self._chunk = int(np.clip(units // PARTS, FEW, CHUNK))
        most = int(np.clip(FEW * units // PARTS // 2, CHUNK, MOST_WRITES))
        self.waits = waits or Waits.of(self._written(2 * most, most_lost=MOST))
        self.quiet_ns = max(QUIET_STALLS * self.waits.stall_ns, QUIET_NS)
        self.most_writes = int(np.clip(2 * self.quiet_ns / self.waits.mean_ns, FEW, most))

    def shorten(self) -> bool:
        """Make trials that others disturb a quarter as long; give whether that can be done."""
        shorter = max(self.most_writes // SHORTER, SHORTER)
        can = shorter < self.most_writes
        self.most_writes, self._chunk = shorter, max(self._chunk // SHORTER, SHORTER)
        return can

    def waited(self, took: NDArray[np.float64]) -> float:
        """Give the share of their time that writes waited, beyond what quick ones take."""
        return float(1 - np.quantile(took, QUICK) / took.mean())

    def run(self, period_ns: int, writes: int) -> tuple[NDArray[np.float64], float, float]:
        """Make work, read with a period, and write.

        Returns
        -------
        tuple
            Latencies of the writes; what a read takes just before, which drifts as they do; and
            what one took that kept the period.
        """
        self._make_work()
        self._flush()
        most, most_ns = (GAPS, FEW * LONGEST_NS) if self.bench.virtual else (GAPS_WALL, LONGEST_NS)
        least = min(self.quiet_ns, LONGEST_NS) / period_ns
        gaps = max(np.clip(most_ns / period_ns, 1, most), least)
        served_ns = self._quiet(period_ns, int(gaps))
        read_ns = self._read_ns()
        # What others wrote meanwhile may have left the buffer in the pauses.
        self._flush()
        return self._timed(writes), read_ns, served_ns

    def read_back(self, count: int, period_ns: int, quiet_ns: int) -> float:
        """Write a few places, wait, and give how many times as long they are read as others."""
        self._make_work()
        size, capacity = base_request_bytes(self.bench.info), self.bench.info.capacity_bytes
        places = self.rng.integers(0, capacity // size, (2, count)).astype(np.uint64) * size
        self.bench.write(places[0].astype(np.uint64), np.full(count, size))
        self._quiet(period_ns, max(quiet_ns // period_ns, 1))
        both = np.asarray(places.T.ravel(), np.uint64)
        took = latencies_ns(self.bench.read(both, np.full(2 * count, size))).reshape(count, 2)
        one, other = np.median(took, axis=0)
        return float(one / other)

    def gone_on(self, pause_ns: int, most_bytes: int) -> NDArray[np.float64]:
        """Rest once, and write on and on; give latencies in that of a read."""
        self._make_work()
        self._quiet(pause_ns, 1)
        read_ns = self._read_ns()
        count = min(most_bytes // self.unit.size_bytes, int(FEW * LONGEST_NS / self.waits.mean_ns))
        return self._written(count, MOST) / read_ns

    def _flush_works(self) -> bool:
        """Say whether a flush behind writes takes about as long as one of them, or longer."""
        flushes, writes = [], []
        for _ in range(FEW):
            writes.append(self._written(CHUNK))
            flushes.append(float(self.bench.issue([OP_FLUSH], [0], [0]).latency_ns[0]))
        took = np.concatenate(writes)
        if not took.size:
            raise Stopped(Reason.INTERFERENCE, "others used the drive nearly all the time")
        return float(np.median(flushes)) > NOTICED * float(took.mean())

    def _flush(self) -> None:
        if self.flushed:
            self.bench.issue([OP_FLUSH], [0], [0])

    def _quiet(self, period_ns: int, gaps: int) -> float:
        """Read one place with a period, and then often until what was begun has ended.

        That is the end of the drive, which is never overwritten: whether a cache has it, and how
        fast its cells are, is the same in all trials. Gives what such a read takes.
        """
        bench, size = self.bench, base_request_bytes(self.bench.info)
        places = np.full(gaps + 1, bench.info.capacity_bytes - size, dtype=np.uint64)
        # An open loop: a late answer makes no gap longer.
        arrivals = np.arange(gaps + 1, dtype=np.uint64) * np.uint64(period_ns)
        bench.issue(OP_READ, places, np.full(gaps + 1, size), arrivals_ns=arrivals)
        stalls = QUIET_STALLS * self.waits.stall_ns / AWAKE_NS
        tail = self._read_end(size, int(np.clip(stalls, CHUNK, MOST_WRITES)))
        return float(np.median(tail[-CHUNK:]))

    def _read_ns(self) -> float:
        """Give what a read of one block takes, which drifts as writes do.

        Two pages are read at once or one after the other, by where they were copied to.
        """
        return float(np.median(self._read_end(self.bench.info.logical_block_bytes, CHUNK)))

    def _read_end(self, size: int, count: int) -> NDArray[np.float64]:
        """Read the end of the drive so often as keeps it awake; give latencies."""
        places = np.full(count, self.bench.info.capacity_bytes - size, dtype=np.uint64)
        pauses_ns = np.full(count, AWAKE_NS)
        log = self.bench.read(places, np.full(count, size), pauses_ns=pauses_ns)
        return latencies_ns(log)

    def _make_work(self) -> None:
        """Overwrite until so many writes in a row as a window holds wait, and one has just done.

        Some wait even while there is room, and a few that do by chance would end it too soon.
        """
        quick_ns, mean_ns, _ = self.waits
        slow_ns = quick_ns + MOST * (mean_ns - quick_ns)
        means: list[float] = []
        most = self.bench.info.capacity_bytes // SHORTER // self.unit.size_bytes
        for _ in range(0, most, self._chunk):
            took = self._written(self._chunk)
            means += [float(took.mean())] if took.size else []
            if len(means) >= FEW and np.mean(means[-FEW:]) >= slow_ns:
                break
        for _ in range(MOST_WRITES // FEW):
            if (self._written(min(FEW, self._chunk)) >= self.waits.stall_ns / 2).any():
                return

    def _written(self, count: int, most_lost: float = 1.0) -> NDArray[np.float64]:
        """Overwrite on end; give latencies that others did not disturb.

        Whoever waited for others to go away would let the drive rest.
        """
        took = between_bursts(
            self.bench,
            count,
            lambda part: self._timed(part.stop - part.start),
            longest=self._longest,
            again=False,
            most_lost=most_lost,
        )
        kept = np.asarray(took[~np.isnan(took)])
        if kept.size < count:
            self._longest = FEW
        return kept

    def _places(self, count: int) -> NDArray[np.uint64]:
        """Draw first bytes, none of them the first of a merge unit, nor at the end of the drive."""
        size, capacity = self.unit.size_bytes, self.bench.info.capacity_bytes
        kept = 2 * max(size, base_request_bytes(self.bench.info))
        places = self.unit.places(count, capacity - kept, self.rng)
        if self.within_bytes > size:
            phase = np.uint64(self.unit.phase_bytes)
            begins = (places + phase) % np.uint64(self.within_bytes) == 0
            places[begins] += np.uint64(size)
        return places

    def _timed(self, count: int) -> NDArray[np.float64]:
        """Overwrite once, each followed by a flush if that empties a buffer; give latencies."""
        bench, size = self.bench, self.unit.size_bytes
        places = self._places(count)
        if not self.flushed:
            return latencies_ns(bench.write(places, size))
        return write_and_flush(bench, places, size)
