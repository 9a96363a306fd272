"""A study run: figures measured, judged, explained, refuted, drawn and written.

A study is its `paper.toml` and what measures: a bench, made of a seed and of settings, and for
each figure a function of the bench. The rest is the same for all of them, and is here.
"""

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ssdscope.plots import save
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.judging import of_another_drive
from ssdscope.studies.making import within
from ssdscope.studies.paper import Paper, Refutation, Trial
from ssdscope.studies.record import Claim, Columns, FigureResult, Measured, Verdict

Settings = Mapping[str, Any]
Maker = Callable[[Any, StageProgress], Measured]
SEED = "seed"
"""A setting that every bench is given apart."""
NAMED = 2
"""So many of the rows that a trial breaks are named; the others are counted."""


@dataclass(frozen=True)
class Study:
    """What measures the figures of a paper.

    Attributes
    ----------
    bench
        Makes what the figures are measured with, of a seed and of settings; it may keep what
        several of them share.
    figures
        By id: what measures one, and tells how far it is.
    uses
        By id: the settings that a figure hangs on; one that is not here hangs on all.
    """

    paper: Paper
    bench: Callable[[int, Settings], Any]
    figures: Mapping[str, Maker]
    uses: Mapping[str, Collection[str]] = field(default_factory=dict)

    def of_figure(self, name: str, settings: Settings) -> Settings:
        """Return the settings that make another figure of this one."""
        used = {*self.uses.get(name, settings), SEED}
        return {key: value for key, value in settings.items() if key in used}


class Run:
    """One run of a study; what was measured under some settings is not measured again.

    Parameters
    ----------
    robust
        Whether rows are held against the study's refutations, too.
    """

    def __init__(self, study: Study, seed: int, folder: Path, *, robust: bool = False) -> None:
        self._study, self._seed, self._folder, self._robust = study, seed, folder, robust
        self._benches: dict[str, Any] = {}
        self._measured: dict[tuple[str, str], Measured] = {}

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        """Measure a figure, judge it, and write its picture and numbers."""
        paper = self._study.paper
        measured = self._measure(name, {}, within(progress, 0, 2))
        claims = paper.claims(measured.readings)
        claims = self._explained(name, claims, within(progress, 1, 2))
        if self._robust:
            claims = self._refuted(name, claims, within(progress, 1, 2))
        return hand_in(paper, name, measured, claims, self._folder)

    def _measure(self, name: str, settings: Settings, progress: StageProgress) -> Measured:
        settings = self._study.of_figure(name, settings)
        of = repr(sorted(settings.items()))
        if of not in self._benches:
            others = {key: value for key, value in settings.items() if key != SEED}
            self._benches[of] = self._study.bench(settings.get(SEED, self._seed), others)
        if (of, name) not in self._measured:
            progress(f"figure {name}", 0.0)
            self._measured[of, name] = self._study.figures[name](self._benches[of], progress)
        return self._measured[of, name]

    def _rows(self, name: str, settings: Settings, progress: StageProgress) -> dict[str, Claim]:
        """Judge the rows of a figure under settings, by their names."""
        readings = self._measure(name, settings, progress).readings
        return {claim.name: claim for claim in self._study.paper.claims(readings)}

    def _explained(
        self, name: str, claims: Sequence[Claim], progress: StageProgress
    ) -> list[Claim]:
        """Explain rows that differ by trials that the whole study survives."""
        found = list(claims)
        for trial in self._study.paper.trials:
            asked = [
                place
                for place, claim in enumerate(found)
                if claim.verdict == Verdict.DIFFERS and trial.is_about(claim.name)
            ]
            if asked:
                tried = self._tried(name, trial, [found[place].name for place in asked], progress)
                for place in asked:
                    found[place] = explained(found[place], trial, *tried)
        return found

    def _tried(
        self, first: str, trial: Trial, asked: Sequence[str], progress: StageProgress
    ) -> tuple[dict[str, Claim], dict[str, Claim], bool]:
        """Judge the study as it is and under a trial, until it is known not to explain.

        Figures that do not hang on the trial are left out: they stay as they are.
        """
        hanging = [
            each for each in self._study.figures if self._study.of_figure(each, trial.settings)
        ]
        before: dict[str, Claim] = {}
        after: dict[str, Claim] = {}
        for done, name in enumerate(sorted(hanging, key=lambda each: each != first)):
            stage = within(progress, done, len(hanging))
            before |= self._rows(name, {}, stage)
            after |= self._rows(name, trial.settings, stage)
            if _lost(before, after) or not any(_agrees(after.get(each)) for each in asked):
                break
        return before, after, len(hanging) == len(self._study.figures)

    def _refuted(self, name: str, claims: list[Claim], progress: StageProgress) -> list[Claim]:
        """Say of each row what other seeds, sizes and lengths make of it."""
        tried = [each for each in self._study.paper.refutations if name in each.figures]
        said: dict[str, list[str]] = {}
        for done, each in enumerate(tried):
            stage = within(progress, done, len(tried))
            rows = [self._rows(name, {each.setting: value}, stage) for value in each.values]
            for claim in claims:
                said.setdefault(claim.name, []).append(outcome(claim, each, rows))
        return [replace(claim, robust="; ".join(said.get(claim.name, []))) for claim in claims]


