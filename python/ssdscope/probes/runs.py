"""How far a place is followed by others on what works as one: where runs of pages end.

Two blocks are read at once. On one die one waits for the other, elsewhere it does not. Where
one command serves several planes of a die, it serves what waits: of three reads, two of one block
and one of another, the third then goes with the second. (Of two the first starts alone.) Where
a read takes hardly longer than the link takes for its command, it takes more than two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import Reason
from ssdscope.probes.bench import Stopped
from ssdscope.probes.rows import random_blocks
from ssdscope.probes.together import ASIDE_BLOCKS, Together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

STARTS = 40
FURTHEST_BYTES = 8 << 20
FACTOR_BITS = 2
"""Between distances that show what waiting is."""
TIMES = (5, 15, 45, 135)
MOST_TIMES = 81
LEAST_SHARE = 0.006
LEVELS_APART = 0.05
ON_LEVELS = 0.85
"""Share of reads that lie on one of the levels: on a hard disk all lie between."""
SAME_SHARE, LEAST_SAME = 0.9, 0.5
"""Of runs that must be multiples of the length of most, or cut short; and so many must have that
length. The former, too, of reads of one block twice that must wait."""
PLANES_TIMES = 15
"""At least."""
MOST_COPIES, KEPT_COPIES = 12, 2
"""Of the block that others may be read with; and where a cache stays on, that has it soon."""
MOST = 0.8
"""Of runs in which a distance must be served by one command."""
FAINTLY, SURELY = 0.1, 5.0
"""Of what waiting costs, and standard errors, that another distance is sooner in the mean than the
same block: it may be served by one command, behind which only the transfer waits."""
OFTEN, NEVER = 0.8, 1e-3
"""So often at least what a distance reaches beyond a run does not wait; and how improbable it is
that so few do."""
SMALLEST_PAGE_BYTES = 2048


@dataclass(frozen=True)
class Survey:
    """How two reads at once fare.

    Attributes
    ----------
    slower
        Logarithm of the slower of two over what one takes; shape (n, m).
    waits_from
        What of that is waiting.
    effect
        What waiting adds.
    times
        How often to read two blocks to tell it for certain.
    """

    slower: NDArray[Any]
    waits_from: float
    effect: float
    times: int


@dataclass(frozen=True)
class Runs:
    """Runs of pages on what works as one.

    Attributes
    ----------
    bytes
        Of each.
    begins
        Where some begin, shape (n,).
    distances
        At which reads were surveyed, in bytes, shape (m,).
    """

    bytes: int
    begins: NDArray[np.int64]
    distances: NDArray[np.int64]
    survey: Survey


def find(bench: Bench, together: Together, rng: np.random.Generator) -> Runs:
    """Find how long runs are.

    Raises
    ------
    Stopped
        If nothing waits for anything, or everything does, or runs are not equally long.
    """
    info = bench.info
    block = info.logical_block_bytes
    furthest = min(FURTHEST_BYTES, info.capacity_bytes // 8)
    # Each distance is a round of its own if a cache must forget in between.
    step = FACTOR_BITS if together.cached_units else 1
    distances = block << np.arange(0, int(math.log2(furthest // block)) + 1, step)
    distances = np.concatenate([[0], distances])
    high = info.capacity_bytes - 3 * furthest
    starts = random_blocks(rng, ASIDE_BLOCKS * block, high, STARTS, block)
    seen = survey(together, starts, starts[:, None] + distances)
    begins, lengths = _from(together, starts, furthest, block, seen)
    length = _usual(lengths)
    if np.mean(lengths % length == 0) < SAME_SHARE:
        # Pages of a table that took turns with the data may have shifted the rest: some are cut.
        more = random_blocks(rng, ASIDE_BLOCKS * block, high, STARTS, block)
        more_begins, more_lengths = _from(together, more, furthest, block, seen)
        begins, lengths = np.append(begins, more_begins), np.append(lengths, more_lengths)
        if not length == _usual(more_lengths) == _usual(lengths):
            raise Stopped(Reason.MODEL_MISFIT, "runs of blocks that wait are not equally long")
    if not _reaches_beyond(seen, distances, length):
        raise Stopped(
            Reason.MODEL_MISFIT, "what is as far apart as runs are long waits all the same"
        )
    return Runs(length, begins[lengths == length], distances, seen)


def _reaches_beyond(seen: Survey, distances: NDArray[np.int64], length: int) -> bool:
    """Whether a distance reaches beyond a run, of places anywhere, about as often as it is part.

    Else what does not wait is no other run, but what a cache has that stays on; or most runs are
    cut, and the others are longer.
    """
    from scipy.stats import binom

    at = int(np.flatnonzero(distances <= length)[-1])
    free = np.count_nonzero(seen.slower[:, at] <= seen.waits_from)
    share = float(distances[at]) / length * OFTEN
    return bool(binom.cdf(free, len(seen.slower), share) > NEVER)


def _from(
    together: Together, starts: NDArray[np.int64], furthest: int, block: int, seen: Survey
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give where the next run after each start begins, and how long it is; of those that end."""
    begins = _ends(together, starts, furthest, block, seen)
    begins = begins[begins > 0]
    ends = _ends(together, begins, furthest, block, seen) if begins.size else begins
    if np.count_nonzero(ends > 0) < STARTS / 2:
        raise Stopped(Reason.MODEL_MISFIT, "hardly any run of blocks that wait has an end")
    return begins[ends > 0], (ends - begins)[ends > 0]


