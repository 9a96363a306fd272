"""Machado, Boito, Kassick, Navaux: "Simulando o Impacto da Organização Interna de um SSD".

ERAD 2015, paper and slides. A simulated SSD in ten configurations (size, collection policy,
least share of free blocks), four access patterns, ten request sizes. `paper.toml` has what they
state.

`procedure`
    The configurations and the runs: 300 synchronous requests each.
`claims`, `figure`
    What is read off figure 1, and its picture.
`requests`, `reserve`
    What its numbers hang on: how many requests, and the reserve that the paper does not say.
`random_reads`
    Its first open question: why random reads looked like writes.
`collecting`
    When collection starts, and what it costs; the reserves of the three limits.
`drives`
    Disks, other SSDs, and the paper's with other designs.
`wear`
    Its second: where the two collection policies do differ.
`organisation`
    Pages and blocks as paper and slides print them.
`firmware`
    Its future work: the ten configurations with other firmwares.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015 import (
    claims,
    collecting,
    drives,
    figure,
    firmware,
    organisation,
    procedure,
    random_reads,
    requests,
    reserve,
    wear,
)
from ssdscope.studies.making import make_figures
from ssdscope.studies.paper import Paper, load
from ssdscope.studies.record import FigureResult, Measured, StudyInfo, StudyResult
from ssdscope.studies.running import Run, Settings, Study, hand_in_elsewhere
from ssdscope.targets import Target

KEY = "machado2015"
PAPER = load(KEY)
LINES = [each.label for each in procedure.CONFIGURATIONS]
OF_FIRMWARE = ("1", "difference")
"""Figures that are made with another firmware too."""


class Bench:
    """The points of figure 1, which two pictures share, under a setting.

    Parameters
    ----------
    run
        Runs other drives than the paper's.
    """

    def __init__(
        self,
        seed: int,
        settings: Settings,
        run: Callable[[StageProgress], procedure.Cells] | None = None,
    ) -> None:
        self.seed = seed
        self.setting = procedure.Setting(**settings)
        self._run = run or partial(procedure.figure_1, seed, self.setting)
        self._cells: procedure.Cells | None = None

    def cells(self, progress: StageProgress) -> procedure.Cells:
        """Run them once."""
        if self._cells is None:
            self._cells = self._run(progress)
        return self._cells


def _figure_1(bench: Bench, progress: StageProgress) -> Measured:
    cells = bench.cells(progress)
    return _four_panels(cells, LINES, claims.readings(cells, independent=bench.setting.independent))


def _four_panels(cells: procedure.Cells, lines: list[str], read: dict[str, Any]) -> Measured:
    picture = partial(figure.four_panels, cells, lines)
    return Measured(read, picture, procedure.columns(cells), procedure.gaps(cells))


def _difference(bench: Bench, progress: StageProgress) -> Measured:
    cells = bench.cells(progress)
    return Measured({}, partial(figure.differences, cells, LINES), notes=procedure.gaps(cells))


def _of_seed(
    measure: Callable[..., Measured], *names: str
) -> Callable[[Bench, StageProgress], Measured]:
    """Return a figure that hangs on the seed, and on some of the settings."""

    def made(bench: Bench, progress: StageProgress) -> Measured:
        settings = [getattr(bench.setting, name) for name in names]
        return measure(bench.seed, *settings, progress)

    return made


OWN: dict[str, tuple[Callable[..., Measured], tuple[str, ...]]] = {
    "requests": (requests.measure, ()),
    "reserve": (partial(reserve.measure, PAPER), ()),
    "collection": (collecting.measure, ()),
    "random-reads": (random_reads.measure, ("reads_as_writes",)),
    "wear": (wear.measure, ("wear_blocks",)),
    "organisation": (organisation.measure, ("sectors",)),
    "drives": (drives.measure, ("disk_buffer",)),
}
"""Figures with runs of their own, and the settings that they hang on."""
OF_FIGURE_1 = (
    "requests", "reserve_5", "reserve_50", "reserve_90", "region_mib", "reads_as_writes",
    "independent",
)  # fmt: skip
SHARED = Study(
    PAPER,
    Bench,
    {
        "1": _figure_1,
        "difference": _difference,
        **{name: _of_seed(measure, *names) for name, (measure, names) in OWN.items()},
    },
    uses={
        **dict.fromkeys(("1", "difference"), OF_FIGURE_1),
        **{name: names for name, (_, names) in OWN.items()},
    },
)


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    drive: str | None = None,
    robust: bool = False,
) -> StudyResult:
    """Run the study, its ten configurations with another firmware, or its procedure on a target."""
    if target is not None:
        if drive is not None:
            raise UsageError("--drive and --target: a target has a firmware of its own")
        _require(wanted, ("1",), "on a target")
        figure_1, interrupted = _on_target(target, folder, seed, progress)
        return StudyResult(KEY, [figure_1], seed, target.uri, interrupted)
    if drive is not None:
        wanted = _require(wanted, OF_FIRMWARE, f"with --drive {firmware.known(drive)}")
        make = _with_firmware(firmware.Firmware(drive, folder), seed)
        return make_figures(KEY, wanted, make, seed, progress)
    make = Run(SHARED, seed, folder, robust=robust).make
    return make_figures(KEY, wanted, make, seed, progress)


def _require(wanted: Sequence[str], made: Sequence[str], where: str) -> list[str]:
    """Keep the figures that are made there, and refuse a list without any."""
    kept = [name for name in wanted if name in made]
    if not kept:
        raise UsageError(
            f"figure {wanted[0]!r} is about the paper's own drives",
            hint=f"{where} there is figure {' and '.join(made)}",
        )
    return kept


def _with_firmware(
    drives: firmware.Firmware, seed: int
) -> Callable[[str, StageProgress], FigureResult]:
    """Return what makes a figure of the ten configurations with another firmware."""
    kind = drives.kind

    def runs(progress: StageProgress) -> procedure.Cells:
        return procedure.run_lines(drives.lines(seed), seed, progress, procedure.PATTERNS)

    bench = Bench(seed, {}, runs)

    def make(name: str, progress: StageProgress) -> FigureResult:
        measured = SHARED.figures[name](bench, progress)
        where = f"{firmware.NAMES[kind]} firmware"
        paper = replace(PAPER, key=f"{KEY}-{kind}")
        made = _elsewhere(paper, name, measured, drives.folder, where, firmware.notes(kind))
        return replace(made, rows=firmware.asked(kind, made.rows))

    return make


def _elsewhere(
    paper: Paper, name: str, measured: Measured, folder: Path, where: str, notes: Sequence[str]
) -> FigureResult:
    """Hand in a figure of drives that are not the paper's."""
    suffix = "-target" if paper is PAPER else ""
    title = f"{paper.figures[name]}: {where}"
    made = hand_in_elsewhere(paper, name, measured, folder, title=title, suffix=suffix)
    made.notes.extend(notes)
    return made


def _on_target(
    target: Target, folder: Path, seed: int, progress: StageProgress
) -> tuple[FigureResult, bool]:
    cells, interrupted = procedure.run_target(target, seed, progress)
    measured = _four_panels(cells, [target.uri], claims.of_one_drive(cells))
    left_out = procedure.left_out(target)
    return _elsewhere(PAPER, "1", measured, folder, target.uri, left_out), interrupted


STUDY = StudyInfo(
    KEY,
    "internal organisation of a simulated SSD (ERAD 2015)",
    dict(PAPER.figures),
    run,
    extras=frozenset({"drive", "robust"}),
)
