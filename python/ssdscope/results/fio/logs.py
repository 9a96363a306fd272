"""Logs of fio as results of ours: the document has the shape of a run's."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.results.fio import histograms, windows
from ssdscope.results.record import envelope
from ssdscope.targets import Log
from ssdscope.targets.fio_logs import scan_fio_logs
from ssdscope.targets.told import told_summary
from ssdscope.targets.traces import TraceOptions, TraceRows, scan_trace

KINDS = {
    "lat": "latencies, from the request to its end",
    "clat": "latencies, from the submission to the end",
    "slat": "times that submissions took",
    "bw": "bandwidths: KiB/s of windows, kB/s of single requests",
    "iops": "requests per second",
    "clat_hist": "histograms of latencies (write_hist_log)",
    "iolog": "requests without latencies (write_iolog)",
}
"""What a log of fio holds, by the ending of its name."""
LATENCIES = ("lat", "clat", "slat")
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_FILES_MAX = 1024
_NAME = re.compile(
    r"(?:.*_)?(?P<kind>clat_hist|lat|clat|slat|bw|iops)(?:\.[0-9]+)?\.log(?:\.gz|\.zst)?"
)
_DIRECTIONS = ("read", "write", "discard")
_KIB = 1024


def kind_of(paths: Sequence[str], wanted: str | None) -> str:
    """Say what the logs hold: as wanted, or by their names and first lines.

    Raises
    ------
    UsageError
        If that cannot be known, or they hold different things.
    """
    if len(paths) > _FILES_MAX:
        raise UsageError(f"{len(paths)} logs, more than {_FILES_MAX:,}")
    if len(set(paths)) < len(paths):
        raise UsageError("a log is named twice", hint="each job has a log of its own")
    if wanted is not None and wanted not in KINDS:
        raise UsageError(f"--values: {wanted!r} is unknown", hint=nearest(wanted, KINDS))
    kinds = {path: wanted or _kind(path) for path in paths}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{path} ({kind})" for path, kind in kinds.items())
        raise UsageError(
            f"logs of different kinds hold the same requests twice: {told}",
            hint="import one kind, as in *_clat.*.log",
        )
    return next(iter(kinds.values()))


def _kind(path: str) -> str:
    if _is_iolog(path):
        return "iolog"
    match = _NAME.fullmatch(Path(path).name)
    if match is None:
        raise UsageError(
            f"{path}: the name does not end as fio's logs do (_lat.1.log), so it can hold "
            "latencies in ns, bandwidths in KiB/s or requests per second",
            hint=f"say which with --values {'|'.join(KINDS)}",
        )
    return match["kind"]


def _is_iolog(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(11) == b"fio version"
    except OSError:
        return False  # whoever reads it says why


def import_logs(
    paths: Sequence[str],
    kind: str,
    keep: Callable[[Log], None] | None,
    *,
    unit: str | None = None,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Read logs, and compose the document.

    Parameters
    ----------
    paths, kind
        Of which `kind_of` says the kind.
    keep
        Called with the rows of latencies.
    unit
        Of latencies, one of `UNITS_NS`.
    skip_bad
        Count lines that cannot be read.

    Raises
    ------
    TraceError
        If one cannot be read.
    UsageError
        If rows are to be kept of what has no requests with latencies.
    """
    if kind not in LATENCIES and keep is not None:
        raise UsageError(
            f"-O: {KINDS[kind]} are no requests with latencies, so there are no rows to keep",
            hint="import the lat or clat log of the same run",
        )
    head = {
        **envelope(),
        "target": {
            "uri": paths[0] if len(paths) == 1 else f"{len(paths)} logs of fio",
            "kind": "fio-log",
            "capacity_bytes": None,
            "state": None,
            "drive": None,
        },
        "workload": {"import": list(paths), "values": kind, "unit": unit, "skip_bad": skip_bad},
    }
    if kind == "iolog":
        return {**head, **_iolog(paths, skip_bad)}
    if kind == "clat_hist":
        return {**head, **_histograms(paths, skip_bad)}
    unit_ns = UNITS_NS[unit] if unit else (None if kind in LATENCIES else 1)
    told = scan_fio_logs(
        paths, _guarded(keep) if keep else _nothing, unit_ns=unit_ns, skip_bad=skip_bad
    )
    _require_unit(told["files"], kind, unit)
    averaged = _averaged(told["files"])
    document = _document(told, kind, averaged)
    if averaged:
        document |= _over_windows(paths, kind, unit_ns, document)
    return {**head, **document}


