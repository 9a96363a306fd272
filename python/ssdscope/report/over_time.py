"""The rate of a run over time on a page: the chart with its numbers and drops, for every page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ssdscope.plots import LIGHT, save
from ssdscope.plots.timeline import timeline as figure_of
from ssdscope.report import templating, words
from ssdscope.report.parts import Chart, Table
from ssdscope.results.drops import FALL, no_drop
from ssdscope.results.files import creating, write_bytes, write_text
from ssdscope.results.marks import MADE_BY
from ssdscope.results.timeline import OPS, Timeline, timeline_of
from ssdscope.units import format_duration, format_percent

PICTURES = (".svg", ".png", ".pdf")
MOST_ROWS = 240
"""Of the table beside a chart; the CSV has all."""
MOST_DROPS = 12
"""Named one by one beside a chart."""


def chart(
    shown: Timeline, name: str, title: str, about: str = "", *, lists_drops: bool = True
) -> Chart:
    """Draw a timeline for a page.

    Parameters
    ----------
    shown
        The run over time.
    name
        Unique on the page.
    title
        Above the chart.
    about
        Sentences in front of the caption.
    lists_drops
        Whether the caption names the drops.
    """
    told = [*([about] if about else []), *_of_windows(shown)]
    told += _of_drops(shown) if lists_drops else []
    caption = " ".join(told)
    return Chart(name, title, caption, partial(figure_of, shown), numbers(shown), wide=True)


def _of_windows(shown: Timeline) -> Iterator[str]:
    """Say what the windows are."""
    interval = format_duration(shown.document["interval_ns"])
    yield f"Windows of {interval}; a request counts in the one in which it was served."
    series = shown.whole
    if any(max(each.columns["p99_windows"], default=0) > 1 for each in series):
        yield "Where a window has too few requests, a percentile is of several in a row."
    if shown.document.get("cut_off"):
        yield "The run went on beyond the last of them."
    if shown.document["drops"]:
        yield f"Shaded: drops of the rate by {format_percent(FALL)} or more."
    else:
        yield f"{no_drop(shown).capitalize()}."


def _of_drops(shown: Timeline) -> Iterator[str]:
    """Name the drops."""
    drops = shown.document["drops"]
    for number, drop in enumerate(drops[:MOST_DROPS], start=1):
        yield f"({number}) {drop_in_words(drop)}"
    if len(drops) > MOST_DROPS:
        yield f"{len(drops) - MOST_DROPS} more are in the numbers."


def drop_in_words(drop: Mapping[str, Any]) -> str:
    """Say when a rate fell, from what to what, and why."""
    begin, end = drop["begin_ns"], drop["end_ns"]
    lasts = "to the end" if end is None else f"for {format_duration(end - begin)}"
    fall = f"{words.iops(drop['iops_before'])} to {words.iops(drop['iops'])} IOPS"
    return f"At {format_duration(begin)}, {lasts}, {fall}: {drop['words']}."


def numbers(shown: Timeline) -> Table:
    """Give the windows as a table, of flows too; of many every n-th."""
    head = ("at", "requests", "IOPS", "bandwidth", "p50", "p99", "max", "drop")
    step = -(-len(shown) // MOST_ROWS) if len(shown) else 1
    several = len(shown.whole) + len(shown.flows) > 1
    rows = [
        (
            format_duration(row["begin_ns"]),
            *([f"{row['flow'] or 'all'} {row['op']}" if shown.flows else row["op"]] * several),
            f"{row['requests']:,}",
            words.iops(row["iops"]),
            words.bandwidth(row["bandwidth_bytes_per_s"]),
            *(words.time(row[key]) for key in ("p50_ns", "p99_ns", "max_ns")),
            words.NOTHING if row["drop"] is None else str(row["drop"]),
        )
        for place, row in enumerate(shown.rows())
        if place % len(shown) % step == 0
    ]
    return Table((head[0], *(["what"] * several), *head[1:]), rows)


def write(record: Mapping[str, Any], title: str, path: str) -> None:
    """Write the timeline of a run; the ending says as what.

    Parameters
    ----------
    record
        The document of a run, or of the stages of a job file.
    title
        What was run.
    path
        ``.html``: a page; ``.svg``, ``.png``, ``.pdf``: a picture; ``.csv``, ``.parquet``: a table.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    kind = Path(path).suffix
    if kind == ".html":
        write_text(path, page(record, title))
        return
    shown = timeline_of(record)
    if shown is None:
        shown = Timeline(record["timeline"])
    if kind in PICTURES:
        save(figure_of(shown, LIGHT), path)
    elif kind == ".csv":
        with creating(Path(path)) as text:
            text.write(shown.csv())
    else:
        write_bytes(path, _parquet(shown))


def _parquet(shown: Timeline) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = shown.table().replace_schema_metadata({"ssdscope.made_by": MADE_BY})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def page(record: Mapping[str, Any], title: str) -> str:
    """Make the page of a run: HTML that loads nothing."""
    shown = timeline_of(record)
    target = record["target"]
    return templating.fill(
        "run.html.j2",
        document=record,
        title=title,
        about=_about(record),
        rates=_rates(record),
        shown=None
        if shown is None
        else chart(shown, "timeline", "Rate and latency", lists_drops=False),
        drops=() if shown is None else [drop_in_words(each) for each in shown.document["drops"]],
        target=target["uri"],
    )


def _about(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say on what it ran, and how long."""
    target = record["target"]
    state = f", {target['state']}" if target.get("state") else ""
    return [
        ("target", f"{target['uri']}, {target['kind']}{state}"),
        ("requests", f"{record['requests']:,}"),
        ("took", format_duration(record["elapsed_ns"])),
        ("seed", str(record["seed"])),
    ]


def _rates(record: Mapping[str, Any]) -> Table:
    """Give the figures of the whole run, of each flow and direction."""
    flows = record.get("flows") or []
    parts = [*((f"{flow['name']} ", flow) for flow in flows), ("all " if flows else "", record)]
    rows = []
    for label, part in parts:
        for op in OPS:
            if not part.get(op):
                continue
            each = part[op]
            latency = each["latency_ns"]
            rows.append(
                (
                    f"{label}{op}",
                    f"{each['requests']:,}",
                    words.iops(each["iops"]),
                    words.bandwidth(each["bandwidth_bytes_per_s"]),
                    *(words.time(latency[key]) for key in ("mean", "p50", "p99", "p99_9", "max")),
                )
            )
    head = ("", "requests", "IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "max")
    return Table(head, rows)
