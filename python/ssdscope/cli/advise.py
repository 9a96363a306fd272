"""``ssdscope advise``: settings that follow from a report, and a trace laid out for its drive."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import READING, command
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY, UsageError

if TYPE_CHECKING:
    from ssdscope.advise import Ground
    from ssdscope.advise.layout import LayoutAdvice
    from ssdscope.report.document import Report

EXAMPLES = """
Every setting that follows from what was detected:
  ssdscope advise report.json
For some tools, with the name of the device in the commands:
  ssdscope advise report.json --for ext4,postgres,rocksdb --device /dev/nvme0n1
How a trace could be laid out for the drive: pages written, read-modify-writes, merges, time:
  ssdscope advise report.json --trace hm_0.csv.gz --fit compact --limit 100000
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(advise)


def _files(report: str) -> list[str]:
    from ssdscope.results.fio.folders import files_in

    return files_in(report)


def advise(
    context: typer.Context,
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT.json",
            help="What `ssdscope characterize TARGET --json FILE` wrote; or fio's results of a "
            "drive, which say less.",
            show_default=False,
        ),
        Input(_files),
    ],
    wanted: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TOOLS",
            help="Advise on these only, separated by commas.",
            show_default="all",
            autocompletion=choices.ADVISED.complete,
        ),
        choices.ADVISED,
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="/dev/NAME",
            help="The device to write into commands.",
            show_default="the measured one",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace",
            metavar="TRACE",
            help="Lay out this trace for the drive instead: a file, plain, gzip or zstd.",
            show_default="none",
        ),
        Input(),
    ] = None,
    rmw_unit: Annotated[
        str | None,
        typer.Option(
            "--rmw-unit",
            metavar="SIZE",
            help="The RMW unit for the layout, if you know it: 16k.",
            show_default="what was detected",
        ),
    ] = None,
    merge_unit: Annotated[
        str | None,
        typer.Option(
            "--merge-unit",
            metavar="SIZE",
            help="Likewise the merge unit: 4m.",
            show_default="what was detected",
        ),
    ] = None,
    fit: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="HOW",
            help="Requests of the trace beyond the end of the drive.",
            rich_help_panel=READING,
            autocompletion=choices.LAYOUT_FITS.complete,
        ),
        choices.LAYOUT_FITS,
    ] = "refuse",
    trace_format: options.TraceFormat = None,
    columns: options.Columns = None,
    volume: options.Volume = None,
    skip_bad: options.SkipBad = False,
    limit: options.Limit = None,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Advise settings of file systems, databases, arrays and the kernel, for a measured drive.

    Each is the line to type, the formula with its numbers, the findings that it rests on, and what
    it gains: the requests that a tool sends with and without it are run on the report's twin, as
    the drive was found and written all over. What was not detected is not guessed, and what makes
    no difference gets no command. Nothing is run on the drive.
    """
    from ssdscope import advise as advising
    from ssdscope.cli import advice_text
    from ssdscope.report.document import read
    from ssdscope.results import envelope
    from ssdscope.results.fio.folders import is_of_fio

    session: Session = context.obj
    _require_consistent(context.params)
    tools = [] if wanted is None else [each.strip() for each in wanted.split(",") if each.strip()]
    advising.require_tools(tools)
    if is_of_fio(report):
        _of_fio(context.params, tools)
        return EXIT_DONE
    found = read(Path(report))
    used_seed = session.seed(seed)
    ground = advising.of_twin(found.document.get("twin"), used_seed)
    document: dict[str, Any] = {
        **envelope(seed=used_seed),
        "report": report,
        "target": found.uri,
        "twin": None if isinstance(ground, str) else ground.name,
        "advice": [],
        "layout": None,
    }
    if trace is not None:
        laid_out, about = _layout(context.params, found, ground)
        document["trace"] = about
        document["layout"] = laid_out.to_json()
        text = advice_text.layout_text(laid_out, trace)
    else:
        given = advising.of_document(
            found.document, found.findings, tools, device=device, ground=ground
        )
        document["advice"] = [each.to_json() for each in given]
        text = advice_text.advice_text(given, ground)
    if output_format == "json":
        emit_json(document)
    else:
        emit(text)
    return _status(document.get("trace"))


def _of_fio(given: dict[str, Any], tools: list[str]) -> None:
    """Advise what fio's results of a drive support; gains need a twin, which they do not give."""
    from ssdscope import advise as advising
    from ssdscope.advise.imported import findings_of
    from ssdscope.cli import advice_text
    from ssdscope.results import envelope
    from ssdscope.results.fio.folders import find

    if given["trace"] is not None:
        raise UsageError("--trace needs a report of characterize, and this is fio's")
    drives = find([given["report"]]).drives
    if len(drives) > 1:
        raise UsageError(
            f"{given['report']} holds results of {len(drives)} drives: {', '.join(drives)}",
            hint="name the folder of one",
        )
    ((drive, records),) = drives.items()
    findings = findings_of(records)
    about = {"target": {"uri": drive, "info": {"capacity_bytes": 0}}, "performance": {}}
    ground = "fio's results make no twin, so gains are not measured"
    advice = advising.of_document(about, findings, tools, device=given["device"], ground=ground)
    if given["output_format"] == "json":
        head = {**envelope(), "report": given["report"], "target": drive, "twin": None}
        emit_json({**head, "advice": [each.to_json() for each in advice], "layout": None})
    else:
        emit(advice_text.advice_text(advice, ground))


