"""What was tried of all that a full budget looks for, and what the rest would take.

A property that nobody looked for is no property that cannot be told.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ssdscope.probes.budget import Budget
from ssdscope.probes.registry import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdscope.findings import Findings
    from ssdscope.report.parts import Document

__all__ = ["Tried", "of_document", "tried"]

MORE_TIME = "--budget full:2h"
"""What helps where a full budget was too short."""


@dataclass(frozen=True)
class Tried:
    """How many properties were looked for, and which were not for want of budget.

    Attributes
    ----------
    count, of
        Properties that were tried, and all that these probes look for with a full budget.
    not_tried
        The others.
    adds
        The probes that look for them.
    option
        What would let them run.
    """

    count: int
    of: int
    not_tried: tuple[str, ...]
    adds: tuple[str, ...]
    option: str

    def in_words(self) -> str:
        """Say it in one line."""
        said = f"{self.count} of {self.of} properties tried"
        return f"{said}; {self.option} adds {', '.join(self.adds)}" if self.adds else said

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        lists = {"not_tried": list(self.not_tried), "adds": list(self.adds)}
        return asdict(self) | lists | {"in_words": self.in_words()}


def tried(found: Findings, budget: Budget, names: Sequence[str] = ("all",)) -> Tried:
    """Hold what probes of such names found against what they look for with a full budget."""
    full = replace(budget, heavy=True)
    probes = list(dict.fromkeys(probe for name in names for probe in choose(name, full)))
    every = dict.fromkeys([*(name for each in probes for name in each.properties), *found])
    left = tuple(name for name in every if name not in found or not found[name].tried)
    adds = tuple(each.name for each in probes if {*left} & {*each.properties})
    option = MORE_TIME if budget.heavy else "--budget full"
    return Tried(len(every) - len(left), len(every), left, adds, option)


def of_document(document: Document, found: Findings) -> str:
    """Say of a report what was not tried; nothing of one that has all, or no findings yet."""
    if not found:
        return ""
    reached = tried(found, Budget.parse(str(document["provenance"]["budget"])))
    return reached.in_words() if reached.adds else ""
