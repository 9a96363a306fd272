"""The charts of the page: what is drawn from which part of the document."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ssdscope.findings import Detected, Exhibit, Findings
from ssdscope.plots import charts
from ssdscope.report import over_time, words
from ssdscope.report.parts import Chart, Document, Table, burst_of, measured
from ssdscope.results.timeline import timeline_of
from ssdscope.targets.traces import is_synthetic
from ssdscope.workloads.steady import RANGE_MAX, WINDOW_ROUNDS

SETTLING_DEPTH = 16
SETTLING_COLUMNS = 10
CLIFF_SHARE = 0.5
"""Of the whole fall, on a log scale, that one round must bring to be called a cliff."""
FILLING_ROUNDS = 4
"""Of a course; fewer show no curve."""
MOST_ROWS = 128
"""Of a series in the table beside a chart."""


def numbers(shown: Exhibit) -> Table:
    """Give the points of an exhibit as a table; of a long series as many as one can read."""
    rows = []
    for each in shown.series:
        step = max(1, len(each.x) // MOST_ROWS)
        nothing = (None,) * len(each.x)
        points = list(zip(each.x, each.y, each.low or nothing, each.high or nothing, strict=True))
        rows += [
            (
                each.name,
                words.of_unit(x, shown.x.unit),
                words.of_unit(y, shown.y.unit),
                words.NOTHING
                if low is None or high is None
                else " … ".join(words.of_unit(end, shown.y.unit) for end in (low, high)),
            )
            for x, y, low, high in points[::step]
        ]
    return Table(("series", shown.x.label, shown.y.label, "95 % interval"), rows)


def performance_charts(document: Document) -> list[Chart]:
    """Draw latency and bandwidth by pattern, size and depth, and the distributions."""
    shown: list[Chart] = []
    alone, deep = measured(document, iodepth=1), measured(document, iodepth=16)
    small = measured(document, block_bytes=4096)
    if len(alone) > 1:
        shown.append(_pattern_chart("latency-size", "Latency against size", alone, "block_bytes"))
    if len(deep) > 1:
        draw = partial(charts.by_pattern, deep, "block_bytes", "bandwidth_bytes_per_s")
        caption = f"Each pattern with 16 requests in flight. {_remarks(deep)}".rstrip()
        shown.append(
            Chart("bandwidth-size", "Bandwidth against size", caption, draw, _points(deep))
        )
    if len(small) > 1:
        shown.append(_pattern_chart("latency-depth", "Latency against depth", small, "iodepth"))
    series = [each for each in document["performance"]["distributions"] if "latency_ns" in each]
    if series:
        shown.append(distribution(series, f"{_counts(series)} random requests of 4 KiB each."))
    if (course := _over_time(document)) is not None:
        shown.append(course)
    return shown


def _over_time(document: Document) -> Chart | None:
    """Draw the rate of small random requests over time; nothing where none could be served."""
    ran = document["performance"].get("over_time")
    shown = None if ran is None else timeline_of(ran)
    if ran is None or shown is None:
        return None
    what = f"{ran['requests']:,} {words.pattern(ran['rw'])}s of {words.size(ran['block_bytes'])}"
    about = f"{what} at depth {ran['iodepth']}, from the state in which the drive was found."
    return over_time.chart(shown, "over-time", "Rate over time", about)


def _pattern_chart(name: str, title: str, points: Sequence[Mapping[str, Any]], x: str) -> Chart:
    draw = partial(charts.by_pattern, points, x, "mean_ns", low="ci95_low_ns", high="ci95_high_ns")
    fixed = "One request at a time" if x == "block_bytes" else "Requests of 4 KiB"
    caption = f"{fixed}. Mean and its 95 % interval, by access pattern. {_remarks(points)}".rstrip()
    return Chart(name, title, caption, draw, _points(points))


def _remarks(points: Sequence[Mapping[str, Any]]) -> str:
    """Say what a dashed line is, and which figures are bounds, where there are any."""
    burst = any(p["sort"] == "burst" for p in points)
    dashed = "Dashed: bursts of writes; solid: what the drive keeps up." if burst else ""
    return f"{dashed} {words.bounds(points)}".strip()


def _points(points: Iterable[Mapping[str, Any]]) -> Table:
    rows = [
        (
            words.pattern(p["rw"], p["sort"]),
            words.size(p["block_bytes"]),
            str(p["iodepth"]),
            f"{p['requests']:,}",
            words.time(p["duration_ns"]),
            *(
                words.most(words.time(p[each]), p)
                for each in ("mean_ns", "p50_ns", "p99_ns", "max_ns")
            ),
            words.least(words.iops(p["iops"]), p),
            words.least(words.bandwidth(p["bandwidth_bytes_per_s"]), p),
        )
        for p in points
    ]
    head = (
        "pattern",
        "size",
        "depth",
        "requests",
        "in",
        "mean",
        "p50",
        "p99",
        "max",
        "IOPS",
        "bandwidth",
    )
    return Table(head, rows)


def distribution(series: Sequence[Mapping[str, Any]], what: str) -> Chart:
    """Draw latency by percentile.

    Parameters
    ----------
    series
        As `charts.by_percentile` takes them, each with ``percentiles_ns`` by percent.
    what
        What they are of, in a sentence.
    """
    percentiles = list(series[0]["percentiles_ns"])
    rows = [
        (
            str(each["name"]),
            f"{each['requests']:,}",
            *(words.time(each["percentiles_ns"][key]) for key in percentiles),
        )
        for each in series
    ]
    head = ("workload", "requests", *(f"p{key}" if key != "100" else "max" for key in percentiles))
    return Chart(
        "distribution",
        "Latency by percentile",
        f"{what} A flat line is a drive that keeps its word. A percentile needs ten requests "
        "beyond it.",
        partial(charts.by_percentile, series),
        Table(head, rows),
    )


def _counts(series: Sequence[Mapping[str, Any]]) -> str:
    counts = sorted({each["requests"] for each in series})
    return " or ".join(f"{count:,}" for count in counts)


def twin_chart(document: Document) -> Chart | None:
    """Draw the twin's latencies against the drive's."""
    built = document["twin"]
    if built is None or not built.get("held_out"):
        return None
    return _predicted_chart(
        "twin",
        "Twin against drive",
        f"{len(built['held_out'])} workloads that it was not fitted to; on the line it is equal.",
        built["held_out"],
        "the twin's mean latency",
    )


def settling_chart(document: Document) -> Chart | None:
    """Draw how rates of writes changed while the drive was written through.

    None where no workload wrote enough to fill it: a few early rounds show no course.
    """
    capacity = int(document["target"]["info"]["capacity_bytes"])
    rows = [
        row for row in document["performance"]["sustained"]
        if row["iodepth"] == SETTLING_DEPTH and row["course"]
        and row["course"]["bytes_written"] >= capacity
    ]  # fmt: skip
    if not rows:
        return None
    courses = [_course(document, row) for row in _ends_of_sizes(rows)]
    fallen = any(each["fall"] is not None for each in courses)
    caption = (
        f"Depth {SETTLING_DEPTH}; each point is one round, the first is the burst before. "
        f"{'▼ marks where the rate falls most, for good. ' if fallen else ''}"
        "Broad: the rounds that agree, whose rate is the sustained one."
    )
    table = Table(
        ("workload", *(f"{number}" for number in range(1, SETTLING_COLUMNS + 1)), "last"),
        [
            (each["name"], *_rates(each["rates_bytes_per_s"]))
            for each in courses
        ],
    )  # fmt: skip
    draw = partial(charts.settling, courses, capacity)
    return Chart("settling", "Writes until they are steady", caption, draw, table, wide=True)


def filling_chart(document: Document, found: Findings) -> Chart | None:
    """Draw the rate of large writes in order over what was written, as a fast region fills.

    None where neither a region nor a buffer was found, and no round brings most of a fall.
    """
    rows = [
        row for row in document["performance"]["sustained"]
        if row["rw"] == "write" and row["iodepth"] == SETTLING_DEPTH and row["course"]
        and len(row["course"]["rates_bytes_per_s"]) >= FILLING_ROUNDS
    ]  # fmt: skip
    if not rows:
        return None
    row = max(rows, key=lambda each: int(each["block_bytes"]))
    rates = [float(rate) for rate in row["course"]["rates_bytes_per_s"]]
    step = int(row["course"]["round_bytes"])
    written = [step * (place + 1) for place in range(len(rates))]
    places = {
        words.in_a_sentence(each.about.name): float(each.value)
        for key in ("pslc_bytes", "write_buffer_bytes")
        if isinstance(each := found.get(key), Detected) and float(each.value) >= step
    }
    fall, share = steepest_fall([], rates)
    if not places and (fall is None or share <= CLIFF_SHARE):
        return None
    places |= {"written once over": float(document["target"]["info"]["capacity_bytes"])}
    title = f"Writes in order of {words.size(row['block_bytes'])}, as the drive fills"
    rows_of_table = [
        (words.capacity(at), words.bandwidth(rate)) for at, rate in zip(written, rates, strict=True)
    ]
    return Chart(
        "filling", title, _filling_words(written, rates, fall),
        partial(charts.filling, written, rates, places),
        Table(("written", "rate of the round"), rows_of_table), wide=True,
    )  # fmt: skip


def _filling_words(written: Sequence[int], rates: Sequence[float], fall: int | None) -> str:
    """Say where the rate falls, from what to what; or how far it held."""
    depth = f"{SETTLING_DEPTH} in flight, in rounds of {words.capacity(written[0])}."
    if fall is None or not fall:
        return f"{depth} The rate held for all {words.capacity(written[-1])} that were written."
    first, before, after = (words.bandwidth(rates[at]) for at in (0, fall - 1, fall))
    begins = "" if first == before else f" The rate begins at {first}."
    place = words.capacity(written[fall - 1])
    return f"{depth}{begins} After {place} it falls from {before} to {after}."


def _ends_of_sizes(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Keep the smallest and the largest size of each pattern: more lines hide each other."""
    kept: list[Mapping[str, Any]] = []
    for rw in ("randwrite", "write"):
        some = sorted((r for r in rows if r["rw"] == rw), key=lambda r: int(r["block_bytes"]))
        kept += some[:1] + (some[-1:] if len(some) > 1 else [])
    return kept


