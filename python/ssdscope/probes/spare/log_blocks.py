"""Spare space of a drive that merges: what its log blocks take before the first merge.

Part of the family `spare`.

Physics. Small writes all over such a drive fill its log blocks. When all are full one is merged:
every merge unit that has something in it is copied whole. A drive with one log block for each unit
being written has none left after as many writes as it has, and merges for each from then on. One
with log blocks in common fills them one after the other, and a write waits each time that one more
is full: after a whole number of log blocks, and again after each further one. None of the writes
begins a merge unit, for which a drive may open a log block of its own.

Decision. A write that takes as long as a 64th of a merge unit, written unit by unit, waits for a
merge: so many planes copy it at once at the most. If
far more writes wait than log blocks can be full, the first of them says what fitted before. Else
waits must come where log blocks are full, and no two about one; each that does speaks for it by how
unlikely that is by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.levels import APART, NEXT_TO_NONE
from ssdscope.inference.series import Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import MIN_REQUEST_BYTES
from ssdscope.probes.bench.overwriting import write_through
from ssdscope.probes.spare.overwrites import Overwrites

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.probes.plan import Ask
    from ssdscope.targets.records import DeviceInfo

__all__ = ["Merging", "full_from", "spare", "units"]

NONE = "less than 1 % can be overwritten before the drive merges"
PLANES = 64
"""That copy a merge unit together, at most."""
DEARER = 8.0
"""Times the usual at least: a merge of a few units."""
MOST_SHARE = 1.3
"""Of the capacity: several times more than log blocks hold."""
HELD = 0.6
"""Of what the table in memory covers: what is surely at hand."""
USUAL, FIRST = 8, 1024
"""Writes to one place that tell what one takes; and those that show if nearly all merge."""
ROWS, POINTS = 8192, 240
"""Of a series, and of an exhibit."""
WAITS = 8
"""That must come where log blocks are full, or most of them."""
NEAR, MOSTLY = 0.02, 0.9
"""Of a log block: how far from where it is full waits are, in the mean; and how many of them."""


def units(ask: Ask) -> dict[str, Any]:
    """Give the RMW unit and where it begins, by default of the smallest usual size."""
    usual = max(MIN_REQUEST_BYTES, ask.info.logical_block_bytes)
    unit = int(float(ask.found("rmw_unit_bytes") or usual))
    return {"unit_bytes": unit, "phase_bytes": int(ask.found("alignment_phase_bytes") or 0) % unit}


@dataclass(frozen=True, kw_only=True)
class Merging(Overwrites):
    """One place again and again, and then units all over a part of the drive, one by one.

    It is as large as the table in memory covers: no write waits for a look-up. Gives in stratum 0
    what the former take, in 1 the longest of some of the latter each, by the bytes written before
    it; in 2 those before which others wrote, too.

    Attributes
    ----------
    window_bytes
        Of the part.
    """

    window_bytes: int

    def _drawn(self, info: DeviceInfo, rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
        """Draw the first bytes of requests, none of which begins a merge unit."""
        last = max(min(self.window_bytes // self.unit_bytes, self._count(info)) // self.every, 2)
        drawn = rng.integers(1, last, count) * self.every + rng.integers(1, self.every, count)
        return self._places(info, drawn)

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Overwrite until a few merges are seen."""
        size, most = self.unit_bytes, self.share * bench.info.capacity_bytes
        one = np.full(USUAL, self._drawn(bench.info, rng, 1)[0], np.uint64)
        usual = write_through(bench, one, size, most_foreign_share=math.inf)
        longest = _longest(usual, self.every)
        # The former have filled part of a log block.
        written, seen = float(USUAL * size), False
        places: list[NDArray[Any]] = []
        latencies: list[NDArray[Any]] = []
        kinds: list[NDArray[np.int64]] = []
        begun = bench.foreign
        while written < most and not seen:
            before, chunk = bench.foreign, self._drawn(bench.info, rng, max(FIRST, self.every))
            latencies.append(write_through(bench, chunk, size, most_foreign_share=math.inf))
            bytes_each = size + bench.foreign.since(before).written_bytes / chunk.size
            places.append(written + np.arange(chunk.size) * bytes_each)
            shared = bench.foreign.since(begun).written_bytes > 0
            kinds.append(np.full(chunk.size, 1 + shared))
            written += chunk.size * bytes_each
            seen = _told(np.concatenate(places), np.concatenate(latencies), longest, self)
            bench.progress("filling log blocks", min(written / most, 1.0))
        where, kind, took = (np.concatenate(each) for each in (places, kinds, latencies))
        rows = np.array_split(np.arange(took.size), min(ROWS, took.size))
        last = np.array([row[took[row].argmax()] for row in rows])
        return Series.of(
            np.concatenate([np.zeros(USUAL), where[last]]),
            np.concatenate([usual, took[last]]),
            stratum=np.concatenate([np.zeros(USUAL, np.int64), kind[last]]),
        )


def _longest(usual: NDArray[np.float64], every: int) -> float:
    """Give how long a write takes at most that waits for no merge."""
    return max(every / PLANES, DEARER) * float(np.median(usual))


def _told(
    places: NDArray[np.float64], latencies: NDArray[np.float64], longest: float, plan: Merging
) -> bool:
    """Say whether it is clear by now, one way or the other."""
    unit, block = plan.unit_bytes, plan.every * plan.unit_bytes
    if _often(places, latencies > longest, block, unit):
        return True
    waits = places[latencies > _long(longest, latencies)]
    found = full_from(waits, block, unit)
    return waits.size > 2 * WAITS or (waits.size >= WAITS and found.score >= APART)


