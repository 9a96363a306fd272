"""Which places wait for each other when they are read at once, two by two.

`Conflicts` reads pairs as they are asked for. A cache that stays on would answer the second time;
there `Tournament` reads all pairs beforehand, in rounds in which each place takes part once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.rows import read_rows, slow_changes
from ssdscope.probes.together import ASIDE_BLOCKS, Repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.together import Together

LEAST_PER_CLASS = 5
ALIKE_WITHIN = 0.05
BETWEEN = 5
"""Pairs that tell whether two classes are one."""
STRAY_SHARE = 0.05
"""Of the usual members of a class: what has so few is none."""


def alike(
    bench: Bench,
    together: Together,
    places: NDArray[Any],
    times: int,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Leave out places that take another time than most when they are read alone.

    Data in cells of one bit, or in memory, are faster, and of a pair the faster one is the measure.
    """
    # What is looked up is brought to hand by a read beside, if the place itself would be kept.
    aside = ASIDE_BLOCKS * bench.info.logical_block_bytes if together.cached_units else 0
    values = np.empty((times, places.size))
    for turn in range(times):
        order = rng.permutation(places.size)
        together.forget()
        rows = np.column_stack([np.maximum(places[order] - aside, 0), places[order]])
        logs = read_rows(bench, rows)[:, 1]
        values[turn, order] = logs - slow_changes(logs)
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
    """

    def __init__(self, together: Together, places: NDArray[Any], rng: np.random.Generator) -> None:
        self._together = together
        self._rng = rng
        self.places = places

    def pairs(self, first: NDArray[Any], second: NDArray[Any], times: int) -> Repeated:
        """Read pairs of places, by number, so many times each."""
        places = self.places
        read = self._together.read(places[first], places[second][:, None], times)
        return Repeated(read.slower[:, 0], read.deviation)

    def classes(self, waits_from: float, times: int) -> tuple[NDArray[np.int64], int]:
        """Group places: one is taken, and all that wait for it go with it, until none is left.

        Two on one die may still be served together (one command for several planes), so that
        one of them is left behind: classes most of whose members wait for each other are one.

        Returns
        -------
        class_of : ndarray of int64, shape (n,)
            -1 for what was left when there were too many classes to be any, and for strays.
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
        members = np.bincount(same[class_of[class_of >= 0]], minlength=count)
        # What always waits, as it is slow for a time, is no part of the drive.
        strays = members <= STRAY_SHARE * np.median(members[members > 0])
        kept, renamed = np.unique(same[~strays[same]], return_inverse=True)
        names = np.full(count, -1)
        names[~strays[same]] = renamed
        return np.where(class_of >= 0, names[class_of], -1), kept.size


class Tournament(Conflicts):
    """Pairs that were all read beforehand, for drives that keep what was read once.

    Parameters
    ----------
    times
        How often each pair is read.
    """

    def __init__(
        self,
        together: Together,
        places: NDArray[Any],
        rng: np.random.Generator,
        times: int,
    ) -> None:
        super().__init__(together, places, rng)
        self._slower = np.zeros((places.size, places.size))
        deviations = []
        for first, second in rounds(places.size):
            read = super().pairs(first, second, times)
            self._slower[first, second] = self._slower[second, first] = read.slower
            deviations.append(read.deviation)
        self._deviation = float(np.sqrt(np.mean(np.square(deviations))))

    def pairs(
        self,
        first: NDArray[Any],
        second: NDArray[Any],
        times: int,  # noqa: ARG002 - they were read as often as all others
    ) -> Repeated:
        """Give pairs of places, by number, as often as they were read."""
        return Repeated(self._slower[first, second], self._deviation)


def rounds(count: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pair players such that each meets each other once, and nobody plays twice in a round.

    One stays and the others go round (Kirkman's schedule); of an odd number one rests.
    """
    seats = np.arange(count + count % 2)
    for _ in range(seats.size - 1):
        half = seats.size // 2
        first, second = seats[:half], seats[half:][::-1]
        playing = (first < count) & (second < count)
        yield first[playing], second[playing]
        seats = np.concatenate([seats[:1], np.roll(seats[1:], 1)])
