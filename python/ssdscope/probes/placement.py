"""Placement: how many pages follow each other on what works as one (k of ryu2009).

Physics
    Two reads on one die follow each other, on two they are served at once. Pages that follow each
    other on one die, or on what else works as one, make a run; a request of two blocks that
    straddles two pages of a run reads the array twice, within a page once.
Statistic
    Runs (`runs`): pairs of blocks at once, at distances of powers of two from random places; how
    slow waiting is, the same block read twice tells. The first block that does not wait is then
    found by bisection, and from there the next such. Planes served by one command: a block read
    twice or more and another at once, at equal parts of a run; the first such part ends a row, and
    one that is only a little sooner, as what is read follows on one channel, leaves it open.
    Pages (`page_edges`): requests of two blocks about boundaries within rows, by the largest power
    of two of the distance from the begin; across planes such a request may read the array once.
Decision rule
    k is row over page, if nine tenths of the runs are equally long and costs have the pattern of a
    power of two (or a run is a single block). "one-channel" if the merge unit, or else the RMW
    unit, is more than a page and lies in one run; of a run of one page, that no unit does is
    known without the unit. Runs longer than a merge unit are neighbouring units on the same chip.
Assumptions
    Data were written in order. A drive that keeps its read cache on has units that are known: what
    was read is put out of it between rounds. Pages have 2 KiB or more, or are one logical block.
Cost
    Some 50,000 reads of one or two blocks; with a cache that stays on, some 300 times its units.
Source
    ryu2009, equations 1 and 2, decides by the curve of latency over size; with a link term that
    curve fits k = 1, 2 and 4 alike (PROBING.md 1.4). Boundaries: flashbench's `-a`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Step,
    series,
)
from ssdscope.probes.discipline import cautions
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes
from ssdscope.probes.page_edges import page_bytes
from ssdscope.probes.rows import without_read_cache
from ssdscope.probes.runs import alone, find
from ssdscope.probes.together import Together, cached_units

if TYPE_CHECKING:
    from ssdscope.probes.bench import Bench
    from ssdscope.probes.runs import Runs

WAY, PAGES = "placement", "placement_pages"
PROBE_NAME = "placement"
ONE, SEVERAL = "one-channel", "multi-channel"
LONG_RUN = 40
"""Longer ones, in pages, are physical blocks: merge units, of which several may follow."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer how pages are placed."""
    rng = bench.rng(PROBE_NAME)
    notes = Notes(cautions=cautions(bench.info))
    with without_read_cache(bench) as cached:
        together = Together(bench, rng, cached_units(bench) if cached else 0)
        runs = find(bench, together, rng)
        notes.show(_exhibit(runs))
        bench.progress("runs", 0.5)
        block = bench.info.logical_block_bytes
        rows = alone(together, runs, block)
        page = page_bytes(bench, together, runs, rows[0], rng) if rows else None
        notes.figures |= {"run_bytes": runs.bytes, "alone_bytes": rows, "page_bytes": page}
        evidence = notes.evidence()
        effect = math.expm1(runs.survey.effect)
        if page is None:
            why = "requests of two blocks do not tell where pages end"
            if min(_units(bench, block, runs.bytes)) > runs.bytes:  # whatever a page is
                yield _detected(WAY, SEVERAL, effect, evidence)
            else:
                yield _ambiguous(WAY, (SEVERAL, ONE), why, evidence)
            yield _ambiguous(PAGES, _possible(bench, runs.bytes), why, evidence)
            return
    yield from _answers(bench, page, rows, effect, evidence)


def _possible(bench: Bench, run_bytes: int) -> tuple[int, ...]:
    """Give how many pages of a power of two a run may have, or equal parts of it on planes."""
    page, fitting = bench.info.logical_block_bytes, set()
    while page <= run_bytes and run_bytes % page == 0:
        fitting |= set(_divisors(run_bytes // page))
        page *= 2
    return tuple(sorted(fitting))


def _divisors(pages: int) -> tuple[int, ...]:
    """Give how many pages an equal part of a run may have: merge units may follow each other."""
    return tuple(part for part in range(1, pages + 1) if pages % part == 0)


def _answers(
    bench: Bench, page: int, rows: tuple[int, ...], effect: float, evidence: Evidence
) -> Iterator[Finding]:
    """Answer for runs that are known."""
    merged = bench.found("merge_unit_bytes")
    if isinstance(merged, (int, float)) and rows[0] >= merged and rows[0] % int(merged) == 0:
        rows = (int(merged), *(each for each in rows[1:] if each < merged))
    row = rows[0]
    unsure = merged is None and not isinstance(bench.known.get("merge_unit_bytes"), Absent)
    if unsure and row > LONG_RUN * page:
        why = "such long runs are blocks; how many make a merge unit is not known"
        yield _ambiguous(WAY, (SEVERAL, ONE), why, evidence)
        yield _ambiguous(PAGES, _divisors(row // page), why, evidence)
        return
    ways = {
        ONE if each >= unit > page else SEVERAL
        for each in rows
        for unit in _units(bench, page, each)
    }
    why = "some of the pages on several planes are served by one command, and some are not"
    if len(ways) == 1:
        yield _detected(WAY, ways.pop(), effect, evidence)
    else:
        unknown = "neither the merge unit nor the RMW unit is known"
        yield _ambiguous(WAY, (SEVERAL, ONE), why if len(rows) > 1 else unknown, evidence)
    if len(rows) == 1:
        yield _detected(PAGES, row // page, effect, evidence)
    else:
        yield _ambiguous(PAGES, tuple(max(each // page, 1) for each in rows), why, evidence)


def _units(bench: Bench, page: int, row: int) -> list[float]:
    """Give how large what is managed as one may be."""
    merged, unit = bench.found("merge_unit_bytes"), bench.found("rmw_unit_bytes")
    if isinstance(merged, (int, float)):
        return [merged]
    perhaps: list[float] = []
    if not isinstance(bench.known.get("merge_unit_bytes"), Absent):
        perhaps.append(math.inf)  # a merge unit is at least a block
    if isinstance(unit, (int, float)):
        return [*perhaps, unit]
    if isinstance(bench.known.get("rmw_unit_bytes"), Absent):
        return [*perhaps, bench.info.logical_block_bytes]
    return [page, row]


def _detected(name: str, value: float | str, effect: float, evidence: Evidence) -> Finding:
    return Detected(
        name=name, probe=PROBE_NAME, value=value, interval=None, effect=effect, evidence=evidence
    )


def _ambiguous(
    name: str, candidates: tuple[float | str, ...], why: str, evidence: Evidence
) -> Finding:
    return Ambiguous(
        name=name, probe=PROBE_NAME, candidates=candidates, reason=why, evidence=evidence
    )


def _exhibit(runs: Runs) -> Exhibit:
    waits = (runs.survey.slower > runs.survey.waits_from).mean(axis=0)
    return Exhibit(
        name="two-blocks-at-once",
        title="Two blocks read at once",
        caption="How often one waits for the other; the fall ends where runs of pages do.",
        x=Axis("distance", "bytes", log=True),
        y=Axis("share that waits"),
        series=(series("pairs", runs.distances[1:], waits[1:], "points"),),
        fitted=(Step(at=float(runs.bytes), word="run ends"),),
    )


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="pages in a row on one chip (k), and whether a unit lies on one channel",
    weight="light",
    properties=(WAY, PAGES),
    cost="about 50,000 reads of one or two blocks",
    detect=detect,
)
