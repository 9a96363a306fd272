"""``ssdscope drives import``: files of other simulators as drive files and job files."""

from typing import Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE

EXAMPLES = """
A device file of MQSim as a drive, which is a target then:
  ssdscope drives import ssdconfig.xml > mine.toml
Its workload file as jobs, for `ssdscope run mine.toml --jobs jobs.toml`:
  ssdscope drives import workload.xml > jobs.toml
A parameter file of DiskSim with Microsoft's SSD extension:
  ssdscope drives import ssd.parv -O ssd.toml
"""
SHORT = "Turn a file of MQSim or DiskSim into one of ours."


def import_drive(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A device or workload XML of MQSim, or a parameter file of DiskSim.",
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
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Turn a file of another simulator into a drive file, or a workload file into jobs.

    What in it has no meaning here is named, with the reason, in the file and on standard error.
    What the drive would do otherwise than there is refused.
    """
    from pathlib import Path

    from ssdscope.results.files import write_text
    from ssdscope.results.record import envelope
    from ssdscope.targets.imports import import_file

    guard(context, force=force)
    imported = import_file(file, scenario)
    if out is not None:
        write_text(Path(out), imported.toml)
    if output_format == "json":
        told = {"kind": imported.kind, "toml": imported.toml, "notes": list(imported.notes)}
        emit_json({**envelope(), **told})
    elif out is None:
        emit(imported.toml.rstrip("\n"))
    else:
        emit(f"{imported.kind}: {out}")
    for each in imported.notes:
        note(each)
    return EXIT_DONE
