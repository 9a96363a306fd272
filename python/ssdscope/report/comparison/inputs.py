"""A file to compare: its kind, and its workloads with what was measured of each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.findings import Findings
from ssdscope.report import document as reports
from ssdscope.report import words
from ssdscope.report.parts import best_known, measured
from ssdscope.results.fio.folders import find, is_of_fio
from ssdscope.results.opening import open_parquet
from ssdscope.results.record import SCHEMA_VERSION
from ssdscope.stats import student
from ssdscope.sweep.imported import outcomes
from ssdscope.sweep.table import row_of

KINDS = {
    "report": "a report of characterize",
    "run": "the results of a run or replay",
    "sweep": "the table of a sweep",
}
"""What can be compared, with its like."""
HINT = (
    "compare takes reports (characterize --json), results (run -o json, --log), sweep tables, or "
    "results of fio (--output-format=json, folders of them)"
)
DIRECTIONS = ("read", "write")
CURVES = {
    "bs": ("size", "workload.block_bytes"),
    "iodepth": ("depth", "workload.iodepth"),
    "numjobs": ("jobs", "workload.numjobs"),
}
"""What curves of a sweep are drawn over: by option, the axis and the column of its value."""


@dataclass(frozen=True)
class Cell:
    """What was measured of a workload.

    Attributes
    ----------
    mean_ns
        Mean latency.
    half_ns
        Half the width of its 95 % interval; None if it is not known.
    group
        Of the workload: its pattern, or the direction.
    """

    mean_ns: float
    half_ns: float | None = None
    group: str = ""

    def to_json(self) -> dict[str, float | None]:
        """Write it as plain data."""
        return {"mean_ns": self.mean_ns, "half_ns": self.half_ns}


@dataclass(frozen=True)
class Entry:
    """One file.

    Attributes
    ----------
    name
        Unique among those compared.
    kind
        One of `KINDS`.
    target
        The drive.
    cells
        By workload, in words.
    points
        What curves are drawn of: ``curve, x, axis, mean_ns, low_ns, high_ns``.
    document
        All of a report or a run; empty for a sweep.
    findings
        Of a report.
    """

    name: str
    path: str
    kind: str
    target: str
    cells: Mapping[str, Cell]
    points: Sequence[Mapping[str, Any]] = ()
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)
    findings: Findings | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Source:
    """A result to compare.

    Attributes
    ----------
    where
        The file; of a result in memory what messages call it.
    name
        What it is called among the others; without, its drive, and where that is not enough its
        file as well.
    document
        Of a run or a report in memory; None for a file.
    """

    where: str
    name: str | None = None
    document: Mapping[str, Any] | None = field(default=None, repr=False)


def read_all(sources: Sequence[str | Source]) -> list[Entry]:
    """Read results of one kind: files, or what is in memory.

    Raises
    ------
    UsageError
        If there are fewer than two, one cannot be read, or their kinds differ; the message says
        what each is.
    """
    given = [each if isinstance(each, Source) else Source(each) for each in sources]
    found = [entry for each in given for entry in _read(each)]
    if len(found) < 2:
        raise UsageError("a comparison takes two files or more", hint=HINT)
    if len({each.kind for each in found}) > 1:
        told = "\n".join(f"  {each.path}: {KINDS[each.kind]}" for each in found)
        raise UsageError(f"these cannot be compared with each other:\n{told}", hint=HINT)
    names = [each.name for each in given if each.name is not None]
    if not names:
        return _named(found)
    if len(names) < len(given) or len(set(names)) < len(names):
        raise UsageError("all that is compared is named, each differently, or nothing is")
    if len(found) > len(names):
        raise UsageError("a folder of several drives has more results than it was given names")
    return [replace(each, name=name) for each, name in zip(found, names, strict=True)]


def _named(entries: Sequence[Entry]) -> list[Entry]:
    """Name each by its drive where that tells them apart, else by its file as well."""
    targets = [each.target for each in entries]
    if len(set(targets)) == len(targets):
        return list(entries)
    stems = [Path(each.path).stem for each in entries]
    own = stems if len(set(stems)) == len(stems) else [each.path for each in entries]
    if len(set(own)) < len(own):
        raise UsageError("a file is named twice: it would be compared with itself")
    return [
        replace(each, name=f"{stem} ({each.target})")
        for each, stem in zip(entries, own, strict=True)
    ]


def _read(source: Source) -> list[Entry]:
    """Read what a source holds: one result, or of a folder of fio's one for each drive."""
    if source.document is None and Path(source.where).suffix == ".parquet":
        return [_sweep(Path(source.where))]
    if source.document is None and is_of_fio(source.where):
        return _of_fio(source.where)
    return [_document(source)]