def _require_unit(files: Sequence[dict[str, Any]], kind: str, unit: str | None) -> None:
    """Refuse a unit that the logs contradict: with a column of priorities they are ns."""
    written = [file["path"] for file in files if file["rows"] and file["has_priorities"]]
    if kind in LATENCIES and unit not in (None, "ns") and len(written) == len(files):
        raise UsageError(
            f"--unit {unit}: {written[0]} has a column of priorities, so an fio since 3.18 wrote "
            "it, in ns",
            hint="leave out --unit",
        )


def _averaged(files: Sequence[dict[str, Any]]) -> bool:
    """Say whether rows stand for windows.

    Raises
    ------
    UsageError
        If they do in some logs and not in others.
    """
    kinds = {file["averaged"]: file["path"] for file in files if file["rows"]}
    if len(kinds) > 1:
        raise UsageError(
            f"{kinds[True]} holds means of windows (log_avg_msec), and {kinds[False]} a row for "
            "each request",
            hint="import them apart: they are not of one run",
        )
    return True in kinds


def _nothing(_rows: Log) -> None:
    return


def _guarded(keep: Callable[[Log], None]) -> Callable[[Log], None]:
    """Refuse rows of windows: each is a mean of many requests."""
    first = True

    def take(rows: Log) -> None:
        nonlocal first
        if first and not rows.columns["bytes"].any():
            raise UsageError(
                "-O: the log holds means of windows (log_avg_msec), and no requests",
                hint="leave out log_avg_msec in fio, or -O here",
            )
        first = False
        keep(rows)

    return take


def _document(told: dict[str, Any], kind: str, averaged: bool) -> dict[str, Any]:
    files = told.pop("files")
    requests = told["requests"]
    whole = kind in LATENCIES and not averaged
    sections = {name: _section(told[name], kind, averaged) for name in _DIRECTIONS}
    bad = sum(file["bad_lines"] for file in files)
    trace = {
        "format": f"fio-{kind}",
        "requests": requests,
        "bad_lines": bad,
        "first_bad_lines": [line for file in files for line in file["first_bad_lines"]][:5],
        "averaged": averaged,
        "span_ns": told["elapsed_ns"],
        "files": [
            {name: file[name] for name in ("path", "rows", "bad_lines", "has_offsets", "averaged")}
            for file in files
        ],
    }
    document = {
        "requests": requests if whole else None,
        "rows": requests,
        "elapsed_ns": told["elapsed_ns"] if kind in LATENCIES else None,
        **sections,
        "flush": None,
        "counters": None,
        "latency_from": "submission",
        "failed_requests": 0,
        "trace": trace,
    }
    if whole and len(files) > 1:
        document["flows"] = [_flow(file, kind) for file in files]
    return told_summary(document) if whole else document


def _flow(file: dict[str, Any], kind: str) -> dict[str, Any]:
    sections = {name: _section(file[name], kind, averaged=False) for name in ("read", "write")}
    return {"name": file["path"], "requests": file["rows"], **sections, "flush": None}


def _section(section: dict[str, Any] | None, kind: str, averaged: bool) -> dict[str, Any] | None:
    """Give one direction in the keys of a run: what a log does not hold is null."""
    if section is None or (kind in LATENCIES and not averaged):
        return section
    values = section["latency_ns"]
    means = {"mean": values["mean"], "min": values["min"], "max": values["max"]}
    iops = bandwidth = None
    if kind not in LATENCIES and not averaged:  # a line for each request: they can be counted
        iops, bandwidth = section["iops"], section["bandwidth_bytes_per_s"]
    return {
        "requests": None,
        "bytes": None,
        "rows": section["requests"],
        "iops": iops,
        "bandwidth_bytes_per_s": bandwidth,
        "latency_ns": None,
        "logged": means,
    }


