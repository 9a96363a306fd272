"""Where the time goes: bars of HTML, which a phone can show and a reader can be read."""

from collections.abc import Mapping
from dataclasses import dataclass

from ssdscope.plots import CAUSE_COLOURS
from ssdscope.report import words
from ssdscope.report.parts import Document, Table, best_known, measured

BARS_AT_DEPTHS = (1, 16)
BARS_AT_SIZES = (4096, 262_144)


@dataclass(frozen=True)
class Segment:
    """A part of a bar: its cause, colour role, share in percent, and time in words."""

    name: str
    colour: str
    percent: float
    time: str


@dataclass(frozen=True)
class Bar:
    """One workload's mean latency, in parts."""

    name: str
    where: str
    total: str
    segments: list[Segment]


@dataclass(frozen=True)
class Attribution:
    """Where the time goes: legend (name, colour role), bars, and their numbers."""

    legend: list[tuple[str, str]]
    bars: list[Bar]
    table: Table


def attribution(document: Document) -> Attribution | None:
    """Lay out where the time goes, for drives that can say."""
    points = [
        p
        for p in best_known(measured(document))
        if p["attribution_ns"] is not None
        and p["iodepth"] in BARS_AT_DEPTHS
        and p["block_bytes"] in BARS_AT_SIZES
        and sum(p["attribution_ns"].values()) > 0
    ]
    if not points:
        return None
    parts = [_parts(p["attribution_ns"]) for p in points]
    causes = [cause for cause in (*CAUSE_COLOURS, "other") if any(each[cause] for each in parts)]
    legend = [(cause.replace("_", " "), CAUSE_COLOURS.get(cause, "s8")) for cause in causes]
    rows = []
    for point, part in zip(points, parts, strict=True):
        total = sum(part.values())
        segments = [
            Segment(name, colour, 100 * part[cause] / total, words.time(part[cause]))
            for cause, (name, colour) in zip(causes, legend, strict=True)
            if part[cause]
        ]
        where = f"{words.size(point['block_bytes'])}, depth {point['iodepth']}"
        rows.append(
            Bar(words.pattern(point["rw"], point["sort"]), where, words.time(total), segments)
        )
    table = Table(
        ("workload", *(name for name, _ in legend)),
        [
            (f"{bar.name}, {bar.where}", *(words.time(part[cause]) for cause in causes))
            for bar, part in zip(rows, parts, strict=True)
        ],
    )
    return Attribution(legend, rows, table)


def _parts(attribution_ns: Mapping[str, float]) -> dict[str, float]:
    """Keep the causes that have a colour, and sum up the others."""
    known = {cause: attribution_ns.get(cause, 0.0) for cause in CAUSE_COLOURS}
    other = sum(value for cause, value in attribution_ns.items() if cause not in CAUSE_COLOURS)
    return known | {"other": other}