def _often(places: NDArray[np.float64], slow: NDArray[np.bool_], block: int, unit: int) -> bool:
    """Say whether writes wait far more often than log blocks can be full.

    With a log block for each merge unit all writes wait but for those that meet one that is open:
    a few, or nearly all. Between once a log block and always lies, by ratio, the root.
    """
    half = slow.size // 2
    blocks = float(places[-1] - places[half]) / block
    return bool(slow[half:].sum() > math.sqrt(block / unit) * blocks)


def _long(longest: float, latencies: NDArray[np.float64]) -> float:
    """Give what waits for merges take that copy many units, and no spike does."""
    return math.sqrt(longest * float(latencies.max()))


def spare(ask: Ask, merge_bytes: int, name: str, probe: str) -> Finding:
    """Answer with what log blocks take."""
    unit = units(ask)
    every, rest = divmod(merge_bytes, unit["unit_bytes"])
    if every < 2 or rest:
        said = Evidence(detail="a merge unit holds no several RMW units")
        return verdict.refused(name, Reason.MODEL_MISFIT, said, probe=probe)
    covered = ask.size("map_cache_bytes", unknown=math.inf) or math.inf
    window = int(min(HELD * covered, ask.info.capacity_bytes))
    taken = ask.take(Merging(every=every, share=MOST_SHARE, window_bytes=window, **unit))
    usual, written = taken.where(taken.stratum == 0), taken.where(taken.stratum > 0)
    longest = _longest(usual.y, every)
    slow = written.y > longest
    capacity = ask.info.capacity_bytes
    evidence = Evidence(figures={"capacity_bytes": capacity, "waits": int(slow.sum())})
    if _often(written.x, slow, merge_bytes, unit["unit_bytes"]):
        # The first of them may be a spike, or the last that fitted.
        if float(np.median(written.x[slow][:3])) < NEXT_TO_NONE * capacity:
            return verdict.absent(name, NEXT_TO_NONE, evidence, probe=probe, reason=NONE)
        return verdict.refused(name, Reason.EFFECT_BELOW_NOISE, evidence, probe=probe)
    long = written.y > _long(longest, written.y)
    events = written.x[long]
    shared = bool(long.any()) and written.stratum[long][0] > 1
    found = full_from(events, merge_bytes, unit["unit_bytes"])
    if shared:
        found = _shared(events, merge_bytes, found)
    if found.estimate is None or found.interval is None or found.score < APART:
        said = evidence.saying("writes do not wait where log blocks are full")
        return verdict.refused(name, Reason.EFFECT_BELOW_NOISE, said, probe=probe)
    low, high = found.interval
    share, interval = found.estimate / capacity, (low / capacity, high / capacity)
    evidence = evidence.showing(_waits(written, found.estimate)).noting(spare_bytes=found.estimate)
    if interval[1] < NEXT_TO_NONE:
        return verdict.absent(name, NEXT_TO_NONE, evidence, probe=probe, reason=NONE)
    if share < NEXT_TO_NONE:
        return verdict.refused(name, Reason.EFFECT_BELOW_NOISE, evidence, probe=probe)
    return verdict.detected(name, share, interval, found.effect, evidence, probe=probe)


def full_from(events: NDArray[np.float64], block_bytes: int, unit_bytes: int) -> Weighed:
    """Find the first of several waits from which on they come where log blocks are full.

    Parameters
    ----------
    events
        Bytes written before each.
    """
    if not events.size:
        return nothing()
    scale = max(NEAR, unit_bytes / block_bytes)
    off = np.abs(events / block_bytes - np.round(events / block_bytes))
    # Where a log block is full, but for a few units; or anywhere.
    gains = np.log(MOSTLY * np.exp(-off / scale) / (2 * scale) + 1 - MOSTLY)
    # A log block is full once.
    gains[1:][np.diff(events) < block_bytes / 2] = math.log(1 - MOSTLY)
    sums = np.cumsum(np.concatenate([[0.0], gains]))
    ends = np.minimum(np.arange(events.size) + WAITS, events.size)
    behind = sums[ends] - sums[:-1]
    good = np.flatnonzero((behind >= min(APART, behind.max())) & (off <= 4 * scale))
    best = int(good[0]) if good.size else int(behind.argmax())
    value = float(max(round(float(events[best]) / block_bytes), 1) * block_bytes)
    interval = value - unit_bytes, value + unit_bytes
    return Weighed(value, interval, float(behind[best]), DEARER - 1, DEARER - 1)


def _shared(events: NDArray[np.float64], block_bytes: int, found: Weighed) -> Weighed:
    """Take the first of several waits about a log block apart, where others fill them, too."""
    gaps = np.diff(events[:WAITS]) / block_bytes
    value = found.estimate
    if found.score < APART:
        if gaps.size < WAITS - 1 or gaps.min() < 1 / 2 or gaps.max() > 2:
            return nothing()
        value = float(events[0])
    # What they wrote before may be a log block more or less.
    ends = ((value or 0.0) - block_bytes, (value or 0.0) + block_bytes)
    return Weighed(value, ends, max(found.score, APART), DEARER - 1, DEARER - 1)


def _waits(written: Series, at: float) -> Exhibit:
    """Show the longest writes."""
    chosen = np.sort(np.argsort(written.y)[-POINTS:])
    return Exhibit(
        name="overwrites",
        title="Where random overwrites begin to wait for merges",
        caption="The longest of many writes, one at a time; none begins a merge unit.",
        x=Axis("overwritten", "bytes"),
        y=Axis("time of a write", "ns"),
        series=(series("writes", written.x[chosen], written.y[chosen], "points"),),
        fitted=(Step(at=at, word="log blocks full"),),
    )
