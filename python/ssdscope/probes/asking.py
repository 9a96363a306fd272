"""What a family is asked: it sees what is known so far, and answers each of its properties once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.findings import Absent, Detected, Evidence, Finding, Undetectable
from ssdscope.probes.bench.stopped import Stopped
from ssdscope.probes.mechanisms import implied, masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ssdscope.probes.info import ProbeInfo
    from ssdscope.probes.plan import Ask

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

    def learn(self, finding: Finding) -> None:
        """Take a finding for known from now on; a refusal says no more than any earlier answer."""
        earlier = self.known.get(finding.name)
        refused = isinstance(finding, Undetectable)
        if earlier is None or not (refused or isinstance(earlier, Detected)):
            self.known[finding.name] = finding

    def found(self, name: str) -> float | str | None:
        """Give the value of a property that was detected; None otherwise."""
        finding = self.known.get(name)
        return finding.value if isinstance(finding, Detected) else None

    def about(self, name: str) -> float | None:
        """Give what a size is about, also where it is not sure enough to be told; None if unknown.

        That is a figure of its evidence, `about_` before its name.
        """
        finding, value = self.known.get(name), self.found(name)
        if value is None and finding is not None:
            value = finding.evidence.figures.get(f"about_{name}")
        return float(value) if isinstance(value, (int, float)) else None

    def size(self, name: str, *, unknown: float) -> float:
        """Give a size that was detected: 0 where there is none, `unknown` where it is not known."""
        if isinstance(self.known.get(name), Absent):
            return 0.0
        value = self.found(name)
        return float(value) if isinstance(value, (int, float)) else unknown


class _Narrowed:
    """What one family sees: of what is known only what it says that it needs."""

    def __init__(self, ask: Ask, probe: ProbeInfo) -> None:
        self._ask, self._probe = ask, probe
        self.info, self.heavy = ask.info, ask.heavy
        self.take, self.progress = ask.take, ask.progress

    def found(self, name: str) -> float | str | None:
        """Give a value, as `Known` does."""
        return self._ask.found(self._needed(name))

    def about(self, name: str) -> float | None:
        """Give about a size, as `Known` does."""
        return self._ask.about(self._needed(name))

    def size(self, name: str, *, unknown: float) -> float:
        """Give a size, as `Known` does."""
        return self._ask.size(self._needed(name), unknown=unknown)

    def _needed(self, name: str) -> str:
        if name not in self._probe.needs:
            raise LookupError(f"{self._probe.name} does not say that it needs {name}")
        return name


def answers(probe: ProbeInfo, ask: Ask, known: Mapping[str, Finding]) -> Iterator[Finding]:
    """Answer all properties of a family, once.

    What another mechanism hides is refused by the table, and what one settles is answered by it.
    What is stopped on the way cannot be told either, for the reason it was stopped for.
    """
    missing = dict.fromkeys(probe.properties)
    try:
        if reason := probe.refused(ask.info):
            raise Stopped(reason)
        for name in probe.properties:
            if mask := masked(name, known):
                missing.pop(name)
                yield mask.refusal(name, probe.name)
            elif answer := implied(name, probe.name, known):
                missing.pop(name)
                yield answer
        for finding in probe.detect(_Narrowed(ask, probe)) if missing else ():
            if finding.name in missing:
                missing.pop(finding.name)
                yield finding
            if not missing:
                break
    except Stopped as stop:
        evidence = Evidence(detail=stop.detail or None)
        for name in missing:
            yield Undetectable(name=name, probe=probe.name, reason=stop.reason, evidence=evidence)
