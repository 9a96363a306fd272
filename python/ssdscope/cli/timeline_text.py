"""The rate over time as text: a picture that needs no colour, and its drops as sentences."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ssdscope.cli import terminal
from ssdscope.cli.terminal import paragraph
from ssdscope.plots.style import count_label
from ssdscope.results.drops import no_drop
from ssdscope.results.timeline import PERCENTILES, Series, Timeline
from ssdscope.units import format_duration

BLOCKS = " ▁▂▃▄▅▆▇█"
ROWS = 6
"""Height of the picture."""
USUAL_COLUMNS, MOST_COLUMNS, LEAST_COLUMNS = 80, 120, 24
"""Of the terminal: where there is none, and what a picture takes at most and at least."""
MARGIN = 9
"""Of the labels to the left of the picture."""
MOST_DROPS = 6
"""Told one by one; the others by their causes."""
NARROW = 1.02
"""Latencies that differ by less make a flat line."""


def timeline_text(timeline: Timeline) -> str:
    """Draw the rate and the percentiles over time, and name the drops."""
    room = min(max(terminal.width() or USUAL_COLUMNS, LEAST_COLUMNS), MOST_COLUMNS)
    columns = _columns(len(timeline), room - MARGIN - 2)
    document = timeline.document
    interval = format_duration(document["interval_ns"])
    count = f"{len(timeline)} window{'s' * (len(timeline) > 1)}"
    lines = [
        "",
        paragraph(f"IOPS over time, {count} of {interval}"),
        *_picture(timeline, columns),
    ]
    for flow in timeline.flows:
        lines += _line(f"{flow.name}, IOPS", flow.values("iops"), columns, count_label, log=False)
    for series in timeline.whole:
        for name in PERCENTILES:
            lines += _percentile(series, name, columns)
    return "\n".join([*lines, *_drops(timeline)])


def _columns(windows: int, most: int) -> list[range]:
    """Give the windows of each column: several where they are many, one several times if few."""
    begins = [at * windows // most for at in range(most + 1)]
    return [range(begin, max(end, begin + 1)) for begin, end in pairwise(begins)]


def _picture(timeline: Timeline, columns: Sequence[range]) -> list[str]:
    """Draw the rate as columns from zero up, with the time and the drops below."""
    served = timeline.iops * timeline.duration_s
    rates = [
        float(served[windows].sum() / max(timeline.duration_s[windows].sum(), 1e-12))
        for windows in columns
    ]
    highest = max(rates) or 1.0
    lines = []
    for row in reversed(range(ROWS)):
        label = count_label(highest) if row == ROWS - 1 else ""
        cells = (_block(ROWS * rate / highest - row) for rate in rates)
        lines.append(f"{label:>{MARGIN - 1}} │{''.join(cells)}".rstrip())
    lines.append(f"{'0':>{MARGIN - 1}} └{'─' * len(columns)}")
    if marks := _marks(timeline, columns):
        lines.append(f"{'drop':>{MARGIN - 1}}  {marks}")
    end = format_duration(timeline.end_s * 1e9)
    return [*lines, f"{'':{MARGIN}} 0{end:>{max(len(columns) - 1, len(end) + 1)}}"]


def _block(height: float) -> str:
    """Fill a cell up to a height; what is above nothing shows."""
    return BLOCKS[min(max(math.ceil(height * 8 - 1e-9), 0), 8)]


def _marks(timeline: Timeline, columns: Sequence[range]) -> str:
    """Give the numbers of the drops that are told one by one, where they begin."""
    marks = [" "] * len(columns)
    numbers = {id(drop): number for number, drop in enumerate(_shown(timeline), start=1)}
    for drop in timeline.document["drops"]:
        first = drop["windows"][0]
        at = next(place for place, windows in enumerate(columns) if first in windows)
        if marks[at] == " ":
            marks[at] = str(numbers.get(id(drop), "+"))
    return "".join(marks).rstrip()


def _percentile(series: Series, name: str, columns: Sequence[range]) -> list[str]:
    values = series.values(f"{name}_ns")
    if np.isnan(values).all():
        needs = {"p50": 20, "p99": 1_000}[name]
        return [paragraph(f"{series.name} {name}: no {needs:,} requests to tell it by")]
    widest = max(series.columns[f"{name}_windows"])
    over = f", of up to {widest} windows together" if widest > 1 else ""
    title = f"{series.name} {name}"
    return _line(title, values, columns, format_duration, log=True, remark=over)


def _line(
    title: str,
    values: Any,
    columns: Sequence[range],
    written: Any,
    *,
    log: bool,
    remark: str = "",
) -> list[str]:
    """Draw a line of one row: the highest of each column, between the least and the highest."""
    known = values[~np.isnan(values)]
    low, high = float(known.min()), float(known.max())
    span = f"{written(low)} to {written(high)}" if high > low * NARROW else written(high)
    cells = []
    for windows in columns:
        some = values[windows]
        some = some[~np.isnan(some)]
        cells.append(_level(float(some.max()), low, high, log=log) if some.size else " ")
    return [paragraph(f"{title}: {span}{remark}"), f"{'':{MARGIN}} {''.join(cells)}".rstrip()]


def _level(value: float, low: float, high: float, *, log: bool) -> str:
    if high <= low * NARROW:
        return BLOCKS[1]
    if log and low > 0:
        share = math.log(value / low) / math.log(high / low)
    else:
        share = (value - low) / (high - low)
    return BLOCKS[1 + round(share * 7)]


def _shown(timeline: Timeline) -> list[dict[str, Any]]:
    """Choose the drops that are told one by one: those in which most is lost, in order."""
    drops = list(timeline.document["drops"])

    def lost(drop: dict[str, Any]) -> float:
        seconds = float(timeline.duration_s[drop["windows"]].sum())
        return float((drop["iops_before"] - drop["iops"]) * seconds)

    worst = sorted(drops, key=lost, reverse=True)[:MOST_DROPS]
    return [drop for drop in drops if any(drop is each for each in worst)]


def _drops(timeline: Timeline) -> list[str]:
    """Say of each drop when, how far and why."""
    drops = timeline.document["drops"]
    if not drops:
        return [paragraph(no_drop(timeline))]
    shown = _shown(timeline)
    lines = [
        paragraph(f"drop {number}: {in_a_sentence(drop)}", MOST_COLUMNS)
        for number, drop in enumerate(shown, start=1)
    ]
    rest = Counter(
        drop["words"].split(";")[0].rstrip("(0123456789.% )")
        for drop in drops
        if not any(drop is each for each in shown)
    )
    if rest:
        told = "; ".join(f"{words} ({count})" for words, count in rest.most_common())
        lines.append(paragraph(f"{sum(rest.values())} smaller ones (+): {told}", MOST_COLUMNS))
    return lines


def in_a_sentence(drop: dict[str, Any]) -> str:
    """Say when a rate fell, from what to what, until when, and why."""
    begin, end = drop["begin_ns"], drop["end_ns"]
    lasts = "to the end" if end is None else f"for {format_duration(end - begin)}"
    rates = f"{count_label(drop['iops_before'])} to {count_label(drop['iops'])} IOPS"
    words = drop["words"]
    return f"at {format_duration(begin)}, {lasts}: {rates}. {words[0].upper()}{words[1:]}"
