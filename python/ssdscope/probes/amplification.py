"""The probe `amplification`: what a settled drive programs for a byte that a host writes.

Physics. Where the flash is what takes time, writes take T1 + c (A - 1), A being the amplification.
Nobody outside knows c, but theory knows A along uniform overwrites of a drive that was filled in
order: it begins where the spare space ends at 1 / (1 - exp(-w)), w being what was overwritten, as
the oldest data are collected, and then falls to what it settles at. By how much it falls depends
on the size of blocks (of small ones a drive can choose emptier ones), and where it begins is the
spare space. So the course of the times, over that of A, tells both, and A itself
(`stats.amplification_course`). A drive that draws its victims blindly ends higher than it begins,
and must be known as such.

Statistic. As found (or filled afresh), uniform overwrites of RMW units with many requests at once,
which noise and drift of latencies do not touch, until well after the first data are used up; mean
times of short pieces, fitted by `collection_fit`. Then, from the same beginning, a few units
everywhere are overwritten, and the rest in order: a drive that chooses finds blocks that are wholly
stale, and copies nothing; a blind one collects the others, too, and takes as long as before. What
erases take is found, where it matters, by the same with nothing overwritten before.

Decision. Writes must become 5 % slower. No block holds more than one place fills until it is
collected (`gc_period`), or all planes do (`reclaim_unit`); of these one must be known, as blocks of
other sizes may give the same course of times. Courses are weighed by how well they fit; two
deviations of what they come to must be within 17 % (of blind draws 36 %), and are the interval,
which is 5 % (of blind draws 10 %) to both sides at least. Where nothing else rules out a region of
one bit per cell, a program that collection makes must cost more than a write: folding takes such a
one, and another. Where entries of the mapping table are read from flash one by one, and that takes
longer than collection, it refuses: such reads wait for collection, and T is no straight line. What
is written of such a table is added by half, and is in the interval (`table_writes`); where it may
be much more, as collection moves data whose entries are kept, it refuses. Its pages are stale in
every block, so that blind draws are refused there, as nobody knows what they meet; and where
programs take less than half of a write's time, as overwrites in order may be spared the other half.
There, other work may go on beside collection and hide it at first, so that the spare space must
have been found, too, and writes be slowest at first, as courses have it; and it refuses wherever
spare space contradicts the beginning of the course. What a
buffer holds that stays on was written and has used up nothing: the course begins so much earlier.

Assumptions. The RMW unit is known, no region of one bit per cell folds, and the drive is known
not to merge: as such, or because it has a reclaim unit.
Cost. Some two to five capacities written: heavy.
Source. PROBING.md 3.2 (head over settled rate, here with the course between); Luojie and Kurkoski,
arXiv:1110.4245.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Ambiguous, Detected, Evidence, Finding, Reason, Undetectable
from ssdscope.probes import pslc, table_writes, write_buffer
from ssdscope.probes.bench import Stopped
from ssdscope.probes.collection_fit import CourseFit, Times, exhibit_of_course, fit_course
from ssdscope.probes.collection_times import PIECES, held_share, return_to_full, starts_of, timed
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import (
    Granule,
    unit_or_base,
    why_inexact,
)
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "amplification"
AMPLIFICATION = "gc_write_amplification"
SPARE = "over_provisioning_ratio"

MOST_REQUESTS = 500_000
"""In one pass over the drive; more units are joined, of which blocks hold fewer."""
LEAST_REQUESTS = 1000
CHUNK_SHARE, MOST_LOST = 0.1, 0.34
"""Of the capacity: written between two looks; and how much of it others may spoil."""
BEYOND, TIMES_SPARE, MOST_WRITTEN = 0.5, 2.0, 1.5
"""Capacities written behind so many times the spare space; and at most."""
RISEN, LASTING = 0.5, 0.7
"""Of the rise: where it is taken for the end of the spare space, if so much behind is above."""
SPARSE = (0.03, 0.25)
"""Of all units, and of the spare space: overwritten at most before the others are in order."""
ROOMY, SHORT = (0.4, 0.85), (1.15, 1.65)
"""Times the spare space, from where to where nothing is collected, and blind draws would show."""
BLOCKS, ROUND = 16, 0.98
"""Collected meanwhile at least, if the drive has so many: up to so much of the capacity."""
WINDOW_SHARE, WINDOW_LEAST = 0.01, 256
"""Of the capacity, and requests: put in random order, so that planes meet as in uniform writes."""
CHOOSES, DRAWS, DRAWS_MOST = 0.12, 0.2, 1.3
"""Of the rise that uniform overwrites have there: up to, from, and no more than that."""
SLOWER = 1.05
NO_FOLD = 1.05
"""Times a write, a program that collection makes costs more: then writes are not folded, which
takes such a program, and another before."""
EMPTY_REGION, FIRST, BUFFERS = 0.6, 0.012, 1.5
"""Of the usual time, writes take in the first part of the capacity, behind what so many buffers
take, where a region is empty."""
UNSTEADY, MISFIT_MOST = 0.08, 0.3
"""Of the greatest rise: off by more, a course is measured twice; and none is told."""
SAME, SAME_BLIND, PAGES_BLIND = 1.17, 1.36, 32
"""Upper over lower end of what fits; of blind draws, whose blocks must have so many pages."""
LOADS_RULE = 0.5
"""A program costs less than so much of a write, where loading the mapping table is the most, or
the link, or else."""
AT_FIRST, LATER, HIDDEN = 1.15, 1.5, 0.75
"""Times the spare space, up to where collection has begun, and where it goes on; and of the rise
there, the rise at first is more unless other work goes on beside it."""
DEEP = 1.01
"""Many writes at once use up what collection keeps in reserve, and are amplified so much less."""
LEAST_ERROR, LEAST_ERROR_BLIND = 0.05, 0.1
BLOCKS_SAY = 0.12
"""By how much the size of blocks that was found may change the logarithm."""
TABLE_MOST, OF_COLLECTION_MOST = 0.25, 0.03
"""Of the data, that may be programmed of the mapping table; and as collection changes entries:
that comes in bursts, and takes up spare space, so that it counts twice and more."""
SPARE_LESS, SPARE_MORE = 0.6, 1.15
"""Times the beginning of the course: what the spare space may have been found to be. Collection
begins beside writes, which wait for it only later."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    _require(bench)
    unit = _unit(bench)
    if in_peace(bench, partial(merges_for_each, bench, unit)):
        raise Stopped(Reason.MASKED, "it writes like a drive that merges log blocks")
    courses, most = [_course(bench, unit, 0)], _block_bytes(bench) / unit.size_bytes
    joined = unit.size_bytes // unit_or_base(bench).size_bytes
    fitted = partial(_fitted, most_pages=most, joined=joined)
    fit = fitted(courses, blind=False)
    if fit.slowdown < SLOWER:
        yield _refused(fit, courses, Reason.EFFECT_BELOW_NOISE, "writes do not become slower")
        return
    if fit.misfit > UNSTEADY:
        courses.append(_course(bench, unit, 1))
        fit = fitted(courses, blind=False)
    bench.progress("overwriting in order", 0.7)
    blind, in_order = _drawn_share(bench, unit, fit)
    if blind > CHOOSES and table_writes.takes_no_place(bench):
        # Part of it are erases, which take as long where nothing but whole blocks is stale.
        erases, _ = _drawn_share(bench, unit, fit, sparse=False)
        blind = (blind - erases) / max(1 - erases, DRAWS)
    if blind > DRAWS:
        fit = fitted(courses, blind=True)
    if _may_fold(bench, fit, courses[0], in_order):
        detail = "a region of one bit per cell is not ruled out"
        yield _refused(fit, courses, Reason.MASKED, detail)
        return
    yield _judge(bench, fit, courses, blind)


