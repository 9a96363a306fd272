"""What several probes say of one drive, held against each other.

A property that two probes answer gets one finding. Findings that cannot both be true become
`Ambiguous`, with the reason: a contradiction says that one of two measurements was misread, not
which of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Undetectable

Rule: TypeAlias = Callable[[Mapping[str, Finding]], Iterable[Finding]]
"""Looks at all findings by property, and gives what must replace some of them."""

_STRENGTH = (Detected, Ambiguous, Absent, Undetectable)
"""Of two answers to one question, the first kind in this order is the better informed."""


def reconciled(findings: Sequence[Finding]) -> list[Finding]:
    """Give one finding per property, in the order of first answers; contradictions are doubted."""
    told: dict[str, Finding] = {}
    for finding in findings:
        earlier = told.get(finding.name)
        told[finding.name] = finding if earlier is None else _joined(earlier, finding)
    for rule in _RULES:
        told |= {finding.name: finding for finding in rule(told)}
    return list(told.values())


def _joined(first: Finding, second: Finding) -> Finding:
    """Make one answer of two."""
    if isinstance(first, Detected) and isinstance(second, Detected):
        if first.value == second.value or _overlap(first, second):
            return first
        reason = f"the probes {first.probe} and {second.probe} disagree"
        return _doubted(first, (first.value, second.value), reason)
    return min(first, second, key=lambda each: _STRENGTH.index(type(each)))


def _overlap(first: Detected, second: Detected) -> bool:
    if first.interval is None or second.interval is None:
        return False
    return first.interval[0] <= second.interval[1] and second.interval[0] <= first.interval[1]


def _doubted(finding: Finding, candidates: tuple[float | str, ...], reason: str) -> Ambiguous:
    return Ambiguous(
        name=finding.name,
        probe=finding.probe,
        evidence=finding.evidence,
        bytes_written=finding.bytes_written,
        requests=finding.requests,
        candidates=candidates,
        reason=reason,
    )


def _value(told: Mapping[str, Finding], name: str) -> Any:
    finding = told.get(name)
    return finding.value if isinstance(finding, Detected) else None


def merge_units_hold_whole_rmw_units(told: Mapping[str, Finding]) -> Iterable[Ambiguous]:
    """Doubt units that do not fit: nothing is mapped into two merge units."""
    small, large = _value(told, "rmw_unit_bytes"), _value(told, "merge_unit_bytes")
    if small is None or large is None or (large >= small and large % small == 0):
        return
    reason = f"a merge unit of {large:g} bytes cannot hold whole RMW units of {small:g}"
    for name, value in (("rmw_unit_bytes", small), ("merge_unit_bytes", large)):
        yield _doubted(told[name], (value,), reason)


def one_way_of_mapping(told: Mapping[str, Finding]) -> Iterable[Ambiguous]:
    """Doubt both if a drive seems to merge log blocks and to collect reclaim units."""
    merge, reclaim = _value(told, "merge_unit_bytes"), _value(told, "reclaim_unit_bytes")
    if merge is None or reclaim is None:
        return
    reason = "a merge unit and a reclaim unit were found, and a drive has one of them"
    yield _doubted(told["merge_unit_bytes"], (merge,), reason)
    yield _doubted(told["reclaim_unit_bytes"], (reclaim,), reason)


_RULES: tuple[Rule, ...] = (merge_units_hold_whole_rmw_units, one_way_of_mapping)