def _require_consistent(given: dict[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if given["trace"] is None:
        for name in ("rmw_unit", "merge_unit", "trace_format", "columns", "volume", "limit"):
            if given[name] is not None:
                option = "--format" if name == "trace_format" else f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} is of a trace, and there is none", hint="add --trace")
    elif given["wanted"] is not None:
        raise UsageError(
            "--for is of settings, and --trace asks for a layout", hint="leave out one of the two"
        )
    device = given["device"]
    if device is not None and not device.startswith("/dev/"):
        raise UsageError(
            f"--device: {device!r} is not a device", hint="write it as /dev/sdb or /dev/nvme0n1"
        )


def _layout(
    given: dict[str, Any], found: "Report", ground: "Ground | str"
) -> tuple["LayoutAdvice", dict[str, Any]]:
    """Read the trace, and lay it out."""
    from ssdscope.advise.advice import facts_of
    from ssdscope.advise.layout import FITS, advise_layout, of_trace
    from ssdscope.errors import nearest
    from ssdscope.targets.sources import require_file
    from ssdscope.targets.traces import TraceOptions, read_trace
    from ssdscope.units import parse_size

    if given["fit"] not in FITS:
        raise UsageError(f"--fit: {given['fit']!r} is unknown", hint=nearest(given["fit"], FITS))
    page, block = (
        None if given[name] is None else _unit(name, parse_size(given[name]))
        for name in ("rmw_unit", "merge_unit")
    )
    require_file(given["trace"])
    wanted = TraceOptions(
        given["trace_format"], given["columns"], given["volume"], given["skip_bad"], given["limit"]
    )
    trace = read_trace(given["trace"], wanted)
    requests = of_trace(trace.rows, found.info.logical_block_bytes)
    facts = facts_of(found.document, found.findings)
    laid_out = advise_layout(
        requests, facts, ground, page_bytes=page, block_bytes=block, fit=given["fit"]
    )
    from ssdscope.targets.told import told_trace

    return laid_out, {"path": given["trace"], **told_trace(trace.about)}


def _unit(name: str, size_bytes: int) -> int:
    if size_bytes <= 0 or size_bytes % 512:
        option = f"--{name.replace('_', '-')}"
        raise UsageError(f"{option}: {size_bytes} bytes are no whole sectors", hint="as in 16k")
    return size_bytes


def _status(about: dict[str, Any] | None) -> int:
    """Tell what of a trace was left out; the exit code says whether the rest is to be trusted."""
    if about is None:
        return EXIT_DONE
    from ssdscope.results.remarks import of_trace, trace_is_whole

    for remark in of_trace(about):
        note(remark)
    return EXIT_DONE if trace_is_whole(about) else EXIT_NOT_TRUSTWORTHY
