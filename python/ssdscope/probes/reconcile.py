"""What several probes say of one drive, held against each other.

A property that two probes answer gets one finding. Findings that cannot both be true become
`Ambiguous`, with the reason: a contradiction says that one of two measurements was misread, not
which of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Undetectable

_STRENGTH = (Detected, Ambiguous, Absent, Undetectable)
"""Of two answers to one question, the first kind in this order is the better informed."""


def reconciled(findings: Sequence[Finding]) -> list[Finding]:
    """Give one finding per property, in the order of first answers; contradictions are doubted."""
    told: dict[str, Finding] = {}
    for finding in findings:
        earlier = told.get(finding.name)
        told[finding.name] = finding if earlier is None else _joined(earlier, finding)
    for names, reason in _contradictions(told):
        told |= {name: _doubted(told[name], (_value(told, name),), reason) for name in names}
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


def _contradictions(told: Mapping[str, Finding]) -> Iterator[tuple[tuple[str, str], str]]:
    """Say which findings cannot both be true, and why; what is doubted has no value any more."""
    small, merge = _value(told, "rmw_unit_bytes"), _value(told, "merge_unit_bytes")
    # Nothing is mapped into two merge units.
    if small is not None and merge is not None and merge % small:
        reason = f"a merge unit of {merge:g} bytes cannot hold whole RMW units of {small:g}"
        yield ("rmw_unit_bytes", "merge_unit_bytes"), reason
    units = "merge_unit_bytes", "reclaim_unit_bytes"
    if all(_value(told, name) is not None for name in units):
        yield units, "a merge unit and a reclaim unit were found, and a drive has one of them"
