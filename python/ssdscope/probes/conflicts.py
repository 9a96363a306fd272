"""Two reads at once: whether they wait for each other, and which places do.

Before each pair the drive reads a neighbour of both, one after the other, so that whatever it
looks up for them is at hand. The pair then goes out together; what counts is the slower of the
two, over the faster of the pairs about then, which waits for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.bench import Stopped
from ssdscope.probes.finding import Reason
from ssdscope.probes.rows import patient_read, read_rows, slow_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

LEAST_PER_CLASS = 5
ALIKE_WITHIN = 0.05
BETWEEN = 5
"""Pairs that tell whether two classes are one."""
APART_NS = 1000
"""Rest before each burst: the one before has ended."""


def together(
    bench: Bench, first: NDArray[Any], second: NDArray[Any], *, neighbours: bool
) -> NDArray[Any]:
    """Read pairs at once.

    Parameters
    ----------
    first, second : ndarray of int64, shape (pairs,)
        Starts of blocks.
    neighbours
        Whether what is read beforehand is the neighbouring block, and not the block itself.

    Returns
    -------
    ndarray, shape (pairs,)
        Logarithm of the slower latency, over the faster ones of the pairs about then.
    """
    aside = bench.info.logical_block_bytes if neighbours else 0
    pair = np.column_stack([first, second])
    return slowest(bench, pair ^ aside, pair)


def slowest(bench: Bench, before: NDArray[Any], burst: NDArray[Any]) -> NDArray[Any]:
    """Read bursts of blocks at once, and other blocks one by one before each.

    Parameters
    ----------
    before, burst : ndarray of int64, shapes (bursts, m) and (bursts, n)
        Starts of blocks.

    Returns
    -------
    ndarray, shape (bursts,)
        Logarithm of the greatest latency, over the least ones of the bursts about then.
    """
    places = np.hstack([before, burst]).astype(np.uint64)
    alone = before.shape[1]
    pauses = np.zeros(places.shape, np.uint64)
    pauses[:, : alone + 1] = APART_NS
    log = patient_read(
        bench,
        places.ravel(),
        bench.info.logical_block_bytes,
        iodepth=burst.shape[1],
        pauses_ns=pauses.ravel(),
    )
    latency = np.empty(places.size)
    latency[log.index.astype(np.int64)] = log.latency_ns
    if np.median(latency) <= 0:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "reads take no time that the clock can tell")
    logs = np.log(np.maximum(latency, 1.0)).reshape(places.shape)[:, alone:]
    return np.asarray(logs.max(axis=1) - slow_changes(logs.min(axis=1)))


@dataclass(frozen=True)
class Repeated:
    """Pairs that were read several times over.

    Attributes
    ----------
    slower
        Median of each pair, shape (pairs,).
    deviation
        Standard deviation of such a median.
    """

    slower: NDArray[Any]
    deviation: float


def repeated(
    bench: Bench,
    first: NDArray[Any],
    second: NDArray[Any],
    times: int,
    rng: np.random.Generator,
    *,
    neighbours: bool,
) -> Repeated:
    """Read every pair so many times, in random order."""
    order = rng.permuted(np.tile(np.arange(len(first)), (times, 1)), axis=1).ravel()
    values = np.empty((times, len(first)))
    turn = np.repeat(np.arange(times), len(first))
    values[turn, order] = together(bench, first[order], second[order], neighbours=neighbours)
    medians = np.median(values, axis=0)
    spread = stats.mad((values - medians).ravel()) * np.sqrt(times / max(times - 1, 1))
    return Repeated(medians, float(1.2533 * spread / np.sqrt(times)))


def alike(bench: Bench, places: NDArray[Any], times: int, rng: np.random.Generator) -> NDArray[Any]:
    """Leave out places that take another time than most when they are read alone.

    Data in cells of one bit, or in memory, are faster, and of a pair the faster one is the measure.
    """
    order = rng.permuted(np.tile(np.arange(places.size), (times, 1)), axis=1)
    logs = read_rows(bench, np.repeat(places[order.ravel()], 2).reshape(-1, 2))[:, 1]
    values = np.empty(order.shape)
    np.put_along_axis(values, order, (logs - slow_changes(logs)).reshape(order.shape), axis=1)
    medians = np.median(values, axis=0)
    deviation = stats.mad((values - medians).ravel()) * 1.2533 / np.sqrt(times)
    off = np.abs(medians - np.median(medians))
    return np.asarray(places[off < ALIKE_WITHIN + 4 * deviation])


class Conflicts:
    """Which of some places wait for each other.

    Parameters
    ----------
    places : ndarray of int64, shape (n,)
        Starts of blocks.
    neighbours
        As `together` takes it.
    """

    def __init__(
        self, bench: Bench, places: NDArray[Any], rng: np.random.Generator, *, neighbours: bool
    ) -> None:
        self._bench = bench
        self._rng = rng
        self._neighbours = neighbours
        self.places = places

    def pairs(self, first: NDArray[Any], second: NDArray[Any], times: int) -> Repeated:
        """Read pairs of places, by number, so many times each."""
        places = self.places
        return repeated(
            self._bench,
            places[first],
            places[second],
            times,
            self._rng,
            neighbours=self._neighbours,
        )

    def classes(self, waits_from: float, times: int) -> tuple[NDArray[np.int64], int]:
        """Group places: one is taken, and all that wait for it go with it, until none is left.

        Two on one die may still be served together (one command for several planes), so that
        one of them is left behind: classes most of whose members wait for each other are one.

        Returns
        -------
        class_of : ndarray of int64, shape (n,)
            -1 for what was left when there were too many classes to be any.
        count : int
            Classes.
        """
        class_of = np.full(len(self.places), -1)
        left, count = np.arange(len(self.places)), 0
        while left.size and count <= len(self.places) // LEAST_PER_CLASS:
            one, left = left[0], left[1:]
            class_of[one] = count
            if left.size:
                read = self.pairs(np.full(left.size, one), left, times)
                waits = read.slower > waits_from
                class_of[left[waits]] = count
                left = left[~waits]
            count += 1
        return self._joined(class_of, count, waits_from, times)

    def _joined(
        self, class_of: NDArray[np.int64], count: int, waits_from: float, times: int
    ) -> tuple[NDArray[np.int64], int]:
        """Make one class of those whose members wait for each other."""
        of_each = [np.flatnonzero(class_of == each) for each in range(count)]
        one, other = np.triu_indices(count, 1)
        if not one.size:
            return class_of, count
        drawn = [self._rng.choice(each, (2, BETWEEN)) for each in of_each]
        first = np.concatenate([drawn[each][0] for each in one])
        second = np.concatenate([drawn[each][1] for each in other])
        read = self.pairs(first, second, times)
        share = (read.slower > waits_from).reshape(-1, BETWEEN).mean(axis=1)
        same = np.arange(count)
        for left, right in zip(one[share > 0.5], other[share > 0.5], strict=True):
            same[same == same[right]] = same[left]
        _, renamed = np.unique(same, return_inverse=True)
        sorted_out = np.where(class_of >= 0, renamed[class_of], -1)
        return sorted_out, int(renamed.max()) + 1
