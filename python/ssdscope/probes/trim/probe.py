"""The family `trim`: how much faster random writes are after half of a settled drive was discarded.

Question. Does a discard help, and by how much? What was discarded need not be copied: collection
and merges become cheap, and there is more free space.
Plan. The first half is overwritten at random until the drive has settled; then goes on being so,
with a discard of all of it in between. Before and after differ by nothing else: log blocks that
all merge units share hold that half alone on both sides. Reads of the second half stand between
the writes; by the lower quartile of their latencies drift is divided out. With a full budget, and
without an answer, three times more, for twice as long: few long waits make a mean, and what is
collected in the order of writing has its turn late.
Engine. `step` at a place that is known: more of the writes before than after exceed one of many
thresholds. The value is the ratio of means, with an interval by resampling long pieces, which hold
several stalls each.
Cannot tell. Drives that take no discards; a gain below 3 %.
Cost. Up to a capacity; with a full budget up to seven. Source. PROBING 3.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import (
    Axis,
    Contrast,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Undetectable,
    series,
)
from ssdscope.inference.contrast import ratio_of_means
from ssdscope.inference.levels import QUARTILES
from ssdscope.inference.noise import usual
from ssdscope.inference.series import Series, joined
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import (
    MOST_LOST,
    base_request_bytes,
    between_bursts,
    random_offsets,
)
from ssdscope.probes.bench.overwriting import Granule, discard
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.targets.records import OP_READ, OP_WRITE, DeviceInfo
from ssdscope.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

EFFECT = "trim_effect"

SETTLING, BEFORE, AFTER = 0.6, 0.1, 0.25
"""Capacities written: until the drive has settled, before the discard, and after it."""
LONGER, ROUNDS = 2, 3
"""Times as much, and so often, where that does not show it."""
SETTLING_BYTES, MOST_WRITES, LEAST_WRITES = 16 * GIB, 1 << 14, 256
"""At most; and of either side so many writes tell enough, fewer nothing."""
REQUEST_BYTES = 32 * KIB
"""Of a write, or as many whole RMW units as come to more. Longer writes meet collection that goes
on beside shorter ones."""
READ_EVERY, PIECE = 4, 64
PIECES = 24
"""Long ones of either side, that are resampled."""
SETTLING_NS = 600_000_000_000
DISCARDED, DISCARD_BYTES = 0.5, 16 * MIB
"""Of the capacity; and in one command."""
POINTS = 100
"""Of a distribution that is shown."""


@dataclass(frozen=True, kw_only=True)
class Discards(Plan):
    """Random writes to the first half: until settled, and on, with a discard in between.

    The series has the latter: `x` counts writes from the discard on, `y` are latencies over those
    of reads of the second half at the time, `time_ns` the latencies alone.
    """

    unit: Granule
    longer: int = 1

    def counts(self, info: DeviceInfo) -> tuple[int, int, int]:
        """Give how many writes settle the drive, are before the discard, and after it."""
        size = self.unit.size_bytes
        settling = min(SETTLING * info.capacity_bytes, SETTLING_BYTES) / size
        before, after = (
            min(share * info.capacity_bytes / size, MOST_WRITES) for share in (BEFORE, AFTER)
        )
        whole = [int(self.longer * each) // PIECE * PIECE for each in (settling, before, after)]
        return whole[0], whole[1], whole[2]

    def writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that it writes."""
        return sum(self.counts(info)) * self.unit.size_bytes

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Settle, write, discard, write."""
        size, capacity = self.unit.size_bytes, bench.info.capacity_bytes
        half = int(DISCARDED * capacity) // size * size
        settling, before, after = self.counts(bench.info)
        self._settle(bench, rng, half, settling)
        bench.progress("settled", SETTLING)
        parts = [self._written(bench, rng, half, before, MOST_LOST)]
        discard(bench, half, DISCARD_BYTES)
        bench.progress("half of it discarded", SETTLING + BEFORE)
        parts.append(self._written(bench, rng, half, after, MOST_LOST))
        write_ns, read_ns = (np.concatenate(each) for each in zip(*parts, strict=True))
        kept = ~np.isnan(write_ns)
        at, written, read = np.flatnonzero(kept) - before, write_ns[kept], read_ns[kept]
        return Series.of(at, written / usual(read, read.size // PIECES), time_ns=written)

    def _settle(self, bench: Bench, rng: np.random.Generator, half: int, count: int) -> None:
        """Overwrite so often, or for long: where each write merges, a few thousand settle it."""
        done, spent_ns = 0, 0.0
        while done < count and spent_ns < self.longer * SETTLING_NS:
            piece = min(MOST_WRITES // READ_EVERY, count - done)
            # What others disturb while it settles is written all the same.
            written, _ = self._written(bench, rng, half, piece, 1.0)
            done, spent_ns = done + piece, spent_ns + float(np.nansum(written))

    def _written(
        self, bench: Bench, rng: np.random.Generator, half: int, count: int, most_lost: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Overwrite the first half so often; give latencies, and those of reads meanwhile."""
        reads = np.full(count, np.nan)

        def write(part: slice) -> NDArray[np.float64]:
            written, read = self._piece(bench, rng, half, part.stop - part.start)
            reads[part] = np.quantile(read, QUARTILES[0])
            return written

        written = between_bursts(
            bench, count, write, longest=PIECE, again=False, most_lost=most_lost
        )
        return written, reads

    def _piece(
        self, bench: Bench, rng: np.random.Generator, half: int, count: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Overwrite so often, and read after every few writes, and once in the end."""
        size = base_request_bytes(bench.info)
        behind = np.append(np.arange(READ_EVERY, count, READ_EVERY), count)
        lengths = np.full(behind.size, size, np.uint64)
        reads = random_offsets(rng, bench.info.capacity_bytes - half - size, lengths)
        ops = np.insert(np.full(count, OP_WRITE), behind, OP_READ)
        sizes = np.insert(np.full(count, self.unit.size_bytes), behind, size)
        places = np.insert(
            self.unit.places(count, half, rng), behind, reads + np.uint64(-(-half // size) * size)
        )
        latency = bench.issue(ops, places, sizes).latency_ns.astype(float)
        return latency[ops == OP_WRITE], latency[ops == OP_READ]


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer the effect."""
    if not ask.info.writable:
        raise Stopped(Reason.NOT_WRITABLE)
    if not ask.info.discard:
        raise Stopped(Reason.NOT_SUPPORTED, "it takes no discards")
    plan = Discards(unit=_unit(ask))
    if min(plan.counts(ask.info)) < LEAST_WRITES:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    found = _judged(ask.take(plan), absent=False)
    if isinstance(found, Undetectable) and ask.heavy:
        longer = (replace(plan, longer=LONGER, number=number) for number in range(ROUNDS))
        found = _judged(joined(map(ask.take, longer)), absent=True)
    yield found


def _unit(ask: Ask) -> Granule:
    """Give what is written as one: whole RMW units where they are known."""
    unit = int(ask.found("rmw_unit_bytes") or base_request_bytes(ask.info))
    phase = int(ask.found("alignment_phase_bytes") or 0) % unit
    size = -(-REQUEST_BYTES // unit) * unit
    return Granule(size, phase)


def _judged(taken: Series, *, absent: bool) -> Finding:
    """Decide; where less was written than discarded it is never absent."""
    before, after = taken.where(taken.x < 0), taken.where(taken.x >= 0)
    found = step(before.then(after), falls=True, at=0)
    ratio, low, high = ratio_of_means(before.y, after.y, PIECES)
    bound = max(high, 1 / low) - 1 if absent else math.inf
    evidence = _evidence(before.time_ns, after.time_ns, (ratio, low, high))
    told = replace(found, effect=ratio - 1, bound=bound)
    ends = low, high
    return verdict.weighed(EFFECT, told, "step at a place", evidence, value=ratio, interval=ends)


def _evidence(
    before_ns: NDArray[np.float64], after_ns: NDArray[np.float64], gain: tuple[float, float, float]
) -> Evidence:
    """Show both distributions."""
    shares = (np.arange(POINTS) + 0.5) / POINTS
    one, other = float(before_ns.mean()), float(after_ns.mean())
    fitted = Contrast(
        one="before", other="after", one_at=one, other_at=other, axis="x",
        ratio=gain[0], low=gain[1], high=gain[2],
    )  # fmt: skip
    exhibit = Exhibit(
        name="before-and-after-discards",
        title="Random writes before and after half of the drive was discarded",
        caption="How many of the writes to that half take at most so long.",
        x=Axis("latency", "ns", log=True),
        y=Axis("share of writes"),
        series=(
            series("before", np.quantile(before_ns, shares), shares, "steps"),
            series("after", np.quantile(after_ns, shares), shares, "steps"),
        ),
        fitted=(fitted,),
    )
    figures = {"before_ns": one, "after_ns": other, "discarded_share": DISCARDED}
    return Evidence(exhibits=(exhibit,), figures=figures)


def _largest(_: DeviceInfo) -> Sequence[Discards]:
    return (Discards(unit=Granule(REQUEST_BYTES, 0)),)


def _longest(info: DeviceInfo) -> Sequence[Plan]:
    return [replace(_largest(info)[0], longer=LONGER, number=each) for each in range(ROUNDS)]


PROBE = ProbeInfo(
    name="trim",
    summary="how much faster random writes are after half of the drive was discarded",
    weight="standard",
    properties=(EFFECT,),
    cost="up to one capacity, written at random; with a full budget seven",
    detect=detect,
    plans=_largest,
    more=_longest,
    needs=("rmw_unit_bytes", "alignment_phase_bytes"),
)
