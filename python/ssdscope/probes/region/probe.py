"""The family `region`: how much a drive writes with one bit per cell before it slows down.

Question. How large is the region of one bit per cell that a pause empties (`pslc_bytes`)?

Physics. Such a region takes writes several times faster. When it is full, writes wait until a part
of it is folded, or go to the slower blocks. A pause empties it, a flush does not: so writes are
slow behind a flush alone where they were fast behind a pause. A write buffer is as fast again then;
it is off, or passed by forced writes.

Plans. (1) Pairs of ever longer stretches in order, the first behind a pause, the second behind a
flush alone, on a drive that was discarded, so that nothing has to be collected. Where the second is
slower than the first, a region ends.
(2) Equal pairs there, until a `contrast` shows that it is so each time, and the end of each first
stretch is found (`filled`). Blocks that were only begun stay in the region, so that a run ends a
little before it would. Where the RMW unit is not known, requests cut units, which take room twice:
then (3) such pairs of requests twice as long must show the same size.

On drives too large for such a search a long burst at depth looks for what ends sooner (`fills`).

Cannot be told. Regions above an eighth of the capacity: those that take all that is free have no
one size, but where one slows down stands in the evidence. Behind a protected buffer, which neither
a flush nor a forced write passes; where full log blocks look the same; a slow part that mere erases
may make.

Cost. Up to one capacity, written in order. Source. PROBING.md 2.5, 3.7.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Detected, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import BEGUN, ERASES, LEAST_EFFECT
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.bench.write_through import writes_bytes
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.probes.region.filled import filled
from ssdscope.probes.region.fills import Fills, by_fills, fits
from ssdscope.probes.region.stretches import LONGEST, Fill, Search, Stretches, of_kind, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.targets.records import DeviceInfo

NAME = "region"
SIZE = "pslc_bytes"
GROWN_BYTES, ANY_UNIT = 96 * 1024, 192 * 1024
"""Requests of a search that hold whole units grow to the one, of which a region holds enough; and
the other are whole units of any power of two up to 64 KiB, and of three times those."""
FINE, COARSE = 96, 48
"""Requests that fill a region: of whole units, and where these are not known."""
PAIRS = (0.35, 4, 2.2, 1.0), (0.6, 4, 1.6, 0.6), (0.6, 4, 1.4, 0.5), (0.6, 2, 1.4, 0.5)
"""Of the capacity, that equal pairs write in all, how many there are at least, and times a region,
that the stretches of a pair are long: usually, and of larger and larger ones."""
MOST_RUNS, FEWEST = 10, 6
"""Equal pairs; and ratios of their stretches, of parts of these if there are fewer pairs."""
OTHERS = 2, 3
"""Times the length of requests that may cut units, that of others: where as many dies take the room
of cut units twice as in proportion, they are not as many for both."""
LITTLE = ERASES / 2
"""By which share times may differ that are alike: a region makes a difference of twice as much, at
one length in full."""
SOONEST, LATEST = 0.2, 1.5
"""Times the stretch that shows a region the most, that it may be large."""
FAST = 0.6
"""Of what a region seems to hold, that is surely fast."""
WELL_BEFORE = 0.75
"""Of a stretch, by which a region must end for what is behind it to tell."""
LAST = 0.45
"""Of the capacity, in one stretch: as all that is free may take one bit per cell, a third of what
it else holds."""
LONG_REQUEST = 64 * ANY_UNIT
"""Each request cuts one unit at most; so long ones add less than anyone would notice."""
MOST_BYTES = 1 << 35
"""In one stretch of a simulated drive, unless the budget is full: what its computer can bear."""


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer the size of the region."""
    yield _answer(ask)


