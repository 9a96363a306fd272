"""Bouganim, Jónsson, Bonnet: "uFLIP: Understanding Flash IO Patterns" (CIDR 2009).

Nine micro-benchmarks, each of which varies one parameter of sequential and random reads and
writes, and what eleven drives of 2008 taught. Here they run on any target, or on the preset of a
drive of that time. `paper.toml` has the advice.

`benchmarks`
    The nine: parameters, values, and the workload of each.
`phases`
    Start-up and running phase: what is left out, and how much is taken.
`bench`
    The target: its random state, and the runs.
`hints`
    The advice, asked of the target.
`figure`
    The pictures.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.making import make_figures, within
from ssdscope.studies.measuring import in_columns
from ssdscope.studies.paper import load
from ssdscope.studies.record import Columns, FigureResult, Measured, StudyInfo, StudyResult, Table
from ssdscope.studies.running import Maker, Run, Settings, Study, hand_in_elsewhere
from ssdscope.studies.uflip import figure, hints
from ssdscope.studies.uflip.bench import LEAST_BYTES, Bench, Points
from ssdscope.studies.uflip.benchmarks import BENCHMARKS
from ssdscope.studies.uflip.phases import counts
from ssdscope.targets import Target, open_target

KEY = "uflip"
PAPER = load(KEY)
PRESET = "sim:ryu-b"


def _bench(seed: int, settings: Settings) -> Bench:
    """Open the preset, with what a trial changes of it; all else is of the bench."""
    others: dict[str, Any] = {name: value for name, value in settings.items() if name != "sets"}
    drive = open_target(PRESET, state="fresh", sets=settings.get("sets", ()), seed=seed)
    return Bench(drive, seed, **others)


def _benchmark(name: str) -> Maker:
    def measure(bench: Bench, progress: StageProgress) -> Measured:
        points = bench.measure(name, BENCHMARKS[name], progress)
        running = {key: each.running_ns for key, each in bench.phases(progress).items()}
        picture = partial(figure.benchmark, name, points) if points else None
        notes = [*_notes(bench, name), *_wide(points)]
        return Measured(
            hints.HINTS[name](points, running), picture, _columns({name: points}), notes
        )

    return measure


def _phases(bench: Bench, progress: StageProgress) -> Measured:
    traces, found = bench.traces(progress), bench.phases(progress)
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
    times = list(zip_longest(*traces.values(), fillvalue=""))
    columns = {"request": list(range(1, len(times) + 1))}
    columns |= {name: [row[place] for row in times] for place, name in enumerate(traces)}
    read, notes = hints.of_phases(found), _notes(bench, "phases")
    return Measured(read, partial(figure.traces, traces), columns, notes, table)


def _page(bench: Bench, progress: StageProgress) -> Measured:
    measured = {
        name: bench.measure(name, each, within(progress, done, len(BENCHMARKS)))
        for done, (name, each) in enumerate(BENCHMARKS.items())
    }
    picture = partial(figure.page, measured, PAPER.figures)
    notes = [*_notes(bench, "page"), *_wide(*measured.values())]
    return Measured({}, picture, _columns(measured), notes)


STUDY_OF_PRESET = Study(
    PAPER,
    _bench,
    {"phases": _phases, **{name: _benchmark(name) for name in BENCHMARKS}, "page": _page},
    uses={"page": ()},
)


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    robust: bool = False,
) -> StudyResult:
    """Run the micro-benchmarks on a target, or on the preset."""
    if target is None:
        of_preset = Run(STUDY_OF_PRESET, seed, folder, robust=robust)

        def make(name: str, stage: StageProgress) -> FigureResult:
            return _titled(of_preset.make(name, stage), PRESET)

        return make_figures(KEY, wanted, make, seed, progress)
    _require(target)
    make_on = partial(_on_target, target, Bench(target, seed), folder)
    return make_figures(KEY, wanted, make_on, seed, progress, target.uri)


def _on_target(
    target: Target, bench: Bench, folder: Path, name: str, progress: StageProgress
) -> FigureResult:
    progress(name, 0.0)
    measured = STUDY_OF_PRESET.figures[name](bench, progress)
    made = hand_in_elsewhere(PAPER, name, measured, folder)
    notes = []
    if not target.device.info.writable:
        notes.append("writes are left out: the target is open for reading only")
    if target.members:
        notes.append("the target is an array: the advice was for single drives")
    made.notes[:0] = notes
    return _titled(made, target.uri)


def _titled(made: FigureResult, uri: str) -> FigureResult:
    return replace(made, title=f"{made.title} ({uri})")


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


def _notes(bench: Bench, name: str) -> list[str]:
    """Say what could not be run, and why."""
    places_by_reason: dict[str, list[str]] = {}
    for where, why in bench.failures.items():
        if where.startswith(f"{name}: ") or name == "page":
            places_by_reason.setdefault(why, []).append(where.partition(": ")[2])
    return [f"{', '.join(places)} left out: {why}" for why, places in places_by_reason.items()]


def _wide(*measured: Points) -> list[str]:
    """Say of how many points the intervals are not drawn as a whole."""
    lines = [point for each in measured for line in each.values() for point in line.values()]
    count = sum(point.low_ns < figure.LEAST_SHARE * point.mean_ns for point in lines)
    if not count:
        return []
    text = f"{count} of {len(lines)} intervals begin below a tenth of their mean"
    return [f"{text}, and are drawn from there on: a few slow requests make up those means"]


def _columns(measured: dict[str, Points]) -> Columns:
    rows = [
        (name, series, value, each.mean_ns, each.low_ns, each.high_ns, each.requests)
        for name, points in measured.items()
        for series, line in points.items()
        for value, each in line.items()
    ]
    names = "benchmark series value mean_ns ci95_low_ns ci95_high_ns requests"
    return in_columns(names, rows)


STUDY = StudyInfo(
    KEY,
    "nine micro-benchmarks on any drive, after uFLIP (CIDR 2009)",
    dict(PAPER.figures),
    run,
    extras=frozenset({"robust"}),
)
