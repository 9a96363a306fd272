"""Streams that write merge units in order, in turn: what that costs, in sixteenths of a unit.

What the probe `open_units` counts. Others' writes take log blocks, too, and idle time may free
them, so that only stretches count in which nobody else wrote; reading takes none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import WAITS_NS
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.overwriting import write_through
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

LONG_UNITS = 128
MEASURED_UNITS, PAIR_LOOKS = 48, 3
BY_CHANCE = 0.001
"""Probability that two streams are dearer than one."""
ROUNDS = 6
ENOUGH = 8
"""Writes behind a whole round, that nobody disturbed."""
PEACE = 4
"""Writes that are known to be disturbed or not."""
COARSE_TRIES, TRIES = 6, 16
LONGEST_WAIT_NS, WAITS_GROW = 20_000_000_000, 1.5
"""For others to go away."""
RARE = 5
"""Writes that may be dear for another reason."""
DEARER = 1.2
FEWEST_ALONE = 12
"""Costs of two streams before which others wrote nothing."""
SECONDS, WAITS = 12, 2.0
"""Pairs of streams, and times what three of four first writes of the first stream take at most that
those of the second do at least, which wait for a merge of the first."""
PIECE = 16
"""Writes at once, fewer while others disturb."""
MOST_LOST = 0.5
"""Share that others may disturb: of the rest the median or mean of costs that differ manifold."""


@dataclass
class Streams:
    """Writes to merge units in turn, and what they cost.

    Attributes
    ----------
    unit_bytes, phase_bytes
        Of a merge unit.
    part_bytes
        Of a write.
    costs
        Mean latencies by number of streams, in nanoseconds; the last that was measured.
    _others_bytes
        What others had written when two streams ended last.
    """

    bench: Bench
    unit_bytes: int
    phase_bytes: int
    part_bytes: int
    rng: np.random.Generator
    costs: dict[int, float] = field(default_factory=dict)
    _others_bytes: int = 0

    @property
    def units(self) -> int:
        """Whole merge units on the drive."""
        return (self.bench.info.capacity_bytes + self.phase_bytes) // self.unit_bytes

    def _places(self, count: int, rounds: int) -> NDArray[np.uint64]:
        """Give first bytes of so many rounds over `count` units that lie side by side."""
        first = int(self.rng.integers(1, self.units - count)) + np.arange(count)
        starts = first * self.unit_bytes - self.phase_bytes
        steps = np.arange(rounds) * self.part_bytes
        return (steps[:, None] + starts[None, :]).astype(np.uint64).ravel()

    def briefly(self, count: int) -> float:
        """Cost of a few rounds over so many units, behind one in which nobody else wrote.

        Where others never leave as much time, of the end of the longest stretch without them:
        beyond the limit writes are dear before all streams have come round.
        """
        longest = np.empty(0)
        for stretch in self._runs(count, self._rounds(ROUNDS), COARSE_TRIES):
            longest = max(longest, stretch, key=len)
            if longest.size >= self._needed(count, ROUNDS):
                break
        if longest.size < ENOUGH:
            raise Stopped(Reason.INTERFERENCE, "others used the drive during all streams")
        self.costs[count] = float(np.median(longest[min(count, longest.size - ENOUGH) :]))
        return self.costs[count]

    def fits(self, count: int, limit_ns: float, rounds: int = ROUNDS) -> bool:
        """Whether so many streams go on without merges, however often they come round.

        A write of another user takes a log block, and streams that just fitted merge one another
        for a round, or two if the oldest goes first; idle time may free all log blocks. So only
        stretches count in which nobody else wrote, behind a round of that kind: of cheap writes
        beyond a whole round, or dear ones behind one.
        """
        for stretch in self._runs(count, self._rounds(rounds), TRIES, settling=count):
            last = stretch[-self._needed(count, rounds) :]
            if last.size < self._needed(count, rounds):
                continue
            if np.sort(last)[-min(RARE, last.size // 2)] <= limit_ns:
                return True
            if np.median(last[-ENOUGH:]) > limit_ns:
                return False
        raise Stopped(Reason.INTERFERENCE, f"others used the drive whenever {count} streams wrote")

    def _rounds(self, most: int) -> int:
        # The last one ends all units, which are erased then, whether they fit or not.
        parts = self.unit_bytes // self.part_bytes
        return min(most, max(parts - 1, min(parts, 2)))

    def _needed(self, count: int, rounds: int) -> int:
        """Count the writes of a whole round and enough of the next ones."""
        return count + min(ENOUGH, (self._rounds(rounds) - 1) * count)

    def _runs(
        self, count: int, rounds: int, tries: int, settling: int = 0
    ) -> Iterator[NDArray[np.float64]]:
        """Write so many streams, each time after a longer pause; give what was at peace longest.

        Longer than need be is no pause: what others write takes log blocks, which are merged first.
        """
        shorter = TRIES / tries * (np.arange(tries)[::-1] + self.rng.random())
        waits_ns = LONGEST_WAIT_NS / WAITS_GROW**shorter
        for wait_ns in waits_ns:
            self.bench.renew(State.FILLED)
            self.bench.idle(int(wait_ns))
            places = self._places(count, rounds)
            enough = places.size if rounds > ROUNDS else ROUNDS // 2 * count + ENOUGH
            yield self._in_peace(places, enough, settling)

    def _in_peace(
        self, places: NDArray[np.uint64], enough: int, settling: int
    ) -> NDArray[np.float64]:
        """Write one by one; latencies of the longest stretch in which others wrote nothing.

        What they read takes no log block; writes that it disturbs much are left out.

        Parameters
        ----------
        enough
            How many writes of a stretch need no more behind them.
        settling
            Writes that do not count behind such of others.
        """
        longest = stretch = np.empty(0)
        unsettled = 0
        for begin in range(0, places.size, PEACE):
            before = self.bench.foreign
            try:
                more = write_through(self.bench, places[begin : begin + PEACE], self.part_bytes)
            except Stopped as stop:
                if stop.reason is not Reason.INTERFERENCE:
                    raise
                more = np.empty(0)
            wrote = self.bench.foreign.since(before).written_bytes > 0
            unsettled = settling if wrote else max(unsettled - more.size, 0)
            stretch = np.empty(0) if wrote or unsettled else np.append(stretch, more)
            longest = max(longest, stretch, key=len)
            if stretch.size >= enough:
                break
        return longest

    def _written(self, places: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Write one by one; latencies, NaN where others disturbed."""

        def write(part: slice) -> NDArray[np.float64]:
            return write_through(self.bench, places[part], self.part_bytes)

        return between_bursts(
            self.bench, places.size, write, longest=PIECE, again=False, most_lost=1.0
        )

    def second_waits(self) -> bool:
        """Whether each second stream that begins waits for a merge of the first, which did not.

        Both are written to their ends, so that nothing is left open; a drive with log blocks for
        several streams, or for single units, would give the second what it gave the first. Unless
        others write meanwhile: what they write may leave one log block free each time. Another
        unit now and then changes which planes have their turn.
        """
        rounds = min(SECONDS, self.units // 2)
        parts = self.unit_bytes // self.part_bytes
        pairs: list[NDArray[np.float64]] = []
        for _ in range(rounds):
            if self.rng.integers(2):
                self._whole(1)
            pairs.append(self._written(self._places(2, parts)))
        written = np.array(pairs)
        if rounds <= SECONDS // 2 or np.isnan(written).any():
            return False
        first, second = written[:, 0], written[:, 1]
        if np.percentile(second, 25) < WAITS * np.percentile(first, 75):
            return False
        self.costs[1], self.costs[2] = float(np.median(first)), float(np.median(second))
        return True

    def pair_over_one(self) -> bool | None:
        """Say whether two streams cost more than one, once any common log blocks must be full.

        Two units are written one after the other, and two in turn, so that what is merged now and
        then, as others have written, is in both alike. None if it is not clear.

        Raises
        ------
        Stopped
            If they do, but others wrote before nearly each two: what these had left free, one log
            block each, may have been taken.
        """
        from scipy.stats import mannwhitneyu

        every, crowded = np.empty((0, 3)), False
        for _ in range(PAIR_LOOKS):
            every = np.concatenate([every, self._pairs()])
            alone = every[every[:, 2] == 0]
            enough = len(alone) >= min(FEWEST_ALONE, len(every))
            spent = (alone if enough else every)[:, :2]
            known = [column[~np.isnan(column)] for column in spent.T]
            self.costs[1], self.costs[2] = (float(np.median(column)) for column in known)
            little_more = known[0] * (1 + DEARER) / 2
            p_value = float(mannwhitneyu(known[1], little_more, alternative="greater").pvalue)
            halves = [np.nanmedian(spent[half::2], axis=0) for half in (0, 1)]
            dearer = p_value <= BY_CHANCE and all(two >= DEARER * one for one, two in halves)
            crowded = dearer and not enough
            if dearer and enough:
                return True
            if p_value > BY_CHANCE and self.costs[2] < DEARER * self.costs[1]:
                return False
        if crowded:
            raise Stopped(Reason.INTERFERENCE, "others may have taken a log block of two")
        return None

    def _pairs(self) -> NDArray[np.float64]:
        """Give costs of two units one after the other, and of two in turn; shape (n, 3).

        The last column is not 0 where others wrote since two were written in turn before.
        """
        for wait_ns in (0, *WAITS_NS):
            self.bench.idle(wait_ns)
            self._others_bytes = self.bench.foreign.written_bytes
            for _ in range(min(LONG_UNITS, 2 * self.units) // 2):
                self._whole(2)
            rounds = range(min(MEASURED_UNITS, self.units) // 2)
            spent = np.array([self._two_of_each() for _ in rounds])
            if np.isnan(spent[:, :2]).mean() <= MOST_LOST:
                return spent
        raise Stopped(Reason.INTERFERENCE, "others used the drive during most streams")

    def _two_of_each(self) -> tuple[float, float, float]:
        """Give the cost of two units one after the other, of two in turn, and what others wrote.

        They come near each other, so that drift is in both, and in random order: four log blocks
        later the same planes may have their turn.
        """
        ones, two, others_bytes = [], float("nan"), 0
        for count in self.rng.permutation([1, 1, 2]):
            cost = self._whole(int(count))
            if count == 1:
                ones.append(cost)
                continue
            two, before = cost, self._others_bytes
            self._others_bytes = self.bench.foreign.written_bytes
            others_bytes = self._others_bytes - before
        return float(np.mean(ones)), two, float(others_bytes)

    def _whole(self, count: int) -> float:
        """Cost of writing so many units to their ends; NaN if others disturbed."""
        places = self._places(count, self.unit_bytes // self.part_bytes)
        latencies = self._written(places)
        return (
            float("nan") if np.isnan(latencies).mean() > MOST_LOST else float(np.nanmean(latencies))
        )
