"""In what units a read cache takes room, and how many it holds.

Single blocks far apart take a unit each; how many are kept is the number of units. Blocks in a row
take fewer, and their extent over that number is about a unit. To the byte it is found by pairs:
after so many single blocks, pairs of blocks at chosen places are read, and then the single ones
backwards. As many fewer are still there as the pairs took units: one each, or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes import reuse
from ssdscope.probes.rows import read_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.reuse import Kept

PAIRS_SHARE = 0.25
"""Pairs, as a share of the units there are."""
MOST_PAIRS = 1024
MOST_UNITS = 1 << 15
MOST_IN_ROW = 1 << 18
TRIES = 3
WITHIN = 0.25
"""How near to one, or two, units for a pair must come."""
CANDIDATES_FROM, CANDIDATES_TO = 0.7, 1.35
SPREAD = 4
"""Blocks lie so many times a unit apart, at least, where each shall take one of its own."""
SURVEY_BYTES = 128 << 10


@dataclass(frozen=True)
class Units:
    """What was found.

    Attributes
    ----------
    count
        Units the cache holds.
    unit_bytes
        Of a unit; None if no size explains all pairs.
    """

    count: Kept
    unit_bytes: int | None


class CacheUnits:
    """A measurement on one drive, whose read cache is on.

    Parameters
    ----------
    contrast
        By how much, in the logarithm, a read that is not in the cache is slower.
    """

    def __init__(self, bench: Bench, contrast: float, rng: np.random.Generator) -> None:
        self._bench = bench
        self._contrast = contrast
        self._rng = rng
        self._block = bench.info.logical_block_bytes
        self._capacity = bench.info.capacity_bytes

    def measure(self) -> Units | None:
        """Count the units, then find how large one is; None if what is kept cannot be counted."""
        few = self._singles(SURVEY_BYTES)
        if few is None:
            few = self._singles(SURVEY_BYTES // 8)
        if few is None:
            return None
        row = self._row(few.count)
        if row is None:
            return None
        about = row / few.count
        apart = max(int(SPREAD * about), SURVEY_BYTES)
        count = few if apart <= SURVEY_BYTES else self._singles(apart)
        if count is None:
            return None
        return Units(count, self._unit(count.count, row))

    def _spaced(self, apart_bytes: int, count: int) -> NDArray[np.int64]:
        """Give so many blocks at least so far apart, as far as there is room, in random order."""
        shift = int(self._rng.integers(0, apart_bytes // self._block))
        slots = self._distinct(self._capacity // apart_bytes - 1, count)
        return slots * apart_bytes // self._block * self._block + shift * self._block

    def _distinct(self, below: int, count: int) -> NDArray[np.int64]:
        """Draw different whole numbers, in random order."""
        if below <= 4 * count:
            return self._rng.permutation(below)[:count]
        return self._rng.permutation(np.unique(self._rng.integers(0, below, 2 * count)))[:count]

    def _singles(self, apart_bytes: int) -> Kept | None:
        grid = self._spaced(apart_bytes, MOST_UNITS)
        return reuse.kept(
            self._bench, lambda which: grid[which], grid.size, self._contrast, self._rng
        )

    def _row(self, units: int) -> float | None:
        """Give the bytes of neighbouring blocks that are kept, every other one read, downwards."""
        step = 2 * self._block
        count = max(2 * units, reuse.FIRST)
        while count * step <= self._capacity // 2 and count <= MOST_IN_ROW:
            kept = self._downwards(count, step)
            if kept is not None and kept.high <= reuse.FILLED_TO * count:
                return float(kept.count * step)
            count *= 3
        return None

    def _downwards(self, count: int, step: int) -> Kept | None:
        back = np.unique(np.linspace(1, count, min(count, reuse.SAMPLES)).round().astype(np.int64))
        rounds = min(reuse.rounds_of(count), 4)
        top = self._rng.integers(count, self._capacity // step, rounds)
        first = (top[:, None] - np.arange(count)) * step
        again = (top[:, None] - (count - back)) * step
        logs = read_rows(self._bench, np.hstack([first, again]))[:, count:]
        return reuse.step_back(logs, back, self._contrast)

    def _unit(self, count: int, row_bytes: float) -> int | None:
        """Give the one size, in whole blocks, that explains how much room pairs take."""
        low = max(row_bytes - 2 * self._block, self._block) / count
        high = row_bytes / max(count - 1, 1) + 2 * self._block / count
        blocks = np.arange(
            max(int(low * CANDIDATES_FROM) // self._block, 1),
            int(high * CANDIDATES_TO) // self._block + 2,
        )
        middle = (low + high) / 2 / self._block
        found = [
            int(each) * self._block
            for each in blocks[np.argsort(np.abs(blocks - middle), kind="stable")]
            if self._explains(count, int(each) * self._block)
        ]
        return found[0] if len(found) == 1 else None

    def _explains(self, count: int, unit: int) -> bool:
        """Find where units of a size would begin, and whether pairs bear that out."""
        block = self._block
        if unit == block:
            return self._units_per_pair(count, unit, 0, unit) == 2
        low, high = 0, unit  # a unit begins behind low, at high at the latest
        while high - low > block:
            middle = (low + high) // (2 * block) * block
            taken = self._units_per_pair(count, unit, low, middle)
            if taken is None:
                return False
            low, high = (low, middle) if taken == 2 else (middle, high)
        return (
            self._units_per_pair(count, unit, high, high + unit - block) == 1
            and self._units_per_pair(count, unit, high - block, high) == 2
            and self._units_per_pair(count, unit, high, high + unit // 2 // block * block) == 1
        )

    def _units_per_pair(self, count: int, unit: int, first: int, second: int) -> int | None:
        """Say whether two places, the same in every unit of a size, share one; None if some do."""
        for _ in range(TRIES):
            taken = self._taken(count, unit, first, second)
            if taken is not None:
                return taken
        return None

    def _taken(self, count: int, unit: int, first: int, second: int) -> int | None:
        pairs = min(max(round(PAIRS_SHARE * count), 2), MOST_PAIRS, max(count // 3, 1))
        turns = max(self._capacity // unit // 3 - 1, 1)
        pairs = min(pairs, turns)
        apart = max(SPREAD * unit, SURVEY_BYTES // 8)
        singles = count + max(count // 8, 2)
        back = np.arange(max(count - 3 * pairs, 1), count + 1)
        rounds = 3 if count <= reuse.REPEATED_BELOW else 1
        stories = []
        for _ in range(rounds):
            which = self._spaced(apart, singles)
            # Not every second or third unit: sizes twice or three times as large would fit, too.
            third = self._distinct(turns, pairs)
            where = (3 * third + self._rng.integers(0, 2, pairs)) * unit
            # The upper one first, so that no drive takes neighbours for a row of reads.
            paired = np.column_stack([where + second, where + first]).ravel()
            stories.append(np.concatenate([which, paired, which[which.size - back]]))
        logs = read_rows(self._bench, np.array(stories))[:, singles + 2 * pairs :]
        kept = self._kept_of(logs, back)
        taken = (count - kept) / pairs
        nearest = 1 if taken < 1.5 else 2
        return nearest if abs(taken - nearest) <= max(WITHIN, 0.6 / pairs) else None

    def _kept_of(self, logs: NDArray[np.float64], back: NDArray[np.int64]) -> int:
        """Give how far back reads are fast; they may all be slow."""
        slow = np.median(logs, axis=0)
        level = float(np.median(slow[-max(len(slow) // 8, 1) :])) - self._contrast / 2
        fast = slow < level
        # One wild read does not count: as many slow ones before the end as fast ones behind it.
        misfit = np.concatenate([[0], np.cumsum(~fast)]) + np.concatenate(
            [np.cumsum(fast[::-1])[::-1], [0]]
        )
        return int(back[0] - 1 + np.argmin(misfit))
