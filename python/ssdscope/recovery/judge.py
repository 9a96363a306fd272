"""An answer held against the truth, by the rules of `docs/observability.md`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from ssdscope.findings import Absent, Ambiguous, Detected, Finding
from ssdscope.recovery.observability import Visibility
from ssdscope.recovery.truth import Kind, Truth, judged_right
from ssdscope.recovery.truth_of_disks import EVERY_KIND as KINDS

UNNOTICED = 0.03
"""A mechanism of less contrast does nothing that a host could notice."""


class Outcome(StrEnum):
    """What became of one property of one drive."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSENT_RIGHT = "absent, right"
    ABSENT_WRONG = "absent, wrong"
    AMBIGUOUS = "ambiguous"
    UNDETECTABLE = "undetectable"
    """And that is true: the property is not there, or not observable."""
    MISSED = "missed"
    """Undetectable, or no answer, though it is observable."""


WRONG = (Outcome.WRONG, Outcome.ABSENT_WRONG)


@dataclass(frozen=True)
class Judgement:
    """One property of one drive.

    Attributes
    ----------
    said, truth
        In words.
    present
        Whether the drive has it.
    observable
        Whether a probe is expected to find it.
    covered, relative_width
        Of the interval of a numeric answer; None where there is none to judge.
    """

    name: str
    outcome: Outcome
    said: str
    truth: str
    probe: str
    present: bool
    observable: bool
    covered: bool | None = None
    relative_width: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it for the journal."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read it from the journal."""
        return cls(**{**values, "outcome": Outcome(values["outcome"])})


def judge(
    name: str, truth: Truth, visible: Visibility | None, finding: Finding | None
) -> Judgement:
    """Judge one property.

    Parameters
    ----------
    visible
        None where the drive does not have it.
    finding
        None where no probe answered.
    """
    observable = visible is not None and visible.observable
    common: dict[str, Any] = {
        "name": name,
        "truth": _truth_in_words(truth),
        "present": truth.present,
        "observable": observable,
        "probe": "-" if finding is None else finding.probe,
    }
    unknown = Outcome.MISSED if observable else Outcome.UNDETECTABLE
    if finding is None:
        return Judgement(outcome=unknown, said="no answer", **common)
    match finding:
        case Detected():
            right = judged_right(name, truth, finding.value)
            outcome = Outcome.RIGHT if right else Outcome.WRONG
            spread = _interval(KINDS[name], truth, finding)
            return Judgement(outcome=outcome, said=_said(finding), **spread, **common)
        case Ambiguous():
            among = any(judged_right(name, truth, each) for each in finding.candidates)
            fair = among or truth.value is None or not truth.present
            outcome = Outcome.AMBIGUOUS if fair else Outcome.WRONG
            said = " or ".join(_number(each) for each in finding.candidates)
        case Absent():
            nothing = not truth.present or _unnoticed(visible)
            outcome = Outcome.ABSENT_RIGHT if nothing else Outcome.ABSENT_WRONG
            said = "absent"
        case _:
            outcome, said = unknown, f"undetectable: {finding.reason}"
    return Judgement(outcome=outcome, said=said, **common)


def _unnoticed(visible: Visibility | None) -> bool:
    return visible is not None and visible.contrast is not None and visible.contrast < UNNOTICED


def _interval(kind: Kind, truth: Truth, finding: Detected) -> dict[str, Any]:
    """Judge the interval of a numeric answer on something that is there."""
    if kind != Kind.NUMERIC or truth.value is None or not truth.present:
        return {}
    if finding.interval is None:
        return {"covered": False, "relative_width": None}
    low, high = finding.interval
    return {
        "covered": bool(low <= float(truth.value) <= high),
        "relative_width": float((high - low) / abs(float(finding.value))),
    }


def _said(finding: Detected) -> str:
    interval = finding.interval
    value = _number(finding.value)
    return value if interval is None else f"{value} ({' to '.join(map(_number, interval))})"


def _truth_in_words(truth: Truth) -> str:
    if truth.value is not None:
        return _number(truth.value)
    return "no one value" if truth.present else "absent"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}" if value % 1 else f"{int(value)}"