def _fitted(courses: list[Times], *, blind: bool, most_pages: float, joined: int) -> CourseFit:
    """Fit each, and take the mean; what fits any of them is in the interval."""
    fits = [fit_course(each, blind=blind, most_pages=most_pages, joined=joined) for each in courses]
    return replace(
        fits[0],
        amplification=float(np.exp(np.mean([np.log(each.amplification) for each in fits]))),
        low=min(each.low for each in fits),
        high=max(each.high for each in fits),
    )


def _require(bench: Bench) -> None:
    """Stop where something hides it."""
    if bench.found("merge_unit_bytes") is not None:
        raise Stopped(Reason.MASKED, "merges copy one after the other, and hide what they copy")
    merges = bench.known.get("merge_unit_bytes")
    if isinstance(merges, Undetectable) and bench.found("reclaim_unit_bytes") is None:
        raise Stopped(merges.reason, "whether the drive merges log blocks is not known")
    if pslc.seen(bench):
        raise Stopped(Reason.MASKED, "data reach their blocks by folding, which copies, too")
    period = bench.known.get("gc_period_bytes")
    why = period.reason if isinstance(period, Undetectable) else None
    if why is Reason.MASKED:
        raise Stopped(Reason.MASKED, "writes in order wait as if blocks were folded")
    if isinstance(period, Ambiguous) or why is Reason.MODEL_MISFIT:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "how much is collected as one is not clear")
    if math.isinf(_block_bytes(bench)):
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "how much is collected as one is not known")
    if not unit_or_base(bench).exact:
        raise Stopped(why_inexact(bench), "without the RMW unit padding would count as data")


