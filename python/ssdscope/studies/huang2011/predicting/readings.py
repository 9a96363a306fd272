"""What the paper's basic models were told: its four characteristics, read in two ways.

Its workloads have a size and a share of random places for reads and for writes, its basic models
one size and one share. The paper does not say how two become one. *Averaged*: the mean of both,
as the run was asked for, also where a run only reads. *Weighted*: each direction by its share of
the requests, what a host would count. The two are far apart: a run that only reads 1 KB and was
asked to write 256 has an averaged size of 128.5 KB.

Both are fitted to the same runs and held to tables II and V. The one that comes nearer is how the
other parts of the study read the paper.
"""

from collections.abc import Sequence

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.predicting import published
from ssdscope.studies.huang2011.predicting.accuracy import AVERAGED, WEIGHTED, Accuracy
from ssdscope.studies.huang2011.predicting.published import TARGETS, UNITS
from ssdscope.studies.making import within
from ssdscope.studies.record import FigureResult, Table

KEY = "readings"
TITLE = "What basic models were told: their four characteristics, read in two ways"
NAMES = {AVERAGED: "averaged", WEIGHTED: "weighted"}
COLUMNS = (
    "device", "metric", "paper %", "averaged %", "weighted %", "paper R2", "averaged R2",
    "weighted R2",
)  # fmt: skip
_Cells = list[tuple[str, str, dict[str, tuple[float, float]]]]
"""Device, target, and of each reading the error and R2."""


def make(accuracy: Accuracy, progress: StageProgress) -> FigureResult:
    """Fit both, and say which comes nearer to the paper."""
    found = measure(accuracy, progress)
    return FigureResult(KEY, TITLE, [], notes=notes(found), table=table(found))


def measure(accuracy: Accuracy, progress: StageProgress) -> _Cells:
    """Fit both readings on all devices that are wanted."""
    devices = [name for name in accuracy.wanted.devices if name in published.BASIC["latency"]]
    asked = [(device, target) for device in devices for target in TARGETS]
    found: _Cells = []
    for done, (device, target) in enumerate(asked):
        fits = {}
        for reading in NAMES:
            cell = accuracy.cell(device, reading, target, "all", within(progress, done, len(asked)))
            if cell is not None:
                fits[reading] = (cell.in_sample["mre"], cell.in_sample["r2"])
        if len(fits) == len(NAMES):
            found.append((device, target, fits))
    return found


def factor(found: _Cells, reading: str) -> float:
    """Say by what factor errors of a reading are off the paper's, in the geometric mean."""
    logs = [
        abs(np.log(100 * fits[reading][0] / published.BASIC[target][device].mre))
        for device, target, fits in found
    ]
    return float(np.exp(np.mean(logs)))


def notes(found: _Cells) -> list[str]:
    """Say how far off either is."""
    if not found:
        return []
    factors = {name: factor(found, reading) for reading, name in NAMES.items()}
    nearest = min(factors, key=lambda name: factors[name])
    told = ", ".join(f"{name} by a factor of {value:.2f}" for name, value in factors.items())
    off = f"Errors are off the paper's, in the geometric mean of {len(found)} cells: {told}"
    return [
        "The paper does not say how the sizes and shares of reads and writes become one",
        f"{off}; {nearest} comes nearer",
    ]


def table(found: _Cells) -> Table:
    """Lay out errors and R2 beside the paper's."""
    return Table(COLUMNS, tuple(_row(*each) for each in found))


def _row(device: str, target: str, fits: dict[str, tuple[float, float]]) -> Sequence[str]:
    printed = published.BASIC[target][device]
    errors = [f"{100 * fits[reading][0]:.1f}" for reading in NAMES]
    fitted = [f"{fits[reading][1]:.3f}" for reading in NAMES]
    head = (device, UNITS[target][0])
    return (*head, f"{printed.mre:g}", *errors, f"{printed.r2:.3f}", *fitted)
