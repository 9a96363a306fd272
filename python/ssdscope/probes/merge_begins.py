"""Single writes to the beginnings of merge units: they alone wait for merges, and how far.

Physics. A firmware with common log blocks keeps one apart for what is written in order. A write to
the first RMW unit of a merge unit is taken for the beginning of such a stream, and what the stream
before has left is merged first, which copies the rest of a whole unit. Single writes elsewhere go
to the common log blocks and cost nothing until those are full (Lee et al., FAST, 2007).

Statistic. Single writes to the beginnings of random units, and to places a half, a third, a fifth
and so on behind the beginnings of others, in random order; of either kind the times.

Decision. Three of four beginnings take at least twice as long as three of four of each other kind.
Of several units one of the other kinds is slow, too: then that part is tried for a unit. Of a part
of a unit half of the beginnings would be fast. Whatever else a place far from the last one costs,
as loading a part of the mapping table, all kinds cost. Where the RMW unit is not known, single
blocks around the beginnings tell it: those are slow that lie in the first one. Its ends are found
by bisection, and blocks on both sides of either must agree at fresh places.

Assumptions. The size comes from what repeats in order. One log block for each unit makes all kinds
alike, so that nothing is said. Cost: some hundred writes, and two hundred for the RMW unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes import merge_runs, write_through
from ssdscope.probes.merge_periods import request_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.merge_periods import Repeating

PARTS = (2, 3, 5, 7, 11, 13)
"""Behind which part of a unit the other writes are: of no more units together, it is seen."""
WRITES = 16
"""Of each kind."""
FIRST = 4
"""Writes to beginnings, before any stream has left anything to merge."""
FEWEST = 8
"""Of each kind that nobody disturbed."""
LONGER = 2.0
"""Times what the others take that beginnings do at least."""
REACH_BYTES = 128 << 10
"""How far from a beginning the ends of the first RMW unit are looked for."""
MOST_LOST = 0.5
"""Share of them that others may disturb."""
TRIED = 5
"""Writes of one place in a unit."""


@dataclass(frozen=True)
class Waits:
    """What writes take at least that wait for merges, and others at most: three of four of each.

    Attributes
    ----------
    logs_taken
        Writes far apart after which all log blocks are taken.
    """

    waiting_ns: float
    others_ns: float
    logs_taken: int = 0

    @property
    def contrast(self) -> float:
        """How much longer those take."""
        return self.waiting_ns / self.others_ns - 1

    @property
    def limit_ns(self) -> float:
        """What only those take."""
        return float(np.sqrt(self.waiting_ns * self.others_ns))


@dataclass(frozen=True)
class Begins(Waits):
    """What writes to the beginnings of units take, and what those behind them do.

    Attributes
    ----------
    typical_ns
        What a write to a beginning takes.
    part
        One of `PARTS` such that where it ends, writes wait like those to beginnings; 1 if none.
    """

    typical_ns: float = 0.0
    part: int = 1

    @property
    def alone(self) -> bool:
        """Whether beginnings wait, and what is behind them does not."""
        return self.waiting_ns >= LONGER * self.others_ns

    def wait_at_all(self, elsewhere_ns: float) -> bool:
        """Tell whether they take longer than writes far apart, whatever others of theirs do.

        A drive that merges whenever it has nothing else to do makes them all wait for that.
        """
        return self.typical_ns >= LONGER * elsewhere_ns


def of_one(bench: Bench, found: Repeating) -> tuple[Repeating, Begins | None]:
    """Compare beginnings with places behind them, and where these begin units, units of that size.

    What else repeats in order, as zones of the mapping table, may hold several units.
    """
    begins = measure(bench, found)
    while begins is not None and begins.part > 1 and (less := found.part(begins.part)) is not None:
        found, begins = less, measure(bench, less)
    return found, begins


def measure(bench: Bench, found: Repeating) -> Begins | None:
    """Compare beginnings with places behind them; None if too little is known of either."""
    size, unit = found.size_bytes, request_bytes(bench, found)
    parts = [part for part in PARTS if size // part >= unit]
    behind = np.array([0, *(size // part // unit * unit for part in parts)])
    rng = bench.rng(f"begins of merge units {size}")
    kind = rng.permuted(np.repeat(np.arange(behind.size), WRITES))
    taken_ns = _taken_ns(bench, found, behind[kind], unit, rng)
    if taken_ns is None:
        return None
    begins, *others = kinds_of(taken_ns, kind)
    if min(each.size for each in (begins, *others)) < FEWEST:
        return None
    most = max(float(np.percentile(each, 75)) for each in others)
    least = float(np.percentile(begins, 25))
    slow = _some_wait(others)
    part = parts[slow] if slow is not None else 1
    return Begins(least, most, typical_ns=float(np.median(begins)), part=part)


def _some_wait(others: list[NDArray[Any]]) -> int | None:
    """Give the first of other kinds that waits, where some do and some do not."""
    least, most = (np.array([np.percentile(each, share) for each in others]) for share in (25, 75))
    slow = least >= LONGER * most.min()
    if not slow.any() or slow.all() or least[slow].min() < LONGER * most[~slow].max():
        return None
    return int(np.argmax(slow))


def kinds_of(taken_ns: NDArray[Any], kind: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Give what is known of each kind."""
    known = ~np.isnan(taken_ns)
    return [taken_ns[known & (kind == number)] for number in range(kind.max() + 1)]


