"""The family `merging`: the span of a log block, and how many a drive keeps open for streams.

Physics. A firmware with log blocks maps spans of B bytes as a whole. What is written again goes to
a log block, which is merged when its place is needed: the whole span is copied, or, if it was
written in order from its beginning, its old block is only erased. With a log block for each span,
a write merges unless its span has one; with log blocks in common, one is kept for what is written
in order, and a write to the beginning of a span merges what that one holds. (kuo2009, table 3;
ryu2009, figure 6; Lee et al., FAST, 2007.)

Plan. The beginning of the drive is overwritten in order: each span's first write waits, so that
waits come back at multiples of B (engine `period`, `multiples`). So do those of the blocks that a
page-mapped drive erases and of tables that it loads in parts; so single writes must tell, far from
each other. Written where spans begin, or parts of the candidate: if they alone wait, log blocks are
in common (`multiples`). In pairs at random distances, once all log blocks are taken: if the second
waits where it is not in the span of the first, each span has its own (engine `cells`). They wait
longer than reads for a table among such writes; a part of the candidate must show in order, too, as
a stripe of an array does not. How many, the same spans written again in the reverse order tell:
those that come last still have theirs (engine `step`).

What it cannot tell. Spans of which six do not fit in a quarter of the drive. Merges that a buffer
does in the background, as no write waits for them; or that all writes wait for. The number of more
than 127 log blocks, and any at all if they hold a quarter of the drive. Where the RMW unit is not
known: whether there are none, and spans that do not begin where the drive does.

Cost. A quarter of the capacity in order, and 3,000 single writes, nearly all of which may merge;
and, where nothing shows, three to a quarter of the spans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, Step, series
from ssdscope.inference.cells import cells
from ssdscope.inference.levels import LEAST_EFFECT, QUARTILES
from ssdscope.inference.period import multiples
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.bench import write_through
from ssdscope.probes.bench.discipline import base_request_bytes
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.merging.plans import (
    LOGS,
    Begins,
    InOrder,
    Pairs,
    Reversed,
    Scattered,
    full,
)
from ssdscope.probes.plan import Ask, Plan, State
from ssdscope.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.targets.records import DeviceInfo

UNIT, OPEN, PHASE = "merge_unit_bytes", "open_units", "alignment_phase_bytes"
RMW_UNIT = "rmw_unit_bytes"

SHARE, MOST_WRITES, MOST_PAIRS = 4, 1 << 17, 1 << 15
"""Part of the capacity that is written in order, and that log blocks may take; and how many."""
PERIODS = 6
"""That are seen of the largest; of spans there must be twice as many, to choose from."""
MULTIPLES = range(2, 33)
"""Of what repeats in order: writes of parts of a unit fill a log block with whole units."""
SINGLES, LOOKS, PASSES = 256, 2, 6
"""Single writes of a kind: of those behind a row of parts one in a few begins a span. Looks at
pairs; and passes over the same spans."""
LEAST_BYTES = 48 * MIB
"""Of a drive: of a smaller one that is more than the capacity."""
LEAST_UNITS = 16
"""Of a span for which there may be more log blocks than single writes: pages are shorter."""
LONGER = 4.0
"""Times what other writes take, with what they may load, that one takes that waits for a merge: a
table writes back a page, and a merge erases a block besides, and copies at least a page."""
FEW = 0.1
"""Of single writes, that may wait for collection, or a spike: of 38 drawn page-mapped drives 0.05
at most did, of 32 with a log block for each span 0.26 at least."""
LARGEST_BYTES, MOST_UNITS = 128 * KIB, 1 << 13
"""Of an RMW unit, and parts of the capacity: larger ones may find that they write too much."""


@dataclass(frozen=True)
class _Units:
    """What is written at once, whether a drive is known to rewrite it, and where it begins."""

    ask: Ask
    unit_bytes: int
    phase_bytes: int
    known: bool
    begins: bool

    def plan(self, kind: type[Any], **more: Any) -> Any:
        """Make a plan of such writes, of as many as usual if not told otherwise."""
        of = {"unit_bytes": self.unit_bytes, "phase_bytes": self.phase_bytes, "count": SINGLES}
        return kind(**(of | more))

    def spans(self, length: int) -> int:
        """Count the spans of a length in units; none if they are too few to choose from."""
        spans = self.ask.info.capacity_bytes // (self.unit_bytes * max(length, 1))
        return spans if length and spans >= 2 * PERIODS else 0

    def most_logs(self, length: int) -> int:
        """Count the log blocks that a drive may have, where that is more than single writes."""
        logs = self.spans(length) // SHARE
        return logs if logs > SINGLES and length >= LEAST_UNITS else 0

    def pairs(self, length: int, logs: int, number: int = 0) -> Series:
        """Give what pairs take, behind as many others, each of which takes a log block at least."""
        before = min(logs, MOST_PAIRS)
        plan = self.plan(Pairs, length=length, number=number, count=SINGLES + before)
        taken = self.ask.take(plan)
        return taken.where(np.arange(len(taken)) >= before)

    def in_order(self) -> Series:
        """Give what writes in order take."""
        most = self.ask.info.capacity_bytes // SHARE // self.unit_bytes
        plan = self.plan(InOrder, count=min(max(most, 1), MOST_WRITES))
        return full(plan, self.ask.take(plan))

    def far_apart(self) -> tuple[Series, float]:
        """Give what writes far apart take, and reads that find a table in use by such writes."""
        taken = self.ask.take(self.plan(Scattered)).kept()
        reads = taken.stratum == 1
        return taken.where(~reads), _usual(taken.y[reads])


def _usual(took: NDArray[np.float64], share: float = 1 / 2) -> float:
    """Give what so many take at most; without end if others disturbed all of them."""
    return float(np.quantile(took, share)) if took.size else math.inf


def _few(wait: NDArray[np.bool_]) -> bool:
    return wait.size > 0 and float(wait.mean()) < FEW


def _units(ask: Ask) -> _Units:
    told, phase = (ask.size(name, unknown=math.nan) for name in (RMW_UNIT, PHASE))
    known, begins = not math.isnan(told), not math.isnan(phase)
    unit = (int(told) if known else 0) or base_request_bytes(ask.info)
    return _Units(ask, unit, int(phase) % unit if begins else 0, known, begins)


def _plans(info: DeviceInfo) -> list[Plan]:
    """Declare the most that is written."""
    block, most = info.logical_block_bytes, info.capacity_bytes // MOST_UNITS
    unit = max(min(most, LARGEST_BYTES), base_request_bytes(info))
    of: dict[str, Any] = {"unit_bytes": unit, "phase_bytes": 0, "count": SINGLES}
    edges = of | {"unit_bytes": block, "length": 2, "count": SINGLES // 2}
    looks = int(math.log2(LARGEST_BYTES // block)) if block < LARGEST_BYTES else 0
    pairs = SINGLES + min(info.capacity_bytes // unit // LEAST_UNITS // SHARE, MOST_PAIRS)
    return [
        InOrder(**of | {"count": info.capacity_bytes // SHARE // unit}),
        Scattered(**of),
        *(Begins(length=2, number=look, **of) for look in range(LOOKS)),
        *(Pairs(length=2, number=look, **of) for look in range(2 * LOOKS)),
        Reversed(length=2, passes=PASSES, **of | {"count": LOGS}),
        *(Pairs(length=2, number=look, **of | {"count": pairs}) for look in range(2 * LOOKS)),
        *(Pairs(reach=2 << look, **edges) for look in range(looks)),
    ]


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer the unit, where units begin, and how many are open."""
    units = _units(ask)
    ask.progress("writing in order", 0.0)
    ordered = units.in_order()
    found = multiples(ordered, np.arange(2, len(ordered) // PERIODS + 1))
    length = int(found.estimate or 0) if _seen(found, "period") else 0
    evidence = Evidence(figures={"step_bytes": units.unit_bytes})
    if length:
        evidence = evidence.noting(period_bytes=length * units.unit_bytes)
    ask.progress("single writes", 1 / 2)
    looks: list[tuple[str, Any]] = [("multiples", _begins), ("cells", _pairs)]
    if logs := units.most_logs(length):
        looks.append(("cells", partial(_pairs, logs=logs)))
    for engine, look in looks:
        told = look(units, length) if units.spans(length) else nothing()
        # Every span shows in order: a part of what repeats is a stripe of an array, or a page.
        if _seen(told, engine) and int(told.estimate or 0) % length == 0:
            yield verdict.weighed(UNIT, told.times(units.unit_bytes), engine, evidence)
            yield _phase(units, told, evidence, shared=look is _begins)
            if look is _begins:
                yield verdict.detected(OPEN, 1, None, told.effect, evidence)
            else:
                yield _open(units, told, evidence)
            return
    yield from _none(units, length, _usual(ordered.kept().y), evidence)


def _seen(found: Weighed, engine: str) -> bool:
    enough = found.estimate is not None and verdict.is_sure(found, engine)
    return enough and found.effect >= LEAST_EFFECT


def _near(units: _Units, length: int) -> list[int]:
    """Give the candidates of a look at single writes: whole parts and multiples of a length."""
    parts, most = units.plan(Begins, length=length).parts(), units.spans(length) // PERIODS
    longer = [each * length for each in MULTIPLES if each <= most]
    return [*(length // each for each in parts), *longer]


def _begins(units: _Units, length: int) -> Weighed:
    """Say where single writes wait that begin parts of a length: log blocks are in common."""
    taken, found = Series.of([], []), nothing()
    for number in range(LOOKS):
        taken = taken.then(units.ask.take(units.plan(Begins, length=length, number=number)))
        # What is shorter than a merge is alike: ranked by when it came, which tells no places.
        later = 1 + np.arange(len(taken)) * np.finfo(np.float32).eps
        alike = LONGER * _usual(taken.kept().y, QUARTILES[0]) * later
        found = multiples(taken.with_y(np.maximum(taken.y, alike)), _near(units, length))
        if not verdict.is_found(found, "multiples") or _seen(found, "multiples"):
            break
    return found


def _pairs(units: _Units, length: int, logs: int = 0) -> Weighed:
    """Say in which spans the second of two writes does not wait for what the first has begun.

    If these are longer than was thought, pairs are drawn again that lie as far apart.
    """
    taken, found = Series.of([], []), nothing()
    near = [each for each in _near(units, length) if each > 1]
    for number in range(LOOKS):
        taken = taken.then(units.pairs(length, logs, number))
        # A quarter at least waits for no merge, wherever spans begin.
        waits = LONGER * (_usual(taken.kept().y, QUARTILES[0]) + units.far_apart()[1])
        # Where even the same place waits, it is for merges in the background.
        found = cells(taken.where(taken.time_ns < waits), near, above=waits)
        if _seen(found, "cells") or found.estimate is None:
            break
    size = int(found.estimate or 0)
    return _pairs(units, size, logs) if size > length and units.spans(size) else found


def _phase(units: _Units, found: Weighed, evidence: Evidence, *, shared: bool) -> Finding:
    """Find where spans begin, to the block: from there on a write after one before it waits."""
    block, effect = units.ask.info.logical_block_bytes, found.effect
    if units.begins or (shared and units.known and units.unit_bytes == block):
        return verdict.detected(PHASE, units.phase_bytes, None, effect, evidence)
    length, middle = int(found.estimate or 1) * units.unit_bytes // block, 0
    reach = 0 if shared else min(LARGEST_BYTES // block, length // 4)
    while reach:
        edges = {"unit_bytes": block, "phase_bytes": 0, "count": SINGLES // 2}
        plan = units.plan(Pairs, length=length, middle=middle, reach=reach, **edges)
        taken = units.ask.take(plan)
        behind = (taken.x + taken.stratum + length // 2) % length - length // 2
        begins = step(taken.with_x(behind).where(np.argsort(behind, kind="stable")))
        if begins.estimate is None or begins.interval is None or not _seen(begins, "step"):
            break
        low, high = begins.interval
        value = -int(begins.estimate) * block
        if high - low <= 1 and value >= 0:
            return verdict.detected(PHASE, value, None, effect, evidence)
        middle, narrower = round((low + high) / 2), max(math.ceil(high - low), 2)
        reach = narrower if narrower < reach else 0
    said = evidence.saying("it is not known where RMW units begin, which spans begin with")
    return verdict.refused(PHASE, Reason.EFFECT_BELOW_NOISE, said)


def _open(units: _Units, span: Weighed, evidence: Evidence) -> Finding:
    """Answer how many spans keep their log block while others are written."""
    length = int(span.estimate or 1)
    count = min(LOGS, units.spans(length) - 3)
    taken = units.ask.take(units.plan(Reversed, count=count, length=length, passes=PASSES))
    # A table that is loaded again is no merge.
    usual = _usual(units.in_order().kept().y) + units.far_apart()[1]
    found = step(taken.with_y(np.maximum(taken.y, LONGER * usual)))
    shown = evidence.showing(_again(taken.kept(), found.estimate))
    if found.estimate is None or found.interval is None:
        return verdict.refused(OPEN, Reason.RANGE_TOO_SMALL, shown)
    # The first that waits is one more than there are; another place must be improbable.
    low, many, high = found.interval[0], found.estimate - 1, found.interval[1]
    rivals = [] if low >= many and high <= many + 1 else [Rival("another count", 0.0)]
    weighed = replace(found, estimate=many, interval=None, bound=math.inf).against(rivals)
    return verdict.weighed(OPEN, weighed, "step", shown)


def _again(taken: Series, at: float | None) -> Exhibit:
    depths = np.unique(taken.x)
    medians = [float(np.median(taken.y[taken.x == each])) for each in depths]
    return Exhibit(
        name="streams",
        title="Merge units written again",
        caption="One that still has its log block does not wait for a merge.",
        x=Axis("units written since, itself counted"),
        y=Axis("median latency", "ns", log=True),
        series=(series("writes", depths, medians, "points"),),
        fitted=() if at is None else (Step(at=at - 1, word="open units"),),
    )


def _none(units: _Units, length: int, usual: float, evidence: Evidence) -> Iterator[Finding]:
    """Say that nothing merges if single writes are no slower far apart; else that it is unclear."""
    apart, loads = units.far_apart()
    late, waits = apart.y[len(apart) // 2 :], LONGER * (usual + loads)
    last = _usual(late)
    if math.isfinite(last):
        evidence = evidence.noting(median_latency_ns=usual, far_apart_ns=last)
    alike = usual >= write_through.FASTEST_PROGRAM_NS and _few(late > waits)
    if units.spans(length):
        # What repeats in order is the blocks that are erased, if single writes wait nowhere there.
        taken = units.ask.take(units.plan(Begins, length=length)).kept()
        alike &= _few(taken.y[taken.x % length == 0] > waits)
    if logs := units.most_logs(length):
        # So many log blocks more than single writes have taken may have been left.
        taken = units.pairs(length, logs)
        alike &= logs <= MOST_PAIRS and _few(taken.kept().y > waits)
    said = evidence.saying("no merge unit was found that begins anywhere")
    yield verdict.refused(PHASE, Reason.EFFECT_BELOW_NOISE, said)
    none = "what is written goes where there is room: writes wait neither where spans begin nor far"
    for name, more in ((UNIT, max(last / usual - 1, 0.0)), (OPEN, 0.0)):
        if units.known and alike:
            yield verdict.absent(name, more, evidence, reason=f"{none} from each other")
        else:
            yield verdict.refused(name, Reason.EFFECT_BELOW_NOISE, evidence)


PROBE = ProbeInfo(
    name="merging",
    summary="span of a log block, and how many are open for streams",
    weight="standard",
    properties=(UNIT, OPEN, PHASE),
    cost="a quarter of the capacity in order, and 3,000 single writes",
    detect=detect,
    state=State.FILLED,
    least_bytes=LEAST_BYTES,
    plans=_plans,
    needs=(RMW_UNIT, PHASE),
)
