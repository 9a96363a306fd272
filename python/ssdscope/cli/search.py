"""``ssdscope search``: the best configuration of a drive for a workload or a trace."""

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import options, search_text
from ssdscope.cli.help import command
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Given, Input, Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOT_TRUSTWORTHY,
    UsageError,
)

if TYPE_CHECKING:
    from ssdscope.search import Found, Plan

EXAMPLES = """
What would be searched:
  ssdscope search examples/search-front.toml --dry-run
The best on all cores, with a picture; the same command again goes on where it ended:
  ssdscope search examples/search-front.toml -O front.jsonl --plot front.svg
The first row of the result as a drive file:
  ssdscope search examples/search-front.toml -O front.jsonl --write-drive best.toml
"""
PICTURES = (".svg", ".png", ".pdf")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(search)


def _read_by(plan: str) -> list[str]:
    from ssdscope.search.files import read_by

    return read_by(plan)


def _table_beside(path: str, _given: Given) -> list[str]:
    from ssdscope.sweep.running import table_beside

    return [table_beside(path)]


def search(
    context: typer.Context,
    plan: Annotated[
        str,
        typer.Argument(
            metavar="FILE.toml",
            help="The plan: a drive, a workload or a trace, the keys that vary, what is "
            "minimised, limits and prices. docs/search.md has one.",
        ),
        Input(_read_by),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-O", metavar="FILE.jsonl", help="Where the trials go, a line for each."
        ),
        Output((".jsonl",), _table_beside, resumed=True, judged=True),
    ] = "search.jsonl",
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            min=1,
            help="How many configurations are run.",
            show_default="those of the plan",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Trials at the same time; -1 for all cores.",
            show_default="all cores",
        ),
    ] = -1,
    write_drive: Annotated[
        str | None,
        typer.Option(
            "--write-drive",
            metavar="DRIVE.toml",
            help="Write the best as a drive file: a target for every other command.",
        ),
        Output((".toml",)),
    ] = None,
    row: Annotated[
        int,
        typer.Option("--row", metavar="N", min=1, help="Which row of a front is written."),
    ] = 1,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE.svg",
            help="Draw the front, or the best so far: .svg, .png, .pdf.",
        ),
        Output(PICTURES),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be searched, and stop.")
    ] = False,
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Find the configuration of a simulated drive that is best for a workload or a trace.

    Several figures at once have a front: rows that no other beats in all of them. Each trial is
    kept as it comes, as by `sweep`, and `sweep summary` reads them. The best are run again with
    another seed. If nothing keeps the limits, the nearest is shown and the exit code is 1.
    """
    from ssdscope.search import read_plan
    from ssdscope.search import search as find
    from ssdscope.sweep import Journal
    from ssdscope.sweep.running import known_seed, require_engine

    session: Session = context.obj
    require_engine(jobs, None)
    loaded = read_plan(plan)
    loaded = loaded if trials is None else replace(loaded, trials=trials)
    guard(context, force=force)
    opened: AbstractContextManager[Journal | None]
    no_file = dry_run and not Path(out).exists()
    opened = nullcontext() if no_file else closing(Journal(out))
    with opened as journal:
        used = session.seed(known_seed(seed, loaded.seed, journal))
        if dry_run or journal is None:
            loaded.load(used)
            _show_plan(loaded, used, output_format)
            return EXIT_DONE
        with stage_progress(progress) as stage:
            found = find(loaded, journal, used, jobs=jobs, progress=stage)
    _show(found, output_format)
    _write(found, write_drive, row, plot)
    session.repeat(used)
    return _ended(found)


def _show_plan(plan: "Plan", seed: int, output_format: str) -> None:
    if output_format == "json":
        from ssdscope.results.record import envelope
        from ssdscope.search.telling import plan_json

        emit_json({**envelope(seed=seed), "search": plan_json(plan)})
    else:
        emit(search_text.plan_text(plan))


def _show(found: "Found", output_format: str) -> None:
    from ssdscope.search.telling import broken_again, reasons, to_json

    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=found.seed), **to_json(found)})
    else:
        emit(search_text.found_text(found))
    for reason, count in reasons(found).items():
        note(f"{count} could not be run: {reason}")
    for row in broken_again(found):
        why = row.again.reason if row.again is not None and row.again.reason else "breaks a limit"
        note(f"warning: trial with {search_text.words(row.trial)}: with another seed it {why}")


def _write(found: "Found", drive: str | None, row: int, plot: str | None) -> None:
    """Write the best drive and the picture, together."""
    from ssdscope.results.files import together, write_with_others
    from ssdscope.search.telling import drive_file
    from ssdscope.targets.names import printable

    told = []
    with together():
        if drive is not None and found.best:
            if row > len(found.best):
                raise UsageError(f"--row: there is no {row}, the result has {len(found.best)}")
            text = drive_file(found, found.best[row - 1])
            write_with_others(drive, printable(text).encode())
            told.append(f"row {row} is in {drive}")
        if plot is not None:
            from ssdscope.plots import LIGHT, save
            from ssdscope.plots.searches import picture

            save(picture(found, LIGHT), plot)
            told.append(f"the picture is in {plot}")
    for each in told:
        note(each)


def _ended(found: "Found") -> int:
    """Say how it ended."""
    from ssdscope.search.telling import broken_again

    if found.interrupted:
        note("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    if not found.best:
        error(*search_text.why_nothing(found))
        return EXIT_FAILED
    return EXIT_NOT_TRUSTWORTHY if broken_again(found) else EXIT_DONE
