"""From findings and curves to one design: reads first, then reads and writes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.twin import questions, settling, starts
from ssdscope.twin.search import Fitted, Judge, climb, fit

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.twin.design import Design
    from ssdscope.twin.likeness import Measured
    from ssdscope.twin.settling import Settled
    from ssdscope.twin.structure import Known

READ_DEPTHS, WRITE_DEPTHS = (1, 4, 16, 64), (1, 16)
"""Of the grid, what is fitted. Writes of deep queues are many, and tell what shallow ones do."""
ALONE = 1
"""Depth that says all of a drive which serves one request at a time."""
SIZE_MAX = 128 << 10
"""Of writes between the grid's sizes; larger ones take long and tell little more."""
READS_ALIKE = 5e-3
"""The cost of misses of 14 thousandths: then reads alone have nothing more to say of structure."""
READ_RUNS, RUNS = 150, 240
ROUNDS = 4
SPARE_COST = 0.02
"""What bursts may lose, on average, by the spare space that the settled rate asks for."""
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
    known: Known, rows: Sequence[Measured], findings: Findings, kept: Settled | None, seed: int
) -> Likeness | str:
    """Find the design most like the drive; or why there is none.

    Parameters
    ----------
    rows
        Reads and bursts of writes.
    kept
        A random write that came to rest, which the spare space is fitted to.
    """
    reads = [row for row in rows if not row.writes and row.iodepth in READ_DEPTHS]
    writes = [row for row in rows if row.writes and row.iodepth in WRITE_DEPTHS]
    grid = {row.block_bytes for row in writes if row.iodepth > ALONE}
    writes = [row for row in writes if row.block_bytes in grid or row.block_bytes <= SIZE_MAX]
    best = _fit_reads(known, reads, findings, seed)
    if best is None:
        return "the latency of reads could not be measured"
    if best.design.queue_depth == ALONE:
        reads, writes = ([row for row in each if row.iodepth == ALONE] for each in (reads, writes))
    if writes:
        few = [row for row in reads if row.iodepth in AMONG_WRITES]
        best = _fit_all(best.design, known, [*few, *writes], writes, seed)
        if kept is not None:
            best = _with_spare(best, [*few, *writes], kept, seed)
    return Likeness(best.design, float(np.median(np.abs(np.expm1(best.misses)))))


def _fit_reads(
    known: Known, rows: Sequence[Measured], findings: Findings, seed: int
) -> Fitted | None:
    judge, found = Judge(rows, read_times(known.design), seed, READ_RUNS), None
    for start in starts.of_reads(known.design, rows, findings):
        trial = fit(judge, judge.judged(start), 3)
        found = trial if found is None or trial.cost < found.cost else found
    if found is None:
        return None
    found = climb(judge, found, questions.of_reads(known.sure), READS_ALIKE)
    return fit(judge, found, ROUNDS)


def _fit_all(
    design: Design,
    known: Known,
    rows: Sequence[Measured],
    writes: Sequence[Measured],
    seed: int,
) -> Fitted:
    alone = Judge(writes, write_times(design), seed, RUNS // 6)
    tried = [alone.judged(start) for start in starts.of_writes(design, writes)]
    nearest = fit(alone, min(tried, key=lambda each: each.cost), 3)
    judge = Judge(rows, [*read_times(design), *write_times(design)], seed, RUNS)
    found = fit(judge, judge.judged(nearest.design), 2)
    found = climb(judge, found, questions.of_writes(known.sure))
    return fit(judge, Fitted(found.design, found.misses), ROUNDS)


def _with_spare(best: Fitted, rows: Sequence[Measured], kept: Settled, seed: int) -> Fitted:
    """Take the spare space that the settled rate asks for, if bursts do not speak against it."""
    spared = settling.with_spare(best.design, kept, seed)
    changed = Judge(rows, (), seed, 1).judged(spared)
    return changed if changed.cost < best.cost + SPARE_COST else best


def read_times(design: Design) -> list[str]:
    """List the times that show in reads."""
    names = ["firmware", "link", "read", "transfer"]
    return [*names, "load"] if design.extra.get("map.kind") == "zones" else names


def write_times(design: Design) -> list[str]:
    """List the times that show in writes, and hardly in reads."""
    names = ["program", "erase", "copy"]
    return [*names, "write_back"] if design.extra.get("map.kind") == "zones" else names
