"""Where large pieces of a mapping table end, to the block.

The edge of a piece is looked for in a window: a read below it, then one in the window; this is slow
from the edge on. Windows shrink about the place from which on reads are slow. An edge far from the
first, found to a block or two, leaves one size; the farther it is, the better must the size be
known to look for it. Before each pair so many other pieces are read that nothing of earlier ones is
left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Series
from ssdscope.probes.bench.rows import read_rows
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Edges"]

PLACES = 48
"""In a window."""
MARGIN = 2
"""Places on either side of an edge that stay in the window, as one read may be wild."""
FARTHER = 8
"""Times as far away is the next edge looked for."""
AWAY = 1.5
"""Pieces between a pair and others that are read before it, at least."""
LAST = 256
"""Pairs at edges all over the drive, in the end."""


@dataclass(frozen=True, kw_only=True)
class Edges(Plan):
    """Pairs at edges: `x` is the lower block, `stratum` how much higher the other is, in blocks.

    Attributes
    ----------
    size_blocks, begins_blocks
        About how large pieces are, and where one begins.
    others
        Pieces to read before each pair.
    limit_ns
        What takes longer has loaded a piece.
    """

    size_blocks: float
    begins_blocks: int
    others: int
    limit_ns: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Look for an edge, then for others ever farther away."""
        search = _Search(self, bench, rng)
        size, reach, unsure = self.size_blocks, 1, self.size_blocks / FARTHER**2
        middle = round((search.last / 2 - self.begins_blocks) / size)
        first = search.edge(self.begins_blocks + middle * size, size / FARTHER)
        upwards = 1 if first < search.last / 2 else -1
        most = max(int((search.last - first if upwards > 0 else first) / size) - 1, 1)
        while True:
            place = first + upwards * reach * size
            found = search.edge(place, reach * unsure + 2 * MARGIN)
            size, unsure = abs(found - first) / reach, 2 * MARGIN / reach
            if reach == most:
                break
            reach = min(reach * FARTHER, most, max(int(size / 4 / unsure), reach + 1))
        index = rng.integers(-int(first / size), int((search.last - first) / size), LAST)
        edges = (first + index * size).round().astype(np.int64)
        room = np.exp(rng.uniform(0, np.log(size / FARTHER), (2, LAST))).astype(np.int64)
        search.pairs(edges - room[0], edges + room[1] - 1)
        lower, apart, y = (np.concatenate(each) for each in zip(*search.seen, strict=True))
        return Series.of(lower, y, stratum=apart)


class _Search:
    """Edges of pieces on one drive, and all pairs that were read for them."""

    def __init__(self, plan: Edges, bench: Bench, rng: np.random.Generator) -> None:
        self._plan, self._bench, self._rng = plan, bench, rng
        self.last = bench.info.capacity_bytes // bench.info.logical_block_bytes - 1
        self._used = np.empty(0, np.int64)
        self.seen: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    def edge(self, place: float, unsure: float) -> float:
        """Find the first block behind an edge, by windows that shrink."""
        low, high = int(max(place - unsure, 1)), int(min(place + unsure + 1, self.last))
        while True:
            # None is read twice, as a read cache may stay on.
            new = np.setdiff1d(np.linspace(low, high, PLACES).astype(np.int64), self._used)
            if new.size < 2 * MARGIN:
                break
            blocks = new
            self._used = np.union1d(self._used, blocks)
            reach = self._rng.integers(1, int(self._plan.size_blocks / FARTHER), blocks.size)
            slow = self.pairs(np.maximum(low - reach, 0), blocks) > self._plan.limit_ns
            # As few slow ones before the edge, and fast ones behind it, as can be.
            wrong = np.append(0, np.cumsum(slow)) + np.append(np.cumsum(~slow[::-1])[::-1], 0)
            at = int(np.argmin(wrong))
            before = low, high
            low = int(blocks[max(at - 1 - MARGIN, 0)])
            high = int(blocks[min(at + MARGIN, blocks.size - 1)])
            if (low, high) == before:
                break
        return float(blocks[min(at, blocks.size - 1)])

    def pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Read pairs in random order, each after other pieces; give what the second took."""
        order = self._rng.permutation(first.size)
        first, second = np.clip([first[order], second[order]], 0, self.last)
        count, size = self._plan.others, self._plan.size_blocks
        around = self.last / size
        # As far round the drive from the pair as can be.
        within = (np.arange(count) + self._rng.random((first.size, 1))) / count
        turns = AWAY + within * (around - 2 * AWAY)
        others = (first[:, None] + (turns * size).astype(np.int64)) % self.last
        others = self._rng.permuted(others, axis=1)
        block = self._bench.info.logical_block_bytes
        logs = read_rows(self._bench, np.column_stack([others, first, second]) * block)
        times = np.empty(first.size)
        times[order] = np.exp(logs[:, -1]).round()
        self.seen.append(
            (np.minimum(first, second), abs(second - first), np.exp(logs[:, -1]).round())
        )
        return times
