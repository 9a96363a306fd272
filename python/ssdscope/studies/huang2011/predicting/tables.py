"""Tables II to VI: how far off the paper's models are, and ours on our drives.

All errors of the paper are in-sample: "all the observations from the training data are used for
fitting and validation". So are ours in the column that is compared. Beside them stand the noise
floor, the errors on folds that a model has not seen and those off the grid.

What agrees:

- *Extended and specific models* (III, IV, VI) shall be as good as the paper's: an error of at
  most its. What is above it but within half a point of the noise floor is ``explained``: our
  drive's runs are no better known than that. R2 may fall short by 0.02.
- *Basic models* (II, V) are told too little, and how much that costs depends on the drive: an
  error agrees within a factor of 1.5, R2 within 0.25. `readings` says what they are told.
- MAE is compared as a share of the mean beside it, since our drives' means are within a fifth of
  the paper's and not the same.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdscope.models.features import WORKLOADS
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting import frozen, published
from ssdscope.studies.huang2011.predicting.accuracy import AVERAGED, EXTENDED, Accuracy, Cell
from ssdscope.studies.huang2011.predicting.published import TARGETS, UNITS, Printed
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table, Verdict

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
FLOOR_POINTS = 0.5
BASIC_TIMES = judging.SIMILAR_WITHIN
R2_SHORT = 0.02
BASIC_R2 = 0.25
COLUMNS = (
    "device", "model", "target", "runs", "in-sample %", "floor %", "grouped %", "off-grid %",
    "in 90 %", "slowest third",
)  # fmt: skip
ERRORS = (
    "Errors compared are in-sample, as the paper's, of trees pruned by folds of rows. Floor: what "
    "a model that knew every mean would be off by. Grouped: on folds it has not seen. Off-grid: on "
    "workloads of another law, between the grid's points and drawn by a seed of their own."
)
QUICK = "a quick look at a part of the grid's runs"
_Found = Sequence[tuple[Cell, Printed]]


def make(name: str, accuracy: Accuracy, folder: Path, progress: StageProgress) -> FigureResult:
    """Make a table: collect what is missing, fit, compare."""
    found = measure(name, accuracy, progress)
    data = folder / f"huang2011-table{name}.csv"
    write(found, data)
    claims = compare(found, accuracy.wanted.whole)
    if name == "III":
        claims += worst(found, accuracy.wanted.whole)
    return FigureResult(
        name, TITLES[name], claims, None, data, notes(name, accuracy, claims), table(found)
    )


def measure(name: str, accuracy: Accuracy, progress: StageProgress) -> list[tuple[Cell, Printed]]:
    """Fit the models of a table, of the devices that are wanted."""
    asked = list(_asked(name, accuracy.wanted.devices))
    found = []
    for done, (key, printed) in enumerate(asked):
        cell = accuracy.cell(*key, within(progress, done, len(asked)))
        if cell is not None:
            found.append((cell, printed))
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


def compare(found: _Found, whole: bool) -> list[Claim]:
    """Give each cell beside the paper's."""
    return [claim for cell, printed in found for claim in _claims(cell, printed, whole)]


def _claims(cell: Cell, printed: Printed, whole: bool) -> Iterator[Claim]:
    told, _, _ = UNITS[cell.target]
    kind = "" if cell.workload == "all" else f", {cell.workload}"
    basic = cell.features == AVERAGED
    head = f"{cell.device}: {told}{kind}, {'basic' if basic else 'extended'} model"
    ours, floor = cell.in_sample, cell.floor
    judge = _basic if basic else _as_good
    yield claim(
        f"{head}: mean relative error",
        printed.mre,
        100 * ours["mre"],
        judge(None if floor is None else 100 * floor["mre"]),
        whole,
    )
    if printed.mae is not None and printed.mean is not None:
        noise = None if floor is None else 100 * floor["mae"] / cell.mean
        yield claim(
            f"{head}: mean absolute error as a share of the mean",
            round(100 * printed.mae / printed.mean, 1),
            100 * ours["mae"] / cell.mean,
            judge(noise),
            whole,
        )
    short = BASIC_R2 if basic else R2_SHORT
    near = ours["r2"] >= printed.r2 - short and (not basic or ours["r2"] <= printed.r2 + short)
    said = "" if near else f"{ours['r2'] - printed.r2:+.3f}"
    yield claim(f"{head}: R2", printed.r2, ours["r2"], lambda *_: (_verdict(near), said), whole, "")


Judge = Callable[[float, float], tuple[Verdict, str]]
"""From the paper's number and ours to a verdict, and why."""


