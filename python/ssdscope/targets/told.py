"""Which percentiles of a run are told: those with at least ten requests beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BEYOND = 10
IN_THOUSANDTHS = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p99_9": 999}
DIRECTIONS = ("read", "write", "flush", "discard", "write_zeroes")


def told_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """Give a run's summary, with null for percentiles that too few requests lie beyond."""
    told = summary | {
        name: _told_direction(summary[name]) for name in DIRECTIONS if summary.get(name)
    }
    if summary.get("flows"):
        told["flows"] = [told_summary(flow) for flow in summary["flows"]]
    if summary.get("trace"):
        told["trace"] = told_trace(summary["trace"])
    return told


def told_trace(about: dict[str, Any]) -> dict[str, Any]:
    """Give what is known of a trace, with null for such percentiles of its own latencies."""
    if not about.get("latency_ns"):
        return about
    counts = {"read": about["requests"] - about["writes"], "write": about["writes"]}
    latencies = {
        name: latency and _told(latency, counts[name])
        for name, latency in about["latency_ns"].items()
    }
    return about | {"latency_ns": latencies}


def _told_direction(direction: Mapping[str, Any]) -> dict[str, Any]:
    latency = direction["latency_ns"]  # None where nobody timed requests
    return {**direction, "latency_ns": latency and _told(latency, direction["requests"])}


def _told(latency: Mapping[str, Any], requests: int) -> dict[str, Any]:
    """Leave out what is not known: so many requests say nothing of that tail."""
    unknown = {
        name: None
        for name, share in IN_THOUSANDTHS.items()
        if name in latency and requests * (1000 - share) < 1000 * BEYOND
    }
    return {**latency, **unknown}
