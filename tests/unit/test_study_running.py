"""The core of all studies: rules, trials that the whole study survives, refutations."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.studies.judging import Rule
from ssdscope.studies.paper import CASE, Paper, Refutation, Row, Statement, Trial, load, papers
from ssdscope.studies.record import Claim, FigureResult, Measured, Reading, Verdict
from ssdscope.studies.running import Run, Study, explained
from ssdscope.targets import open_target

NAN = float("nan")


@pytest.mark.parametrize(
    ("rule", "agreeing", "beyond", "sides"),
    [
        (Rule(within=0.1), [90, 110], [89, 111, NAN], ("low", "high")),
        (Rule(between=(80, 95)), [80, 95], [79, 96, NAN], ("low", "high")),
        (Rule(above=80), [81, 1000], [80, NAN], ("low",)),
        (Rule(below=80), [79, -5], [80, NAN], ("high",)),
        (Rule(above=2, below=4), [3], [2, 4, NAN], ("low", "high")),
        (Rule(times=2), [50, 200], [201, NAN], ("low", "high")),
    ],
)
def test_a_rule_bounds_its_sides(
    rule: Rule, agreeing: list[float], beyond: list[float], sides: tuple[str, ...]
) -> None:
    assert {rule.verdict(100, [value]) for value in agreeing} == {Verdict.AGREES}
    assert {rule.verdict(100, [value]) for value in beyond} == {Verdict.DIFFERS}
    assert rule.verdict(100, [*agreeing, beyond[0]]) == Verdict.DIFFERS, "all have to be so"
    assert rule.verdict(100, []) == Verdict.DIFFERS, "nothing measured is nothing shown"
    assert rule.sides == sides


def test_an_error_far_below_the_papers_is_easier() -> None:
    assert Rule(times=2).verdict(20, [9.9]) == Verdict.EASIER
    assert Rule(times=2).verdict(20, [9.9, 41]) == Verdict.DIFFERS


class Bench:
    """A drive with a buffer and a reserve, which are settings."""

    def __init__(self, seed: int, settings: Mapping[str, Any]) -> None:
        self.seed = seed
        self.made: list[str] = []
        self.buffer = settings.get("buffer", 12)
        self.reserve = settings.get("reserve", 5)
        self.requests = settings.get("requests", 300)


def rate(bench: Bench, progress: StageProgress) -> Measured:
    progress("rate", 1.0)
    return Measured(
        {"buffer": Reading(bench.buffer), "of many: writes": Reading(bench.requests)},
        columns={"rate": [1, 2]},
    )


def cost(bench: Bench, _progress: StageProgress) -> Measured:
    return Measured({"cost": Reading(5.5 if bench.buffer < 30 and bench.reserve < 10 else 0.0)})


def paper(*trials: Trial) -> Paper:
    rows = (
        Row("buffer", "1", "the buffer", 20, "MB", Rule(within=0.1), ("1-1", "1-2")),
        Row("of many", "1", "requests of {case}", {"writes": 300}, "", Rule(within=0.5), ("1-2",)),
        Row("cost", "2", "the cost", 5.5, "%", Rule(within=0.1), ("2-1",)),
    )
    return Paper(
        "made-up", "A paper", "en", {"1": "Rates", "2": "Costs"},
        (Statement("1-1", "", ""), Statement("1-2", "", ""), Statement("2-1", "", ""),
         Statement("3-1", "", "", repeats="1-2")),
        {row.name: row for row in rows}, trials,
        (Refutation("seeds", "seed", (2, 3), ("1",)),
         Refutation("numbers of requests", "requests", (400, 2400), ("1",))),
    )  # fmt: skip


def make(folder: Path, *trials: Trial, robust: bool = False) -> FigureResult:
    study = Study(paper(*trials), Bench, {"1": rate, "2": cost}, uses={"2": ("buffer", "reserve")})
    return Run(study, 1, folder, robust=robust).make("1", silent)


def trial(settings: dict[str, Any]) -> Trial:
    return Trial("another drive", settings, ("buffer",), "the drive was another")


def test_a_trial_explains_if_all_that_agrees_survives(tmp_path: Path) -> None:
    row = make(tmp_path, trial({"buffer": 20})).rows[0]
    assert (row.verdict, row.why) == (Verdict.EXPLAINED, "the drive was another")
    assert row.tried == "another drive: 20 MB; all 2 rows of the study that agree go on to"


def test_a_trial_that_breaks_another_figure_explains_nothing(tmp_path: Path) -> None:
    row = make(tmp_path, trial({"buffer": 20, "reserve": 50})).rows[0]
    assert row.verdict == Verdict.DIFFERS
    assert "but 1 of the 2 rows that agree no longer do: 'the cost'" in row.tried


def test_a_trial_in_which_it_does_not_hold_explains_nothing(tmp_path: Path) -> None:
    row = make(tmp_path, trial({"buffer": 15})).rows[0]
    assert (row.verdict, row.tried) == (Verdict.DIFFERS, "another drive: 15 MB")


def test_refutations_say_where_a_row_flips(tmp_path: Path) -> None:
    buffer, many = make(tmp_path, robust=True).rows
    assert buffer.robust == "differs with 3 of 3 seeds; differs with 3 of 3 numbers of requests"
    assert many.robust == (
        "agrees with 3 of 3 seeds; agrees with 2 of 3 numbers of requests; not with 2,400"
    )


def test_a_statement_has_the_worst_verdict_of_its_rows(tmp_path: Path) -> None:
    assert paper().judged([each.to_json() for each in make(tmp_path).rows]) == {
        "1-1": Verdict.DIFFERS,
        "1-2": Verdict.DIFFERS,
    }
    assert paper().figures_of(paper().statement("3-1")) == ["1"]


@pytest.mark.parametrize("key", ["machado2015", "kuo2009", "ryu2009", "huang2011", "uflip"])
def test_another_drive_has_nothing_to_refute(key: str, tmp_path: Path) -> None:
    target = open_target("sim:ryu-a")
    with pytest.raises(UsageError, match="--robust and --target: another drive has no verdicts"):
        studies.run(key, out_dir=tmp_path, target=target, extras={"robust": True})


def test_another_firmware_has_nothing_to_refute(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--robust and --drive"):
        studies.run("machado2015", out_dir=tmp_path, extras={"robust": True, "drive": "log-block"})


def test_columns_are_written_beside_the_picture(tmp_path: Path) -> None:
    made = make(tmp_path)
    assert made.data == tmp_path / "made-up-figure1.csv"
    assert made.data.read_text().splitlines() == ["rate", "1", "2"]


def test_a_row_without_a_rule_wants_a_yes_or_a_no() -> None:
    row = Row("x", "1", "x", "yes")
    assert row.judge("", Reading("so", value=True)).verdict == Verdict.AGREES
    with pytest.raises(TypeError, match="no yes or no"):
        row.judge("", Reading(3.5))


@pytest.mark.parametrize("key", papers())
def test_every_statement_has_a_row_a_reason_or_an_original(key: str) -> None:
    source = load(key)
    numbers = [each.number for each in source.statements]
    assert len(set(numbers)) == len(numbers)
    judged = {number for row in source.rows.values() for number in row.states}
    assert judged <= set(numbers), "rows judge what the source states"
    for each in source.statements:
        kinds = (each.number in judged, bool(each.unmeasured), bool(each.repeats))
        assert sum(kinds) == 1, f"{key} {each.number}"
        assert not each.repeats or not source.statement(each.repeats).repeats
        assert each.quote, f"{key} {each.number}"
        assert len(each.says.split()) <= 30, f"{key} {each.number}"
        assert each.says.endswith("."), f"{key} {each.number}"


@pytest.mark.parametrize("key", papers())
def test_rows_are_of_figures_and_rest_on_statements(key: str) -> None:
    source = load(key)
    assert {row.figure for row in source.rows.values()} <= source.figures.keys()
    for row in source.rows.values():
        assert row.states or row.on_target or not source.statements, f"{key}: {row.name}"
    assert len(source.refutations) >= 3


TRIALS = [(key, trial) for key in papers() for trial in load(key).trials]


@pytest.mark.parametrize(("key", "trial"), TRIALS, ids=[f"{key}-{t.says}" for key, t in TRIALS])
def test_an_explanation_falls_if_one_row_is_lost(key: str, trial: Trial) -> None:
    rows = load(key).rows
    for name in trial.explains:
        row, _, case = name.partition(CASE)
        known = rows[row].paper
        assert not case or not isinstance(known, Mapping) or case in known
        differs = Claim("it", 1, 2, "", Verdict.DIFFERS, "why", name=name)
        holds = replace(differs, verdict=Verdict.AGREES, why="")
        other = replace(holds, name="another", what="another row")
        lost = replace(other, verdict=Verdict.DIFFERS, why="why")
        before = {name: differs, "another": other}
        shown = explained(differs, trial, before, {name: holds, "another": other})
        assert (shown.verdict, shown.why) == (Verdict.EXPLAINED, trial.why)
        assert trial.says in shown.tried
        fallen = explained(differs, trial, before, {name: holds, "another": lost})
        assert fallen.verdict == Verdict.DIFFERS
        assert "'another row'" in fallen.tried
        assert explained(differs, trial, before, before).verdict == Verdict.DIFFERS
