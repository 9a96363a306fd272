"""How far a drive reads ahead of reads that follow each other.

Four reads in a row somewhere, a pause in which whatever is fetched arrives, then single reads at
distances behind the end of the row, the nearest first, so that none of them puts out what lies
further on. They are fast up to where was read ahead, which a drive rounds up to whole pages: of
rows that end anywhere in a page, that lies anywhere between what is read ahead and a page more.
Behind each row it is known to lie between two singles, and the likelihood of all rows together
tells both ends of that stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Exhibit, Step, series
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
FINE_DISTANCES, BLOCKS_APART = 12, 6
FARTHEST_BYTES = 64 << 20
GRID = 300
MOST_PAGE = 192
"""Blocks of the largest page, or mapping unit, that what is read ahead may be rounded up to."""
_PAGES = np.concatenate([np.arange(1, 16), np.arange(16, MOST_PAGE + 1, 4)])
SURE, SINGLES = 0.9, 20
SHARP = 0.1
SLACK = 0.005
MISREAD = 0.03
"""Share of reads that noise puts on the wrong side."""
LOG_LIKELIHOOD_95 = 3.0
"""Below the greatest, for the end of a range: half of what chi-squared with two degrees has."""


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

    def exhibit(self) -> Exhibit:
        """Show which reads behind a row were fast."""
        return Exhibit(
            name="reads-behind-a-row",
            title="Reads behind a row of reads",
            caption="Whether one so far behind the row comes from memory (1) or not (0).",
            x=Axis("distance", "bytes"),
            y=Axis("fast"),
            series=(series("reads", self.distances, self.fast, "points"),),
            fitted=(Step(at=self.bytes, low=self.low, high=self.high, word="read ahead"),),
        )


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
    end = 9 * int(blocks[behind[0]]) // 8 + 2
    low = max(end // 5, 1)
    if behind[0] <= 2:  # within a few blocks: also the very next one, in rows of its own
        return _near(bench, memory, gain, rng)
    singles = int(np.clip((end - low) // BLOCKS_APART, 1, FINE_DISTANCES))
    rows = FINE_ROWS * FINE_DISTANCES // singles
    spread = np.sort(rng.random((rows, singles)), axis=1)
    apart = 2 * np.arange(singles)  # no single read begins where the last one ended
    fine = np.floor(low + spread * max(end - low - apart[-1], 1)) + apart
    fast = _fast(bench, fine * block, memory, gain, rng)
    return _fall(fine * block + block, fast, block)


def _near(bench: Bench, memory: float, gain: float, rng: np.random.Generator) -> Ahead | None:
    """Find it where it is a few blocks: one single read for each row."""
    block = bench.info.logical_block_bytes
    distances = rng.integers(0, 10, (4 * FINE_ROWS, 1)) * block
    fast = _fast(bench, distances, memory, gain, rng)
    return _fall(distances + block, fast, block)


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
    """Find what is read ahead at least, and the page that it is rounded up to.

    Behind each row, what is in memory ends between the last fast single and the first slow one;
    that is anywhere in the page, with the row. The likelihood is that of whole rows, whose
    singles tell of one end; rows with a slow single before a fast one are left out.

    Parameters
    ----------
    ends : ndarray, shape (rows, singles)
        Bytes from the end of the row to that of the single, ascending.
    fast : ndarray, shape (rows, singles)
        Which were fast.
    """
    regular = (fast[:, :-1] >= fast[:, 1:]).all(axis=1)
    last = np.where(fast, ends, 0).max(axis=1)[regular]
    first = np.where(fast, np.inf, ends).min(axis=1)[regular]
    if regular.mean() < SURE / 2 or min(last.size, first.size) < SINGLES:
        return None
    low, high, step = 0.0, float(ends.max()), 0.0
    for _ in range(2):  # finer where it may be
        step = max((high - low) / GRID // block, 1) * block
        starts = np.arange(max(low // block * block, 0), high + step, step)
        likely = _likelihood(starts, last, first, block)
        alike = starts[likely >= likely.max() - LOG_LIKELIHOOD_95]
        low, high = float(alike.min()) - step, float(alike.max()) + step
    low, high = float(alike.min()), float(alike.max())
    best = round(float(np.median(alike)) / block) * block
    far = fast[ends > high + MOST_PAGE * block]
    near = fast[ends <= low]
    wild = near.size < SINGLES or near.mean() < SURE or (far.size and far.mean() > 1 - SURE)
    if best <= 0 or high - low > SHARP * best or wild:
        return None
    # A drive counts in blocks; of places further apart the one between is not known.
    slack = SLACK * best + (step / 2 if step > block else 0.0)
    return Ahead(best, low - slack, high + slack, ends.ravel(), fast.ravel())


def _likelihood(
    starts: NDArray[Any], last: NDArray[Any], first: NDArray[Any], block: int
) -> NDArray[Any]:
    """Give the logarithm of the likelihood of what is read ahead, with the likeliest page."""
    found = np.full(starts.size, -np.inf)
    for width in block * _PAGES:
        inside = np.minimum(first, starts[:, None] + width) - np.maximum(last, starts[:, None])
        chance = MISREAD / FINE_DISTANCES + (1 - MISREAD) * np.maximum(inside, 0) / width
        found = np.maximum(found, np.log(chance).sum(axis=1))
    return found
