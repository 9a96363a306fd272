"""Means over the grid: the numbers in brackets in the paper's tables II, III, V and VI.

Where a part of the grid is asked for (``--count``), they are means of the runs that models learn
from, which are made anyway. Else one access pattern is drawn by the seed for every share of writes,
sizes and depth. Runs are as those of figures 3 to 7, on whole drives.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.predicting.runs import GRID, Part, collect
from ssdscope.studies.huang2011.procedure import Runs
from ssdscope.studies.making import within
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.workloads import filling, grid, measuring
from ssdscope.workloads.grid import Row

METRICS = {
    "latency": ("latency_ns", 1e6),
    "bandwidth": ("bandwidth_bytes_per_s", 1e6),
    "throughput": ("iops", 1.0),
}
"""The row, the attribute, and how many of ours make one of the paper's."""
Rows = Mapping[str, Sequence[Row]]


def measure(wanted: Part, runs: Runs, progress: StageProgress) -> Measured:
    """Take the means of every device that is wanted."""
    devices, rows = wanted.devices, {}
    for done, device in enumerate(devices):
        stage = within(progress, done, len(devices))
        rows[device] = drawn(runs, device) if wanted.whole else learnt(wanted, device, stage)
        stage(f"grid on {device}", 1.0)
    kinds = (
        "one pattern each of the 500 shares, sizes and depths"
        if wanted.whole
        else (f"{wanted.count:,} workloads drawn from the grid, which models learn from")
    )
    errors = ", ".join(f"{device} {100 * known_to(made):.1f} %" for device, made in rows.items())
    drawn_apart = f"Standard error of the latency, if workloads were drawn apart: {errors}"
    return Measured(readings(rows), None, columns(rows), [f"Means of {kinds}", drawn_apart])


def drawn(runs: Runs, device: str) -> list[Row]:
    """Run one drawn pattern of each kind of request."""
    drive, _ = runs.in_use(device)
    runnable, _ = grid.split(grid.one_pattern_each(runs.seed), drive.info)
    ending = filling.filled(runs.stop, drive, runs.seed)
    return list(measuring.run(drive, runnable, seed=runs.seed, stop=ending))


def learnt(wanted: Part, device: str, progress: StageProgress) -> list[Row]:
    """Return the runs of the grid that models learn from."""
    made = collect(wanted, device, GRID, progress)
    return [each.row for each in made if each.split == "train"]


def readings(rows: Rows) -> dict[str, Reading]:
    """Return each mean."""
    found = {}
    for device, made in rows.items():
        for name, (attribute, scale) in METRICS.items():
            mean = float(_values(made, attribute).mean()) / scale
            for row in (name, f"{name}, basic") if device == "Array_I" else (name,):
                found[f"mean {row}: {device}"] = Reading(round(mean, 2), mean)
    return found


def known_to(made: Sequence[Row]) -> float:
    """Return the standard error of the mean latency as a share of it."""
    values = _values(made, "latency_ns")
    return float(values.std() / np.sqrt(values.size) / values.mean())


def _values(made: Sequence[Row], attribute: str) -> np.ndarray:
    return np.array([getattr(row, attribute) for row in made if not row.failure])


def columns(rows: Rows) -> Columns:
    """Return every run as columns."""
    made = [(device, row.to_dict()) for device, runs in rows.items() for row in runs]
    names = list(Row(grid.grid()[0]).to_dict())
    return {
        "device": [device for device, _ in made],
        **{name: [row[name] for _, row in made] for name in names},
    }
