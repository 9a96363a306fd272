"""``ssdscope import-fio-log``: logs of fio as results."""

from typing import Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import OUTPUT, READING, command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY, UsageError, nearest

EXAMPLES = """
Latencies that fio logged with --write_lat_log=run --log_offset=1:
  ssdscope import-fio-log run_clat.1.log
The logs of all jobs, kept as a log of ours with its summary:
  ssdscope import-fio-log run_lat.1.log run_lat.2.log -O run.parquet -o json
A log of an old fio, which has no column of priorities:
  ssdscope import-fio-log old_lat.log --unit us
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "import-fio-log", examples=EXAMPLES)(import_fio_log)


def _beside(path: str, _given: Any) -> list[str]:
    return [f"{path.removesuffix('.parquet')}.json"]


def import_fio_log(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Logs of one kind, one of each job: plain, gzip or zstd."
        ),
        Input(),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-O",
            "--output",
            metavar="FILE.parquet",
            help="Write a row per request here, and the results beside it as JSON.",
            rich_help_panel=OUTPUT,
        ),
        Output((".parquet",), _beside),
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(
            "--values",
            metavar="KIND",
            help="What the logs hold.",
            show_default="by their names",
            rich_help_panel=READING,
            autocompletion=choices.FIO_LOGS.complete,
        ),
        choices.FIO_LOGS,
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="ns|us|ms",
            help="Unit of latencies.",
            show_default="ns, of an fio since 3.18",
            rich_help_panel=READING,
        ),
    ] = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Import logs that fio wrote as results, in the shape of a run.

    Read are fio's latency, bandwidth and IOPS logs, and its iologs. Latencies are exact; times
    are milliseconds, as fio writes them. Logs that fio averaged (log_avg_msec) have a mean and
    no percentiles.
    """
    from ssdscope.results.fio.logs import LATENCIES, UNITS_NS, import_logs, kind_of
    from ssdscope.results.remarks import remarks, trace_is_whole

    guard(context, force=force)
    if unit is not None and unit not in UNITS_NS:
        raise UsageError(f"--unit: {unit!r} is unknown", hint=nearest(unit, UNITS_NS))
    kind = kind_of(files, values)
    if unit is not None and kind not in LATENCIES:
        raise UsageError(f"--unit is of latencies, and these are {kind} logs")
    if output is None:
        record = import_logs(files, kind, None, unit=unit, skip_bad=skip_bad)
    else:
        record = _kept(output, files, kind, unit, skip_bad)
    if output_format == "json":
        emit_json(record)
    else:
        emit(_text(record, kind))
    for remark in remarks({**record, "counters": {}}):
        note(remark)
    for remark in _remarks(record, files):
        note(remark)
    return EXIT_DONE if trace_is_whole(record["trace"]) else EXIT_NOT_TRUSTWORTHY


def _remarks(record: dict[str, Any], files: list[str]) -> list[str]:
    """Say what the logs do not hold."""
    logs = record["trace"].get("files", [])
    said = [
        f"{each['path']} is empty: fio logged nothing of this kind"
        for each in logs
        if not each["rows"]
    ]
    if not record["trace"].get("averaged"):
        return said
    said.append("the log holds means of windows (log_avg_msec): no percentile of requests is in it")
    sections = [record[name] for name in ("read", "write", "discard") if record.get(name)]
    if any(each.get("weighed_by") == "time" for each in sections):
        said.append(
            "windows weigh by their length, since there is no log of IOPS beside "
            f"{files[0]}: a slow window has fewer requests, so the mean of requests is lower"
        )
    return said


def _kept(
    output: str, files: list[str], kind: str, unit: str | None, skip_bad: bool
) -> dict[str, Any]:
    """Import with a row per request."""
    from ssdscope.results import LogWriter
    from ssdscope.results.fio.logs import import_logs

    with LogWriter(output, attribution=False, flows=len(files) > 1) as log:
        record = import_logs(files, kind, log.append, unit=unit, skip_bad=skip_bad)
        log.finish(record)
    return record


def _text(record: dict[str, Any], kind: str) -> str:
    if record["requests"] is not None and kind != "iolog":
        from ssdscope.cli.tables import run_text

        return run_text(f"fio {kind}", record)
    header = ["", "rows", "IOPS", "MiB/s", "mean us"]
    rows = [
        [name, *_row(record[name])] for name in ("read", "write", "discard") if record.get(name)
    ]
    return f"{record['target']['uri']}  fio {kind}\n\n{table(header, rows)}"


def _row(section: dict[str, Any]) -> list[str]:
    def shown(value: float | None, scale: float = 1) -> str:
        return "-" if value is None else f"{value / scale:,.2f}"

    latency = section["latency_ns"] or {}
    rows = section.get("rows", section["requests"])
    return [
        f"{rows:,}",
        shown(section["iops"]),
        shown(section["bandwidth_bytes_per_s"], 2**20),
        shown(latency.get("mean"), 1000),
    ]
