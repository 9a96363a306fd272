"""Where pages end within a row on one plane: what straddles two of them reads the array twice.

Across planes that one command serves it need not: there a page seems to be as large as all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import patient_read
from ssdscope.probes.runs import SMALLEST_PAGE_BYTES
from ssdscope.probes.together import APART_NS, ASIDE_BLOCKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.runs import Runs
    from ssdscope.probes.together import Together

LARGEST_PAGE_BYTES = 1 << 17
ROUNDS = (8, 16, 32, 64)
KEPT_ROUNDS = (2, 6, 16, 32, 64)
"""Where a cache keeps what was read: each round is as many as there are kinds of boundaries."""
COSTS_FROM = 0.05
"""What one more read of the array adds to a request of two blocks, in the logarithm, at least."""
CERTAIN = 5.0
"""Standard errors of a difference."""
COPIES = (2, 8)
DIE_BOUND = 1.2
TWICE = 1.86
"""Of two blocks, what a die takes longer than for one, above which it reads them one by one.
Within a page they come with one read: the second adds its transfer, at most 0.72."""
SAMPLES, KEPT_SAMPLES = 400, 200


def page_bytes(
    bench: Bench, together: Together, runs: Runs, row_bytes: int, rng: np.random.Generator
) -> int | None:
    """Give the size of a page, a power of two; None if it cannot be told.

    Boundaries between blocks are told apart by the largest power of two of their distance from
    where the row begins: those from a page on cost a read of the array, those below none.

    Parameters
    ----------
    row_bytes
        How much of each run lies on one plane.
    """
    block = bench.info.logical_block_bytes
    if row_bytes == block:
        return block
    last = min(row_bytes - 1, LARGEST_PAGE_BYTES) // block
    sizes = block << np.arange(last.bit_length())
    edges = _Edges(bench, together, runs.begins, row_bytes, sizes, rng)
    costs = _costs(edges)
    if costs is None:
        return None
    if costs.any():
        page = int(sizes[np.argmax(costs)])
        return page if costs[np.argmax(costs) :].all() and row_bytes % page == 0 else None
    # All boundaries are alike: every block is a page, or all of the row is one.
    whole = row_bytes if (row_bytes // block).bit_count() == 1 else None
    if block < SMALLEST_PAGE_BYTES:
        return whole
    each = _one_by_one(bench, together, runs, rng)
    return None if each is None else block if each else whole


@dataclass(frozen=True)
class _Edges:
    """Boundaries between blocks of rows, by the power of two of their distance from its begin."""

    bench: Bench
    together: Together
    begins: NDArray[np.int64]
    row_bytes: int
    sizes: NDArray[np.int64]
    rng: np.random.Generator

    def round(self) -> NDArray[Any]:
        """Read two blocks about a boundary of each kind in each row; shape (rows, kinds)."""
        rows, kinds = self.begins.size, self.sizes.size
        odd = np.maximum((self.row_bytes - 1) // self.sizes - 1, 0) // 2 + 1
        odd = np.minimum(odd, np.maximum(LARGEST_PAGE_BYTES // self.sizes, 1))
        places = (2 * self.rng.integers(0, odd, (rows, kinds)) + 1) * self.sizes
        edges = self.begins[:, None] + places
        if not self.together.cached_units:
            return self._straddling(edges.ravel()).reshape(edges.shape)
        values, row = np.empty(edges.shape), np.arange(rows)
        for turn in range(kinds):  # two boundaries of a row may share a block, which would be kept
            kind = (row + turn) % kinds
            self.together.forget()
            values[row, kind] = self._straddling(edges[row, kind])
        return values

    def _straddling(self, edges: NDArray[np.int64]) -> NDArray[Any]:
        """Read two blocks about each boundary; logarithms of what they take."""
        block = self.bench.info.logical_block_bytes
        order = self.rng.permutation(edges.size)
        starts, lengths = np.repeat(edges[order] - block, 2), np.full(2 * edges.size, 2 * block)
        if self.together.cached_units:  # what is looked up, and nothing of what is read
            starts[::2] += ASIDE_BLOCKS * block
            lengths[::2] = block
        log = patient_read(self.bench, starts, lengths)
        values = np.empty(edges.size)
        # In random order: what drifts adds to the scatter and favours none.
        values[order] = np.log(np.maximum(log.latency_ns.astype(float), 1.0))[1::2]
        return values


def _costs(edges: _Edges) -> NDArray[np.bool_] | None:
    """Say at which boundaries two blocks cost more; None if it is not certain."""
    values = np.empty((0, edges.sizes.size))
    for rounds in KEPT_ROUNDS if edges.together.cached_units else ROUNDS:
        for _ in range(rounds):
            values = np.vstack([values, edges.round()])
        medians = np.median(values, axis=0)
        error = 1.7725 * stats.mad((values - medians).ravel()) / math.sqrt(len(values))
        ordered = np.sort(medians)
        gaps = np.diff(ordered, prepend=ordered[0])
        widest = int(np.argmax(gaps))
        if gaps[widest] > max(COSTS_FROM, CERTAIN * error):
            return np.asarray(medians >= ordered[widest])
        if ordered[-1] - ordered[0] + CERTAIN * error < COSTS_FROM:
            return np.zeros(edges.sizes.size, np.bool_)
    return None


def _one_by_one(
    bench: Bench, together: Together, runs: Runs, rng: np.random.Generator
) -> bool | None:
    """Say whether a die takes twice as long for two blocks of a run as for one.

    Many reads at once of the same place keep a die busy, whatever the link takes for each.
    """
    block = bench.info.logical_block_bytes
    kinds = ((1, 0), (2, 0), (1, runs.bytes))  # blocks, and how far every other read is
    bursts = [_Burst(block, *kind, copies) for kind in kinds for copies in COPIES]
    if together.cached_units:
        lasts = _each_forgotten(bench, together, runs.begins, bursts)
    else:
        begins = rng.choice(runs.begins, SAMPLES)
        lasts = np.column_stack(_slowest(bench, begins, bursts, 0))
    few, many = np.median(lasts, axis=0).reshape(len(kinds), len(COPIES)).T
    one, two, beside = many - few
    if one < DIE_BOUND * beside:
        return None
    return bool(two > TWICE * one)


@dataclass(frozen=True)
class _Burst:
    """So many reads at once of so many blocks, every other one so far from the first."""

    block: int
    blocks: int
    far: int
    copies: int

    @property
    def places(self) -> NDArray[np.int64]:
        """Where they begin."""
        return np.asarray(self.far * (np.arange(self.copies) % 2))


def _slowest(
    bench: Bench, begins: NDArray[np.int64], bursts: list[_Burst], aside: int
) -> list[NDArray[Any]]:
    """Read bursts one after the other from each place on; give the slowest read of each.

    What must be looked up is brought to hand by a read `aside` of the place before.
    """
    block = bursts[0].block
    one_row = np.concatenate([[aside], *(each.places for each in bursts)])
    lengths = np.concatenate([[1], *(np.full(each.copies, each.blocks) for each in bursts)])
    firsts = np.cumsum([1, *(each.copies for each in bursts)])
    pauses = np.zeros(one_row.size, np.uint64)
    pauses[[0, *firsts[:-1]]] = APART_NS
    log = patient_read(
        bench,
        (begins[:, None] + one_row).ravel(),
        np.tile(lengths * block, begins.size),
        iodepth=max(COPIES),
        pauses_ns=np.tile(pauses, begins.size),
    )
    latency = np.empty(one_row.size * begins.size)
    latency[log.index.astype(np.int64)] = log.latency_ns
    lasts = np.maximum.reduceat(latency.reshape(begins.size, -1), firsts[:-1], axis=1)
    return list(lasts.T)


def _each_forgotten(
    bench: Bench, together: Together, begins: NDArray[np.int64], bursts: list[_Burst]
) -> NDArray[Any]:
    """Do so where a cache keeps what was read: one burst from each place, and all is forgotten."""
    aside = ASIDE_BLOCKS * bursts[0].block
    rounds = -(-KEPT_SAMPLES // begins.size)
    lasts = np.empty((rounds, begins.size, len(bursts)))
    for turn in range(rounds * len(bursts)):
        together.forget()
        kind = (np.arange(begins.size) + turn) % len(bursts)
        for number, burst in enumerate(bursts):
            these = np.flatnonzero(kind == number)
            if these.size:
                read = _slowest(bench, begins[these], [burst], aside)[0]
                lasts[turn // len(bursts), these, number] = read
    return lasts.reshape(-1, len(bursts))
