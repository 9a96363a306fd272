"""The logs of a run that has no JSON: all kinds of all its jobs, as one result."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.results.fio.logs import LATENCIES, import_logs
from ssdscope.results.fio.options import Asked, by_name, workload

_LOG = re.compile(
    r"(?P<prefix>.*?)_?(?P<kind>clat_hist|lat|clat|slat|bw|iops)(?:\.[0-9]+)?\.log(?:\.gz|\.zst)?"
)
_DEPTH = re.compile(r"random-(?P<way>read|write)-depth-(?P<depth>\d+)")
"""As older versions of fio-plot's benchmark name logs."""
_DIRECTIONS = ("read", "write", "discard")
_LATENCY = (
    "stddev", "ci95_low", "ci95_high", "min", "p50", "p90", "p95", "p99", "p99_9", "max",
)  # fmt: skip
_SIMILAR = 0.01
"""Rates are whole numbers in the logs, so their ratio may be off a size by so much."""


@dataclass
class LogSet:
    """Logs whose names begin alike, in one folder.

    Attributes
    ----------
    by_kind
        Files by what they hold, one of each job.
    """

    folder: Path
    prefix: str
    by_kind: dict[str, list[str]] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """List all."""
        return [each for files in self.by_kind.values() for each in files]

    def __str__(self) -> str:
        """Name them."""
        return f"{self.folder / self.prefix}_*.log ({len(self.files)} logs)"


def log_sets(files: Sequence[Path]) -> tuple[list[LogSet], list[Path]]:
    """Part logs, by run, from other files."""
    found: dict[tuple[Path, str], LogSet] = {}
    others = []
    for file in files:
        match = _LOG.fullmatch(file.name)
        if match is None:
            others.append(file)
            continue
        key = (file.parent, match["prefix"])
        one = found.setdefault(key, LogSet(*key))
        one.by_kind.setdefault(match["kind"], []).append(str(file))
    return list(found.values()), others


def record_of(one: LogSet) -> dict[str, Any]:
    """Compose the result of a run from its logs.

    Logs of single requests have all of it. Of windows, rates are from the IOPS and bandwidth logs,
    mean latencies from those of latencies, and counts and percentiles from histograms.

    Raises
    ------
    UsageError
        If a log cannot be read, or its unit is not known.
    """
    parts: dict[str, dict[str, Any]] = {}
    for kind in ("lat", "clat", "clat_hist", "iops", "bw"):
        if kind not in one.by_kind:
            continue
        parts[kind] = import_logs(sorted(one.by_kind[kind]), kind, None)
        if kind in LATENCIES and parts[kind]["requests"]:
            return _placed(parts[kind], one, (kind,))
    if not parts:
        raise UsageError("submission latencies alone are no result")
    best = ("clat_hist", "lat", "clat", "iops", "bw")
    base = next(parts[kind] for kind in best if kind in parts)
    document = {**base, **{name: _section(parts, name) for name in _DIRECTIONS}}
    counts = [each["requests"] for name in _DIRECTIONS if (each := document[name])]
    document["requests"] = None if None in counts else sum(counts)
    document["elapsed_ns"] = max(each["elapsed_ns"] or 0 for each in parts.values())
    return _placed(document, one, tuple(parts))


def _section(parts: dict[str, dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Take each figure of a direction from the log that knows it best."""
    sections = {kind: part[name] for kind, part in parts.items() if part.get(name)}
    if not sections:
        return None
    histogram = sections.get("clat_hist") or {}
    latency = dict.fromkeys(_LATENCY) | (histogram.get("latency_ns") or {})
    means = sections.get("lat") or sections.get("clat")
    if means:
        latency["mean"] = means["latency_ns"]["mean"]
    iops = (sections.get("iops") or histogram).get("iops")
    bandwidth = (sections.get("bw") or histogram).get("bandwidth_bytes_per_s")
    return {
        "requests": histogram.get("requests"),
        "bytes": histogram.get("bytes"),
        "iops": iops,
        "bandwidth_bytes_per_s": bandwidth,
        "latency_ns": latency if "mean" in latency else None,
        "percentile_method": "fio-bins" if histogram else None,
        "weighed_by": (means or {}).get("weighed_by"),
        "ci95_method": None,
        "attribution_ns": None,
    }


def _placed(document: dict[str, Any], one: LogSet, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Say what ran as far as the name of the logs does."""
    asked = by_name(one.prefix) or _older(one.prefix) or Asked(None, None, None, None, {})
    jobs = len(one.by_kind[kinds[0]])
    about = {
        "file": str(one),
        "version": None,
        "time": None,
        "group": 0,
        "jobs": [one.prefix],
        "logs": list(kinds),
        "cut": None,
        "interim": 0,
    }
    described = workload(asked, jobs, dict.fromkeys(_DIRECTIONS))
    sizes = {_size(section) for name in _DIRECTIONS if (section := document.get(name))}
    if len(sizes) == 1:
        described |= {"block_bytes": next(iter(sizes))}
    return {**document, "workload": described, "fio": about, "interrupted": False}


def _size(section: Mapping[str, Any]) -> int | None:
    """Return the size of a direction's requests: exact by counts, or a power of two by rates."""
    if section.get("bytes") and section.get("requests"):
        size = section["bytes"] / section["requests"]
        return int(size) if size == int(size) else None
    if not section.get("iops") or not section.get("bandwidth_bytes_per_s"):
        return None
    mean = section["bandwidth_bytes_per_s"] / section["iops"]
    near = 2 ** round(log2(mean)) if mean > 0 else 0
    return near if near and abs(mean / near - 1) <= _SIMILAR else None


def _older(prefix: str) -> Asked | None:
    found = _DEPTH.search(prefix)
    if found is None:
        return None
    return Asked(f"rand{found['way']}", int(found["depth"]), None, None, {})
