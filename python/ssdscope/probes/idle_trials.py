"""Trials of a drive's idle time: looked at now and then by a read, for long, then written to.

Any request wakes a drive. So reads that follow each other within less than the onset of its idle
work keep it awake for ever, and reads a little further apart let it begin anew each time, with
what it has begun being finished: after a hundred such gaps it has done a hundred pieces of work,
however little each exceeds the onset. What that gains the next writes is a step, not a slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes import staying
from ssdscope.probes.discipline import PATIENCE_NS, base_request_bytes, in_peace
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.overwriting import latencies_ns
from ssdscope.probes.settling import MOST_LOST
from ssdscope.targets.records import OP_FLUSH, OP_READ, OP_WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.settling import Overwriter

AWAKE_NS = 900_000
"""Between reads that keep a drive awake: shorter than any onset that is sought."""
GAPS, GAPS_WALL, MOST_GAPS = 512, 16, 4096
QUIET_STALLS, LEAST_QUIET_NS = 2.0, 2_000_000_000
"""Length of a trial at least, also in stalls of one write, for what idle work must get done to be
noticed, and for what was still under way to end."""
TAIL = 48
LEAST_TAIL, MOST_TAIL = 200, 1500
CHUNK, MOST_CHUNKS = 48, 80
LEAST_WRITES, STALLS, TIMED_NS = 16, 3, 5_000_000_000
"""Timed in a trial: so many, of so many stalls, or of so much time; the more the better."""
FINE, MOST_FINE = 8, 250
SUSTAINED_CHUNK = 1024
"""Writes that go on, at once."""
FEWEST_WRITES, SHORTER = 4, 4
"""Timed in a trial, and how many times fewer they are made where others disturb."""
LAST, LAST_TRIALS, READ_SLOWER = 8, 9, 0.25
"""Blocks written last, trials with them, and the logarithm that tells memory from flash."""
EMPTIED, MOST_EMPTYING_NS = 2.0, 60_000_000_000
"""Times what as many writes take as a buffer holds units, until it must be empty, as each may go
singly to a log block that is merged for it; and at most."""
QUICK = 0.1
"""Quantile of writes that wait for nothing."""
SLOW_AGAIN = 0.6
"""Of what writes waited in the mean before: they wait again, and there is work for idle time."""
ALL_SLOW, WINDOW, SETTLED_PART = 0.75, 8, 4
"""The same where room is surely used up: in so many chunks; and which part of the capacity, at
most, that takes."""


@dataclass(frozen=True)
class Trial:
    """What a trial gave.

    Attributes
    ----------
    writes_ns
        Latencies of the writes behind the gaps, in the latency of reads just before, which
        drifts as they do; shape (n,).
    read_ns
        That latency.
    """

    writes_ns: NDArray[np.float64]
    read_ns: float

    @property
    def waited(self) -> float:
        """Share of their time that these writes waited, beyond what the quick ones take."""
        return float(1 - np.quantile(self.writes_ns, QUICK) / self.writes_ns.mean())


class Trials:
    """Makes trials on a settled drive.

    Parameters
    ----------
    flushed
        Whether to follow each write by a flush, whose time counts: a buffer stays on.
    """

    def __init__(self, overwriter: Overwriter, *, flushed: bool) -> None:
        self.overwriter = overwriter
        self.flushed = flushed
        self.bench = overwriter.bench
        self._merged_bytes = int(self.bench.found("merge_unit_bytes") or 0)
        self._phase_bytes = int(self.bench.found("alignment_phase_bytes") or 0)
        capacity, size = self.bench.info.capacity_bytes, overwriter.granule.size_bytes
        most = int(np.clip(capacity // size // 32, 64, 1024))
        self._chunk, self._window = CHUNK, 0
        self._calibrate(2 * most)
        enough = max(LEAST_WRITES, STALLS * self.stall_ns / self.mean_ns, TIMED_NS / self.mean_ns)
        self.most_writes = int(min(most, enough))

    def _calibrate(self, count: int) -> None:
        """Tell by so many writes what quick ones take, what all do, and what those that wait do."""
        latency = np.sort(self._written(count, most_lost=MOST_LOST))
        self.quick_ns, self.mean_ns = float(np.quantile(latency, QUICK)), float(latency.mean())
        waited = np.cumsum(np.maximum(latency - self.quick_ns, 0))
        self.stall_ns = float(latency[np.searchsorted(waited, waited[-1] / 2)])
        """Half of all waiting, beyond what quick writes take, is in writes that take longer."""

    def use_up_all(self) -> None:
        """Make work from now on until all writes wait again as they do on end.

        Some writes wait even while there is room, and a few that do by chance end it too soon.
        """
        units = self.bench.info.capacity_bytes // self.overwriter.granule.size_bytes
        for _ in range(units // SETTLED_PART // self._chunk):
            self._written(self._chunk)
        self._window = WINDOW * self._chunk
        self._calibrate(2 * self._window)

    def shorten(self) -> bool:
        """Make trials that others disturb a quarter as long; give whether that can be done."""
        shorter = max(self.most_writes // SHORTER, FEWEST_WRITES)
        can = shorter < self.most_writes
        self.most_writes, self._chunk = shorter, max(self._chunk // SHORTER, FEWEST_WRITES)
        return can

    def gaps(self, period_ns: int) -> int:
        """Count the gaps of a trial: enough pieces of work, and enough time for them."""
        least = GAPS if self.bench.virtual else GAPS_WALL
        quiet_ns = max(QUIET_STALLS * self.stall_ns, LEAST_QUIET_NS)
        return int(np.clip(quiet_ns / period_ns, least, MOST_GAPS))

    def run(self, period_ns: int, writes: int, gaps: int | None = None) -> Trial:
        """Make work, read so often with such a period, and write."""
        count = self.gaps(period_ns) if gaps is None else gaps
        return in_peace(
            self.bench, lambda: self._run(period_ns, writes, count), waits_ns=PATIENCE_NS
        )

    def _run(self, period_ns: int, writes: int, gaps: int) -> Trial:
        self._make_work()
        if self.flushed:
            self.bench.issue([OP_FLUSH], [0], [0])
        read_ns = self._quiet(period_ns, gaps)
        if self.flushed:
            # What others wrote meanwhile may have left the buffer in the pauses.
            self.bench.issue([OP_FLUSH], [0], [0])
        return Trial(self._timed(writes) / read_ns, read_ns)

    def _quiet(self, period_ns: int, gaps: int) -> float:
        """Read one place with a period, and then often; give what such a read takes in the end."""
        bench, size = self.bench, base_request_bytes(self.bench.info)
        # The end of the drive, which is never overwritten: whether a cache has it, and how fast its
        # cells are, is the same in all trials.
        places = np.full(gaps + 1, bench.info.capacity_bytes - size, dtype=np.uint64)
        # An open loop: a late answer makes no gap longer.
        arrivals = np.arange(gaps + 1, dtype=np.uint64) * np.uint64(period_ns)
        bench.issue(OP_READ, places, np.full(gaps + 1, size), arrivals_ns=arrivals)
        # What was begun in the last gap comes to its end.
        tail = int(np.clip(QUIET_STALLS * self.stall_ns / AWAKE_NS, LEAST_TAIL, MOST_TAIL))
        self._read_end(size, tail)
        # Two pages are read at once or one after the other, by where they were copied to.
        return float(np.median(self._read_end(bench.info.logical_block_bytes, TAIL)))

    def _read_end(self, size: int, count: int) -> NDArray[np.float64]:
        """Read the end of the drive so often as keeps it awake; give latencies."""
        bench, pauses_ns = self.bench, np.full(count, AWAKE_NS)
        places = np.full(count, bench.info.capacity_bytes - size, dtype=np.uint64)
        return latencies_ns(bench.read(places, np.full(count, size), pauses_ns=pauses_ns))

    def sustained(self, period_ns: int, count: int) -> NDArray[np.float64]:
        """Write on and on behind a pause; give latencies of the second half, without lost ones."""
        self._quiet(period_ns, 1)
        latency = self._written(count, SUSTAINED_CHUNK, MOST_LOST)
        return latency[latency.size // 2 :]

    def empties_when_idle(self) -> bool:
        """Tell whether what was written last is read slower after a pause than without.

        It is then still in the buffer of a drive that was kept awake for as long, and not of one
        that was left alone; both, or neither, is no effect of idle time. Reads of other data tell
        how long flash takes, which a drive that works makes wait.
        """
        logs: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(LAST_TRIALS):
            for rests, each in logs.items():
                each.append(in_peace(self.bench, partial(self._read_back, rests)))
        return bool(np.median(logs[True]) - np.median(logs[False]) > READ_SLOWER)

    def _read_back(self, rests: bool) -> float:
        """Write a few blocks and wait; give the logarithm of what they take to read over others."""
        self._make_work()
        size, capacity = base_request_bytes(self.bench.info), self.bench.info.capacity_bytes
        places = self.overwriter.rng.integers(0, capacity // size, (2, LAST)) * size
        written, others = places.astype(np.uint64)
        self.bench.write(written, np.full(LAST, size))
        gaps = int(self._emptying_ns() / AWAKE_NS)
        self._quiet(AWAKE_NS * (gaps if rests else 1), 1 if rests else gaps)
        both = np.column_stack([written, others]).ravel()
        log = self.bench.read(both, np.full(2 * LAST, size))
        logs = np.log(latencies_ns(log)).reshape(LAST, 2)
        return float((logs[:, 0] - logs[:, 1]).mean())

    def _emptying_ns(self) -> float:
        """Give how long a buffer may take to empty itself: what is written last leaves it last."""
        held = staying.about_bytes(self.bench)
        if held is None:
            return MOST_EMPTYING_NS
        unit = staying.about_unit_bytes(self.bench) or self.overwriter.granule.size_bytes
        emptying_ns = EMPTIED * held / unit * self.mean_ns
        return float(np.clip(emptying_ns, AWAKE_NS * MOST_GAPS, MOST_EMPTYING_NS))

    def _make_work(self) -> None:
        """Overwrite until writes are slow again, and one has just waited long."""
        if self._window:
            self._use_up()
        else:
            slow_ns = self.quick_ns + SLOW_AGAIN * (self.mean_ns - self.quick_ns)
            for _ in range(MOST_CHUNKS):
                latency = self._written(self._chunk)
                if latency.size and float(latency.mean()) >= slow_ns:
                    break
        for _ in range(MOST_FINE):
            if (self._written(min(FINE, self._chunk)) >= self.stall_ns / 2).any():
                return

    def _use_up(self) -> None:
        """Overwrite until as many writes as a window holds take what they did on end."""
        slow_ns = self.quick_ns + ALL_SLOW * (self.mean_ns - self.quick_ns)
        units = self.bench.info.capacity_bytes // self.overwriter.granule.size_bytes
        last: list[NDArray[np.float64]] = []
        for _ in range(units // SETTLED_PART // self._chunk):
            last = [*last[1 - WINDOW :], self._written(self._chunk)]
            latency = np.concatenate(last)
            if len(last) == WINDOW and latency.size and latency.mean() >= slow_ns:
                return

    def _written(
        self, count: int, longest: int = FINE, most_lost: float = 1.0
    ) -> NDArray[np.float64]:
        """Overwrite on end, so many at once at most; give latencies that others did not disturb.

        Whoever waited for others to go away would let the drive rest.
        """
        latency = between_bursts(
            self.bench,
            count,
            lambda part: self._timed(part.stop - part.start),
            longest=min(longest, count),
            again=False,
            most_lost=most_lost,
        )
        return np.asarray(latency[~np.isnan(latency)])

    def _places(self, count: int) -> NDArray[np.uint64]:
        """Draw first bytes, none of them the first of a merge unit, where that is known.

        What begins one gets a log block for what is in order, and merges another for that.
        """
        size = self.overwriter.granule.size_bytes
        kept = 2 * max(size, base_request_bytes(self.bench.info))
        places = self.overwriter.places(count, self.bench.info.capacity_bytes - kept)
        if self._merged_bytes > size:
            begins = (places + np.uint64(self._phase_bytes)) % np.uint64(self._merged_bytes) == 0
            places[begins] += np.uint64(size)
        return places

    def _timed(self, count: int) -> NDArray[np.float64]:
        """Overwrite once; give latencies, shape (count,)."""
        bench, size = self.bench, self.overwriter.granule.size_bytes
        places = self._places(count)
        if not self.flushed:
            return latencies_ns(bench.write(places, size))
        ops = np.tile([OP_WRITE, OP_FLUSH], count)
        columns: list[Any] = [
            np.column_stack([each, np.zeros(count, np.uint64)]).ravel()
            for each in (places, np.full(count, size, np.uint64))
        ]
        both = latencies_ns(bench.issue(ops, *columns)).reshape(count, 2)
        return np.asarray(both.sum(axis=1))
