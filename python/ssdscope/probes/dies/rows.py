"""Plans of `placement`: how far a row goes on what works as one, and what pages make of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Series
from ssdscope.probes.bench.rows import random_blocks
from ssdscope.probes.shared.at_once import ASIDE, AtOnce, Together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Boundaries", "Busy", "Ends", "Parts"]

STARTS = 40
"""Of which half may have no end; the others leave no doubt about a length that all have."""
FURTHEST_BYTES = 8 << 20
"""Longer than a block on every plane of a die."""
ROUNDS = 16
"""Boundaries of each kind in each row."""
SAMPLES, KEPT_SAMPLES = 400, 200
BUSY = (2, 8)
"""Reads at once, whose difference is what a die takes for six, whatever the link does."""


@dataclass(frozen=True, kw_only=True)
class Ends(AtOnce):
    """Finds where stretches end, by bisection: the next behind each start, and the one behind that.

    The series has a row for each pair: the address of the other block as `x`, and as stratum the
    number of the start, the second time negative. The first of a stratum is the block itself.
    """

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Bisect; the block itself, twice at once, and what is far away say what waits."""
        together = Together(bench, rng, self)
        search = _Search(together)
        block, whole = together.block, bench.info.capacity_bytes
        furthest = min(FURTHEST_BYTES, whole // 8)
        starts = random_blocks(rng, ASIDE * block, whole - 3 * furthest, STARTS, block)
        search.survey(starts, furthest)
        begins = search.ends(starts, np.arange(starts.size), furthest)
        there = begins > 0
        search.ask(begins[there], begins[there], -1 - np.flatnonzero(there))
        search.ends(begins[there], -1 - np.flatnonzero(there), furthest)
        return search.series()


class _Search:
    """Pairs that were asked for so far, and what is called waiting meanwhile."""

    def __init__(self, together: Together) -> None:
        self._together = together
        self._rows: list[tuple[NDArray[np.int64], ...]] = []
        self._took: list[NDArray[np.float64]] = []
        self._waits_from = 1.0

    def ask(
        self, one: NDArray[np.int64], other: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        took = self._together.read(one, other) if one.size else np.empty(0)
        self._rows.append((other, numbers))
        self._took.append(took)
        return took

    def survey(self, starts: NDArray[np.int64], furthest: int) -> None:
        """Ask for what waits, and for all kinds of distances."""
        numbers, block = np.arange(starts.size), self._together.block
        waits = float(np.median(self.ask(starts, starts, numbers)))
        step = 2 if self._together.kept.units else 1
        steps = block << np.arange(0, int(math.log2(furthest // block)) + 1, step)
        others = [self.ask(starts, starts + each, numbers) for each in steps]
        self._waits_from = (waits + float(np.quantile(np.concatenate(others), 0.1))) / 2

    def ends(
        self, starts: NDArray[np.int64], numbers: NDArray[np.int64], furthest: int
    ) -> NDArray[np.int64]:
        """Find the first block behind each start that does not wait for it; -1 where all do."""
        block = self._together.block
        far, there = np.full(starts.size, -1), np.arange(starts.size)
        for distance in block << np.arange(int(math.log2(furthest // block)) + 1):
            if not there.size:
                break
            took = self.ask(starts[there], starts[there] + distance, numbers[there])
            free = took <= self._waits_from
            far[there[free]] = distance
            there = there[~free]
        ended = np.flatnonzero(far > 0)
        near = far // 2 // block * block
        while (open_ := ended[far[ended] - near[ended] > block]).size:
            middle = (near[open_] + far[open_]) // 2 // block * block
            took = self.ask(starts[open_], starts[open_] + middle, numbers[open_])
            waits = took > self._waits_from
            near[open_[waits]], far[open_[~waits]] = middle[waits], middle[~waits]
        return np.where(far > 0, starts + far, -1)

    def series(self) -> Series:
        """Give all that was asked for."""
        other, numbers = (np.concatenate(each) for each in zip(*self._rows, strict=True))
        return Series.of(other, np.concatenate(self._took), stratum=numbers)


@dataclass(frozen=True, kw_only=True)
class _Within(AtOnce):
    """Something about stretches that are known."""

    begins: tuple[int, ...]
    length: int


@dataclass(frozen=True, kw_only=True)
class Parts(_Within):
    """Reads what lies some distances behind the begin of each stretch, with copies of it at once.

    The series has the distance as `x` and the stretch as stratum.
    """

    distances: tuple[int, ...]
    copies: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read all distances of all stretches."""
        begins = np.tile(self.begins, len(self.distances))
        distances = np.repeat(self.distances, len(self.begins))
        together = Together(bench, rng, self)
        took = together.read(
            begins, begins + distances, copies=self.copies, rounds=len(self.distances)
        )
        return Series.of(distances, took, stratum=begins)


@dataclass(frozen=True, kw_only=True)
class Boundaries(_Within):
    """Reads two blocks about boundaries in stretches, in one request.

    The kind of a boundary, which is `x`, is the largest power of two that its distance from where
    the stretch begins is a multiple of, in blocks. The series has their times over one block's.
    """

    sizes: tuple[int, ...]
    largest: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read a boundary of each kind in each stretch, again and again."""
        together = Together(bench, rng, self)
        sizes, begins = np.array(self.sizes), np.array(self.begins)
        rows, kinds = begins.size, sizes.size
        odd = np.maximum((self.length - 1) // sizes - 1, 0) // 2 + 1
        odd = np.minimum(odd, np.maximum(self.largest // sizes, 1))
        values = np.empty((self.times, rows, kinds))
        row = np.arange(rows)
        for turn in range(self.times):
            places = (2 * rng.integers(0, odd, (rows, kinds)) + 1) * sizes
            edges = begins[:, None] + places
            if not together.kept.units:
                values[turn] = self._straddling(together, edges.ravel()).reshape(edges.shape)
                continue
            for shift in range(kinds):  # two boundaries may share a block, which would be kept
                kind = (row + shift) % kinds
                together.forget()
                values[turn, row, kind] = self._straddling(together, edges[row, kind])
        return Series.of(np.broadcast_to(np.arange(kinds), values.shape), values)

    def _straddling(self, together: Together, edges: NDArray[np.int64]) -> NDArray[np.float64]:
        order = together.rng.permutation(edges.size)
        right = edges[order]
        left = right - together.block
        values = np.empty(edges.size)
        if together.kept.units:
            values[order] = together.bursts([together.beside(right, 1)], [left], 2)[:, -1]
        else:
            took = together.bursts([right, left, right, left], [left], 2)
            values[order] = took[:, -1] / took[:, 2:4].max(axis=1)
        return values


@dataclass(frozen=True, kw_only=True)
class Busy(_Within):
    """Keeps dies busy with reads at once: of a block, of two, of a block on two dies in turn.

    The series has the kind as `x`, how many as stratum, and the slowest of each burst.
    """

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read bursts of all kinds, each from other begins."""
        together = Together(bench, rng, self)
        kinds = [(blocks, far, many) for blocks, far in self.kinds for many in BUSY]
        count = KEPT_SAMPLES if together.kept.units else SAMPLES
        values = np.empty((-(-count // len(self.begins)), len(self.begins), len(kinds)))
        row = np.arange(len(self.begins))
        begins = np.array(self.begins)
        for turn, shift in np.ndindex(values.shape[0], len(kinds)):
            together.forget()
            kind = (row + shift) % len(kinds)
            for number, (blocks, far, many) in enumerate(kinds):
                these = begins[kind == number]
                if these.size:
                    burst = [these + far * (at % 2) for at in range(many)]
                    before = [together.beside(these, 1)]
                    took = together.bursts(before, burst, blocks)[:, 1:].max(axis=1)
                    values[turn, kind == number, number] = took
        kind_of = np.repeat(np.arange(len(self.kinds)), len(BUSY))
        many_of = np.tile(BUSY, len(self.kinds))
        return Series.of(
            np.broadcast_to(kind_of, values.shape),
            values,
            stratum=np.broadcast_to(many_of, values.shape),
        )

    @property
    def kinds(self) -> tuple[tuple[int, int], ...]:
        """Blocks of a read, and how far every other read of a burst is from the first."""
        return (1, 0), (2, 0), (1, self.length)
