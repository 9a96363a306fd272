"""What a source states, and what is asked of it: a study's `paper.toml`.

The file has the source's statements in its own words, the titles of our figures, the rows that
hold the one against the other, each with the rule that decides it, the trials that may explain a
row, and what else is varied to refute it. Programs measure; what they are held against is here.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ssdscope.studies.judging import NOT_SO, Rule, worst
from ssdscope.studies.record import Claim, Reading, Verdict

CASE = ": "
"""Stands between the name of a row and the one of its cases that a reading is of."""


@dataclass(frozen=True)
class Statement:
    """A numbered figure or table of the source, or a sentence that states a result.

    Attributes
    ----------
    number
        "figure 5", or the section and a running number in it.
    quote
        In the language of the source.
    says
        The same in English.
    page
        Of the source, where it numbers its pages.
    unmeasured
        Why nothing is held against it; empty where rows are.
    repeats
        The number of the statement that it says again.
    """

    number: str
    quote: str
    says: str
    page: int | None = None
    unmeasured: str = ""
    repeats: str = ""


@dataclass(frozen=True)
class Row:
    """What is asked of a measurement, and how it is decided.

    Attributes
    ----------
    name
        Short, and unique in the study.
    figure
        Of the study, that measures it.
    what
        In words; ``{case}`` stands for one of the cases.
    paper
        The source's value: a number in `unit`, or words; by case where they differ.
    rule
        What decides; None where the measurement itself says whether it is so.
    states
        Numbers of the statements that it judges.
    why
        The reason that is given where ours is not the source's.
    on_target
        Whether it is asked of somebody's own drive alone, so that no statement is judged by it.
    """

    name: str
    figure: str
    what: str
    paper: float | str | Mapping[str, float | str]
    unit: str = ""
    rule: Rule | None = None
    states: tuple[str, ...] = ()
    why: str = NOT_SO
    on_target: bool = False

    def judge(self, case: str, reading: Reading) -> Claim:
        """Hold what was measured against the source's value."""
        paper = self.paper[case] if isinstance(self.paper, Mapping) else self.paper
        if self.rule is None:
            if reading.value not in (True, False):  # numpy's are not `bool`
                raise TypeError(f"row {self.name!r} has no rule, and its reading no yes or no")
            verdict = Verdict.AGREES if reading.value else Verdict.DIFFERS
        else:
            verdict = self.rule.verdict(paper, reading.asked)
        return Claim(
            self.what.format(case=case),
            paper,
            reading.ours,
            self.unit,
            verdict,
            "" if verdict == Verdict.AGREES else reading.why or self.why,
            literal=reading.literal,
            truth=reading.truth,
            name=f"{self.name}{CASE}{case}" if case else self.name,
            states=self.states,
        )


@dataclass(frozen=True)
class Trial:
    """One configuration of the whole study, which may be why rows do not hold.

    Attributes
    ----------
    says
        What is changed.
    settings
        As the study's bench takes them.
    explains
        Names of rows, of all their cases or with one of them behind.
    why
        The cause, given where the whole study survives the trial.
    """

    says: str
    settings: Mapping[str, Any]
    explains: tuple[str, ...]
    why: str

    def is_about(self, name: str) -> bool:
        """Whether a row, by its name with its case, may be explained by it."""
        return not {name, name.partition(CASE)[0]}.isdisjoint(self.explains)


@dataclass(frozen=True)
class Refutation:
    """Something that a row must not hang on, and is tried with other values.

    Attributes
    ----------
    varies
        In words, in the plural: "seeds".
    setting, values
        A setting of the study's bench, or ``seed``, and what it is set to, one after the other.
    figures
        Whose rows are judged again.
    shown
        The values in words; empty where they are plain.
    """

    varies: str
    setting: str
    values: tuple[Any, ...]
    figures: tuple[str, ...]
    shown: tuple[str, ...] = ()

    def name_of(self, value: Any) -> str:
        """Write one of the values."""
        if self.shown:
            return self.shown[self.values.index(value)]
        return f"{value:,}" if isinstance(value, int) and self.setting != "seed" else str(value)