def _answer(ask: Ask) -> Finding:
    """Search, and measure what shows."""
    plan = _first(ask)
    if plan.most_bytes < LONGEST * ask.info.capacity_bytes and fits(ask.info):
        # No search would come to its end: what ends sooner shows in one burst.
        ask.progress("long bursts", 0.0)
        return by_fills(ask)
    pairs = plan.pairs(ask.info)
    if not pairs:
        return verdict.refused(SIZE, Reason.RANGE_TOO_SMALL, Evidence(), probe=NAME)
    searched = ask.take(plan)
    numbers = range(int(searched.stratum.max()) // 2 + 1)
    ratios = np.log([float(ratio(searched, number)[0]) for number in numbers])
    best, others = int(np.argmax(np.abs(ratios))), np.sort(np.abs(ratios))[:-1]
    if abs(ratios[best]) < math.log1p(LITTLE):
        if plan.most_bytes < LONGEST * ask.info.capacity_bytes:
            said = Evidence(detail="a region may be larger than the longest stretch")
            return verdict.refused(SIZE, Reason.BUDGET_EXHAUSTED, said, probe=NAME)
        return _late(ask, plan) or _nothing(ratios)
    ask.progress("equal stretches", 1 / 3)
    written = sum(length * (one + other) for length, one, other in pairs[: len(numbers)])
    written += 2 * writes_bytes(ask.info)
    fill = _fill(ask, plan, _about(searched, best), written)
    found = _weighed(ask.take(fill))
    if found.bound <= LITTLE and others.max(initial=0.0) < math.log1p(LITTLE):
        return _late(ask, plan) or _nothing(np.delete(ratios, best))
    at = found.estimate
    if at is None:
        return _decided(ask, fill, found)
    if _cuts(ask, fill.length):
        for times in OTHERS:
            found = _both(found, _ends(ask.take(fill.of(times * fill.length))))
        return _decided(ask, fill, found)
    late = at > WELL_BEFORE * fill.one * fill.length
    if found.score >= BEGUN or not late:
        return _decided(ask, fill, found)
    again = _fill(ask, plan, at, written + fill.own_bytes * fill.runs)
    return _decided(ask, again, _weighed(ask.take(again)))


def _first(ask: Ask) -> Search:
    """Give the search, in requests of whole units."""
    unit = int(ask.size("rmw_unit_bytes", unknown=0)) or base_request_bytes(ask.info)
    most = ask.info.capacity_bytes if ask.heavy or ask.info.clock != "virtual" else MOST_BYTES
    phase = int(ask.size("alignment_phase_bytes", unknown=0)) % unit
    grown = GROWN_BYTES if _known(ask) else 4 * ANY_UNIT
    return Search(unit_bytes=unit, phase_bytes=phase, most_bytes=most, grown_bytes=grown)


def _about(searched: Series, best: int) -> float:
    """Give about where the region ends, which shows the most in one pair of the search.

    A flush empties nothing, so that the second of a pair goes on where the first has ended.
    """
    longest = float(searched.x[searched.stratum == 2 * best].max())
    found = max(
        (_through(searched, each) for each in (best, best + 1)), key=lambda each: each.score
    )
    about = found.estimate if found.estimate is not None and found.score > 0 else longest
    return float(np.clip(about, SOONEST * longest, LATEST * longest))


def _through(searched: Series, number: int) -> Weighed:
    """Find where a pair ends that is one stretch."""
    one, other = (searched.where(searched.stratum == 2 * number + each) for each in (0, 1))
    if not len(one):
        return nothing()
    behind = replace(
        other, x=other.x + len(one) * one.x[1], stratum=one.stratum[0] + 0 * other.stratum
    )
    return _ends(one.then(behind))


def _ends(taken: Series) -> Weighed:
    """Find where first stretches end; drift makes less of a difference than what follows does."""
    rested = of_kind(taken, 0)
    first = rested.y[: len(rested) // 8]
    return filled(rested, (1 + LITTLE) * float(np.median(first)) if first.size else 0.0)


def _fill(ask: Ask, first: Stretches, about: float, written: int) -> Fill:
    """Give equal pairs for a region of about a size.

    Raises
    ------
    Stopped
        If too much was written before.
    """
    known, capacity = _known(ask), ask.info.capacity_bytes
    unit = first.unit_bytes if known else ANY_UNIT
    length = max(round(about / FINE / unit), 1) * unit
    if not known:
        length = unit << max(round(math.log2(about / COARSE / unit)), 0)
    for share, fewest, longer, again in PAIRS:
        fill = Fill(
            unit_bytes=unit,
            length=length,
            phase_bytes=first.phase_bytes % unit,
            one=round(longer * about / length),
            other=max(round(again * about / length), 1),
            runs=1,
        )
        others = sum(fill.of(times * length).own_bytes for times in OTHERS)
        left = min(share, 1 - (written + (2 * others if _cuts(ask, length) else 0)) / capacity)
        runs = int(left * capacity / fill.own_bytes)
        if runs >= fewest:
            return replace(fill, runs=min(runs, MOST_RUNS))
    raise Stopped(Reason.RANGE_TOO_SMALL, "it is too large to be measured so often")


def _known(ask: Ask) -> bool:
    return ask.size("rmw_unit_bytes", unknown=-1) >= 0


def _cuts(ask: Ask, length: int) -> bool:
    """Whether units that requests cut may count."""
    return not _known(ask) and length < LONG_REQUEST


def _weighed(taken: Series) -> Weighed:
    """Find where first stretches end, and that second ones are slow from the beginning."""
    ends = _ends(taken)
    pairs = np.unique(taken.stratum // 2)
    surely_fast = FAST * (ends.estimate or math.inf)
    parts = -(-FEWEST // pairs.size)
    times = [float(each) for pair in pairs for each in ratio(taken, int(pair), surely_fast, parts)]
    slower = _alike(np.array(times))
    score, effect = min(ends.score, slower.score), (slower.estimate or 1.0) - 1
    return replace(ends, score=score, effect=effect, bound=slower.bound)


def _both(found: Weighed, other: Weighed) -> Weighed:
    """Hold what requests of two lengths have found against each other: a cut unit counts twice."""
    if found.interval is None or other.interval is None or other.score <= 0:
        return other
    alike = other.interval[0] <= found.interval[1] and found.interval[0] <= other.interval[1]
    return found.against([Rival("units that requests cut", math.inf if alike else 0.0)])


def _decided(ask: Ask, fill: Fill, found: Weighed) -> Finding:
    """Tell the size, if it is sure, and no mere erases."""
    taken = ask.take(fill)
    evidence = Evidence(
        figures={"request_bytes": fill.length, "flushed_over_rested": 1 + found.effect}
    ).showing(_exhibit(taken, fill, found.estimate))
    if found.estimate is not None and found.effect < ERASES:
        said = evidence.saying("erases alone may make it so much slower behind what was fast")
        return verdict.refused(SIZE, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    return verdict.weighed(SIZE, found, "filled", evidence, probe=NAME)


def _late(ask: Ask, first: Search) -> Finding | None:
    """Tell a region if long bursts do, where a stretch of almost half of the drive slows down.

    Else say where that was: a region may take all that is free, as on a drive that was discarded.
    """
    if not ask.info.discard:
        return None
    ask.progress("a stretch of almost half of the drive", 1 / 2)
    length = -(-ANY_UNIT // first.unit_bytes) * first.unit_bytes
    last = Fill(
        unit_bytes=first.unit_bytes,
        phase_bytes=first.phase_bytes,
        length=length,
        one=int(LAST * ask.info.capacity_bytes) // length,
        other=0,
        runs=1,
    )
    taken = ask.take(last)
    found = _ends(taken)
    if found.estimate is None or not verdict.is_found(found, "filled") or found.effect < ERASES:
        return None
    if ask.heavy and fits(ask.info):
        ask.progress("long bursts", 2 / 3)
        if isinstance(filled_twice := by_fills(ask), Detected):
            return filled_twice
    evidence = Evidence(
        figures={"slows_down_at_bytes": found.estimate},
        detail="a region so large takes what is free, and its size changes with that",
    ).showing(_exhibit(taken, last, found.estimate))
    return verdict.refused(SIZE, Reason.MODEL_MISFIT, evidence, probe=NAME)


def _alike(ratios: NDArray[np.float64]) -> Weighed:
    """Hold ratios against one."""
    values = np.column_stack([np.ones(ratios.size), ratios])
    strata = np.repeat(np.arange(ratios.size), 2)
    return contrast(Series.of(np.tile([0, 1], ratios.size), values, stratum=strata))


def _nothing(ratios: NDArray[np.float64]) -> Finding:
    """Say that there is no region, if pairs of all lengths differ as little as by chance."""
    trace = _alike(np.exp(ratios))
    if trace.bound > 2 * LEAST_EFFECT and (trace.estimate or 1.0) > 1:
        said = Evidence(detail="writes are a little slower behind a flush than behind a pause")
        return verdict.refused(SIZE, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    bound = math.expm1(float(np.abs(ratios).max(initial=0.0)))
    why = "writes in order are as fast behind a flush as behind a pause, at all lengths"
    return verdict.absent(SIZE, bound, Evidence(), probe=NAME, reason=why)


def _exhibit(taken: Series, fill: Fill, at: float | None) -> Exhibit:
    """Show the rate of each request, the median of equal stretches."""
    lines = []
    for second, words in enumerate(("behind a pause", "behind a flush alone")):
        some = of_kind(taken, second)
        if not len(some):
            break
        places = np.unique(some.x)
        rates = [fill.length / float(np.median(some.y[some.x == each])) * 1e9 for each in places]
        lines.append(series(words, places, np.array(rates), "points"))
    return Exhibit(
        name="in-order-behind-a-pause",
        title="Writing in order behind a pause",
        caption="Rate of each request, median over equal stretches; behind the mark it drops.",
        x=Axis("written", "bytes"),
        y=Axis("rate", "bytes/s", log=True),
        series=tuple(lines),
        fitted=() if at is None else (Step(at=at, word="full"),),
    )


def plans(info: DeviceInfo) -> list[Plan]:
    """Return a search, and pairs that write as much as is left of one capacity."""
    unit = base_request_bytes(info)
    search = Search(unit_bytes=unit, most_bytes=info.capacity_bytes, grown_bytes=GROWN_BYTES)
    left = info.capacity_bytes - search.writes_bytes(info) - writes_bytes(info)
    fill = Fill(unit_bytes=unit, length=unit, one=left // unit, other=0, runs=1)
    return [search, fill]


def more(info: DeviceInfo) -> list[Plan]:
    """Return long bursts, which may follow the search."""
    return [Fills()] if fits(info) else []


PROBE = ProbeInfo(
    name=NAME,
    summary="region written with one bit per cell: how much fits before writes slow down",
    weight="standard",
    properties=(SIZE,),
    cost="up to one capacity, written in order; up to 1.8 with a full budget",
    detect=detect,
    plans=plans,
    more=more,
    needs=("rmw_unit_bytes", "alignment_phase_bytes"),
)
