"""Table 5 of kuo2009: the write buffer, and in the same way the read cache, by one growing request.

What fits into the buffer is acknowledged from it; the rest has to wait for flash. The paper's
steps: write 4 KB at random, to use up the log blocks so that the buffer empties slowly; flush and
wait for five seconds; write x KB; if that takes "obviously" longer return x, else make x larger by
1 KB and begin again. For the read cache x KB are read again and again.

"Obviously" is not defined: here it is when the time leaves the line through the times of the first
quarter of the sizes by `LEAVES_BY`, and the answer is the last size before. What leaves the buffer
while it is filled is taken for buffer. Requests go in commands of at most 128 KB, as in the
paper's machine (28-bit ATA: 256 sectors), so that a step at 128 KB may be that of a second
command. How many random writes is not said: here 400. Nor is where, so they fall anywhere. The
paper's other way to keep a buffer from emptying is its worst case: writes 64 MB apart.

Cost: per size the random writes and x. At 1 KB steps a buffer of 20 MB would take 28 hours of
waiting, so the steps are the caller's. Source: kuo2009, table 5, figures 37 and 38.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.plan import State
from ssdscope.targets.records import OP_FLUSH, OP_READ, OP_WRITE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

COMMAND_BYTES = 128 << 10
RANDOM_BYTES = 4096
RANDOM_WRITES = 400
REST_NS = 5_000_000_000
READ_AGAIN = 3
LEAVES_BY = 0.05


@dataclass(frozen=True)
class GrowingWrite:
    """The write buffer; every size from the state in which the drive was found, if it can be kept.

    Attributes
    ----------
    random_writes
        How many come first; 0 leaves step 1 out.
    range_bytes
        The first bytes of the drive, into which they fall; None for all of it.
    distance_bytes
        From one to the next, where they are not random.
    """

    sizes: Sequence[int]
    random_writes: int = RANDOM_WRITES
    range_bytes: int | None = None
    distance_bytes: int | None = None

    @property
    def planned_writes_bytes(self) -> int:
        """What all sizes write."""
        return sum(self.sizes) + len(self.sizes) * self.random_writes * RANDOM_BYTES

    def run(self, bench: Bench) -> NDArray[Any]:
        """Measure the time from the first to the last command of every size, in nanoseconds."""
        places = self._places(bench)
        times = []
        for done, size in enumerate(self.sizes, start=1):
            bench.enter(State.AS_FOUND)
            times.append(self._one(bench, places, size))
            bench.progress("table 5", done / len(self.sizes))
        return np.array(times, dtype=float)

    def _places(self, bench: Bench) -> NDArray[Any]:
        """Return where what comes first is written."""
        capacity = bench.info.capacity_bytes
        pages = min(self.range_bytes or capacity, capacity) // RANDOM_BYTES
        if self.distance_bytes is not None:
            steps = np.arange(self.random_writes, dtype=np.int64) * self.distance_bytes
            return steps % (pages * RANDOM_BYTES)
        rng = bench.rng("kuo2009 table 5")
        return rng.integers(0, pages, self.random_writes) * RANDOM_BYTES

    def _one(self, bench: Bench, places: NDArray[Any], size: int) -> int:
        steps, lengths = _commands(size)
        first = places.size + 1
        ops = np.full(first + steps.size, OP_WRITE)
        ops[places.size] = OP_FLUSH
        pauses = np.zeros(ops.size, dtype=np.int64)
        pauses[first] = REST_NS
        log = bench.issue(
            ops,
            np.concatenate([places, [0], steps]),
            np.concatenate([np.full(places.size, RANDOM_BYTES), [0], lengths]),
            pauses_ns=pauses,
        )
        return int(log.complete_ns[-1]) - int(log.submit_ns[first])


@dataclass(frozen=True)
class GrowingRead:
    """The read cache: the same data again and again, from the start of the drive."""

    sizes: Sequence[int]

    def run(self, bench: Bench) -> NDArray[Any]:
        """Read every size once, then again; give the mean time of the latter, in nanoseconds."""
        times = []
        for done, size in enumerate(self.sizes, start=1):
            bench.enter(State.AS_FOUND)
            steps, lengths = _commands(size)
            rounds = 1 + READ_AGAIN
            log = bench.issue(OP_READ, np.tile(steps, rounds), np.tile(lengths, rounds))
            again = np.asarray(log.latency_ns, dtype=float)[steps.size :]
            times.append(again.sum() / READ_AGAIN)
            bench.progress("read cache", done / len(self.sizes))
        return np.array(times)


def _commands(size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give first bytes and lengths of the commands that carry so much."""
    steps = np.arange(0, size, COMMAND_BYTES, dtype=np.int64)
    return steps, np.minimum(COMMAND_BYTES, size - steps)


def answer(sizes: ArrayLike, times_ns: ArrayLike) -> int | None:
    """Give the last size before the time leaves its line; None if it never does.

    Parameters
    ----------
    sizes, times_ns : array_like, shape (n,)
        Ascending sizes, at least eight.
    """
    amounts, times = np.asarray(sizes, dtype=float), np.asarray(times_ns, dtype=float)
    start = max(amounts.size // 4, 2)
    line = np.polynomial.Polynomial.fit(amounts[:start], times[:start], 1)
    beyond = np.flatnonzero(times > (1 + LEAVES_BY) * line(amounts))
    above = beyond[beyond >= start]
    return int(amounts[above[0] - 1]) if above.size else None
