"""Plans of the family `order`: places written in turns, and read a few at once.

Each turn writes one of every few neighbours, in random order. Then sets of blocks are read at once,
each kind in random order with the others. A set that is read twice gives the same; so each row of
the series is a mean over other sets, and of a few, lest it be one of few values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ssdscope.inference.series import Series
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.plan import SETTLE_NS, Ask
from ssdscope.probes.shared.at_once import AtOnce, Together, kept_by
from ssdscope.targets.records import OP_FLUSH, OP_WRITE, OP_WRITE_FUA, DeviceInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["ALONE", "APART_IN_TIME", "IN_A_ROW", "NEIGHBOURS", "RANDOM", "InTurns", "sized"]

RANDOM, IN_A_ROW, APART_IN_TIME, NEIGHBOURS = range(4)
"""What is read at once: `x` of the series. Two at once have even strata, more have odd ones."""
ALONE = 1 << 20
"""Number of the first stratum of what reads take alone; no stratum is twice as much."""
PRIME = 101
"""Requests from one to the next of those written apart: no number of dies divides it."""
READS, TIMES = 16, 3
"""In a row of the series; and how often each set is read."""
MOST_PLACES = 4096
FEW, MANY = 4, 16
"""Of more than two reads at once: half as many as there are dies, within these."""
LARGEST_UNIT_BYTES, WIDE = 1 << 19, 1 << 10
"""An RMW unit that is not known is hardly larger. So far apart are places then, but there are so
many at least."""
ASIDE = 8
"""Units of a cache from one place to the next, at least: what is looked up, two to either side,
follows no other, lest anything be read ahead."""
PASSES = 8
"""Over what is to be read, where no place may be read twice before a cache has forgotten it."""
SHARE, PUSHED, HELD = 6, 4, 16
"""Parts of the capacity: places lie in one; as much is written in between, at most; and so much may
a buffer or a region hold that is not known."""
PUSHING_BYTES, WINDOW_BYTES = 1 << 16, 1 << 21
"""Of a write that pushes others out, and what these are random within, lest each merge."""


@dataclass(frozen=True, kw_only=True)
class InTurns(AtOnce):
    """Places written in turns, and read at once.

    Attributes
    ----------
    unit, phase
        Of a write; units begin so far before multiples of their size.
    apart
        From one place to the next.
    drawn
        Whether places lie anywhere within that, and are not read with their neighbours.
    together, groups
        How many neighbours make a group, and are read at once; and how many groups there are.
    between, pushing
        Bytes written elsewhere after each turn, and after all.
    """

    unit: int = 0
    phase: int = 0
    apart: int = 0
    drawn: bool = True
    together: int = 0
    groups: int = 0
    between: int = 0
    pushing: int = 0
    whole: ClassVar[bool] = True

    def writes_bytes(self, info: DeviceInfo) -> int:  # noqa: ARG002
        """Give the most that it writes."""
        elsewhere = self.together * self.between + self.pushing
        return self.together * self.groups * self.unit + elsewhere

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Write, let the drive settle, and read."""
        count = self.together * self.groups
        begins = self.apart - self.phase + np.arange(count) * self.apart
        if self.drawn:
            begins += rng.integers(0, self.apart // self.unit, count) * self.unit
        members = rng.permuted(np.arange(count).reshape(self.groups, -1), axis=1)
        written = begins[np.concatenate([rng.permutation(each) for each in members.T])]
        for part in np.split(written, self.together):
            _write(bench, part, self.unit)
            self._push(bench, rng, self.between)
        self._push(bench, rng, self.pushing)
        bench.issue([OP_FLUSH], [0], [0])
        bench.idle(SETTLE_NS)
        block = bench.info.logical_block_bytes
        middle = self.unit // block // 2 * block
        return self._read(bench, rng, begins + middle, written + middle)

    def _push(self, bench: Bench, rng: np.random.Generator, size_bytes: int) -> None:
        """Write elsewhere, at random within windows."""
        windows = np.arange(
            (2 + self.together * self.groups) * self.apart + WINDOW_BYTES,
            bench.info.capacity_bytes - WINDOW_BYTES,
            WINDOW_BYTES,
        )
        each = np.arange(0, WINDOW_BYTES, PUSHING_BYTES)
        for window in np.resize(rng.permutation(windows), size_bytes // WINDOW_BYTES):
            places = window // WINDOW_BYTES * WINDOW_BYTES + rng.permutation(each)
            _write(bench, places, PUSHING_BYTES)

    def _read(
        self,
        bench: Bench,
        rng: np.random.Generator,
        places: NDArray[np.int64],
        written: NDArray[np.int64],
    ) -> Series:
        """Read two at once, and more; give means of a few of these, and of what each takes alone.

        Parameters
        ----------
        places, written : ndarray, shape (n,)
            By address, and by the order of writing.
        """
        reader = Together(bench, rng, self)
        taken = Series.of([], [])
        for odd, size in enumerate((2, self.together)):
            span = PRIME * size
            apart = written[: written.size // span * span].reshape(-1, size, PRIME)
            sets = {
                RANDOM: rng.permutation(places).reshape(-1, size),
                IN_A_ROW: written.reshape(-1, size),
                APART_IN_TIME: apart.swapaxes(1, 2).reshape(-1, size),
                NEIGHBOURS: places.reshape(-1, size)[: 0 if self.drawn else None],
            }
            kinds = np.concatenate([np.full(len(each), kind) for kind, each in sets.items()])
            # The greater address is asked for first: nothing is read ahead.
            every = -np.sort(-np.concatenate(list(sets.values())), axis=1)
            rows = np.concatenate([rng.permutation(len(each)) for each in sets.values()])
            rows = 2 * (rows // (READS // size)) + odd
            left = np.lexsort([rng.permutation(rows.size), rows])
            for _ in range(PASSES if self.kept.units else 1):
                fresh = _unread(every[left]) if self.kept.units else np.ones(left.size, bool)
                now, left = left[fresh], left[~fresh]
                if not now.size:
                    break
                many = [self._bursts(reader, every[now]) for _ in range(self.times)]
                alone, at_once = np.median(many, axis=0)
                for took, first in ((at_once, 0), (alone, ALONE)):
                    taken = taken.then(Series.of(kinds[now], took, stratum=rows[now] + first))
        return _means(taken)

    def _bursts(self, reader: Together, burst: NDArray[np.int64]) -> NDArray[np.float64]:
        """Read sets at once, what is looked up for them before.

        Gives what each takes alone, and at once, in the mean of all but the first, which waits for
        none: shape (2, n).
        """
        columns = list(burst.T)
        # What a cache keeps is looked up beside the places, the table's entries being the same.
        aside = 2 * self.kept.unit_bytes
        before = [each + side * aside for side in (1, -1) for each in columns]
        reader.forget()
        took = reader.bursts(before, columns).reshape(len(burst), 3, -1)
        return np.asarray(np.sort(took[:, 1:], axis=2)[:, :, 1:].mean(axis=2).T)


def _means(taken: Series) -> Series:
    """Give the means of each kind in each stratum."""
    keys, of = np.unique(np.stack([taken.x, taken.stratum]), axis=1, return_inverse=True)
    of = of.ravel()
    return Series.of(keys[0], np.bincount(of, taken.y) / np.bincount(of), stratum=keys[1])


def _unread(sets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which of some sets, in order, have no place that an earlier one of these has."""
    read: set[int] = set()
    fresh = np.zeros(len(sets), bool)
    for number, places in enumerate(sets.tolist()):
        fresh[number] = read.isdisjoint(places)
        read.update(places if fresh[number] else ())
    return fresh


def _write(bench: Bench, places: NDArray[np.int64], size_bytes: int) -> None:
    """Write one by one, past a buffer that stays on, whoever else is there."""
    op = OP_WRITE_FUA if bench.info.write_cache.stays_on else OP_WRITE
    bench.issue(op, places.astype(np.uint64), size_bytes, most_foreign_share=1.0)


def sized(ask: Ask) -> InTurns:
    """Size what is written and read."""
    info, kept = ask.info, kept_by(ask)
    capacity, known = info.capacity_bytes, ask.size("rmw_unit_bytes", unknown=np.inf)
    unit = int(known) if 0 < known < np.inf else base_request_bytes(info)
    together = int(ask.found("interleave_degree") or MANY) // 2
    together = 1 << (int(np.clip(together, FEW, MANY)).bit_length() - 1)
    span = capacity // (SHARE if known < np.inf else 2)
    zone, at_hand = (int(ask.size(n, unknown=0)) for n in ("map_zone_bytes", "map_cache_bytes"))
    if 0 < at_hand <= together * zone:
        # What a drive looks up for all that are read at once must be at hand together.
        span = min(span, max(at_hand - zone, zone // 2))
    apart = unit if known < np.inf else min(span // WIDE, LARGEST_UNIT_BYTES)
    # An odd number of units, lest all places lie on one die.
    apart = max(apart, ASIDE * kept.unit_bytes) // unit | 1
    groups = min(MOST_PLACES, span // (apart * unit)) // READS * READS // together
    unknown = capacity / HELD
    stays = info.write_cache.stays_on
    buffer = ask.size("write_buffer_bytes", unknown=unknown) if stays else 0.0
    region = ask.size("pslc_bytes", unknown=unknown)
    logs = capacity if ask.size("merge_unit_bytes", unknown=1) else 0
    between = -(-int(max(2 * buffer - groups * unit, 0)) // WINDOW_BYTES) * WINDOW_BYTES
    # Neighbours that a buffer may hold together may leave it together, in whatever order they came.
    drawn = known == np.inf or together * between > capacity // PUSHED
    between = 0 if drawn else between
    room = capacity - together * (groups * unit + between)
    pushing = min(int(2 * (buffer + region)) + logs, room)
    return InTurns(
        unit=unit,
        phase=int(ask.found("alignment_phase_bytes") or 0) % unit,
        apart=apart * unit,
        drawn=drawn,
        together=together,
        groups=groups,
        between=between,
        pushing=pushing // WINDOW_BYTES * WINDOW_BYTES,
        kept=kept,
        times=TIMES,
    )
