"""The family `spare`: how much a drive keeps back, and what collection costs it in the end.

Question. How much can be overwritten before anything is collected (`over_provisioning_ratio`), and
what does a drive program for each byte of settled overwrites (`gc_write_amplification`)?

Physics. A full drive takes random overwrites at full speed until its spare space is used up; from
then on writes wait for collection, which first copies what is still valid. With many writes at once
flash is what takes time, which then follows the amplification: theory knows its course.

Plans. (1) Whole RMW units one by one, until they wait for good: the spare space, by `step` of rare
waits. A region of one bit per cell is full before, and stays so; what is written until then is left
out. Collection begins gently, so that once it is known to be there less evidence tells where.
(2) Many at once, for e times as long: the amplification, by `collected`. (3) A few units all over
the drive, and then one after the other: a drive that chooses finds whole blocks stale, and copies
nothing. One that draws blindly copies, and meets what no theory knows: it is not told.
On log-block drives what log blocks take is counted instead (`log_blocks`).

Cannot be told: below 1 % of the capacity (*absent* on log-block drives); where waiting makes less
than a tenth of a difference, as collection may go on beside the writes; where the RMW unit is not
known, as padding would count as data; the amplification with a region of one bit per cell.

Cost. Some three capacities written. Source. PROBING.md 3.2; Luojie and Kurkoski, arXiv:1110.4245.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssdscope.findings import (
    PROPERTIES,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Step,
    series,
)
from ssdscope.inference.levels import (
    APART,
    BEGUN,
    CHOOSES,
    COURSE_ERROR,
    NOTICED,
    PLACE_ERROR,
    RARER,
    SOONER,
)
from ssdscope.inference.series import Rival, Series, Weighed, nothing
from ssdscope.inference.step import step
from ssdscope.probes import verdict
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.plan import Ask, Plan, State
from ssdscope.probes.spare import log_blocks
from ssdscope.probes.spare.collected import collected
from ssdscope.probes.spare.overwrites import (
    WAITS,
    AtOnce,
    InOrder,
    OneByOne,
    Overwrites,
    slowest,
    times,
)
from ssdscope.probes.spare.waves import first_in_both

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdscope.targets.records import DeviceInfo

NAME = "spare"
SPARE, AMPLIFICATION = "over_provisioning_ratio", "gc_write_amplification"
ENGINE = "step of rare waits"
LEAST_UNITS = 500
"""RMW units of a drive, lest a step be too coarse."""
LONGEST = 2.0
"""Capacities overwritten at most before it is said that nothing happens."""
FILLED = 1.5
"""Times a region of one bit per cell, behind which it is surely full."""
FULL_MOST = 0.6
"""Of the capacity: no drive is sold with more; one that takes more was found empty in part."""
EASY, HARD = (0.4, 0.85), (1.15, 1.65)
"""Times the spare space: where nothing is collected, and where collection goes on."""
FEW, SETTLED = 0.03, 0.5
"""Of the capacity: overwritten all over it before the rest in order; and behind e times the spare
space, until which the first data are used up."""
MOST = 0.9
"""Of the slowest writes, that are no spikes."""

Planned = TypeVar("Planned", bound=Overwrites)


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer both."""
    merge = ask.found("merge_unit_bytes")
    if merge is not None:
        yield log_blocks.spare(ask, int(float(merge)), SPARE, NAME)
        said = Evidence(detail="merges copy one after the other, and hide what they copy")
        yield verdict.refused(AMPLIFICATION, Reason.MASKED, said, probe=NAME)
        return
    region = ask.size("pslc_bytes", unknown=0)
    first = int(FILLED * region)
    plan = OneByOne(state=_full(ask.info), share=LONGEST, first=first, **log_blocks.units(ask))
    capacity = ask.info.capacity_bytes
    if capacity < LEAST_UNITS * plan.unit_bytes:
        yield from _neither(Reason.RANGE_TOO_SMALL, "it holds too few RMW units")
        return
    found = _knee(alone := _behind(ask.take(plan), region))
    if found.estimate is not None and found.estimate > FULL_MOST * capacity:
        plan = replace(plan, state=State.FILLED)
        found = _knee(alone := _behind(ask.take(plan), region))
    if found.estimate is None or found.score < BEGUN:
        yield from _neither(Reason.EFFECT_BELOW_NOISE, "writes do not become slower for good")
        return
    near = round(found.estimate / capacity, 3)
    ask.progress("overwriting many at once", 1 / 3)
    at_once = ask.take(_later(AtOnce, plan, math.e * near + SETTLED))
    together = _behind(at_once, region)
    spare = _spare(ask, _in_waves(_borne_out(found, together), alone, together), ask.take(plan))
    yield spare
    if isinstance(spare, Detected):
        yield _amplification(ask, plan, at_once, near)
    else:
        said = Evidence(detail="where collection begins is not known")
        yield verdict.refused(AMPLIFICATION, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)


