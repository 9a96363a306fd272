"""Models fitted to the runs, and how far off they are: what several tables and figures share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssdscope.models import evaluation, samples
from ssdscope.models.samples import Sample
from ssdscope.models.table import Collected
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies.huang2011.predicting import runs
from ssdscope.studies.huang2011.predicting.runs import GRID, Part

MODEL = "guide-rows"
"""The paper's trees: GUIDE's own folds are of rows. Kinds of table IV have as few as 20 workloads,
each run 15 times; folds of workloads leave nothing of a tree of those."""
AVERAGED, WEIGHTED, EXTENDED = "averaged", "basic", "extended"
"""Features of a model. Basic ones are told what a host counts (weighted), as the paper defines its
four characteristics; or, which the setting ``basic`` tries, the mean of both directions as the run
was asked for, also where it has one of them only."""
TARGETS = {
    "latency": ("latency", "ms", 1e6),
    "bandwidth": ("bandwidth", "MB/s", 1e6),
    "iops": ("throughput", "IO/s", 1.0),
}
"""The paper's word, its unit, and how many of ours make one."""
Row = dict[str, Any]
"""As `models.evaluation.evaluate` gives them."""
Key = tuple[str, str, str, str]
"""Device, features, target, kind of workload."""


@dataclass(frozen=True)
class Cell:
    """One model of the paper on one drive.

    Attributes
    ----------
    mean
        Of what is predicted, over the runs that were learnt from, in our unit.
    in_sample, grouped, off_grid
        Its errors on the runs it learnt from, as the paper has them; on folds it has not seen; on
        runs of another law. The last is None where the workloads of a kind are only on the grid.
    floor
        How far off a model would be that knew every mean; None with too few runs made twice.
    """

    device: str
    features: str
    target: str
    workload: str
    mean: float
    in_sample: Row
    grouped: Row
    off_grid: Row | None
    floor: Row | None

    def to_dict(self) -> dict[str, Any]:
        """Flatten for a table."""
        found: dict[str, Any] = {
            "device": self.device,
            "features": self.features,
            "target": self.target,
            "workload": self.workload,
            "mean": self.mean,
            "runs": self.in_sample["n_train"],
        }
        for name in ("in_sample", "grouped", "off_grid", "floor"):
            row = getattr(self, name) or {}
            for what in ("mre", "mae", "r2", "coverage90", "coverage90_slowest_third"):
                found[f"{name}_{what}"] = row.get(what)
        return found


@dataclass
class Accuracy:
    """Collects and fits what is asked for, each thing once.

    Attributes
    ----------
    share
        Of the runs that are learnt from, so much is taken, drawn by the seed.
    """

    wanted: Part
    share: float = 1.0
    _runs: dict[tuple[str, str], list[Collected]] = field(default_factory=dict)
    _held: dict[str, list[Collected]] = field(default_factory=dict)
    _cells: dict[Key, Cell | None] = field(default_factory=dict)

    def runs(self, device: str, design: str, progress: StageProgress) -> list[Collected]:
        """Give the runs of a drive."""
        key = (device, design)
        if key not in self._runs:
            made = runs.collect(self.wanted, device, design, progress)
            self._runs[key] = made if self.share == 1 else self._part(made)
        return self._runs[key]

    def held(self, device: str, progress: StageProgress) -> list[Collected]:
        """Return the runs that all models of a drive are held to."""
        if (device, GRID) not in self._runs and device not in self._held:
            self._held[device] = runs.collect(self.wanted, device, GRID, progress, held_only=True)
        rows = self._runs.get((device, GRID)) or self._held[device]
        return [each for each in rows if each.split == "test"]

    def _part(self, made: list[Collected]) -> list[Collected]:
        learnt = [place for place, each in enumerate(made) if each.split == "train"]
        rng = stream(self.wanted.seed, "studies.huang2011.share")
        out = set(rng.permutation(learnt)[round(self.share * len(learnt)) :].tolist())
        return [each for place, each in enumerate(made) if place not in out]

    def drawn(self, device: str, target: str, count: int, progress: StageProgress) -> Sample:
        """Return a few of the grid's runs, by the seed, for models of which many are fitted."""
        sample = Sample.of(self.runs(device, GRID, progress), "train", target)
        rng = stream(self.wanted.seed, "studies.huang2011.quantile")
        drawn = rng.permutation(len(sample))[:count]
        return Sample(sample.inputs[drawn], sample.values[drawn])

    def cell(
        self, device: str, features: str, target: str, workload: str, progress: StageProgress
    ) -> Cell | None:
        """Fit a model of the paper; None if there are too few runs of the kind."""
        key = (device, features, target, workload)
        if key not in self._cells:
            rows = self.runs(device, GRID, progress)
            progress(f"{features} model of {device}: {target}, {workload}", 0.0)
            self._cells[key] = cell_of(rows, key, self.wanted.seed)
        return self._cells[key]


def cell_of(rows: Sequence[Collected], key: Key, seed: int) -> Cell | None:
    """Fit a model to runs; None if there are too few of the kind."""
    device, features, target, workload = key
    as_asked = features == AVERAGED
    sample = Sample.of(rows, "train", target, workload, as_asked=as_asked)
    if len(sample) < samples.LEAST_ROWS:
        return None
    test = Sample.of(rows, "test", target, workload, as_asked=as_asked)
    scored = evaluation.scores(MODEL, features, sample, test, seed)
    by_split = {row["split"]: row for row in scored}
    return Cell(
        device,
        features,
        target,
        workload,
        mean=float(np.mean(sample.values)),
        in_sample=by_split["in-sample"],
        grouped=by_split["grouped"],
        off_grid=by_split.get("off-grid"),
        floor=evaluation.noise_floor(rows, target, workload),
    )
