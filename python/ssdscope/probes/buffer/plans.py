"""What is measured of a write buffer: bursts that fill it, and what of them is read back.

The question, the physics and the decision stand in `buffer`.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.filling import Bursts, waits
from ssdscope.probes.buffer.extent import extent
from ssdscope.probes.buffer.locked import locked
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

FIRST_WRITES, MOST_WRITES = 64, 1 << 14
SPACING, WIDEST = 128 * 1024, 2 << 20
"""Of writes, at first; and as far apart as can be: twice the largest unit."""
DEPTHS = (1, 8)
"""Writes at once: more where writes one at a time never fill it."""
RUNS, SOME, FEW = 8, 3, 512
"""Of a burst. Of more writes than few one comes first, and then some."""
READ = 256
"""Blocks read from memory, and from flash."""
MORE = 1.25
"""Times as many are held of writes that share units: half as many again, at least."""
PART, ROUGH, FINE, FINEST = 16, 64, 256, 1024
"""Reads that tell one from two, a length, and the size, also where much has left before."""
LONGEST = 32 * 1024
"""Of a write: longer ones drain as fast as they come."""
LITTLE = 64
"""Parts of the capacity, one of which may be written to be surer."""
LARGE_BYTES = 1 << 35
"""Of capacity: there deep bursts, which write much and cost little, come first."""
LONGER = 4
"""Times what should fill it, at most."""
WAITS, GAPS, FLUSHES, READS, HOW = range(5)
"""Kinds of rows of the first plan."""


@dataclass(frozen=True, kw_only=True)
class Buffered(Plan):
    """What needs the buffer on."""

    write_cache: bool = True

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Switch it on for the time."""
        cache = bench.info.write_cache
        off = cache.control == "switchable" and not cache.on
        with bench.caches(write=True) if off else nullcontext():
            return self.taken(bench, rng)

    @abstractmethod
    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Measure with the buffer on."""

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes; all of them together no more than a capacity."""
        return info.capacity_bytes // (7 if info.capacity_bytes >= LARGE_BYTES else 6)


