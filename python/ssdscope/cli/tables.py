"""Runs as tables for people: one row per direction, in the manner of iostat."""

from typing import Any

from ssdscope.cli.layout import table
from ssdscope.cli.terminal import paragraph
from ssdscope.units import format_binary, format_capacity, format_duration

_LATENCY_COLUMNS = ("mean", "p50", "p90", "p99", "p99_9", "max")
_ATTRIBUTION_SHARE_SHOWN = 0.001


def run_text(title: str, record: dict[str, Any]) -> str:
    """Lay out the document of a run or replay."""
    target = record["target"]
    state = f", {target['state']}" if target["state"] else ""
    elapsed = format_duration(record["elapsed_ns"])
    bytes_ = target["capacity_bytes"]  # of an imported log nobody knows it
    capacity = "" if bytes_ is None else f", {format_capacity(bytes_)}"
    parts = [
        paragraph(f"{target['uri']}  {target['kind']}{capacity}{state}"),
        paragraph(f"{title}: {record['requests']:,} requests in {elapsed}{_trace(record)}"),
        "",
        _directions(record),
    ]
    for part, label in _parts(record):
        parts += [_attribution(part, name, label) for name in ("read", "write") if part[name]]
    if record["counters"]:
        parts.append(_counters(record["counters"]))
    if record.get("verify"):
        parts.append(_verified(record["verify"]))
    if "timeline" in record:
        from ssdscope.cli.timeline_text import timeline_text
        from ssdscope.results.timeline import timeline_of

        shown = timeline_of(record)
        parts.append("no request was served over time" if shown is None else timeline_text(shown))
    return "\n".join(part for part in parts if part is not None)


def _verified(about: dict[str, Any]) -> str:
    if about["state"] == "skipped":
        return "verify: nothing was compared"
    checked, wrong = about["checked_bytes"], about["mismatched_bytes"]
    after = "" if about["state"] == "done" else f", then {about['state']}"
    found = f"{format_binary(wrong)} not as written" if wrong else "all as written"
    return paragraph(f"verify {about['method']}: {format_binary(checked)} compared{after}, {found}")


TRACED_HEADER = ("", "IOPS", "MiB/s", "mean us", "±95 %", "p50", "p90", "p99", "p99.9", "max")


def _directions(record: dict[str, Any]) -> str | None:
    ran = [
        (f"{label}{name}", part[name])
        for part, label in [*_parts(record), *_total(record)]
        for name in ("read", "write")
        if part[name]
    ]
    if not ran:
        return "no reads and no writes were served"
    unit, scale = _latency_unit([stats["latency_ns"]["mean"] for _, stats in ran])
    header = ["", "IOPS", "MiB/s", f"mean {unit}", "±95 %"]
    header += [column.replace("_", ".") for column in _LATENCY_COLUMNS[1:]]
    rows = [[name, *_row(stats, scale)] for name, stats in ran]
    return table(header, rows + traced_rows(record.get("trace"), scale))


def traced_rows(trace: dict[str, Any] | None, scale: float) -> list[list[str]]:
    """Lay out the latencies that a trace brought along, a row per direction."""
    told = (trace or {}).get("latency_ns") or {}
    return [
        [f"{name}, as traced", "-", "-", *_latencies(told[name], scale)]
        for name in ("read", "write")
        if told.get(name)
    ]


def _parts(record: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Give the flows of a run with what to put before their directions; or the run itself."""
    flows = record.get("flows")
    return [(flow, f"{flow['name']} ") for flow in flows] if flows else [(record, "")]


def _total(record: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    return [(record, "all ")] if record.get("flows") else []


def _row(stats: dict[str, Any], scale: float) -> list[str]:
    return [
        _rate(stats["iops"]),
        _rate(stats["bandwidth_bytes_per_s"], 2**20),
        *_latencies(stats["latency_ns"], scale),
    ]


def _latencies(latency: dict[str, Any], scale: float) -> list[str]:
    low, high = latency["ci95_low"], latency["ci95_high"]
    interval = "-" if low is None or high is None else f"{(high - low) / 2 / scale:.2f}"
    return [
        f"{latency['mean'] / scale:,.2f}",
        interval,
        *(_time(latency[column], scale) for column in _LATENCY_COLUMNS[1:]),
    ]


def _time(time_ns: float | None, scale: float) -> str:
    """Write a time, or a dash for a percentile that too few requests lie beyond."""
    return "-" if time_ns is None else f"{time_ns / scale:,.2f}"


def _rate(value: float | None, scale: int = 1) -> str:
    """Write a rate to three digits or more; a run that took no time, on a null device, has none."""
    if value is None:
        return "-"
    return f"{value / scale:,.0f}" if value / scale >= 100 else f"{value / scale:.3g}"


def _latency_unit(means_ns: list[float]) -> tuple[str, float]:
    return ("ms", 1e6) if max(means_ns) >= 1e7 else ("us", 1e3)


def _attribution(record: dict[str, Any], name: str, label: str) -> str | None:
    causes = record[name]["attribution_ns"]
    if not causes:
        return None
    total = sum(causes.values())
    shown = sorted(causes.items(), key=lambda cause: -cause[1])
    parts = [
        f"{cause} {value / total:.1%}"
        for cause, value in shown
        if total and value / total >= _ATTRIBUTION_SHARE_SHOWN
    ]
    return paragraph(f"{label}{name} time went to: {', '.join(parts)}") if parts else None


def _counters(counters: dict[str, Any]) -> str:
    waf = counters["waf"]
    return paragraph(
        f"write amplification {'-' if waf is None else f'{waf:.3f}'}, "
        f"{counters['block_erases']:,} blocks erased, {counters['gc_runs']:,} collected, "
        f"{counters['gc_pages_moved']:,} pages moved"
    )


def _trace(record: dict[str, Any]) -> str:
    trace = record.get("trace")
    if not trace:
        return ""
    changed = [
        f"{trace[key]:,} {key}" for key in ("skipped", "expanded", "wrapped") if trace.get(key)
    ]
    told = f", {', '.join(changed)}" if changed else ""
    return f" ({trace['format']} over {format_duration(trace['span_ns'])}{told})"
