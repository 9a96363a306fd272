"""``ssdscope model collect``: workloads run on a drive, for a model to learn from."""

from typing import TYPE_CHECKING, Annotated, Any

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
    UsageError,
    nearest,
)

if TYPE_CHECKING:
    from ssdscope.models.table import Table

EXAMPLES = """
256 workloads, spread evenly:
  ssdscope model collect sim:huang-ssd-i --design sobol --points 256 -O ssd-i.parquet
How long that may take:
  ssdscope model collect sim:mqsim-8g --points 256 --dry-run
A real file, only read, a second for each workload:
  ssdscope model collect big.bin --points 64 --runtime 1s -O big.parquet
"""
DOUBTFUL_SHARE_MAX = 0.20
LARGEST = 1 << 20


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
    from ssdscope.models import collecting, designs
    from ssdscope.models.table import Table, begun

    session: Session = context.obj
    guard(context, force=force)
    given = _plan(design, points, test, repeats, until_ci, runtime, jobs)
    used_seed = session.seed(seed if seed is not None else (begun(out) or {}).get("seed"))
    opened = TargetOptions.typed(context.params).open(used_seed)
    designs.require(opened.device.info)
    plan = collecting.Plan(
        **given, seed=used_seed, size_bytes=_region(size, opened.device.info.capacity_bytes)
    )
    if (opened.state or "").startswith("steady"):
        note(
            f"opened {opened.state}: settled for random writes of 4k, one at a time, not for others"
        )
    planned, skipped = collecting.tasks(opened.device.info, plan)
    if skipped:
        note(f"{skipped:,} workloads are left out: the drive does not take such requests")
    if not planned:
        raise UsageError(f"target {target!r} takes none of these workloads")
    if dry_run:
        _tell_plan(plan, len(planned), skipped, output_format, used_seed)
        return EXIT_DONE
    plan = collecting.filled(plan, opened.device, out)
    header = plan.header(
        {
            "target": opened.uri,
            "state": opened.state,
            "sets": list(sets or ()),
            "capacity_bytes": opened.capacity_bytes,
            "writable": opened.device.info.writable,
            "fingerprint": opened.fingerprint(),
        },
        skipped,
    )
    interrupted = False
    with Table(out, header) as rows:
        before = len(rows.known)
        if before:
            note(f"{before} of the runs are in {out} already")
        try:
            with stage_progress(progress) as stage:
                collecting.collect(opened.device, plan, rows, stage)
        except KeyboardInterrupt:
            interrupted = True
    summary = _summary(rows, out, skipped)
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=used_seed), "target": opened.describe(), **summary})
    else:
        emit(table(("runs", "count"), [(key, str(value)) for key, value in summary.items()]))
    session.repeat(used_seed)
    if interrupted:
        note("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    return _status(summary)


def _plan(
    design: str,
    points: int | None,
    test: int | None,
    repeats: int | None,
    until_ci: str,
    runtime: str,
    jobs: int,
) -> dict[str, Any]:
    """Read the options of a collection, the seed left out."""
    from ssdscope.models.designs import DESIGNS, GRID_POINTS
    from ssdscope.units import parse_percent, parse_seconds
    from ssdscope.workloads.grid import FILLED_STOP, Stop

    if design not in DESIGNS:
        raise UsageError(f"--design: {design!r} is not a design", hint=nearest(design, DESIGNS))
    wanted = points if points is not None else (GRID_POINTS if design == "grid" else 1024)
    counts = {
        "points": wanted,
        "test": wanted // 4 if test is None else test,
        "repeats": wanted // 16 if repeats is None else repeats,
    }
    for name, count in counts.items():
        least = 1 if name == "points" else 0
        if not least <= count <= LARGEST:
            raise UsageError(f"--{name}: {count} is not between {least} and {LARGEST:,}")
    if jobs == 0 or jobs < -1:
        raise UsageError(f"--jobs: {jobs} is no number of runs", hint="use 1 or more, or -1")
    stop = Stop(
        _typed("--until-ci", parse_percent, until_ci),
        _typed("--runtime", parse_seconds, runtime),
        FILLED_STOP.fill_bytes,
    )
    if not 0 < stop.until_ci < 1:
        raise UsageError(f"--until-ci: {until_ci} is not between 0% and 100%")
    if stop.runtime_ns <= 0:
        raise UsageError("--runtime: must be more than 0")
    return {"design": design, **counts, "stop": stop, "jobs": jobs}


def _region(size: str | None, capacity_bytes: int) -> int | None:
    """Read the option --size."""
    from ssdscope.models.designs import SMALLEST_DRIVE_BYTES
    from ssdscope.units import parse_size

    if size is None:
        return None
    found: int = _typed("--size", parse_size, size)
    if not SMALLEST_DRIVE_BYTES <= found <= capacity_bytes:
        raise UsageError(
            f"--size: {size} is not between {SMALLEST_DRIVE_BYTES} bytes and the drive's "
            f"{capacity_bytes}"
        )
    return found


def _typed(option: str, parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error


def _tell_plan(plan: Any, runs: int, skipped: int, output_format: str, seed: int) -> None:
    longest_s = runs * plan.stop.runtime_ns / 1e9
    told = {"runs": runs, "skipped": skipped, "longest_drive_seconds": longest_s}
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=seed), **told})
    else:
        emit(table(("what", "value"), [(key, f"{value:,.10g}") for key, value in told.items()]))


def _summary(rows: "Table", out: str, skipped: int) -> dict[str, Any]:
    from ssdscope.models.table import LITTLE_MAX, SPLITS

    every = rows.rows
    fine = [each for each in every if not each.row.failure]
    return {
        **{split: sum(1 for each in every if each.split == split) for split in SPLITS},
        "skipped": skipped,
        "failed": len(every) - len(fine),
        "ended_by_time": sum(1 for each in fine if not each.row.ci_reached),
        "against_little": sum(1 for each in fine if each.row.little_deviation > LITTLE_MAX),
        "drifted": sum(1 for each in fine if not each.state_ok),
        "usable": sum(1 for each in every if each.usable),
        "out": out,
    }


def _status(summary: dict[str, Any]) -> int:
    total = summary["train"] + summary["test"] + summary["repeat"]
    doubtful = total - summary["usable"]
    if summary["against_little"]:
        note(
            f"{summary['against_little']} runs against Little's law: latency times rate is not "
            "what was in flight; something else keeps the host busy, or it answers without the "
            "drive"
        )
    if doubtful:
        note(f"{doubtful} of {total} runs failed or are doubtful; no model learns from them")
    if doubtful == total:
        return EXIT_FAILED
    return EXIT_NOT_TRUSTWORTHY if doubtful > DOUBTFUL_SHARE_MAX * total else EXIT_DONE
