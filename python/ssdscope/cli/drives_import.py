"""``ssdscope drives import``: files of other simulators as drive files and job files."""

from typing import Annotated

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE, UsageError

EXAMPLES = """
A device file of MQSim as a drive, which is a target then:
  ssdscope drives import ssdconfig.xml > mine.toml
Its workload file as jobs, for `ssdscope run mine.toml --jobs jobs.toml`:
  ssdscope drives import workload.xml > jobs.toml
The same with a value of your own, by the file's name for it:
  ssdscope drives import ssdconfig.xml --override Page_Capacity=16384
An SSD or a hard disk of DiskSim; files that it names lie beside it:
  ssdscope drives import ssd.parv -O ssd.toml
"""
SHORT = "Turn a file of another simulator into one of ours."
OVERRIDE_FORM = "expected NAME=VALUE, as Channel_Transfer_Rate=800"


def import_drive(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file of MQSim, DiskSim, SSDsim, SimpleSSD or FlashSim.",
        ),
        Input(),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-O",
            metavar="FILE.toml",
            help="Where the file goes.",
            show_default="standard output",
        ),
        Output((".toml",)),
    ] = None,
    scenario: Annotated[
        int,
        typer.Option(
            "--scenario", metavar="N", min=1, help="Which scenario of a workload file, from 1."
        ),
    ] = 1,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "--override",
            metavar="NAME=VALUE",
            help="A value in place of the file's, by the file's name; repeatable.",
            show_default=False,
        ),
    ] = None,
    transfer_rate: Annotated[
        str | None,
        typer.Option(
            "--transfer-rate",
            metavar="WAY",
            help="How a rate of MQSim's channel is read.",
            show_default="computed, stated above 1,000 MT/s",
            autocompletion=choices.TRANSFER_RATES.complete,
        ),
        choices.TRANSFER_RATES,
    ] = None,
    time_unit: Annotated[
        str | None,
        typer.Option(
            "--time-unit",
            metavar="UNIT",
            help="The unit of FlashSim's delays.",
            show_default="the one in which all are those of flash",
            autocompletion=choices.TIME_UNITS.complete,
        ),
        choices.TIME_UNITS,
    ] = None,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Turn a file of another simulator into a drive file, or a workload file into jobs.

    What in it has no meaning here is named, with the reason, in the file and on standard error;
    `-o json` says of each value what became of it. What the drive would do otherwise than there is
    refused, and the refusal names the override that goes on without it.
    """
    from dataclasses import asdict
    from pathlib import Path

    from ssdscope.results.files import write_text
    from ssdscope.results.record import envelope
    from ssdscope.targets.imports import ImportOptions, import_file

    guard(context, force=force)
    overrides = dict(_override(each) for each in override or ())
    imported = import_file(file, ImportOptions(scenario, overrides, transfer_rate, time_unit))
    if out is not None:
        write_text(Path(out), imported.toml)
    if output_format == "json":
        account = [asdict(each) for each in imported.account]
        document = {"kind": imported.kind, "toml": imported.toml, "notes": list(imported.notes)}
        emit_json({**envelope(), **document, "account": account})
    elif out is None:
        emit(imported.toml.rstrip("\n"))
    else:
        emit(f"{imported.kind}: {out}")
    for each in imported.notes:
        note(each)
    return EXIT_DONE


def _override(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise UsageError(f"--override {text!r}", hint=OVERRIDE_FORM)
    return name.strip(), value.strip()
