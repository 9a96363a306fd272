"""Huang, Li, Szalay, Terzis: "Performance Modeling and Analysis of Flash-based Storage" (2011).

Five devices under a grid of 12,000 workloads, and models of them. `paper.toml` has what it states.

`procedure`
    The runs of figures 3 to 7.
`claims`, `figure`
    What is read off them, and their pictures.
`on_target`
    What of them can be asked of a drive that is not the paper's.
`datasheet`
    Table I: what the makers' data sheets say of the devices.
`mechanisms`
    What is said of how SSDs work, asked by a run or two.
`means`
    The means over the grid that the paper's tables print.
`traces`, `traces_told`, `traces_drawn`
    Table VII: traces replayed, their first part learnt from, the second predicted; what is read off
    it, and the picture.
`predicting`
    Tables II to VI and figures 8 to 10: models of the grid's runs; what the paper left to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011 import (
    claims,
    datasheet,
    figure,
    means,
    mechanisms,
    on_target,
    procedure,
    traces,
    traces_drawn,
    traces_told,
)
from ssdscope.studies.huang2011.predicting import (
    characteristics,
    improving,
    platforms,
    runs,
    simulators,
    tables,
    tree,
    unseen,
)
from ssdscope.studies.huang2011.predicting.accuracy import WEIGHTED, Accuracy
from ssdscope.studies.huang2011.predicting.unseen import Learning
from ssdscope.studies.making import make_figures
from ssdscope.studies.paper import load
from ssdscope.studies.record import FigureResult, Measured, StudyInfo, StudyResult
from ssdscope.studies.running import Run, Settings, Study, hand_in_elsewhere
from ssdscope.targets import Target
from ssdscope.workloads.grid import FILLED_STOP

KEY = "huang2011"
PAPER = load(KEY)
CURVES = ("3", "4", "5", "6", "7")
TRACES = "VII"


@dataclass
class Bench:
    """The paper's drives under a setting, their runs, and the models of them.

    Attributes
    ----------
    settings
        ``HDD_S`` and so on: what is set on a drive. ``region_bytes``, ``stride``, ``until_ci``: of
        the runs of figures 3 to 7. ``basic``: what basic models are told. ``share``: of the grid's
        runs, how much is learnt from.
    """

    part: runs.Part
    files: Mapping[str, str]
    seed: int
    settings: Settings
    runs: procedure.Runs = field(init=False)
    learning: Learning = field(init=False)

    def __post_init__(self) -> None:
        """Make what the figures share."""
        given = self.settings
        sets = {name: tuple(given[name]) for name in procedure.PRESETS if name in given}
        stop = replace(FILLED_STOP, until_ci=given.get("until_ci", 0.01))
        region = given.get("region_bytes", procedure.REGION_BYTES)
        self.runs = procedure.Runs(self.seed, sets, region, stop)
        part = replace(self.part, seed=self.seed, sets=sets)
        self.learning = Learning(Accuracy(part, given.get("share", 1.0)))

    @property
    def accuracy(self) -> Accuracy:
        """The models of the grid's runs."""
        return self.learning.accuracy

    @property
    def basic(self) -> str:
        """What basic models are told."""
        return str(self.settings.get("basic", WEIGHTED))


Maker = Callable[[Bench, StageProgress], Measured]


def _curves(name: str, bench: Bench, progress: StageProgress) -> Measured:
    lines = procedure.curves(name, bench.settings.get("stride", procedure.STRIDE))
    rows = bench.runs.of(lines, progress)
    read = claims.readings(name, rows)
    return Measured(read, partial(figure.draw, name, rows), procedure.columns(rows))


def _table(name: str, bench: Bench, progress: StageProgress) -> Measured:
    make = improving.measure if name in ("9", "10") else tables.measure
    return make(name, PAPER, bench.accuracy, bench.basic, progress)


def _traces(bench: Bench, progress: StageProgress) -> Measured:
    return _replayed(traces.run(bench.files, None, bench.part.folder, bench.seed, progress))


def _replayed(found: Sequence[traces.Replayed]) -> Measured:
    return Measured(
        traces_told.readings(found),
        partial(traces_drawn.draw, found),
        traces.columns(found),
        traces_told.notes(found),
        traces_told.table(found, PAPER),
    )


def _of_grid(make: Maker) -> Maker:
    """Take the readings off a figure that is made of too few runs of the grid."""
    return lambda bench, progress: runs.as_judged(make(bench, progress), bench.part)


