"""What the page was made of, to take along: links that hold the data themselves."""

import base64
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.findings import Findings
from ssdscope.report import words
from ssdscope.report.document import CARRIED
from ssdscope.report.parts import Document
from ssdscope.results.record import strict_json

POINT_COLUMNS = (
    "rw", "block_bytes", "iodepth", "sort", "split", "requests", "duration_ns", "mean_ns",
    "ci95_low_ns", "ci95_high_ns", "p50_ns", "p99_ns", "max_ns", "iops", "bandwidth_bytes_per_s",
    "failure",
)  # fmt: skip
FINDING_COLUMNS = (
    "property", "outcome", "value", "unit", "interval_low", "interval_high", "candidates", "reason",
)  # fmt: skip


@dataclass(frozen=True)
class Download:
    """A file in a link: its name, what it holds, and a data URI."""

    name: str
    holds: str
    uri: str
    size: str


def downloads(document: Document, found: Findings) -> list[Download]:
    """Give everything as JSON, and the figures and findings as tables."""
    whole = strict_json(dict(document)) + "\n"
    points = [*document["performance"]["points"], *document["performance"]["sustained"]]
    rows = [_finding_row(each.to_json()) for each in found.values()]
    return [
        _download(CARRIED, "everything on this page", whole, "application/json"),
        _download("performance.csv", "what was measured, a row each",
                  _csv(POINT_COLUMNS, points), "text/csv"),
        _download("findings.csv", "properties and answers", _csv(FINDING_COLUMNS, rows),
                  "text/csv"),
    ]  # fmt: skip


def _finding_row(told: Mapping[str, Any]) -> dict[str, Any]:
    low, high = told["interval"] or (None, None)
    several = told["candidates"] or []
    return {**told, "interval_low": low, "interval_high": high,
            "candidates": " ".join(map(str, several))}  # fmt: skip


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _guarded(row.get(key)) for key in columns} for row in rows)
    return text.getvalue()


def _guarded(value: Any) -> Any:
    """Keep a spreadsheet from taking a text of the drive's for a formula."""
    if isinstance(value, str) and value[:1] in "=+-@\t":
        return f"'{value}"
    return value


def _download(name: str, holds: str, text: str, kind: str) -> Download:
    data = text.encode()
    uri = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return Download(name, holds, uri, words.capacity(len(data)))