def explained(
    row: Claim,
    trial: Trial,
    before: Mapping[str, Claim],
    after: Mapping[str, Claim],
    whole: bool = True,
) -> Claim:
    """Judge a row that differs by a trial of the whole study.

    Parameters
    ----------
    before, after
        Rows of the study, by name: as it is, and under the trial.
    whole
        Whether every figure hangs on the trial.

    Returns
    -------
    Claim
        Explained, if it holds under the trial and every row that agrees goes on to; else as it
        was, with what the trial gave.
    """
    agreeing = [name for name, claim in before.items() if claim.verdict == Verdict.AGREES]
    lost = _lost(before, after)
    there = after.get(row.name)
    gave = f"{trial.says}: {there.ours if there else 'nothing'} {there.unit if there else ''}"
    tried = gave.rstrip()
    if not _agrees(there):
        return replace(row, tried=_joined(row.tried, tried))
    if lost:
        named = " and ".join(f"{before[name].what!r}" for name in lost[:NAMED])
        broken = f"{len(lost)} of the {len(agreeing)} rows that agree no longer do: {named}"
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        return replace(row, tried=_joined(row.tried, f"{tried}; but {broken}{more}"))
    which = "rows of the study that agree" if whole else "rows that agree and hang on it"
    kept = f"all {len(agreeing)} {which} go on to"
    return replace(row, verdict=Verdict.EXPLAINED, why=trial.why, tried=f"{tried}; {kept}")


def _lost(before: Mapping[str, Claim], after: Mapping[str, Claim]) -> list[str]:
    return [
        name for name, claim in before.items() if _agrees(claim) and not _agrees(after.get(name))
    ]


def _agrees(claim: Claim | None) -> bool:
    return claim is not None and claim.verdict == Verdict.AGREES


def _joined(before: str, more: str) -> str:
    return f"{before}; {more}" if before else more


def outcome(row: Claim, tried: Refutation, judged: Sequence[Mapping[str, Claim]]) -> str:
    """Say with how many of the values a row's verdict stays, and with which it does not.

    Parameters
    ----------
    judged
        The study's rows, by name, with each of the values.
    """
    # What explains a row is not tried again with each value.
    as_it_is = Verdict.DIFFERS if row.verdict == Verdict.EXPLAINED else row.verdict
    flips = [
        tried.name_of(value)
        for value, rows in zip(tried.values, judged, strict=True)
        if row.name not in rows or rows[row.name].verdict != as_it_is
    ]
    count = len(tried.values)
    said = f"{as_it_is} with {count + 1 - len(flips)} of {count + 1} {tried.varies}"
    return f"{said}; not with {', '.join(flips)}" if flips else said


def hand_in(
    paper: Paper,
    name: str,
    measured: Measured,
    claims: Sequence[Claim],
    folder: Path,
    *,
    title: str = "",
    suffix: str = "",
) -> FigureResult:
    """Write the picture (SVG and PNG) and the numbers (CSV) of a figure.

    Parameters
    ----------
    title
        Of a figure that is not of the paper's drives; else the paper's.
    suffix
        Behind the names of its files, so that it does not replace the paper's.
    """
    stem = f"{_kind(name)}{name}"
    path = folder / f"{paper.key}-{stem}{suffix}"
    image = data = None
    if measured.picture is not None:
        drawn = measured.picture()
        image = path.with_name(f"{path.name}.svg")
        save(drawn, image)
        save(drawn, image.with_suffix(".png"))
    if measured.columns is not None:
        data = write_columns(measured.columns, path.with_name(f"{path.name}.csv"))
    return FigureResult(
        name,
        title or paper.figures[name],
        list(claims),
        image,
        data,
        list(measured.notes),
        measured.table,
    )


def hand_in_elsewhere(
    paper: Paper,
    name: str,
    measured: Measured,
    folder: Path,
    *,
    title: str = "",
    suffix: str = "-target",
) -> FigureResult:
    """Write a figure of drives that are not the paper's; its rows need no explanation."""
    rows = [of_another_drive(each) for each in paper.claims(measured.readings)]
    return hand_in(paper, name, measured, rows, folder, title=title, suffix=suffix)


def _kind(name: str) -> str:
    """Tell a paper's figures and tables, which have Arabic and Roman numbers, from our own."""
    if name.isdigit():
        return "figure"
    return "table" if set(name) <= set("IVX") else ""


def write_columns(columns: Columns, path: Path) -> Path:
    """Write columns as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


def columns_of(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the attributes of records as columns."""
    return {name: [getattr(row, name) for row in rows] for name in names}