_GRID: dict[str, Maker] = {
    "means": lambda bench, progress: means.measure(bench.accuracy.wanted, bench.runs, progress),
    **{name: partial(_table, name) for name in ("II", "III", "IV", "V", "VI", "9", "10")},
    "8": lambda bench, progress: tree.measure(bench.accuracy, progress),
    "characteristics": lambda bench, progress: characteristics.measure(
        bench.accuracy, bench.runs, progress
    ),
    "readings": lambda bench, progress: tables.readings(PAPER, bench.accuracy, progress),
    "platforms": lambda bench, progress: platforms.measure(bench.accuracy.wanted, progress),
    "unseen": lambda bench, progress: unseen.measure(bench.learning, progress),
    "simulators": lambda bench, progress: simulators.measure(
        bench.learning, bench.part.folder, progress
    ),
}
PREDICTING = frozenset(_GRID)
"""Figures that are made of the runs of the whole grid."""
_MAKERS: dict[str, Maker] = {
    "I": lambda bench, progress: datasheet.measure(PAPER, bench.runs, progress),
    **{name: partial(_curves, name) for name in CURVES},
    "mechanisms": lambda bench, progress: mechanisms.measure(bench.runs, progress),
    **{name: _of_grid(make) for name, make in _GRID.items()},
    TRACES: _traces,
}
_RUN = ("region_bytes", "until_ci")
_USES = {
    **dict.fromkeys(("3", "4", "5"), (*procedure.DEVICES, *_RUN)),
    **dict.fromkeys(("6", "7"), (*procedure.DEVICES, *_RUN, "stride")),
    **dict.fromkeys(("I", "mechanisms", "means", "platforms"), procedure.PRESETS),
    **dict.fromkeys(("II", "V", "9", "10"), (*procedure.PRESETS, "basic", "share")),
    **dict.fromkeys(("III", "IV", "VI", "8", "unseen"), (*procedure.PRESETS, "share")),
    **dict.fromkeys(("readings", "simulators", "characteristics"), (*procedure.PRESETS, "share")),
    TRACES: (),
}


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    trace: Sequence[str] = (),
    count: int | None = None,
    only: str | None = None,
    jobs: int | None = None,
    robust: bool = False,
) -> StudyResult:
    """Run the study, or its procedure on one target.

    Parameters
    ----------
    wanted, target, folder, seed, progress
        As of every study.
    trace
        ``NAME=FILE`` of traces.
    count, only, jobs
        Of the runs that models learn from: how many of the grid's, of which devices, and how many
        at a time.
    robust
        Whether rows are judged again with other seeds, sizes and lengths.

    Raises
    ------
    UsageError
        If options do not go with the figures.
    """
    files = traces.named(trace)
    if files and TRACES not in wanted:
        raise UsageError("--trace is for table VII", hint=f"add --figure {TRACES}")
    if target is None:
        study = _study(runs.part(folder, seed, count, only, jobs), files)
        make = Run(study, seed, folder, robust=robust).make
        return make_figures(KEY, wanted, make, seed, progress)
    chosen = [name for name in wanted if name in CURVES or (name == TRACES and files)]
    if not chosen:
        raise UsageError(
            f"figure {wanted[0]!r} is about the paper's own drives",
            hint="on a target there are figures 3 to 7, and VII with a --trace",
        )
    on_target.require(target)
    make_there = partial(_on_target, target, folder, seed, files)
    return make_figures(KEY, chosen, make_there, seed, progress, target.uri)


def _study(part: runs.Part, files: Mapping[str, str]) -> Study:
    ordered = {name: _MAKERS[name] for name in PAPER.figures}
    return Study(PAPER, partial(Bench, part, files), ordered, _USES)


def _on_target(
    target: Target,
    folder: Path,
    seed: int,
    files: Mapping[str, str],
    name: str,
    progress: StageProgress,
) -> FigureResult:
    """Make a figure of a drive that is not the paper's."""
    if name == TRACES:
        drives = {target.uri: target.device}
        measured, title = (_replayed(traces.run(files, drives, folder, seed, progress)), "")
    else:
        lines = on_target.lines(name, target)
        rows = procedure.measure_on(target.device, lines, seed, progress)
        picture = partial(figure.draw, name, rows)
        left_out = on_target.left_out(name, target, rows)
        read = on_target.readings(name, rows)
        measured = Measured(read, picture, procedure.columns(rows), left_out)
        title = f"The procedure of figure {name} on {target.uri}"
    return hand_in_elsewhere(PAPER, name, measured, folder, title=title)


STUDY = StudyInfo(
    KEY,
    "workloads on five devices, and traces predicted (2011)",
    dict(PAPER.figures),
    run,
    extras=frozenset({"trace", "count", "only", "jobs", "robust"}),
)
