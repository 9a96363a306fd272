"""Bouganim, Jónsson, Bonnet: "uFLIP: Understanding Flash IO Patterns" (CIDR 2009).

Nine micro-benchmarks, each of which varies one parameter of sequential and random reads and
writes, and what eleven drives of 2008 taught. Here they run on any target, or on the preset of a
drive of that time.

`benchmarks`
    The nine: parameters, values, and the workload of each.
`phases`
    Start-up and running phase: what is left out, and how much is taken.
`bench`
    The target: its random state, and the runs.
`hints`
    The advice, asked of the target.
`explaining`
    Why the preset does not follow some of it.
`figure`
    The pictures.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.judging import of_another_drive
from ssdscope.studies.making import make_figures, within
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult, Table
from ssdscope.studies.uflip import figure, hints
from ssdscope.studies.uflip.bench import LEAST_BYTES, Bench, Points
from ssdscope.studies.uflip.benchmarks import BENCHMARKS
from ssdscope.studies.uflip.explaining import why_not
from ssdscope.studies.uflip.phases import counts
from ssdscope.targets import Target, open_target

KEY = "uflip"
FIGURES = {
    "phases": "Start-up and running phase of the four patterns",
    **{name: each.title for name, each in BENCHMARKS.items()},
    "page": "The nine micro-benchmarks on one page",
}
PRESET = "sim:ryu-b"


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Run the micro-benchmarks on a target, or on the preset."""
    if target is not None:
        _require(target)
    drive = target or open_target(PRESET, state="fresh", seed=seed)
    study = Study(drive, folder, seed, is_another=target is not None)
    uri = None if target is None else target.uri
    return make_figures(KEY, wanted, study.make, seed, progress, uri)


def _require(target: Target) -> None:
    """Refuse a drive too small for the study.

    Raises
    ------
    UsageError
        If the longest run in order would come by a place twice.
    """
    if target.capacity_bytes < LEAST_BYTES:
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes: too few for the study",
            hint=f"use one of at least {LEAST_BYTES} bytes",
        )


class Study:
    """One run of the study: the bench, where it writes, and how files are called.

    Parameters
    ----------
    is_another
        Whether the drive is somebody's own, not the preset.
    """

    def __init__(self, drive: Target, folder: Path, seed: int, *, is_another: bool) -> None:
        self._bench, self._drive, self._seed = Bench(drive, seed), drive, seed
        self._folder, self._suffix = folder, "-target" if is_another else ""
        self._is_another = is_another

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        """Measure a figure."""
        progress(name, 0.0)
        if name == "phases":
            return self._phases(progress)
        if name == "page":
            return self._page(progress)
        points = self._bench.measure(name, BENCHMARKS[name], progress)
        running = {key: each.running_ns for key, each in self._bench.phases(progress).items()}
        image = figure.benchmark(name, points, self._path(name, "svg")) if points else None
        data = _write_points({name: points}, self._path(name, "csv"))
        rows = list(hints.HINTS[name](points, running))
        if not self._is_another:
            rows = why_not(name, rows, points, self._bench, PRESET, self._seed)
        return self._result(name, rows, image, data, notes=_wide(points))

    def _phases(self, progress: StageProgress) -> FigureResult:
        traces = self._bench.traces(progress)
        found = self._bench.phases(progress)
        chosen = counts(found)
        table = Table(
            ("pattern", "start-up", "period", "left out", "taken", "mean, us"),
            tuple(
                (
                    name,
                    each.startup or "none",
                    each.period if each.period > 1 else "none",
                    chosen.ignored[name],
                    chosen.count,
                    f"{each.running_ns / 1e3:,.0f}",
                )
                for name, each in found.items()
            ),
        )
        image = figure.traces(traces, self._path("phases", "svg"))
        data = self._path("phases", "csv")
        with creating(data) as file:
            rows = csv.writer(file)
            rows.writerow(["request", *traces])
            for number, times in enumerate(zip(*traces.values(), strict=False), start=1):
                rows.writerow([number, *times])
        return self._result("phases", list(hints.of_phases(found)), image, data, table)

    def _page(self, progress: StageProgress) -> FigureResult:
        measured = {
            name: self._bench.measure(name, each, within(progress, done, len(BENCHMARKS)))
            for done, (name, each) in enumerate(BENCHMARKS.items())
        }
        image = figure.page(measured, self._path("page", "svg"))
        data = _write_points(measured, self._path("page", "csv"))
        return self._result("page", [], image, data, notes=_wide(*measured.values()))

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"{KEY}-{name}{self._suffix}.{suffix}"

    def _result(
        self,
        name: str,
        rows: Sequence[Claim],
        image: Path | None,
        data: Path,
        table: Table | None = None,
        notes: Sequence[str] = (),
    ) -> FigureResult:
        title = f"{FIGURES[name]} ({self._drive.uri})"
        told = [of_another_drive(row) for row in rows] if self._is_another else list(rows)
        return FigureResult(name, title, told, image, data, [*self._notes(name), *notes], table)

    def _notes(self, name: str) -> list[str]:
        notes = []
        if not self._drive.device.info.writable:
            notes.append("writes are left out: the target is open for reading only")
        if self._drive.members:
            notes.append("the target is an array: the advice was for single drives")
        told: dict[str, list[str]] = {}
        for where, why in self._bench.failures.items():
            if where.startswith(f"{name}: ") or name == "page":
                told.setdefault(why, []).append(where.partition(": ")[2])
        return notes + [f"{', '.join(places)} left out: {why}" for why, places in told.items()]


def _wide(*measured: Points) -> list[str]:
    """Say of how many points the intervals are not drawn as a whole."""
    lines = [point for each in measured for line in each.values() for point in line.values()]
    count = sum(point.low_ns < figure.LEAST_SHARE * point.mean_ns for point in lines)
    if not count:
        return []
    told = f"{count} of {len(lines)} intervals begin below a tenth of their mean"
    return [f"{told}, and are drawn from there on: a few slow requests make up those means"]


def _write_points(measured: dict[str, Points], path: Path) -> Path:
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(
            ["benchmark", "series", "value", "mean_ns", "ci95_low_ns", "ci95_high_ns", "requests"]
        )
        for name, points in measured.items():
            for series, line in points.items():
                for value, each in line.items():
                    numbers = (each.mean_ns, each.low_ns, each.high_ns, each.requests)
                    table.writerow([name, series, value, *numbers])
    return path


STUDY = StudyInfo(KEY, "nine micro-benchmarks on any drive, after uFLIP (CIDR 2009)", FIGURES, run)
