"""Tables II to VI: how far off the paper's models are, and ours on our drives.

All errors of the paper are in-sample: "all the observations from the training data are used for
fitting and validation". So are ours in the column that is compared. Beside them stand the noise
floor, the errors on folds that a model has not seen and those off the grid.

`verdicts` says what agrees.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ssdscope.models.features import WORKLOADS
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.huang2011.predicting import frozen, published, verdicts
from ssdscope.studies.huang2011.predicting.accuracy import AVERAGED, EXTENDED, WEIGHTED, Accuracy
from ssdscope.studies.huang2011.predicting.published import TARGETS, UNITS, Printed
from ssdscope.studies.huang2011.predicting.verdicts import Held
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table

ALONE = ("HDD_S", "SSD_I", "SSD_A", "SSD_S")
ARRAY = ("Array_I",)
TITLES = {
    "II": "Table II: prediction accuracy of basic models",
    "III": "Table III: prediction accuracy of extended models",
    "IV": "Table IV: prediction accuracy of workload-specific models",
    "V": "Table V: prediction accuracy of the basic model for the array",
    "VI": "Table VI: prediction accuracy of the extended model for the array",
}
DEVICES = {"II": ALONE, "III": ALONE, "IV": published.SPECIFIC_DEVICES, "V": ARRAY, "VI": ARRAY}
COLUMNS = (
    "device", "model", "target", "runs", "paper %", "in-sample %", "floor %", "grouped %",
    "off-grid %", "in 90 %", "slowest third", "paper R2", "R2",
)  # fmt: skip
ERRORS = (
    "Errors compared are in-sample, as the paper's, of trees pruned by folds of rows. Floor: what "
    "a model that knew every mean would be off by. Grouped: on folds it has not seen. Off-grid: on "
    "workloads of another law, between the grid's points and drawn by a seed of their own."
)


def make(name: str, accuracy: Accuracy, folder: Path, progress: StageProgress) -> FigureResult:
    """Make a table: collect what is missing, fit, compare."""
    found = measure(name, accuracy, progress)
    data = folder / f"huang2011-table{name}.csv"
    write(found, data)
    claims = verdicts.compare(found)
    if name == "III":
        claims += verdicts.worst(found, ALONE)
    return FigureResult(
        name, TITLES[name], claims, None, data, notes(name, accuracy, claims), table(found)
    )


def measure(name: str, accuracy: Accuracy, progress: StageProgress) -> list[Held]:
    """Fit the models of a table, of the devices that are wanted."""
    asked = list(_asked(name, accuracy.wanted.devices))
    found = []
    for done, ((device, features, target, workload), printed) in enumerate(asked):
        told = within(progress, done, len(asked))
        cell = accuracy.cell(device, features, target, workload, told)
        if cell is not None:
            basic = features == AVERAGED
            other = accuracy.cell(device, WEIGHTED, target, workload, told) if basic else None
            found.append(Held(cell, printed, other))
    return found


def _asked(
    name: str, devices: Sequence[str]
) -> Iterator[tuple[tuple[str, str, str, str], Printed]]:
    for device in (each for each in DEVICES[name] if each in devices):
        for target in TARGETS:
            if name == "IV":
                for workload in published.SPECIFIC[target]:
                    printed = published.specific(target, workload, device)
                    yield (device, EXTENDED, target, workload), printed
            else:
                basic = name in ("II", "V")
                rows = published.BASIC if basic else published.EXTENDED
                features = AVERAGED if basic else EXTENDED
                yield (device, features, target, "all"), rows[target][device]


def notes(name: str, accuracy: Accuracy, claims: Sequence[Claim]) -> list[str]:
    """Say what a reader has to know of a table."""
    found = [ERRORS]
    decided = sum(each.why.startswith("decided by") for each in claims)
    if decided:
        share = 100 * decided / len(claims)
        found.append(f"{decided} of {len(claims)} cells ({share:.0f} %) are decided by the floor")
    held_to = [device for device in accuracy.wanted.devices if device in DEVICES[name]]
    about = f"This table is about {', '.join(DEVICES[name])}"
    found.append(frozen.note(held_to) if held_to else about)
    if name == "IV":
        found.append("Kinds of workload: " + ", ".join(f"{k}: {v}" for k, v in WORKLOADS.items()))
    return found


def table(found: Sequence[Held]) -> Table:
    """Lay out errors of a model on what it knows and on what it does not."""
    return Table(COLUMNS, tuple(_cells(held) for held in found))


def _cells(held: Held) -> tuple[str, ...]:
    cell, printed = held.cell, held.printed
    kind = cell.features if cell.workload == "all" else cell.workload
    rows = (cell.in_sample, cell.floor, cell.grouped, cell.off_grid)
    last = cell.off_grid or cell.grouped
    return (
        cell.device,
        kind,
        UNITS[cell.target][0],
        f"{cell.in_sample['n_train']}",
        f"{printed.mre:g}",
        *(_percent(row, "mre") for row in rows),
        _percent(last, "coverage90"),
        _percent(last, "coverage90_slowest_third"),
        f"{printed.r2:.3f}",
        f"{cell.in_sample['r2']:.3f}",
    )


def _percent(row: dict[str, Any] | None, key: str) -> str:
    return "-" if row is None or row[key] is None else f"{100 * row[key]:.1f}"


def write(found: Sequence[Held], path: Path) -> None:
    """Write all that is known of every cell as CSV."""
    with creating(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        documents = [
            {**held.cell.to_dict(), "paper_mre": held.printed.mre, "paper_mae": held.printed.mae,
             "paper_mean": held.printed.mean, "paper_r2": held.printed.r2}
            for held in found
        ]  # fmt: skip
        rows.writerow(documents[0] if documents else ())
        rows.writerows(each.values() for each in documents)
