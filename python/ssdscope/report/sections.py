"""The document turned into figures and tables: what the template sets on the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.plots import CAUSE_COLOURS, PAGE, charts, inline_svg
from ssdscope.report import words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = Mapping[str, Any]
BARS_AT_DEPTHS = (1, 16)
BARS_AT_SIZES = (4096, 262_144)


@dataclass(frozen=True)
class Table:
    """A table: texts only, escaped by the template."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Chart:
    """A picture with its words and its numbers.

    Attributes
    ----------
    svg
        Made by us from numbers; the only text in the page that is not escaped again.
    wide
        Whether it takes the whole width.
    """

    id: str
    title: str
    caption: str
    svg: str
    table: Table | None = None
    wide: bool = False


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


@dataclass(frozen=True)
class Tile:
    """One number at the top of the page."""

    name: str
    value: str
    note: str


def _chart(
    name: str,
    title: str,
    caption: str,
    figure: "Figure",
    table: Table | None = None,
    *,
    wide: bool = False,
) -> Chart:
    return Chart(name, title, caption, inline_svg(figure, name, f"{title}. {caption}"), table, wide)


def measured(document: Document, **wanted: Any) -> list[Mapping[str, Any]]:
    """Give the measured points of the grid that match."""
    return [
        point
        for point in document["performance"]["points"]
        if point["failure"] is None
        and point["split"] == "grid"
        and all(point[key] == value for key, value in wanted.items())
    ]


def finding(document: Document, name: str) -> Mapping[str, Any] | None:
    """Give the finding on a property, if it was probed."""
    return next((each for each in document["findings"] if each["property"] == name), None)


def tiles(document: Document) -> list[Tile]:
    """Give the numbers a reader looks for first."""
    shown = [Tile("Capacity", words.capacity(document["target"]["capacity_bytes"]), "exported")]
    small = measured(document, rw="randread", block_bytes=4096, iodepth=1)
    if small:
        tail = f"p99 {words.time(small[0]['p99_ns'])}"
        shown.append(Tile("4 KiB random read", words.time(small[0]["p50_ns"]), f"median · {tail}"))
    written = measured(document, rw="randwrite", block_bytes=4096, iodepth=1)
    if written:
        tail = f"p99 {words.time(written[0]['p99_ns'])}"
        shown.append(
            Tile("4 KiB random write", words.time(written[0]["p50_ns"]), f"median · {tail}")
        )
    reads = measured(document, rw="randread", block_bytes=4096)
    if reads:
        best = max(reads, key=lambda point: float(point["iops"]))
        note = f"4 KiB reads a second, depth {best['iodepth']}"
        shown.append(Tile("Most IOPS", words.iops(best["iops"]), note))
    everything = [p for p in measured(document) if "read" in p["rw"]]
    if everything:
        best = max(everything, key=lambda point: float(point["bandwidth_bytes_per_s"]))
        where = f"{words.size(best['block_bytes'])}, depth {best['iodepth']}"
        shown.append(Tile("Read bandwidth", words.bandwidth(best["bandwidth_bytes_per_s"]), where))
    knee = finding(document, "queue_depth_knee")
    if knee is not None and knee["outcome"] == "detected":
        note = f"95 %: {words.interval(knee)}"
        shown.append(Tile("Queue-depth knee", f"{knee['value']:.3g}", note))
    return shown


def findings(document: Document) -> list[dict[str, str]]:
    """Give the rows of the table of findings."""
    rows = []
    for each in document["findings"]:
        key = str(each["property"])
        name, note = words.PROPERTY_NAMES.get(key, (key, ""))
        rows.append(
            {
                "key": key,
                "name": name,
                "note": note,
                "outcome": str(each["outcome"]),
                "mark": words.OUTCOME_MARKS[each["outcome"]],
                "value": words.value(each),
                "interval": words.interval(each),
                "remark": words.remark(each),
            }
        )
    return rows


