"""The probe `open_units`: how many merge units can be written in order, in turn.

Physics. A drive with log blocks keeps one for each merge unit that is being written. As long as
every stream of writes has its own, each log block fills in order and simply takes the place of
the old data. One stream more, and a log block must be merged before its time for each write that
comes to a unit without one (flashbench -O; PROBING.md 3.4). A drive that gives only one stream a
log block of its own and all others a common one pays later, when the common ones are full.

Statistic. n merge units next to each other are written in order, in turn, in sixteenths of a
unit, the cache switched off or each write followed by a flush. Two units one after the other, and
two in turn, are compared by what they cost, after so much was written by two that common log
blocks, too, must be full (128 units); what others disturbed is left out, up to one half. More
streams are written for six rounds; beyond the limit every write waits for a merge. The median
counts, of writes behind a whole round in which others did nothing.

Decision. If nobody else writes and the second of two streams begins with a merge of the first one,
which began without, the answer is one. So it is if two streams cost at least 1.2 times what one
does, in both halves of the measurement, and a tenth more by ranks (0.1 %); unless the drive holds
so little of its mapping table that both need loading. Else the costs of 2, 3, 4, 6 ... 64 streams
are measured at two places each; the largest rise between neighbours (loading parts of the mapping
table costs less than a merge) must be at least what one write costs, and is then halved until n
streams fit and n + 1 do not; two fresh runs of either must agree, those that fit over nearly whole
units. Streams fit that write more than a round at less than the geometric mean of cheap and dear,
as what costs most varies most. Absent if there are no merge units.

Assumptions. The merge unit and its phase are known, exactly.
Cost. Some 500 merge units written, at most ten capacities; tens of merges per step.
Source. flashbench (bradfa fork), PROBING.md 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import WAITS_NS
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import unit_or_base, write_through
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "open_units"
OPEN = "open_units"

PARTS = 16
"""Writes to a unit, at most."""
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
LONG_UNITS = 128
MEASURED_UNITS, PAIR_LOOKS = 48, 3
BY_CHANCE = 0.001
"""Probability that two streams are dearer than one."""
ROUNDS = 6
ENOUGH = 8
"""Writes behind a whole round, that nobody disturbed."""
PEACE = 4
"""Writes that are known to be disturbed or not."""
COARSE_TRIES, TRIES = 6, 16
LONGEST_WAIT_NS, WAITS_GROW = 20_000_000_000, 1.5
"""For others to go away."""
RARE = 5
"""Writes that may be dear for another reason."""
PLACES = 2
DEARER = 1.2
SECONDS, WAITS = 12, 2.0
"""Pairs of streams, and times what three of four first writes of the first stream take at most that
those of the second do at least, which wait for a merge of the first."""
LEAST_UNITS = 12
MOST_OF_UNITS = 0.8
"""Streams need units to choose from."""
DECLARED_CAPACITIES = 10
PIECE = 16
"""Writes at once, fewer while others disturb."""
MOST_LOST = 0.5
"""Share that others may disturb: of the rest the median or mean of costs that differ manifold."""


@dataclass
class Streams:
    """Writes to merge units in turn, and what they cost.

    Attributes
    ----------
    unit_bytes, phase_bytes
        Of a merge unit.
    part_bytes
        Of a write.
    costs
        Mean latencies by number of streams, in nanoseconds; the last that was measured.
    """

    bench: Bench
    unit_bytes: int
    phase_bytes: int
    part_bytes: int
    rng: np.random.Generator
    costs: dict[int, float] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """Whole merge units on the drive."""
        return (self.bench.info.capacity_bytes + self.phase_bytes) // self.unit_bytes

    def _places(self, count: int, rounds: int) -> NDArray[np.uint64]:
        """Give first bytes of so many rounds over `count` units that lie side by side."""
        first = int(self.rng.integers(1, self.units - count)) + np.arange(count)
        starts = first * self.unit_bytes - self.phase_bytes
        steps = np.arange(rounds) * self.part_bytes
        return (steps[:, None] + starts[None, :]).astype(np.uint64).ravel()

    def briefly(self, count: int) -> float:
        """Cost of a few rounds over so many units, behind one in which nobody else wrote.

        Where others never leave as much time, of the end of the longest stretch without them:
        beyond the limit writes are dear before all streams have come round.
        """
        longest = np.empty(0)
        for stretch in self._runs(count, self._rounds(ROUNDS), COARSE_TRIES):
            longest = max(longest, stretch, key=len)
            if longest.size >= self._needed(count, ROUNDS):
                break
        if longest.size < ENOUGH:
            raise Stopped(Reason.INTERFERENCE, "others used the drive during all streams")
        self.costs[count] = float(np.median(longest[min(count, longest.size - ENOUGH) :]))
        return self.costs[count]

    def fits(self, count: int, limit_ns: float, rounds: int = ROUNDS) -> bool:
        """Whether so many streams go on without merges, however often they come round.

        A write of another user takes a log block, and streams that just fitted merge one another
        for a round; idle time may free all log blocks. So only stretches count in which others did
        nothing: of cheap writes beyond a whole round, or dear ones behind one.
        """
        for stretch in self._runs(count, self._rounds(rounds), TRIES):
            last = stretch[-self._needed(count, rounds) :]
            if last.size < self._needed(count, rounds):
                continue
            if np.sort(last)[-min(RARE, last.size // 2)] <= limit_ns:
                return True
            if np.median(last[-ENOUGH:]) > limit_ns:
                return False
        raise Stopped(Reason.INTERFERENCE, f"others used the drive whenever {count} streams wrote")

    def _rounds(self, most: int) -> int:
        # The last one ends all units, which are erased then, whether they fit or not.
        parts = self.unit_bytes // self.part_bytes
        return min(most, max(parts - 1, min(parts, 2)))

    def _needed(self, count: int, rounds: int) -> int:
        """Count the writes of a whole round and enough of the next ones."""
        return count + min(ENOUGH, (self._rounds(rounds) - 1) * count)

    def _runs(self, count: int, rounds: int, tries: int) -> Iterator[NDArray[np.float64]]:
        """Write so many streams, each time after a longer pause; give what was at peace longest.

        Longer than need be is no pause: what others write takes log blocks, which are merged first.
        """
        shorter = TRIES / tries * (np.arange(tries)[::-1] + self.rng.random())
        waits_ns = LONGEST_WAIT_NS / WAITS_GROW**shorter
        for wait_ns in waits_ns:
            self.bench.renew(State.FILLED)
            self.bench.idle(int(wait_ns))
            places = self._places(count, rounds)
            enough = places.size if rounds > ROUNDS else ROUNDS // 2 * count + ENOUGH
            yield self._in_peace(places, enough)

    def _in_peace(self, places: NDArray[np.uint64], enough: int) -> NDArray[np.float64]:
        """Write one by one; latencies of the longest stretch in which others did nothing.

        Parameters
        ----------
        enough
            How many writes of a stretch need no more behind them.
        """
        longest = stretch = np.empty(0)
        for begin in range(0, places.size, PEACE):
            part = places[begin : begin + PEACE]
            try:
                more = write_through(self.bench, part, self.part_bytes, most_foreign_share=0.0)
            except Stopped as stop:
                if stop.reason is not Reason.INTERFERENCE:
                    raise
                stretch = np.empty(0)
            else:
                stretch = np.append(stretch, more)
            longest = max(longest, stretch, key=len)
            if stretch.size >= enough:
                break
        return longest

    def _written(self, places: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Write one by one; latencies, NaN where others disturbed."""

        def write(part: slice) -> NDArray[np.float64]:
            return write_through(self.bench, places[part], self.part_bytes)

        return between_bursts(
            self.bench, places.size, write, longest=PIECE, again=False, most_lost=1.0
        )

    def second_waits(self) -> bool:
        """Whether each second stream that begins waits for a merge of the first, which did not.

        Both are written to their ends, so that nothing is left open; a drive with log blocks for
        several streams, or for single units, would give the second what it gave the first. Unless
        others write meanwhile: what they write may leave one log block free each time.
        """
        rounds = min(SECONDS, self.units // 2)
        parts = self.unit_bytes // self.part_bytes
        written = np.array([self._written(self._places(2, parts)) for _ in range(rounds)])
        if rounds <= SECONDS // 2 or np.isnan(written).any():
            return False
        first, second = written[:, 0], written[:, 1]
        if np.percentile(second, 25) < WAITS * np.percentile(first, 75):
            return False
        self.costs[1], self.costs[2] = float(np.median(first)), float(np.median(second))
        return True

    def pair_over_one(self) -> bool | None:
        """Say whether two streams cost more than one, once any common log blocks must be full.

        Two units are written one after the other, and two in turn, so that what is merged now and
        then, as others have written, is in both alike. None if it is not clear.
        """
        from scipy.stats import mannwhitneyu

        spent = np.empty((0, 2))
        for _ in range(PAIR_LOOKS):
            spent = np.concatenate([spent, self._pairs()])
            known = [column[~np.isnan(column)] for column in spent.T]
            self.costs[1], self.costs[2] = (float(np.median(column)) for column in known)
            little_more = known[0] * (1 + DEARER) / 2
            p_value = float(mannwhitneyu(known[1], little_more, alternative="greater").pvalue)
            halves = [np.nanmedian(spent[half::2], axis=0) for half in (0, 1)]
            if p_value <= BY_CHANCE and all(two >= DEARER * one for one, two in halves):
                return True
            if p_value > BY_CHANCE and self.costs[2] < DEARER * self.costs[1]:
                return False
        return None

    def _pairs(self) -> NDArray[np.float64]:
        """Give the costs of two units one after the other, and of two in turn; shape (n, 2)."""
        for wait_ns in (0, *WAITS_NS):
            self.bench.idle(wait_ns)
            for _ in range(min(LONG_UNITS, 2 * self.units) // 2):
                self._whole(2)
            rounds = range(min(MEASURED_UNITS, self.units) // 2)
            # In turn, so that drift is in both.
            spent = np.array([(self._whole(1), self._whole(1), self._whole(2)) for _ in rounds])
            if np.isnan(spent).mean() <= MOST_LOST:
                return np.column_stack([spent[:, :2].mean(axis=1), spent[:, 2]])
        raise Stopped(Reason.INTERFERENCE, "others used the drive during most streams")

    def _whole(self, count: int) -> float:
        """Cost of writing so many units to their ends; NaN if others disturbed."""
        places = self._places(count, self.unit_bytes // self.part_bytes)
        latencies = self._written(places)
        return (
            float("nan") if np.isnan(latencies).mean() > MOST_LOST else float(np.nanmean(latencies))
        )


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    merge = bench.known.get("merge_unit_bytes")
    if isinstance(merge, Absent):
        if merges_for_each(bench, unit_or_base(bench)):
            detail = "it writes like a drive that merges log blocks, which was not found to"
            raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
        reason = "the drive has no merge units: what is written goes where there is room"
        yield Absent(name=OPEN, probe=NAME, bound=0.0, reason=reason)
        return
    if not isinstance(merge, Detected):
        why = merge.reason if isinstance(merge, Undetectable) else Reason.EFFECT_BELOW_NOISE
        raise Stopped(why, "the merge unit must be known first")
    streams = _streams(bench, int(float(merge.value)))
    if streams.units < LEAST_UNITS:
        raise Stopped(Reason.RANGE_TOO_SMALL, f"fewer than {LEAST_UNITS} merge units")
    yield _answer(streams)


def _streams(bench: Bench, merge_bytes: int) -> Streams:
    """Divide a merge unit in whole RMW units, as many parts as may be up to `PARTS`."""
    unit = unit_or_base(bench).size_bytes
    whole = max(merge_bytes // unit, 1)
    parts = max(each for each in range(1, PARTS + 1) if whole % each == 0)
    phase = int(bench.found("alignment_phase_bytes") or 0)
    return Streams(bench, merge_bytes, phase, merge_bytes // parts, bench.rng(NAME))


def _answer(streams: Streams) -> Finding:
    bench = streams.bench
    bench.progress("one stream and two", 0.0)
    if streams.second_waits():
        return _detected(streams, 1, streams.costs[2] / streams.costs[1])
    dearer = streams.pair_over_one()
    ratio = streams.costs[2] / streams.costs[1]
    alone = _table_holds(streams)
    if alone and dearer:
        return _detected(streams, 1, ratio)
    if alone and dearer is None:
        detail = f"two streams cost {ratio:.2f} times what one does, which may be chance"
        raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
    costs = []
    counts = [each for each in COUNTS if each <= MOST_OF_UNITS * streams.units]
    for done, count in enumerate(counts):
        bench.progress("more and more streams", 0.2 + 0.6 * done / len(counts))
        # With one too many, what is merged may cost little in some places.
        costs.append(max(streams.briefly(count) for _ in range(PLACES)))
    rises = np.diff(costs)
    at = int(np.argmax(rises))
    if rises[at] < min(costs):
        reason = Reason.EFFECT_BELOW_NOISE
        if bench.info.write_cache.control not in ("absent", "switchable"):
            reason = Reason.WRITE_ACKED_FROM_BUFFER
        raise Stopped(reason, f"{counts[-1]} streams cost no more than two")
    limit = float(np.sqrt(costs[at] * costs[at + 1]))
    cheap, dear = counts[at], counts[at + 1]
    while dear - cheap > 1:
        middle = (cheap + dear) // 2
        cheap, dear = (middle, dear) if streams.fits(middle, limit) else (cheap, middle)
    for _ in range(2):
        # Common log blocks take some rounds of any number of streams, but not nearly whole units.
        if not streams.fits(cheap, limit, PARTS) or streams.fits(dear, limit):
            detail = f"near {cheap} streams the cost is now below the limit and now above"
            raise Stopped(Reason.EFFECT_BELOW_NOISE, detail)
    return _detected(streams, cheap, costs[at + 1] / costs[at])


def _table_holds(streams: Streams) -> bool:
    """Whether two units can be written in turn without loading parts of the mapping table.

    Where they cannot, two streams are dearer than one for that alone. If it is not known how much
    is held, the first few writes tell: loading takes its time at once, merging when logs are full.
    """
    held = streams.bench.known.get("map_cache_bytes")
    if isinstance(held, Detected):
        return float(held.value) > 2 * streams.unit_bytes
    return isinstance(held, Absent) or streams.briefly(2) < DEARER * streams.costs[1]


def _detected(streams: Streams, value: int, ratio: float) -> Detected:
    counts = sorted(streams.costs)
    picture = Picture(
        title="Merge units written in order, in turn",
        caption="With more streams than log blocks each write waits for a merge.",
        x=Axis("streams", log=True),
        y=Axis("mean latency", "ns", log=True),
        series=[series("writes", counts, [streams.costs[each] for each in counts], "points")],
        marks=[(float(value), "open units")],
    )
    evidence = {
        "streams": counts,
        "mean_latency_ns": [streams.costs[each] for each in counts],
        "write_bytes": streams.part_bytes,
        "picture": picture.to_json(),
    }
    return Detected(
        name=OPEN, probe=NAME, value=value, interval=None, effect=ratio - 1, evidence=evidence
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Of the smallest drive that has enough merge units; larger ones write a smaller share."""
    return DECLARED_CAPACITIES * info.capacity_bytes


PROBE = ProbeInfo(
    name=NAME,
    summary="merge units that can be written in order at the same time",
    weight="heavy",
    properties=(OPEN,),
    cost="up to ten capacities written on the smallest drives",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.FILLED,
)
