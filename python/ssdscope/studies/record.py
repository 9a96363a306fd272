"""What a study gives: figures, rows of paper / ours / verdict, data files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """How ours compares with the paper's."""

    AGREES = "agrees"
    EXPLAINED = "explained"
    EASIER = "easier"
    DIFFERS = "differs"


def shown(value: float | str | None, unit: str | None) -> str:
    """Write a value of a claim with its unit, as people read it."""
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    is_number = any(letter.isdigit() for letter in text)
    return f"{text} {unit}" if unit and is_number else text


@dataclass(frozen=True)
class Reading:
    """What was measured for a row.

    Attributes
    ----------
    ours
        As it is shown.
    value
        What the row's rule is asked of: one value, several that all have to be so, or, where the
        row has no rule, whether it is so. None where that is `ours`.
    literal, truth, why
        As of a `Claim`.
    """

    ours: float | str
    value: float | bool | Sequence[float] | None = None
    literal: float | str | None = None
    truth: float | str | None = None
    why: str = ""

    @property
    def asked(self) -> list[float]:
        """Return the values that a rule is asked of."""
        value = self.ours if self.value is None else self.value
        if isinstance(value, str):
            return [float("nan")]
        return [float(each) for each in (value if isinstance(value, Sequence) else (value,))]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper beside what we measured.

    Attributes
    ----------
    paper, ours
        A number in `unit`, or words.
    why
        Needed unless the verdict is that they agree.
    literal
        What the paper's own procedure finds, where `ours` is what a probe finds.
    truth
        What the drive's file says, which no probe sees.
    tried
        Of a disagreement: the run that shows the cause, or does not, and what it gave.
    name, states
        Of a row of `paper.toml`: its name with its case, and the statements that it judges.
    robust
        What became of it with other seeds, sizes and lengths, where that was asked for.
    """

    what: str
    paper: float | str
    ours: float | str
    unit: str
    verdict: Verdict
    why: str = ""
    literal: float | str | None = None
    truth: float | str | None = None
    tried: str = ""
    name: str = ""
    states: tuple[str, ...] = ()
    robust: str = ""

    def __post_init__(self) -> None:
        """Refuse a disagreement without a reason."""
        if self.verdict != Verdict.AGREES and not self.why:
            raise ValueError(f"the claim {self.what!r} needs a reason for {self.verdict}")

    def to_json(self) -> dict[str, Any]:
        """Write the row under the contract's keys."""
        row: dict[str, Any] = {
            "what": self.what,
            "paper": self.paper,
            "ours": self.ours,
            "unit": self.unit,
            "verdict": str(self.verdict),
        }
        more = {
            "why": self.why or None,
            "tried": self.tried or None,
            "robust": self.robust or None,
            "states": list(self.states) or None,
            "literal": self.literal,
            "truth": self.truth,
        }
        return row | {key: value for key, value in more.items() if value is not None}


@dataclass(frozen=True)
class Table:
    """Figures beside the claims, of which none is of a paper."""

    columns: tuple[str, ...]
    rows: tuple[Sequence[str | int], ...]

    def to_json(self) -> dict[str, Any]:
        """Write it, row by row."""
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}


Columns = Mapping[str, Sequence[Any]]
"""The numbers of a figure, by the names of their columns."""


@dataclass(frozen=True)
class Measured:
    """What a figure comes to before it is judged and drawn.

    Attributes
    ----------
    readings
        By the names of the study's rows, with ``: CASE`` behind where a row has cases.
    picture
        Draws it; None for rows alone.
    columns
        The numbers, for the CSV; None where there are none beside the rows.
    notes, table
        As of a `FigureResult`.
    """

    readings: Mapping[str, Reading]
    picture: "Callable[[], Figure] | None" = None
    columns: Columns | None = None
    notes: Sequence[str] = ()
    table: Table | None = None


@dataclass(frozen=True)
class FigureResult:
    """One figure of a study.

    Attributes
    ----------
    image
        The picture; further formats of it lie beside it. None for a table alone.
    notes
        What a reader has to know: gaps and their reasons.
    """

    id: str
    title: str
    rows: list[Claim]
    image: Path | None = None
    data: Path | None = None
    notes: list[str] = field(default_factory=list)
    table: Table | None = None

    def to_json(self) -> dict[str, Any]:
        """Write the figure under the contract's keys."""
        return {
            "id": self.id,
            "title": self.title,
            "rows": [row.to_json() for row in self.rows],
            "image": None if self.image is None else str(self.image),
            "data": None if self.data is None else str(self.data),
            "notes": self.notes,
        } | ({"table": self.table.to_json()} if self.table else {})


@dataclass(frozen=True)
class StudyResult:
    """Everything a study gave; after Ctrl-C the figures that were complete."""

    study: str
    figures: list[FigureResult]
    seed: int
    target: str | None = None
    interrupted: bool = False

    @property
    def differs(self) -> bool:
        """Whether any verdict is that we differ without an explanation."""
        return any(row.verdict == Verdict.DIFFERS for fig in self.figures for row in fig.rows)

    def to_json(self) -> dict[str, Any]:
        """Write the study under the contract's keys."""
        return {
            "study": self.study,
            "seed": self.seed,
            "target": self.target,
            "interrupted": self.interrupted,
            "figures": [figure.to_json() for figure in self.figures],
        }


@dataclass(frozen=True)
class StudyInfo:
    """What the registry knows of a study.

    Attributes
    ----------
    figures
        Ids and titles.
    run
        Called with the wanted figures, a target or None, a folder, a seed, a callback, and those
        of `extras` that were given, by name.
    extras
        What else it takes.
    """

    key: str
    summary: str
    figures: dict[str, str]
    run: Callable[..., StudyResult]
    extras: frozenset[str] = frozenset()