def _course(document: Document, row: Mapping[str, Any]) -> dict[str, Any]:
    """Give a course with its marks."""
    burst = burst_of(document, row)
    start = None if burst is None else float(burst["bandwidth_bytes_per_s"])
    rates = [float(rate) for rate in row["course"]["rates_bytes_per_s"]]
    fall, share = steepest_fall([] if start is None else [start], rates)
    return {
        "name": f"{words.pattern(row['rw'])}, {words.size(row['block_bytes'])}",
        "rw": row["rw"],
        "start_bytes_per_s": start,
        "rates_bytes_per_s": rates,
        "round_bytes": row["course"]["round_bytes"],
        "fall": fall,
        "fall_name": "cliff" if share > CLIFF_SHARE else "steepest fall",
        "steady_rounds": WINDOW_ROUNDS if row["reached"] else 0,
    }


def steepest_fall(before: Sequence[float], rates: Sequence[float]) -> tuple[int | None, float]:
    """Find the round at which a rate falls most and does not come back.

    Parameters
    ----------
    before
        Rates before the first round, if any.
    rates
        Of the rounds.

    Returns
    -------
    place, share
        Of the round in `rates`, and its share of the whole fall, as a ratio of logarithms. None
        where no fall exceeds the range within which rounds count as equal.
    """
    every = [*before, *rates]
    falls = [
        (every[at - 1] / every[at], at)
        for at in range(1, len(every))
        if max(every[at:]) < every[at - 1] * (1 - RANGE_MAX)
    ]
    if not falls:
        return None, 0.0
    ratio, at = max(falls)
    whole = math.log(max(every) / min(every[at:]))
    return at - len(before), math.log(ratio) / whole


