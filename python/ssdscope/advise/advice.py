"""The knobs applied to the findings of one drive."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.advise.knobs import ALPHA, BETA, KNOBS, Facts, Knob, n90_from, n90_measured
from ssdscope.errors import UsageError
from ssdscope.findings import SIZE_SWEEP, Detected, Evidence, Findings, Line

PLACEHOLDER = "/dev/DEVICE"


@dataclass(frozen=True)
class Advice:
    """One setting.

    Attributes
    ----------
    value, command
        None where the tool's default should stay.
    because
        The findings and the sum behind the value, or what was not detected.
    """

    tool: str
    knob: str
    value: str | None
    command: str | None
    formula: str
    because: str

    @property
    def is_default(self) -> bool:
        """Whether the tool's own default should stay."""
        return self.value is None

    def to_json(self) -> dict[str, Any]:
        """Write the advice, with where it comes from."""
        return asdict(self) | {"source": "default" if self.is_default else "detected"}


def tools() -> list[str]:
    """List the tools there are knobs for."""
    return sorted({knob.tool for knob in KNOBS})


def advise(findings: Findings, uri: str, only: Sequence[str] = ()) -> list[Advice]:
    """Compute settings from findings.

    Parameters
    ----------
    findings
        Of the drive.
    uri
        The target; a block device's path is put into the commands.
    only
        Tools to advise on; all of them if empty.

    Raises
    ------
    UsageError
        If a tool is unknown.
    """
    for tool in only:
        if tool not in tools():
            raise UsageError(
                f"there is no advice for {tool!r}", hint=f"one of {', '.join(tools())}"
            )
    facts = _facts(findings, uri)
    chosen = [knob for knob in KNOBS if not only or knob.tool in only]
    return [_advice(knob, facts, findings) for knob in chosen]


def _facts(findings: Findings, uri: str) -> Facts:
    values = {
        name: each.value
        for name, each in findings.items()
        if isinstance(each, Detected) and not isinstance(each.value, str)
    }
    size, text = None, ""
    if ALPHA in values and BETA in values:
        evidence = findings[ALPHA].evidence
        if _one_line(evidence):
            size, text = n90_from(values[ALPHA], values[BETA])
        else:
            size, text = n90_measured(int(evidence.figures["n90_bytes"]))
    device = uri if uri.startswith("/dev/") else PLACEHOLDER
    return Facts(values, size, text, device)


def _one_line(evidence: Evidence) -> bool:
    """Say whether one line holds for all sizes that were read."""
    line, swept = evidence.fit(Line), evidence.exhibit(SIZE_SWEEP)
    return line is None or swept is None or line.last >= swept.span[1]


def _advice(knob: Knob, facts: Facts, findings: Findings) -> Advice:
    missing = [name for name in knob.needs if name not in facts.values]
    if missing or knob.setting is None or knob.command is None:
        told = ", ".join(f"{name} is {_outcome(findings, name)}" for name in missing)
        reason = f"tool default, because {told}"
        return Advice(knob.tool, knob.name, None, None, knob.formula, reason)
    value = knob.setting(facts)
    parts = [f"{name} = {facts.values[name]:.4g}" for name in knob.needs]
    if ALPHA in knob.needs:
        parts = [facts.n90_formula]
    return Advice(
        knob.tool, knob.name, value, knob.command(facts, value), knob.formula, "; ".join(parts)
    )


def _outcome(findings: Findings, name: str) -> str:
    return findings[name].outcome if name in findings else "not probed"
