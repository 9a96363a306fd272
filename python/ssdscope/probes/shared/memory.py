"""What stays in a memory: pairs of reads, and how many different things a drive keeps.

The second read of a pair finds what the first brought in, or does not. To count things, they are
read one after the other, then again backwards. If a memory gives up what was used longest ago (or
first), the last ones read are still there, however many were read before. Backwards they are fast,
and all are slow from the first that is gone on. Repeating one that is there puts out no other, so
that not all need be read again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.levels import QUARTILES
from ssdscope.inference.series import Series, joined
from ssdscope.inference.step import steps
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import MIN_REQUEST_BYTES, WAITS_NS
from ssdscope.probes.bench.rows import random_blocks, read_rows, slow_changes
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["Again", "Backwards", "Count", "Levels", "count_of", "kept_bytes", "second_ns"]

PAIRS = 512
"""Of each kind."""
FIRST, GROWTH = 8, 4
SAMPLES = 512
"""Of one story, that are read again."""
MOST = 1 << 17
"""Things that are read in a story."""
READ_AGAIN, STORIES = 8 * SAMPLES, 48
"""Reads of all stories of a length, about; and at most so many of few things."""

OTHERS_SHARE = 0.01
"""Of the things that are kept, that the reads of others may put out."""
EVEN = 0.3
"""Of the drive, that places one behind the other are apart at least."""


def second_ns(
    bench: Bench, count: int, drawn: Callable[[slice], NDArray[Any]]
) -> NDArray[np.float64]:
    """Read so many pairs; return what the second of each takes, without what drifts.

    Parameters
    ----------
    drawn
        Draws both places of a part of the pairs.
    """
    logs = read_rows(bench, drawn(slice(0, count)), drawn)
    usual = slow_changes(logs[:, 0])
    return np.asarray(np.exp(logs[:, 1] - usual + np.median(usual)).round())


@dataclass(frozen=True, kw_only=True)
class Again(Plan):
    """Second reads of two kinds in turn: `x` is 0 for the one, 1 for the other.

    Attributes
    ----------
    below_blocks
        How far the second lies below the first, for each kind; None if it may be anywhere.
    """

    below_blocks: tuple[int | None, int | None]

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read both of each pair, one behind the other; what counts is the second read."""
        block, capacity = bench.info.logical_block_bytes, bench.info.capacity_bytes
        kinds = np.arange(2 * PAIRS) % 2

        def drawn(part: slice) -> NDArray[np.int64]:
            first, other = random_blocks(rng, block, capacity, (2, kinds[part].size), block)
            second = [
                other if below is None else first - below * block for below in self.below_blocks
            ]
            return np.column_stack([first, np.choose(kinds[part], second)])

        times = second_ns(bench, kinds.size, drawn)
        return Series.of(kinds, times, stratum=np.arange(kinds.size) // 2)


@dataclass(frozen=True, kw_only=True)
class Backwards(Plan):
    """Ever more places, each in another thing, until the farthest back are as slow as new ones.

    The series has how far back a place was (`x`), what it took (`y`), and of which story it is.

    Attributes
    ----------
    thing_bytes, edge_bytes
        What lies in one thing, and where one of them begins.
    elsewhere
        Whether another block of each thing is read the second time, if there is one.
    margin_bytes
        At either end of a thing, where nothing is read.
    first
        How many things are read in the first stories.
    """

    thing_bytes: int
    edge_bytes: int = 0
    elsewhere: bool = False
    margin_bytes: int = 0
    first: int = FIRST

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read stories, each several times as long as the one before."""
        there = int((bench.info.capacity_bytes - self.edge_bytes) // self.thing_bytes)
        most, count = min(there, MOST), self.first
        parts: list[Series] = []
        while True:
            count = min(count, most)
            back = np.unique(np.round(np.linspace(1, count, min(count, SAMPLES))).astype(np.int64))
            stories = max(min(READ_AGAIN // count, STORIES), 1)
            told = [self._story(bench, rng, there, count, back) for _ in range(stories)]
            logs = np.array([each for each, _ in told])
            y = np.exp(logs[:, count:]).round().ravel()
            quiet = np.repeat([alone for _, alone in told], back.size)
            strata = np.full(y.size, len(parts))
            parts.append(Series.of(np.tile(back, stories), y, stratum=strata, valid=quiet))
            if count == most or _all_gone(logs[:, :count], logs[:, count:]):
                every = joined(parts)
                return every.where(np.argsort(every.x, kind="stable"))
            count *= GROWTH

    def _story(
        self,
        bench: Bench,
        rng: np.random.Generator,
        there: int,
        count: int,
        back: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], bool]:
        """Read a story, again if others were there; give times, and whether nobody was.

        What others read takes room, too.
        """
        for wait_ns in WAITS_NS:
            which = _spread(rng, there, count)
            first, second = self._blocks(bench, rng, which)
            before = bench.foreign
            logs = read_rows(bench, [np.append(first, second[count - back])])[0]
            alone = sum(bench.foreign.since(before)) <= OTHERS_SHARE * count * MIN_REQUEST_BYTES
            if alone:
                break
            bench.idle(wait_ns)
        return logs, alone

    def _blocks(
        self, bench: Bench, rng: np.random.Generator, which: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw a block of each thing, and what is read of it the second time."""
        block = bench.info.logical_block_bytes
        begins = self.edge_bytes + which * self.thing_bytes + self.margin_bytes
        start = -(-begins // block)
        room = max((self.thing_bytes - 2 * self.margin_bytes) // block, 1)
        if not self.elsewhere or room == 1:
            places = (start + rng.integers(0, room, which.shape)) * block
            return places, places
        # The second lies below the first, so that no drive takes them for a row and reads ahead.
        first = rng.integers(1, room, which.shape)
        return (start + first) * block, (start + rng.integers(0, first)) * block


def _spread(rng: np.random.Generator, there: int, count: int) -> NDArray[np.int64]:
    """Draw so many different things, as even over any parts of the drive as can be (Weyl 1916).

    Of an array, each member then has its share of them.
    """
    about = int(rng.uniform(EVEN, 1 - EVEN) * there)
    step = next(each for each in range(about, about + there) if math.gcd(each, there) == 1)
    return np.asarray((rng.integers(there) + step * np.arange(count, dtype=np.int64)) % there)


def _all_gone(cold: NDArray[np.float64], again: NDArray[np.float64]) -> bool:
    """Tell whether the farthest back are nearer to new ones than to the nearest."""
    part = -(-again.shape[1] // FIRST)
    near, far = (float(np.median(each)) for each in (again[:, :part], again[:, -part:]))
    return far > (near + float(np.median(cold))) / 2 and far > near


@dataclass(frozen=True)
class Levels:
    """What a read takes that finds what it needs in memory, and one that does not."""

    fast: float
    slow: float

    @classmethod
    def of(cls, again: Series) -> Levels:
        """Return those of pairs, of which the second (`x` 0) finds it there, or (1) does not."""
        there, gone = (again.y[again.x == each] for each in (0, 1))
        # The faster quarter is surely from memory, whatever the others are.
        return cls(float(np.quantile(there, QUARTILES[0])), float(np.median(gone)))

    @property
    def between(self) -> float:
        """Where the one ends and the other begins."""
        return math.sqrt(self.fast * self.slow)

    def told_apart(self, times: Series) -> Series:
        """Say of each time which of the two it is: what else it waits for is another question."""
        return times.with_y(np.where(times.y < self.between, self.fast, self.slow))


@dataclass(frozen=True)
class Count:
    """How many things are kept, and what it may be; by how much others are slower, as a share."""

    kept: float
    low: float
    high: float
    effect: float


def count_of(backwards: Series) -> Count | None:
    """Count what is kept, by the step of two levels; None without one.

    Where there are several steps, as of members of an array that keep more or less, it may be any.
    """
    every = [each for each in steps(backwards) if each.detail["after"] > each.detail["before"]]
    if not every:
        return None
    best = max(every, key=lambda each: each.score)
    ends = [each.interval for each in every if each.interval]
    kept = (best.estimate or 0.0) - 1
    low = min(kept, *(end for end, _ in ends))
    high = max(kept, *(end - 1 for _, end in ends))
    # As much may be lost to the reads of others.
    return Count(kept, low, math.floor(high * (1 + OTHERS_SHARE)), best.effect)


def kept_bytes(
    name: str, times: Series, levels: Levels, thing_bytes: int, words: str, told: Evidence
) -> Finding:
    """Answer a property: how many bytes the things cover that are kept.

    Parameters
    ----------
    words
        What the things are called, in the plural.
    """
    found = count_of(levels.told_apart(times))
    if found is None:
        return verdict.refused(name, Reason.RANGE_TOO_SMALL, told)
    shown = Exhibit(
        name=f"{words}-read-backwards",
        title=f"Different {words}, read again backwards",
        caption=f"Fast as long as they are in memory; it holds so many {words}.",
        x=Axis(f"{words} back", log=True),
        y=Axis("latency", "ns"),
        series=(series("read again", times.x, times.y, "points"),),
        fitted=(Step(at=found.kept, low=found.low, high=found.high, word=words),),
    )
    told = told.noting(**{words: found.kept}).showing(shown)
    ends = (found.low * thing_bytes, found.high * thing_bytes)
    value = int(found.kept * thing_bytes)
    return verdict.detected(name, value, ends, found.effect, told)
