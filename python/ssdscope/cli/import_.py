"""``ssdscope import``: results of fio, drive by drive."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.help import OUTPUT, command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY

if TYPE_CHECKING:
    from ssdscope.results.fio.folders import Found

EXAMPLES = """
What is in a folder of fio's results, drive by drive:
  ssdscope import benchmark_data
Its pictures: IOPS and latency over depth and jobs:
  ssdscope import benchmark_data -O fio.html
A table of a row per run, for compare and for pandas, polars or DuckDB:
  ssdscope import benchmark_data/PM883 -O pm883.parquet
One result, as the document of a run:
  ssdscope import randread-16-4.json -o json
"""
RUNS_SHOWN = 24
LEFT_SHOWN = 12


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "import", examples=EXAMPLES)(import_)


def _files(path: str) -> list[str]:
    from ssdscope.results.fio.folders import files_in

    return files_in(path)


def import_(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Folders or files: what fio writes with --output-format=json or json+, and its "
            "logs.",
        ),
        Input(_files),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-O",
            metavar="FILE",
            help="Write a page with pictures (.html) or a table of a row per run (.parquet).",
            rich_help_panel=OUTPUT,
        ),
        Output((".html", ".parquet")),
    ] = None,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Import results of fio: each becomes the result of a run, and each drive a table of them.

    Says drive by drive what was found, and of other files why they are not used. fio does not
    write which drive /dev/sda was, so folders name the drives, as fio-plot's do. compare and
    model fit take such folders as they are.
    """
    from ssdscope.results.fio.folders import find

    guard(context, force=force)
    found = find(paths)
    if out is not None:
        _write(out, found)
    if output_format == "json":
        emit_json(found.to_json())
    else:
        emit(_text(found) + (f"\n\nwritten: {out}" if out else ""))
    _notes(found)
    partial = [each for each in found.records if each["interrupted"]]
    return EXIT_NOT_TRUSTWORTHY if partial else EXIT_DONE


def _write(out: str, found: "Found") -> None:
    from ssdscope.results.files import write_text
    from ssdscope.sweep.imported import write

    if Path(out).suffix == ".parquet":
        write(out, found.drives)
        return
    from ssdscope.report.imported import page

    write_text(out, page(found))


def _text(found: "Found") -> str:
    from ssdscope.report import imported

    drives = imported.drives(found)
    parts = [table(drives.head, list(drives.rows), left=1)]
    runs = imported.runs(found)
    if len(runs.rows) <= RUNS_SHOWN:
        parts.append(table(runs.head, list(runs.rows), left=len(runs.head) - imported.FIGURES))
    return "\n\n".join(parts)


def _notes(found: "Found") -> None:
    """Say what was left out, and what is not whole."""
    if found.logs_aside:
        note(f"{found.logs_aside:,} logs left aside: the JSON of their runs is here")
    for file, cut in dict.fromkeys(
        (each["fio"]["file"], _cut(each)) for each in found.records if each["interrupted"]
    ):
        note(f"{file}: {cut}")
    for each in found.left[:LEFT_SHOWN]:
        note(f"not used: {each.path}: {each.why}")
    if len(found.left) > LEFT_SHOWN:
        rest = Counter(each.why.split(":")[0] for each in found.left[LEFT_SHOWN:])
        for why, count in rest.most_common(LEFT_SHOWN):
            note(f"not used: {count:,} more: {why}")


def _cut(record: dict[str, Any]) -> str:
    from ssdscope.results.fio.texts import Cut

    jobs = ", ".join(record["fio"]["jobs"])
    cut = record["fio"]["cut"]
    said = Cut(**cut) if cut else "it ends too early"
    return f"{said}; of {jobs} there is what stands before"
