"""What a probe notes while it measures, until it becomes the evidence of a finding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ssdscope.findings import Evidence, Exhibit


@dataclass
class Notes:
    """Evidence that grows; what was given to a finding does not change with it.

    Attributes
    ----------
    figures, cautions, detail
        As in `Evidence`.
    """

    figures: dict[str, Any] = field(default_factory=dict)
    cautions: list[str] = field(default_factory=list)
    detail: str | None = None
    _exhibits: dict[str, Exhibit] = field(default_factory=dict)

    def show(self, exhibit: Exhibit) -> None:
        """Keep an exhibit; of one name the last stays."""
        self._exhibits[exhibit.name] = exhibit

    def join(self, others: Notes) -> None:
        """Take over the figures and exhibits of others."""
        self.figures |= others.figures
        self._exhibits |= others._exhibits

    def exhibit(self, name: str) -> Exhibit:
        """Give an exhibit that was kept."""
        return self._exhibits[name]

    def evidence(self) -> Evidence:
        """Give what was noted so far."""
        return Evidence(
            exhibits=tuple(self._exhibits.values()),
            figures=self.figures,
            cautions=tuple(self.cautions),
            detail=self.detail,
        )
