"""Where the pieces end that a drive keeps few of, and so how large they are, to the block.

The edge of a piece is looked for in a window: a read below it, then one in the window; the second
is slow from the edge on. Before each such pair so many other pieces are read that nothing of
earlier pairs is left. Windows shrink about the step. Two edges far apart, each found to a few
blocks, leave one size that is a whole number of blocks; pairs at edges all over the drive that
were not used confirm it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import read_rows, slow_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.segments import Fold

PAIRS = 96
ROUNDS = 8
EDGES = 12
CONFIRMING = 384
NARROW_BLOCKS = 16
MARGIN = 2
"""Blocks on both sides of a step that stay in the window: one read in fifty may be wild."""
EVIDENCE = 15.0
"""By so many variances of a pair must the best size be better than any other."""
REFINEMENTS = 6
SLACK, EDGE_SLACK = 3, 12
"""Blocks that size and edge may lie outside of what the windows left."""
WITHIN = 0.3
"""How near, as a share of the contrast, confirming pairs must come to their levels."""


@dataclass(frozen=True)
class Pieces:
    """What is known of the pieces before their edges are looked for.

    Attributes
    ----------
    fold
        About how large, and where.
    kept
        How many the drive keeps; or more, where so many places read put out what a read cache has.
    """

    fold: Fold
    kept: int


class Edges:
    """A search for the edges of pieces on one drive."""

    def __init__(self, bench: Bench, pieces: Pieces, rng: np.random.Generator) -> None:
        self._bench = bench
        self._pieces = pieces
        self._rng = rng
        self._block = bench.info.logical_block_bytes
        self._size = pieces.fold.size_bytes
        self._last = int(bench.info.capacity_bytes // self._size)
        self._seen: list[NDArray[Any]] = []

    def size_bytes(self) -> tuple[int, int] | None:
        """Give a size that all pairs bear out, and where an edge is; None if several do."""
        found = self._search()
        if found is None:
            return None
        edge, (low, high) = found
        for _ in range(REFINEMENTS):
            best, others = self._explain(edge, low, high)
            if not others.size:
                return best
            self._look_between(best, others)
        return None

    def _search(self) -> tuple[int, tuple[float, float]] | None:
        """Give the place of an edge, and the least and greatest size; None if one is not found."""
        error = max(self._pieces.fold.size_error_bytes, self._block)
        index = int(self._rng.choice(self._pieces.fold.indices[1:-1]))
        edge = self._pieces.fold.edge_bytes + index * self._size
        near = self._edge(0, edge, self._size / 3)
        if near is None:
            return None
        middle = (near[0] + near[1]) / 2
        span = (self._size - error, self._size + error)
        for _ in range(EDGES):
            unsure = (span[1] - span[0]) / 2
            reach = self._reach(middle, max(int(self._size / 4 / unsure), 1))
            place = middle + reach * (span[0] + span[1]) / 2
            far = self._edge(reach, place, abs(reach) * unsure + near[1] - near[0] + self._block)
            if far is None:
                return None
            ends = sorted([(far[0] - near[1]) / reach, (far[1] - near[0]) / reach])
            before, span = span, (max(span[0], ends[0]), min(span[1], ends[1]))
            if span[1] - span[0] < -2 * SLACK * self._block:
                return None  # One of them was no edge.
            if span[1] - span[0] < 2 * self._block or span == before:
                break
        return int(middle), span

    def _reach(self, place: float, wanted: int) -> int:
        """Give how many pieces further an edge can be, upwards or (negative) downwards."""
        up = int((self._bench.info.capacity_bytes - place) // self._size) - 1
        down = int(place // self._size) - 1
        return min(wanted, up) if up >= down else -min(wanted, down)

    def _edge(self, index: int, place: float, unsure: float) -> tuple[int, int] | None:
        """Find the last block before an edge and the first behind it, or None."""
        last = self._bench.info.capacity_bytes // self._block - 1
        low = max(int((place - unsure) // self._block), 1)
        high = min(int((place + unsure) // self._block) + 1, last)
        used = np.empty(0, np.int64)
        for turn in range(ROUNDS):
            blocks = np.unique(np.linspace(low, high, PAIRS).astype(np.int64))
            blocks = np.setdiff1d(blocks, used)
            if blocks.size < 4:
                break
            used = np.concatenate([used, blocks])
            step = stats.best_step(self._pairs(index, blocks, low))
            if step.height < self._pieces.fold.contrast / 2:
                if turn == 0:
                    return None
                wider = 4 * (high - low)  # one wild read had moved the step
                low, high = max(low - wider, 1), min(high + wider, last)
                continue
            below, above = step.first - 1 - MARGIN, step.last + MARGIN
            before = low, high
            low = int(blocks[below]) if below >= 0 else low
            high = int(blocks[above]) if above < blocks.size else high
            if (low, high) == before:
                break
        return low * self._block, high * self._block

    def _pairs(self, index: int, blocks: NDArray[np.int64], low: int) -> NDArray[Any]:
        """Read below the window and then each of these blocks; give how much slower these are."""
        reach = max(int(self._size / 4 / self._block), 1)
        first = self._rng.integers(max(low - reach, 0), low, blocks.size)
        order = self._rng.permutation(blocks.size)
        slower = np.empty(blocks.size)
        slower[order] = self._slower(first[order] * self._block, blocks[order] * self._block)
        self._seen.append(np.column_stack([np.full(blocks.size, index), blocks, slower]))
        return slower

    def _explain(self, edge: int, low: float, high: float) -> tuple[tuple[int, int], NDArray[Any]]:
        """Hold sizes and places of an edge against all pairs.

        Returns
        -------
        best
            Size and edge in bytes.
        others : ndarray, shape (n, 2)
            In blocks, those of other sizes that explain the pairs about as well.
        """
        index, place, slower = np.concatenate(self._seen).T
        ends = place.min(), place.max()
        sizes = np.arange(int(low / self._block) - SLACK, int(high / self._block) + SLACK + 1)
        edges = np.arange(-EDGE_SLACK, EDGE_SLACK + 1) + edge // self._block
        tried = np.array(np.meshgrid(sizes, edges)).reshape(2, -1).T
        beyond = place >= tried[:, 1:] + index * tried[:, :1]
        misfit = (slower - np.where(beyond, self._pieces.fold.far, self._pieces.fold.near)) ** 2
        loss = np.sum(misfit, axis=1)
        best = int(np.argmin(loss))
        unlike = EVIDENCE * loss[best] / max(slower.size, 1) + 1e-9 * (ends[1] - ends[0] > 0)
        close = (loss <= loss[best] + unlike) & (tried[:, 0] != tried[best, 0])
        return (int(tried[best, 0] * self._block), int(tried[best, 1] * self._block)), tried[close]

    def _look_between(self, best: tuple[int, int], others: NDArray[Any]) -> None:
        """Read more pairs where the sizes that are left put the edges differently."""
        size, edge = best[0] // self._block, best[1] // self._block
        reach = self._reach(best[1], self._last)
        for index in {0, reach, reach - int(np.sign(reach)), reach // 2}:
            here = np.append(others[:, 1] + index * others[:, 0], edge + index * size)
            low, high = int(here.min()) - NARROW_BLOCKS, int(here.max()) + NARROW_BLOCKS
            blocks = np.unique(np.linspace(low, high, PAIRS).astype(np.int64))
            last = self._bench.info.capacity_bytes // self._block - 1
            self._pairs(index, blocks[(blocks > 0) & (blocks <= last)], max(low, 1))

    def _slower(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        """Read pairs, with enough of other pieces before each that nothing else is left."""
        pieces, capacity = self._pieces, self._bench.info.capacity_bytes
        around = int(capacity // self._size)
        # As far round the drive from the pair as can be, one behind the other in random order.
        turns = 1.5 + np.arange(pieces.kept + 1) * (around - 2.5) / (pieces.kept + 1)
        turns = self._rng.permuted(np.tile(turns, (first.size, 1)), axis=1)
        far = first[:, None] + (turns + self._rng.uniform(0, 0.2, turns.shape)) * self._size
        others = (far % (capacity - self._block) // self._block).astype(np.int64) * self._block
        logs = read_rows(self._bench, np.column_stack([others, first, second]))
        relative = logs[:, -1] - slow_changes(logs[:, -2])
        return np.asarray(np.clip(relative, pieces.fold.near, pieces.fold.far))

    def confirmed(self, size_bytes: int, edge_bytes: float) -> bool:
        """Say whether pairs at edges all over the drive behave as a size demands."""
        count = int((self._bench.info.capacity_bytes - edge_bytes) // size_bytes)
        index = self._rng.integers(0, max(count, 1), CONFIRMING)
        edge = (edge_bytes + index * size_bytes).astype(np.int64)
        room = max(
            NARROW_BLOCKS, min(8 * CONFIRMING // max(count, 1), size_bytes // 64 // self._block)
        )
        below = self._rng.integers(1, room, (2, CONFIRMING)) * self._block
        above = self._rng.integers(0, room, CONFIRMING) * self._block
        crossing = self._rng.random(CONFIRMING) < 0.5
        first = np.maximum(edge - below[0], 0)
        second = np.where(crossing, edge + above, np.maximum(edge - below[1], 0))
        slower = (self._slower(first, second) - self._pieces.fold.near) / self._pieces.fold.contrast
        return bool(
            np.median(slower[crossing]) > 1 - WITHIN and np.median(slower[~crossing]) < WITHIN
        )
