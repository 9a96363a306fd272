"""Figures 29 and 30, table 3: the effective block, by writes that grow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ssdscope.probes.literal import effective_block
from ssdscope.probes.states import State
from ssdscope.studies.kuo2009 import curves
from ssdscope.studies.kuo2009.bench import MIB, Drives, Served, write
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, stated
from ssdscope.studies.record import FigureResult

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


def figure_29(drives: Drives, folder: Path) -> FigureResult:
    """Count how the two cases of the drawing are merged."""
    part, whole = (_merged(drives, size) for size in (BLOCK // 2, BLOCK))
    rows = [
        stated(
            "case 1, x below the effective block: what a collection does",
            "copies valid pages (partial merge)",
            _told(part),
            part.counts["gc_pages_moved"] > 0 == part.counts["switch"],
        ),
        stated(
            "case 2, x as large as the effective block: what a collection does",
            "copies nothing (switch merge)",
            _told(whole),
            whole.counts["switch"] > 0 == whole.counts["gc_pages_moved"],
        ),
    ]
    kinds = ("switch", "partial", "full")
    runs = {"x = 512 KB": part, "x = 1 MB": whole}
    columns: Columns = {
        "case": list(runs),
        **{kind: [run.counts[kind] for run in runs.values()] for kind in kinds},
        "gc_pages_moved": [run.counts["gc_pages_moved"] for run in runs.values()],
    }
    picture = curves.merges(
        {label: [run.counts[kind] for kind in kinds] for label, run in runs.items()}, kinds
    )
    return hand_in("29", rows, picture, columns, folder)


def _merged(drives: Drives, size: int) -> Served:
    device = drives.fork(DRIVE)
    offsets = np.arange(2 * WRITES) * DISTANCE
    write(device, offsets[:WRITES], size)
    return write(device, offsets[WRITES:], size)


def _told(run: Served) -> str:
    kinds = ", ".join(f"{run.counts[kind]} {kind}" for kind in ("switch", "partial", "full"))
    return f"{kinds} merges; {run.counts['gc_pages_moved']} pages copied"


def figure_30(drives: Drives, folder: Path) -> FigureResult:
    """Run table 3 on the three drives, and hold its answers against the probe's."""
    start = State.AS_FOUND if drives.target is None else State.FILLED
    procedure = effective_block.GrowingWrites(start=start)
    rates: dict[str, list[float]] = {}
    rows = []
    for subject in subjects(drives, SUBJECTS):
        tried = bench(drives, subject)
        with tried.allowance(procedure.planned_writes_bytes(tried.info)):
            rates[subject.label] = procedure.run(tried)
        found = effective_block.answer(procedure.sizes, rates[subject.label])
        rows.append(row(drives, subject, NAME, "effective block", found, mib=True))
    notes = [UNDEFINED]
    picture = curves.by_size(rates, procedure.sizes)
    return hand_in("30", rows, picture, _columns(rates, procedure.sizes), folder, notes)


def _columns(rates: Mapping[str, list[float]], sizes: Sequence[int]) -> Columns:
    return {
        "drive": [label for label in rates for _ in sizes],
        "size_bytes": [size for _ in rates for size in sizes],
        "bytes_per_s": [rate for each in rates.values() for rate in each],
    }
