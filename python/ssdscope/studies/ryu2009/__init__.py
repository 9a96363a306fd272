"""Ryu and Park: "Performance Evaluation of Solid-State Disks through Black-Box Approach" (2009).

In Korean. Three drives, called A, B and C, and a hard disk; where their management blocks are and
what follows from that. The presets `ryu-a`, `ryu-b`, `ryu-c` are fitted to figure 13.

`detecting`
    The drives as the detectors had them, and what was measured on them.
`management_block`
    Figure 6: the management block, as printed and as repaired.
`placing`
    Figures 9 to 11: allocation, placement, k; the equations fitted.
`detected`, `drawn`
    Those figures handed in, and the table of the three drives; their pictures.
`ageing`, `ageing_claims`
    Figures 2 and 3: new, and after months of use; ageing against the size of the block.
`channels`
    Whether A and C differ by their channels, tried by changing them.
`memory`
    Figure 4's memory buffers, tried as buffers that take up writes.
`shift_write`
    Figure 7: shifted writes.
`allocation`
    Order- or address-based: reads after random and after sequential writes.
`equations`
    Figure 12: response times from equations, corrected.
`iozone`
    Figure 13: the table.
`read_size`
    Figure 14: response time by read size.
`figure`
    The pictures.
`on_target`
    The procedures on a drive that is not the paper's.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.making import make_figures
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult
from ssdscope.studies.ryu2009 import (
    ageing,
    ageing_claims,
    allocation,
    channels,
    detected,
    equations,
    figure,
    iozone,
    memory,
    on_target,
    read_size,
    shift_write,
)
from ssdscope.studies.ryu2009.detecting import Detecting
from ssdscope.targets import Target

KEY = "ryu2009"
FIGURES = {
    "2": "Drive A new and after months of use",
    "3": "Drive C new and after months of use",
    "ageing": "Ageing against the size of the management block",
    "4": "Memory buffers of the three drives",
    "table": detected.TITLES["table"],
    "6": detected.TITLES["6"],
    "7": "Shifted writes",
    "9": detected.TITLES["9"],
    "10": detected.TITLES["10"],
    "11": detected.TITLES["11"],
    "allocation": "Sequential reads after random (T1) and after sequential writes (T2)",
    "12": "Response time of a read by placement, from the equations",
    "13": "Random reads and writes on the three drives",
    "14": "Response time by read size",
}
_NEW_AND_AGED = (
    "new: nothing but the test file was ever written. Aged: the rest filled in order, then as many "
    "bytes as half the drive overwritten at random, a third each in 4, 16 and 64 KB. The drives "
    "are cut down to 2 GB, B to 1 GB."
)


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Run the study, or its procedures on one target."""
    if target is not None:
        chosen = on_target.choose(wanted, target)
        make = on_target.OnTarget(target, folder, seed).make
        return make_figures(KEY, chosen, make, seed, progress, target.uri)
    return make_figures(KEY, wanted, _Study(folder, seed).make, seed, progress)


class _Study:
    """One run of the study: where it writes, and the lives of drives that figures share."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self._detecting = Detecting(seed)
        self._lives: dict[ageing.Subject, ageing.Life] = {}

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        makers: dict[str, Callable[[StageProgress], FigureResult]] = {
            "2": self._figure_2,
            "3": self._figure_3,
            "ageing": self._ageing,
            "4": self._figure_4,
            "7": self._figure_7,
            "allocation": self._allocation,
            "12": self._figure_12,
            "13": self._figure_13,
            "14": self._figure_14,
        }
        if name in detected.TITLES:
            return detected.make(name, self._detecting, self.folder, progress)
        return makers[name](progress)

    def _path(self, name: str, suffix: str) -> Path:
        return self.folder / f"{KEY}-{name}.{suffix}"

    def _result(
        self, name: str, rows: list[Claim], image: Path | None, data: Path | None, *notes: str
    ) -> FigureResult:
        return FigureResult(name, FIGURES[name], rows, image, data, list(notes))

    def _live(
        self, subjects: Sequence[ageing.Subject], progress: StageProgress
    ) -> list[ageing.Life]:
        """Watch drives age; those that another figure has watched already are not run again."""
        missing = [each for each in subjects if each not in self._lives]
        for life in ageing.live(missing, self.seed, progress):
            self._lives[life.subject] = life
        return [self._lives[each] for each in subjects]

    def _figure_2(self, progress: StageProgress) -> FigureResult:
        lives = self._live([ageing.A], progress)
        image = figure.lives(lives, self._path("figure2", "svg"))
        data = ageing.write_table(lives, self._path("figure2", "csv"))
        return self._result("2", ageing_claims.of_drive(lives[0]), image, data, _NEW_AND_AGED)

    def _figure_3(self, progress: StageProgress) -> FigureResult:
        lives = self._live([ageing.A, ageing.C], progress)
        compared = channels.measure(lives[0].new, lives[1].new, self.seed)
        rows = [
            *ageing_claims.of_drive(lives[1]),
            ageing_claims.small_writes(lives),
            channels.due_to_channels(compared),
        ]
        image = figure.lives(lives[1:], self._path("figure3", "svg"))
        data = ageing.write_table(lives[1:], self._path("figure3", "csv"))
        return self._result("3", rows, image, data, _NEW_AND_AGED)

    def _ageing(self, progress: StageProgress) -> FigureResult:
        wanted = [ageing.A, ageing.B, ageing.C, *ageing.SWEEP, *ageing.SWEEP_WITHOUT_MAP]
        lives = self._live(wanted, progress)
        drives, rest = lives[:3], lives[3:]
        swept, without_map = rest[: len(ageing.SWEEP)], rest[len(ageing.SWEEP) :]
        rows = [ageing_claims.drives_by_block(drives), *ageing_claims.sweep(swept, without_map)]
        image = figure.sweep(swept, without_map, drives, self._path("ageing", "svg"))
        data = ageing.write_table(lives, self._path("ageing", "csv"))
        return self._result("ageing", rows, image, data, _NEW_AND_AGED)

    def _figure_4(self, progress: StageProgress) -> FigureResult:
        return self._result("4", memory.rows(self._detecting, progress), None, None)

    def _figure_7(self, progress: StageProgress) -> FigureResult:
        points = shift_write.measure(self.seed, progress)
        image = figure.shifted(points, self._path("figure7", "svg"))
        data = shift_write.write_table(points, self._path("figure7", "csv"))
        return self._result("7", shift_write.compare(points), image, data)

    def _allocation(self, progress: StageProgress) -> FigureResult:
        rows = allocation.compare(*allocation.measure(self.seed, progress))
        return self._result("allocation", rows, None, None)

    def _figure_12(self, _progress: StageProgress) -> FigureResult:
        image = figure.curves_12(self._path("figure12", "svg"))
        data = equations.write_table(self._path("figure12", "csv"))
        return self._result("12", equations.compare(), image, data)

    def _figure_13(self, progress: StageProgress) -> FigureResult:
        cells = iozone.measure(self.seed, progress)
        image = figure.table_13(cells, self._path("figure13", "svg"))
        data = iozone.write_table(cells, self._path("figure13", "csv"))
        return self._result("13", iozone.compare(cells), image, data)

    def _figure_14(self, progress: StageProgress) -> FigureResult:
        curves = read_size.measure(self.seed, progress)
        image = figure.curves_14(curves, self._path("figure14", "svg"))
        data = read_size.write_table(curves, self._path("figure14", "csv"))
        return self._result("14", read_size.compare(curves), image, data)


STUDY = StudyInfo(KEY, "drives A, B and C and their management blocks (2009)", FIGURES, run)
