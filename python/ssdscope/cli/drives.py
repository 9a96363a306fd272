"""``ssdscope drives``: the simulated drives that ship, and drive files of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import drives_import, options
from ssdscope.cli.help import command, group
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.target_names import complete_drive
from ssdscope.errors import EXIT_DONE, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from ssdscope.targets.provenance import Comments

LIST_EXAMPLES = """
The drives, with what each stands for:
  ssdscope drives list
Their names, for a script:
  ssdscope drives list -o json
"""
SHOW_EXAMPLES = """
A drawing of the inside, with every value and its source:
  ssdscope drives show mqsim-8g
A copy to edit, which is a target then:
  ssdscope drives show mqsim-8g --toml > mine.toml
"""
CHECK_EXAMPLES = """
A drive file of your own:
  ssdscope drives check mine.toml
A drive that ships with ssdscope:
  ssdscope drives check sim:mqsim-8g -o json
"""
KEYS_EXAMPLES = """
Every key, with its unit, default and meaning:
  ssdscope drives keys
For a script:
  ssdscope drives keys -o json
"""
EXAMPLES = """
The drives that ship with ssdscope:
  ssdscope drives list
The inside of one:
  ssdscope drives show mqsim-8g
A copy to edit, and whether it works:
  ssdscope drives show mqsim-8g --toml > mine.toml
  ssdscope drives check mine.toml
"""

app = group("drives", EXAMPLES)

command(app, "import", short=drives_import.SHORT, examples=drives_import.EXAMPLES)(
    drives_import.import_drive
)

DriveArgument = Annotated[
    str,
    typer.Argument(
        metavar="DRIVE",
        help="A name that `ssdscope drives list` shows, or a drive .toml.",
        autocompletion=complete_drive,
    ),
]


@command(app, "list", short="List the drives that ship with ssdscope.", examples=LIST_EXAMPLES)
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


@command(app, short="Draw the inside of a drive, with all its values.", examples=SHOW_EXAMPLES)
def show(
    drive: DriveArgument,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the drive file. An edited copy is a target.")
    ] = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Draw the inside of a drive, with every value and where it comes from."""
    import shutil

    from ssdscope.cli.drawing import draw
    from ssdscope.results.record import envelope
    from ssdscope.targets.opening import open_target, read_drive, resolve_drive

    uri = _uri(drive)
    if toml:
        emit(read_drive(uri)[0].rstrip("\n"))
        return EXIT_DONE
    resolved, comments, made_of = resolve_drive(uri), *_comments(uri)
    capacity_bytes = open_target(uri, state="fresh").capacity_bytes
    if output_format == "json":
        shown = {"uri": uri, "capacity_bytes": capacity_bytes, "head": comments.head}
        values = {"members": made_of, "drive": resolved, "values": _values(resolved, comments)}
        emit_json({**envelope(), **shown, **values})
    else:
        if len(made_of) > 1:
            emit(f"An array of {len(made_of)}: {', '.join(made_of)}. Each:\n")
        width = shutil.get_terminal_size().columns
        emit(draw(resolved, comments, capacity_bytes // len(made_of), width))
    return EXIT_DONE


@command(app, short="Find every fault of a drive file.", examples=CHECK_EXAMPLES)
def check(drive: DriveArgument, output_format: options.OutputFormat = "normal") -> int:
    """Find every fault of a drive file; the exit code is 2 if there is one."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.opening import check_drive

    faults = check_drive(_uri(drive))
    if output_format == "json":
        emit_json({**envelope(), "drive": drive, "valid": not faults, "faults": faults})
    else:
        emit("\n".join(faults) if faults else f"{drive}: fine")
    return EXIT_USAGE if faults else EXIT_DONE


@command(app, short="List every key of a drive file.", examples=KEYS_EXAMPLES)
def keys(output_format: options.OutputFormat = "normal") -> int:
    """List every key of a drive file, with its type, unit, default and meaning."""
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


def _comments(uri: str) -> tuple["Comments", list[str]]:
    """Read what the file of a drive says of its values, and what the drive is made of."""
    from ssdscope.targets.opening import array_behind, members_of, read_drive
    from ssdscope.targets.provenance import read_comments

    comments = read_comments(read_drive(uri)[0])
    array = array_behind(uri)
    if array is None:
        return comments, [uri]
    members = members_of(array)
    return read_comments(read_drive(members[0])[0]).overridden_by(comments, "set"), members


def _values(resolved: dict[str, Any], comments: "Comments") -> list[dict[str, Any]]:
    """List every value under its dotted key, with what the drive file says of it."""
    from dataclasses import asdict

    flat: dict[str, Any] = {}
    for name, value in resolved.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            flat[name] = value
    return [
        {"key": key, "value": value, **asdict(comments.origin(key))} for key, value in flat.items()
    ]


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
