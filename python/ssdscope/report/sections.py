"""The document turned into what stands on the page besides the charts."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ssdscope.findings import Findings
from ssdscope.report import words
from ssdscope.report.parts import Document, Table


def counts(found: Findings) -> list[tuple[str, str, int]]:
    """Count the answers of each kind that has any, and what was not tried: kind, mark, number."""
    by_kind = Counter(each.outcome if each.tried else words.NOT_TRIED for each in found.values())
    marks = words.OUTCOME_MARKS | {words.NOT_TRIED: words.NOT_TRIED_MARK}
    return [(kind, mark, by_kind[kind]) for kind, mark in marks.items() if by_kind[kind]]


def caution(text: str) -> str:
    """Write a caution as a sentence, its key as words."""
    key, colon, rest = str(text).partition(": ")
    told = f"{key.replace('_', ' ')}{colon}{rest}"
    return told[:1].upper() + told[1:]


def failures(document: Document) -> list[str]:
    """Name what could not be measured, with the reason."""
    told = [
        f"{words.pattern(p['rw'])} of {words.size(p['block_bytes'])} at depth {p['iodepth']}: "
        f"{p['failure']}"
        for p in document["performance"]["points"]
        if p["failure"] is not None
    ]
    told += [
        f"{each['name']}: {each['failure']}"
        for each in document["performance"]["distributions"]
        if "failure" in each
    ]
    course = document["performance"].get("over_time") or {}
    if "failure" in course:
        told.append(f"the rate over time: {course['failure']}")
    told += [
        f"{words.pattern(p['rw'])} of {words.size(p['block_bytes'])} at depth {p['iodepth']}, "
        f"brought to rest: {p['failure']}"
        for p in document["performance"]["sustained"]
        if p["failure"] is not None
    ]
    return told


def stages(document: Document) -> Table | None:
    """Give what each stage used of the budget."""
    used = document["provenance"].get("spent")
    if used is None:
        return None
    rows = [
        (
            str(each["name"]),
            f"{each['seconds']:.1f} s",
            words.NOTHING
            if each["allowed_seconds"] is None
            else f"{each['allowed_seconds']:.1f} s",
            f"{each['requests']:,}",
            words.capacity(each["bytes_written"]),
            words.capacity(each["bytes_read"]),
        )
        for each in used["stages"]
        if each["name"] != "trace" or document["performance"]["trace"] is not None
    ]
    return Table(("stage", "took", "of", "requests", "written", "read"), rows)


def left_out(document: Document) -> list[tuple[str, str]]:
    """Give what stages left out of what they are for, and why."""
    told = document["provenance"].get("outcomes") or {}
    return [(name, "; ".join(each["left_out"])) for name, each in told.items() if each["left_out"]]


def trace_failure(document: Document) -> str | None:
    """Say why a trace was not replayed."""
    trace = document["performance"]["trace"]
    if trace is None or "failure" not in trace:
        return None
    return f"{trace['name']} was not replayed: {trace['failure']}"


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Spread nested values over rows of key and text."""
    if isinstance(value, Mapping):
        return [row for key, each in value.items() for row in flat(each, _joined(name, key))]
    return [] if value is None else [(name, _text(value))]


def _joined(name: str, key: str) -> str:
    return f"{name}.{key}" if name else str(key)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
