"""The four possible answers of a probe. "Undetectable" is an honest one, a wrong value is not."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ssdscope.findings import reading
from ssdscope.findings.evidence import Evidence
from ssdscope.findings.properties import PROPERTIES, Property
from ssdscope.findings.reasons import Reason, Where, what_was_seen, what_would_help
from ssdscope.units import format_binary, format_duration

__all__ = ["Absent", "Ambiguous", "Detected", "Finding", "Undetectable"]

OUTCOMES = ("detected", "absent", "ambiguous", "undetectable")


@dataclass(frozen=True, kw_only=True, repr=False)
class Finding(ABC):
    """One answer; what a kind of answer does not have is None.

    Attributes
    ----------
    name
        The property: a key of `PROPERTIES`.
    probe
        The probe that answers.
    value
        Of a property that is there.
    interval
        Of 95 % confidence; None where the value is a member of a set.
    effect
        How strongly it shows, as a share (0.5: half again as slow).
    bound
        If it is absent: any effect is smaller, at 95 %.
    candidates
        If it is ambiguous: values that explain the measurements about equally well.
    reason
        Why there is no value; of the closed list `Reason` if it is undetectable.
    evidence
        What was measured, fitted, and noted besides.
    bytes_written, requests
        What the answer cost.
    where
        Where it was found, which decides what would help.
    """

    outcome: ClassVar[str]

    name: str
    probe: str
    value: float | str | None = field(default=None, init=False)
    interval: tuple[float, float] | None = field(default=None, init=False)
    effect: float | None = field(default=None, init=False)
    bound: float | None = field(default=None, init=False)
    candidates: tuple[float | str, ...] | None = field(default=None, init=False)
    reason: str | None = field(default=None, init=False)
    evidence: Evidence = field(default_factory=Evidence)
    bytes_written: int = 0
    requests: int = 0
    where: Where = field(default=Where(), compare=False)

    @property
    def about(self) -> Property:
        """The property: its unit, its name, and how exact its value is."""
        return PROPERTIES[self.name]

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return self.about.unit

    @property
    def tried(self) -> bool:
        """Whether it was looked for: it was not if the budget ended before there was an answer."""
        return self.reason != Reason.BUDGET_EXHAUSTED

    def to_json(self) -> dict[str, Any]:
        """Write the answer with every key of the contract, absent ones as None."""
        return {
            "property": self.name,
            "outcome": self.outcome,
            "value": reading.plain(self.value),
            "unit": self.unit,
            "interval": reading.plain(self.interval),
            "effect": reading.plain(self.effect),
            "evidence": self.evidence.to_json(),
            "reason": None if self.reason is None else str(self.reason),
            "candidates": reading.plain(self.candidates),
            "bytes_written": reading.plain(self.bytes_written),
            "requests": reading.plain(self.requests),
            "probe": self.probe,
            "tried": self.tried,
        }

    def to_dict(self) -> dict[str, Any]:
        """Give what `to_json` gives: plain data with every key of the contract."""
        return self.to_json()

    @staticmethod
    def from_json(value: Any, where: str = "finding") -> Finding:
        """Read an answer of any kind.

        Raises
        ------
        UsageError
            If it is malformed; the message has the place.
        """
        return _read(reading.mapping(value, where), where)

    def __repr__(self) -> str:
        return f"Finding({self.name}: {self.outcome})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Detected(Finding):
    """The property is there, and this is its value."""

    outcome: ClassVar[str] = "detected"
    value: float | str = field()
    interval: tuple[float, float] | None = field()
    effect: float = field()

    def __repr__(self) -> str:
        ends = "" if self.interval is None else (
            f" [{', '.join(_shown(each, self.unit) for each in self.interval)}]"
        )  # fmt: skip
        return f"Finding({self.name} = {_shown(self.value, self.unit)}{ends}, detected)"


@dataclass(frozen=True, kw_only=True, repr=False)
class Absent(Finding):
    """Looked for and not there: any effect is smaller than `bound`, at 95 %."""

    outcome: ClassVar[str] = "absent"
    bound: float = field()
    reason: str = field()

    def to_json(self) -> dict[str, Any]:
        """Write the answer, with the bound."""
        return super().to_json() | {"bound": reading.plain(self.bound)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Ambiguous(Finding):
    """Several values explain the measurements about equally well."""

    outcome: ClassVar[str] = "ambiguous"
    candidates: tuple[float | str, ...] = field()
    reason: str = field()

    def __repr__(self) -> str:
        either = " or ".join(_shown(each, self.unit) for each in self.candidates)
        return f"Finding({self.name} = {either}, ambiguous)"


@dataclass(frozen=True, kw_only=True, repr=False)
class Undetectable(Finding):
    """It cannot be told, for a reason of the closed list."""

    outcome: ClassVar[str] = "undetectable"
    reason: Reason = field()

    @property
    def what_was_seen(self) -> str:
        """What the probe saw that refuses to answer."""
        return what_was_seen(self.reason, self.about.sign, self.evidence.detail)

    @property
    def what_would_help(self) -> str:
        """What the user can change to get an answer there."""
        return what_would_help(self.reason, self.where)

    def in_words(self) -> str:
        """Say what was seen and what would help."""
        return f"{self.what_was_seen}. Would help: {self.what_would_help}."

    def to_json(self) -> dict[str, Any]:
        """Write the answer, with its reason in words."""
        return super().to_json() | {
            "what_was_seen": self.what_was_seen,
            "what_would_help": self.what_would_help,
            "where": self.where.to_json(),
        }

    def __repr__(self) -> str:
        what = "undetectable" if self.tried else "not tried"
        return f"Finding({self.name}: {what}, {self.reason})"


def _read(found: Any, where: str) -> Finding:
    for key in ("property", "outcome", "probe", "evidence"):
        if key not in found:
            reading.refuse(where, f"{key!r} is missing")
    if found["property"] not in PROPERTIES:
        reading.refuse(f"{where}.property", f"there is no property {found['property']!r}")
    if found["outcome"] not in OUTCOMES:
        reading.refuse(f"{where}.outcome", f"expected one of {', '.join(OUTCOMES)}")
    common: dict[str, Any] = {
        "name": found["property"],
        "probe": reading.text(found["probe"], f"{where}.probe"),
        "evidence": Evidence.from_json(found["evidence"], f"{where}.evidence"),
        "bytes_written": int(reading.number(found.get("bytes_written", 0), where)),
        "requests": int(reading.number(found.get("requests", 0), where)),
    }
    match found["outcome"]:
        case "detected":
            ends = found.get("interval")
            return Detected(
                value=_value(found.get("value"), f"{where}.value"),
                interval=None if ends is None else _ends(ends, f"{where}.interval"),
                effect=reading.number(found.get("effect"), f"{where}.effect"),
                **common,
            )
        case "absent":
            bound = reading.number(found.get("bound"), f"{where}.bound")
            return Absent(bound=bound, reason=_reason(found, where), **common)
        case "ambiguous":
            several = reading.listed(found.get("candidates"), f"{where}.candidates")
            values = tuple(_value(each, f"{where}.candidates") for each in several)
            return Ambiguous(candidates=values, reason=_reason(found, where), **common)
        case _:
            reason = _reason(found, where)
            if reason not in set(Reason):
                reading.refuse(f"{where}.reason", f"there is no reason {reason!r}")
            met = Where.from_json(found.get("where", {}), f"{where}.where")
            return Undetectable(reason=Reason(reason), where=met, **common)


def _value(value: Any, where: str) -> float | str:
    if value is None:
        reading.refuse(where, "a value is missing")
    return value if isinstance(value, str) else reading.number(value, where)


def _ends(value: Any, where: str) -> tuple[float, float]:
    ends = reading.numbers(value, where)
    if len(ends) != 2 or ends[1] < ends[0]:
        reading.refuse(where, "expected two ends, the lower one first")
    return ends[0], ends[1]


def _reason(found: Any, where: str) -> str:
    return reading.text(found.get("reason"), f"{where}.reason")


def _shown(value: float | str, unit: str) -> str:
    """Write a value with its unit, shortly."""
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    if unit == "bytes":
        return format_binary(value)
    if unit == "ns":
        return format_duration(value)
    return f"{value:.4g} {unit}".strip()
