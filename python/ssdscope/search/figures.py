"""Figures of a run by name: what a search minimises or limits.

Names are those of the sweep's table: ``write.latency_ns.p99``, ``counters.block_erases``. Without
a direction a latency is that of the slower one, and a rate is the sum of both. ``waf`` stands for
``counters.waf``. ``cost`` and ``cost_per_gib`` come from the prices of the plan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from ssdscope.errors import nearest
from ssdscope.sweep.table import flattened
from ssdscope.targets import LatencySummary, RunResult

COSTS = ("cost", "cost_per_gib")
RATES = ("iops", "bandwidth_bytes_per_s")
LATENCIES = tuple(f"latency_ns.{each.name}" for each in fields(LatencySummary))
_DIRECTIONS = ("read", "write")
_COUNTERS = "counters."
_SHORT = {"waf": "counters.waf"}


def known_names() -> list[str]:
    """List the names that every drive has a figure for; any number of `counters` is one, too."""
    of_both = (*RATES, *LATENCIES)
    each = [f"{way}.{name}" for way in _DIRECTIONS for name in of_both]
    return [*COSTS, "waf", *of_both, *each, "elapsed_ns"]


def is_rate(name: str) -> bool:
    """Say whether more of it is better."""
    return name.endswith(RATES)


def fault_of(name: str) -> str | None:
    """Say what is wrong with a name, as a hint; None if it may be a figure."""
    if name in known_names() or (name.startswith(_COUNTERS) and name != _COUNTERS):
        return None
    return nearest(name, known_names())


def figures_of(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Take figures from the document of a run; what it does not have is left out."""
    flat = flattened(dict(record))
    found = {name: _figure(flat, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def figures_of_part(result: RunResult, names: Iterable[str]) -> dict[str, float]:
    """Take figures from a short run, percentiles with few requests beyond them among them.

    They are only compared with those of other trials after the same part, never told.
    """
    ran = {way: getattr(result, way) for way in _DIRECTIONS}
    record: dict[str, Any] = {way: asdict(each) for way, each in ran.items() if each is not None}
    record |= {"counters": result.counters or {}, "elapsed_ns": result.elapsed_ns}
    return figures_of(record, names)


def missing_hint(record: Mapping[str, Any], name: str) -> str:
    """Say what to do about a figure that a run does not have."""
    if ".p9" in name:
        return "a percentile needs ten requests beyond it: a longer workload has it"
    flat = flattened({key: each for key, each in record.items() if key not in ("target", "tool")})
    return nearest(name, [key for key, each in flat.items() if _number(each) is not None])


def _figure(flat: Mapping[str, Any], name: str) -> float | None:
    if name in RATES or name in LATENCIES:
        found = [_number(flat.get(f"{way}.{name}")) for way in _DIRECTIONS]
        there = [each for each in found if each is not None]
        if not there:
            return None
        return sum(there) if is_rate(name) else max(there)
    return _number(flat.get(_SHORT.get(name, name)))


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain else None
