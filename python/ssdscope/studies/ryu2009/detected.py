"""The figures of the detectors, handed in: 6, 9, 10, 11 and the table of drives A, B and C."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Sweep
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, FigureResult
from ssdscope.studies.ryu2009 import drawn, management_block, placing
from ssdscope.studies.ryu2009.detecting import Detecting, Readings, Subject

TITLES = {
    "table": "Drives A, B and C: management block, allocation, placement",
    "6": "Management block by shifted writes: the pseudo-code as printed and as repaired",
    "9": "Order- or address-based allocation",
    "10": "Placement over channels, and k",
    "11": "The equations fitted to measured reads",
}
AS_HELD = (
    "the drives themselves, not through a file system: a command costs less than in figure 13, A's "
    "blocks begin where it begins; C is cut down to 20 GB"
)
UNIT = (
    "the paper does not say what chunk_size and shift_size count: half a shift here, so that the "
    "loop ends; as printed it then runs over two chunks"
)
RANGE = "T1 and T2 on the first gigabyte, or half the drive if that is less"


def make(name: str, detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    """Measure one of the figures."""
    makers: Mapping[str, Callable[[Detecting, Path, StageProgress], FigureResult]] = {
        "table": _table,
        "6": _figure_6,
        "9": _figure_9,
        "10": _figure_10,
        "11": _figure_11,
    }
    return makers[name](detecting, folder, progress)


def _result(
    name: str, rows: list[Claim], image: Path | None, data: Path | None, *notes: str
) -> FigureResult:
    return FigureResult(name, TITLES[name], rows, image, data, list(notes))


def _path(detecting: Detecting, folder: Path, name: str, suffix: str) -> Path:
    target = "" if detecting.target is None else "-target"
    return folder / f"ryu2009-figure{name}{target}.{suffix}"


def _notes(detecting: Detecting, *notes: str) -> tuple[str, ...]:
    return (*notes, AS_HELD) if detecting.target is None else notes


def _table(detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    rows = []
    for done, subject in enumerate(detecting.subjects, start=1):
        rows.append(management_block.block_row(detecting, subject))
        rows.append(placing.allocation_row(detecting, subject))
        if subject in placing.PAPER_PLACEMENT:
            rows += placing.placement_rows(detecting, subject)
        progress(f"table: {subject.label}", done / len(detecting.subjects))
    data = folder / "ryu2009-table.csv"
    with creating(data) as file:
        table = csv.writer(file)
        table.writerow(["what", "paper", "procedure", "probe", "truth", "unit", "verdict", "why"])
        for row in rows:
            said = (row.what, row.paper, row.literal, row.ours, row.truth, row.unit)
            table.writerow([*said, str(row.verdict), row.why])
    made = _result("table", rows, None, data, *_notes(detecting))
    return replace(made, table=placing.unclaimed(detecting))


def _figure_6(detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    found: dict[tuple[Subject, Sweep], Readings] = {}
    for done, subject in enumerate(detecting.subjects, start=1):
        found |= management_block.measure(detecting, subject)
        progress(f"figure 6: {subject.label}", done / (len(detecting.subjects) + 1))
    rows = management_block.compare(detecting, found)
    image = drawn.sweeps(found, _path(detecting, folder, "6", "svg"))
    data = management_block.write_table(found, _path(detecting, folder, "6", "csv"))
    return _result("6", rows, image, data, *_notes(detecting, UNIT))


def _figure_9(detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    rows = []
    for done, subject in enumerate(detecting.subjects, start=1):
        rows.append(placing.allocation_row(detecting, subject))
        progress(f"figure 9: {subject.label}", done / len(detecting.subjects))
    gaps = {each.label: detecting.gap(each) for each in detecting.subjects}
    image = drawn.orders(gaps, _path(detecting, folder, "9", "svg"))
    data = _path(detecting, folder, "9", "csv")
    with creating(data) as file:
        table = csv.writer(file)
        table.writerow(["drive", "t1_ns", "t2_ns"])
        table.writerows([label, gap.t1_ns, gap.t2_ns] for label, gap in gaps.items())
    return _result("9", rows, image, data, *_notes(detecting, RANGE))


def _figure_10(detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    rows = []
    for done, subject in enumerate(detecting.subjects, start=1):
        if subject in placing.PAPER_PLACEMENT or detecting.target is not None:
            rows += placing.placement_rows(detecting, subject)
        progress(f"figure 10: {subject.label}", done / len(detecting.subjects))
    image = drawn.lines(detecting, _path(detecting, folder, "10", "svg"))
    data = placing.write_table(detecting, _path(detecting, folder, "10", "csv"))
    made = _result("10", rows, image, data, *_notes(detecting))
    if detecting.target is not None:
        return made
    return replace(made, table=placing.unclaimed(detecting))


def _figure_11(detecting: Detecting, folder: Path, progress: StageProgress) -> FigureResult:
    rows = []
    for done, subject in enumerate(detecting.subjects, start=1):
        rows += placing.fit_rows(detecting, subject)
        progress(f"figure 11: {subject.label}", done / len(detecting.subjects))
    image = drawn.fits(detecting, _path(detecting, folder, "11", "svg"))
    data = placing.write_table(detecting, _path(detecting, folder, "11", "csv"))
    return _result("11", rows, image, data, *_notes(detecting))