@dataclass(frozen=True)
class Verdicts:
    """What became of the statements in a whole run of the study.

    Attributes
    ----------
    made
        Which run, in words.
    by_number
        The worst verdict of the rows that judge it.
    """

    made: str = "no run yet"
    by_number: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A source as data.

    Attributes
    ----------
    figures
        Of our study, by id: their titles.
    rows
        By name.
    verdicts
        Of the last whole run, which `scripts/verdicts.py` makes.
    """

    key: str
    title: str
    language: str
    figures: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    rows: Mapping[str, Row] = field(default_factory=dict)
    trials: tuple[Trial, ...] = ()
    refutations: tuple[Refutation, ...] = ()
    verdicts: Verdicts = Verdicts()

    def statement(self, number: str) -> Statement:
        """Return a statement by its number."""
        return next(each for each in self.statements if each.number == number)

    def figures_of(self, statement: Statement) -> list[str]:
        """List the figures of the study with rows that judge a statement, or what it repeats."""
        if statement.repeats:
            return self.figures_of(self.statement(statement.repeats))
        rows = [row for row in self.rows.values() if statement.number in row.states]
        return list(dict.fromkeys(row.figure for row in rows))

    def verdict(self, statement: Statement) -> str | None:
        """Return the verdict of the last whole run; None where nothing is measured."""
        return self.verdicts.by_number.get(statement.repeats or statement.number)

    def outcome(self, statement: Statement) -> str:
        """Say in a line what became of a statement."""
        if statement.repeats:
            return f"as {statement.repeats}: {self.outcome(self.statement(statement.repeats))}"
        if statement.unmeasured:
            return f"not measured: {statement.unmeasured}"
        figures = ", ".join(self.figures_of(statement))
        return f"{self.verdict(statement) or 'not judged yet'} (--figure {figures})"

    def counted(self) -> dict[str, int]:
        """Count the statements by what became of them; those that repeat another are not."""
        own = [each for each in self.statements if not each.repeats]
        without = {True: "not measured", False: "not judged yet"}
        found = Counter(self.verdict(each) or without[bool(each.unmeasured)] for each in own)
        order = [*map(str, Verdict), *without.values()]
        return {name: found[name] for name in order if found[name]}

    def claims(self, readings: Mapping[str, Reading]) -> list[Claim]:
        """Judge readings, by the names of their rows, with the case behind where there is one."""
        found = []
        for key, reading in readings.items():
            name, _, case = key.partition(CASE)
            found.append(self.rows[name].judge(case, reading))
        return found

    def judged(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Verdict]:
        """Return each statement that rows are of, as their JSON has them, by the worst verdict."""
        found: dict[str, Verdict] = {}
        for number in (each.number for each in self.statements):
            verdicts = {Verdict(row["verdict"]) for row in rows if number in row.get("states", ())}
            if verdicts:
                found[number] = worst(verdicts)
        return found


VERDICTS = "verdicts.json"
"""Beside `paper.toml`."""


def papers() -> list[str]:
    """List the studies that have a source."""
    return sorted(
        each.name
        for each in files("ssdscope.studies").iterdir()
        if each.joinpath("paper.toml").is_file()
    )


def sources() -> list[str]:
    """List the studies whose source is kept statement by statement."""
    return [key for key in papers() if load(key).statements]


@cache
def load(key: str) -> Paper:
    """Read the files of a study."""
    folder = files("ssdscope.studies").joinpath(key)
    data = tomllib.loads(folder.joinpath("paper.toml").read_text(encoding="utf-8"))
    verdicts = folder.joinpath(VERDICTS)
    known = json.loads(verdicts.read_text(encoding="utf-8")) if verdicts.is_file() else {}
    return Paper(
        key,
        data["title"],
        data["language"],
        data.get("figures", {}),
        tuple(Statement(**each) for each in data.get("statement", ())),
        {each["name"]: _row(each) for each in data.get("row", ())},
        tuple(Trial(**_tuples(each, "explains")) for each in data.get("trial", ())),
        tuple(
            Refutation(**_tuples(each, "values", "figures", "shown"))
            for each in data.get("refute", ())
        ),
        Verdicts(**known),
    )


def _row(given: Mapping[str, Any]) -> Row:
    rule = {name: given[name] for name in Rule.names() if name in given}
    rest = {name: value for name, value in given.items() if name not in rule}
    return Row(**_tuples(rest, "states"), rule=Rule(**rule) if rule else None)


def _tuples(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(value) if name in names else value for name, value in given.items()}
