"""``ssdscope twin``: the simulated drive of a report, and what a change to it would do."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.cli.terminal import paragraph
from ssdscope.errors import EXIT_DONE

if TYPE_CHECKING:
    from ssdscope.report.twinning import ReportedTwin
    from ssdscope.twin import WhatIf

WHAT_IF = "--what-if"
EXAMPLES = """
The twin of a drive that was measured, as a drive file:
  ssdscope twin report.json -O twin.toml
What more spare space would do:
  ssdscope twin report.json --what-if over_provisioning_ratio=0.28
Two changes at once, for a script:
  ssdscope twin report.json --what-if nand.read_ns=40000 --what-if nand.channels=8 -o json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(twin)


def twin(
    context: typer.Context,
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT.json", help="What `ssdscope characterize TARGET --json FILE` wrote."
        ),
        Input(),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-O",
            metavar="TWIN.toml",
            help="Where the drive file goes: a target for every other command.",
        ),
        Output((".toml",)),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option(
            WHAT_IF,
            metavar="KEY=VALUE",
            help="Run the changed twin against the original; repeatable. `ssdscope drives keys` "
            "lists the keys.",
            autocompletion=choices.DRIVE_KEYS.complete,
        ),
        choices.DRIVE_KEYS,
    ] = None,
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Take the twin out of a report: a simulated drive that behaves like the measured one.

    First it says how far the twin is off on workloads it was not fitted to. With -O the twin is
    written as a drive file, and `ssdscope run twin.toml` runs on it.

    With --what-if the twin, changed, runs a table of workloads against the twin as it is: reads
    and bursts of writes of 4 and 64 KiB at depths 1 and 32, and random writes brought to rest.
    """
    from pathlib import Path

    from ssdscope.report import document, twinning
    from ssdscope.results.files import write_text

    session: Session = context.obj
    guard(context, force=force)
    changes = twinning.parsed_changes(what_if or (), WHAT_IF)
    found = twinning.twin_of(document.read(Path(report)))
    twinning.require_changes(found, changes, WHAT_IF)
    if out is not None:
        write_text(out, found.toml)
    rows, used_seed = None, None
    if changes:
        used_seed = session.seed(seed)
        if output_format == "normal":
            emit(_about(found, out))
        with stage_progress(progress) as stage:
            rows = twinning.what_if(found, changes, seed=used_seed, progress=stage)
    if output_format == "json":
        emit_json(_document(found, out, changes, rows, used_seed))
    elif rows is None:
        emit(_about(found, out))
    else:
        emit(_table(changes, rows))
    if used_seed is not None:
        session.repeat(used_seed)
    return EXIT_DONE


def _about(found: "ReportedTwin", out: str | None) -> str:
    """Say how far a twin is off, what it lacks, and where it went."""
    lines = [f"twin of {found.report.uri}", found.in_words()]
    if found.not_modelled:
        lines += ["not found, so that it has what fits best:"]
        lines += [f"  {each}" for each in found.not_modelled]
    if found.others:
        lines += [f"{len(found.others)} other designs fit as well; they differ in"]
        lines += [f"  {each}" for each in found.differ]
    if found.at_bounds:
        lines += [f"at the end of their range: {', '.join(found.at_bounds)}"]
    lines.append("write it with -O twin.toml" if out is None else f"drive file: {out}")
    return "\n".join(paragraph(each) for each in lines)


def _table(changes: dict[str, str], rows: "list[WhatIf]") -> str:
    """Lay out the original and the changed twin; below 1 the changed one is faster."""
    from ssdscope.report.twinning import what_if_table

    named = ", ".join(f"{key}={value}" for key, value in changes.items())
    told = what_if_table(rows)
    shown = table(told.head, list(told.rows))
    return f"\nmean latency with {named}; a ratio below 1 is faster\n\n{shown}"


def _document(
    found: "ReportedTwin",
    out: str | None,
    changes: dict[str, str],
    rows: "list[WhatIf] | None",
    seed: int | None,
) -> dict[str, Any]:
    """Give all of it for scripts."""
    from ssdscope.results.record import envelope

    asked = None if rows is None else [row.to_json() for row in rows]
    return {
        **envelope(seed=seed),
        "report": {"path": found.report.where, "target": found.report.uri},
        "twin": found.to_json() | {"path": out},
        "changes": changes,
        "what_if": asked,
    }
