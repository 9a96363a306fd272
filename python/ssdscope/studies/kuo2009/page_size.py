"""Figures 34 and 35, table 4: the effective page, by what a shift of 1 KB costs."""

from pathlib import Path

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.literal import effective_page
from ssdscope.probes.literal.effective_page import THRESHOLD_SHARE, ShiftedPairs
from ssdscope.studies.kuo2009 import curves
from ssdscope.studies.kuo2009.bench import KIB, SECTOR, Drives, Times, read, write
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.page import EXAMPLE_PAGE, FOUR_SECTORS
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, number, stated
from ssdscope.studies.record import Claim, FigureResult

NAME = "rmw_unit_bytes"
DRIVE, PAGE = "transcend-slc", 4 * KIB
UNDEFINED = (
    "TH_rmw, which the paper does not give, is a quarter of the first request's time, for reads a "
    "tenth"
)
BY_WRITES = (
    Subject("Transcend SLC", DRIVE, PAGE),
    Subject("Samsung SLC", "samsung-slc", 16 * KIB),
)
BY_READS = Subject("Mtron SLC, by reads", "mtron-slc", 8 * KIB)


def figure_34(drives: Drives, folder: Path) -> FigureResult:
    """Count the pages that are read first, in the two cases of the drawing, with pages of 2 KB."""
    cases = {
        (size, place): _read_first(drives, size, place)
        for size in (EXAMPLE_PAGE // 2, EXAMPLE_PAGE)
        for place in (0, KIB)
    }
    rows = [
        number(f"writes of {size // KIB} KB at {place // KIB} KB: {what}", wanted, found, "pages")
        for ((size, place), found), wanted, what in zip(
            cases.items(),
            (1, 1, 0, 2),
            (
                "case 1, pages read, modified and written",
                "case 1, the same",
                "case 2, none, a whole page is replaced",
                "case 2, two",
            ),
            strict=True,
        )
    ]
    columns: Columns = {
        "size_bytes": [size for size, _ in cases],
        "offset_bytes": [place for _, place in cases],
        "pages_read_first": list(cases.values()),
    }
    picture = curves.cases(
        {f"{size // KIB} KB at {place // KIB} KB": value for (size, place), value in cases.items()}
    )
    return hand_in("34", rows, picture, columns, folder)


def _read_first(drives: Drives, size: int, place: int) -> int:
    device = drives.unbuffered(DRIVE, *FOUR_SECTORS)
    read(device, 0, SECTOR)
    return write(device, place, size).counts["rmw_reads"]


def figure_35(drives: Drives, folder: Path) -> FigureResult:
    """Run table 4 by writes, and by reads where the buffer cannot be switched off."""
    pairs: dict[str, Times] = {}
    rows: list[Claim] = []
    notes = [UNDEFINED]
    for subject in subjects(drives, BY_WRITES):
        try:
            found, pairs[subject.label] = _pairs(drives, subject, ShiftedPairs("writes"))
        except Stopped as stop:
            notes.append(f"{subject.label}: no writes, {str(stop.reason).replace('_', ' ')}")
            continue
        rows.append(row(drives, subject, NAME, "effective page", found))
    by_reads = subjects(drives, (BY_READS,))[0]
    plain = subjects(drives, BY_WRITES[:1])[0]
    _, times = _pairs(drives, plain, ShiftedPairs("reads"))
    pairs[f"{plain.label}: reads"] = times
    if drives.target is None:
        rows.append(_no_difference(plain.label, times))
        found, pairs[by_reads.label] = _pairs(drives, by_reads, ShiftedPairs("reads"))
    else:
        found = effective_page.answer(ShiftedPairs().sizes, times, THRESHOLD_SHARE["reads"])
    rows.append(row(drives, by_reads, NAME, "effective page by reads", found))
    return hand_in("35", rows, curves.pairs(pairs), _columns(pairs), folder, notes)


def _pairs(drives: Drives, subject: Subject, procedure: ShiftedPairs) -> tuple[int | None, Times]:
    tried = bench(drives, subject)
    with tried.allowance(procedure.planned_writes_bytes):
        times = procedure.run(tried)
    return effective_page.answer(procedure.sizes, times, THRESHOLD_SHARE[procedure.by]), times


def _no_difference(label: str, times: Times) -> Claim:
    first, second = times[1:].T
    most = float(np.max((second - first) / first))
    return stated(
        f"{label}: reads at 1 KB against reads at 0",
        "no notable difference",
        f"at most {100 * most:.0f} % longer",
        most < 0.1,
    )


def _columns(pairs: dict[str, Times]) -> Columns:
    sizes = ShiftedPairs().sizes
    return {
        "drive": [label for label in pairs for _ in sizes],
        "size_bytes": [size for _ in pairs for size in sizes],
        "at_0_ns": [int(time) for each in pairs.values() for time in each[:, 0]],
        "at_1k_ns": [int(time) for each in pairs.values() for time in each[:, 1]],
    }
