"""The paper's future work: "evaluate our models against existing simulators".

All are asked for the mean latency of the same workloads, which none has seen, and all are held to
the drive. The models learnt from a quarter of 4,096 Sobol runs of the drive, and from all; which
kind of model predicts was decided on those runs alone. Simulated are:

- what a data sheet alone can tell (`datasheets`): mapped by pages, and, of an SSD, with the
  firmware of DiskSim's SSD extension, the paper's reference 6;
- FlashSim (its reference 46) and SSDsim, as their published configurations have them, by the
  mechanisms that we have of theirs. They know nothing of the drive.

The drive files are written beside the picture, and say of each value where it is from. Every drive
is brought into use as all others are (`grid.use`), and runs until its mean is known to 1 % or for a
minute.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models.samples import Sample
from ssdscope.models.table import Collected
from ssdscope.plots import LIGHT, panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.predicting import datasheets
from ssdscope.studies.huang2011.predicting.runs import Part, stop_of
from ssdscope.studies.huang2011.predicting.unseen import FEW, MANY, Learning
from ssdscope.studies.making import within
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.targets import open_target
from ssdscope.workloads import grid, measuring
from ssdscope.workloads.grid import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNT = 500
SIMULATED = "simulated from the data sheet"
COLUMNS = ("device", "predicted by", "mean error %", "median %", "90th %", "skill")
SKILL = (
    f"{COUNT} workloads at most, drawn apart from those that models learn from; skill is the share "
    "of the typical latency's error that is taken away"
)
Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Compared:
    """A drive, and what is predicted of it.

    Attributes
    ----------
    measured : ndarray, shape (n,)
        Mean latencies in ns.
    predicted
        The same workloads' by who predicts them: two models first, then simulators.
    typical
        The median of the runs that the models learnt from: what needs no model.
    """

    device: str
    measured: Array
    predicted: Mapping[str, Array]
    typical: float

    def errors(self, name: str) -> stats.PredictionErrors:
        """Say how far predictions are off."""
        return stats.prediction_errors(self.measured, self.predicted[name])

    def skill(self, name: str) -> float:
        """Say which share of the error of the typical value is taken away."""
        naive = np.full(len(self.measured), self.typical)
        return 1 - self.errors(name).mre / stats.prediction_errors(self.measured, naive).mre


def measure(learning: Learning, folder: Path, progress: StageProgress) -> Measured:
    """Compare models and simulators on every drive that is wanted."""
    wanted = learning.accuracy.wanted
    found = []
    for done, device in enumerate(wanted.devices):
        compared = of_device(learning, device, folder, within(progress, done, len(wanted.devices)))
        if compared is not None:
            found.append(compared)
    notes = [SKILL, f"Drive files, value by value where it is from: {folder}/huang2011-*.toml"]
    read = {name: each for compared in found for name, each in readings(compared).items()}
    picture = partial(_drawn, found) if found else None
    return Measured(read, picture, _columns(found), notes, _table(found))


def of_device(
    learning: Learning, device: str, folder: Path, progress: StageProgress
) -> Compared | None:
    """Predict the workloads of one drive by models and by simulation; None with too few runs."""
    rows = learning.accuracy.held(device, progress)
    held = [each for each in rows if each.usable][:COUNT]
    test = Sample.of(held, "test", "latency")
    predicted = {}
    for design in (FEW, MANY):
        models = learning.learnt(device, design, progress)
        if not models:
            return None
        chosen = models[0]
        name = f"{chosen.model}, {chosen.runs} runs"
        predicted[name] = learning.predicted(chosen, test, progress)
    wanted = learning.accuracy.wanted
    for name, drive in {
        SIMULATED: datasheets.write(device, folder),
        **datasheets.write_others(device, folder),
    }.items():
        predicted[name] = simulated(name, device, drive, held, wanted, progress)
    known = np.all([np.isfinite(each) for each in predicted.values()], axis=0)
    typical = float(np.median(learning.sample(device, MANY, progress).values))
    kept = {name: values[known] for name, values in predicted.items()}
    return Compared(device, test.values[known], kept, typical)


def simulated(
    name: str,
    device: str,
    uri: str,
    held: Sequence[Collected],
    wanted: Part,
    progress: StageProgress,
) -> Array:
    """Run workloads on another drive as on the drive itself; NaN where one fails."""
    seed = 1  # whoever simulates draws offsets of his own
    drive = open_target(uri, seed=seed).device
    grid.use(drive, seed)
    made = measuring.run(
        drive,
        [widened(each.row.vector, drive.info.logical_block_bytes) for each in held],
        seed=seed,
        stop=stop_of(wanted, device),
        jobs=wanted.jobs,
        progress=lambda done, of: progress(f"{device} {name}", done / of),
    )
    return np.array([row.latency_ns for row in made])


def widened(vector: Vector, block_bytes: int) -> Vector:
    """Widen requests and gaps to whole blocks, as users of a simulator of whole pages have to."""
    lengths = ("wr_size", "rd_size", "wr_stride", "rd_stride")
    whole = {name: -(-getattr(vector, name) // block_bytes) * block_bytes for name in lengths}
    return replace(vector, **whole)


def readings(found: Compared) -> dict[str, Reading]:
    """Ask whether a model of few runs is nearer to the drive than each simulator is."""
    few, _, *simulators = found.predicted
    errors = {name: 100 * found.errors(name).mre for name in found.predicted}
    own = f"{errors[few]:.1f} % ({few})"
    named = {
        f"no knowledge of the inside: {found.device}": [SIMULATED],
        f"existing simulators: {found.device}": [each for each in simulators if each != SIMULATED],
    }
    return {
        row: Reading(
            f"{own}; " + "; ".join(f"{errors[name]:.1f} % ({name})" for name in names),
            [errors[name] / errors[few] for name in names],
        )
        for row, names in named.items()
        if names
    }


def _table(found: Sequence[Compared]) -> Table:
    rows = []
    for each in found:
        for name in each.predicted:
            errors = each.errors(name)
            shares = (errors.mre, errors.median_ape, errors.p90_ape)
            cells = (*(f"{100 * share:.1f}" for share in shares), f"{each.skill(name):.2f}")
            rows.append((each.device, name, *cells))
    return Table(COLUMNS, tuple(rows))


def _drawn(found: Sequence[Compared]) -> "Figure":
    """Draw predictions against the drive, a panel per drive."""
    figure, axes = panels.canvas(len(found), width=3.4, height=3.7)
    for panel, each in zip(axes, found, strict=True):
        _panel(panel, each)
    panels.legend_below(figure, axes[0], 2)
    return figure


def _panel(axes: "Axes", each: Compared) -> None:
    names = list(each.predicted)
    looks = {names[1]: ("o", LIGHT.s1), SIMULATED: ("x", LIGHT.s2)}
    for name, (marker, colour) in reversed(looks.items()):
        axes.plot(
            each.measured / 1e6,
            each.predicted[name] / 1e6,
            marker,
            color=colour,
            markersize=2.6,
            alpha=0.6,
            label="a model of the drive's runs" if name != SIMULATED else name,
        )
    ends = np.array([each.measured.min(), each.measured.max()]) / 1e6
    axes.plot(ends, ends, color=LIGHT.muted, linewidth=1, linestyle=(0, (3, 2)))
    axes.set_xscale("log")
    panels.plain_log(axes, "predicted (ms)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panels.head(axes, each.device)
    axes.set_xlabel("mean latency of the drive (ms)")


def _columns(found: Sequence[Compared]) -> Columns:
    """Return every workload's latencies."""
    rows = [
        (each.device, name, f"{measured:.0f}", f"{value:.0f}")
        for each in found
        for name, predicted in each.predicted.items()
        for measured, value in zip(each.measured, predicted, strict=True)
    ]
    names = ("device", "predicted_by", "measured_ns", "predicted_ns")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
