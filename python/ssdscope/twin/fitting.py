"""From findings and curves to one design: reads first, then reads and writes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.twin import questions, settling, starts
from ssdscope.twin.likeness import Allowance, Measured
from ssdscope.twin.search import Fitted, Judge, Question, climb, fit

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.twin.design import Design
    from ssdscope.twin.settling import Settled
    from ssdscope.twin.structure import Known

READ_DEPTHS, WRITE_DEPTHS = (1, 4, 16, 64), (1, 16)
"""Of the grid, what is fitted. Writes of deep queues are many, and tell what shallow ones do."""
ALONE = 1
"""Depth that says all of a drive which serves one request at a time."""
NO_NEWS = 0.02
"""What differs by less, as a logarithm, is one."""
SIZE_MAX = 128 << 10
"""Of writes in order between the grid's sizes; larger ones take long and tell little more."""
EVERY = 2
"""Of these every other."""
READS_ALIKE = 5e-3
"""The cost of misses of 14 thousandths: then reads alone have nothing more to say of structure."""
READ_SHARE, ARRAY_SHARE = 0.2, 0.4
"""Of the work: to fit reads alone; of the rest, to find arrays."""
ROUNDS = 4
START_ROUNDS = 2
CLIMBED = 4
"""Beginnings that are climbed from: the nearest need not lie below the highest peak."""
READ_ARRAYS, BEGUN = 6, 2
"""Arrays that are kept by their reads, and by a few writes."""
ALLOWED_TIMES, ALLOWED = 3.0, 0.02
"""Reads allow an array whose cost is so many times that of the best, and so much more."""
SPARE_COST = 0.02
"""What bursts may lose, on average, by the spare space that the settled rate asks for."""
SPARE_SHARE, SPARE_ROUNDS = 0.15, 2
"""Of the work, what is set aside to fit times to that; and how often both are fitted in turn."""
AMONG_WRITES = (1, 16)
"""Depths of the reads that are kept in sight while writes are fitted."""


@dataclass(frozen=True)
class Likeness:
    """The design that came nearest.

    Attributes
    ----------
    error
        Median of the misses on what was fitted, as a share.
    """

    design: Design
    error: float


def fitted(
    known: Known,
    rows: Sequence[Measured],
    findings: Findings,
    kept: Settled | None,
    seed: int,
    allowance: Allowance,
    settles: Allowance,
) -> Likeness | str:
    """Find the design most like the drive; or why there is none.

    Parameters
    ----------
    rows
        Reads and bursts of writes.
    kept
        A random write that came to rest, which the spare space is fitted to.
    allowance
        Work that designs may be run for.
    settles
        Work to bring that write to rest.
    """
    reads = [row for row in rows if not row.writes and row.iodepth in READ_DEPTHS]
    only = not any(row.writes for row in rows)
    asked = questions.of_reads(known.sure, only=only)
    best = _fit_reads(known, reads, findings, asked, seed, allowance.part(READ_SHARE))
    if best is None:
        return "the latency of reads could not be measured"
    depths: tuple[int, ...] = WRITE_DEPTHS
    if best.design.queue_depth == ALONE:
        reads, depths = [row for row in reads if row.iodepth == ALONE], (ALONE,)
    writes = _writes(rows, depths)
    if writes:
        few = [row for row in reads if row.iodepth in AMONG_WRITES]
        share = 0.0 if kept is None else SPARE_SHARE
        aside = allowance.part(share)
        best = _fit_all(best, known, few, writes, seed, allowance.part(1 - share))
        if kept is not None:
            judge = Judge([*few, *writes], times_of(best.design), seed, aside)
            best = _with_spare(best, judge, kept, seed, settles)
    return Likeness(best.design, float(np.median(np.abs(np.expm1(best.misses)))))


def _writes(rows: Sequence[Measured], depths: Sequence[int]) -> list[Measured]:
    """Choose the writes that are fitted, few as they take longest.

    Those of the grid at some depths, in order also between its sizes; and the longest burst of
    small ones at random, which shows for how long there is room.
    """
    every = [row for row in rows if row.writes]
    deep = {row.block_bytes for row in every if row.iodepth > ALONE}
    grid = deep or {row.block_bytes for row in every}
    between = sorted({row.block_bytes for row in every} - grid)[::EVERY]
    ordered = grid | {size for size in between if size <= SIZE_MAX}
    chosen = [
        row
        for row in every
        if row.iodepth in depths and row.block_bytes in (ordered if row.rw == "write" else grid)
    ]
    small = [row for row in every if row.rw == "randwrite" and row.block_bytes == min(grid)]
    longest = max(small, key=lambda row: row.requests, default=None)
    if longest is not None and longest not in chosen:
        chosen.append(longest)
    return _curved([row for row in chosen if _tells(row, chosen)])


def _curved(rows: Sequence[Measured]) -> list[Measured]:
    """Leave out random writes that lie on the line between a smaller and a larger one.

    They take longest to run, as each may move a whole block.
    """
    kept: list[Measured] = []
    ordered = sorted(rows, key=lambda each: (each.rw, each.iodepth, each.block_bytes))
    for at, row in enumerate(ordered):
        beside = [*kept[-1:], *ordered[at + 1 : at + 2]]
        of_it = [each for each in beside if (each.rw, each.iodepth) == (row.rw, row.iodepth)]
        if row.rw != "randwrite" or len(of_it) < 2 or not _on_a_line(row, *of_it):
            kept.append(row)
    return kept


