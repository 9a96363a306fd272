"""What probes found, by property."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ssdscope import findings
from ssdscope.api.frames import frame
from ssdscope.api.shown import Pictured, Shown, shown_as
from ssdscope.errors import UsageError, nearest
from ssdscope.units import format_number

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet

_COLUMNS = {
    "property": "string",
    "outcome": "string",
    "value": "double",
    "text": "string",
    "unit": "string",
    "low": "double",
    "high": "double",
    "effect": "double",
    "bound": "double",
    "candidates": "string[]",
    "reason": "string",
    "probe": "string",
    "bytes_written": "int64",
    "requests": "int64",
}


class NoFindingError(UsageError, KeyError):
    """There is no finding of that name; the hint names the nearest."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__(f"there is no finding {name!r}", hint=nearest(name, known))
        self.add_note(f"hint: {self.hint}")

    def __str__(self) -> str:
        """Give the message, which `KeyError` would quote."""
        return self.message


class Finding(Shown, Pictured, findings.Finding):
    """One answer, which a notebook shows."""

    @classmethod
    def of(cls, found: findings.Finding) -> Finding:
        """Take over an answer of a probe."""
        return shown_as(_KINDS[found.outcome], found)

    def _sheet(self) -> Sheet:
        from ssdscope.report.notebook import of_finding

        return of_finding(self)

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report.evidence import pictures

        return pictures([self])

    def _nothing(self) -> str:
        return f"{self.name} rests on no series of measurements"


class Detected(Finding, findings.Detected):
    """The property is there, and this is its value."""


class Absent(Finding, findings.Absent):
    """Looked for and not there: any effect is smaller than `bound`, at 95 %."""


class Ambiguous(Finding, findings.Ambiguous):
    """Several values explain the measurements about equally well."""


class Undetectable(Finding, findings.Undetectable):
    """It cannot be told, for a reason of the closed list."""


_KINDS: dict[str, type[Finding]] = {
    kind.outcome: kind for kind in (Detected, Absent, Ambiguous, Undetectable)
}


class Findings(Shown, Pictured, findings.Findings):
    """Findings by property, in the order of the probes.

    Parameters
    ----------
    found
        One per property.
    seed
        Of everything that was drawn.
    spent
        What was used of the budget, as the command's JSON has it.
    """

    def __init__(
        self,
        found: Iterable[findings.Finding] = (),
        *,
        seed: int = 0,
        spent: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(map(Finding.of, found))
        self.seed = seed
        self.spent = spent or {}

    def __getitem__(self, name: str) -> Finding:
        """Give the finding of a property."""
        try:
            return cast("Finding", super().__getitem__(name))
        except KeyError:
            raise NoFindingError(name, list(self)) from None

    def __repr__(self) -> str:
        """Show a line per property."""
        width = max((len(name) for name in self), default=0)
        lines = (f"{name:<{width}}  {_in_words(each)}" for name, each in self.items())
        return "\n".join(lines) or "no findings"

    def to_dict(self) -> dict[str, Any]:
        """Give what ``probe -o json`` prints under ``findings``, by property."""
        return {name: finding.to_json() for name, finding in self.items()}

    def to_frame(self) -> pa.Table:
        """Make a table of a row per property.

        Returns
        -------
        pyarrow.Table
            ``value`` is a number, or null where it is a word, which ``text`` then is; ``low`` and
            ``high`` are of the 95 % interval; ``bound`` is what an absent effect is smaller than;
            ``candidates`` are text.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        return frame(map(_row, self.values()), _COLUMNS)

    def _sheet(self) -> Sheet:
        from ssdscope.report.notebook import of_findings

        return of_findings(self)

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report.evidence import pictures

        return pictures(self.values())

    def _aliases(self) -> dict[str, str]:
        from ssdscope.report.evidence import picture_names

        return picture_names(self.values())

    def _nothing(self) -> str:
        return "no finding rests on a series of measurements"


def _row(finding: findings.Finding) -> dict[str, Any]:
    row = finding.to_json()
    word = isinstance(row["value"], str)
    low, high = row["interval"] or (None, None)
    values = {"value": None, "text": row["value"]} if word else {"text": None}
    candidates = row["candidates"] and [str(each) for each in row["candidates"]]
    return row | values | {"low": low, "high": high, "candidates": candidates}


def _in_words(finding: findings.Finding) -> str:
    match finding:
        case findings.Detected(value=value, interval=interval):
            text = f"{format_number(value)} {finding.unit}".rstrip()
            within = "" if interval is None else f" ({' to '.join(map(format_number, interval))})"
            return f"{text}{within}"
        case findings.Absent():
            return "absent"
        case findings.Ambiguous(candidates=candidates):
            return f"{' or '.join(map(format_number, candidates))} {finding.unit}".rstrip()
    what = "undetectable" if finding.tried else "not tried"
    return f"{what}: {finding.to_json()['reason']}"
