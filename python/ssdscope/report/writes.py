"""Writes on the page: what a burst takes, what the drive keeps up, and how its rate got there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.report import words
from ssdscope.report.parts import Document, burst_of, measured

WIDTH, HEIGHT = 120, 26
"""Of the small picture of a rate, in its own units."""


@dataclass(frozen=True)
class Write:
    """A row: one workload as a burst and as what is kept up, in words."""

    name: str
    depth: str
    burst: str
    burst_of: str
    sustained: str
    sustained_of: str
    bandwidth: str
    remark: str
    course: str
    course_words: str


def table(document: Document) -> list[Write]:
    """Lay out the writes that were to come to rest, each beside its burst."""
    return [_row(document, each) for each in document["performance"]["sustained"]]


def lead(document: Document) -> str:
    """Say what the figures of writes on this page are; nothing where nothing was written."""
    bursts = measured(document, sort="burst")
    if not bursts:
        return ""
    every = document["performance"]["sustained"]
    reached = sum(each["reached"] for each in every)
    told = (
        "A burst is so many writes from the state that the drive was in. Sustained is what the "
        "drive keeps up: it was written through with this very workload until the rate of five "
        "rounds, of a tenth of its capacity each, agreed within 5 % and sloped by at most 2 %. "
        "Other depths go on from there, in rounds that may be shorter."
    )
    if not every:
        return f"{told} All writes here are bursts: {_why_none(document)}."
    if reached < len(every):
        told += f" {reached} of {len(every)} came to rest; of the others there are bursts alone."
    return told


def _why_none(document: Document) -> str:
    if document["target"]["info"]["clock"] == "wall":
        return "a real drive is written through only with --budget full"
    return "none was to come to rest"


def _row(document: Document, row: Mapping[str, Any]) -> Write:
    burst = burst_of(document, row)
    kept = row if row["reached"] else None
    return Write(
        name=f"{words.pattern(row['rw'])}, {words.size(row['block_bytes'])}",
        depth=str(row["iodepth"]),
        burst=words.NOTHING if burst is None else words.time(burst["mean_ns"]),
        burst_of="" if burst is None else behind(burst),
        sustained=words.NOTHING if kept is None else words.time(kept["mean_ns"]),
        sustained_of="" if kept is None else behind(kept),
        bandwidth=words.NOTHING if kept is None else words.bandwidth(kept["bandwidth_bytes_per_s"]),
        remark=_remark(row),
        course=sparkline((row["course"] or {}).get("rates_bytes_per_s", [])),
        course_words=_course_words(row["course"]),
    )


def behind(row: Mapping[str, Any]) -> str:
    """Say what is behind a number: interval, requests, and how long that was."""
    bursts = f"{row['bursts']} times " if row["bursts"] > 1 else ""
    requests = row["requests"] // row["bursts"]
    lasted = words.time(row["duration_ns"] / row["bursts"])
    told = f"{bursts}{requests:,} in {lasted}"
    if row["ci95_low_ns"] is None:
        return told
    low, high = max(row["ci95_low_ns"], 0.0), row["ci95_high_ns"]
    return f"{words.span(low, high)} · {told}"


def _remark(row: Mapping[str, Any]) -> str:
    if row["reached"] or not row["course"]:
        return str(row["remark"] or "")
    course = row["course"]
    written = words.capacity(course["bytes_written"])
    needed = course["least_bytes"]
    of = "" if needed is None else f" of {words.capacity(needed)} it takes"
    return f"{row['remark']}, after {written}{of}"


def _course_words(course: Mapping[str, Any] | None) -> str:
    rates = (course or {}).get("rates_bytes_per_s", [])
    if not course or not rates:
        return "nothing"
    first, last = words.bandwidth(rates[0]), words.bandwidth(rates[-1])
    return f"{first} to {last} in {len(rates)} rounds of {words.capacity(course['round_bytes'])}"


def sparkline(rates: Sequence[float]) -> str:
    """Draw rates over bytes written, from 0 up, as a small line."""
    if len(rates) < 2:
        return ""
    top = max(rates)
    points = " ".join(
        f"{WIDTH * place / (len(rates) - 1):.1f},{1 + (HEIGHT - 2) * (1 - rate / top):.1f}"
        for place, rate in enumerate(rates)
    )
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true"><polyline points="{points}" fill="none" stroke="var(--s6)" '
        'stroke-width="1.6" vector-effect="non-scaling-stroke"/></svg>'
    )
