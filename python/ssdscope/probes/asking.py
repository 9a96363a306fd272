"""What a family is asked: it sees what is known so far, and answers each of its properties once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdscope.findings import Absent, Detected, Finding, Undetectable
from ssdscope.probes import verdict
from ssdscope.probes.mechanisms import implied, masked
from ssdscope.probes.plan import Ask, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ssdscope.probes.info import ProbeInfo

__all__ = ["Known", "answers"]


class Known:
    """What was found of a drive so far.

    Attributes
    ----------
    known : dict of str to Finding
        By property. A family sees values alone, which size its requests.
    """

    def __init__(self) -> None:
        self.known: dict[str, Finding] = {}
        self._needs: tuple[str, ...] | None = None

    def show(self, needs: tuple[str, ...]) -> None:
        """Show a family what it says that it needs, and nothing else."""
        self._needs = needs

    def _shown(self, name: str) -> Finding | None:
        if self._needs is not None and name not in self._needs:
            raise LookupError(f"{name} is asked for by a probe that does not say that it needs it")
        return self.known.get(name)

    def learn(self, finding: Finding) -> None:
        """Take a finding for known from now on; a refusal says no more than any earlier answer."""
        earlier = self.known.get(finding.name)
        refused = isinstance(finding, Undetectable)
        if earlier is None or not (refused or isinstance(earlier, Detected)):
            self.known[finding.name] = finding

    def found(self, name: str) -> float | str | None:
        """Give the value of a property that was detected; None otherwise."""
        finding = self._shown(name)
        return finding.value if isinstance(finding, Detected) else None

    def about(self, name: str) -> float | None:
        """Give what a size is about, also where it is not sure enough to be told; None if unknown.

        That is a figure of its evidence, `about_` before its name.
        """
        finding, value = self._shown(name), self.found(name)
        if value is None and finding is not None:
            value = finding.evidence.figures.get(f"about_{name}")
        return float(value) if isinstance(value, (int, float)) else None

    def size(self, name: str, *, unknown: float) -> float:
        """Give a size that was detected: 0 where there is none, `unknown` where it is not known."""
        if isinstance(self._shown(name), Absent):
            return 0.0
        value = self.found(name)
        return float(value) if isinstance(value, (int, float)) else unknown


def answers(
    probe: ProbeInfo, ask: Ask, seen: Known, begin: Callable[[], None] | None = None
) -> Iterator[Finding]:
    """Answer all properties of a family, once.

    What another mechanism hides is refused by the table, and what one settles is answered by it.
    What is stopped on the way cannot be told either, for the reason it was stopped for.
    """
    missing = dict.fromkeys(probe.properties)
    seen.show(probe.needs)
    try:
        if reason := probe.refused(ask.info):
            raise Stopped(reason)
        for name in probe.properties:
            if mask := masked(name, seen.known):
                missing.pop(name)
                yield mask.refusal(name, probe.name, seen.known.get(mask.by))
            elif answer := implied(name, probe.name, seen.known):
                missing.pop(name)
                yield answer
        if missing and begin is not None:
            begin()
        for finding in probe.detect(ask) if missing else ():
            if finding.name in missing:
                missing.pop(finding.name)
                yield replace(finding, probe=probe.name)
            if not missing:
                break
    except Stopped as stop:
        for name in missing:
            yield replace(verdict.refused(name, stop.reason, stop.evidence), probe=probe.name)
