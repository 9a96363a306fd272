"""Figures 34 and 35, table 4: the effective page, by what a shift of 1 KB costs."""

from collections.abc import Mapping

import numpy as np

from ssdscope.probes.bench.stopped import Stopped
from ssdscope.probes.literal import effective_page
from ssdscope.probes.literal.effective_page import THRESHOLD_SHARE, ShiftedPairs
from ssdscope.studies.judging import QUOTED_WITHIN
from ssdscope.studies.kuo2009 import cases, curves
from ssdscope.studies.kuo2009.bench import KIB, SECTOR, Drives, Times, read, write
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.page import EXAMPLE_PAGE, FOUR_SECTORS
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, stated
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


def figure_34(drives: Drives, binder: Binder) -> FigureResult:
    """Count the pages that are read first, in the two cases of the drawing, with pages of 2 KB."""
    counted = {
        (size, place): _read_first(drives, size, place)
        for size in (EXAMPLE_PAGE // 2, EXAMPLE_PAGE)
        for place in (0, KIB)
    }
    rows = claims_34(counted)
    columns: Columns = {
        "size_bytes": [size for size, _ in counted],
        "offset_bytes": [place for _, place in counted],
        "pages_read_first": list(counted.values()),
    }
    picture = cases.page_cases(counted, EXAMPLE_PAGE)
    return hand_in("34", rows, picture, columns, binder)


def claims_34(cases: Mapping[tuple[int, int], int]) -> list[Claim]:
    """Hold pages read first, by size and place, against the drawing's."""
    drawn = (
        (1, "case 1, pages read, modified and written"),
        (1, "case 1, the same"),
        (0, "case 2, none, a whole page is replaced"),
        (2, "case 2, two"),
    )
    return [
        exact(f"writes of {size // KIB} KB at {place // KIB} KB: {what}", wanted, found, "pages")
        for ((size, place), found), (wanted, what) in zip(cases.items(), drawn, strict=True)
    ]


def _read_first(drives: Drives, size: int, place: int) -> int:
    device = drives.unbuffered(DRIVE, *FOUR_SECTORS)
    read(device, 0, SECTOR)
    return write(device, place, size).counts["rmw_reads"]


def figure_35(drives: Drives, binder: Binder) -> FigureResult:
    """Run table 4 by writes, and by reads where the buffer cannot be switched off."""
    pairs: dict[str, Times] = {}
    found: dict[str, int | None] = {}
    rows: list[Claim] = []
    refused: list[str] = []
    for subject in subjects(drives, BY_WRITES):
        try:
            end, pairs[subject.label] = _pairs(drives, subject, ShiftedPairs("writes"))
        except Stopped as stop:
            refused.append(f"{subject.label}: no writes, {str(stop.reason).replace('_', ' ')}")
            continue
        found[subject.label] = end
        rows.append(row(drives, subject, NAME, "effective page", end))
    by_reads = subjects(drives, (BY_READS,))[0]
    plain = subjects(drives, BY_WRITES[:1])[0]
    _, times = _pairs(drives, plain, ShiftedPairs("reads"))
    pairs[f"{plain.label}: reads"] = times
    if drives.target is None:
        rows.append(no_difference(plain.label, times))
        end, pairs[by_reads.label] = _pairs(drives, by_reads, ShiftedPairs("reads"))
        found[by_reads.label] = end
    else:
        end = effective_page.answer(ShiftedPairs().sizes, times, THRESHOLD_SHARE["reads"])
        found[f"{plain.label}: reads"] = end
    rows.append(row(drives, by_reads, NAME, "effective page by reads", end))
    said = {each.label: each.paper for each in (*BY_WRITES, BY_READS)}
    picture = curves.pairs(pairs, found, {label: said.get(label) for label in found})
    return hand_in("35", rows, picture, _columns(pairs), binder, [UNDEFINED], seen=refused)


def _pairs(drives: Drives, subject: Subject, procedure: ShiftedPairs) -> tuple[int | None, Times]:
    tried = bench(drives, subject)
    with tried.allowance(procedure.planned_writes_bytes):
        times = procedure.run(tried)
    return effective_page.answer(procedure.sizes, times, THRESHOLD_SHARE[procedure.by]), times


def no_difference(label: str, times: Times) -> Claim:
    """Ask whether reads at 1 KB take what reads at 0 take; the first pair, of 1 KB, left out."""
    first, second = times[1:].T
    most = float(np.max((second - first) / first))
    return stated(
        f"{label}: reads at 1 KB against reads at 0",
        "no notable difference",
        f"at most {100 * most:.0f} % longer",
        most < QUOTED_WITHIN,
    )


def _columns(pairs: dict[str, Times]) -> Columns:
    sizes = ShiftedPairs().sizes
    return {
        "drive": [label for label in pairs for _ in sizes],
        "size_bytes": [size for _ in pairs for size in sizes],
        "at_0_ns": [int(time) for each in pairs.values() for time in each[:, 0]],
        "at_1k_ns": [int(time) for each in pairs.values() for time in each[:, 1]],
    }
