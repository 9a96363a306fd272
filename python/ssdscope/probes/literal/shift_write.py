"""Figure 6 of ryu2009: the size of the management block, by writes that are shifted step by step.

A write that covers part of a block costs the copying of the rest, one that straddles two blocks
costs it twice. So one size is written at every shift, in many chunks of the drive, and the block
is read off the shifts at which it takes long (or short). The paper prints this as pseudo-code:

* first pass: ``T_i``, the mean over the chunks, for every position ``i``; its largest, least and
  mean value;
* second pass, measured again: where the largest is further from the mean than the least is, the
  positions above halfway to it (``MaxPB``), otherwise those below halfway to the least (``MinPB``);
* answer: the shift times the greatest common divisor of these positions.

`as_printed` keeps what is wrong with it, as far as it can be run:

a. the sum is never reset, neither between positions nor between passes;
b. the loop runs to ``chunk_size`` although it counts shifts;
c. the mean divides by what would be right if it did not;
d. a new least value is never looked at as a largest one;
e. the second pass writes everything again;
f. the thresholds rest on the extremes, so that one late answer moves them;
g. one wrong position brings the divisor down to one; position 0 alone gives 0;
h. positions of slow writes below the block's size are no multiples of the block;
i. as many slow as fast positions: neither set is filled;
j. no test of significance: there is always an answer;
k. a chunk must be a multiple of the block that is looked for.

The paper does not say in what unit ``chunk_size`` and ``shift_size`` count. Here it is half a
shift (a kilobyte where shifts are of 2 KB): the loop ends, after twice the chunk, and the mean
comes out twice as large. What lies behind the drive's end begins again at its start.

`repaired` mends (a) to (d) and nothing else. `by_differences` also takes medians over the chunks,
measures once, and divides the differences of positions instead of the positions.

Cost: twice the positions times the chunks, as printed twice that. Source: ryu2009, figure 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

UNITS_PER_SHIFT = 2
"""In units of half a shift, see above."""
PASSES = 2


@dataclass(frozen=True)
class Answer:
    """What a reading of figure 6 returns.

    Attributes
    ----------
    side
        Which positions were collected: the slow ones (``MaxPB``), the fast ones, or none.
    positions
        These positions, in shifts.
    size_bytes
        The management block; None where the divisor of nothing is asked for.
    """

    side: Literal["slow", "fast", "neither"]
    positions: tuple[int, ...]
    size_bytes: int | None


@dataclass(frozen=True)
class Sweep:
    """Writes of one size, shifted within chunks.

    Attributes
    ----------
    chunk_bytes
        From the start of one chunk to that of the next; the same position is written in all of
        them before the next position is.
    chunks
        How many; the paper takes half of those the drive has.
    """

    write_bytes: int
    shift_bytes: int
    chunk_bytes: int
    chunks: int

    def count(self, *, printed: bool) -> int:
        """Give the positions of a pass."""
        right = self.chunk_bytes // self.shift_bytes
        return right * UNITS_PER_SHIFT if printed else right

    def planned_writes_bytes(self, *, printed: bool) -> int:
        """Give what both passes write."""
        return PASSES * self.count(printed=printed) * self.chunks * self.write_bytes

    def run(self, bench: Bench, *, printed: bool) -> NDArray[Any]:
        """Write both passes, one request at a time.

        Returns
        -------
        ndarray, shape (2, positions, chunks)
            Response times in nanoseconds.
        """
        count = self.count(printed=printed)
        shifts = np.arange(count, dtype=np.int64) * self.shift_bytes
        starts = np.arange(self.chunks, dtype=np.int64) * self.chunk_bytes
        last = bench.info.capacity_bytes - self.write_bytes
        places = (shifts[:, None] + starts[None, :]) % (last + self.shift_bytes)
        both = np.tile(np.minimum(places, last).ravel(), PASSES)
        log = bench.write(both, self.write_bytes)
        return np.asarray(log.latency_ns, dtype=float).reshape(PASSES, count, self.chunks)


def as_printed(passes_ns: ArrayLike, shift_bytes: int) -> Answer:
    """Read a block off both passes, letter by letter.

    Parameters
    ----------
    passes_ns : array_like, shape (2, positions, chunks)
        Response times; the positions reach twice as far as a chunk.
    shift_bytes : int
    """
    sums = np.asarray(passes_ns, dtype=float).sum(axis=2)
    chunks = np.shape(passes_ns)[2]
    first, second = (np.cumsum(sums) / chunks).reshape(sums.shape)  # (a)
    longest, least = 0.0, math.inf
    for mean in first:
        if mean < least:
            least = mean
        elif mean > longest:  # (d)
            longest = mean
    middle = UNITS_PER_SHIFT / first.size * float(first.sum())  # (b), (c)
    return _collected(second, (least, middle, longest), shift_bytes)


def repaired(passes_ns: ArrayLike, shift_bytes: int) -> Answer:
    """Read a block off both passes, with the sum reset, bound, mean and largest value put right.

    Parameters
    ----------
    passes_ns : array_like, shape (2, positions, chunks)
        Response times; the positions reach as far as a chunk.
    shift_bytes : int
    """
    first, second = np.asarray(passes_ns, dtype=float).mean(axis=2)
    levels = float(first.min()), float(first.mean()), float(first.max())
    return _collected(second, levels, shift_bytes)


def by_differences(latency_ns: ArrayLike, shift_bytes: int) -> Answer:
    """Read a block off one pass: medians over the chunks, and differences of positions.

    Parameters
    ----------
    latency_ns : array_like, shape (positions, chunks)
    shift_bytes : int
    """
    medians = np.median(np.asarray(latency_ns, dtype=float), axis=1)
    levels = float(medians.min()), float(np.median(medians)), float(medians.max())
    found = _collected(medians, levels, shift_bytes)
    steps = [int(step) for step in np.diff(found.positions)]
    size = shift_bytes * math.gcd(*steps) if steps else None
    return Answer(found.side, found.positions, size)


def _collected(means: NDArray[Any], levels: tuple[float, float, float], shift_bytes: int) -> Answer:
    """Collect the exceptional positions by the least, middle and largest value; divide them."""
    least, middle, longest = levels
    side: Literal["slow", "fast", "neither"] = "neither"
    chosen = np.zeros(means.size, dtype=bool)
    if longest - middle > middle - least:
        side, chosen = "slow", means > (middle + longest) / 2
    elif longest - middle < middle - least:
        side, chosen = "fast", means < (middle + least) / 2
    positions = tuple(int(each) for each in np.flatnonzero(chosen))
    if not positions:
        return Answer("neither", (), None)
    return Answer(side, positions, shift_bytes * math.gcd(*positions))
