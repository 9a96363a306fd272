"""Results of fio as tables and as a page: what each drive did, over depth and jobs."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ssdscope.plots.depths import Line, Point, rate_and_latency
from ssdscope.report import templating, words
from ssdscope.report.parts import Chart, Table
from ssdscope.results.fio.folders import Found
from ssdscope.results.record import envelope
from ssdscope.sweep.imported import outcomes
from ssdscope.sweep.summary import Combination, combined, varied_names

DIRECTIONS = ("read", "write")
FIGURES = 7
"""Columns of figures at the end of a row of `runs`."""
MOST_CHARTS = 48
_AXES = {"iodepth": "depth of each job", "numjobs": "jobs"}
_KEYS = ("iops", "latency_ns.mean", "latency_ns.p50", "latency_ns.p99", "latency_ns.max")


def drives(found: Found) -> Table:
    """Return a row per drive: what was run on it, and by which fio."""
    rows = []
    for name, records in found.drives.items():
        plans = [flow for each in records for flow in _flows(each["workload"])]
        repeats = [
            max(map(len, each.values.values()), default=0) for each in _combinations(name, records)
        ]
        rows.append(
            (
                name,
                f"{len(records):,}",
                _listed(each["fio"]["version"] or "logs" for each in records),
                _listed(plan["rw"] for plan in plans),
                _listed(words.size(size) for size in _sizes(plans)),
                _span(plan["iodepth"] for plan in plans),
                _span(plan["numjobs"] for plan in plans),
                f"{min(repeats)}"
                if len(set(repeats)) == 1
                else f"{min(repeats)} to {max(repeats)}",
            )
        )
    return Table(("drive", "runs", "fio", "patterns", "sizes", "depths", "jobs", "repeats"), rows)


def runs(found: Found) -> Table:
    """Return a row per workload and direction: means over repetitions, with their intervals."""
    every = [
        each for name, records in found.drives.items() for each in _combinations(name, records)
    ]
    names = [name for name in varied_names(every) if name != "target"]
    several = len(found.drives) > 1
    rows = [
        (
            *([str(each.varied["target"])] if several else []),
            *(str(each.varied.get(name, words.NOTHING)) for name in names),
            way,
            *_figures(each, way),
        )
        for each in every
        for way in DIRECTIONS
        if each.mean(f"{way}.iops") or each.mean(f"{way}.latency_ns.mean")
    ]
    head = (*(["drive"] if several else []), *names, "", "runs", "IOPS", "bandwidth", "mean", "p50")
    return Table((*head, "p99", "max"), rows)


def _figures(each: Combination, way: str) -> tuple[str, ...]:
    count = max(map(len, each.values.values()))
    iops, moved = each.mean(f"{way}.iops"), each.mean(f"{way}.bandwidth_bytes_per_s")
    return (
        f"{count}",
        words.NOTHING if iops is None else f"{words.iops(iops.mean)}{_half(iops)}",
        words.bandwidth(None if moved is None else moved.mean),
        *(_time(each, f"{way}.latency_ns.{key}") for key in ("mean", "p50", "p99", "max")),
    )


def _half(mean: Any) -> str:
    known = mean.half_width < float("inf") and mean.mean
    return f" ± {words.percent(mean.half_width / mean.mean)}" if known else ""


def _time(each: Combination, key: str) -> str:
    mean = each.mean(key)
    return words.NOTHING if mean is None else words.time(mean.mean)


def _combinations(name: str, records: Sequence[Mapping[str, Any]]) -> list[Combination]:
    return combined(outcomes({name: records}))


def _flows(workload: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    flows: Sequence[Mapping[str, Any]] = workload.get("flows", [workload])
    return flows


def _sizes(plans: Iterable[Mapping[str, Any]]) -> list[int]:
    found = {
        size
        for plan in plans
        for size in (plan["block_bytes"], plan["read_block_bytes"], plan["write_block_bytes"])
        if size
    }
    return sorted(found)


def _listed(names: Iterable[Any]) -> str:
    known = dict.fromkeys(str(name) for name in names if name is not None)
    return ", ".join(known) or words.NOTHING


def _span(values: Iterable[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return words.NOTHING
    return f"{known[0]}" if len(known) == 1 else f"{known[0]} to {known[-1]}"


def charts(found: Found) -> list[Chart]:
    """Draw IOPS and latency of each drive, pattern and size over depth, and over jobs."""
    made = []
    for name, records in found.drives.items():
        known = [each for each in _combinations(name, records) if "rw" in each.varied]
        for about in dict.fromkeys(map(_about, known)):
            group = [each for each in known if _about(each) == about]
            for way in DIRECTIONS:
                made += _charts_of(f"{name}: {about}", way, group)
    return made


def drawn(count: int) -> str:
    """Say what of so many pictures the page does not show, if anything."""
    if not count:
        return "Nothing is drawn: no workload was run at several depths or with several jobs."
    if count > MOST_CHARTS:
        return f"The first {MOST_CHARTS} of {count} pictures; a folder of one drive has its own."
    return ""


def _about(each: Combination) -> str:
    apart = ("target", *_AXES)
    return ", ".join(str(value) for name, value in each.varied.items() if name not in apart)


def _charts_of(title: str, way: str, group: Sequence[Combination]) -> list[Chart]:
    found = [each for each in group if each.mean(f"{way}.iops")]
    made = []
    for x, other in (("iodepth", "numjobs"), ("numjobs", "iodepth")):
        values = {each.varied.get(x) for each in found} - {None}
        if len(values) < 2:
            continue
        lines = _lines(found, way, x, other)
        unit = _AXES[x]
        made.append(
            Chart(
                f"fio-{zlib.crc32(f'{title} {way} {x}'.encode())}",
                f"{title}, {way}s over {unit}",
                _caption(found, way, other, len(lines)),
                partial(rate_and_latency, lines, unit),
                _numbers(lines, unit),
                wide=True,
            )
        )
    return made


def _lines(found: Sequence[Combination], way: str, x: str, other: str) -> list[Line]:
    lines = []
    for value in sorted({each.varied.get(other) or 0 for each in found}):
        own = sorted(
            (
                each
                for each in found
                if (each.varied.get(other) or 0) == value and each.varied.get(x)
            ),
            key=lambda each: int(each.varied[x]),
        )
        label = f"{other} {value}" if value else ""
        lines.append(
            Line(label, _points(own, x, f"{way}.iops"), _points(own, x, f"{way}.latency_ns.mean"))
        )
    return [line for line in lines if line.iops]


def _points(own: Sequence[Combination], x: str, key: str) -> list[Point]:
    points = []
    for each in own:
        mean = each.mean(key)
        if mean is not None:
            half = mean.half_width if mean.half_width < float("inf") else None
            points.append(Point(float(each.varied[x]), mean.mean, half))
    return points


def _caption(found: Sequence[Combination], way: str, other: str, lines: int) -> str:
    repeated = any(len(each.values[f"{way}.iops"]) > 1 for each in found)
    lines_are = f"A line for each number of {_AXES[other]}. " if lines > 1 else ""
    if repeated:
        return f"{lines_are}Means over repetitions; bars are 95 % intervals of them."
    return f"{lines_are}Single runs: without repetitions there are no intervals."


def _numbers(lines: Sequence[Line], unit: str) -> Table:
    rows = [
        (line.label or words.NOTHING, f"{point.x:g}", words.iops(point.mean), words.time(time.mean))
        for line in lines
        for point, time in zip(line.iops, line.latency_ns, strict=False)
    ]
    return Table(("line", unit, "IOPS", "mean latency"), rows)


def page(found: Found) -> str:
    """Make the page: HTML that loads nothing."""
    every = charts(found)
    return templating.fill(
        "imported.html.j2",
        title="Results of fio",
        document=envelope(),
        drives=drives(found),
        runs=runs(found),
        charts=every[:MOST_CHARTS],
        drawn=drawn(len(every)),
        left=[(each.path, each.why) for each in found.left],
        logs_aside=found.logs_aside,
    )
