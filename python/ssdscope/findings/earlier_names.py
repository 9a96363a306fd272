"""Names of probes that are no more: scripts that hold them go on working."""

from __future__ import annotations

__all__ = ["EARLIER_NAMES", "current_name"]

EARLIER_NAMES: dict[str, str] = {
    "amplification": "gc_write_amplification",
    "gc_knee": "over_provisioning_ratio",
    "gc_period": "gc_period_bytes",
    "idle_gc": "idle_gc_onset_ns",
    "interleave": "interleave_degree",
    "internal_volumes": "internal_volume_bits",
    "map_cache": "table",
    "merge_unit": "merge_unit_bytes",
    "pslc": "pslc_bytes",
    "read_cache": "caches",
    "reclaim_unit": "reclaim_unit_bytes",
    "rmw_unit": "units",
    "trim_rounds": "trim_effect",
    "write_buffer": "buffer",
}
"""The family or the property of today that answers what a probe of an earlier version did.

Three more were called as a property still is: `allocation`, `open_units` and `placement`."""


def current_name(name: str) -> str:
    """Return the name of today for one of an earlier version; any other as it is."""
    return EARLIER_NAMES.get(name, name)