def claim(
    what: str, paper: float, ours: float, judge: Judge, whole: bool, unit: str = "%"
) -> Claim:
    """Judge a number; a part of the grid gets no verdict but that."""
    verdict, why = judge(paper, ours)
    if not whole:
        verdict, why = Verdict.EXPLAINED, QUICK
    return Claim(what, paper, round(ours, 3 if not unit else 2), unit, verdict, why)


def if_whole(row: Claim, whole: bool) -> Claim:
    """Give a row its verdict only if it is of the whole grid."""
    return row if whole else replace(row, verdict=Verdict.EXPLAINED, why=QUICK)


def _verdict(fine: bool) -> Verdict:
    return Verdict.AGREES if fine else Verdict.DIFFERS


def _as_good(floor: float | None) -> Judge:
    def judged(paper: float, ours: float) -> tuple[Verdict, str]:
        if ours <= paper:
            return Verdict.AGREES, ""
        if floor is not None and ours <= floor + FLOOR_POINTS:
            return Verdict.EXPLAINED, f"decided by the noise floor, which is {floor:.2f} %"
        return Verdict.DIFFERS, f"{ours:.1f} % against {paper:g} %"

    return judged


def _basic(_floor: float | None) -> Judge:
    def judged(paper: float, ours: float) -> tuple[Verdict, str]:
        times = ours / paper
        near = 1 / BASIC_TIMES <= times <= BASIC_TIMES
        return _verdict(near), "" if near else f"{times:.2f} times the paper's"

    return judged


def worst(found: _Found, whole: bool) -> list[Claim]:
    """Ask what the paper says of its disk: it is the hardest to predict."""
    claims = []
    for target in TARGETS:
        errors = {cell.device: cell.in_sample["mre"] for cell, _ in found if cell.target == target}
        if set(errors) != set(ALONE):
            continue
        order = sorted(errors, key=lambda device: errors[device], reverse=True)
        fine = order[0] == "HDD_S"
        told = ", ".join(f"{device} {100 * errors[device]:.1f} %" for device in order)
        verdict, why = (_verdict(fine), "" if fine else f"{order[0]} is harder")
        if not whole:
            verdict, why = Verdict.EXPLAINED, QUICK
        claims.append(
            Claim(
                f"{UNITS[target][0]}: the disk is the hardest to predict",
                "HDD_S",
                told,
                "",
                verdict,
                why,
            )
        )
    return claims


def notes(name: str, accuracy: Accuracy, claims: Sequence[Claim]) -> list[str]:
    """Say what a reader has to know of a table."""
    found = [ERRORS]
    if not accuracy.wanted.whole:
        found.insert(0, subset_note(accuracy))
    decided = sum(each.why.startswith("decided by") for each in claims)
    if decided:
        share = 100 * decided / len(claims)
        found.append(f"{decided} of {len(claims)} cells ({share:.0f} %) are decided by the floor")
    held_to = [device for device in accuracy.wanted.devices if device in DEVICES[name]]
    if held_to:
        found.append(frozen.note(held_to))
    if not claims:
        found.append(f"This table is about {', '.join(DEVICES[name])}")
    if name == "IV":
        found.append("Kinds of workload: " + ", ".join(f"{k}: {v}" for k, v in WORKLOADS.items()))
    return found


def subset_note(accuracy: Accuracy) -> str:
    """Say that this is no reproduction."""
    return (
        f"A quick look: {accuracy.wanted.count:,} of the grid's 12,000 workloads. Nothing here "
        "can agree or differ; leave --count out for that."
    )


def table(found: _Found) -> Table:
    """Lay out errors of a model on what it knows and on what it does not."""
    return Table(COLUMNS, tuple(_cells(cell) for cell, _ in found))


def _cells(cell: Cell) -> tuple[str, ...]:
    kind = cell.features if cell.workload == "all" else cell.workload
    rows = (cell.in_sample, cell.floor, cell.grouped, cell.off_grid)
    last = cell.off_grid or cell.grouped
    return (
        cell.device,
        kind,
        UNITS[cell.target][0],
        f"{cell.in_sample['n_train']}",
        *(_percent(row, "mre") for row in rows),
        _percent(last, "coverage90"),
        _percent(last, "coverage90_slowest_third"),
    )


def _percent(row: dict[str, Any] | None, key: str) -> str:
    return "-" if row is None or row[key] is None else f"{100 * row[key]:.1f}"


def write(found: _Found, path: Path) -> None:
    """Write all that is known of every cell as CSV."""
    with creating(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        documents = [
            {**cell.to_dict(), "paper_mre": printed.mre, "paper_mae": printed.mae,
             "paper_mean": printed.mean, "paper_r2": printed.r2}
            for cell, printed in found
        ]  # fmt: skip
        rows.writerow(documents[0] if documents else ())
        rows.writerows(each.values() for each in documents)