@dataclass(frozen=True, kw_only=True)
class Fill(Buffered):
    """Ever longer bursts until all runs wait at one write; and what flushes and reads then take."""

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Find how bursts fill it, and measure."""
        found = next(self._filled(bench), None)
        if found is None:
            return Series.of([], [])
        bursts, gaps = found
        runs, count = gaps.shape
        flushes = np.array([bursts.flushed_ns(count) for _ in range(RUNS)])
        parts: Sequence[tuple[int, Any, Any]] = (
            (WAITS, np.arange(count), waits(gaps).sum(axis=0)),
            (GAPS, np.arange(count), gaps.mean(axis=0).round()),
            (FLUSHES, np.tile([1, 0], RUNS), flushes.ravel()),
            (READS, np.repeat([0, 1], READ), np.concatenate(bursts.read_ns(READ, count))),
            (HOW, [bursts.spacing, runs], [bursts.depth, 0]),
        )
        kinds = np.repeat([kind for kind, _, _ in parts], [len(x) for _, x, _ in parts])
        x, y = (np.concatenate([each[at] for each in parts]) for at in (1, 2))
        return Series.of(x, y, stratum=kinds)

    def _filled(self, bench: Bench) -> Iterator[tuple[Bursts, NDArray[np.float64]]]:
        """Try what room there is: closer together, where all places are in the buffer."""
        for depth in DEPTHS:
            spacing, count, places = SPACING, FIRST_WRITES, 0
            while spacing >= bench.info.logical_block_bytes and places < MOST_WRITES:
                bursts = Bursts(bench, spacing, depth)
                places = bursts.places.size
                while count <= min(2 * places, MOST_WRITES):
                    gaps = np.empty((0, count))
                    for runs in (RUNS,) if count <= FEW else (1, SOME, RUNS):
                        more = [bursts.run(count).gaps_ns for _ in range(runs - len(gaps))]
                        gaps = np.concatenate([gaps, more])
                        if not _may_fill(gaps):
                            break
                    else:
                        yield bursts, gaps
                    count *= 2
                count, spacing = min(count, MOST_WRITES), spacing // 2


def _may_fill(gaps: NDArray[np.float64]) -> bool:
    """Whether more runs are worth while; of one run, whether more waits behind its middle."""
    if len(gaps) == 1:
        first, behind = np.array_split(waits(gaps)[0], 2)
        return bool(behind.sum() > first.sum())
    return _locks(_first_wait(gaps), len(gaps))


def _first_wait(gaps: NDArray[np.float64]) -> Weighed:
    waiting = waits(gaps).sum(axis=0)
    return locked(Series.of(np.arange(waiting.size), waiting), len(gaps))


def _locks(found: Weighed, runs: int) -> bool:
    """Whether runs wait at one write, as far as so many can tell."""
    return verdict.is_found(found, "locked", times=(runs / RUNS) ** 2)


@dataclass(frozen=True, kw_only=True)
class Held(Buffered):
    """Reads behind bursts that just fill the buffer.

    `x` is how long before the end of its burst it was written, as a share of its writes, which are
    the stratum; `y` what the read took; `time_ns` when, from the last write on.
    """

    spacing: int
    depth: int
    least: int
    reads: int
    cells: int = FINE
    at: tuple[int, ...] = (0,)
    length: int = 0
    scatter: int = 0

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Find what fills it, and read."""
        bursts = Bursts(bench, self.spacing, self.depth, self.scatter, self.length)
        return self.read(bursts, self.end(bursts), rng)

    def read(self, bursts: Bursts, end: int, rng: np.random.Generator) -> Series:
        """Read behind bursts of so many writes."""
        if not end:
            return Series.of([], [])
        rows: list[tuple[float, ...]] = []
        for mine in np.array_split(rng.permutation(self.cells), -(-self.cells // self.reads)):
            share = (mine + rng.random(mine.size)) / self.cells
            spans = min(end, bursts.places.size)
            burst = bursts.run(end, (share * spans).astype(int), self.at)
            rows += zip(share, burst.read_ns, [spans] * mine.size, burst.read_at_ns, strict=True)
        x, y, spans_of, since = np.array(rows).T
        return Series.of(x, y, stratum=spans_of, time_ns=since)

    def affordable(self, info: DeviceInfo, end: int) -> int:
        """Say how many reads there may be behind bursts of so many writes, that write little."""
        burst = end * (self.length or info.logical_block_bytes)
        return self.reads * info.capacity_bytes // (LITTLE * burst)

    def end(self, bursts: Bursts) -> int:
        """Give how many writes just fill it, as the runs wait for the next; 0 if they never do."""
        count = self.least + self.least // 4 + FIRST_WRITES // 2
        most = LONGER * count
        while count <= most:
            runs = RUNS if count <= FEW else RUNS // 2
            gaps = np.array([bursts.run(count, (), self.at).gaps_ns for _ in range(runs)])
            gaps = gaps.reshape(runs, count, -1).max(axis=2)
            first = _first_wait(gaps)
            if first.estimate is not None and _locks(first, runs):
                waiting = waits(gaps).sum(axis=0)
                waiting[: int(first.estimate)] = 0
                # Where some runs do not wait it is not full in all: that will do for a rough count.
                enough = np.flatnonzero(
                    waiting >= (runs - runs // RUNS if self.cells >= FINE else runs // 2)
                )
                if enough.size:
                    return int(enough[0])
            count *= 2
        return 0


@dataclass(frozen=True)
class Told:
    """What reads say: less than this is from memory; which shares of memory and flash are less."""

    below_ns: float
    memory: float = 1.0
    flash: float = 0.0

    def count(self, rows: Series) -> Weighed:
        """Say how many places are held, corrected for what is misread."""
        if not len(rows):
            return extent(rows, 0.0)
        spans = float(1 / np.mean(1 / rows.stratum))
        found = extent(rows.with_y(rows.y < self.below_ns), spans)
        if found.estimate is None or found.interval is None:
            return found
        # How often memory is misread is known from as few reads; as if one more had been (Laplace).
        misread = 1 - self.memory + 1 / READ
        unsure = 2 * found.estimate * (misread / READ) ** 0.5

        def true(places: float) -> float:
            held = (places - self.flash * spans) / (self.memory - self.flash)
            return min(max(held, 0.0), spans)

        low, high = found.interval
        ends = true(low - unsure), true(high + unsure)
        return replace(found, estimate=true(found.estimate), interval=ends)


@dataclass(frozen=True, kw_only=True)
class Spread(Buffered):
    """How many are held, `y`, of writes at several distances, `x`.

    At that which filled it, as far apart as can be, and ever closer until several share a unit.
    """

    spacing: int
    depth: int
    least: int
    reads: int
    below_ns: float

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Count, wide apart first."""
        counts: dict[int, float] = {}
        block = bench.info.logical_block_bytes

        def count(spacing: int) -> float:
            part = Held(
                spacing=spacing, depth=self.depth, least=self.least, reads=self.reads, cells=ROUGH
            )
            held = Told(self.below_ns).count(part.taken(bench, rng))
            counts[spacing] = held.estimate or 0.0
            return counts[spacing]

        here, wide, spacing = count(self.spacing), self.spacing, self.spacing
        while wide < WIDEST and bench.info.capacity_bytes // (2 * wide) > 2 * here + 8:
            wide *= 2
        alone = (count(wide) if wide > spacing else 0.0) or here
        while 0 < here < MORE * alone and spacing > block:
            spacing = max(spacing // 4, block)
            here = count(spacing)
        y = np.array(list(counts.values()))
        return Series.of(list(counts), y, valid=y > 0)


@dataclass(frozen=True, kw_only=True)
class _OneOrSeveral(Buffered):
    """Places held, `y`, where what is written takes one unit, `x` 1, or several, `x` 0.

    The last row has `x` -1, and the unit.
    """

    spacing: int
    depth: int
    least: int
    reads: int
    alone: float
    below_ns: float

    def _held(self, *at: int, length: int = 0, units: int = 1) -> Held:
        return Held(
            spacing=self.spacing, depth=self.depth, least=self.least // units, reads=self.reads,
            cells=PART, at=at, length=length,
        )  # fmt: skip

    def _is_one(self, bench: Bench, rng: np.random.Generator, how: Held) -> bool:
        """Whether as many places are held as of blocks alone, rather than half as many."""
        told = Told(self.below_ns)
        return (told.count(how.taken(bench, rng)).estimate or 0.0) > self.alone / 2**0.5

    def _in_turn(
        self, bench: Bench, rng: np.random.Generator, ways: Sequence[Held], unit: int
    ) -> Series:
        told = Told(self.below_ns)
        several = [Bursts(bench, self.spacing, self.depth, length=how.length) for how in ways]
        ends = [how.end(bursts) for how, bursts in zip(ways, several, strict=True)]
        repeats = RUNS if self.least <= FEW else RUNS // 2
        counts = [
            told.count(how.read(bursts, end, rng)).estimate or 0.0
            for _ in range(repeats)
            for how, bursts, end in zip(ways, several, ends, strict=True)
        ]
        x = np.append(np.tile([1, 0], repeats), -1)
        y = np.append(counts, unit)
        return Series.of(x, y, stratum=np.arange(y.size) // 2, valid=y > 0)


@dataclass(frozen=True, kw_only=True)
class Pairs(_OneOrSeveral):
    """Blocks at both ends of a unit, against a write across its end.

    Where one ends is found first: the most that two may be apart, and take one. Of a unit of one
    block: a block, against a write of three.
    """

    unit: int

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Find an end, and compare."""
        block = bench.info.logical_block_bytes
        if self.unit <= block:
            ways = self._held(0), self._held(0, length=3 * block, units=3)
            return self._in_turn(bench, rng, ways, self.unit)
        fits, end = 0, self.unit
        while end - fits > block:
            middle = (fits + end) // 2 // block * block
            one = self._is_one(bench, rng, self._held(0, middle))
            fits, end = (middle, end) if one else (fits, middle)
        within = self._held(end - self.unit, end - block)
        across = self._held(end - block, length=2 * block, units=2)
        return self._in_turn(bench, rng, (within, across), self.unit)


@dataclass(frozen=True, kw_only=True)
class Stretches(_OneOrSeveral):
    """Writes of a whole unit, against one across its end: for what soon lets go of single blocks.

    The unit is found first: the most that a write can be, from where one ends, and take one.
    """

    def taken(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Find an end and the unit, and compare."""
        block = bench.info.logical_block_bytes

        def most(begin: int) -> int:
            """Double, then bisect, while such writes take one unit."""
            fits, crosses = block, 0
            while crosses - fits != block:
                length = (fits + crosses) // 2 // block * block if crosses else 2 * fits
                if length > LONGEST:
                    return 0
                one = self._is_one(bench, rng, self._held(begin, length=length))
                fits, crosses = (length, crosses) if one else (fits, length)
            return fits

        end = most(0)
        unit = most(end) if end else 0
        if end > unit or unit <= block:
            return Series.of([], [])
        across = self._held(end - block, length=2 * block, units=2)
        return self._in_turn(bench, rng, (self._held(end, length=unit), across), unit)
