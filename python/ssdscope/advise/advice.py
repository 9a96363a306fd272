"""The knobs applied to the findings of one drive."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.advise.knobs import ALPHA, BETA, KNOBS, Facts, Knob, n90_from, n90_measured
from ssdscope.errors import UsageError

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


def advise(
    findings: Sequence[Mapping[str, Any]], uri: str, only: Sequence[str] = ()
) -> list[Advice]:
    """Compute settings from findings.

    Parameters
    ----------
    findings
        As in a report's JSON.
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
    outcomes = {str(each["property"]): str(each["outcome"]) for each in findings}
    return [_advice(knob, facts, outcomes) for knob in chosen]


def _facts(findings: Sequence[Mapping[str, Any]], uri: str) -> Facts:
    detected = {each["property"]: each for each in findings if each["outcome"] == "detected"}
    values = {name: each["value"] for name, each in detected.items()}
    size, text = None, ""
    if ALPHA in values and BETA in values:
        evidence = detected[ALPHA]["evidence"]
        if evidence.get("linear_everywhere", True):
            size, text = n90_from(values[ALPHA], values[BETA])
        else:
            size, text = n90_measured(evidence["n90_bytes"])
    device = uri if uri.startswith("/dev/") else PLACEHOLDER
    return Facts(values, size, text, device)


def _advice(knob: Knob, facts: Facts, outcomes: Mapping[str, str]) -> Advice:
    missing = [name for name in knob.needs if name not in facts.values]
    if missing or knob.setting is None or knob.command is None:
        told = ", ".join(f"{name} is {outcomes.get(name, 'not probed')}" for name in missing)
        reason = f"tool default, because {told}"
        return Advice(knob.tool, knob.name, None, None, knob.formula, reason)
    value = knob.setting(facts)
    parts = [f"{name} = {facts.values[name]:.4g}" for name in knob.needs]
    if ALPHA in knob.needs:
        parts = [facts.n90_formula]
    return Advice(
        knob.tool, knob.name, value, knob.command(facts, value), knob.formula, "; ".join(parts)
    )
