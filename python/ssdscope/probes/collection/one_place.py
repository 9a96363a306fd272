"""Plans of the family `collection`: one place is written again and again.

What was written before is stale at once, so that blocks are collected, or merged, once in so many
writes, and nothing has to be copied. The fill before is of whole units: else what lies around
would be stale in parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import APART
from ssdscope.inference.noise import over_usual
from ssdscope.inference.recurrence import in_step, recurrence
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.bench.overwriting import Granule, discard_all, fill_afresh, write_through
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["FOREIGN", "LEVELS", "Emptied", "OnePlace", "levelled", "until_sure", "waits"]

LEVELS = 1.15 * 2 ** (np.arange(20) / 2)
"""Times the usual latency, which a write counts by: the highest that it exceeds. The least is what
noise of 15 % exceeds now and then; collection that other planes' work hides makes no more."""
NEIGHBOURS = 256
"""Whose median is the usual latency."""
FIRST_WRITES, MOST_WRITES = 1 << 11, 1 << 17
EMPTY, PIECES = 0.4, 24
"""Of a stretch in order: what an empty region may take; and pieces whose means count."""
ONE_TYPE, OF_ONE_TYPE = "pages of one type", 1 / 4
"""A rival; and of all pages, at least: cells hold four bits at most."""
FOREIGN = 0.5
"""Of the time that others may keep the drive busy."""


@dataclass(frozen=True, kw_only=True)
class OnePlace(Plan):
    """One request, written again and again, one at a time, until its waits surely return.

    Gives each write by its number: the highest of `LEVELS` that it exceeds, 1 if none.

    Attributes
    ----------
    place
        As a share of the capacity.
    size_bytes, phase_bytes
        Of a request; it begins so far before a multiple of its size.
    within_bytes
        It lies in the middle of a span of so many bytes, which begins likewise; 0 for none.
    share
        Of the capacity, that is written at most.
    afresh
        Whether the drive is discarded and filled in whole requests before.
    """

    place: float
    size_bytes: int
    phase_bytes: int = 0
    within_bytes: int = 0
    share: float = 1.5
    afresh: bool = True

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return int((self.share + self.afresh) * info.capacity_bytes)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Write until it shows, twice as often at each look."""
        if self.afresh:
            # All planes begin a block together.
            fill_afresh(bench, Granule(self.size_bytes, self.phase_bytes), FOREIGN)
        most = min(int(self.share * bench.info.capacity_bytes) // self.size_bytes, MOST_WRITES)
        first = np.uint64(self._first(bench.info.capacity_bytes))
        places = np.full(most, first)

        def write(part: slice) -> NDArray[np.float64]:
            return write_through(bench, places[part], self.size_bytes, most_foreign_share=FOREIGN)

        words = "writing one place again and again"
        return levelled(until_sure(bench, write, FIRST_WRITES, most, words))

    def _first(self, capacity: int) -> int:
        """Give the first byte: not that of a merge unit, at which each write might merge."""
        at = int(self.place * capacity) + self.phase_bytes
        if self.within_bytes:
            at = at // self.within_bytes * self.within_bytes + self.within_bytes // 2
        return at // self.size_bytes * self.size_bytes - self.phase_bytes


def until_sure(
    bench: Bench, write: Callable[[slice], NDArray[np.float64]], first: int, most: int, words: str
) -> NDArray[np.float64]:
    """Write until the waits surely return, and look twice as late each time; give latencies.

    Parameters
    ----------
    write
        Writes a part of all requests, and gives their latencies.
    first, most
        Requests at the first look, and at most.
    words
        Of the progress.
    """
    latencies: NDArray[np.float64] = np.empty(0)
    while latencies.size < most:
        part = slice(latencies.size, min(max(2 * latencies.size, first), most))
        latencies = np.concatenate([latencies, write(part)])
        bench.progress(words, latencies.size / most)
        found = waits(levelled(latencies))
        of_types = any(each.name == ONE_TYPE and each.margin < APART for each in found.rivals)
        if verdict.is_found(found, "recurrence", times=2) and not of_types:
            break
    return latencies


def levelled(latencies: NDArray[np.float64]) -> Series:
    """Give the highest level that each write exceeds over what is usual around it."""
    over = over_usual(latencies, NEIGHBOURS)
    levels = np.concatenate([[1.0], LEVELS])[np.searchsorted(LEVELS, over)]
    return Series.of(np.arange(latencies.size), levels)


def waits(taken: Series) -> Weighed:
    """Weigh after how many writes those that wait return, at whichever level it shows best."""
    levels = np.unique(taken.y)[:-1].tolist()
    for name, engine in (("recurrence", recurrence), ("in step", in_step)):
        tried = [engine(taken, level).against([_of_types(taken, level)]) for level in levels]
        sure = [each for each in tried if verdict.is_sure(each, name, tried=LEVELS.size)]
        if sure:
            return max(sure, key=lambda each: each.effect)
    return max(tried, key=lambda each: each.score, default=nothing())


def _of_types(taken: Series, level: float) -> Rival:
    """Name pages of one type, that take longer to program: of all at least a share.

    They come back after types x planes x page. Where fewer writes wait, it is for something else.
    """
    waiting = float((taken.y > level).mean())
    other = 1 - waiting
    apart = other * math.log(other / (1 - OF_ONE_TYPE)) if other else 0.0
    apart += waiting * math.log(waiting / OF_ONE_TYPE) if waiting else 0.0
    return Rival(ONE_TYPE, math.copysign(len(taken) * apart, OF_ONE_TYPE - waiting))


@dataclass(frozen=True, kw_only=True)
class Emptied(Plan):
    """A stretch in order, on a drive that holds nothing else that is needed.

    Nothing has to be copied for room, however victims are chosen; blocks of one bit per cell are
    folded all the same. Gives what each write takes over the usual; the first part, which an empty
    region may take, is left out.

    Attributes
    ----------
    size_bytes, phase_bytes
        Of a request; it begins so far before a multiple of its size.
    share
        Of the capacity, that is written.
    """

    size_bytes: int
    phase_bytes: int = 0
    share: float = 0.25

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return int((1 + self.share) * info.capacity_bytes)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Discard or fill the drive, and write."""
        if bench.info.discard:
            discard_all(bench)
        else:
            fill_afresh(bench, Granule(self.size_bytes, self.phase_bytes), FOREIGN)
        count = int(self.share * bench.info.capacity_bytes) // self.size_bytes
        places = np.arange(1, count + 1) * self.size_bytes - self.phase_bytes
        latencies = write_through(
            bench, places.astype(np.uint64), self.size_bytes, most_foreign_share=FOREIGN
        )[int(EMPTY * count) :]
        pieces = np.array_split(latencies, min(PIECES, latencies.size))
        means = [each.mean() / np.median(each) for each in pieces]
        return Series.of(np.arange(len(means)), means)
