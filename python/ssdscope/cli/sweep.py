"""``ssdscope sweep``: many runs, on all cores, resumable."""

from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import options, sweep_results
from ssdscope.cli.help import HelpGroup, command, group
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Given, Input, Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from ssdscope.sweep.points import Point

EXAMPLES = """
All of a plan on all cores; the same command again runs what is missing:
  ssdscope sweep examples/sweep-gc.toml -O gc.jsonl
What it came to:
  ssdscope sweep summary gc.jsonl
  ssdscope sweep plot gc.jsonl -O gc.svg
"""
RUN_EXAMPLES = """
What would be run:
  ssdscope sweep run examples/block-sizes.toml --dry-run
All of it on all cores; the same command again runs what is missing:
  ssdscope sweep run examples/block-sizes.toml -O sizes.jsonl
On a Dask cluster:
  ssdscope sweep run examples/block-sizes.toml -O sizes.jsonl --scheduler tcp://127.0.0.1:8786
"""


class _SweepGroup(HelpGroup):
    """Takes ``sweep FILE.toml`` for ``sweep run FILE.toml``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word in where a command is missing."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = group("sweep", EXAMPLES, _SweepGroup)


def _read_by(plan: str) -> list[str]:
    """List the plan and the drives in it."""
    from ssdscope.sweep.running import read_by

    return read_by(plan)


def _table_beside(path: str, _given: Given) -> list[str]:
    from ssdscope.sweep.running import table_beside

    return [table_beside(path)]


@command(app, "run", short="Run every combination of a plan.", examples=RUN_EXAMPLES)
def sweep(
    context: typer.Context,
    plan: Annotated[
        str,
        typer.Argument(
            metavar="FILE.toml",
            help="The plan: targets, states, workloads, lists to combine. docs/sweeps.md has it.",
        ),
        Input(_read_by),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-O", metavar="FILE.jsonl", help="Where the results go, a line per run."
        ),
        Output((".jsonl",), _table_beside, resumed=True, judged=True),
    ] = "sweep.jsonl",
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Runs at the same time; -1 for all cores.",
            show_default="all cores",
        ),
    ] = -1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Run on the workers of a Dask scheduler: tcp://127.0.0.1:8786.",
            show_default="this machine",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs, and stop.")] = False,
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Run every combination of a plan, and keep each result as it comes.

    Runs that the output already holds are skipped: the same command goes on where it was
    interrupted. At the end a table with a row per run stands beside the output, as Parquet.
    """
    from ssdscope.sweep import Journal, points_of, read_plan
    from ssdscope.sweep.running import known_seed, missing, require_engine, run_missing

    session: Session = context.obj
    require_engine(jobs, scheduler)
    loaded = read_plan(plan)
    guard(context, force=force)
    no_file = dry_run and not Path(out).exists()
    opened: AbstractContextManager[Journal | None]
    opened = nullcontext() if no_file else closing(Journal(out))
    with opened as journal:
        used_seed = session.seed(known_seed(seed, loaded.seed, journal))
        points = points_of(loaded, used_seed)
        if dry_run or journal is None:
            _list(points, used_seed, output_format)
            return EXIT_DONE
        left = len(missing(points, journal))
        note(f"{len(points)} runs, {len(points) - left} of them done before")
        with stage_progress(progress, estimated=True) as stage:
            swept = run_missing(
                points, journal, used_seed, jobs=jobs, scheduler=scheduler, progress=stage
            )
    summary = swept.summary()
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=used_seed), **summary})
    else:
        emit(table(("what", "value"), [(key, str(value)) for key, value in summary.items()]))
    for reason, count in swept.reasons.items():
        note(f"{count} failed: {reason}")
    session.repeat(used_seed)
    if swept.unsettled:
        note(
            f"{swept.unsettled:,} of the runs are not what their drive, opened steady, was "
            "settled for: their figures may still drift (`unsettled` says why; run --until-steady "
            "settles one)"
        )
    if swept.interrupted:
        note("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    return EXIT_FAILED if swept.failed else EXIT_DONE


def _list(points: "list[Point]", seed: int, output_format: str) -> None:
    if output_format == "json":
        from dataclasses import asdict

        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=seed), "points": [asdict(point) for point in points]})
    else:
        emit("\n".join(point.label for point in points))


sweep_results.register(app)
