"""Placement: how many pages follow each other on what works as one (k of ryu2009).

Question
    k, and whether what is managed as one (the merge unit, or else the RMW unit) lies in one row.
    So the unit is part of the question: where it is not known, the answer may be open.
Plan
    Two blocks at once wait for each other on one die. Bisection finds where the next run ends
    behind places at random, and how far the one behind it goes (`rows.Ends`). Planes of a die that
    one command serves do not wait for each other at equal places of equal parts of a run: the
    least such part ends a row (`rows.Parts`). In a row, a request of two blocks across two pages
    reads the array twice, and within a page once (`rows.Boundaries`); if all boundaries are alike,
    how busy a die is with two blocks tells whether each is a page (`rows.Busy`).
Engine
    `lengths`: the length that most runs have, and the boundary from which on requests cost more;
    `contrast` for parts of a run.
Cannot tell
    k if rows are of several lengths, or pages are no power of two of blocks. Planes that share
    little more than a command leave both answers open. Runs longer than the merge unit are several
    of them on one chip; of runs that long it must be known.
Cost
    Some 20,000 reads of one or two blocks; with a cache that stays on, some 300 times its units.
Source
    ryu2009, equations 1 and 2, decides by the curve of latency over size; with a link term that
    curve fits k = 1, 2 and 4 alike (PROBING.md 1.4). Boundaries: flashbench's `-a`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Step,
    series,
)
from ssdscope.inference.contrast import contrast
from ssdscope.inference.levels import APART, LEAST_EFFECT
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import cautions
from ssdscope.probes.dies import rows
from ssdscope.probes.dies.lengths import common_length, onset
from ssdscope.probes.verdict import refused

if TYPE_CHECKING:
    from ssdscope.inference.series import Series, Weighed
    from ssdscope.probes.plan import Ask
    from ssdscope.probes.shared.at_once import Kept

WAY, PAGES = "placement", "placement_pages"
ONE, SEVERAL = "one-channel", "multi-channel"
TIMES = (5, 25)
"""How often to read two blocks; the latter where noise hides what waiting is."""
LEAST_PAGE_BYTES, MOST_PAGE_BYTES = 2048, 1 << 17
"""Of flash; of several planes that one command reads."""
MOST_COPIES, KEPT_COPIES = 12, 2
"""Of the block that others may be read with; and where a cache stays on, that has it soon."""
LONGEST_ROW = 40
"""Pages: longer ones are physical blocks, of which several may be a merge unit."""
PAGE_APART = 1.86
"""Of two blocks, what a die takes longer than for one, above which it reads them one by one: in the
middle between 2 and 1.72. Within a page the second adds its transfer alone, at most 0.72."""
DIE_BOUND = 1.2
"""Times as long as on two dies, for the die and not the link to be what is waited for."""


@dataclass(frozen=True)
class _Runs:
    """Runs of what waits.

    Attributes
    ----------
    begins
        Where some begin.
    length
        Of each, in bytes.
    """

    begins: tuple[int, ...]
    length: int
    weighed: Weighed
    shown: Exhibit


def answers(ask: Ask, kept: Kept, probe: str) -> Iterator[Finding]:
    """Answer how pages are placed."""
    evidence = Evidence(cautions=tuple(cautions(ask.info)))
    runs = _runs(ask, kept)
    if isinstance(runs, Reason):
        yield from none(ask, probe, runs)
        return
    lengths = _rows(ask, kept, runs)
    page = _page(ask, kept, runs, lengths[0]) if lengths else None
    figures = {"run_bytes": runs.length, "alone_bytes": lengths, "page_bytes": page}
    evidence = replace(evidence, exhibits=(runs.shown,), figures=figures)
    told = _Told(ask, runs.weighed.effect, evidence, probe)
    yield from told.without_page(runs.length) if page is None else told.with_page(page, lengths)


def none(ask: Ask, probe: str, reason: Reason = Reason.LINK_BOUND) -> Iterator[Finding]:
    """Refuse both; where any two reads wait for each other, nothing is to be measured."""
    said = Evidence(cautions=tuple(cautions(ask.info)), detail=_SAID[reason])
    yield from (refused(name, reason, said, probe=probe) for name in (WAY, PAGES))


_SAID = {
    Reason.LINK_BOUND: "reads at once take as long wherever they are",
    Reason.MODEL_MISFIT: "runs of blocks that wait are not equally long",
}


def _runs(ask: Ask, kept: Kept) -> _Runs | Reason:
    """Find how long runs are, or why that cannot be told."""
    block, reason = ask.info.logical_block_bytes, Reason.LINK_BOUND
    for times in TIMES:
        taken = ask.take(rows.Ends(times=times, kept=kept))
        second = taken.where(taken.stratum < 0)
        if np.unique(second.stratum).size < rows.STARTS // 2:
            continue
        # The first of each stratum is where it begins.
        numbers, first = np.unique(second.stratum, return_index=True)
        begins = second.x[first]
        distances = second.x - begins[np.searchsorted(numbers, second.stratum)]
        found = common_length(second.with_x(distances), rows.FURTHEST_BYTES / block)
        if found.estimate is None:
            continue
        if not verdict.is_sure(found, "common length"):
            reason = Reason.MODEL_MISFIT
            continue
        return _Runs(
            tuple(begins.astype(int).tolist()), int(found.estimate), found, _exhibit(taken, found)
        )
    return reason


def _rows(ask: Ask, kept: Kept, runs: _Runs) -> tuple[int, ...]:
    """Give how many bytes of a run follow each other on what no command serves together.

    Pages on several planes of a die can go together if they have the same place in their
    blocks: those at equal places of equal parts of the run. Blocks of one page never do, so that
    the least that does is no more than a page on each plane. Several answers, if some do a little;
    none if that cannot be seen.
    """
    block = ask.info.logical_block_bytes
    counts = range(2, runs.length // max(block, LEAST_PAGE_BYTES) + 1)
    parts = [runs.length // n for n in counts if runs.length % (n * block) == 0]
    if not parts:
        return (runs.length,)
    # If a read takes r and the next command comes after c, the last of n copies begins after
    # (n - 1) r, and the other read comes after n c. The effect is (r - c) / (r + c) at most.
    copies = max(round((1 + 1 / runs.weighed.effect) / 2), 2)
    if copies > (KEPT_COPIES if kept.units else MOST_COPIES):
        return ()
    plan = rows.Parts(
        times=3 * TIMES[0],
        kept=kept,
        begins=runs.begins,
        length=runs.length,
        distances=(0, runs.length, *parts),
        copies=copies,
    )
    taken = ask.take(plan)
    waits, free = (np.median(taken.y[taken.x == each]) for each in (0, runs.length))
    sooner = {part: _sooner(taken, part) for part in parts}
    middle = math.sqrt(waits / free)
    told = [part for part, found in sooner.items() if verdict.is_found(found, "contrast")]
    told = [part for part in told if sooner[part].effect > LEAST_EFFECT]
    surely = min((part for part in told if sooner[part].effect > middle - 1), default=runs.length)
    return surely, *(part for part in told if part < surely)


def _sooner(taken: Series, part: int) -> Weighed:
    """Say by how much a block some way behind is read sooner than the same block again."""
    both = taken.where((taken.x == part) | (taken.x == 0))
    found = contrast(both.with_x(both.x == 0))
    return found if (found.estimate or 0) > 1 else replace(found, score=0.0)


def _page(ask: Ask, kept: Kept, runs: _Runs, row: int) -> int | None:
    """Give the size of a page, a power of two of blocks; None if it cannot be told."""
    block = ask.info.logical_block_bytes
    if row == block:
        return block
    last = min(row - 1, MOST_PAGE_BYTES) // block
    sizes = tuple(block << at for at in range(last.bit_length()))
    common: dict[str, Any] = {"kept": kept, "begins": runs.begins, "length": row}
    # All boundaries alike: every block is a page, or all of the row is one.
    whole = row if (row // block).bit_count() == 1 else None
    for number, times in enumerate((rows.ROUNDS, 4 * rows.ROUNDS)):
        plan = rows.Boundaries(
            times=times, sizes=sizes, largest=MOST_PAGE_BYTES, number=number, **common
        )
        costs = onset(ask.take(plan))
        found = verdict.is_found(costs, "onset") and costs.effect > LEAST_EFFECT
        if found and costs.margin >= APART:
            page = sizes[int(costs.estimate or 0)]
            return page if row % page == 0 else None
        if not found and costs.bound <= 2 * LEAST_EFFECT:
            break
    else:
        if len(sizes) > 1:
            return None
    if block < LEAST_PAGE_BYTES:
        return whole
    each = _one_by_one(ask.take(rows.Busy(times=1, **common | {"length": runs.length})))
    return None if each is None else block if each else whole


def _one_by_one(taken: Series) -> bool | None:
    """Say whether a die takes twice as long for two blocks of a run as for one; None if unclear.

    Many reads at once of the same place keep a die busy, whatever the link takes for each.
    """
    few, many = (
        [
            float(np.median(taken.y[(taken.x == kind) & (taken.stratum == count)]))
            for kind in range(3)
        ]
        for count in rows.BUSY
    )
    one, two, beside = (more - less for less, more in zip(few, many, strict=True))
    return None if one < DIE_BOUND * beside else two > PAGE_APART * one


@dataclass(frozen=True)
class _Told:
    """Answers about rows that are known."""

    ask: Ask
    effect: float
    evidence: Evidence
    probe: str

    def without_page(self, run: int) -> Iterator[Finding]:
        """Answer where it cannot be told where pages end."""
        block = self.ask.info.logical_block_bytes
        why = "requests of two blocks do not tell where pages end"
        if min(self._units(block, run)) > run:  # whatever a page is
            yield self._detected(WAY, SEVERAL)
        else:
            yield self._ambiguous(WAY, (SEVERAL, ONE), why)
        sizes = (block << at for at in range((run // block).bit_length()))
        possible = {part for page in sizes if run % page == 0 for part in _divisors(run // page)}
        yield self._ambiguous(PAGES, tuple(sorted(possible)), why)

    def with_page(self, page: int, lengths: tuple[int, ...]) -> Iterator[Finding]:
        """Answer for rows of some length; of several it is not sure which."""
        merged = self.ask.found("merge_unit_bytes")
        if isinstance(merged, (int, float)) and lengths[0] % int(merged) == 0:
            lengths = (int(merged), *(each for each in lengths[1:] if each < merged))
        row = lengths[0]
        if self._may_merge and row > LONGEST_ROW * page:
            why = "such long runs are blocks; how many make a merge unit is not known"
            yield self._ambiguous(WAY, (SEVERAL, ONE), why)
            yield self._ambiguous(PAGES, _divisors(row // page), why)
            return
        ways = {
            ONE if each >= unit > page else SEVERAL
            for each in lengths
            for unit in self._units(page, each)
        }
        why = "some of the pages on several planes are served by one command, and some are not"
        unknown = "neither the merge unit nor the RMW unit is known"
        if len(ways) == 1:
            yield self._detected(WAY, ways.pop())
        else:
            yield self._ambiguous(WAY, (SEVERAL, ONE), why if len(lengths) > 1 else unknown)
        if len(lengths) == 1:
            yield self._detected(PAGES, row // page)
        else:
            yield self._ambiguous(PAGES, tuple(max(each // page, 1) for each in lengths), why)

    @property
    def _may_merge(self) -> bool:
        """Whether there may be a merge unit whose size is not known."""
        return self.ask.size("merge_unit_bytes", unknown=math.inf) == math.inf

    def _units(self, page: int, row: int) -> list[float]:
        """Give how large what is managed as one may be."""
        merged = self.ask.found("merge_unit_bytes")
        unit = self.ask.size("rmw_unit_bytes", unknown=math.inf)
        if isinstance(merged, (int, float)):
            return [merged]
        if unit == math.inf:
            return [page, row]
        # A merge unit is at least a block.
        perhaps = [math.inf] if self._may_merge else []
        return [*perhaps, unit or self.ask.info.logical_block_bytes]

    def _detected(self, name: str, value: float | str) -> Finding:
        return Detected(
            name=name,
            probe=self.probe,
            value=value,
            interval=None,
            effect=self.effect,
            evidence=self.evidence,
        )

    def _ambiguous(self, name: str, candidates: tuple[float | str, ...], why: str) -> Finding:
        return Ambiguous(
            name=name, probe=self.probe, candidates=candidates, reason=why, evidence=self.evidence
        )


def _divisors(pages: int) -> tuple[int, ...]:
    """Give how many pages an equal part of a run may have: merge units may follow each other."""
    return tuple(part for part in range(1, pages + 1) if pages % part == 0)


def _exhibit(taken: Series, found: Weighed) -> Exhibit:
    """Show how often blocks wait, by how far they are apart."""
    base = {int(number): taken.x[taken.stratum == number][0] for number in np.unique(taken.stratum)}
    apart = taken.x - np.array([base[int(number)] for number in taken.stratum])
    same = float(np.median(taken.y[apart == 0]))
    waits = taken.y > same / math.sqrt(1 + found.effect)
    distances = np.unique(apart[apart > 0])
    share = [float(waits[apart == each].mean()) for each in distances]
    return Exhibit(
        name="two-blocks-at-once",
        title="Two blocks read at once",
        caption="How often one waits for the other; the fall ends where runs of pages do.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("share that waits"),
        series=(series("pairs", distances, share, "points"),),
        fitted=(Step(at=float(found.estimate or 0), word="run ends"),),
    )
