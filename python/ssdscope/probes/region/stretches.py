"""Plans of the family `region`: stretches written in order, behind a pause and behind none."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.levels import ERASES, NOTICED
from ssdscope.inference.series import Series, joined
from ssdscope.probes.bench.discipline import in_peace
from ssdscope.probes.bench.write_through import writes_bytes, writing
from ssdscope.probes.plan import Plan
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE, OP_WRITE_FUA, DeviceInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

__all__ = ["LONGEST", "Fill", "Search", "Stretches", "of_kind", "ratio"]

FEWEST, ROWS = 32, 256
"""Requests of the shortest stretch; and rows of any, about: longer ones join several to one."""
LONGEST, LONG = 0.15, 1 / 16
"""Of the capacity: the longest stretch of a search; and one that is not exceeded once a region
shows."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of it fall evenly between whole numbers, however many there are."""
PAUSE_NS, SHORT_PAUSE_NS, LONGER = 80_000_000_000, 5_000_000_000, 4
"""In which a drive folds: on a simulated drive, and where it takes time; and times that every other
one: where they are too short, it takes more behind these."""


@dataclass(frozen=True, kw_only=True)
class Stretches(Plan):
    """Pairs of stretches in order, each where the one before ended.

    The first of a pair is written behind a pause, the second behind a flush alone. Before all of
    them the drive is discarded, so that nothing is collected meanwhile. Gives rows of
    one or several requests, the mean time of one by the bytes written before; the strata are twice
    the number of the pair, and one more for its second.

    Attributes
    ----------
    unit_bytes, phase_bytes
        Requests are of whole units, which begin so far before multiples of their size.
    """

    unit_bytes: int
    phase_bytes: int = 0

    @abstractmethod
    def pairs(self, info: DeviceInfo) -> list[tuple[int, int, int]]:
        """Give the bytes of a request, and how many are behind the pause, and behind none."""

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes; what others disturb is written again."""
        return self._most_bytes(info) + writes_bytes(info)

    def _most_bytes(self, info: DeviceInfo) -> int:
        return sum(length * (one + other) for length, one, other in self.pairs(info))

    def measure(self, bench: Bench, _rng: np.random.Generator) -> Series:
        """Write all pairs."""
        found: list[Series] = []
        with writing(bench) as writer:
            pen = _Pen(bench, self, OP_WRITE_FUA if writer.forced else OP_WRITE)
            pairs = self.pairs(bench.info)
            for number, pair in enumerate(pairs):
                found += in_peace(bench, partial(pen.pair, number, *pair), patient=True)
                bench.progress("stretches in order", (number + 1) / len(pairs))
                if self.shows(bench.info, found):
                    break
        return joined(found)

    def shows(self, _info: DeviceInfo, _found: list[Series]) -> bool:
        """Whether enough was written."""
        return False


@dataclass(frozen=True, kw_only=True)
class Search(Stretches):
    """Pairs of ever longer stretches, the second half as long as the first.

    Attributes
    ----------
    most_bytes
        Of a stretch.
    grown_bytes
        Requests grow to this before there are more of them.
    """

    most_bytes: int
    grown_bytes: int

    def pairs(self, info: DeviceInfo) -> list[tuple[int, int, int]]:
        """Double the requests, and then their number."""
        length, count, found = self.unit_bytes, FEWEST, []
        most = min(LONGEST * info.capacity_bytes, self.most_bytes)
        while length * count <= most:
            found.append((length, count, count // 2))
            length, count = (
                (2 * length, count) if length < self.grown_bytes else (length, 2 * count)
            )
        return found

    def shows(self, info: DeviceInfo, found: list[Series]) -> bool:
        """Whether a long pair differs, or the longest but one, and the longest still does, less."""
        every = joined(found)
        ratios = [float(ratio(every, number)[0]) for number in range(len(found) // 2)]
        if float(found[-2].x.max()) >= LONG * info.capacity_bytes:
            return max(ratios) >= 1 + ERASES
        return (
            ratios[-1] >= 1 + NOTICED and max(ratios[-2:]) >= max(1 + ERASES, *ratios) > ratios[-1]
        )

    def _most_bytes(self, info: DeviceInfo) -> int:
        """Give twice the longest pair, whatever the unit is: each is half as long as the next."""
        return int(3 * min(LONGEST * info.capacity_bytes, self.most_bytes))


@dataclass(frozen=True, kw_only=True)
class Fill(Stretches):
    """Equal pairs.

    Attributes
    ----------
    length, one, other
        Of requests the bytes, and how many are behind the pause, and behind none.
    runs
        How many pairs.
    """

    length: int
    one: int
    other: int
    runs: int

    @property
    def own_bytes(self) -> int:
        """Of a pair, at most."""
        return (self.one + self.other + self.other // 4) * self.length

    def of(self, length: int) -> Fill:
        """Give two such stretches of other requests, behind pauses only."""
        one = self.one * self.length // length
        return replace(self, length=length, one=one, other=0, runs=2)

    def pairs(self, _info: DeviceInfo) -> list[tuple[int, int, int]]:
        """Give the same for each, but for some more in the end: what these leave begun differs."""
        more = (int(self.other * (GOLDEN * each % 1) / 4) for each in range(self.runs))
        return [(self.length, self.one, self.other + each) for each in more]


class _Pen:
    """Writes on where it ended."""

    def __init__(self, bench: Bench, plan: Stretches, op: int) -> None:
        self._bench, self._plan, self._op = bench, plan, op
        self._next = 1

    def pair(self, number: int, length: int, one: int, other: int) -> list[Series]:
        """Rest, write, flush, write."""
        bench = self._bench
        bench.issue([OP_FLUSH], [0], [0])
        if number == 0 and bench.info.discard:
            bench.issue([OP_DISCARD], [0], [bench.info.capacity_bytes])
        pause_ns = PAUSE_NS if bench.virtual else SHORT_PAUSE_NS
        bench.idle(pause_ns * (LONGER if number % 2 else 1))
        size = max(one // ROWS, 1)
        rested = self._rows(2 * number, length, one, size)
        bench.issue([OP_FLUSH], [0], [0])
        return [rested, self._rows(2 * number + 1, length, other, size)] if other else [rested]

    def _rows(self, stratum: int, length: int, count: int, size: int) -> Series:
        unit, phase = self._plan.unit_bytes, self._plan.phase_bytes
        step, last = length // unit, self._bench.info.capacity_bytes // unit - 1
        self._next = -(-self._next // step) * step
        if self._next + count * step > last:
            self._next = step if phase else 0
        at = (self._next + np.arange(count) * step) * unit - phase
        self._next += count * step
        log = self._bench.issue(self._op, at.astype(np.uint64), length)
        times = np.empty(count)
        times[log.index] = log.latency_ns
        rows = count // size
        means = np.round(times[: rows * size].reshape(rows, size).mean(axis=1))
        return Series.of(
            np.arange(rows) * float(size * length), means, stratum=np.full(rows, stratum)
        )


def ratio(
    taken: Series, number: int, within: float = math.inf, parts: int = 1
) -> NDArray[np.float64]:
    """Say how many times longer the second stretch of a pair takes than the first, part by part.

    Parameters
    ----------
    within
        How far the first counts at most.

    Returns
    -------
    ndarray, shape (parts,)
    """
    one, other = (taken.where(taken.stratum == 2 * number + second) for second in (0, 1))
    first = one.y[one.x <= min(within, float(other.x.max()))]
    pieces = (np.array_split(each, parts) for each in (other.y, first))
    slow, fast = (np.array([float(part.mean()) for part in each]) for each in pieces)
    return np.asarray(slow / fast)


def of_kind(taken: Series, second: int) -> Series:
    """Give the rows of all first stretches, or of all second ones, in the order of their places."""
    some = taken.where(taken.stratum % 2 == second)
    return some.where(np.argsort(some.x, kind="stable"))
