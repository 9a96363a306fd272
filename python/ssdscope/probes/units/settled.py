"""Writes at depth for longer than a buffer lasts: what each takes once the buffer is full.

What is written next hangs on what was seen, so one plan holds the whole search (`rates`): it is run
while it measures, and once more upon the rows that it has left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Reason
from ssdscope.inference.series import Series, Weighed, joined
from ssdscope.probes.bench.discipline import base_request_bytes, in_peace
from ssdscope.probes.plan import SETTLE_NS, Plan, Stopped
from ssdscope.probes.units.rates import Way, searched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["Settled"]

DEPTH, MEASURED = 64, 512
"""Writes at once; and those of a stretch that count, behind what the buffer holds."""
MORE_THAN_HELD = 1.25
"""Times what the buffer holds, that goes before."""
MIB = 1024 * 1024
MOST_BYTES, MOST_SHARE = 8 * 1024 * MIB, 0.9
"""Written behind the span, and of the capacity in all."""
SPAN_BUFFERS, LEAST_SPAN = 8, 512 * MIB
"""Buffers, and bytes, over which places are drawn: few meet another that the buffer still holds."""
RESTED = 2 * DEPTH
"""Single blocks behind a rest, that find an empty buffer."""


@dataclass(frozen=True, kw_only=True)
class Settled(Plan):
    """Stretches of writes at random places, behind a full buffer.

    Rows have in `x` the number of the way, and in `y` what a write takes, in ns; the stratum is the
    look. The first row is of blocks that find an empty buffer.

    Attributes
    ----------
    held_bytes
        What the buffer holds at most.
    """

    write_cache: bool = True
    held_bytes: int

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Return the most that it writes: the span in order, and then what is left of it."""
        return min(self._span(info) + MOST_BYTES, int(MOST_SHARE * info.capacity_bytes))

    def _span(self, info: DeviceInfo) -> int:
        most = max(SPAN_BUFFERS * self.held_bytes, LEAST_SPAN)
        return min(most, info.capacity_bytes // 2) // MIB * MIB

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Fill the span in order, and search."""
        span = np.arange(0, self._span(bench.info), MIB, dtype=np.uint64)
        bench.write(span, MIB, iodepth=DEPTH)
        bench.idle(SETTLE_NS)
        once = partial(self._stretch, bench, rng, (1, 1, 0), 0, RESTED)
        rested = in_peace(bench, once, patient=True)
        # What comes first behind a rest finds a buffer that empties faster than it fills.
        bench.write(span[: -(-2 * self.held_bytes // MIB)], MIB, iodepth=DEPTH)
        left = self.writes_bytes(bench.info) - self._span(bench.info) - 2 * self.held_bytes
        pen = _Pen(self, bench, rng, [Series.of([0], [rested])], left)
        searched(bench.info, rested, pen.took)
        return joined(pen.rows)

    def decided(self, info: DeviceInfo, taken: Series) -> Weighed:
        """Say what a search has found, by its rows."""
        ends = np.flatnonzero(np.diff(taken.stratum, append=taken.stratum[-1] + 1)) + 1
        looks = iter(np.split(taken.y, ends[:-1])[1:])
        return searched(info, float(taken.y[0]), lambda ways, _: next(looks).reshape(-1, len(ways)))

    def _stretch(
        self, bench: Bench, rng: np.random.Generator, way: Way, before: int, count: int = MEASURED
    ) -> float:
        """Return what each of so many writes takes behind so many others."""
        block, (length, period, phase) = bench.info.logical_block_bytes, way
        slots = (self._span(bench.info) // block - length - phase) // period
        at = rng.integers(0, slots, before + count) * period + phase
        log = bench.write((at * block).astype(np.uint64), length * block, iodepth=DEPTH)
        ends: NDArray[np.float64] = np.sort(log.complete_ns.astype(float))
        begun = ends[before - 1] if before else float(log.submit_ns.min())
        return float(ends[-1] - begun) / count


@dataclass
class _Pen:
    """Writes stretches, one a way and round, while there is something left to write."""

    plan: Settled
    bench: Bench
    rng: np.random.Generator
    rows: list[Series]
    left_bytes: int

    def took(self, ways: Sequence[Way], rounds: int) -> NDArray[np.float64]:
        """Return what a write takes, by round and way; ways come in random order in a round."""
        info, found = self.bench.info, np.empty((rounds, len(ways)))
        for row in found:
            for number in self.rng.permutation(len(ways)):
                way = ways[number]
                size = max(way[0] * info.logical_block_bytes, base_request_bytes(info))
                before = int(MORE_THAN_HELD * self.plan.held_bytes / size) + DEPTH
                self.left_bytes -= (before + MEASURED) * way[0] * info.logical_block_bytes
                if self.left_bytes < 0:
                    raise Stopped(Reason.RANGE_TOO_SMALL, "no more may be written for the unit")
                once = partial(self.plan._stretch, self.bench, self.rng, way, before)
                row[number] = in_peace(self.bench, once, patient=True)
        numbers = np.tile(np.arange(len(ways)), rounds)
        look = np.full(numbers.size, len(self.rows))
        self.rows.append(Series.of(numbers, found.ravel(), stratum=look))
        return found
