"""How far apart two reads may be for the first to make the second faster.

A pair is a read somewhere and a read of another block at a distance. While both need the same
piece of something that the drive keeps, the second is faster; how often that is so falls with
the distance d as 1 - d / size, wherever the pieces begin. `survey` measures that fall. `fold`
then uses pairs of one distance all over the drive: those that straddle the edge of a piece are
slower, and their places repeat with the size of a piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import random_blocks, read_rows, slow_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

PAIRS_PER_DISTANCE = 96
FOLDED_PAIRS = 6144
PERIODS_IN_VIEW = 128
"""Of large pieces, so many at most are folded: more need more candidates than places."""
FINE_CELLS = 256
"""Pieces of up to so many blocks are told to the block at once."""
PHASE_BINS = 64
SHOWS_FROM = 0.05
"""How much slower, in the logarithm, a read out of reach must be."""
TRIMMED_SHARE = 0.1
FAR_DISTANCES = 5
"""Of the greatest, so many stand for reads out of reach."""
CERTAIN = 6.0
"""Standard errors by which near and far must differ."""


@dataclass(frozen=True)
class Survey:
    """How a read fares after one at a distance.

    Attributes
    ----------
    distances_bytes
        Sorted; 0 is the same block once more.
    slower
        Mean of the logarithm over that of a read in no relation, one per distance.
    near, far
        Levels of a read within reach and out of it, in the same measure.
    error
        Standard error of their difference.
    size_bytes
        Of a piece, roughly, if there are pieces.
    """

    distances_bytes: NDArray[np.int64]
    slower: NDArray[Any]
    near: float
    far: float
    error: float
    size_bytes: float

    @property
    def contrast(self) -> float:
        """How much slower out of reach, in the logarithm."""
        return self.far - self.near

    @property
    def shows(self) -> bool:
        """Whether another block within reach is faster."""
        return self._beyond > max(SHOWS_FROM, CERTAIN * self.error) and (self.contrast > SHOWS_FROM)

    @property
    def bound(self) -> float:
        """The greatest effect of a neighbouring block that is still possible."""
        return abs(self._beyond) + 2 * self.error

    @property
    def shows_nothing(self) -> bool:
        """Whether any effect of a neighbouring block is too small to matter."""
        return self.bound < 2 * SHOWS_FROM

    @property
    def again_contrast(self) -> float:
        """How much slower a read out of reach is than the same block once more."""
        return self.far - float(self.slower[0])

    @property
    def again_shows(self) -> bool:
        """Whether the same block is faster a second time."""
        return self.again_contrast > max(SHOWS_FROM, CERTAIN * self.error)

    @property
    def _beyond(self) -> float:
        """Slower far away than next to the last read."""
        return float(self.slower[-FAR_DISTANCES:].mean() - self.slower[1])


def survey(bench: Bench, rng: np.random.Generator) -> Survey:
    """Read pairs at distances of one block up to a quarter of the drive."""
    block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
    steps = np.geomspace(1, capacity / 4 / block, 1 + 2 * int(np.log2(capacity / 4 / block)))
    distances = np.concatenate([[0], np.unique(np.round(steps).astype(np.int64))]) * block
    which = rng.permuted(np.tile(np.arange(distances.size), PAIRS_PER_DISTANCE))

    def pairs(part: slice) -> NDArray[np.int64]:
        first = random_blocks(rng, distances[-1], capacity, which[part].size, block)
        # The second read lies below the first, so that no drive takes them for a row of reads.
        return np.column_stack([first, first - distances[which[part]]])

    logs = read_rows(bench, pairs(slice(None)), pairs)
    relative = logs[:, 1] - slow_changes(logs[:, 0])
    by_distance = [_trimmed(relative[which == index]) for index in range(distances.size)]
    means = np.array([each.mean() for each in by_distance])
    size, near, far = _fall(distances[1:].astype(float), means[1:], float(means[0]))
    spread = float(np.mean([by_distance[1].std(), by_distance[-1].std()]))
    return Survey(
        distances_bytes=distances,
        slower=means,
        near=near,
        far=far,
        error=spread * float(np.sqrt(2 / PAIRS_PER_DISTANCE)),
        size_bytes=size,
    )


def _trimmed(values: NDArray[Any]) -> NDArray[Any]:
    """Leave out the wildest at both ends."""
    cut = int(TRIMMED_SHARE * values.size)
    return np.sort(values)[cut : values.size - cut]


def _fall(distances: NDArray[Any], means: NDArray[Any], again: float) -> tuple[float, float, float]:
    """Fit near + (far - near) * min(d / size, 1); give size and both levels.

    Nothing is nearer than the same block ``again``.
    """
    best = (np.inf, 0.0, 0.0, 0.0)
    for size in np.geomspace(distances[0], distances[-1], 400):
        shape = np.minimum(distances / size, 1.0)
        design = np.column_stack([1 - shape, shape])
        levels, _, rank, _ = np.linalg.lstsq(design, means, rcond=None)
        if levels[0] < again:
            far = (means - again * (1 - shape)) @ shape / (shape @ shape)
            levels = np.array([again, far])
        loss = float(((means - design @ levels) ** 2).sum()) if rank == 2 else np.inf
        if loss < best[0]:
            best = (loss, float(size), float(levels[0]), float(levels[1]))
    return best[1], best[2], best[3]


@dataclass(frozen=True)
class Fold:
    """Pieces that begin at ``edge_bytes + n * size_bytes``, as far as was looked.

    Attributes
    ----------
    low_bytes, high_bytes
        Where was looked.
    size_error_bytes
        How far the size may be off; 0 if it is known to the block.
    explained
        Share of the variance between pairs that the edges of the pieces explain.
    near, far
        Levels of pairs within a piece and across an edge.
    """

    size_bytes: float
    size_error_bytes: float
    edge_bytes: float
    low_bytes: int
    high_bytes: int
    explained: float
    near: float
    far: float

    @property
    def contrast(self) -> float:
        """How much slower out of reach, in the logarithm."""
        return self.far - self.near

    @property
    def indices(self) -> range:
        """Pieces by their number, 0 beginning at the edge, that lie where was looked."""
        first = -int((self.edge_bytes - self.low_bytes) // self.size_bytes)
        return range(first, int((self.high_bytes - self.edge_bytes) // self.size_bytes))


def fold(bench: Bench, about_bytes: float, levels: Survey, rng: np.random.Generator) -> Fold:
    """Find the size whose edges tell best which pairs are slow."""
    block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
    fine = about_bytes <= FINE_CELLS * block
    reach = capacity if fine else min(capacity, int(PERIODS_IN_VIEW * about_bytes))
    distance = max(round(about_bytes / 2 / block), 1) * block
    low = int(rng.integers(0, capacity - reach + 1)) // block * block
    lower = np.empty(FOLDED_PAIRS, np.int64)

    def pairs(part: slice) -> NDArray[np.int64]:
        some = random_blocks(rng, low, low + reach - distance, lower[part].size, block)
        lower[part] = some
        return np.column_stack([some + distance, some])

    logs = read_rows(bench, pairs(slice(None)), pairs)
    slower = np.clip(logs[:, 1] - slow_changes(logs[:, 0]), levels.near, levels.far)
    if fine:
        bins = _nearby(about_bytes / block)
        sizes = (bins * block).astype(float)
        error = 0.0
    else:
        step = about_bytes**2 / (8 * reach)
        tries = int(0.3 * about_bytes / step)
        sizes = about_bytes + step * np.arange(-tries, tries)
        bins = np.full(sizes.size, PHASE_BINS)
        error = 4 * step
    middle = 0 if fine else low + reach // 2
    fits = [
        stats.pair_period(lower - middle, float(distance), slower, float(size), int(n))
        for size, n in zip(sizes, bins, strict=True)
        if size > distance
    ]
    best = max(fits, key=lambda each: each.explained)
    edge = middle + best.phase
    across = (lower + distance - edge) // best.period > (lower - edge) // best.period
    near, far = (float(_trimmed(slower[each]).mean()) for each in (~across, across))
    return Fold(best.period, error, edge, low, low + reach, best.explained, near, far)


def _nearby(blocks: float) -> NDArray[np.int64]:
    """Whole numbers of blocks that a rough size may stand for."""
    first = max(int(blocks * 0.6), 2)
    return np.arange(first, max(int(blocks * 1.5), first + 2) + 1)
