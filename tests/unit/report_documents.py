"""Documents of pages made by hand, with only what a page must have."""

from typing import Any

CAPACITY = 1 << 30


def point(rw: str, block_bytes: int, iodepth: int, mean_ns: float, **values: Any) -> dict[str, Any]:
    """A measured workload."""
    sort = "read" if "read" in rw else "burst"
    iops = iodepth * 1e9 / mean_ns
    return {
        "rw": rw, "block_bytes": block_bytes, "iodepth": iodepth, "sort": sort, "failure": None,
        "requests": 1000, "duration_ns": 1e9, "mean_ns": mean_ns, "ci95_low_ns": 0.99 * mean_ns,
        "ci95_high_ns": 1.01 * mean_ns, "max_ns": 2 * mean_ns, "iops": iops,
        "bandwidth_bytes_per_s": iops * block_bytes, "attribution_ns": None, "bursts": 1,
        "p50_ns": mean_ns, "p99_ns": mean_ns, "split": "grid", **values,
    }  # fmt: skip


def kept(rw: str, block_bytes: int, iodepth: int, mean_ns: float, **values: Any) -> dict[str, Any]:
    """What a drive keeps up of a workload, and its course."""
    rate = block_bytes * iodepth * 1e9 / mean_ns
    course = {
        "reached": True, "rates_bytes_per_s": [2 * rate, *([rate] * 24)],
        "bytes_written": 5 * CAPACITY // 2, "round_bytes": CAPACITY // 10,
        "least_bytes": 2 * CAPACITY, "elapsed_ns": 1,
    }  # fmt: skip
    return point(rw, block_bytes, iodepth, mean_ns) | {
        "sort": "sustained", "reached": True, "course": course, "remark": "", **values,
    }  # fmt: skip


def document(
    points: list[dict[str, Any]],
    sustained: list[dict[str, Any]] | None = None,
    **values: Any,
) -> dict[str, Any]:
    """A document of those figures, of a drive in memory that may be written."""
    cache = {"control": "unknown", "on": False}
    info = {
        "kind": "simulated", "capacity_bytes": CAPACITY, "logical_block_bytes": 512,
        "clock": "virtual", "writable": True, "discard": True, "attribution": True,
        "snapshot": True, "write_cache": cache, "read_cache": cache,
    }  # fmt: skip
    whole = {
        "schema_version": 1,
        "tool": {"name": "ssdscope", "version": "0"},
        "seed": 1,
        "target": {
            "uri": "sim:x", "kind": "simulated", "capacity_bytes": CAPACITY, "state": "fresh",
            "drive": {"description": "made by hand"}, "access": None, "info": info,
            "declared": None, "sets": [],
        },
        "findings": [],
        "performance": {
            "points": points, "sustained": sustained or [], "distributions": [], "trace": None,
        },
        "models": [],
        "twin": None,
        "advice": [],
        "studies": [],
        "provenance": {
            "started": "2026-01-01T00:00:00+00:00", "budget": "default", "stages_done": [],
            "stage_seconds": {}, "spent": None, "machine": "m", "kernel": "k", "python": "3",
            "command": "ssdscope characterize sim:x", "broken": None, "interrupted": False,
        },
    }  # fmt: skip
    return whole | values


def four(random_write_ns: float = 1e5, **values: Any) -> list[dict[str, Any]]:
    """Small requests of each pattern, alone; only random writes differ."""
    return [
        point("read", 4096, 1, 1e5),
        point("randread", 4096, 1, 1.1e5),
        point("write", 4096, 1, 1e5),
        point("randwrite", 4096, 1, random_write_ns, **values),
    ]