def _unit(bench: Bench) -> Granule:
    known = unit_or_base(bench)
    units = bench.info.capacity_bytes // known.size_bytes
    if units < LEAST_REQUESTS:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    return Granule(known.size_bytes * max(1, units // MOST_REQUESTS), known.phase_bytes, exact=True)


def _block_bytes(bench: Bench) -> float:
    """Give the most that can be collected as one: what one place fills, or all planes do."""
    found = (bench.found(name) for name in ("gc_period_bytes", "reclaim_unit_bytes"))
    return min((float(each) for each in found if each is not None), default=math.inf)


def _short(bench: Bench, fit: CourseFit) -> tuple[float, float]:
    """Give from where to where blind draws show, times the spare space: some blocks further on."""
    capacity, block = bench.info.capacity_bytes, _block_bytes(bench)
    wanted = BLOCKS * block / capacity
    return SHORT[0], max(SHORT[1], min(SHORT[0] + wanted / fit.spare, ROUND / fit.spare))


def _course(bench: Bench, unit: Granule, number: int) -> Times:
    """Overwrite at random until what was there first is used up; give the times."""
    return_to_full(bench, unit)
    rng = bench.rng(f"amplification course {number}")
    capacity = bench.info.capacity_bytes
    units = capacity // unit.size_bytes
    count = int(CHUNK_SHARE * units)
    edges: list[tuple[float, float]] = []
    times: list[float] = []
    written, lost, most = 0, 0, 1.0
    held = held_share(bench)
    while written < most * units:
        places = unit.places(count, capacity, rng)
        found = timed(bench, unit, places)
        if found is None:
            lost += count
        else:
            ends, means = found
            edges += [((written + i) / units - held, (written + j) / units - held) for i, j in ends]
            times += means
        written += count
        bench.progress("overwriting at random", 0.6 * written / (MOST_WRITTEN * units))
        if lost > MOST_LOST * written and written > units // 2:
            raise Stopped(Reason.INTERFERENCE, "others were at work most of the time")
        if times:
            spare = _risen(np.array(edges), np.array(times))
            most = min(BEYOND + TIMES_SPARE * spare + held, MOST_WRITTEN)
    if len(times) < PIECES:
        raise Stopped(Reason.RANGE_TOO_SMALL)
    return Times(np.array(edges), np.array(times))


def _risen(edges: NDArray[np.float64], times: NDArray[np.float64]) -> float:
    """Say about where writes have become slower for good; where it ends if they have not."""
    tail = float(np.median(times[-max(times.size // 4, 1) :]))
    head = float(np.median(times[: max(times.size // 50, 3)]))
    above = times > head + RISEN * (tail - head)
    behind = np.cumsum(above[::-1])[::-1] / np.arange(times.size, 0, -1)
    first = np.flatnonzero(above & (behind > LASTING))
    return float(edges[first[0] if tail > SLOWER * head and first.size else -1, 0])


def _drawn_share(
    bench: Bench, unit: Granule, fit: CourseFit, *, sparse: bool = True
) -> tuple[float, float]:
    """Say how much of the rise is there where wholly stale blocks are to be had.

    Also what a write takes before.

    Parameters
    ----------
    sparse
        Whether few units everywhere are overwritten before, so that other blocks may be drawn, too.
    """
    return_to_full(bench, unit)
    rng = bench.rng("amplification in order")
    units = bench.info.capacity_bytes // unit.size_bytes
    few = int(min(SPARSE[0], SPARSE[1] * fit.spare) * units) if sparse else 0
    if few:
        timed(bench, unit, starts_of(unit, rng.permutation(np.arange(1, units - 1))[:few]))
    short = _short(bench, fit)
    steps = np.arange(1, min(int(short[1] * fit.spare * units) - few, units - 1))
    window = max(int(WINDOW_SHARE * units), WINDOW_LEAST)
    parts = [rng.permutation(steps[i : i + window]) for i in range(0, steps.size, window)]
    in_order, chunk = np.concatenate(parts), int(CHUNK_SHARE * units)
    edges: list[float] = []
    times: list[float] = []
    for begin in range(0, in_order.size, chunk):
        found = timed(bench, unit, starts_of(unit, in_order[begin : begin + chunk]))
        if found is not None:
            edges += [(few + begin + (i + j) / 2) / units for i, j in found[0]]
            times += found[1]
    at, took = (np.array(edges) - held_share(bench)) / fit.spare, np.array(times)
    before, behind = _between(at, took, ROOMY), _between(at, took, short)
    uniform = _between(fit.pieces.edges.mean(axis=1) / fit.spare, fit.fitted, short)
    if not (before.size and behind.size and uniform.size):
        raise Stopped(Reason.INTERFERENCE, "others were at work")
    usual = float(before.mean())
    return (float(behind.mean()) - usual) / float(uniform.mean() - fit.plain), usual


def _between(
    at: NDArray[np.float64], values: NDArray[np.float64], ends: tuple[float, float]
) -> NDArray[np.float64]:
    return np.asarray(values[(at > ends[0]) & (at < ends[1])])


def _hidden_at_first(fit: CourseFit, courses: list[Times]) -> bool:
    """Whether writes rise by less where collection begins than later: a course only falls."""
    at = np.concatenate([each.edges.mean(axis=1) for each in courses]) / fit.spare
    rises = np.concatenate([each.times for each in courses]) - fit.plain
    first, later = (_between(at, rises, ends) for ends in ((1.0, AT_FIRST), (AT_FIRST, LATER)))
    return bool(first.size and later.size and first.mean() < HIDDEN * later.mean())


def _judge(bench: Bench, fit: CourseFit, courses: list[Times], blind: float) -> Finding:
    below, draws = Reason.EFFECT_BELOW_NOISE, blind > DRAWS
    deep, same = (1.0, SAME_BLIND) if draws else (DEEP, SAME)
    value = deep * fit.amplification
    table = table_writes.most_share(bench)
    loads_most = fit.cost < LOADS_RULE * fit.plain
    unlike = blind > DRAWS_MOST or loads_most or not table_writes.takes_no_place(bench)
    if draws and unlike:
        return _refused(fit, courses, below, "what it draws its victims from is not clear")
    if table > TABLE_MOST or table_writes.of_collection(bench, value) > OF_COLLECTION_MOST:
        return _refused(fit, courses, Reason.MASKED, "what is written of the table is not seen")
    if CHOOSES < blind < DRAWS:
        return _refused(fit, courses, below, "whether it draws its victims blindly is not clear")
    if abs(math.log(fit.of_any_size / fit.amplification)) > BLOCKS_SAY:
        return _refused(fit, courses, below, "the course is that of larger blocks than were found")
    if fit.high > same * fit.low or fit.misfit > MISFIT_MOST:
        return _refused(fit, courses, below, "courses of another amplification fit as well")
    if draws and fit.pages < PAGES_BLIND:
        return _refused(fit, courses, below, "of small blocks the size decides, and is not seen")
    if table_writes.by_entries(bench) and loads_most:
        return _refused(fit, courses, Reason.MASKED, "writes wait for the mapping table most")
    spare = bench.found(SPARE)
    if spare is None and loads_most:
        return _refused(fit, courses, below, "the course may be that of what hides collection")
    if loads_most and _hidden_at_first(fit, courses):
        return _refused(fit, courses, below, "writes become slower after collection has begun")
    if spare is not None and not SPARE_LESS < float(spare) / fit.spare < SPARE_MORE:
        return _refused(fit, courses, below, "collection begins elsewhere than spare space ends")
    error = LEAST_ERROR_BLIND if draws else LEAST_ERROR
    value *= 1 + table / 2
    low, high = min(deep * fit.low, value * (1 - error)), max(deep * fit.high, value * (1 + error))
    return Detected(
        name=AMPLIFICATION,
        probe=NAME,
        value=value,
        interval=(low, high),
        effect=fit.slowdown - 1,
        evidence=_evidence(fit, courses).noting(drawn_share=blind),
    )


def _may_fold(bench: Bench, fit: CourseFit, times: Times, in_order: float) -> bool:
    """Whether data may reach their blocks by way of a region of one bit per cell.

    Writes in order take the time `in_order` where nothing is collected, and load little of the
    mapping table.
    """
    # Without the cache switched off a buffer takes the first writes.
    held = (write_buffer.about_bytes(bench) or 0.0) / bench.info.capacity_bytes
    begin = BUFFERS * held - held_share(bench)
    at = times.edges.mean(axis=1)
    first = times.times[(at > begin) & (at < begin + FIRST)]
    if first.size and np.median(first) < EMPTY_REGION * fit.plain:
        return True
    # That blocks are collected at regular intervals does not rule out a region that is always full.
    return not isinstance(bench.known.get("pslc_bytes"), Absent) and fit.cost < NO_FOLD * in_order


def _refused(fit: CourseFit, courses: list[Times], reason: Reason, detail: str) -> Undetectable:
    evidence = _evidence(fit, courses).saying(detail)
    return Undetectable(name=AMPLIFICATION, probe=NAME, reason=reason, evidence=evidence)


def _evidence(fit: CourseFit, courses: list[Times]) -> Evidence:
    figures = {
        "course": fit.amplification,
        "from_to": (fit.low, fit.high),
        "spare": fit.spare,
        "pages_in_block": fit.pages,
        "plain_ns": fit.plain,
        "cost_of_one_more_ns": fit.cost,
        "misfit": fit.misfit,
        "written": [float(each.edges[-1, 1]) for each in courses],
    }
    return Evidence(exhibits=(exhibit_of_course(fit),), figures=figures)


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Overwrite at random and in order, from a drive that is filled afresh twice."""
    most = 2 * (MOST_WRITTEN + CHUNK_SHARE) + 2 * max(SHORT[1], 1.0) + 4
    return int(most * info.capacity_bytes) + (1 << 28)


PROBE = ProbeInfo(
    name=NAME,
    summary="write amplification, by the course of uniform overwrites from a full drive on",
    weight="heavy",
    properties=(AMPLIFICATION,),
    cost="some two to five capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