def _neither(reason: Reason, detail: str) -> Iterator[Finding]:
    for name in (SPARE, AMPLIFICATION):
        yield verdict.refused(name, reason, Evidence(detail=detail), probe=NAME)


def _full(info: DeviceInfo) -> State:
    """Give the state to begin with; a drive that cannot be returned to it may be in any."""
    return State.AS_FOUND if info.snapshot else State.FILLED


def _behind(taken: Series, region: float) -> Series:
    """Leave out what a region of one bit per cell takes: at most its size, less on a full drive."""
    within = times(taken).where(times(taken).x <= FILLED * region)
    end = step(within)
    at = region if end.estimate is None or end.score < BEGUN else end.estimate
    return taken.where(taken.x >= FILLED * at) if region else taken


def _knee(taken: Series) -> Weighed:
    """Find where writes begin to wait for good, and how much longer they take from there on.

    Collection begins sooner than it must: a few writes wait a little at first, or all of them. It
    becomes dearer when it has to hurry, or copies more: the first of several steps counts.
    """
    waits, means = slowest(taken), times(taken)
    found = step(waits, above=WAITS)
    if found.estimate is None:
        return found
    if not _rarer(waits, found):
        return nothing()
    if found.score >= BEGUN:
        surest, found = found, _first(waits, found)
        begun = [_begun(means, _place(found))]
        everywhere = step(means)
        if everywhere.score >= BEGUN and everywhere.margin >= APART:
            begun.append(everywhere)
        near = (each for each in begun if each and SOONER < _place(each) / _place(found) < 1)
        first = min(near, default=found, key=_place)
        between = min(_ends(first)[0], _ends(surest)[0]), _ends(first)[1]
        found = replace(first, interval=between, score=surest.score, rivals=surest.rivals)
    behind = means.x >= (found.estimate or 0.0)
    slower = float(means.y[behind].mean() / means.y[~behind].mean()) - 1
    return replace(found, effect=slower)


def _rarer(waits: Series, found: Weighed) -> bool:
    """Say whether hardly any waits as long before a place as most that wait behind it."""
    behind, long = waits.x >= _place(found), waits.y >= _usual(waits, found)
    return bool(long[~behind].mean() <= RARER * long[behind].mean())


def _usual(waits: Series, found: Weighed) -> float:
    """Give what most that wait behind a place wait at least."""
    behind = waits.x >= _place(found)
    return float(np.median(waits.y[behind & (waits.y >= found.detail["threshold"])]))


def _place(found: Weighed) -> float:
    return found.estimate or 0.0


def _ends(found: Weighed) -> tuple[float, float]:
    return found.interval or (0.0, 0.0)


