"""Advice on the page: what to set and what it gains; what stays as it is, and why, in a line."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.advise import Gain
from ssdscope.report.parts import Document


@dataclass(frozen=True)
class Setting:
    """One thing to set.

    Attributes
    ----------
    command, typed_in
        The line, and where it is typed; empty for a habit.
    habit
        What to do where nothing can be typed.
    gains
        What it gains in each state, that of a drive in use first; empty where it was not measured.
    sure
        Whether the first of them is a gain for certain.
    only
        When it gains so much.
    streams
        The requests that were compared, and on what.
    effect
        Why there is no gain.
    """

    tool: str
    knob: str
    command: str
    typed_in: str
    habit: str
    why: str
    gains: list[str]
    sure: bool
    only: str
    streams: str
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
    given = [
        each for each in told
        if each["source"] == "detected" and (each["command"] or each.get("habit"))
    ]  # fmt: skip
    given.sort(key=lambda each: -abs(math.log(_ratio(each))))
    reasons: dict[str, list[str]] = {}
    for each in told:
        if each not in given:
            reasons.setdefault(_reason(each), []).append(f"{each['tool']}: {each['knob']}")
    stays = [Stays(", ".join(names), why) for why, names in reasons.items()]
    return Advice([_setting(each) for each in given], stays)


def _gains(each: Mapping[str, Any]) -> list[Gain]:
    told = (each.get("gain_in_use"), each.get("gain"))
    return [Gain.from_json(gain) for gain in told if gain]


def _ratio(each: Mapping[str, Any]) -> float:
    return next((gain.ratio for gain in _gains(each)), 1.0)


def _setting(each: Mapping[str, Any]) -> Setting:
    gains = _gains(each)
    return Setting(
        tool=str(each["tool"]),
        knob=str(each["knob"]),
        command=str(each["command"] or ""),
        typed_in=str(each.get("typed_in") or ""),
        habit=str(each.get("habit") or ""),
        why=f"{each['formula']}: {each['because']}",
        gains=[gain.in_words() for gain in gains],
        sure=bool(gains) and gains[0].sure and not gains[0].none,
        only=gains[0].at_most if gains else "",
        streams=_streams(gains[0]) if gains else "",
        effect=str(each.get("gain_remark") or ""),
    )


def _streams(gain: Gain) -> str:
    if not gain.before or not gain.after:
        return ""
    return f"Measured on the {gain.of}: {gain.before} → {gain.after}"


def _reason(each: Mapping[str, Any]) -> str:
    """Say why a default stays; a reason that ends before it begins says nothing."""
    why = str(each["because"]).removeprefix("tool default, because").strip(" ,:")
    return why or "no finding bears on it"
