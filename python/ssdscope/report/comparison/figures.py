"""Curves of everything that is compared, on the same axes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ssdscope.plots import comparisons
from ssdscope.report import over_time, words
from ssdscope.report.comparison.inputs import Entry
from ssdscope.report.comparison.speeds import Group
from ssdscope.report.parts import Chart, Table
from ssdscope.results.timeline import timeline_of

MOST_CHARTS = 12


def ranking(group: Group, number: int) -> Chart:
    """Draw how many times slower each is than the first of a group."""
    rows = [
        {"name": each.entry.name, "value": each.slower.value, "half": each.slower.half}
        for each in group.ranking
    ]
    count = len(group.workloads)
    over = "" if count == 1 else f", the geometric mean over {count} shared workloads"
    return Chart(
        f"ranking-{number}",
        f"{group.name[:1].upper()}{group.name[1:]}: mean latency relative to the fastest",
        f"Times as long{over}; bars are 95 % intervals.",
        partial(comparisons.relative, rows),
        wide=True,
    )


def timelines(entries: Sequence[Entry]) -> list[Chart]:
    """Draw the rate over time of each run that has one (``run --timeline``)."""
    shown = ((each.name, timeline_of(each.document)) for each in entries)
    return [
        over_time.chart(timeline, f"timeline-{number}", name)
        for number, (name, timeline) in enumerate(shown)
        if timeline is not None
    ]


def curves(entries: Sequence[Entry]) -> list[Chart]:
    """Draw latency against size or depth, a line for each; all charts have one scale."""
    names = dict.fromkeys(str(p["curve"]) for each in entries for p in each.points)
    shown = []
    every = [float(p["mean_ns"]) for each in entries for p in each.points]
    for number, name in enumerate(list(names)[:MOST_CHARTS]):
        lines = [
            {"name": each.name, "place": place, "points": sorted(
                (p for p in each.points if p["curve"] == name), key=lambda p: float(p["x"])
            )}
            for place, each in enumerate(entries)
        ]  # fmt: skip
        lines = [line for line in lines if line["points"]]
        xs = {p["x"] for line in lines for p in _points(line)}
        if len(lines) < 2 or len(xs) < 2:
            continue
        draw = partial(comparisons.overlaid, lines, span_ns=(min(every), max(every)))
        shown.append(
            Chart(f"curve-{number}", f"Latency: {name}", _caption(lines), draw, _table(lines))
        )
    return shown


def _points(line: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = line["points"]
    return found


def _caption(lines: Sequence[Mapping[str, Any]]) -> str:
    bursts = any(p["sort"] == "burst" for line in lines for p in _points(line))
    told = "Mean and its 95 % interval; all charts have the same scale."
    return f"{told} Some writes are bursts, not what a drive keeps up." if bursts else told


def _table(lines: Sequence[Mapping[str, Any]]) -> Table:
    xs = sorted({float(p["x"]) for line in lines for p in _points(line)})
    axis = str(_points(lines[0])[0]["axis"])
    rows = []
    for x in xs:
        at = [
            next((words.time(p["mean_ns"]) for p in _points(line) if p["x"] == x), words.NOTHING)
            for line in lines
        ]
        rows.append((words.size(x) if axis == "size" else f"{x:g}", *at))
    return Table((axis, *(str(line["name"]) for line in lines)), rows)
