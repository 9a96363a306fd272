"""The answers of several probes on one drive, by property."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from ssdscope.findings import reading
from ssdscope.findings.earlier_names import current_name
from ssdscope.findings.families import FAMILIES
from ssdscope.findings.finding import Finding

__all__ = ["Findings"]


class Findings(Mapping[str, Finding]):
    """Answers by property, in the order in which they were given; of one property the last.

    Parameters
    ----------
    findings
        As probes give them.
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self._by_name = {each.name: each for each in findings}

    def __getitem__(self, name: str) -> Finding:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        outcomes = Counter(each.outcome for each in self.values())
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        return f"Findings({told or 'none'})"

    def led_by(self, name: str) -> Self:
        """Give the same answers, those of a property or a family first where they are there."""
        name = current_name(name)
        first = FAMILIES.get(name, (name,))
        return type(self)(sorted(self.values(), key=lambda each: each.name not in first))

    def to_json(self) -> list[dict[str, Any]]:
        """Write all answers as the contract has them."""
        return [each.to_json() for each in self.values()]

    @classmethod
    def from_json(cls, value: Any, where: str = "findings") -> Self:
        """Read answers, as they stand in the JSON of `probe` and `characterize`.

        Raises
        ------
        UsageError
            If one is malformed; the message has the place.
        """
        listed = reading.listed(value, where)
        return cls(Finding.from_json(each, f"{where}[{at}]") for at, each in enumerate(listed))