def cautions(document: Document) -> list[str]:
    """Give the cautions of all findings, each once."""
    every = [text for each in document["findings"] for text in each["evidence"].get("cautions", [])]
    return list(dict.fromkeys(every))


def evidence_charts(document: Document) -> list[Chart]:
    """Draw the sweeps behind the findings."""
    shown = []
    alpha = finding(document, "read_latency_alpha_ns")
    if alpha is not None and "median_latency_ns" in alpha["evidence"]:
        shown.append(_size_chart(alpha["evidence"]))
    knee = finding(document, "queue_depth_knee")
    if knee is not None and "median_iops" in knee["evidence"]:
        shown.append(_depth_chart(knee))
    return shown


def _size_chart(evidence: Mapping[str, Any]) -> Chart:
    rows = [
        (words.size(size), words.time(middle), f"{words.time(low)} … {words.time(high)}")
        for size, middle, low, high in zip(
            evidence["sizes_bytes"],
            evidence["median_latency_ns"],
            evidence["median_low_ns"],
            evidence["median_high_ns"],
            strict=True,
        )
    ]
    caption = (
        f"Median of {evidence['blocks'] - evidence['blocks_dropped']} randomised blocks at "
        "depth 1, random offsets. "
    )
    if "alpha_ns" in evidence and not evidence["linear_everywhere"]:
        last = words.size(evidence["linear_region_bytes"][1])
        caption += f"The line holds up to {last}; dashed beyond."
    return _chart(
        "size-sweep",
        "Read latency against size",
        caption,
        charts.latency_by_size(evidence, PAGE),
        Table(("size", "median", "95 % interval"), rows),
    )


def _depth_chart(knee: Mapping[str, Any]) -> Chart:
    evidence = knee["evidence"]
    rows = [
        (str(depth), words.iops(rate), f"{words.iops(low)} … {words.iops(high)}")
        for depth, rate, low, high in zip(
            evidence["depths"],
            evidence["median_iops"],
            evidence["median_low_iops"],
            evidence["median_high_iops"],
            strict=True,
        )
    ]
    return _chart(
        "depth-sweep",
        "Reads per second against queue depth",
        f"Random reads of {words.size(evidence['request_bytes'])}; the knee is where 90 % of the "
        "highest rate is reached.",
        charts.rate_by_depth(evidence, knee, PAGE),
        Table(("depth", "IOPS", "95 % interval"), rows),
    )


def performance_charts(document: Document) -> list[Chart]:
    """Draw latency and bandwidth by pattern, size and depth, and the distributions."""
    shown: list[Chart] = []
    alone, deep = measured(document, iodepth=1), measured(document, iodepth=16)
    small = measured(document, block_bytes=4096)
    if len(alone) > 1:
        shown.append(_pattern_chart("latency-size", "Latency against size", alone, "block_bytes"))
    if len(deep) > 1:
        figure = charts.by_pattern(deep, "block_bytes", "bandwidth_bytes_per_s", PAGE)
        caption = "Each pattern with 16 requests in flight."
        shown.append(
            _chart("bandwidth-size", "Bandwidth against size", caption, figure, _points(deep))
        )
    if len(small) > 1:
        shown.append(_pattern_chart("latency-depth", "Latency against depth", small, "iodepth"))
    series = [each for each in document["performance"]["distributions"] if "latency_ns" in each]
    if series:
        shown.append(_distribution_chart(series))
    return shown


def _pattern_chart(name: str, title: str, points: Sequence[Mapping[str, Any]], x: str) -> Chart:
    figure = charts.by_pattern(points, x, "mean_ns", PAGE, low="ci95_low_ns", high="ci95_high_ns")
    fixed = "One request at a time" if x == "block_bytes" else "Requests of 4 KiB"
    caption = f"{fixed}. Mean and its 95 % interval, by access pattern."
    return _chart(name, title, caption, figure, _points(points))


