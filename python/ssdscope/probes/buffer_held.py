"""How many writes of a burst a drive holds in its buffer: it is asked by reading them back.

What is in the buffer is read in the time of the link, what has left it in the time of flash. Of a
burst that has filled the buffer the last writes are there and the first are not; in between lies
the age (writes since) at which they left, and that is what the buffer holds, whatever left it
while it was filled. It never holds more, and when a write has waited for room it held no less,
but for what left until it was read: so a few ages are read behind each burst, the youngest
first, in ever narrower steps, and in the end behind bursts that end with the first waiting write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bursts import FIRST_WRITES
from ssdscope.stats.stalls import SLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bursts import Bursts

TRIED = 32
"""Writes that are read back at once, and others once they have left."""
TOLD = 0.9
"""Share of those that must lie on the right side of the threshold."""
AGES = 12
"""Read behind one burst."""
LOOKS = 12
MISREAD, ORDERED = 0.25, 0.04
"""Share of the ages of a burst that may contradict a single end of what is held: of a few around
it, and of many."""
FEW_WILD = 2.5
"""So few of them always may: spikes."""
GROUPS = 5
"""Of bursts whose shares are averaged."""
FEW_HELD = 0.2
FIRST, FEW = 2, 8
"""Writes of a burst that surely find room, and bursts of them that tell what they take."""
SHARES = 96
SOME, LEAST_SOME = 24, 4
CALIBRATED = 400
LEAVING, MORE_LEAVING = 0.02, 0.05
"""Share of what is held that may leave while some are read: to count, and to tell one from two."""
READ_BACK, MOST_WRITTEN, WRITTEN = 2000, 150_000, 0.125
"""Reads and writes that a share takes in all, and the share of the drive that these may write."""
FINE = 0.01
"""Share of what is held within which its end is known before the last bursts."""
AROUND = 0.04
"""Share of what is held, before and behind its end, in which ages are read in the end."""
GREW = (1.05, 1.15)
"""If ages so many times what is held are still there behind longer bursts, there is more room."""
LONGER = 1.5
WAITED = 1.25
"""Times the first writes of a burst take, from which on its last ones wait."""


@dataclass(frozen=True)
class Look:
    """Which spans are held behind a burst, by how many were written after them, ascending."""

    ages: NDArray[np.int64]
    held: NDArray[np.bool_]
    read_ns: NDArray[Any]
    write_ns: NDArray[Any]

    def held_to(self, misread: float = MISREAD) -> int | None:
        """Give how many of the ages are held; None if it is not the youngest of them."""
        gone_before = np.concatenate([[0], np.cumsum(~self.held)])
        held_behind = np.concatenate([np.cumsum(self.held[::-1])[::-1], [0]])
        misfit = gone_before + held_behind
        end = int(np.argmin(misfit))
        return end if misfit[end] <= misread * len(self.held) else None


@dataclass(frozen=True)
class Full:
    """A burst that fills the buffer, the spans of it that are held, and its writes at once."""

    spans: int
    held: float
    depth: int


@dataclass(frozen=True)
class Counts:
    """What was held behind some bursts.

    Attributes
    ----------
    spans : ndarray, shape (bursts,)
        Spans held.
    reading_ns
        How long it took to read those that were; if not the oldest leave first, all that were read.
    in_order
        Whether the oldest always leave first; else the counts are less exact.
    error
        Two relative standard errors of their mean, where few of many are read.
    """

    spans: NDArray[Any]
    reading_ns: float
    in_order: bool
    error: float = 0.0


@dataclass(frozen=True)
class _Part:
    """What is held of a burst, as a part of it tells; whether its last writes waited."""

    held: float
    waited: bool
    reading_ns: float


class Held:
    """Tells by the latency of reads what of a burst is in the buffer.

    Parameters
    ----------
    threshold_ns
        Reads that take less are from memory.
    alone_ns
        What a write takes if the buffer is empty.
    read_ns
        What a read from flash takes.

    Attributes
    ----------
    leaves_ns
        How long it takes until one more has left the full buffer; 0 if that is not known yet.
    """

    def __init__(
        self, bursts: Bursts, threshold_ns: float, alone_ns: float, read_ns: float
    ) -> None:
        self.bursts = bursts
        self.alone_ns = alone_ns
        self.leaves_ns = 0.0
        self._longer_ns: dict[int, float] = {}
        self._read_ns = read_ns
        self._rng = bursts.bench.rng("buffer_held")
        self._threshold_ns = threshold_ns

    @classmethod
    def told(cls, bursts: Bursts) -> Held | None:
        """Find the threshold; None if what was written last and what has left are read alike."""
        spans = np.arange(min(2 * TRIED, bursts.most_writes))
        alone, memory = bursts.read_at_once(spans)
        memory = memory[::2]
        flash = bursts.read_later(spans[1::2])
        # Pages that a chip still has in its register are read faster than others.
        usual = float(np.median(memory))
        threshold = min(float(np.sqrt(usual * np.median(flash))), SLOW * usual)
        told = (memory < threshold).mean() >= TOLD and (flash > threshold).mean() >= TOLD
        return cls(bursts, threshold, float(alone.mean()), float(flash.mean())) if told else None

    def left_behind(self, spans: int) -> bool:
        """Whether emptying leaves much of a burst of so many in the buffer."""
        self.bursts.run(spans, 1)
        latency = self.bursts.read_later(np.arange(max(spans - AGES, 0), spans))
        return bool((latency < self._threshold_ns).mean() > 1 - TOLD)

    def _waited(self, write_ns: NDArray[Any], alone_ns: float) -> bool:
        """Whether the last writes of a burst took longer than the first, or than one by one."""
        part = len(write_ns) // 4
        usual_ns = min(float(write_ns[:part].mean()), self.bursts.depth * alone_ns)
        return bool(write_ns[-part:].mean() > WAITED * usual_ns)

    def full(self, depth: int) -> Full | None:
        """Make bursts longer until writes wait and no more is held; None if that never is.

        Parameters
        ----------
        depth
            Writes at once.
        """
        self.bursts.depth = depth
        spans, surely = min(FIRST_WRITES, self.bursts.most_writes), 0
        while True:
            look = self._look(spans, np.arange(spans - 3, spans))
            if look.held.all():
                surely = spans
            elif self._waited(look.write_ns, self.alone_ns):
                count = self._count(spans, surely)
                longer = min(round(LONGER * spans), self.bursts.most_writes)
                again = longer if longer > spans else round((spans + (count or 0)) / 2)
                if count is not None and self._no_more(again, count):
                    return Full(spans, count, depth)
            if spans == self.bursts.most_writes:
                return None
            spans = min(round(LONGER * spans), self.bursts.most_writes)

    def _no_more(self, spans: int, count: float) -> bool:
        """Whether of bursts of another length hardly more is held."""
        low, high = (share * count + 2 for share in GREW)
        ages = np.unique(np.linspace(low, high, AGES).round())
        held = self._look(spans, ages[ages < spans].astype(np.int64)).held
        if not held.size or held.mean() < FEW_HELD:
            return True
        # If not the oldest leave first, some of any age are there.
        mixed = held.mean() < 1 - FEW_HELD
        return bool(mixed and self._share(spans) <= GREW[0] * count)

    def counts(self, spans: NDArray[np.int64], about: float) -> Counts | None:
        """Count what is held behind bursts of these lengths; None if ages do not tell."""
        if not self._in_order(int(spans[-1])):
            return self._shares(spans, about)
        held, reading_ns = [], []
        for longest in spans:
            half = max(AGES // 2, round(AROUND * about))
            ages = np.unique(int(about) + np.linspace(-half, half, AGES + 1).round())
            look = self._look(int(longest), ages[(ages >= 0) & (ages < longest)].astype(np.int64))
            end = look.held_to()
            if not end:
                about = self._count(int(longest)) or about
                continue
            if end == len(look.ages):
                about = float(look.ages[-1] + 1)
                continue
            # Of a step between two ages half is held.
            about = float(look.ages[end - 1] + look.ages[end] + 1) / 2
            reading_ns.append(float(look.read_ns[:end].sum()))
            held.append(about)
        if not held:
            return None
        return Counts(np.array(held), float(np.median(reading_ns or [0.0])), True)

    def _shares(self, spans: NDArray[np.int64], about: float) -> Counts:
        """Count by the share of all ages: few at a time, behind more bursts, if many leave soon."""
        reads = self._some(about, LEAVING)
        allowed = WRITTEN * self.bursts.bench.window.size_bytes / self.bursts.block_bytes
        most = int(min(MOST_WRITTEN, allowed) / spans.mean())
        bursts = max(min(READ_BACK // reads, most), len(spans))
        parts = []
        for longest in np.resize(spans, bursts):
            # In random order: those that leave soon must not all be read late.
            ages = self._rng.permutation(self._cells(reads, float(longest)))
            parts.append(self._part(int(longest), float(longest), ages))
        held, reading_ns = np.array([(part.held, part.reading_ns) for part in parts]).T
        groups = np.array_split(held, min(GROUPS, bursts))
        means = np.array([float(each.mean()) for each in groups]) / self._seen()
        error = 2 * float(held.std() / held.mean()) / bursts**0.5
        return Counts(means, float(reading_ns.mean()), False, error)

    def _seen(self) -> float:
        """Give the share of what is in memory that is also read as fast as the threshold asks."""
        spans = np.arange(min(CALIBRATED, self.bursts.most_writes))
        read_ns = self.bursts.read_at_once(spans)[1]
        return float((read_ns < self._threshold_ns).mean())

    def _some(self, about: float, leaving: float) -> int:
        """How many can be read before so much has left; half of that time on the average."""
        soon = 2 * leaving * about * self.leaves_ns / self._read_ns
        return int(min(max(soon, LEAST_SOME), SHARES))

    def _in_order(self, spans: int) -> bool:
        """Whether the oldest leave first."""
        ages = self._cells(SHARES, spans)
        look = self._look(spans, ages)
        self._read_ns = float(look.read_ns.mean())  # What is written keeps the dies busy.
        return look.held_to(max(ORDERED, FEW_WILD / len(ages))) is not None

    def share(self, spans: int, most: float, **how: Any) -> tuple[float, bool]:
        """Count what is held of the last spans of a burst, up to so many, by reading a few.

        Parameters
        ----------
        spans, most
            Of a burst, and of those that may be held.
        how
            As `Bursts.run` takes it.

        Returns
        -------
        float, bool
            Spans held, and whether the last writes waited.
        """
        most = min(most, spans)
        ages = self._cells(max(SOME, self._some(most, MORE_LEAVING)), most)
        part = self._part(spans, most, ages, **how)
        return part.held, part.waited

    def _part(self, spans: int, most: float, ages: NDArray[np.int64], **how: Any) -> _Part:
        """Read some of a burst, in this order."""
        write_ns, read_ns = self.bursts.read_back(spans, ages, **how)
        held = float((read_ns < self._threshold_ns).mean() * most)
        waited = self._waited(write_ns, self._alone(how.get("length", 0)))
        return _Part(held, waited, float(read_ns.sum()))

    def _alone(self, length: int) -> float:
        """Give what a write of so many bytes takes if the buffer is empty."""
        if length <= self.bursts.block_bytes:
            return self.alone_ns
        if length not in self._longer_ns:
            first = self.bursts.run(FIRST, FEW, length=length)
            self._longer_ns[length] = float(np.median(first))
        return self._longer_ns[length]

    def _look(self, spans: int, ages: NDArray[np.int64]) -> Look:
        write_ns, read_ns = self.bursts.read_back(spans, ages)
        return Look(ages, read_ns < self._threshold_ns, read_ns, write_ns)

    def _count(self, spans: int, low: int = 0) -> float | None:
        """Count what is held of bursts of so many; None if every look says something else."""
        high = spans
        for _ in range(LOOKS):
            if high - low <= max(AGES, FINE * high):
                return (low + high) / 2
            ages = np.unique(np.linspace(low, high, AGES + 2)[1:-1].round().astype(np.int64))
            end = self._look(spans, ages).held_to()
            if end is None or (end < 2 and low):
                return self._share(spans)
            low = int(ages[end - 2]) if end > 1 else low
            high = int(ages[end + 1]) if end < len(ages) - 1 else high
        return None

    def _share(self, spans: int) -> float:
        """Count where not the oldest leave first: by the share of all ages that is held."""
        ages = self._cells(SHARES, spans)
        return float(self._look(spans, ages).held.mean() * spans)

    def _cells(self, count: int, ages: float) -> NDArray[np.int64]:
        """Draw an age from each of equal parts, ascending."""
        count = min(count, int(ages))
        return ((np.arange(count) + self._rng.random(count)) * ages / count).astype(np.int64)
