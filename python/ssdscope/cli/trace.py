"""``ssdscope trace``: what a trace is, its windows, and traces made up after published ones."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command, group
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Given, Output, guard
from ssdscope.cli.session import Session
from ssdscope.cli.tables import TRACED_HEADER, traced_rows
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY, UsageError
from ssdscope.units import format_duration

if TYPE_CHECKING:
    from ssdscope.targets.traces import Trace
    from ssdscope.workloads.windows import Table

EXAMPLES = """
What a trace is:
  ssdscope trace show Financial1.spc.gz
A row for each minute:
  ssdscope trace windows hm_0.csv.gz -O hm_0.parquet
A trace made up after the published statistics of Financial1:
  ssdscope trace make financial1 -O synthetic-financial1.spc.gz --span 10m
"""
SHOW_EXAMPLES = """
Its format, requests, span and volumes:
  ssdscope trace show Financial1.spc.gz
A table of your own, by the numbers of its columns:
  ssdscope trace show mine.csv --columns time=us:1,op:2,offset=bytes:3,size=bytes:4
"""
WINDOWS_EXAMPLES = """
A row for each minute:
  ssdscope trace windows hm_0.csv.gz -O hm_0.parquet
One for every ten seconds of one volume:
  ssdscope trace windows hm_0.csv.gz -O hm_0.parquet --window 10s --volume 0
"""
MAKE_EXAMPLES = """
After the published statistics of Financial1:
  ssdscope trace make financial1 --span 20m --seed 1
After a pattern, under a name of your own:
  ssdscope trace make bursts --span 2h -O synthetic-bursts.spc.gz --seed 1
"""

app = group("trace", EXAMPLES)


@command(app, short="Show what a trace is.", examples=SHOW_EXAMPLES)
def show(
    trace: options.TraceArgument,
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    times: options.Times = "queued",
    volume: options.Volume = None,
    skip_bad: options.SkipBad = False,
    limit: options.Limit = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show the format of a trace, its requests, span and volumes, and what is wrong with it."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.sources import require_file
    from ssdscope.targets.told import told_trace
    from ssdscope.targets.traces import TraceOptions, scan_trace

    require_file(trace)
    wanted = TraceOptions(trace_format, columns, volume, skip_bad, limit, times=times)
    about = told_trace(scan_trace(trace, wanted, lambda rows: None))  # noqa: ARG005
    if output_format == "json":
        emit_json({**envelope(), "trace": {"path": trace, **about}})
    else:
        emit(_about_text(about))
    return _told(about)


def _told(about: dict[str, Any]) -> int:
    """Tell what of a trace was left out; the exit code says whether the rest is to be trusted."""
    from ssdscope.results.remarks import of_trace, trace_is_whole

    for remark in of_trace(about):
        note(remark)
    return EXIT_DONE if trace_is_whole(about) else EXIT_NOT_TRUSTWORTHY


def _about_text(about: dict[str, Any]) -> str:
    reads = about["requests"] - about["writes"]
    rows = [
        ("format", str(about["format"])),
        ("requests", f"{about['requests']:,}"),
        ("other than writes", f"{reads / about['requests']:.2%}"),
        ("span", format_duration(about["span_ns"])),
        ("volumes", f"{about['volumes']:,}"),
        ("space that they reach over", f"{about['address_span_bytes']:,} bytes"),
    ]
    if about["files"] > 1:
        rows.append(("files, one for each processor", f"{about['files']:,}"))
    if about["reordered"]:
        rows.append(("reordered", f"{about['reordered']:,}"))
    rows += [(f"left out: {_words(key)}", f"{count:,}") for key, count in about["dropped"].items()]
    rows += [(_words(key), f"{count:,}") for key, count in about["noted"].items()]
    text = table(("what", "value"), rows)
    if traced := traced_rows(about, 1e3):
        text += "\n\n" + table(TRACED_HEADER, traced)
    return text


def _words(key: str) -> str:
    """Write what is counted as words."""
    return key.replace("_", " ")


@command(app, short="Describe every minute of a trace.", examples=WINDOWS_EXAMPLES)
def windows(
    context: typer.Context,
    trace: options.TraceArgument,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-O", metavar="FILE.parquet", help="Where the table goes, a row per window."
        ),
        Output((".parquet",)),
    ],
    length: Annotated[
        str,
        typer.Option(
            "--window",
            metavar="SPAN",
            help="Length of a window, in whole seconds: 10s, 5m.",
            show_default="1m, one minute",
        ),
    ] = "1m",
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    times: options.Times = "queued",
    volume: options.Volume = None,
    skip_bad: options.SkipBad = False,
    limit: options.Limit = None,
    spread_ties: options.SpreadTies = False,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Describe every minute of a trace by more than sixty features; docs/traces.md lists them."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.sources import require_file
    from ssdscope.targets.traces import TraceOptions, read_trace
    from ssdscope.units import parse_duration
    from ssdscope.workloads.windows import window_features

    require_file(trace)
    guard(context, force=force)
    wanted = TraceOptions(trace_format, columns, volume, skip_bad, limit, spread_ties, times=times)
    read = read_trace(trace, wanted)
    found = window_features(read.rows, window_ns=parse_duration(length))
    _write_windows(out, read, found)
    summary = {"windows": len(found["start_s"]), "features": len(found) - 3, "out": out}
    if output_format == "json":
        emit_json({**envelope(), "trace": {"path": trace, **read.about}, **summary})
    else:
        emit(table(("what", "value"), [(key, str(value)) for key, value in summary.items()]))
    return _told(read.about)


def _write_windows(out: str, trace: "Trace", found: "Table") -> None:
    """Write the columns, with what the trace is in the file's metadata."""
    import io
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    from ssdscope.results.files import write_bytes

    made = pa.table(found).replace_schema_metadata({"ssdscope.trace": json.dumps(trace.about)})
    packed = io.BytesIO()
    pq.write_table(made, packed, compression="zstd")
    write_bytes(out, packed.getvalue())