def _points(points: Iterable[Mapping[str, Any]]) -> Table:
    rows = [
        (
            words.pattern(p["rw"]),
            words.size(p["block_bytes"]),
            str(p["iodepth"]),
            words.time(p["mean_ns"]),
            words.time(p["p50_ns"]),
            words.time(p["p99_ns"]),
            words.time(p["max_ns"]),
            words.iops(p["iops"]),
            words.bandwidth(p["bandwidth_bytes_per_s"]),
        )
        for p in points
    ]
    head = ("pattern", "size", "depth", "mean", "p50", "p99", "max", "IOPS", "bandwidth")
    return Table(head, rows)


def _distribution_chart(series: Sequence[Mapping[str, Any]]) -> Chart:
    percentiles = list(series[0]["percentiles_ns"])
    rows = [
        (str(each["name"]), *(words.time(each["percentiles_ns"][key]) for key in percentiles))
        for each in series
    ]
    head = ("workload", *(f"p{key}" if key != "100" else "max" for key in percentiles))
    return _chart(
        "distribution",
        "Share of requests slower than …",
        f"{series[0]['requests']:,} requests each; a line that falls steeply is a drive that "
        "keeps its word.",
        charts.exceedance(series, PAGE),
        Table(head, rows),
    )


def attribution(document: Document) -> Attribution | None:
    """Lay out where the time goes, for drives that can say."""
    points = [
        p
        for p in measured(document)
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
        rows.append(Bar(words.pattern(point["rw"]), where, words.time(total), segments))
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


def model_chart(document: Document) -> Chart | None:
    """Draw predictions against held-out measurements."""
    if not document["models"] or not document["models"][0]["held_out"]:
        return None
    rows = document["models"][0]["held_out"]
    return _predicted_chart(
        "model",
        "Predicted against measured",
        f"{len(rows)} workloads off the grid that the model has not seen; bars are 90 % intervals.",
        rows,
        "predicted mean latency",
    )


def model_rows(document: Document) -> Table | None:
    """Give the table of errors, the naive baseline among them."""
    if not document["models"]:
        return None
    rows = [
        (
            str(row["name"]),
            str(row["split"]),
            words.percent(row["mre"]),
            words.percent(row["median_ape"]),
            words.percent(row["p90_ape"]),
            words.NOTHING if row["coverage90"] is None else words.percent(row["coverage90"]),
            str(row["n_test"]),
        )
        for row in document["models"][0]["rows"]
    ]
    head = ("model", "points", "mean", "median", "p90", "in 90 %", "n")
    return Table(head, rows)


def twin_chart(document: Document) -> Chart | None:
    """Draw the twin's latencies against the drive's."""
    built = document["twin"]
    if built is None or not built.get("held_out"):
        return None
    errors = built["errors"]
    return _predicted_chart(
        "twin",
        "Twin against drive",
        f"{errors['n']} held-out reads: median error {words.percent(errors['median_ape'])}, "
        f"mean {words.percent(errors['mre'])}.",
        built["held_out"],
        "the twin's mean latency",
    )


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
    figure = charts.predicted(rows, PAGE, predicted_label=label)
    return _chart(name, title, caption, figure, table)


def trace_chart(document: Document) -> Chart | None:
    """Draw the trace's latency over time."""
    trace = document["performance"]["trace"]
    if trace is None or not trace.get("windows"):
        return None
    width = trace["windows"]["width_s"]
    rows = [
        (
            direction,
            f"{trace[direction]['requests']:,}",
            *(
                words.time(trace[direction]["latency_ns"][key])
                for key in ("mean", "p50", "p99", "max")
            ),
        )
        for direction in ("read", "write")
        if trace[direction] is not None
    ]
    return _chart(
        "trace",
        f"Replay of {trace['name']}",
        f"{trace['requests']:,} requests at the trace's own times; windows of {width:.3g} s.",
        charts.timeline(trace["windows"], PAGE),
        Table(("direction", "requests", "mean", "p50", "p99", "max"), rows),
        wide=True,
    )


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
    trace = document["performance"]["trace"]
    if trace is not None and "failure" in trace:
        told.append(f"trace {trace['name']}: {trace['failure']}")
    return told


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
