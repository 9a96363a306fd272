"""Reference curves of random reads on the undisturbed twin: by size, and by queue depth.

Both are exhaustive: every size of a grid, every depth that a search needs. What is true of alpha,
beta and the knee follows from them by definitions that no detector shares.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdscope import seeds
from ssdscope.recovery.twin import Offsets, Twin, read
from ssdscope.targets.records import OP_READ

SIZE_STEP_BYTES, SIZES = 4096, 64
"""Sizes are all multiples of the step, up to 256 KiB."""
BLOCKS, BLOCKS_MOST = 256, 4096
"""Reads of each size: so many, and twice as many until the means are known well enough."""
ERROR_MOST = 0.005
DEPTH_MOST = 256
TIMED_READS = 16_384
KNEE_SHARE = 0.90


@dataclass(frozen=True)
class Line:
    """A line through mean latencies by size.

    Attributes
    ----------
    alpha_ns, beta_ns_per_byte
        What it begins with, and its slope.
    missed
        Root mean square of what it misses the latencies by, as shares of them.
    """

    alpha_ns: float
    beta_ns_per_byte: float
    missed: float


@dataclass(frozen=True)
class Latencies:
    """Mean latencies of random reads by size."""

    sizes: NDArray[np.int64]
    mean_ns: NDArray[np.float64]

    def line(self, largest: int | None = None) -> Line:
        """Fit ordinary least squares to all sizes, or to those up to the largest."""
        chosen = self.sizes <= (largest or self.sizes[-1])
        sizes, mean = self.sizes[chosen].astype(float), self.mean_ns[chosen]
        slope, intercept = np.polyfit(sizes, mean, 1)
        missed = np.sqrt(np.mean(((intercept + slope * sizes) / mean - 1) ** 2))
        return Line(float(intercept), float(slope), float(missed))

    @property
    def lower_half(self) -> Line:
        """The line through the lower half of the sizes."""
        return self.line(int(self.sizes[-1]) // 2)


def latencies(twin: Twin) -> Latencies:
    """Read at random, at depth 1, at multiples of the size; all sizes in random order."""
    device, capacity = twin.warm.fork(), twin.shape.capacity_bytes
    stream = seeds.stream((capacity, SIZES), "studies.recovery.references")
    step = max(SIZE_STEP_BYTES, twin.block_bytes)
    sizes = np.arange(1, SIZES + 1) * step
    kept: list[NDArray[np.float64]] = []
    blocks = BLOCKS
    while True:
        order = stream.permuted(np.tile(np.arange(sizes.size), (blocks, 1)), axis=1)
        lengths = sizes[order]
        starts = stream.integers(0, capacity // lengths) * lengths
        found = read(device, starts.ravel().astype(np.uint64), lengths.ravel().astype(np.uint64))
        by_size = np.empty(order.shape)
        np.put_along_axis(by_size, order, found.reshape(order.shape), axis=1)
        kept.append(by_size)
        every = np.concatenate(kept)
        mean, count = every.mean(axis=0), every.shape[0]
        error = every.std(axis=0) / np.sqrt(count) / mean
        if error.max() <= ERROR_MOST or count >= BLOCKS_MOST:
            return Latencies(sizes, mean)
        blocks = count


class Rates:
    """Rates of random reads by queue depth, each measured when it is asked for.

    All depths read the same places in the same order, so that two depths differ by nothing else.

    Parameters
    ----------
    twin
        The drive.
    """

    def __init__(self, twin: Twin) -> None:
        self._device = twin.warm
        self._size = max(SIZE_STEP_BYTES, twin.block_bytes)
        count = _unsettled(DEPTH_MOST) + TIMED_READS + DEPTH_MOST
        stream = seeds.stream(
            (twin.shape.capacity_bytes, DEPTH_MOST), "studies.recovery.references"
        )
        slots = stream.integers(0, twin.shape.capacity_bytes // self._size, count)
        self._starts: Offsets = (slots * self._size).astype(np.uint64)
        self._known: dict[int, float] = {}

    def at(self, depth: int) -> float:
        """Give reads per nanosecond, while the queue is full and settled."""
        if depth not in self._known:
            first = _unsettled(depth)
            last = first + TIMED_READS
            starts = self._starts[: last + depth]
            lengths = np.full(starts.size, self._size, np.uint64)
            ops = np.full(starts.size, OP_READ, np.uint8)
            log = self._device.fork().run_list(ops, starts, lengths, iodepth=depth)
            done = np.sort(log.complete_ns.astype(float))
            self._known[depth] = float((last - first) / (done[last] - done[first]))
        return self._known[depth]

    def depth_of(self, share: float) -> int:
        """Give the least depth that reaches a share of the rate at the deepest queue.

        A deeper queue is never slower here, so halving finds what trying all depths would.
        """
        wanted, low, high = share * self.at(DEPTH_MOST), 0, DEPTH_MOST
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle) >= wanted else (middle, high)
        return high

    @property
    def knee(self) -> int:
        """The least depth that gives 90 % of the rate at depth 256."""
        return self.depth_of(KNEE_SHARE)


def _unsettled(depth: int) -> int:
    """Count the reads at the beginning that do not count: dies keep step for a while at first."""
    return max(8 * depth, depth**2 // 2)
