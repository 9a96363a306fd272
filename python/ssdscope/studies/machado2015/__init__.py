"""Machado, Boito, Kassick, Navaux: "Simulando o Impacto da Organização Interna de um SSD".

ERAD 2015, paper and slides. A simulated SSD in ten configurations (size, collection policy,
least share of free blocks), four access patterns, ten request sizes.

`procedure`
    The configurations and the runs: 300 synchronous requests each.
`claims`
    What the paper says of figure 1, asked of such runs.
`causes`
    Why some of it does not hold, each cause tried.
`random_reads`
    Its first open question: why random reads looked like writes.
`wear`
    Its second: where the two collection policies do differ.
`reserve`
    What the reserve decides where 50 % of 4 GB are kept free.
`organisation`
    Pages and blocks as paper and slides print them.
`firmware`
    Its future work: the ten configurations with other firmwares.
`on_target`
    Which claims hold on a drive that is not the paper's.
`figure`, `charts`
    The pictures: figure 1 and its differences, and all others.
"""

from collections.abc import Sequence
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015 import (
    causes,
    charts,
    claims,
    figure,
    firmware,
    on_target,
    organisation,
    procedure,
    random_reads,
    reserve,
    wear,
)
from ssdscope.studies.making import make_figures, within
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult
from ssdscope.targets import Target

KEY = "machado2015"
LINES = [each.label for each in procedure.CONFIGURATIONS]
FIGURES = {
    "1": "Mean response time of every configuration, by access pattern and request size",
    "difference": "The same, as each configuration's difference from greedy/5 %/32 GB",
    "random-reads": "Open question: why random reads looked like writes",
    "wear": "Open question: where greedy and wear-aware differ",
    "reserve": "Open question: what the reserve decides where 50 % of 4 GB are kept free",
    "organisation": "Pages and blocks as paper and slides print them",
}
OF_FIRMWARE = ("1", "difference")
"""Figures that are made with another firmware too."""


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    drive: str | None = None,
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
        made = _WithFirmware(firmware.Firmware(drive, folder), seed)
        return make_figures(KEY, wanted, made.make, seed, progress)
    return make_figures(KEY, wanted, _Study(folder, seed).make, seed, progress)


def _require(wanted: Sequence[str], made: Sequence[str], where: str) -> list[str]:
    """Keep the figures that are made there, and refuse a list without any."""
    kept = [name for name in wanted if name in made]
    if not kept:
        raise UsageError(
            f"figure {wanted[0]!r} is about the paper's own drives",
            hint=f"{where} there is figure {' and '.join(made)}",
        )
    return kept


class _Study:
    """One run of the study: where it writes, and the runs that two pictures share."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._cells: procedure.Cells | None = None

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        makers = {
            "random-reads": _random_reads,
            "wear": _wear,
            "reserve": _reserve,
            "organisation": _organisation,
        }
        if name in makers:
            return makers[name](self._folder, self._seed, progress)
        if self._cells is None:
            lines = [each.line() for each in procedure.CONFIGURATIONS]
            self._cells = procedure.run_lines(lines, self._seed, within(progress, 0, 2))
        if name == "difference":
            return _difference(self._cells, self._folder / f"{KEY}-difference.svg")
        trials = causes.run(self._cells, self._seed, within(progress, 1, 2))
        rows = causes.explain(claims.compare(self._cells), trials)
        return _four_panels(self._cells, self._folder / f"{KEY}-figure1.svg", rows)


class _WithFirmware:
    """The ten configurations with another firmware."""

    def __init__(self, drives: firmware.Firmware, seed: int) -> None:
        self._drives = drives
        self._seed = seed
        self._cells: procedure.Cells | None = None

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        kind, folder = self._drives.kind, self._drives.folder
        if self._cells is None:
            lines = self._drives.lines(self._seed)
            self._cells = procedure.run_lines(lines, self._seed, progress, procedure.PATTERNS)
        title = f"{FIGURES[name]}: {firmware.NAMES[kind]} firmware"
        if name == "difference":
            return _difference(self._cells, folder / f"{KEY}-{kind}-difference.svg", title)
        rows = firmware.compare(self._cells, kind)
        image = folder / f"{KEY}-{kind}-figure1.svg"
        return _four_panels(self._cells, image, rows, title, firmware.notes(kind))


def _four_panels(
    cells: procedure.Cells,
    image: Path,
    rows: list[Claim],
    title: str = FIGURES["1"],
    notes: Sequence[str] = (),
) -> FigureResult:
    figure.four_panels(cells, LINES, image)
    data = procedure.write_table(cells, image.with_suffix(".csv"))
    return FigureResult("1", title, rows, image, data, [*procedure.gaps(cells), *notes])


def _difference(
    cells: procedure.Cells, image: Path, title: str = FIGURES["difference"]
) -> FigureResult:
    figure.differences(cells, LINES, image)
    return FigureResult("difference", title, [], image, notes=procedure.gaps(cells))


def _random_reads(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    evidence = random_reads.investigate(seed, progress)
    image = folder / f"{KEY}-random-reads.svg"
    charts.candidates(evidence, image)
    return FigureResult(
        "random-reads",
        FIGURES["random-reads"],
        random_reads.compare(evidence),
        image,
        notes=[random_reads.attribution(evidence)],
        table=random_reads.table(evidence),
    )


def _wear(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    runs = wear.age(seed, progress)
    image = folder / f"{KEY}-wear.svg"
    charts.erase_spread(runs, image)
    return FigureResult(
        "wear",
        FIGURES["wear"],
        wear.compare(runs),
        image,
        wear.write_table(runs, folder / f"{KEY}-wear.csv"),
    )


def _reserve(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    found = reserve.sweep(seed, progress)
    image = folder / f"{KEY}-reserve.svg"
    charts.reserves(found, image)
    return FigureResult(
        "reserve",
        FIGURES["reserve"],
        reserve.compare(found),
        image,
        notes=reserve.notes(found),
        table=reserve.table(found),
    )


def _organisation(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    cells = organisation.run(seed, progress)
    image = folder / f"{KEY}-organisation.svg"
    charts.organisations(cells, image)
    return FigureResult(
        "organisation",
        FIGURES["organisation"],
        organisation.compare(cells),
        image,
        procedure.write_table(cells, folder / f"{KEY}-organisation.csv"),
        organisation.notes(cells),
    )


def _on_target(
    target: Target, folder: Path, seed: int, progress: StageProgress
) -> tuple[FigureResult, bool]:
    cells, interrupted = procedure.run_target(target, seed, progress)
    image = folder / f"{KEY}-target.svg"
    figure.four_panels(cells, [target.uri], image)
    result = FigureResult(
        "1",
        f"The procedure of figure 1 on {target.uri}",
        on_target.compare(cells),
        image,
        procedure.write_table(cells, folder / f"{KEY}-target.csv"),
        procedure.gaps(cells) + procedure.left_out(target),
    )
    return result, interrupted


STUDY = StudyInfo(
    KEY,
    "internal organisation of a simulated SSD (ERAD 2015)",
    FIGURES,
    run,
    extras=frozenset({"drive"}),
)
