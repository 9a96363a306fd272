"""Figures 29 and 30, table 3: the effective block, by writes that grow."""

from collections.abc import Mapping, Sequence

import numpy as np

from ssdscope.probes.bench.states import State
from ssdscope.probes.literal import effective_block
from ssdscope.studies.kuo2009 import cases, curves
from ssdscope.studies.kuo2009.bench import MIB, Drives, Served, write
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

Counts = Mapping[str, int]
NAME = "merge_unit_bytes"
DRIVE, BLOCK = "transcend-slc", MIB
DISTANCE = 64 * MIB
WRITES = 24
UNDEFINED = (
    'the paper leaves open when throughput is steady and what "the MAX" is: here two windows of 16 '
    "writes (and 32 MB) within 5 %, and 95 % of the best rate of all sizes"
)
SUBJECTS = (
    Subject("Transcend SLC", DRIVE, BLOCK),
    Subject("Samsung SLC", "samsung-slc", 4 * MIB),
    Subject("Mtron SLC", "mtron-slc", 4 * MIB),
)


def figure_29(drives: Drives, binder: Binder) -> FigureResult:
    """Count how the two cases of the drawing are merged."""
    part, whole = (_merged(drives, size) for size in (BLOCK // 2, BLOCK))
    rows = claims_29(part.counts, whole.counts)
    kinds = ("switch", "partial", "full")
    runs = {"x = 512 KB": part, "x = 1 MB": whole}
    columns: Columns = {
        "case": list(runs),
        **{kind: [run.counts[kind] for run in runs.values()] for kind in kinds},
        "gc_pages_moved": [run.counts["gc_pages_moved"] for run in runs.values()],
    }
    picture = cases.merge_cases([_told(part.counts), _told(whole.counts)])
    return hand_in("29", rows, picture, columns, binder)


def claims_29(part: Counts, whole: Counts) -> list[Claim]:
    """Hold what collections do after half blocks, and after whole ones, against the drawing."""
    return [
        stated(
            "case 1, x below the effective block: what a collection does",
            "copies valid pages (partial merge)",
            _told(part),
            part["gc_pages_moved"] > 0 and part["partial"] > 0 == part["switch"] + part["full"],
        ),
        stated(
            "case 2, x as large as the effective block: what a collection does",
            "copies nothing (switch merge)",
            _told(whole),
            whole["switch"] > 0 == whole["gc_pages_moved"] + whole["partial"] + whole["full"],
        ),
    ]


def _merged(drives: Drives, size: int) -> Served:
    device = drives.fork(DRIVE)
    offsets = np.arange(2 * WRITES) * DISTANCE
    write(device, offsets[:WRITES], size)
    return write(device, offsets[WRITES:], size)


def _told(counts: Counts) -> str:
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("switch", "partial", "full"))
    return f"{kinds} merges; {counts['gc_pages_moved']} pages copied"


def figure_30(drives: Drives, binder: Binder) -> FigureResult:
    """Run table 3 on the three drives, and hold its answers against the probe's."""
    start = State.AS_FOUND if drives.target is None else State.FILLED
    procedure = effective_block.GrowingWrites(start=start)
    rates: dict[str, list[float]] = {}
    found: dict[str, int | None] = {}
    rows = []
    tried_on = subjects(drives, SUBJECTS)
    for subject in tried_on:
        tried = bench(drives, subject)
        with tried.allowance(procedure.planned_writes_bytes(tried.info)):
            rates[subject.label] = procedure.run(tried)
        found[subject.label] = effective_block.answer(procedure.sizes, rates[subject.label])
        end = found[subject.label]
        rows.append(row(drives, subject, NAME, "effective block", end, mib=True))
    notes = [UNDEFINED]
    picture = curves.by_size(
        rates, procedure.sizes, found, {each.label: each.paper for each in tried_on}
    )
    return hand_in("30", rows, picture, _columns(rates, procedure.sizes), binder, notes)


def _columns(rates: Mapping[str, list[float]], sizes: Sequence[int]) -> Columns:
    return {
        "drive": [label for label in rates for _ in sizes],
        "size_bytes": [size for _ in rates for size in sizes],
        "bytes_per_s": [rate for each in rates.values() for rate in each],
    }
