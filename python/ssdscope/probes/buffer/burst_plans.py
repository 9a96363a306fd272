"""Plans of deep bursts: long writes in order, many at once, from rest on, and what of them is read.

Each burst goes to the drive as one list, and comes back as a log. Rows are parts of a burst: how
many bytes were done at the end of each, and what it took.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.bursts import falls
from ssdscope.inference.series import Series, Weighed, joined, nothing
from ssdscope.probes.bench.discipline import in_peace
from ssdscope.probes.bench.filling import REST_NS, SHORT_REST_NS
from ssdscope.probes.buffer.in_memory import in_memory
from ssdscope.probes.buffer.plans import Buffered
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_READ, OP_WRITE, DeviceInfo, Log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = [
    "AGAIN",
    "READS",
    "REQUEST_BYTES",
    "RESTED",
    "SINGLE",
    "Deep",
    "held",
    "of_kind",
    "within_bend",
]

MIB = 1 << 20
REQUEST_BYTES, DEPTH = 128 * 1024, 32
ROWS = 256
"""Of a burst, about."""
RESTED, AGAIN, READS, FIRST, SINGLE = range(5)
"""Kinds of rows: bursts from rest on, such behind a short rest, reads, the burst that has shown how
long the others must be, and single blocks written from rest on."""
KIND = 1000
"""The stratum is the kind times this, and the number of the burst."""
PAIRS, ROUGHLY = 8, 2
"""Bursts from rest on, each with one behind a short rest; and how many of them say roughly how much
is in memory, so that the others can look closely."""
LEAST_BEHIND, BEHIND = 1.4, 1.7
"""Times what was written until the bend, that a burst is long, at least and when it is repeated."""
LEAST_REQUESTS = 64
"""Of a burst."""
AGAIN_NS = 150_000_000
"""In which a buffer is written out, and no region is folded."""
WIDE, CLOSE = (0.6, 1.3), (0.5, 1.7)
"""Of the least and the most that it may hold, and of what it roughly holds: ages between these are
read evenly."""
SOME = 1.0
"""Evidence that some of it is in memory, before it is looked at closely."""
SINGLES, SINGLE_NS = 16, 5_000_000
"""Blocks, and the rest before each."""
REACH = 2 * (PAIRS + 1)
"""Times the longest burst, within which all are written."""
EACH = 8
"""Reads behind a burst: so few that hardly anything leaves. One is of what was written later than
these, and one of what was written before."""


@dataclass(frozen=True, kw_only=True)
class Deep(Buffered):
    """Bursts into the emptied buffer, long enough for a bend, and what of them is in memory.

    Rows of bursts have in `x` the bytes done at their ends and in `y` the time they took. Rows of
    reads have in `x` how many bytes before the end of its burst a block was written, in `y` what
    the read took, and in `time_ns` when it began, from the end of the burst on.

    Attributes
    ----------
    first_bytes, longest_bytes
        Of a burst: it is made longer until its rate falls within the first half.
    """

    request_bytes: int = REQUEST_BYTES
    depth: int = DEPTH
    first_bytes: int = 16 * MIB
    longest_bytes: int = 256 * MIB

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Return the most that it writes, what others disturbed and is written again included."""
        return info.capacity_bytes // 8

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Find a length that shows a bend, and repeat it."""
        whole, wrote = self.writes_bytes(bench.info), 0
        total, most = self.first_bytes, min(self.longest_bytes, whole // 4)
        while True:
            total = min(total, most) // self.request_bytes * self.request_bytes
            alone = in_peace(bench, partial(self._bursts, bench, total, 1, ()), patient=True)
            found, wrote = falls(alone), wrote + total
            if found.estimate is not None and LEAST_BEHIND * found.estimate <= total:
                break
            if total + self.request_bytes > most:
                return alone
            total *= 4
        enough = max(round(BEHIND * found.estimate / self.request_bytes), LEAST_REQUESTS)
        total = min(total, enough * self.request_bytes)
        parts = [replace(alone, stratum=alone.stratum + FIRST * KIND)]
        pairs = min((whole - wrote) // (2 * total), PAIRS)
        around = within(found)
        for number in range(pairs if pairs > ROUGHLY else 0):
            if number == ROUGHLY:
                rough = _rough(of_kind(joined(parts), READS), found)
                if rough.estimate is None:
                    break
                around = closely(rough, total)
            ages = _ages(*around, total, rng)
            once = partial(self._bursts, bench, total, 2, ages, number)
            parts.append(in_peace(bench, once, patient=True))
        parts.append(self._single(bench))
        return joined(parts)

    def _single(self, bench: Bench) -> Series:
        """Write blocks one by one, each into the emptied buffer."""
        self._empty(bench)
        offsets = (1 + np.arange(SINGLES, dtype=np.uint64)) * np.uint64(self.request_bytes)
        pauses = np.full(SINGLES, SINGLE_NS, np.uint64)
        log = bench.write(
            offsets, bench.info.logical_block_bytes, pauses_ns=pauses, most_foreign_share=1.0
        )
        return Series.of(offsets, log.latency_ns, stratum=np.full(SINGLES, SINGLE * KIND))

    def _empty(self, bench: Bench) -> None:
        """Bring to flash what was written, or make the drive forget it."""
        bench.issue([OP_FLUSH], [0], [0])
        bench.idle(REST_NS if bench.virtual else SHORT_REST_NS)
        if bench.info.write_cache.control == "switchable":
            with bench.caches(write=False):
                pass
        elif bench.info.discard:
            bench.issue(
                [OP_DISCARD], [0], [min(REACH * self.longest_bytes, bench.info.capacity_bytes)]
            )
        bench.issue([OP_FLUSH], [0], [0])

    def _bursts(
        self, bench: Bench, total: int, times: int, ages: ArrayLike, number: int = 0
    ) -> Series:
        """Write from rest on, and behind a short rest again, each followed by some of the reads."""
        count, block = total // self.request_bytes, bench.info.logical_block_bytes
        self._empty(bench)
        room = bench.info.capacity_bytes // self.request_bytes - count
        ops, offsets, pauses = [], [], []
        for each, some in enumerate(np.split(np.asarray(ages, float), times)):
            first = (2 * number + each) * count % max(room, 1)
            written = (first + np.arange(count)) * self.request_bytes
            read = written[0] + (total - some).astype(np.int64) // block * block
            ops += [np.full(count, OP_WRITE), np.full(read.size, OP_READ)]
            offsets += [written, read]
            pauses += [np.zeros(count), np.ones(read.size)]
            pauses[-2][0] = AGAIN_NS if each else 0
        every = np.concatenate(ops).astype(np.uint8)
        log = bench.issue(
            every,
            np.concatenate(offsets).astype(np.uint64),
            np.where(every == OP_WRITE, self.request_bytes, block),
            iodepth=self.depth,
            pauses_ns=np.concatenate(pauses).astype(np.uint64),
            most_foreign_share=1.0,
        )
        return _rows(log, total, np.split(np.asarray(ages, float), times), number)


def within_bend(found: Weighed, bend: float) -> float:
    """Return what is held at least if a rate bends there: all but what may have left by then."""
    return bend * (1 - found.detail["slow"] / found.detail["fast"])


def within(found: Weighed) -> tuple[float, float]:
    """Return between which ages something ceases to be in memory, by where a burst bends."""
    bend = found.estimate or 0.0
    return WIDE[0] * within_bend(found, bend), WIDE[1] * bend


def closely(rough: Weighed, total: float) -> tuple[float, float]:
    """Return the same by what is roughly in memory."""
    about = rough.estimate or 0.0
    return CLOSE[0] * about, min(CLOSE[1] * about, 0.9 * total)


def _rough(reads: Series, found: Weighed) -> Weighed:
    return in_memory(reads, found.detail["slow"], *within(found), surely=SOME)


def held(taken: Series) -> Weighed:
    """Say how much was in memory at the ends of bursts."""
    reads, first = of_kind(taken, READS), of_kind(taken, FIRST)
    found = falls(first)
    early = reads.stratum - READS * KIND < 2 * ROUGHLY
    rough = _rough(reads.where(early), found)
    if rough.estimate is None or early.all():
        return nothing()
    around = closely(rough, float(of_kind(taken, RESTED).x.max()))
    return in_memory(reads.where(~early), found.detail["slow"], *around)


def _ages(low: float, high: float, total: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw what is read behind two bursts: most evenly, one younger and one older.

    Returns
    -------
    ndarray, shape (2 * EACH,)
    """
    between = rng.permutation(2 * (EACH - 2))
    evenly = low + (between + rng.random(between.size)) / between.size * (high - low)
    near, far = rng.uniform(low / 4, low, (2, 1)), rng.uniform(high, total, (2, 1))
    ages = np.concatenate([near, evenly.reshape(2, -1), far], axis=1)
    # The youngest come first: from memory they take no time in which others might leave.
    return np.asarray(np.sort(ages, axis=1).ravel())


