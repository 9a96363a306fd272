"""``ssdscope model collect``: workloads run on a drive, for a model to learn from."""

from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Given, Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.running import TargetOptions
from ssdscope.cli.session import Session
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOT_TRUSTWORTHY,
)

if TYPE_CHECKING:
    from ssdscope.models.collection import Collection, Job

EXAMPLES = """
256 workloads, spread evenly:
  ssdscope model collect sim:huang-ssd-i --design sobol --points 256 -O ssd-i.parquet
How long that may take:
  ssdscope model collect sim:mqsim-8g --points 256 --dry-run
A real file, only read, a second for each workload:
  ssdscope model collect big.bin --points 64 --runtime 1s -O big.parquet
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    short = "Run workloads on a drive, for a model to learn from."
    command(app, short=short, examples=EXAMPLES)(collect)


def _journal_beside(path: str, _given: Given) -> list[str]:
    return [f"{path}.part"]


def collect(
    context: typer.Context,
    target: options.TargetArgument,
    design: Annotated[
        str,
        typer.Option(
            "--design",
            metavar="NAME",
            help="How workloads are chosen.",
            autocompletion=choices.DESIGNS.complete,
        ),
        choices.DESIGNS,
    ] = "sobol",
    points: Annotated[
        int | None,
        typer.Option(
            "--points",
            metavar="N",
            help="Workloads to learn from.",
            show_default="1024 runs; grid: 12000",
        ),
    ] = None,
    test: Annotated[
        int | None,
        typer.Option(
            "--test",
            metavar="N",
            help="More workloads, to test models with.",
            show_default="a quarter of --points",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            metavar="N",
            help="Workloads that run twice, to measure the noise.",
            show_default="a 16th of --points",
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-O", metavar="FILE.parquet", help="Where the runs go, a row for each."
        ),
        Output((".parquet",), _journal_beside, resumed=True),
    ] = "runs.parquet",
    until_ci: Annotated[
        str,
        typer.Option(
            "--until-ci",
            metavar="PERCENT",
            help="End a run when the 95 % interval of the mean latency is within this share of it.",
        ),
    ] = "1%",
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            metavar="TIME",
            help="End a run after this time at the latest.",
            show_default="60s of the drive's time",
        ),
    ] = "60s",
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZE",
            help="Use only the first so many bytes of the drive.",
            show_default="all of it",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Runs at the same time on a simulated drive; -1 for all cores.",
            show_default="all cores",
        ),
    ] = -1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how many runs there are, and stop.")
    ] = False,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Run workloads of all kinds on a drive, each from the same state, in random order.

    Each run is on disk as soon as it ends. The same command goes on where it was interrupted,
    and with more --points where it had ended. Of a drive that may not be written, only reads
    are measured.
    """
    from ssdscope.models import collection
    from ssdscope.models.table import begun

    session: Session = context.obj
    guard(context, force=force)
    asked = collection.Options(design, points, test, repeats, until_ci, runtime, size, jobs)
    asked.require()
    used_seed = session.seed(seed if seed is not None else (begun(out) or {}).get("seed"))
    opened = TargetOptions.typed(context.params).open(used_seed)
    job = collection.Job.of(asked.plan(used_seed), asked, opened.device, target)
    if (opened.state or "").startswith("steady"):
        note(
            f"opened {opened.state}: settled for random writes of 4k, one at a time, not for others"
        )
    if job.skipped:
        note(f"{job.skipped:,} workloads are left out: the drive does not take such requests")
    if dry_run:
        _tell_plan(job, output_format, used_seed)
        return EXIT_DONE
    with stage_progress(progress) as stage:
        found = collection.run(job, opened.device, out, opened.identity(), stage)
    if found.before:
        note(f"{found.before} of the runs are in {out} already")
    if output_format == "json":
        from ssdscope.results.record import envelope

        about = {**envelope(seed=used_seed), "target": opened.describe()}
        emit_json({**about, **found.summary()})
    else:
        emit(table(("runs", "count"), [(key, str(n)) for key, n in found.summary().items()]))
    session.repeat(used_seed)
    if found.interrupted:
        note("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    return _status(found)


def _tell_plan(job: "Job", output_format: str, seed: int) -> None:
    longest_s = job.runs * job.plan.stop.runtime_ns / 1e9
    told = {"runs": job.runs, "skipped": job.skipped, "longest_drive_seconds": longest_s}
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=seed), **told})
    else:
        emit(table(("what", "value"), [(key, f"{value:,.10g}") for key, value in told.items()]))


def _status(found: "Collection") -> int:
    for remark in found.remarks():
        note(remark)
    if found.doubtful == len(found.rows):
        return EXIT_FAILED
    return EXIT_DONE if found.trustworthy else EXIT_NOT_TRUSTWORTHY