def _usual(lengths: NDArray[np.int64]) -> int:
    """Give the length of most runs.

    The next run may lie on the same die by chance, where units of several runs meet; and some may
    be cut. None is longer in any other way.
    """
    values, counts = np.unique(lengths, return_counts=True)
    length = int(values[np.argmax(counts)])
    explained = float(np.mean((lengths % length == 0) | (lengths < length)))
    if counts.max() < LEAST_SAME * lengths.size or explained < SAME_SHARE:
        raise Stopped(Reason.MODEL_MISFIT, "runs of blocks that wait are not equally long")
    return length


def survey(together: Together, first: NDArray[np.int64], other: NDArray[np.int64]) -> Survey:
    """Tell how slow a read is that waits for another; the same block twice shows it.

    Parameters
    ----------
    first : ndarray, shape (n,)
    other : ndarray, shape (n, m)
        Of which the first column is `first` itself.

    Raises
    ------
    Stopped
        If nothing waits, or everything does, or the drive knows more than waiting or not.
    """
    for times in TIMES:
        read = together.read(first, other, times)
        every = read.slower.ravel()
        found = stats.levels(every, read.deviation, least_share=LEAST_SHARE, apart=LEVELS_APART)
        alike = float(np.median(read.slower[:, 0]))
        same = int(np.argmin(np.abs(found - alike)))
        if same > 0:
            break
    else:
        raise Stopped(Reason.LINK_BOUND, "reads at once take as long wherever they are")
    off = np.abs(every[:, None] - found).min(axis=1)
    if np.mean(off < 4 * read.deviation + LEVELS_APART / 2) < ON_LEVELS:
        raise Stopped(Reason.MODEL_MISFIT, "reads at once take all sorts of times")
    waits_from, effect = float(found[same - 1] + alike) / 2, alike - float(found[same - 1])
    if np.mean(read.slower[:, 0] > waits_from) < SAME_SHARE:
        raise Stopped(Reason.EFFECT_BELOW_NOISE)
    once = read.deviation * math.sqrt(times)
    needed = math.ceil((10 * once / effect) ** 2)
    times = min(max(needed, TIMES[0]), MOST_TIMES)
    return Survey(read.slower, waits_from, effect, times)


def _ends(
    together: Together, starts: NDArray[np.int64], furthest: int, block: int, seen: Survey
) -> NDArray[np.int64]:
    """Find the first block after each start that does not wait for it; -1 where all do."""
    far = np.full(starts.size, -1)
    there = np.arange(starts.size)
    for distance in block << np.arange(int(math.log2(furthest // block)) + 1):
        read = together.read(starts[there], (starts[there] + distance)[:, None], seen.times)
        free = read.slower[:, 0] <= seen.waits_from
        far[there[free]] = distance
        there = there[~free]
        if not there.size:
            break
    there = np.flatnonzero(far > 0)
    far = far[there]
    near = far // 2 // block * block
    while (far - near > block).any():
        middle = (near + far) // 2 // block * block
        again = together.read(starts[there], (starts[there] + middle)[:, None], seen.times)
        same = again.slower[:, 0] > seen.waits_from
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    found = np.full(starts.size, -1)
    found[there] = starts[there] + far
    return found


def alone(together: Together, runs: Runs, block: int) -> tuple[int, ...]:
    """Give how many bytes of a run follow each other on what no command serves together.

    Pages on several planes of a die can go together if they have the same place in their
    blocks: those at equal places of equal parts of the run. Blocks of one page never do, so that
    the least that does is no more than a page on each plane. Several answers, if some do and some
    do not.
    """
    least = max(block, SMALLEST_PAGE_BYTES)
    counts = range(2, runs.bytes // least + 1)
    parts = np.array([runs.bytes // n for n in counts if runs.bytes % (n * block) == 0])
    if not parts.size:
        return (runs.bytes,)
    copies = _copies(math.expm1(runs.survey.effect))
    if copies > (KEPT_COPIES if together.cached_units else MOST_COPIES):
        return ()
    times = max(PLANES_TIMES, runs.survey.times)
    others = runs.begins[:, None] + np.concatenate([[0, runs.bytes], parts])
    read = together.read(runs.begins, others, times, copies=copies).slower
    waits, free = np.median(read[:, 0]), np.median(read[:, 1])
    share = (read[:, 2:] < (waits + free) / 2).mean(axis=0)
    sooner = read[:, :1] - read[:, 2:]
    usual = sooner.mean(axis=0)
    least = FAINTLY * (waits - free)
    faintly = usual > np.maximum(SURELY * sooner.std(axis=0) / math.sqrt(len(sooner)), least)
    surely = int(min(parts[share >= MOST], default=runs.bytes))
    perhaps = parts[((share > 1 - MOST) | faintly) & (parts < surely)]
    return surely, *(int(each) for each in perhaps)


def _copies(effect: float) -> int:
    """Give how many reads of a block keep one of them waiting until another read has come.

    If a read takes r and the next command comes after c, the last of n copies begins after
    (n - 1) r, and the other read comes after n c. What waiting for a read adds to two at once,
    the effect, is (r - c) / (r + c) at most.
    """
    return max(round((1 + 1 / effect) / 2), 2)
