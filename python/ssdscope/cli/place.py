"""``ssdscope place``: which workload belongs on which drive."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import READING, command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY

if TYPE_CHECKING:
    from ssdscope.advise.placement.placing import Placement
    from ssdscope.advise.placement.ranking import Ranking
    from ssdscope.report.parts import Table

EXAMPLES = """
The cheapest placement of a list of workloads on the drives of a cost file:
  ssdscope place workloads.toml --cost drives.toml --latency 5ms --lifetime 5y
Would an SSD help the workload of a trace, and which:
  ssdscope place trace.spc.gz --on presets --fit compact --align expand
Workloads on a measured drive and on a preset:
  ssdscope place rw=randread,bs=4k,rate_iops=500,size=10g --on report.json --on sim:sata-tlc
"""
ALL_PRESETS = "presets"


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(place)


def _workload_files(word: str) -> list[str]:
    from ssdscope.advise.placement.reading import files_of

    return files_of(word)


def _drive_files(word: str) -> list[str]:
    from ssdscope.targets.sources import files_of

    if word == ALL_PRESETS:
        return []
    return [word] if word.endswith(".json") else files_of(word)


def _cost_files(path: str) -> list[str]:
    from ssdscope.advise.placement.costs import files_of

    return files_of(path)


def place(
    context: typer.Context,
    workloads: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD...",
            help="Lists of workloads (.toml, .json; docs/placement.md has one), traces, or "
            "options of run with a rate and a size: rw=randread,bs=4k,rate_iops=200,size=10g.",
        ),
        Input(_workload_files),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="DRIVE",
            help="A drive: a report of characterize (.json), sim:NAME, a drive .toml, or presets "
            "for all that ship; repeatable.",
            show_default="those of the cost file",
        ),
        Input(_drive_files),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            metavar="FILE.toml",
            help="What each drive costs, holds and endures. Without it drives are ranked for each "
            "workload, and nothing is placed.",
        ),
        Input(_cost_files),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(
            "--latency",
            metavar="TIME",
            help="Bound on the mean latency of workloads that have none of their own: 5ms.",
        ),
    ] = None,
    lifetime: Annotated[
        str | None,
        typer.Option("--lifetime", metavar="TIME", help="How long each drive must last: 5y, 180d."),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="N", min=0, help="The most that all drives may cost."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="DRIVE",
            help="What drives are ranked against, if a trace has no response times of its own.",
            show_default="each other",
        ),
        Input(_drive_files),
    ] = None,
    duration: Annotated[
        str,
        typer.Option(
            "--duration",
            metavar="TIME",
            help="How much of each workload is tried at first; a placement is tried, and replayed "
            "on requests it was not chosen by, for six times as long.",
        ),
    ] = "20s",
    align: Annotated[
        str,
        typer.Option(
            "--align",
            metavar="HOW",
            help="Requests of traces that are no whole sectors of a drive.",
            rich_help_panel=READING,
            autocompletion=choices.ALIGNMENTS.complete,
        ),
        choices.ALIGNMENTS,
    ] = "refuse",
    fit: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="HOW",
            help="Addresses of traces; packed or taken modulo, a trace takes what it touches.",
            rich_help_panel=READING,
            autocompletion=choices.FITS.complete,
        ),
        choices.FITS,
    ] = "refuse",
    time_scale: Annotated[
        float,
        typer.Option(
            "--time-scale",
            metavar="FACTOR",
            help="Multiply the times of traces; 0.5 is twice as fast.",
            rich_help_panel=READING,
        ),
    ] = 1.0,
    trace_format: options.TraceFormat = None,
    limit: options.Limit = None,
    state: options.State = None,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Find the cheapest placement of workloads on drives, or rank drives for each workload.

    Workloads that share a drive are run on it together: on a simulated drive, or on the twin of a
    measured one. The placement is replayed on requests that it was not chosen by, and both are
    shown. If no placement keeps the limits, the error names the limit that is in the way.
    """
    from ssdscope.report import placing

    session: Session = context.obj
    reading = placing.reading_of(
        latency, fit=fit, align=align, time_scale=time_scale, limit=limit, format=trace_format
    )
    asked = placing.Asked(
        workloads, on or (), cost, latency, lifetime, max_cost, reference, duration, reading, state
    )
    job = placing.read(asked)
    used_seed = session.seed(seed)
    with stage_progress(progress) as stage:
        found = placing.place(job, seed=used_seed, progress=stage)
    for each in found.cautions:
        note(f"warning: {each}")
    if output_format == "json":
        emit_json(found.document)
    elif found.placement is not None:
        emit(_placement_text(found.placement))
    else:
        emit("\n\n".join(map(_ranking_text, found.rankings)))
    session.repeat(used_seed)
    if not found.trustworthy:
        note("warning: replayed, the placement breaks a limit; a longer --duration judges better")
    return EXIT_DONE if found.trustworthy else EXIT_NOT_TRUSTWORTHY


def _placement_text(found: "Placement") -> str:
    from ssdscope.report import placing

    return "\n".join(
        [
            placing.headline(found),
            "",
            _text(placing.drives_table(found), left=5),
            "",
            _text(placing.replay_table(found), left=2),
            "",
            "each workload alone on each drive:",
            _text(placing.pairs_table(found)),
        ]
    )


def _ranking_text(found: "Ranking") -> str:
    from ssdscope.report.placing import ranking_table

    return f"{found.verdict}\n\n{_text(ranking_table(found))}"


def _text(told: "Table", left: int = 1) -> str:
    return table(told.head, list(told.rows), left=left)
