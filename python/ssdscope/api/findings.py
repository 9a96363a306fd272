"""What probes found, by property."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from ssdscope import findings
from ssdscope.api.frames import frame
from ssdscope.errors import UsageError, nearest
from ssdscope.findings import Absent, Ambiguous, Detected, Finding
from ssdscope.units import format_number

if TYPE_CHECKING:
    import pyarrow as pa

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


class Findings(findings.Findings):
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
        self, found: Iterable[Finding] = (), *, seed: int = 0, spent: dict[str, Any] | None = None
    ) -> None:
        super().__init__(found)
        self.seed = seed
        self.spent = spent or {}

    def __getitem__(self, name: str) -> Finding:
        """Give the finding of a property."""
        try:
            return super().__getitem__(name)
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


def _row(finding: Finding) -> dict[str, Any]:
    row = finding.to_json()
    word = isinstance(row["value"], str)
    low, high = row["interval"] or (None, None)
    values = {"value": None, "text": row["value"]} if word else {"text": None}
    candidates = row["candidates"] and [str(each) for each in row["candidates"]]
    return row | values | {"low": low, "high": high, "candidates": candidates}


def _in_words(finding: Finding) -> str:
    match finding:
        case Detected(value=value, interval=interval):
            text = f"{format_number(value)} {finding.unit}".rstrip()
            within = "" if interval is None else f" ({' to '.join(map(format_number, interval))})"
            return f"{text}{within}"
        case Absent():
            return "absent"
        case Ambiguous(candidates=candidates):
            return f"{' or '.join(map(format_number, candidates))} {finding.unit}".rstrip()
    return f"undetectable: {finding.to_json()['reason']}"
