"""Plans of the family `collection`: a window is written round after round, in one stream or more.

What each round leaves stale is stale as a whole, so that nothing is copied, and a write waits once
for all that is filled side by side. Streams in turn tell what belongs to addresses from what
belongs to the order of writing: a log block, or a zone of a table, is full three times as late in
each of three. They lie whole periods apart, lest their ends follow each other like those of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.inference.series import Series
from ssdscope.probes.bench.overwriting import (
    FILL_BYTES,
    Granule,
    fill_afresh,
    latencies_ns,
    write_through,
)
from ssdscope.probes.collection.one_place import FOREIGN, levelled, until_sure
from ssdscope.probes.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["TURNS", "InTurn", "cost", "levels"]

WARM = 0.6
"""Of the capacity, written before: more than the spare space that drives have."""
FIRST, MOST = 1 << 13, 100_000
"""Requests at the first look, and at most."""
TURNS = 4
"""Of a stream in one period."""
NINE = 9
"""Planes are twos and threes: of channels, chips, dies and planes on each."""


@dataclass(frozen=True, kw_only=True)
class InTurn(Plan):
    """Overwrites in order, one or a few at a time, until their waits surely return.

    Gives levels as `OnePlace` does, and in stratum 1 the nanoseconds that a byte takes.

    Attributes
    ----------
    size_bytes, phase_bytes
        Of a request; it begins so far before a multiple of its size.
    window_bytes
        What is overwritten.
    streams, period_bytes
        How many take turns, of a part of such a period each, and lie whole ones apart.
    depth
        Requests at once.
    share
        Of the capacity, that is written at most.
    """

    size_bytes: int
    phase_bytes: int = 0
    window_bytes: int = 0
    streams: int = 1
    period_bytes: int = 0
    depth: int = 1
    share: float = 1.4

    @property
    def apart_bytes(self) -> int:
        """How far apart streams begin, and how far each goes in a round."""
        lap = _whole_rounds(self.window_bytes // self.size_bytes)
        if self.streams == 1:
            return lap * self.size_bytes
        period = max(self.period_bytes // self.size_bytes, 1)
        apart = lap // (self.streams + 1)
        return (apart // period * period or apart) * self.size_bytes

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return int((1 + 2 * WARM + self.share) * info.capacity_bytes)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:  # noqa: ARG002
        """Fill, use up the spare space, and write until it shows."""
        fill_afresh(bench, Granule(self.size_bytes, self.phase_bytes), FOREIGN)
        self._warm_up(bench)
        most = min(int(self.share * bench.info.capacity_bytes) // self.size_bytes, MOST)
        numbers = self._numbers(most)
        latencies = until_sure(
            bench,
            lambda part: self._written(bench, numbers[part]),
            FIRST,
            most,
            "overwriting in order",
        )
        per_byte = float(np.minimum(latencies, np.quantile(latencies, 0.9999)).mean())
        return levelled(latencies).then(Series.of([0.0], [per_byte / self.size_bytes], stratum=[1]))

    def _warm_up(self, bench: Bench) -> None:
        """Use up the spare space in whole rounds, and load the table."""
        size = max(FILL_BYTES // self.size_bytes, 1) * self.size_bytes
        lap = max(_whole_rounds(self.window_bytes // size), 1)
        count = int(WARM * bench.info.capacity_bytes) // size + 1
        numbers = np.arange(-(-count // lap) * lap) % lap
        places = (size + numbers * size - self.phase_bytes).astype(np.uint64)
        bench.write(places, size, most_foreign_share=FOREIGN)

    def _numbers(self, count: int) -> NDArray[np.int64]:
        """Give which request of the window comes when."""
        numbers, apart = np.arange(count), self.apart_bytes // self.size_bytes
        if self.streams == 1:
            return numbers % apart
        turn = max(round(self.period_bytes / self.size_bytes / TURNS), 1)
        turns = numbers // turn
        of_stream = turns // self.streams * turn + numbers % turn
        return np.asarray(turns % self.streams * apart + of_stream % apart)

    def _written(self, bench: Bench, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Write; give latencies in order."""
        places = (self.size_bytes * (1 + numbers) - self.phase_bytes).astype(np.uint64)
        if self.depth == 1:
            return write_through(bench, places, self.size_bytes, most_foreign_share=FOREIGN)
        log = bench.write(places, self.size_bytes, iodepth=self.depth, most_foreign_share=FOREIGN)
        return latencies_ns(log)


def levels(taken: Series) -> Series:
    """Give the levels of a series."""
    return taken.where(taken.stratum == 0)


def cost(taken: Series) -> float:
    """Give what a byte takes."""
    return float(taken.y[taken.stratum == 1][0])


def _whole_rounds(most: int) -> int:
    """Give a number of requests, up to some, that is whole rounds of twos and threes of planes.

    Else each lap would give some planes more than others, until they are out of step.
    """
    thrice = most // NINE
    if thrice >= NINE:
        return NINE << (thrice.bit_length() - 1)
    return 1 << max(most.bit_length() - 1, 0)
