"""Tables II to VI: how far off the paper's models are, and ours on our drives.

All errors of the paper are in-sample: "all the observations from the training data are used for
fitting and validation". So are ours in the column that is compared. Beside them stand the noise
floor, the errors on folds that a model has not seen and those off the grid. Beside basic models
stand those of the other reading of their four characteristics (`accuracy.AVERAGED`).

MAE is compared as a share of the mean beside it, since our drives' means are not the paper's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.models.features import WORKLOADS
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.predicting import comparing, frozen
from ssdscope.studies.huang2011.predicting.accuracy import (
    AVERAGED,
    EXTENDED,
    TARGETS,
    WEIGHTED,
    Accuracy,
    Cell,
)
from ssdscope.studies.making import within
from ssdscope.studies.paper import CASE, Paper
from ssdscope.studies.record import Columns, Measured, Reading, Table

ALONE = ("HDD_S", "SSD_I", "SSD_A", "SSD_S")
ARRAY = ("Array_I",)
DEVICES = {"II": ALONE, "III": ALONE, "IV": ALONE[:3], "V": ARRAY, "VI": ARRAY}
BASIC = ("II", "V")
COLUMNS = (
    "device", "model", "target", "runs", "paper %", "in-sample %", "floor %", "grouped %",
    "off-grid %", "in 90 %", "slowest third", "paper R2", "R2",
)  # fmt: skip
ERRORS = (
    "Errors compared are in-sample, as the paper's, of trees pruned by folds of rows. Floor: what "
    "a model that knew every mean would be off by. Grouped: on folds it has not seen. Off-grid: on "
    "workloads of another law, between the grid's points and drawn by a seed of their own."
)
TOLD = (
    "Basic models are told one size and one share of random places: weighted, of what the stream "
    "of requests contains; averaged, the mean of both directions as the run was asked for, sizes "
    "of requests among it that do not occur"
)


@dataclass(frozen=True)
class Held:
    """A model beside the paper's.

    Attributes
    ----------
    other
        Of a basic model: the one by the other reading of what it is told.
    """

    cell: Cell
    other: Cell | None = None

    @property
    def case(self) -> str:
        """Name the model among those of its table."""
        kind = "" if self.cell.workload == "all" else f", {self.cell.workload}"
        return f"{self.cell.device}: {TARGETS[self.cell.target][0]}{kind}"


def measure(
    name: str, paper: Paper, accuracy: Accuracy, basic: str, progress: StageProgress
) -> Measured:
    """Make a table: collect what is missing, fit, read off."""
    found = cells(name, accuracy, basic, within(progress, 0, 2))
    read = dict(_readings(name, found))
    more = comparing.of_table(name, accuracy, basic, within(progress, 1, 2))
    notes = _notes(name, accuracy)
    columns = _columns(name, paper, found) if found else None
    return Measured(read | more, None, columns, notes, _table(name, paper, found))


def cells(name: str, accuracy: Accuracy, basic: str, progress: StageProgress) -> list[Held]:
    """Fit the models of a table, of the devices that are wanted."""
    kinds = [kind for kind in WORKLOADS if kind != "all"] if name == "IV" else ["all"]
    told_of = basic if name in BASIC else EXTENDED
    asked = [
        (device, told_of, target, kind)
        for device in DEVICES[name]
        if device in accuracy.wanted.devices
        for target in TARGETS
        for kind in kinds
    ]
    found = []
    for done, (device, features, target, kind) in enumerate(asked):
        stage = within(progress, done, len(asked))
        cell = accuracy.cell(device, features, target, kind, stage)
        other = None
        if name in BASIC:
            reading = AVERAGED if basic == WEIGHTED else WEIGHTED
            other = accuracy.cell(device, reading, target, kind, stage)
        if cell is not None:
            found.append(Held(cell, other))
    return found


def _readings(name: str, found: Sequence[Held]) -> Iterator[tuple[str, Reading]]:
    for held in found:
        cell, row = held.cell, held.cell.in_sample
        why = _why(cell)
        error = round(100 * row["mre"], 2)
        yield f"error {name}{CASE}{held.case}", Reading(error, 100 * row["mre"], why=why)
        if name != "IV":
            share = 100 * row["mae"] / cell.mean
            yield f"share {name}{CASE}{held.case}", Reading(round(share, 2), share, why=why)
        left = 1 - row["r2"]
        yield f"unexplained {name}{CASE}{held.case}", Reading(round(left, 4), left, why=why)


def _why(cell: Cell) -> str:
    """Say what lies under the error of an extended model: the noise of the runs."""
    if cell.features != EXTENDED or cell.floor is None:
        return ""
    floor = 100 * cell.floor["mre"]
    return (
        f"the noise of the simulated drive's runs alone makes {floor:.1f} %, and beyond it a "
        "drive of formulas has few surprises"
    )


def _notes(name: str, accuracy: Accuracy) -> list[str]:
    found = [ERRORS, *([TOLD] if name in BASIC else [])]
    held_to = [device for device in accuracy.wanted.devices if device in DEVICES[name]]
    about = f"This table is about {', '.join(DEVICES[name])}"
    found.append(frozen.note(held_to) if held_to else about)
    if name == "IV":
        found.append("Kinds of workload: " + ", ".join(f"{k}: {v}" for k, v in WORKLOADS.items()))
    return found


def printed(paper: Paper, name: str, case: str) -> tuple[float, float]:
    """Return the error in percent, and R2, that the paper prints of a model."""
    values: list[float] = []
    for row in ("error", "unexplained"):
        known = paper.rows[f"{row} {name}"].paper
        values.append(float(known[case]) if isinstance(known, Mapping) else float("nan"))
    return values[0], 1 - values[1]


def _table(name: str, paper: Paper, found: Sequence[Held]) -> Table:
    """Lay out errors of a model on what it knows and on what it does not."""
    more = ("averaged %", "weighted %") if name in BASIC else ()
    return Table((*COLUMNS, *more), tuple(_cells(name, paper, held) for held in found))


def _cells(name: str, paper: Paper, held: Held) -> tuple[str, ...]:
    cell = held.cell
    error, r2 = printed(paper, name, held.case)
    rows = (cell.in_sample, cell.floor, cell.grouped, cell.off_grid)
    last = cell.off_grid or cell.grouped
    both = (cell, held.other) if cell.features == AVERAGED else (held.other, cell)
    kind = "weighted" if cell.features == WEIGHTED else cell.features
    return (
        cell.device,
        kind if cell.workload == "all" else cell.workload,
        TARGETS[cell.target][0],
        f"{cell.in_sample['n_train']}",
        f"{error:g}",
        *(_percent(row, "mre") for row in rows),
        _percent(last, "coverage90"),
        _percent(last, "coverage90_slowest_third"),
        f"{r2:.3g}",
        f"{cell.in_sample['r2']:.3f}",
        *(_percent(each.in_sample if each else None, "mre") for each in both if name in BASIC),
    )


def _percent(row: dict[str, Any] | None, key: str) -> str:
    return "-" if row is None or row[key] is None else f"{100 * row[key]:.1f}"


def _columns(name: str, paper: Paper, found: Sequence[Held]) -> Columns:
    """Return all that is known of every cell as columns."""
    documents = []
    for held in found:
        error, r2 = printed(paper, name, held.case)
        documents.append({**held.cell.to_dict(), "paper_mre": error, "paper_r2": r2})
    return {key: [each[key] for each in documents] for key in documents[0]}


def readings(paper: Paper, accuracy: Accuracy, progress: StageProgress) -> Measured:
    """Set both readings of what basic models are told beside the paper's."""
    rows = []
    for name in BASIC:
        for held in cells(name, accuracy, WEIGHTED, progress):
            error, r2 = printed(paper, name, held.case)
            both = [each.in_sample for each in (held.other, held.cell) if each is not None]
            errors = [f"{100 * row['mre']:.1f}" for row in both]
            fitted = [f"{row['r2']:.3f}" for row in both]
            target = TARGETS[held.cell.target][0]
            rows.append((held.cell.device, target, f"{error:g}", *errors, f"{r2:.3f}", *fitted))
    columns = (
        "device", "metric", "paper %", "averaged %", "weighted %", "paper R2", "averaged R2",
        "weighted R2",
    )  # fmt: skip
    return Measured({}, None, None, [TOLD], Table(columns, tuple(rows)))