def _first(waits: Series, found: Weighed) -> Weighed:
    """Find the first of several steps, each to waits that stand out from what was before."""
    while True:
        before = waits.where(waits.x < _place(found))
        earlier = step(before, above=WAITS)
        if earlier.estimate is None or earlier.score < BEGUN or not _rarer(before, earlier):
            return found
        sooner = before.y[before.x < _place(earlier)]
        if _usual(before, earlier) < WAITS * np.quantile(sooner, MOST):
            return found
        found = earlier


def _begun(taken: Series, end: float, drifts: bool = True) -> Weighed | None:
    """Find where it begins, before a place from which on it is known to be there.

    Parameters
    ----------
    drifts
        Whether it may be drift, of means one by one; a full queue hardly shows that.
    """
    found, latest = None, end
    while True:
        begun = step(taken.where((taken.x >= end * (1 - SOONER)) & (taken.x < latest)))
        seen = begun.score >= BEGUN and (begun.margin >= APART or not drifts)
        if begun.estimate is None or not seen or begun.estimate < SOONER * end:
            return found
        found, latest = begun, begun.estimate


def _borne_out(found: Weighed, at_once: Series) -> Weighed:
    """Add what writes at once say: that they become slower there, too; or sooner, surely."""
    again = step(at_once)
    if again.estimate is None or found.estimate is None:
        return found
    tolerance = PROPERTIES[SPARE].tolerance or 0.0
    begun = _begun(at_once, again.estimate, drifts=False)
    if begun is not None and _place(begun) < (1 - tolerance) * found.estimate:
        return found.against([Rival("collection beside the writes", 0.0)])
    # A full queue uses up first what is kept free.
    if not 1 - tolerance < again.estimate / found.estimate < 1 / SOONER:
        return found
    return replace(found, score=found.score + again.score)


def _in_waves(found: Weighed, one_by_one: Series, at_once: Series) -> Weighed:
    """Let it begin with a wave, as where all planes collect together before they do for good."""
    low, high = _ends(found)
    wave = first_in_both(times(one_by_one), at_once, SOONER * low, low)
    return found if wave is None else replace(found, interval=(wave, high))


def _later(kind: type[Planned], first: OneByOne, share: float, **more: float) -> Planned:
    """Give a plan of the same requests, and from the same state."""
    common: dict[str, Any] = {"state": first.state, "unit_bytes": first.unit_bytes, **more}
    return kind(share=round(share, 2), phase_bytes=first.phase_bytes, **common)


