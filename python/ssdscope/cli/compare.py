"""``ssdscope compare``: reports, runs or sweeps side by side."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE

if TYPE_CHECKING:
    from ssdscope.report.comparison import Comparison

EXAMPLES = """
Two drives by their reports, on one page:
  ssdscope compare old.json new.json -O page.html
Runs, as text alone:
  ssdscope compare sata.json nvme.json dramless.json
Sweeps of one plan on two drives:
  ssdscope compare sata.parquet nvme.parquet -O sweeps.html
What fio measured of two drives, a folder of its JSON for each:
  ssdscope compare benchmark_data/PM883 benchmark_data/D3-S4610
"""
WORKLOADS_SHOWN = 12


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(compare)


def _files(path: str) -> list[str]:
    from ssdscope.results.fio.folders import files_in

    return files_in(path)


def compare(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Two or more of one kind: reports (characterize --json), results (run or replay "
            "-o json, fio's JSON), or tables of sweeps (.parquet, a folder of fio's results).",
        ),
        Input(_files),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-O", metavar="PAGE.html", help="Write a page about them here."),
        Output((".html",)),
    ] = None,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Compare results of one kind: ranked, with relative speeds and their intervals.

    Speeds are ratios of mean latencies of the same workload; over several workloads, those that all
    files have, the geometric mean. Intervals are of 95 %.
    """
    from ssdscope.report.comparison import compare as compared
    from ssdscope.report.comparison import render
    from ssdscope.results.files import write_text

    guard(context, force=force)
    told = compared(files)
    if out is not None:
        write_text(out, render(told))
    if output_format == "json":
        emit_json(told.to_json())
        return EXIT_DONE
    emit(_text(told) + (f"\n\npage: {out}" if out else ""))
    if caution := told.caution():
        note(f"warning: {caution}")
    return EXIT_DONE


def _text(told: "Comparison") -> str:
    from ssdscope.report.comparison.comparing import cells
    from ssdscope.report.comparison.sides import circumstances

    shown = cells(told)
    rows = list(shown.rows)[:WORKLOADS_SHOWN]
    left = len(shown.rows) - len(rows)
    known = [f"{each.name}: {said}" for each in told.entries if (said := circumstances(each))]
    notes = "\n".join([*known, *told.missing()])
    parts = ["\n".join(told.sentences()), *([notes] if notes else []), table(shown.head, rows)]
    if left:
        parts.append(f"and {left} more workloads, on the page and in the JSON")
    if told.kind == "report" and (differing := _differing(told)):
        parts.append(differing)
    return "\n\n".join(parts)


def _differing(told: "Comparison") -> str:
    from ssdscope.report.comparison.sides import findings

    rows = [(row["property"], *row["values"]) for row in findings(told.entries) if row["differs"]]
    if not rows:
        return ""
    return table(("what differs", *(each.name for each in told.entries)), rows)
