"""The RMW unit by reads, where a write buffer hides what a write takes: what moves together.

Physics. Whoever rewrites one logical block has the drive rewrite the unit around it, and to
another place, as flash is not overwritten. A read of two blocks that lie apart takes another time
than one of two that lie together, and another on two chips than on one. So where such a read
straddles the end of the unit that has moved, what it takes changes, and behind that end it does
not; within the unit it may. (kuo2009, table 4, reads in place of writing on Mtron's drive, whose
buffer cannot be switched off: one unit against two. What such reads show may be a page as well,
or a stripe; what moves may not.)

Design. Two blocks are read wherever they can begin around some places, and around as many others
for control, before and after a single block is written in the middle of the former: each three
times in random order, places in random order too. In between it is waited until that block is no
longer read from memory. Few places have their turn between two returns to the filled drive, so
that a firmware with log blocks does not merge them back.

Statistic. Whether the median of a read has changed: by more than nearly all of those around
the controls. Of each unit and phase that there may be, the share of changed reads at either end
of the unit around a written block, separately for blocks in its first and in its second half.

Decision. Of the units right outside whose ends no more has changed than around the controls, the
one whose ends change most often; both ends must, whichever half is written, and no other unit may
come near. A part of the unit fails outside its ends, and of a multiple only one end changes. Both
halves of the data must name the same. More places are looked at, twice at most.

A buffer might read what is missing of its own units, and send those on: so the answer must be
larger than what the buffer takes room in, and than 4 KiB, the usual unit of memory. Drives that
keep each address on its chip, and buffers that keep the block for good, show nothing.

Assumptions. Reads come from flash: a read cache is absent, or can be switched off. Cost: one
block written per place, 64 to 256 places; some 300 reads (of 512 bytes) around each, six times.
Source: PROBING.md 1.6 and 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Detected, Evidence, Exhibit, Finding, Period, series
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

LARGEST_UNIT_BYTES = 64 << 10
REACH_BYTES = 72 << 10
"""Around a place: what lies behind the largest unit is seen not to change."""
USUAL_MEMORY_BYTES = 4096
REPEATS = 3
AT_ONCE = 2
"""Places that are written between two returns to the filled drive."""
TURNS, LOOKS = 32, 3
"""Of places, in the first look; each later one doubles what there is."""
FIRST_WAIT_NS, LONGEST_WAIT_NS, LONGER = 1_000_000, 4_000_000_000, 4
FROM_MEMORY = 0.6
"""Of what reading a block takes at first: what takes less afterwards is still in the buffer."""
LEAST_CHANGE, DEVIATIONS = 0.08, 4.5
"""In the logarithm, and in times the deviation around controls: what counts as changed."""
OUTSIDE = 0.25
"""Of the changes at the ends of a unit: so many may be in excess right outside of it."""
NEXT_BEST, WEAKEST = 0.75, 0.6
"""How often the ends of the next best unit may change, and the end that does so the most seldom."""
LEAST_HITS = 16
HOPELESS = 8
"""Changes at the ends of any unit, in the first look, below which there is no second one."""


@dataclass(frozen=True)
class Places:
    """What was seen around places at which a block was written.

    Attributes
    ----------
    written : ndarray of int, shape (places, 1)
        Logical block that was written.
    edge : ndarray of int, shape (places, reads)
        Second of the two blocks that were read.
    change : ndarray of float, shape (places, reads)
        Of the logarithm of what that takes.
    control : ndarray of float, shape (places, reads)
        The same around places that were left alone.
    """

    written: NDArray[np.int64]
    edge: NDArray[np.int64]
    change: NDArray[Any]
    control: NDArray[Any]

    def joined(self, other: Places) -> Places:
        """Put others behind these."""
        pairs = zip(self._columns(), other._columns(), strict=True)
        return Places(*(np.concatenate(pair) for pair in pairs))

    def part(self, which: slice) -> Places:
        """Give some of them."""
        return Places(*(column[which] for column in self._columns()))

    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.written, self.edge, self.change, self.control


@dataclass(frozen=True)
class Unit:
    """A unit with its phase, in blocks, and how often its ends change: seldomest, in the mean."""

    blocks: int
    phase: int
    weakest: float
    share: float


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    return (AT_ONCE * TURNS << (LOOKS - 1)) * info.logical_block_bytes


def detect(
    bench: Bench, unit: str, phase: str, probe: str, held_bytes: int | None
) -> list[Finding]:
    """Answer the unit and its phase, or nothing.

    Parameters
    ----------
    unit, phase, probe
        Names of the properties and of who asks.
    held_bytes
        What the buffer takes room in, None if that is not known.
    """
    cache, block = bench.info.read_cache, bench.info.logical_block_bytes
    if cache.on and cache.control != "switchable":
        return []
    if bench.info.capacity_bytes < 64 * REACH_BYTES:
        return []
    places: Places | None = None
    found: Unit | None = None
    for look in range(LOOKS):
        more = _look(bench, look, TURNS << max(look - 1, 0))
        if more is None:
            return []
        places = more if places is None else places.joined(more)
        found = agreed(places, block)
        bench.progress("what moves together", (look + 1) / LOOKS)
        if found is not None or not _hopeful(places, block):
            break
    if places is None or found is None:
        return []
    if found.blocks * block <= max(held_bytes or 0, USUAL_MEMORY_BYTES):
        return []
    common: dict[str, Any] = {
        "probe": probe,
        "effect": float(np.expm1(_threshold(places))),
        "evidence": _evidence(places, found, block),
        "requests": places.change.size * REPEATS * 4,
    }
    return [
        Detected(name=unit, value=found.blocks * block, interval=None, **common),
        Detected(name=phase, value=found.phase * block, interval=None, **common),
    ]


def _look(bench: Bench, look: int, turns: int) -> Places | None:
    """Look at some places; None if what is written does not leave the buffer."""
    rng = bench.rng(f"moved units {look}")
    block = bench.info.logical_block_bytes
    reach = REACH_BYTES // block
    parts = []
    for _ in range(turns):
        bench.renew(State.FILLED)
        middles = rng.integers(reach + 1, bench.info.capacity_bytes // block - reach, 2 * AT_ONCE)
        with bench.without_caches(write=False):
            before = _around(bench, middles, rng)
            if not _moved(bench, middles[:AT_ONCE]):
                return None
            change = _around(bench, middles, rng) - before
        edge = middles[:, None] + np.arange(1 - reach, reach + 1)
        parts.append(
            Places(middles[:AT_ONCE, None], edge[:AT_ONCE], change[:AT_ONCE], change[AT_ONCE:])
        )
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.joined(part)
    return joined


def _around(bench: Bench, middles: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
    """Read two blocks from every place around some; logarithms, shape (places, reads)."""
    block = bench.info.logical_block_bytes
    reach = REACH_BYTES // block
    medians = np.empty((middles.size, 2 * reach))
    for number in rng.permutation(middles.size):
        first = (middles[number] + np.arange(-reach, reach)) * block

        def read(first: NDArray[np.int64] = first) -> NDArray[Any]:
            order = np.concatenate([rng.permutation(first.size) for _ in range(REPEATS)])
            log = bench.read(first[order], 2 * block)
            took = np.empty((REPEATS, first.size))
            turn = np.repeat(np.arange(REPEATS), first.size)
            index = log.index.astype(np.int64)
            took[turn[index], order[index]] = log.latency_ns
            return np.asarray(np.median(np.log(np.maximum(took, 1.0)), axis=0))

        medians[number] = in_peace(bench, read)
    return medians


def _moved(bench: Bench, middles: NDArray[np.int64]) -> bool:
    """Write a block at each place, and wait until none of them is read from memory."""
    block = bench.info.logical_block_bytes

    def reading() -> float:
        return float(np.median(bench.read(middles * block, block).latency_ns))

    before = np.median([in_peace(bench, reading) for _ in range(REPEATS)])
    in_peace(bench, lambda: bench.write(middles * block, block))
    wait_ns = FIRST_WAIT_NS
    while wait_ns <= LONGEST_WAIT_NS:
        bench.idle(wait_ns)
        if in_peace(bench, reading) > FROM_MEMORY * before:
            return True
        wait_ns *= LONGER
    return False


def agreed(places: Places, block: int) -> Unit | None:
    """Give the unit that all of the data name, and either half of them."""
    best = _best(places, block)
    if best is None or best.share * 2 * len(places.written) < LEAST_HITS:
        return None
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other = _best(places.part(half), block)
        if other is None or (other.blocks, other.phase) != (best.blocks, best.phase):
            return None
    return best


def _hopeful(places: Places, block: int) -> bool:
    """Whether any unit has so many changes at its ends that more places may tell it."""
    most = max((each.share for each in _fitting(places, block)), default=0.0)
    return most * 2 * len(places.written) >= HOPELESS


def _threshold(places: Places) -> float:
    """Give the change that reads around controls hardly ever have."""
    return max(LEAST_CHANGE, DEVIATIONS * 1.4826 * float(np.median(np.abs(places.control))))


def _best(places: Places, block: int) -> Unit | None:
    """Give the one unit whose ends change, and right outside of which nothing does."""
    fitting = _fitting(places, block)
    fitting.sort(key=lambda each: -each.share)
    if not fitting or fitting[0].weakest < WEAKEST * fitting[0].share:
        return None
    alone = len(fitting) == 1 or fitting[1].share <= NEXT_BEST * fitting[0].share
    return fitting[0] if alone else None


def _fitting(places: Places, block: int) -> list[Unit]:
    """Give the units right outside of which nothing changes."""
    threshold = _threshold(places)
    changed = np.abs(places.change) > threshold
    until = np.zeros((len(changed), changed.shape[1] + 1), np.int64)
    until[:, 1:] = np.cumsum(changed, axis=1)
    by_chance = float((np.abs(places.control) > threshold).mean())
    return [
        found
        for blocks in _candidates(block)
        for phase in range(int(blocks))
        if (found := _fit(places, until, by_chance, int(blocks), phase)) is not None
    ]


def _candidates(block: int) -> NDArray[np.int64]:
    """Give the units that are looked for, in blocks."""
    largest = LARGEST_UNIT_BYTES // block
    every = np.unique(np.array([1, 3, 5, 7, 9, 15])[:, None] << np.arange(largest.bit_length()))
    return every[(every >= 2) & (every <= largest)]


def _fit(
    places: Places, until: NDArray[np.int64], by_chance: float, blocks: int, phase: int
) -> Unit | None:
    """Say how often the ends of a unit change; None if too much does right outside of it.

    `until` counts the reads that have changed, before each; shape (places, reads + 1).
    """
    left, right, second = _ends(places, blocks, phase)
    if second.all() or not second.any():
        return None
    rows, last = np.arange(left.size), until.shape[1] - 2

    def changes(begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(until[rows, end + 1] - until[rows, begin])

    first, end = np.maximum(left - blocks, 0), np.minimum(right + blocks, last)
    ends = np.column_stack([changes(left, left), changes(right, right)])
    outside = changes(first, end).sum() - changes(left, right).sum()
    expected = by_chance * float((left - first + end - right).sum())
    if outside - expected > max(OUTSIDE * ends.sum(), 2 * np.sqrt(expected)):
        return None
    shares = np.concatenate([ends[second].mean(axis=0), ends[~second].mean(axis=0)])
    return Unit(blocks, phase, float(shares.min()), float(shares.mean()))


def _ends(
    places: Places, blocks: int, phase: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Give the reads that straddle the ends of written units, and whether the second half was."""
    at = (places.written[:, 0] + phase) % blocks
    left = places.written[:, 0] - at - places.edge[:, 0]
    return left, left + blocks, 2 * at >= blocks


def _evidence(places: Places, found: Unit, block: int) -> Evidence:
    threshold = _threshold(places)
    left, _, _ = _ends(places, found.blocks, found.phase)
    reads = np.arange(-found.blocks, 2 * found.blocks + 1)
    column = left[:, None] + reads
    inside = (column >= 0) & (column < places.change.shape[1])
    seen = np.abs(np.take_along_axis(places.change, np.where(inside, column, 0), axis=1))
    share = (seen > threshold).sum(axis=0, where=inside) / np.maximum(inside.sum(axis=0), 1)
    exhibit = Exhibit(
        name="moved-with-a-block",
        title="What moves with a block that is written",
        caption="Share of reads of two blocks that take another time afterwards.",
        x=Axis("where the two blocks meet, from the beginning of the unit", "bytes"),
        y=Axis("share of reads that changed"),
        series=(series("reads", reads * block, share, "points"),),
        fitted=(Period(period=float(found.blocks * block), word="unit begins"),),
    )
    return Evidence(
        exhibits=(exhibit,),
        figures={
            "by": "reads",
            "written_blocks": len(places.written),
            "changed_at_ends": found.share,
            "changed_by_chance": float((np.abs(places.control) > threshold).mean()),
            "least_change": threshold,
        },
    )
