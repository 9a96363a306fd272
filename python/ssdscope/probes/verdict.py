"""What evidence comes to: the one place where a finding is decided.

Found is what beats nothing by what its engine takes (`inference.levels`), and every rival by
`APART`. What is not found is absent if no effect that anyone would notice could hide in the data,
and cannot be told otherwise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ssdscope.findings import (
    PROPERTIES,
    Absent,
    Ambiguous,
    Detected,
    Evidence,
    Finding,
    Reason,
    Step,
    Undetectable,
)
from ssdscope.inference.levels import APART, FOUND, LEAST_EFFECT, TOLD

if TYPE_CHECKING:
    from ssdscope.inference.series import Weighed

__all__ = [
    "absent",
    "detected",
    "is_found",
    "is_sure",
    "level_of",
    "marked",
    "refused",
    "weighed",
]


def level_of(engine: str) -> float:
    """Look up the evidence that an engine takes, for plans that end when there is enough."""
    return FOUND[engine]


def is_found(found: Weighed, engine: str, *, times: float = 1.0, tried: int = 1) -> bool:
    """Whether the evidence against nothing reaches the level of its engine.

    Parameters
    ----------
    engine
        A key of `levels.FOUND`.
    times
        Of the level: more where less evidence would do, but more is to be had for little.
    tried
        The best of so many; chance has as many tries.
    """
    return found.score >= times * FOUND[engine] + math.log(tried)


def is_sure(found: Weighed, engine: str, *, tried: int = 1) -> bool:
    """Whether it is found, and beats every rival."""
    return is_found(found, engine, tried=tried) and found.margin >= APART


def weighed(
    name: str,
    found: Weighed,
    engine: str,
    evidence: Evidence,
    *,
    probe: str = "",
    value: float | str | None = None,
    interval: tuple[float, float] | None = None,
) -> Finding:
    """Decide on what an engine found.

    Parameters
    ----------
    name
        The property.
    engine
        A key of `levels.FOUND`.
    value, interval
        What the estimate stands for, if that is not the value itself.
    """
    if found.estimate is None or not is_found(found, engine) or found.effect < LEAST_EFFECT:
        if found.bound <= LEAST_EFFECT:
            return absent(name, found.bound, evidence, probe=probe)
        return refused(name, Reason.EFFECT_BELOW_NOISE, evidence, probe=probe)
    if found.margin < APART:
        return _either(name, found, evidence, probe)
    told = found.estimate if value is None else value
    ends = found.interval if interval is None and value is None else interval
    return detected(name, told, ends, found.effect, evidence, probe=probe)


def detected(
    name: str,
    value: float | str,
    interval: tuple[float, float] | None,
    effect: float,
    evidence: Evidence,
    *,
    probe: str = "",
) -> Finding:
    """Tell a value, unless its interval allows for one that is further off than is right."""
    about = PROPERTIES[name]
    tolerance = None if about.hangs_on_use else about.tolerance
    # How far off a value is counts by what is true, which either end may be.
    ends = () if tolerance is None or isinstance(value, str) else interval or ()
    if any(abs(float(value) - end) > TOLD * (tolerance or 0.0) * abs(end) for end in ends):
        said = evidence.saying("what it may be lies too far apart")
        return refused(name, Reason.EFFECT_BELOW_NOISE, said, probe=probe)
    return Detected(
        name=name, probe=probe, value=value, interval=interval, effect=effect, evidence=evidence
    )


def absent(
    name: str, bound: float, evidence: Evidence, *, probe: str = "", reason: str | None = None
) -> Absent:
    """Say that it was looked for, and is not there."""
    most = f"a difference of more than {100 * bound:.2g} %" if bound else "any difference"
    said = reason or f"nothing of the kind makes {most}"
    return Absent(name=name, probe=probe, bound=bound, reason=said, evidence=evidence)


def refused(name: str, reason: Reason, evidence: Evidence, *, probe: str = "") -> Undetectable:
    """Say that it cannot be told; what was fitted is nobody's answer then."""
    return Undetectable(name=name, probe=probe, reason=reason, evidence=evidence.unfitted())


def marked(found: Weighed, word: str) -> tuple[Step, ...]:
    """Return where an estimate and its interval lie, for an exhibit; nothing without one."""
    if found.estimate is None:
        return ()
    low, high = found.interval or (None, None)
    return (Step(at=found.estimate, low=low, high=high, word=word),)


def _either(name: str, found: Weighed, evidence: Evidence, probe: str) -> Finding:
    """Name the estimate and the rivals that come as close, if they are values."""
    near = [each for each in found.rivals if each.margin < APART]
    values: list[Any] = [found.estimate, *(each.estimate for each in near)]
    if None in values:
        said = evidence.saying(f"{near[0].name} explains it as well")
        return refused(name, Reason.MODEL_MISFIT, said, probe=probe)
    names = " or ".join(dict.fromkeys(each.name for each in near))
    return Ambiguous(
        name=name,
        probe=probe,
        evidence=evidence,
        candidates=tuple(sorted(set(values))),
        reason=f"{names} explains it as well",
    )