def first_unit(bench: Bench, found: Repeating, begins: Begins) -> tuple[int | None, int | None]:
    """Give how long before the beginning the first RMW unit begins, and its size, in bytes."""
    block = bench.info.logical_block_bytes
    reach = min(REACH_BYTES, found.size_bytes // 2) // block

    def slow(at: int, count: int = TRIED) -> bool | None:
        return _is_slow(bench, found, at, count, begins.limit_ns)

    if not slow(0):
        return None, None
    ends = []
    for side in (-1, 1):
        inside, outside = 0, side * reach
        if slow(outside) is not False:
            return None, None
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            is_inside = slow(middle)
            if is_inside is None:
                return None, None
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        if slow(inside, WRITES) is not True or slow(outside, WRITES) is not False:
            return None, None
        ends.append(inside)
    unit = (ends[1] - ends[0] + 1) * block
    return (None, None) if found.size_bytes % unit else (-ends[0] * block, unit)


def _is_slow(bench: Bench, found: Repeating, at: int, count: int, limit_ns: float) -> bool | None:
    """Say of a block, by its number behind the beginnings, whether it is one; None if not clear."""
    block = bench.info.logical_block_bytes
    rng = bench.rng(f"beginning of merge units {at} {count}")
    taken_ns = _taken_ns(bench, found, np.full(count, at * block), block, rng)
    return None if taken_ns is None else mostly(taken_ns, limit_ns)


def mostly(taken_ns: NDArray[Any], limit_ns: float) -> bool | None:
    """Whether most writes that are known take longer; None if that is not clear."""
    share = float((taken_ns[~np.isnan(taken_ns)] > limit_ns).mean())
    return None if 0.25 < share < 0.75 else share > 0.5


def _taken_ns(
    bench: Bench, found: Repeating, behind: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[Any] | None:
    """Write so far behind the beginnings of random units, after some beginnings.

    None if others always disturb half of it.
    """
    behind = np.concatenate([np.zeros(FIRST, np.int64), behind])
    units = rng.permutation(bench.info.capacity_bytes // found.size_bytes - 2) + 1
    places = np.resize(units, behind.size) * found.size_bytes - found.stream.phase_bytes + behind

    def write() -> NDArray[Any]:
        with write_through.writing(bench) as writer:
            return merge_runs.alone(writer, places, size, MOST_LOST)[FIRST:]

    return merge_runs.afresh(bench, write)
