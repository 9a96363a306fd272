"""How far a drive reads ahead of reads that follow each other.

Four reads in a row somewhere, a pause in which whatever is fetched arrives, then single reads at
distances behind the end of the row, the nearest first, so that none of them puts out what lies
further on. They are fast up to where was read ahead, which a drive rounds up to whole pages: over
rows that end anywhere in a page, the share of fast ones falls from one, at what is read ahead,
to nothing a page later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.rows import patient_read, random_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

ROW = 4
PAUSE_NS = 50_000_000
REST_NS = 2_000_000
"""Before each single read: what the one before made the drive fetch is there."""
ROUGH_ROWS = 24
FINE_ROWS = 256
FINE_DISTANCES = 12
FARTHEST_BYTES = 64 << 20
GRID, PAGES = 300, 16
MOST_PAGE = 192
"""Blocks of the largest page, or mapping unit, that what is read ahead may be rounded up to."""
SURE, SINGLES = 0.9, 20
SHARP = 0.1
SLACK = 0.005
MISREAD = 0.03
"""Share of reads that noise puts on the wrong side."""
LOG_LIKELIHOOD_95 = 1.92


@dataclass(frozen=True)
class Ahead:
    """What was found.

    Attributes
    ----------
    bytes
        Read ahead; 0 for none.
    low, high
        Interval of 95 %.
    distances, fast
        Of single reads: bytes from the end of the row to their own end, and whether they were
        fast.
    """

    bytes: int
    low: float
    high: float
    distances: NDArray[Any]
    fast: NDArray[Any]

    def evidence(self) -> dict[str, Any]:
        """Give what a plot needs."""
        return {"distances_bytes": self.distances.tolist(), "fast": self.fast.tolist()}


def measure(bench: Bench, memory: float, gain: float, rng: np.random.Generator) -> Ahead | None:
    """Find how far is read ahead; None if no distance explains the reads.

    Parameters
    ----------
    memory
        Logarithm of the latency of a block in memory.
    gain
        By how much, in the logarithm, a block from memory is faster than one from flash.
    """
    block = bench.info.logical_block_bytes
    farthest = min(bench.info.capacity_bytes // 16, FARTHEST_BYTES)
    next_one = _fast(bench, np.zeros((ROUGH_ROWS, 1)), memory, gain, rng)
    if np.mean(next_one) < 1 / 3:
        return Ahead(0, 0.0, 0.0, np.array([block]), next_one.mean(axis=0))
    if np.mean(next_one) < 2 / 3:
        return None
    blocks = 2 ** np.arange(1, int(np.log2(farthest / block)) + 1)
    rough = np.tile(blocks * block, (ROUGH_ROWS, 1))
    share = _fast(bench, rough, memory, gain, rng).mean(axis=0)
    behind = np.flatnonzero(share < 0.5)
    if not behind.size:
        return None
    end = int(blocks[behind[0]])
    low = max(end // 4, 1)
    if behind[0] <= 2:  # within a few blocks: also the very next one, in rows of its own
        return _near(bench, memory, gain, rng)
    spread = np.sort(rng.random((FINE_ROWS, FINE_DISTANCES)), axis=1)
    apart = 2 * np.arange(FINE_DISTANCES)  # no single read begins where the last one ended
    fine = np.floor(low + spread * max(end - low - apart[-1], 1)) + apart
    fast = _fast(bench, fine * block, memory, gain, rng)
    return _fall((fine * block + block).ravel(), fast.ravel(), block)


def _near(bench: Bench, memory: float, gain: float, rng: np.random.Generator) -> Ahead | None:
    """Find it where it is a few blocks: one single read for each row."""
    block = bench.info.logical_block_bytes
    distances = rng.integers(0, 10, (4 * FINE_ROWS, 1)) * block
    fast = _fast(bench, distances, memory, gain, rng)
    return _fall((distances + block).ravel(), fast.ravel(), block)


def _fast(
    bench: Bench,
    distances: NDArray[Any],
    memory: float,
    gain: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Read rows, and singles behind each; give which of the singles were fast.

    Parameters
    ----------
    distances : ndarray, shape (rows, singles)
        Bytes from the end of the row.
    """
    block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
    rows, singles = distances.shape
    room = ROW * block + int(distances.max()) + block
    start = random_blocks(rng, 0, capacity - room, rows, block)
    row = start[:, None] + np.arange(ROW) * block
    behind = start[:, None] + ROW * block + distances.astype(np.int64)
    pauses = np.concatenate([[REST_NS] * ROW, [PAUSE_NS], [REST_NS] * (singles - 1)])
    log = patient_read(
        bench,
        np.hstack([row, behind]).ravel(),
        block,
        pauses_ns=np.tile(pauses, rows).astype(np.uint64),
    )
    logs = np.log(np.maximum(log.latency_ns.astype(float), 1.0)).reshape(rows, -1)
    return np.asarray(logs[:, ROW:] < memory + gain / 2)


def _fall(ends: NDArray[Any], fast: NDArray[Any], block: int) -> Ahead | None:
    """Fit a share that falls from one at some distance to nothing a page later."""
    coarse = max(float(np.ptp(ends)) / GRID // block, 1) * block
    ends = np.round(ends / coarse) * coarse
    seen, where = np.unique(ends, return_inverse=True)
    hits = np.bincount(where, fast)
    misses = np.bincount(where, ~fast)
    starts = np.unique(np.linspace(0, seen[-1], GRID) // block * block)
    widths = block * np.concatenate([np.arange(16), np.geomspace(16, MOST_PAGE, PAGES).round()])
    value, width = (each.ravel()[:, None] for each in np.meshgrid(starts, widths))
    share = np.clip((value + width - seen) / np.maximum(width, 1e-9), 0, 1)
    chance = MISREAD + (1 - 2 * MISREAD) * share
    likelihood = np.log(chance) @ hits + np.log(1 - chance) @ misses
    best = float(value[np.argmax(likelihood), 0])
    alike = value[likelihood >= likelihood.max() - LOG_LIKELIHOOD_95, 0]
    step = max(float(np.diff(starts).min(initial=block)), block)
    low, high = float(alike.min()) - step / 2, float(alike.max()) + step / 2
    near, far = fast[ends <= low], fast[ends > high + MOST_PAGE * block]
    wild = near.size < SINGLES or near.mean() < SURE or (far.size and far.mean() > 1 - SURE)
    if best <= 0 or high - low > SHARP * best + 2 * step or wild:
        return None
    slack = block + SLACK * best  # noise at single places, and places that were rounded
    return Ahead(int(best), low - slack, high + slack, ends, fast)