def _rows(log: Log, total: int, ages: Sequence[NDArray[np.float64]], number: int) -> Series:
    """Return the rows of bursts, and of the reads behind each."""
    order = np.argsort(log.index)
    is_read, done = log.op[order] == OP_READ, log.complete_ns[order].astype(float)
    begun, took = log.submit_ns[order].astype(float), log.latency_ns[order].astype(float)
    found: list[Series] = []
    at = 0
    for kind, some in zip((RESTED, AGAIN), ages, strict=False):
        count = int(np.argmax(is_read[at:])) if is_read[at:].any() else is_read.size - at
        ends = np.sort(done[at : at + count])
        found.append(_rows_of(ends - begun[at], total, kind * KIND + number))
        reads = slice(at + count, at + count + some.size)
        found.append(
            Series.of(
                some, took[reads], stratum=np.full(some.size, READS * KIND + 2 * number + kind),
                time_ns=begun[reads] - ends[-1],
            )
        )  # fmt: skip
        at += count + some.size
    return joined(found)


def _rows_of(ends_ns: NDArray[np.float64], total: int, stratum: int) -> Series:
    """Return rows of a burst, by when its requests ended, in order."""
    size = -(-ends_ns.size // ROWS)
    until = np.arange(size, ends_ns.size + 1, size)
    took = np.diff(ends_ns[until - 1], prepend=0.0)
    return Series.of(until * (total / ends_ns.size), took, stratum=np.full(until.size, stratum))


def of_kind(taken: Series, kind: int) -> Series:
    """Return the rows of a kind."""
    return taken.where(taken.stratum // KIND == kind)