def _on_a_line(row: Measured, smaller: Measured, larger: Measured) -> bool:
    """Say whether a latency lies between two others as its size does, in logarithms."""
    sizes, means = (
        np.log([getattr(each, name) for each in (smaller, larger)])
        for name in ("block_bytes", "mean_ns")
    )
    between = np.interp(np.log(row.block_bytes), sizes, means)
    return bool(abs(between - np.log(row.mean_ns)) < NO_NEWS)


def _tells(row: Measured, chosen: Sequence[Measured]) -> bool:
    """Say whether a row tells what a shallower one of its pattern and size does not.

    A rate that is the same at either depth does not. One size of each pattern stays at all depths.
    """
    shallow = [
        each
        for each in chosen
        if (each.rw, each.block_bytes) == (row.rw, row.block_bytes) and each.iodepth < row.iodepth
    ]
    least = min(each.block_bytes for each in chosen if each.rw == row.rw)
    if not shallow or (row.block_bytes == least and row.iodepth in WRITE_DEPTHS):
        return True
    news = min(abs(np.log(each.rate / row.rate)) for each in shallow)
    return bool(news > NO_NEWS)


def _fit_reads(
    known: Known,
    rows: Sequence[Measured],
    findings: Findings,
    asked: Sequence[Question],
    seed: int,
    allowance: Allowance,
) -> Fitted | None:
    judge = Judge(rows, read_times(known.design), seed, allowance)
    begun = [
        fit(judge, judge.judged(start), START_ROUNDS)
        for start in starts.of_reads(known.design, rows, findings)
    ]
    if not begun:
        return None
    climbed = []
    for start in sorted(begun, key=lambda each: each.cost)[:CLIMBED]:
        climbed.append(climb(judge, start, asked, READS_ALIKE))
        if climbed[-1].cost <= READS_ALIKE:
            break
    return fit(judge, min(climbed, key=lambda each: each.cost), ROUNDS)


def _fit_all(
    best: Fitted,
    known: Known,
    reads: Sequence[Measured],
    writes: Sequence[Measured],
    seed: int,
    allowance: Allowance,
) -> Fitted:
    chosen = _begun(best, known, reads, writes, seed, allowance.part(ARRAY_SHARE))
    judge = Judge([*reads, *writes], times_of(best.design), seed, allowance)
    begun = [fit(judge, judge.judged(each), START_ROUNDS) for each in chosen]
    found = min(begun, key=lambda each: each.cost)
    found = climb(judge, found, questions.of_writes(known.sure))
    return fit(judge, Fitted(found.design, found.misses), ROUNDS)


def _begun(
    best: Fitted,
    known: Known,
    reads: Sequence[Measured],
    writes: Sequence[Measured],
    seed: int,
    allowance: Allowance,
) -> list[Design]:
    """Choose arrays that reads allow, and of these the ones that a few writes allow, too."""
    counted = "interleave_degree" in known.sure
    seen = Judge(reads, read_times(best.design), seed, allowance.part(1 / 2))
    slopes, allowed = None, [seen.judged(best.design)]
    for array in starts.arrays(best.design, counted=counted):
        if seen.spent:
            break
        trial = fit(seen, seen.judged(array, slopes), 1)
        slopes = trial.slopes
        allowed.append(trial)
    limit = ALLOWED_TIMES * min(each.cost for each in allowed) + ALLOWED
    allowed = sorted((each for each in allowed if each.cost < limit), key=lambda each: each.cost)
    few = Judge(_sample(writes), (), seed, allowance)
    tried = [
        (few.judged(design).cost + each.cost, design)
        for each in allowed[:READ_ARRAYS]
        for chip in starts.chips(_buffered(few, each.design, writes), counted=counted)
        for design in starts.programs(chip, writes)
        if not few.spent
    ]
    chosen = [design for _, design in sorted(tried, key=lambda each: each[0])[:BEGUN]]
    rooms = [min(starts.rooms(design), key=lambda each: few.judged(each).cost) for design in chosen]
    return rooms or [best.design]


def _buffered(few: Judge, design: Design, writes: Sequence[Measured]) -> Design:
    """Choose a write buffer, if the curves ask for one that no probe has found."""
    tried = list(starts.buffers(design, writes))
    return min(tried, key=lambda each: few.judged(each).cost) if len(tried) > 1 else design


def _sample(writes: Sequence[Measured]) -> list[Measured]:
    """Take a small, a middle and a large size of each pattern, one at a time."""
    sizes = sorted({row.block_bytes for row in writes})
    some = {sizes[0], sizes[len(sizes) // 2], sizes[-1]}
    return [row for row in writes if row.iodepth == ALONE and row.block_bytes in some]


def _with_spare(best: Fitted, judge: Judge, kept: Settled, seed: int, settles: Allowance) -> Fitted:
    """Take the spare space that the settled rate asks for, if bursts do not speak against it.

    With less space bursts may meet collection, so times are fitted anew, and the space to them.
    """
    at = best
    for _ in range(SPARE_ROUNDS):
        spared = settling.with_spare(at.design, kept, seed, settles)
        at = fit(judge, judge.judged(spared), START_ROUNDS)
    return at if at.cost < best.cost + SPARE_COST else best


def read_times(design: Design) -> list[str]:
    """List the times that show in reads."""
    names = ["firmware", "link", "read", "transfer"]
    return [*names, "load"] if design.extra.get("map.kind") == "zones" else names


def times_of(design: Design) -> list[str]:
    """List the times of a design."""
    return [*read_times(design), *write_times(design)]


def write_times(design: Design) -> list[str]:
    """List the times that show in writes, and hardly in reads."""
    names = ["program", "erase", "copy"]
    return [*names, "write_back"] if design.extra.get("map.kind") == "zones" else names
