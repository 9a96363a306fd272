"""The four possible answers of a probe. "Undetectable" is an honest one, a wrong value is not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ssdscope.probes.reasons import Reason, Where, what_was_seen, what_would_help

__all__ = ["UNITS", "Absent", "Ambiguous", "Detected", "Finding", "Reason", "Undetectable", "Where"]

UNITS: dict[str, str] = {
    "read_latency_alpha_ns": "ns",
    "read_latency_beta_ns_per_byte": "ns/byte",
    "queue_depth_knee": "requests",
    "read_ahead_bytes": "bytes",
    "read_cache_bytes": "bytes",
    "read_cache_unit_bytes": "bytes",
    "map_zone_bytes": "bytes",
    "map_cache_bytes": "bytes",
    "interleave_degree": "units",
    "placement": "",
    "placement_pages": "pages",
    "rmw_unit_bytes": "bytes",
    "alignment_phase_bytes": "bytes",
    "merge_unit_bytes": "bytes",
    "write_buffer_bytes": "bytes",
    "write_buffer_unit_bytes": "bytes",
    "allocation": "",
    "internal_volume_bits": "bits of the byte address",
    "pslc_bytes": "bytes",
    "trim_effect": "x",
    "over_provisioning_ratio": "x",
    "gc_write_amplification": "x",
    "gc_period_bytes": "bytes",
    "idle_gc_onset_ns": "ns",
    "reclaim_unit_bytes": "bytes",
    "open_units": "units",
}
"""Every property a probe may report, with its unit."""


@dataclass(frozen=True, kw_only=True)
class Finding(ABC):
    """What is common to all answers.

    Attributes
    ----------
    name
        The property: a key of `UNITS`.
    probe
        The probe that answers.
    evidence
        Plain data that a plot or a sceptic needs: series, fits, blocks dropped, cautions.
    bytes_written, requests
        What the answer cost.
    where
        Where it was found, which decides what would help.
    """

    outcome: ClassVar[str]

    name: str
    probe: str
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)
    bytes_written: int = 0
    requests: int = 0
    where: Where = field(default=Where(), repr=False, compare=False)

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return UNITS[self.name]

    def to_json(self) -> dict[str, Any]:
        """Write the answer with every key of the contract, absent ones as None."""
        return {
            "property": self.name,
            "outcome": self.outcome,
            "value": None,
            "unit": self.unit,
            "interval": None,
            "effect": None,
            "evidence": self.evidence,
            "reason": None,
            "candidates": None,
            "bytes_written": self.bytes_written,
            "requests": self.requests,
            "probe": self.probe,
        } | self._specific()

    @abstractmethod
    def _specific(self) -> dict[str, Any]:
        """Keys that only this kind of answer fills."""


@dataclass(frozen=True, kw_only=True)
class Detected(Finding):
    """The property is there, and this is its value.

    Attributes
    ----------
    interval
        Of 95 % confidence; None where the value is a member of a set.
    effect
        How strongly it shows, as a share (0.5: half again as slow).
    """

    outcome: ClassVar[str] = "detected"
    value: float | str
    interval: tuple[float, float] | None
    effect: float

    def _specific(self) -> dict[str, Any]:
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "effect": self.effect}


@dataclass(frozen=True, kw_only=True)
class Absent(Finding):
    """Looked for and not there: any effect is smaller than `bound`, at 95 %."""

    outcome: ClassVar[str] = "absent"
    bound: float
    reason: str

    def _specific(self) -> dict[str, Any]:
        return {"bound": self.bound, "reason": self.reason}


@dataclass(frozen=True, kw_only=True)
class Ambiguous(Finding):
    """Several values explain the measurements about equally well."""

    outcome: ClassVar[str] = "ambiguous"
    candidates: tuple[float | str, ...]
    reason: str

    def _specific(self) -> dict[str, Any]:
        return {"candidates": list(self.candidates), "reason": self.reason}


@dataclass(frozen=True, kw_only=True)
class Undetectable(Finding):
    """It cannot be told, for a reason of the closed list."""

    outcome: ClassVar[str] = "undetectable"
    reason: Reason

    def _specific(self) -> dict[str, Any]:
        return {
            "reason": str(self.reason),
            "what_was_seen": what_was_seen(self.reason, self.name, self.evidence.get("detail")),
            "what_would_help": what_would_help(self.reason, self.where),
        }
