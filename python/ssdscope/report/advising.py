"""Advice on the page: what to set and what it gains; what stays as it is, and why, in a line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.report import words
from ssdscope.report.parts import Document


@dataclass(frozen=True)
class Setting:
    """One thing to set.

    Attributes
    ----------
    gain, span
        What it gains, and the interval of that; empty where it was not measured.
    effect
        Why there is no gain.
    """

    tool: str
    knob: str
    command: str
    why: str
    gain: str
    span: str
    effect: str


@dataclass(frozen=True)
class Stays:
    """Settings that keep their default for one reason."""

    names: str
    why: str


@dataclass(frozen=True)
class Advice:
    """What the page shows of advice."""

    settings: list[Setting]
    stays: list[Stays]


def advice(document: Document) -> Advice | None:
    """Lay out the advice, greatest gain first; None where that stage was not reached."""
    told = document["advice"]
    if not told:
        return None
    given = [each for each in told if each["source"] == "detected" and each["command"]]
    given.sort(key=lambda each: -abs(_ratio(each) - 1))
    reasons: dict[str, list[str]] = {}
    for each in told:
        if each not in given:
            reasons.setdefault(_reason(each), []).append(f"{each['tool']}: {each['knob']}")
    stays = [Stays(", ".join(names), why) for why, names in reasons.items()]
    return Advice([_setting(each) for each in given], stays)


def _ratio(each: Mapping[str, Any]) -> float:
    return float((each.get("gain") or {}).get("ratio", 1.0))


def _setting(each: Mapping[str, Any]) -> Setting:
    gain = each.get("gain")
    return Setting(
        tool=str(each["tool"]),
        knob=str(each["knob"]),
        command=str(each["command"]),
        why=f"{each['formula']}: {each['because']}",
        gain=_gain(gain),
        span="" if not gain else _span(gain),
        effect=str(each.get("gain_remark") or ""),
    )


def _gain(gain: Mapping[str, Any] | None) -> str:
    """Say how much faster it is: a share below twice, else how many times."""
    if not gain:
        return ""
    ratio = float(gain["ratio"])
    if ratio >= 2:
        return f"{words.factor(ratio)} times as fast"
    return f"{words.percent(abs(ratio - 1))} {'faster' if ratio >= 1 else 'slower'}"


def _span(gain: Mapping[str, Any]) -> str:
    ends = f"95 % interval {gain['low']:.3g} to {gain['high']:.3g} times"
    before, after = gain.get("before"), gain.get("after")
    where = f", on the {gain['of']}" if gain.get("of") else ""
    return f"{ends}{where}" + (f": {before} → {after}" if before and after else "")


def _reason(each: Mapping[str, Any]) -> str:
    """Say why a default stays; a reason that ends before it begins says nothing."""
    why = str(each["because"]).removeprefix("tool default, because").strip(" ,:")
    return why or "no finding bears on it"
