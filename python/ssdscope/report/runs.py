"""A run for people: its figures as a table, where the time went, and its latencies as a picture."""

from collections.abc import Iterator, Mapping
from typing import Any

from ssdscope import stats
from ssdscope.report import figures, words
from ssdscope.report.parts import Chart, Document, Table
from ssdscope.targets.records import Log
from ssdscope.units import significant
from ssdscope.workloads.figures import DIRECTIONS

HEAD = ("", "IOPS", "bandwidth", "mean", "± 95 %", "p50", "p90", "p99", "p99.9", "max")
PERCENTILES = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p99_9": 0.001}
"""Percentiles of a run's document, and the share of requests beyond each."""
SHARE_SHOWN = 0.001
"""Of the mean latency; what takes less is left out."""

Part = tuple[str, str, Mapping[str, Any]]
"""A name, a direction, and its figures."""


def title(document: Document) -> str:
    """Name the drive, its state, and how much was served."""
    target = document["target"]
    state = f", {target['state']}" if target["state"] else ""
    served = f"{document['requests']:,} requests in {words.time(document['elapsed_ns'])}"
    return f"{target['uri']}{state}: {served}"


def table(document: Document) -> Table:
    """Give a row for each direction; of several flows for those of each, then of all."""
    parts = [*_parts(document), *(_directions(document, "all ") if document.get("flows") else [])]
    return Table(HEAD, [(name, *_row(told)) for name, _, told in parts])


def went_to(document: Document) -> list[tuple[str, str]]:
    """Say where the time went, the largest part first; nothing where the drive cannot say."""
    lines = []
    for name, _, told in _parts(document):
        causes = told["attribution_ns"] or {}
        total = sum(causes.values())
        shown = sorted(causes.items(), key=lambda cause: -cause[1])
        parts = [
            f"{cause.replace('_', ' ')} {words.percent(value / total)}"
            for cause, value in shown
            if total and value / total >= SHARE_SHOWN
        ]
        if parts:
            lines.append((f"{name} time went to", ", ".join(parts)))
    return lines


def chart(document: Document, log: Log | None) -> Chart | None:
    """Draw latency by percentile: of every request where they were kept, else what is known."""
    whole = log is not None and len(log) > 0 and not document.get("flows")
    series = [
        _of_log(part, document, log) if whole and log is not None else _known(part, document)
        for part in _parts(document)
    ]
    shown = [each for each in series if each["latency_ns"]]
    if not shown:
        return None
    kept = "Every request." if whole else "Percentiles that the run counted, joined by lines."
    return figures.distribution(shown, kept)


def _parts(document: Document) -> Iterator[Part]:
    for flow in document.get("flows") or [document]:
        yield from _directions(flow, f"{flow['name']} " if "name" in flow else "")


def _directions(part: Mapping[str, Any], label: str) -> Iterator[Part]:
    for direction in DIRECTIONS:
        if part[direction]:
            yield f"{label}{direction}", direction, part[direction]


def _row(told: Mapping[str, Any]) -> tuple[str, ...]:
    latency = told["latency_ns"]
    low, high = latency["ci95_low"], latency["ci95_high"]
    known = low is not None and high is not None and latency["mean"]
    half = f"{significant(50 * (high - low) / latency['mean'], 2)} %" if known else words.NOTHING
    return (
        words.iops(told["iops"]),
        words.bandwidth(told["bandwidth_bytes_per_s"]),
        words.time(latency["mean"]),
        half,
        *(words.time(latency[key]) for key in ("p50", "p90", "p99", "p99_9", "max")),
    )


def _of_log(part: Part, document: Document, log: Log) -> dict[str, Any]:
    """Give the whole distribution of a direction."""
    _, direction, _ = part
    latency = log.latency_ns[log.op == DIRECTIONS[direction]]
    value, exceeded = stats.ecdf(latency)
    return _known(part, document) | {"latency_ns": value.tolist(), "exceeded": exceeded.tolist()}


def _known(part: Part, document: Document) -> dict[str, Any]:
    """Give what the document knows of a distribution."""
    name, direction, told = part
    latency = told["latency_ns"]
    points = [(1.0, latency["min"])]
    points += [(share, latency[key]) for key, share in PERCENTILES.items() if latency[key]]
    return {
        "name": f"{name}s",
        "rw": f"{_order(document)}{direction}",
        "requests": told["requests"],
        "exceeded": [share for share, _ in points],
        "latency_ns": [value for _, value in points],
        "percentiles_ns": {key[1:].replace("_", "."): latency[key] for key in PERCENTILES}
        | {"100": latency["max"]},
    }


def _order(document: Document) -> str:
    """Say whether the colours are those of random requests."""
    rw = str((document.get("workload") or {}).get("rw", "rand"))
    return "rand" if rw.startswith("rand") else ""
