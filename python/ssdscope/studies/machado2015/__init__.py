"""Machado, Boito, Kassick, Navaux: "Simulando o Impacto da Organização Interna de um SSD".

ERAD 2015, paper and slides. A simulated SSD in ten configurations (size, collection policy,
least share of free blocks), four access patterns, ten request sizes.

`procedure`
    The configurations and the runs: 300 synchronous requests each.
`claims`
    What the paper says of Figure 1, beside what these runs say.
`random_reads`
    Its first open question: why random reads looked like writes.
`wear`
    Its second: where the two collection policies do differ.
`on_target`
    Which claims hold on a drive that is not the paper's.
`figure`
    The pictures.
"""

from collections.abc import Sequence
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.machado2015 import (
    claims,
    figure,
    on_target,
    procedure,
    random_reads,
    wear,
)
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult
from ssdscope.targets import Target

KEY = "machado2015"
LINES = [each.label for each in procedure.CONFIGURATIONS]
FIGURES = {
    "1": "Mean response time of every configuration, by access pattern and request size",
    "difference": "The same, as each configuration's difference from greedy/5 %/32 GB",
    "random-reads": "Open question: why random reads looked like writes",
    "wear": "Open question: where greedy and wear-aware differ",
}


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Run the study, or its procedure on one target."""
    if target is not None:
        if "1" not in wanted:
            raise UsageError(
                f"figure {wanted[0]!r} is about the paper's own drives",
                hint="on a target there is figure 1",
            )
        figure_1, interrupted = _on_target(target, folder, seed, progress)
        return StudyResult(KEY, [figure_1], seed, target.uri, interrupted)
    return make_figures(KEY, wanted, _Study(folder, seed).make, seed, progress)


class _Study:
    """One run of the study: where it writes, and the runs that two pictures share."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._cells: procedure.Cells | None = None

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        makers = {"random-reads": _random_reads, "wear": _wear}
        if name in makers:
            return makers[name](self._folder, self._seed, progress)
        if self._cells is None:
            self._cells = procedure.run_configurations(
                procedure.CONFIGURATIONS, self._seed, progress
            )
        picture = _figure_1 if name == "1" else _difference
        return picture(self._cells, self._folder)


def _figure_1(cells: procedure.Cells, folder: Path) -> FigureResult:
    image = folder / "machado2015-figure1.svg"
    figure.four_panels(cells, LINES, image)
    return FigureResult(
        "1",
        FIGURES["1"],
        claims.compare(cells),
        image,
        procedure.write_table(cells, folder / "machado2015-figure1.csv"),
        procedure.gaps(cells),
    )


def _difference(cells: procedure.Cells, folder: Path) -> FigureResult:
    image = folder / "machado2015-difference.svg"
    figure.differences(cells, LINES, image)
    return FigureResult("difference", FIGURES["difference"], [], image, notes=procedure.gaps(cells))


def _random_reads(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    evidence = random_reads.investigate(seed, progress)
    image = folder / "machado2015-random-reads.svg"
    figure.bars(evidence.bars, image)
    return FigureResult("random-reads", FIGURES["random-reads"], evidence.rows, image)


def _wear(folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    runs = wear.age(seed, progress)
    image = folder / "machado2015-wear.svg"
    figure.erase_spread(runs, image)
    return FigureResult(
        "wear",
        FIGURES["wear"],
        wear.compare(runs),
        image,
        wear.write_table(runs, folder / "machado2015-wear.csv"),
    )


def _on_target(
    target: Target, folder: Path, seed: int, progress: StageProgress
) -> tuple[FigureResult, bool]:
    cells, interrupted = procedure.run_target(target, seed, progress)
    image = folder / "machado2015-target.svg"
    figure.four_panels(cells, [target.uri], image)
    result = FigureResult(
        "1",
        f"The procedure of figure 1 on {target.uri}",
        on_target.compare(cells),
        image,
        procedure.write_table(cells, folder / "machado2015-target.csv"),
        procedure.gaps(cells) + procedure.left_out(target),
    )
    return result, interrupted


STUDY = StudyInfo(KEY, "internal organisation of a simulated SSD (ERAD 2015)", FIGURES, run)
