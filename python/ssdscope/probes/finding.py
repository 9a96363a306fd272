"""The four possible answers of a probe. "Undetectable" is an honest one, a wrong value is not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class Reason(StrEnum):
    """Why a property cannot be told; a closed list."""

    WRITE_ACKED_FROM_BUFFER = "write_acked_from_buffer"
    CACHE_NOT_CONTROLLABLE = "cache_not_controllable"
    PLP_NO_FLUSH_EFFECT = "plp_no_flush_effect"
    EFFECT_BELOW_NOISE = "effect_below_noise"
    INTERFERENCE = "interference"
    THERMAL_THROTTLE = "thermal_throttle"
    REQUEST_SPLIT = "request_split"
    LINK_BOUND = "link_bound"
    BUDGET_EXHAUSTED = "budget_exhausted"
    RANGE_TOO_SMALL = "range_too_small"
    NOT_A_RAW_DEVICE = "not_a_raw_device"
    DEALLOCATED_READS = "deallocated_reads"
    ALIASING = "aliasing"
    NOT_WRITABLE = "not_writable"
    DEVICE_ERRORS = "device_errors"
    MASKED = "masked"
    MODEL_MISFIT = "model_misfit"
    NOT_SUPPORTED = "not_supported"

    @property
    def what_would_help(self) -> str:
        """What the user can change to get an answer."""
        return _WHAT_WOULD_HELP[self]


_WHAT_WOULD_HELP = {
    Reason.WRITE_ACKED_FROM_BUFFER: "switch the drive's write cache off, if it allows that",
    Reason.CACHE_NOT_CONTROLLABLE: "a drive or kernel that lets the cache be switched off",
    Reason.PLP_NO_FLUSH_EFFECT: "nothing from outside: the cache is protected against power loss",
    Reason.EFFECT_BELOW_NOISE: "a larger budget, or a quieter machine",
    Reason.INTERFERENCE: "stop whatever else uses the drive or the machine, then repeat",
    Reason.THERMAL_THROTTLE: "cool the drive, then repeat",
    Reason.REQUEST_SPLIT: "raise max_sectors_kb of the queue, or probe smaller requests",
    Reason.LINK_BOUND: "a faster link to the drive: the present one hides what is behind it",
    Reason.BUDGET_EXHAUSTED: "a larger budget",
    Reason.RANGE_TOO_SMALL: "a larger drive, file or window",
    Reason.NOT_A_RAW_DEVICE: "probe the drive itself, not a file or a virtual disk on it",
    Reason.DEALLOCATED_READS: "write the drive once before it is read",
    Reason.ALIASING: "repeat with other test sizes",
    Reason.NOT_WRITABLE: "allow writing, with the token that `doctor --identify` prints",
    Reason.DEVICE_ERRORS: "look at the drive's error log; requests failed while it was measured",
    Reason.NOT_SUPPORTED: "a drive, and a system, that pass on the command that this needs",
    Reason.MASKED: "nothing from outside: another mechanism of the drive hides this one",
    Reason.MODEL_MISFIT: "look at what was measured: it does not have the shape that defines this",
}

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
    """

    outcome: ClassVar[str]

    name: str
    probe: str
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)
    bytes_written: int = 0
    requests: int = 0

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
            "what_would_help": self.reason.what_would_help,
        }