def _document(source: Source) -> Entry:
    where = source.where
    document = _json(Path(where)) if source.document is None else source.document
    if not isinstance(document, dict):
        raise UsageError(f"{where} is nothing that ssdscope wrote", hint=HINT)
    if "findings" in document or "performance" in document:
        in_memory = source.document is not None
        return _report(reports.parsed(document, where) if in_memory else reports.read(Path(where)))
    if {"requests", "elapsed_ns", "workload"} <= document.keys():
        return _run(where, document)
    raise UsageError(f"{where} is neither a report nor the results of a run", hint=HINT)


def _json(path: Path) -> Any:
    text = reports.text_of(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON, or ends too early: {error}", hint=HINT) from None


def _report(report: reports.Report) -> Entry:
    try:
        points = best_known(measured(report.document))
        cells = {workload(point, point["sort"]): _cell_of(point) for point in points}
        curves = [point for each in points for point in _curve(each)]
    except (KeyError, TypeError) as error:
        where = f"{report.where}: performance"
        raise UsageError(f"{where}: {error} is missing or wrong", hint=HINT) from None
    return Entry(
        report.uri, report.where, "report", report.uri, cells, curves, report.document,
        report.findings,
    )  # fmt: skip


def workload(point: Mapping[str, Any], sort: str = "") -> str:
    """Name the workload of a point: random write, 4 KiB, depth 1."""
    size = words.size(point["block_bytes"])
    return f"{words.pattern(point['rw'], sort)}, {size}, depth {point['iodepth']}"


def _cell_of(point: Mapping[str, Any]) -> Cell:
    half = _half(point["ci95_low_ns"], point["ci95_high_ns"])
    return Cell(float(point["mean_ns"]), half, words.pattern(point["rw"], point["sort"]))


def _half(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else (high - low) / 2


def _curve(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say on which curves a point lies: of sizes at depth 1, and of depths at 4 KiB."""
    name = words.pattern(point["rw"])
    ends = {"mean_ns": point["mean_ns"], "low_ns": point["ci95_low_ns"],
            "high_ns": point["ci95_high_ns"], "sort": point["sort"]}  # fmt: skip
    found = []
    if point["iodepth"] == 1:
        found.append({"curve": f"{name}, depth 1", "axis": "size", "x": point["block_bytes"]})
    if point["block_bytes"] == 4096:
        found.append({"curve": f"{name}, 4 KiB", "axis": "depth", "x": point["iodepth"]})
    return [each | ends for each in found]


def _run(path: str, document: Mapping[str, Any]) -> Entry:
    tool, target = document.get("tool"), document.get("target")
    if not isinstance(tool, dict) or tool.get("name") != "ssdscope":
        raise UsageError(f"{path} was not written by ssdscope", hint=HINT)
    if document.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(
            f"{path} is of version {document.get('schema_version')}, and this program reads "
            f"version {SCHEMA_VERSION}"
        )
    try:
        uri = str(target["uri"]) if isinstance(target, dict) else path
        sides = [name for name in DIRECTIONS if document[name] and document[name]["latency_ns"]]
        cells = {f"{name}s": _direction(document[name], f"{name}s") for name in sides}
    except (KeyError, TypeError) as error:
        raise UsageError(f"{path}: {error} is missing or wrong", hint=HINT) from None
    return Entry(uri, path, "run", uri, cells, document=document)


def _direction(told: Mapping[str, Any], group: str) -> Cell:
    latency = told["latency_ns"]
    half = _half(latency["ci95_low"], latency["ci95_high"])
    return Cell(float(latency["mean"]), half, group)


def _of_fio(where: str) -> list[Entry]:
    """Read results of fio: a single one as a run, others as a sweep of each drive."""
    found = find([where])
    drives = {
        drive: whole
        for drive, records in found.drives.items()
        if (whole := [each for each in records if not each["interrupted"]])
    }
    if not drives:
        raise UsageError(f"no result of fio in {where} is whole", hint="ssdscope import shows it")
    if len(found.records) == 1:
        return [_run(where, found.records[0])]
    return [
        _of_rows([row_of(each) for each in outcomes({drive: records})], where)
        for drive, records in drives.items()
    ]


def _sweep(path: Path) -> Entry:
    """Read a sweep's table."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            rows = file.read().to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise UsageError(f"cannot read {path}: {str(error).splitlines()[0]}", hint=HINT) from None
    if not rows or "target.uri" not in rows[0]:
        raise UsageError(f"{path} is no table of a sweep, or has no run", hint=HINT)
    return _of_rows(rows, str(path))


def _of_rows(rows: Sequence[Mapping[str, Any]], path: str) -> Entry:
    """Take the rows of a sweep: repetitions of a point are one workload."""
    targets = list(dict.fromkeys(str(row["target.uri"]) for row in rows))
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        for direction in DIRECTIONS:
            if row.get(f"{direction}.latency_ns.mean") is not None:
                about = _varied(row, several=len(targets) > 1)
                groups.setdefault(f"{about}{direction}s", []).append(row)
    cells = {name: _of_repeats(name, each) for name, each in groups.items()}
    return Entry(" ".join(targets), path, "sweep", " ".join(targets), cells, _swept(groups, cells))


def _varied(row: Mapping[str, Any], *, several: bool) -> str:
    """Name a point of a sweep by what varies."""
    parts = [
        f"{name.removeprefix('varied.')}={value}"
        for name, value in row.items()
        if name.startswith("varied.") and value is not None
    ]
    return "".join(f"{part} " for part in ([str(row["target.uri"])] if several else []) + parts)


def _of_repeats(name: str, rows: Sequence[Mapping[str, Any]]) -> Cell:
    """Average repetitions; a single run brings its own interval."""
    direction = name.rpartition(" ")[2]
    column = f"{direction.removesuffix('s')}.latency_ns"
    pattern = rows[0].get("varied.rw")
    group = direction if pattern is None else f"{direction} of {pattern}"
    means = [float(row[f"{column}.mean"]) for row in rows]
    if len(means) > 1:
        over = student(means)
        return Cell(over.mean, over.half_width, group)
    only = rows[0]
    half = _half(only.get(f"{column}.ci95_low"), only.get(f"{column}.ci95_high"))
    return Cell(means[0], half, group)


def _swept(
    groups: Mapping[str, Sequence[Mapping[str, Any]]], cells: Mapping[str, Cell]
) -> list[dict[str, Any]]:
    """Draw over sizes, depths and jobs, if those vary: a curve for each of what varies besides."""
    points = []
    for name, rows in groups.items():
        for option, (axis, column) in CURVES.items():
            value, varied = rows[0].get(column), rows[0].get(f"varied.{option}")
            if value is None or varied is None:
                continue
            cell = cells[name]
            half = cell.half_ns or 0.0
            points.append(
                {
                    "curve": name.replace(f"{option}={varied} ", ""), "axis": axis, "x": value,
                    "sort": "read", "mean_ns": cell.mean_ns, "low_ns": cell.mean_ns - half,
                    "high_ns": cell.mean_ns + half,
                }
            )  # fmt: skip
    return points
