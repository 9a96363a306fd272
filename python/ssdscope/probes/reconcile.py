"""What several probes say of one drive, held against each other.

A property that two probes answer gets one finding. Findings that cannot both be true become
`Ambiguous`, with the reason: a contradiction says that one of two measurements was misread, not
which of them. One that another shows to rest on too little is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Partition, Reason, Undetectable
from ssdscope.probes.interleave import PART_ONLY

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rule: TypeAlias = Callable[[Mapping[str, Finding]], Iterable[Finding]]
"""Looks at all findings by property, and gives what must replace some of them."""

_STRENGTH = (Detected, Ambiguous, Absent, Undetectable)
"""Of two answers to one question, the first kind in this order is the better informed."""
PLANES_MOST = 4
"""Of a die: merge units take a block of each, one after the other."""
BY_CHANCE = 1e-4
"""How improbable, if none of so many places was drawn on a die that others lie on, too."""


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


def dies_of_a_whole_round(told: Mapping[str, Finding]) -> Iterable[Finding]:
    """Refuse a number of dies seen in a part of the drive that may not lie on all of them.

    Merge units go round the planes of all dies: one die comes again only behind all others.
    """
    found, merge = told.get("interleave_degree"), _value(told, "merge_unit_bytes")
    if not isinstance(found, Detected) or merge is None:
        return
    sorted_places = found.evidence.fit(Partition)
    if sorted_places is None or not found.evidence.figures.get(PART_ONLY):
        return
    phase = _value(told, "alignment_phase_bytes") or 0
    units = [(np.array(each) + phase) // merge for each in sorted_places.members]
    if not any(_comes_again(each, np.sort(np.concatenate(units))) for each in units):
        yield Undetectable(
            name=found.name,
            probe=found.probe,
            reason=Reason.RANGE_TOO_SMALL,
            evidence=found.evidence.saying("no die was seen to come again in a part of it"),
            bytes_written=found.bytes_written,
            requests=found.requests,
            where=found.where,
        )


def _comes_again(own: NDArray[Any], among: NDArray[Any]) -> bool:
    """Say whether a die has more merge units than planes, or some behind units of others alone.

    Given are the merge units of its places, and of all, in order. That none of these lies on the
    die between two that do must be no chance of how few places were drawn there.
    """
    units = np.unique(own)
    between = np.searchsorted(among, units[1:]) - np.searchsorted(among, units[:-1], "right")
    drawn_elsewhere = (1 - own.size / among.size) ** max(between, default=0)
    return bool(units.size > PLANES_MOST or drawn_elsewhere <= BY_CHANCE)


_RULES: tuple[Rule, ...] = (
    merge_units_hold_whole_rmw_units,
    one_way_of_mapping,
    dies_of_a_whole_round,
)
