"""A window of a drive that is overwritten round after round, in order or in several streams.

What the probe `reclaim_unit` looks at. Streams in turn tell what belongs to addresses from what
belongs to the order of writing, as long as they reach the flash in turn: a buffer that stays on may
sort what it holds into runs, and make of streams what one stream is. Behind one there are so many
that two turns of any never meet in it. They lie whole periods apart, lest what each comes to at the
end of a period follow what the others come to like the ends of a single stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Absent, Detected
from ssdscope.probes import staying
from ssdscope.probes.overwriting import FILL_BYTES, Granule, latencies_ns, write_through
from ssdscope.probes.slow_periods import folded, period_of
from ssdscope.probes.slow_writes import relative

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

MOST_REQUESTS, PASS_SHARE, PASS_BYTES = 100_000, 1.4, 1 << 33
"""In one pass: requests, share of the capacity, and bytes; tens of the largest usual units."""
WARM_SHARE = 0.6
"""Of the capacity, written before: more than the spare space that drives have."""
WINDOW_SHARE, HELD_SHARE = 0.95, 0.6
"""Of the capacity, and of what the mapping table in memory covers: how much is overwritten."""
UNKNOWN_SHARE = 0.1
"""Of the capacity: covered by most tables, where it is not known."""
NINE = 9
"""Planes are twos and threes: of channels, chips, dies and planes on each."""
STREAMS, TURNS = 3, 4
"""Streams in the second pass, at least, and how often it is the turn of any in one period."""
BUFFERS, UNKNOWN_BUFFER_SHARE = 2.0, 1 / 16
"""Times what a buffer holds, written between two turns of a stream; and of the capacity, more than
it holds, where it is not known."""


@dataclass(frozen=True)
class Written:
    """One pass of overwrites.

    Attributes
    ----------
    period_bytes
        After which slow writes return; None if they do not.
    share
        How many of them do.
    slow
        Latencies over the usual ones, in order.
    size_bytes
        Of a request.
    ns_per_byte
        In the mean, without the very slowest.
    """

    period_bytes: float | None
    share: float
    slow: NDArray[np.float64]
    size_bytes: int
    ns_per_byte: float

    def wait_ns(self, period_bytes: float) -> float:
        """Say how much longer than usually a write takes where it waits."""
        slower = float(folded(self.slow, round(period_bytes / self.size_bytes)).max()) - 1
        return slower * self.ns_per_byte * self.size_bytes


@dataclass
class Rounds:
    """A window that is overwritten round after round.

    Attributes
    ----------
    left_bytes
        That may still be written.
    periods
        Found so far, for the evidence.
    """

    bench: Bench
    unit: Granule
    left_bytes: float
    periods: list[dict[str, Any]] = field(default_factory=list)

    @property
    def window_bytes(self) -> int:
        """All of the drive, or what the table in memory covers, if it is not known to hold all."""
        capacity = self.bench.info.capacity_bytes
        held = self.bench.known.get("map_cache_bytes")
        if isinstance(held, Absent):
            return int(WINDOW_SHARE * capacity)
        covered = float(held.value) if isinstance(held, Detected) else UNKNOWN_SHARE * capacity
        return int(min(HELD_SHARE * covered, WINDOW_SHARE * capacity))

    def warm_up(self) -> None:
        """Use up the spare space, and load the table."""
        size = max(FILL_BYTES // self.unit.size_bytes, 1) * self.unit.size_bytes
        in_window = max(whole_rounds(self.window_bytes // size), 1)
        count = int(WARM_SHARE * self.bench.info.capacity_bytes) // size + 1
        numbers = np.arange(-(-count // in_window) * in_window) % in_window
        with self.bench.without_caches(read=False):
            self.bench.write(self._places(numbers, size), size)

    def written(self, size_bytes: int, depth: int, within: float | None) -> Written | None:
        """Overwrite in order, or in three streams that look for a period; None if too long."""
        lap = whole_rounds(self.window_bytes // size_bytes)
        most = min(int(PASS_SHARE * self.bench.info.capacity_bytes), PASS_BYTES)
        count = min(most // size_bytes, MOST_REQUESTS)
        if lap < STREAMS + 1 or count * size_bytes > self.left_bytes:
            return None
        streams = 1 if within is None else _streams(self.bench, within)
        numbers = np.arange(count) % lap
        if within is not None:
            each = _apart(lap // (streams + 1), round(within / size_bytes), streams)
            if not each:
                return None
            numbers = _in_turn(count, streams, each, max(round(within / TURNS / size_bytes), 1))
        self.left_bytes -= count * size_bytes
        latencies = self._latencies_ns(self._places(numbers, size_bytes), size_bytes, depth)
        slow = relative(latencies)
        found = period_of(slow, size_bytes, alone=depth == 1)
        period = None if found is None else float(found.period * size_bytes)
        share = 0.0 if found is None else found.share
        self.periods.append(
            {
                "request_bytes": size_bytes,
                "depth": depth,
                "streams": streams,
                "period_bytes": period,
                "returning_share": share,
            }
        )
        usual = np.minimum(latencies, np.quantile(latencies, 0.9999)).mean()
        return Written(period, share, slow, size_bytes, float(usual) / size_bytes)

    def _places(self, numbers: NDArray[np.int64], size_bytes: int) -> NDArray[np.uint64]:
        first = self.unit.nearest(self.unit.phase_bytes)
        return (first + numbers * size_bytes).astype(np.uint64)

    def _latencies_ns(
        self, places: NDArray[np.uint64], size_bytes: int, depth: int
    ) -> NDArray[np.float64]:
        if depth == 1:
            return write_through(self.bench, places, size_bytes)
        # A cache that stays on is soon full, and then as slow as what is behind it.
        with self.bench.without_caches(read=False):
            return latencies_ns(self.bench.write(places, size_bytes, iodepth=depth))


def _streams(bench: Bench, period_bytes: float) -> int:
    """Give how many streams it takes for two turns of any never to meet in a buffer."""
    return max(STREAMS, math.ceil(BUFFERS * _sorted_bytes(bench) * TURNS / period_bytes))


def _sorted_bytes(bench: Bench) -> float:
    """Give what a buffer may sort before it is merged; 0 where nothing is merged, or sorted."""
    alone = isinstance(bench.known.get("merge_unit_bytes"), Absent)
    if alone or bench.info.write_cache.control in ("absent", "switchable"):
        return 0.0
    held = staying.about_bytes(bench)
    return UNKNOWN_BUFFER_SHARE * bench.info.capacity_bytes if held is None else held


def _apart(most: int, period: int, streams: int) -> int:
    """Give how far apart streams begin, in requests; 0 if a buffer may hold too much of each."""
    if most >= period:
        return most // period * period
    return 0 if streams > STREAMS else most


def _in_turn(count: int, streams: int, each: int, turn: int) -> NDArray[np.int64]:
    """Give the numbers of requests of streams `each` apart, of each so many in a turn."""
    numbers = np.arange(count)
    turns = numbers // turn
    of_stream = turns // streams * turn + numbers % turn
    return np.asarray(turns % streams * each + of_stream % each)


def whole_rounds(most: int) -> int:
    """Give a number of requests, up to some, that is whole rounds of twos and threes of planes.

    Else each lap would give some planes more than others, until they are out of step.
    """
    thrice = most // NINE >= STREAMS + 1
    return NINE * power_of_two(most // NINE) if thrice else power_of_two(most)


def power_of_two(most: int) -> int:
    """Give the largest power of two up to a number, 1 at least."""
    return 1 << max(most.bit_length() - 1, 0)
