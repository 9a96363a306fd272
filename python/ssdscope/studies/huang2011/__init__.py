"""Huang, Li, Szalay, Terzis: "Performance Modeling and Analysis of Flash-based Storage" (2011).

Five devices under a grid of 12,000 workloads, and models of them.

`procedure`
    The runs of figures 3 to 7.
`claims`
    What the paper says of them.
`on_target`
    What of them can be asked of a drive that is not the paper's.
`figure`
    The pictures.
`datasheet`
    Table I: what the makers' data sheets say of the devices.
`means`
    The means over the grid that the paper's tables print, on a drawn subset.
`traces`, `traces_told`, `traces_drawn`
    Table VII: traces replayed, their first part learnt from, the second predicted; what is said
    of it, and the picture.
`predicting`
    Tables II to VI and figures 8 to 10: models of the grid's runs; what the paper left to do.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011 import (
    claims,
    datasheet,
    figure,
    means,
    on_target,
    procedure,
    traces,
    traces_drawn,
    traces_told,
)
from ssdscope.studies.huang2011.predicting import (
    improving,
    platforms,
    quantile,
    readings,
    runs,
    simulators,
    tables,
    tree,
    unseen,
)
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy
from ssdscope.studies.huang2011.predicting.unseen import Learning
from ssdscope.studies.making import make_figures, within
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult
from ssdscope.targets import Target

KEY = "huang2011"
DRAWN = {
    "3": "Impact of the share of writes on latency, bandwidth and throughput",
    "4": "Impact of queue depth on latency, bandwidth and throughput",
    "5": "Impact of request size on latency, bandwidth and throughput",
    "6": "Impact of access patterns on latency",
    "7": "Impact of access patterns on throughput",
}
DATA_SHEETS, TRACES = "I", "VII"
FIGURES = {
    DATA_SHEETS: "Table I: the makers' data sheets",
    **DRAWN,
    "means": "Means over the grid, by one drawn pattern of each of its 500 kinds of requests",
    **tables.TITLES,
    "8": tree.TITLE,
    **improving.TITLES,
    readings.KEY: readings.TITLE,
    platforms.KEY: platforms.TITLE,
    TRACES: "Table VII: traces, replayed and predicted",
    "unseen": unseen.TITLE,
    "simulators": simulators.TITLE,
}
"""In the paper's order."""
PREDICTING = frozenset(
    {*tables.TITLES, "8", *improving.TITLES, readings.KEY, platforms.KEY, "unseen", "simulators"}
)
"""Figures that are made of the runs of the whole grid."""


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

    Raises
    ------
    UsageError
        If options do not go with the figures.
    """
    files = traces.named(trace)
    if files and TRACES not in wanted:
        raise UsageError("--trace is for table VII", hint=f"add --figure {TRACES}")
    if target is None:
        part = runs.part(folder, seed, count, only, jobs)
        make = partial(_make, folder, seed, files, Learning(Accuracy(part)))
        return make_figures(KEY, wanted, make, seed, progress)
    chosen = [name for name in wanted if name in DRAWN or (name == TRACES and files)]
    if not chosen:
        raise UsageError(
            f"figure {wanted[0]!r} is about the paper's own drives",
            hint="on a target there are figures 3 to 7, and VII with a --trace",
        )
    on_target.require(target)
    return make_figures(
        KEY,
        chosen,
        partial(_on_target, target, folder, seed, files),
        seed,
        progress,
        target.uri,
    )


def _make(
    folder: Path,
    seed: int,
    files: dict[str, str],
    learning: Learning,
    name: str,
    progress: StageProgress,
) -> FigureResult:
    if name in PREDICTING:
        return _predicting(folder, learning, name, progress)
    if name == "means":
        return _means(folder, seed, progress)
    if name == DATA_SHEETS:
        return _datasheet(folder, seed, progress)
    if name == TRACES:
        return _traces(traces.run(files, None, folder, seed, progress), folder)
    return _figure(name, folder, seed, progress)


def _predicting(
    folder: Path, learning: Learning, name: str, progress: StageProgress
) -> FigureResult:
    made = _of_grid(folder, learning, name, progress)
    return runs.as_judged(made, learning.accuracy.wanted)


def _of_grid(folder: Path, learning: Learning, name: str, progress: StageProgress) -> FigureResult:
    if name == "8":
        return tree.make(learning.accuracy, folder, progress)
    if name in improving.TITLES:
        return improving.make(name, learning.accuracy, folder, progress)
    if name == readings.KEY:
        return readings.make(learning.accuracy, progress)
    if name == platforms.KEY:
        return platforms.make(learning.accuracy.wanted, progress)
    if name == "unseen":
        return unseen.make(learning, folder, progress)
    if name == "simulators":
        return simulators.make(learning, folder, progress)
    made = tables.make(name, learning.accuracy, folder, within(progress, 0, 2))
    if name == "III" and learning.accuracy.wanted.judged:
        made.rows.extend(quantile.claims(learning.accuracy, within(progress, 1, 2)))
    return made


def _figure(name: str, folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    rows = procedure.measure(procedure.curves(name), seed, progress)
    image = figure.draw(name, rows, folder / f"{KEY}-figure{name}.svg")
    data = procedure.write_table(rows, folder / f"{KEY}-figure{name}.csv")
    tried = {
        what: procedure.with_a_faster_link(wr_ratio, seed)
        for what, (where, wr_ratio) in claims.CONTRADICTED.items()
        if where == name
    }
    return FigureResult(name, FIGURES[name], claims.compare(name, rows, tried), image, data)


def _on_target(
    target: Target,
    folder: Path,
    seed: int,
    files: dict[str, str],
    name: str,
    progress: StageProgress,
) -> FigureResult:
    if name == TRACES:
        drives = {target.uri: target.device}
        return _traces(traces.run(files, drives, folder, seed, progress), folder, "-target")
    lines = on_target.lines(name, target)
    rows = procedure.measure_on(target.device, lines, seed, progress)
    image = figure.draw(name, rows, folder / f"{KEY}-figure{name}-target.svg")
    return FigureResult(
        name,
        f"The procedure of figure {name} on {target.uri}",
        on_target.compare(name, rows),
        image,
        procedure.write_table(rows, folder / f"{KEY}-figure{name}-target.csv"),
        on_target.left_out(name, target, rows),
    )


def _datasheet(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    values = datasheet.measure(seed, progress)
    data = datasheet.write_table(values, folder / f"{KEY}-table{DATA_SHEETS}.csv")
    rows = datasheet.compare(values)
    return FigureResult(DATA_SHEETS, FIGURES[DATA_SHEETS], rows, None, data)


def _means(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    rows = means.measure(seed, progress)
    data = means.write_table(rows, folder / f"{KEY}-means.csv")
    return FigureResult("means", FIGURES["means"], means.compare(rows), None, data)


def _traces(found: Sequence[traces.Replayed], folder: Path, suffix: str = "") -> FigureResult:
    return FigureResult(
        TRACES,
        FIGURES[TRACES],
        traces_told.compare(found),
        traces_drawn.draw(found, folder / f"{KEY}-table{TRACES}{suffix}.svg"),
        traces.write_table(found, folder / f"{KEY}-table{TRACES}{suffix}.csv"),
        traces_told.notes(found),
        traces_told.table(found),
    )


STUDY = StudyInfo(
    KEY,
    "workloads on five devices, and traces predicted (2011)",
    FIGURES,
    run,
    extras=frozenset({"trace", "count", "only", "jobs"}),
)