def _made_name(given: Given) -> str:
    return f"synthetic-{given['profile'].lower()}.spc.gz"


@command(app, short="Make up a trace after statistics.", examples=MAKE_EXAMPLES)
def make(
    context: typer.Context,
    profile: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE",
            help="What it is made up after.",
            autocompletion=choices.RECIPES.complete,
        ),
        choices.RECIPES,
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-O",
            metavar="FILE",
            help="Where the trace goes, in the format spc. Its name has to hold `synthetic`.",
            show_default="synthetic-PROFILE.spc.gz",
        ),
        Output(unnamed=_made_name),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option(
            "--span",
            metavar="SPAN",
            help="How long it is: 10m, 2h.",
            show_default="3h, or as long as the real one",
        ),
    ] = None,
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Make up a trace, after the published statistics of a real one or after a pattern.

    It is labelled as made up: results on it are not results on a real trace. The real ones with
    published statistics are in the UMass trace repository, and `replay` reads them.
    """
    import gzip
    from pathlib import Path

    from ssdscope.results.files import write_bytes
    from ssdscope.results.marks import MADE_BY
    from ssdscope.results.record import envelope
    from ssdscope.units import parse_duration
    from ssdscope.workloads.patterns import recipe_of
    from ssdscope.workloads.synthetic import spc_text

    session: Session = context.obj
    chosen = recipe_of(profile)
    out = _made_name(context.params) if out is None else out
    guard(context, force=force)
    name = Path(out).resolve().name
    if "synthetic" not in name:
        raise UsageError(
            f"a made-up trace is not written to {out}",
            hint=f"name it so that it cannot be mistaken, as synthetic-{name}",
        )
    seconds = min(3 * 3600, chosen.span_s) if span is None else parse_duration(span) / 1e9
    used_seed = session.seed(seed)
    rows = chosen.make(seconds, used_seed)
    made_by = f"{MADE_BY} trace make {chosen.name}, seed {used_seed}"
    head = [chosen.label, made_by, *(f"{key}: {text}" for key, text in chosen.sources.items())]
    text = "".join(f"# {line}\n" for line in head) + spc_text(rows)
    # No time and no name inside, so that the same seed gives the same file.
    packed = gzip.compress(text.encode(), 6, mtime=0) if out.endswith(".gz") else text.encode()
    write_bytes(out, packed)
    summary = {"synthetic": True, "requests": len(rows), "span_s": seconds, "out": out}
    if output_format == "json":
        emit_json({**envelope(seed=used_seed), **summary, "sources": chosen.sources})
    else:
        emit(table(("what", "value"), [(key, str(value)) for key, value in summary.items()]))
    note(f"this trace is {chosen.label}")
    session.repeat(used_seed)
    return EXIT_DONE
