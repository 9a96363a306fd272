"""Detectors of a paper's drives: what our probes find, and what is true of the drive.

A probe sees the drive alone; the study may look into the preset's file, which is how it knows what
is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdscope.findings import Ambiguous, Detected, Finding, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.recovery.shape import shape_of
from ssdscope.recovery.truth import Truth, configured
from ssdscope.targets import Device, open_target
from ssdscope.targets.opening import resolve_drive

Value = float | str
BUDGET = Budget.parse("default")
_BUILT_ON = {
    "merge_unit_bytes": ("rmw_unit_bytes",),
    "allocation": ("rmw_unit_bytes", "merge_unit_bytes", "interleave_degree"),
    "placement": ("rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes", "allocation"),
    "placement_pages": ("rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes", "allocation"),
}
"""What the probes of a property had better know; `probe all` asks for it first, too."""


@dataclass
class Probed:
    """What probes find on the drives of a study; no property of a drive is asked for twice.

    Attributes
    ----------
    target
        A drive in place of all of them; of it nothing is known.
    """

    seed: int
    target: Device | None = None
    _open: dict[tuple[str, tuple[str, ...]], Device] = field(default_factory=dict)
    _found: dict[tuple[str, tuple[str, ...]], dict[str, Finding]] = field(default_factory=dict)

    def bench(self, uri: str, sets: Sequence[str] = ()) -> Bench:
        """Put a copy of a drive on a bench of its own, for a procedure of the paper."""
        return Bench(self._device(uri, sets), BUDGET, self.seed)

    def finding(self, name: str, uri: str, sets: Sequence[str] = ()) -> Finding:
        """Ask the probes that answer a property, after those they build on."""
        key = (uri, tuple(sets))
        answers = self._found.setdefault(key, {})
        if name not in answers:
            answering = registry.answering()
            chosen = answering.get(name, [])
            first = [probe for each in _BUILT_ON.get(name, ()) for probe in answering.get(each, ())]
            order = [probe for probe in registry.every() if probe in {*first, *chosen}]
            found = session.run(order, self._device(uri, sets), BUDGET, self.seed)
            answers |= {each.name: each for each in found}
        return answers[name]

    def truth(self, name: str, uri: str, sets: Sequence[str] = ()) -> Truth | None:
        """Read off a preset's file what is true of it; None for a drive that is no preset."""
        if self.target is not None:
            return None
        return truths_of_file(uri, sets)[name]

    def _device(self, uri: str, sets: Sequence[str]) -> Device:
        if self.target is not None:
            return self.target.fork() if self.target.info.snapshot else self.target
        key = (uri, tuple(sets))
        if key not in self._open:
            self._open[key] = open_target(uri, sets=tuple(sets), seed=self.seed).device
        return self._open[key].fork()


def truths_of_file(uri: str, sets: Sequence[str] = ()) -> dict[str, Truth]:
    """Return what follows from a preset's file, by property."""
    values = _flat(resolve_drive(uri, sets))
    return configured(values, shape_of(values))


def _flat(drive: Mapping[str, Any]) -> dict[str, Any]:
    tables = {key: value for key, value in drive.items() if isinstance(value, dict)}
    plain = {key: value for key, value in drive.items() if key not in tables}
    return plain | {
        f"{table}.{key}": value for table, keys in tables.items() for key, value in keys.items()
    }


def refusal(finding: Finding) -> str:
    """Say why a finding gives no value."""
    if isinstance(finding, Undetectable):
        return f"cannot be told: {str(finding.reason).replace('_', ' ')}"
    if isinstance(finding, Ambiguous):
        return f"one of {', '.join(str(each) for each in finding.candidates)}"
    return "absent"


def value_of(finding: Finding) -> Value | None:
    """Return the value that was detected; None where there is none."""
    return finding.value if isinstance(finding, Detected) else None
