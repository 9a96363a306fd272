"""``ssdscope drives``: the simulated drives that ship, and drive files of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.output import emit, emit_json, table
from ssdscope.errors import EXIT_DONE, EXIT_USAGE, UsageError

app = typer.Typer(
    name="drives", help="List, show and check simulated drives.", no_args_is_help=True
)

DriveArgument = Annotated[
    str, typer.Argument(metavar="DRIVE", help="A name from `drives list`, or a path to a .toml.")
]


@app.command("list")
def list_drives(output_format: options.OutputFormat = "normal") -> int:
    """List the drives that ship with ssdscope."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.presets import preset_description, preset_names

    found = [(name, preset_description(name)) for name in preset_names()]
    if output_format == "json":
        drives = [{"name": name, "uri": f"sim:{name}", "description": text} for name, text in found]
        emit_json({**envelope(), "drives": drives})
    else:
        emit(
            table(("name", "description"), [(f"sim:{name}", text) for name, text in found], left=2)
        )
    return EXIT_DONE


@app.command()
def show(
    drive: DriveArgument,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the file; an edited copy is a target.")
    ] = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show a drive, with every default filled in."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.opening import read_drive, resolve_drive

    uri = _uri(drive)
    if toml:
        emit(read_drive(uri)[0].rstrip("\n"))
        return EXIT_DONE
    resolved = resolve_drive(uri)
    if output_format == "json":
        emit_json({**envelope(), "uri": uri, "drive": resolved})
    else:
        from ssdscope.cli.toml_text import to_toml

        emit(to_toml(resolved))
    return EXIT_DONE


@app.command()
def check(drive: DriveArgument, output_format: options.OutputFormat = "normal") -> int:
    """Check a drive file and tell every fault in it."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.opening import check_drive

    faults = check_drive(_uri(drive))
    if output_format == "json":
        emit_json({**envelope(), "drive": drive, "valid": not faults, "faults": faults})
    else:
        emit("\n".join(faults) if faults else f"{drive}: fine")
    return EXIT_USAGE if faults else EXIT_DONE


@app.command()
def keys(output_format: options.OutputFormat = "normal") -> int:
    """List every key of a drive file with its unit, default and meaning."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.opening import drive_keys

    found = drive_keys()
    if output_format == "json":
        emit_json({**envelope(), "keys": found})
    else:
        rows = [
            [str(key.get(column) or "") for column in ("key", "type", "unit", "default", "doc")]
            for key in found
        ]
        emit(table(("key", "type", "unit", "default", "meaning"), rows, left=5))
    return EXIT_DONE


def _uri(drive: str) -> str:
    """Take a bare name for a drive that ships."""
    if drive.endswith(".toml") or drive.startswith("sim:"):
        return drive
    if "/" in drive or Path(drive).exists():
        raise UsageError(
            f"{drive} is not a drive file: its name does not end in .toml",
            hint="rename it; ssdscope drives show mqsim-8g --toml prints one to begin with",
        )
    return f"sim:{drive}"