def _spare(ask: Ask, found: Weighed, taken: Series) -> Finding:
    """Decide on the spare space."""
    evidence = Evidence(figures={"capacity_bytes": ask.info.capacity_bytes})
    if found.estimate is None or found.interval is None or found.effect < NOTICED:
        said = evidence.saying("writes hardly become slower")
        return verdict.refused(SPARE, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    # The first write that waits is never sooner than the place, and often later.
    capacity, at = ask.info.capacity_bytes, sum(found.interval) / 2
    low, high = found.interval
    ends = min(low, at * (1 - PLACE_ERROR)) / capacity, max(high, at * (1 + PLACE_ERROR)) / capacity
    evidence = evidence.showing(_overwrites(taken, at)).noting(spare_bytes=at)
    share = at / capacity
    return verdict.weighed(SPARE, found, ENGINE, evidence, probe=NAME, value=share, interval=ends)


def _amplification(ask: Ask, first: OneByOne, uniform: Series, near: float) -> Finding:
    """Overwrite in order, too, and decide on the write amplification."""
    ask.progress("overwriting in order", 2 / 3)
    plan = _later(InOrder, first, HARD[1] * near, few=min(FEW, near / 4))
    at_once, ordered = (_shares(each, ask.info) for each in (uniform, ask.take(plan)))
    joined = first.size_bytes(ask.info) // first.unit_bytes
    found = collected(at_once, near, joined=joined)
    copied = _rise(ordered, near) / max(_rise(at_once, near), np.finfo(float).tiny)
    evidence = Evidence(figures={**found.detail, "drawn_share": copied})
    if found.estimate is None or found.interval is None or found.effect < NOTICED:
        said = evidence.saying("writes hardly become slower")
        return verdict.refused(AMPLIFICATION, Reason.EFFECT_BELOW_NOISE, said, probe=NAME)
    evidence = evidence.showing(_course(at_once, near))
    if found.score < APART or not copied < CHOOSES:
        why = "times follow no course that theory knows"
        said = evidence.saying(
            why if copied < CHOOSES else "it copies though blocks are wholly stale"
        )
        return verdict.refused(AMPLIFICATION, Reason.MODEL_MISFIT, said, probe=NAME)
    half = math.hypot(math.log(found.interval[1] / found.estimate), 2 * COURSE_ERROR)
    ends = found.estimate * math.exp(-half), found.estimate * math.exp(half)
    return verdict.detected(AMPLIFICATION, found.estimate, ends, found.effect, evidence, probe=NAME)


def _shares(taken: Series, info: DeviceInfo) -> Series:
    """Give what was overwritten as a share of the capacity."""
    return replace(taken, x=taken.x / info.capacity_bytes)


def _rise(taken: Series, spare: float) -> float:
    """Say by how much writes take longer where room is short than before."""
    at = taken.x / spare
    parts = (taken.y[(at > low) & (at < high)] for low, high in (EASY, HARD))
    before, behind = (float(part.mean()) if part.size else math.nan for part in parts)
    return behind - before


def _overwrites(taken: Series, at: float) -> Exhibit:
    """Show where writes begin to wait."""
    places, means = _thinned(times(taken))
    return Exhibit(
        name="overwrites",
        title="Where random overwrites begin to wait for collection",
        caption="One write at a time, from a full drive on; means of neighbours.",
        x=Axis("overwritten", "bytes"),
        y=Axis("time of a write", "ns"),
        series=(series("writes", places, means, "points"),),
        fitted=(Step(at=at, word="spare space used up"),),
    )


def _course(taken: Series, spare: float) -> Exhibit:
    """Show the course of times."""
    places, means = _thinned(taken)
    return Exhibit(
        name="uniform-overwrites",
        title="Uniform overwrites of a full drive",
        caption="Mean time of a write, many at once.",
        x=Axis("overwritten, as a share of the capacity"),
        y=Axis("time of a write", "ns"),
        series=(series("measured", places, means, "points"),),
        fitted=(Step(at=spare, word="spare space used up"),),
    )


def _thinned(taken: Series) -> tuple[np.ndarray, np.ndarray]:
    pieces = min(log_blocks.POINTS, len(taken))
    parts = np.array_split(np.arange(len(taken)), pieces)
    means = [float(taken.y[part].mean()) for part in parts]
    return np.array([float(taken.x[part[0]]) for part in parts]), np.array(means)


def plans(info: DeviceInfo) -> list[Plan]:
    """Give the largest plans."""
    unit, state = info.logical_block_bytes, _full(info)
    most = OneByOne(state=state, share=LONGEST, unit_bytes=unit)
    later: list[Overwrites] = [
        AtOnce(state=state, share=math.e * FULL_MOST + SETTLED, unit_bytes=unit),
        InOrder(state=state, share=1.0, unit_bytes=unit),
    ]
    merging = log_blocks.Merging(
        state=state, share=log_blocks.MOST_SHARE, unit_bytes=unit, window_bytes=info.capacity_bytes
    )
    return [most, replace(most, state=State.FILLED), *later, merging]


PROBE = ProbeInfo(
    name=NAME,
    summary="spare space, from where collection begins, and write amplification",
    weight="heavy",
    properties=(SPARE, AMPLIFICATION),
    cost="some three capacities written",
    detect=detect,
    plans=plans,
    needs=(
        "rmw_unit_bytes",
        "alignment_phase_bytes",
        "merge_unit_bytes",
        "pslc_bytes",
        "map_cache_bytes",
    ),
)