def _rates(rates: Sequence[float]) -> tuple[str, ...]:
    """Write the first rounds and the last; no cell stays empty."""
    shown = [words.bandwidth(rate) for rate in rates[:SETTLING_COLUMNS]]
    shown += [words.NOTHING] * (SETTLING_COLUMNS - len(shown))
    return (*shown, words.bandwidth(rates[-1]))


def _predicted_chart(
    name: str, title: str, caption: str, rows: Sequence[Mapping[str, Any]], label: str
) -> Chart:
    table = Table(
        ("pattern", "size", "depth", "measured", "predicted", "error"),
        [
            (
                words.pattern(row["rw"]),
                words.size(row["block_bytes"]),
                str(row["iodepth"]),
                words.time(row["mean_ns"]),
                words.time(row["predicted_ns"]),
                f"{100 * (row['predicted_ns'] / row['mean_ns'] - 1):+.1f} %",
            )
            for row in rows
        ],
    )
    draw = partial(charts.predicted, rows, predicted_label=label)
    return Chart(name, title, caption, draw, table)


def trace_chart(document: Document) -> Chart | None:
    """Draw the rate and the latency of a replayed trace over time."""
    trace = document["performance"]["trace"]
    shown = None if trace is None else timeline_of(trace)
    if trace is None or shown is None:
        return None
    traced = (trace["trace"] or {}).get("latency_ns") or {}
    told = [
        (direction, f"{trace[direction]['requests']:,}", trace[direction]["latency_ns"])
        for direction in ("read", "write")
        if trace[direction] is not None
    ]
    told += [(f"{name}, as traced", "", traced[name]) for name in traced if traced[name]]
    rows = [
        (name, count, *(words.time(latency[key]) for key in ("mean", "p50", "p99", "max")))
        for name, count, latency in told
    ]
    drawn = over_time.chart(shown, "trace", f"Replay of {trace['name']}", _about_trace(trace))
    return replace(drawn, table=Table(("direction", "requests", "mean", "p50", "p99", "max"), rows))


def _about_trace(trace: Mapping[str, Any]) -> str:
    """Say what was replayed, and what was done to it so that it fits the drive."""
    told = trace["trace"]
    parts = [f"This trace is {told['remark']}."] if is_synthetic(told) else []
    parts.append(f"{trace['requests']:,} requests at the trace's own times.")
    if trace["cut_off"]:
        parts.append("Cut off where its share of the time for this page was spent.")
    if told.get("packed_bytes"):
        packed = words.capacity(told["packed_bytes"])
        parts.append(f"The megabytes it touches are packed in address order into {packed}.")
    if told["expanded"]:
        parts.append(f"{told['expanded']:,} requests widened to the drive's smallest unit.")
    if told["skipped"]:
        parts.append(f"{told['skipped']:,} skipped.")
    if told.get("truncated"):
        parts.append(f"It breaks off: {told['damage']}.")
    return " ".join(parts)
