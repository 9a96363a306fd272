"""The document turned into what stands on the page besides the charts."""

from collections.abc import Mapping
from typing import Any

from ssdscope.findings import DEPTH_SWEEP, Detected, Findings
from ssdscope.report import words
from ssdscope.report.parts import Document, Table, Tile, best_known, measured


def tiles(document: Document, found: Findings) -> list[Tile]:
    """Give the numbers a reader looks for first."""
    shown = [Tile("Capacity", words.capacity(document["target"]["capacity_bytes"]), "exported")]
    small = measured(document, rw="randread", block_bytes=4096, iodepth=1)
    if small:
        shown.append(Tile("4 KiB random read", words.time(small[0]["mean_ns"]), _behind(small[0])))
    written = best_known(measured(document, rw="randwrite", block_bytes=4096, iodepth=1))
    if written:
        note = f"{written[0]['sort']} · {_behind(written[0])}"
        shown.append(Tile("4 KiB random write", words.time(written[0]["mean_ns"]), note))
    rates = _read_rates(document, found)
    if rates:
        depth = max(rates, key=lambda each: rates[each])
        note = f"4 KiB random reads, depth {depth}"
        shown.append(Tile("Most IOPS", words.iops(rates[depth]), note))
    everything = [p for p in measured(document) if "read" in p["rw"]]
    if everything:
        best = max(everything, key=lambda point: float(point["bandwidth_bytes_per_s"]))
        where = f"{words.size(best['block_bytes'])}, depth {best['iodepth']}"
        shown.append(Tile("Read bandwidth", words.bandwidth(best["bandwidth_bytes_per_s"]), where))
    knee = found.get("queue_depth_knee")
    if isinstance(knee, Detected):
        note = f"95 %: {words.interval(knee)}"
        shown.append(Tile("Queue-depth knee", f"{knee.value:.3g}", note))
    return shown


def _behind(point: Mapping[str, Any]) -> str:
    """Say what a mean rests on, and its 99th percentile if there is one."""
    tail = "" if point["p99_ns"] is None else f" · p99 {words.time(point['p99_ns'])}"
    return f"mean of {point['requests']:,}{tail}"


def _read_rates(document: Document, found: Findings) -> dict[int, float]:
    """Give 4 KiB reads per second by depth: of the grid, and of the deeper sweep of the probe."""
    reads = measured(document, rw="randread", block_bytes=4096)
    rates = {int(point["iodepth"]): float(point["iops"]) for point in reads}
    knee = found.get("queue_depth_knee")
    swept = None if knee is None else knee.evidence.exhibit(DEPTH_SWEEP)
    if knee and swept and knee.evidence.figures.get("request_bytes") == 4096:
        rates |= dict(zip(map(int, swept.series[0].x), swept.series[0].y, strict=True))
    return rates


def findings(found: Findings) -> list[dict[str, str]]:
    """Give the rows of the table of findings."""
    return [
        {
            "key": each.name,
            "name": each.about.name,
            "note": each.about.note,
            "outcome": each.outcome,
            "mark": words.OUTCOME_MARKS[each.outcome],
            "value": words.value(each),
            "interval": words.interval(each),
            "written": words.written(each),
            "remark": words.remark(each),
        }
        for each in found.values()
    ]


def cautions(found: Findings) -> list[str]:
    """Give the cautions of all findings, each once, their key as words."""
    every = [text for each in found.values() for text in each.evidence.cautions]
    told = []
    for text in dict.fromkeys(every):
        key, colon, rest = str(text).partition(": ")
        told.append(f"{key.replace('_', ' ').capitalize()}{colon}{rest}")
    return told


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
    ]
    return Table(("stage", "took", "of", "requests", "written", "read"), rows)


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