def _over_windows(
    paths: Sequence[str], kind: str, unit_ns: int | None, document: dict[str, Any]
) -> dict[str, Any]:
    """Add windows up over jobs: rates over the time in which jobs ran, means by requests."""
    by_file = [windows.jobs_of(path, unit_ns) for path in paths]
    jobs = [job for each in by_file for job in each]
    rates = _rates_beside(paths, by_file, kind) if kind in LATENCIES else []
    found: dict[str, Any] = {"elapsed_ns": windows.elapsed([windows.span_of(job) for job in jobs])}
    for name in _DIRECTIONS:
        section = document[name]
        if section is None:
            continue
        if kind in LATENCIES:
            # Means of windows have a mean, and no percentile of theirs is one of requests.
            mean_ns, by = windows.mean_latency(jobs, name, rates)
            section |= {"latency_ns": {"mean": mean_ns}, "weighed_by": by}
        else:
            rate = windows.summed_rate(jobs, name)
            scale = _KIB if kind == "bw" else 1
            key = "bandwidth_bytes_per_s" if kind == "bw" else "iops"
            section |= {key: None if rate is None else rate * scale}
        found[name] = section
    return found


def _rates_beside(
    paths: Sequence[str], by_file: Sequence[Sequence[windows.Job]], kind: str
) -> list[windows.Job | None]:
    """Return the IOPS windows of each job from the logs that fio wrote beside these."""
    found: list[windows.Job | None] = []
    for path, jobs in zip(paths, by_file, strict=True):
        other = windows.beside(path, kind)
        rates = windows.jobs_of(other, 1) if other else []
        found += rates if len(rates) == len(jobs) else [None] * len(jobs)
    return found


def _histograms(paths: Sequence[str], skip_bad: bool) -> dict[str, Any]:
    """Add up histograms: counts are exact, times are those of fio's bins."""
    tallies = [histograms.read(path, skip_bad=skip_bad) for path in paths]
    sections = {name: histograms.section(tallies, name) for name in _DIRECTIONS}
    requests = sum(each["requests"] for each in sections.values() if each)
    took_ns = windows.elapsed([each.span for each in tallies if each.times_ms])
    document = {
        "requests": requests,
        "rows": sum(len(each.times_ms) for each in tallies),
        "elapsed_ns": took_ns,
        **sections,
        "flush": None,
        "counters": None,
        "latency_from": "submission",
        "failed_requests": 0,
        "trace": {
            "format": "fio-clat_hist",
            "requests": requests,
            "bad_lines": sum(each.bad_lines for each in tallies),
            "first_bad_lines": [line for each in tallies for line in each.first_bad_lines][:5],
            "averaged": False,
            "span_ns": took_ns,
            "files": [
                {"path": path, "rows": len(each.times_ms), "bad_lines": each.bad_lines}
                for path, each in zip(paths, tallies, strict=True)
            ],
        },
    }
    return told_summary(document)


def _iolog(paths: Sequence[str], skip_bad: bool) -> dict[str, Any]:
    """Add up the requests of an iolog."""
    if len(paths) > 1:
        raise UsageError("several iologs have clocks of their own", hint="import them one by one")
    counts = {name: [0, 0] for name in _DIRECTIONS}

    def add(rows: TraceRows) -> None:
        for name, op in (("read", 0), ("write", 1), ("discard", 3)):
            chosen = rows.op == op
            counts[name][0] += int(chosen.sum())
            counts[name][1] += int(rows.bytes[chosen].sum())

    about = scan_trace(paths[0], TraceOptions(format="fio", skip_bad=skip_bad), add)
    span_s = about["span_ns"] / 1e9

    def section(requests: int, moved: int) -> dict[str, Any] | None:
        if not requests:
            return None
        return {
            "requests": requests,
            "bytes": moved,
            "iops": requests / span_s if span_s else None,
            "bandwidth_bytes_per_s": moved / span_s if span_s else None,
            "latency_ns": None,
        }

    return {
        "requests": about["requests"],
        "elapsed_ns": about["span_ns"],
        **{name: section(*counts[name]) for name in _DIRECTIONS},
        "flush": None,
        "counters": None,
        "trace": about,
    }
