"""The paper's future work: "evaluate our models against existing simulators".

Both are asked for the mean latency of the same 500 workloads, which neither has seen, and both are
held to the drive. The models learnt from a quarter of 4,096 Sobol runs of the drive, and from all;
which kind of model predicts was decided on those runs alone. The simulator is ours, and knows of
the drive what its data sheet says (`datasheets`), as somebody's who cannot measure it: mapped by
pages, and, of an SSD, with the firmware of DiskSim's SSD extension, the paper's reference 6. The
drive files are written beside the picture, and say of each value whether the sheet has it. Either
drive is brought into use as all others are (`grid.use`), and runs until its mean is known to 1 % or
for a minute.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models.samples import Sample
from ssdscope.models.table import Collected
from ssdscope.plots import LIGHT, save, style
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting import datasheets
from ssdscope.studies.huang2011.predicting.runs import GRID, Part, stop_of
from ssdscope.studies.huang2011.predicting.unseen import FEW, MANY, Learning
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table
from ssdscope.targets import open_target
from ssdscope.workloads import grid, measuring
from ssdscope.workloads.grid import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "The paper's future work: models beside simulators"
COUNT = 500
SIMULATED = "simulated from the data sheet"
MSR = "the same by the firmware of DiskSim's SSD extension"
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
        The same workloads' by who predicts them.
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


def make(learning: Learning, folder: Path, progress: StageProgress) -> FigureResult:
    """Compare models and simulators on every drive that is wanted."""
    wanted = learning.accuracy.wanted
    found = []
    for done, device in enumerate(wanted.devices):
        told = within(progress, done, len(wanted.devices))
        compared = measure(learning, device, folder, told)
        if compared is not None:
            found.append(compared)
    image = draw(found, folder / "huang2011-simulators.svg")
    data = image.with_suffix(".csv")
    write(found, data)
    files = f"{folder}/huang2011-datasheet-*.toml"
    notes = [SKILL, f"Drive files with what is from the data sheet: {files}"]
    claims = [compare(each) for each in found]
    return FigureResult("simulators", TITLE, claims, image, data, notes, _table(found))


def measure(
    learning: Learning, device: str, folder: Path, progress: StageProgress
) -> Compared | None:
    """Predict the workloads of one drive by models and by simulation; None with too few runs."""
    rows = learning.accuracy.runs(device, GRID, progress)
    held = [each for each in rows if each.split == "test" and each.usable][:COUNT]
    test = Sample.of(held, "test", "latency")
    predicted = {}
    for design in (FEW, MANY):
        models = learning.learnt(device, design, progress)
        if not models:
            return None
        chosen = models[0]
        name = f"{chosen.model}, {chosen.runs} runs"
        predicted[name] = learning.predicted(chosen, test, progress)
    for name, drive in (
        (SIMULATED, datasheets.write(device, folder)),
        (MSR, datasheets.write_msr(device, folder)),
    ):
        if drive is not None:
            wanted = learning.accuracy.wanted
            predicted[name] = _simulated(name, device, drive, held, wanted, progress)
    known = np.all([np.isfinite(each) for each in predicted.values()], axis=0)
    typical = float(np.median(learning.sample(device, MANY, progress).values))
    kept = {name: values[known] for name, values in predicted.items()}
    return Compared(device, test.values[known], kept, typical)


def _simulated(
    name: str,
    device: str,
    uri: str,
    held: Sequence[Collected],
    wanted: Part,
    progress: StageProgress,
) -> Array:
    """Run workloads on the drive of the data sheet as on the drive itself; NaN where one fails."""
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


def compare(found: Compared) -> Claim:
    """Ask whether a model of few runs is nearer to the drive than the simulator is."""
    names = list(found.predicted)
    errors = {name: 100 * found.errors(name).mre for name in names}
    fine = all(errors[names[0]] < errors[name] for name in names if name in (SIMULATED, MSR))
    told = "; ".join(f"{name}: {errors[name]:.1f} %" for name in names)
    return judging.claim(
        f"{found.device}: error of the mean latency, models and a simulator",
        "a model of the drive's own runs needs no knowledge of its inside",
        told, "", holds=fine, why="the data sheet says more than the runs",
    )  # fmt: skip


def _table(found: Sequence[Compared]) -> Table:
    rows = []
    for each in found:
        for name in each.predicted:
            errors = each.errors(name)
            shares = (errors.mre, errors.median_ape, errors.p90_ape)
            told = (*(f"{100 * share:.1f}" for share in shares), f"{each.skill(name):.2f}")
            rows.append((each.device, name, *told))
    return Table(COLUMNS, tuple(rows))


def draw(found: Sequence[Compared], path: Path) -> Path:
    """Draw predictions against the drive, a panel per drive, as SVG and PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.3 * max(len(found), 1) + 0.6, 3.7), layout="constrained")
    figure.patch.set_facecolor(LIGHT.surface)
    panels = figure.subplots(1, max(len(found), 1), squeeze=False).flat
    for axes, each in zip(panels, found, strict=False):
        style.dress(axes, LIGHT)
        _panel(axes, each)
    if found:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=min(len(found), 2),
            frameon=False,
            fontsize=8,
        )
    save(figure, path)
    save(figure, path.with_suffix(".png"))
    return path


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
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_title(each.device, loc="left", fontsize=10, color=LIGHT.ink)
    axes.set_xlabel("mean latency of the drive (ms)")
    axes.set_ylabel("predicted (ms)")


def write(found: Sequence[Compared], path: Path) -> None:
    """Write every workload's latencies as CSV."""
    with creating(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["device", "predicted_by", "measured_ns", "predicted_ns"])
        for each in found:
            for name, predicted in each.predicted.items():
                for measured, value in zip(each.measured, predicted, strict=True):
                    rows.writerow([each.device, name, f"{measured:.0f}", f"{value:.0f}"])
