"""``ssdscope config``: what is in force after defaults, files and options."""

from typing import Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command, group
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.target_names import complete_target
from ssdscope.errors import EXIT_DONE

EXAMPLES = """
The defaults of a workload:
  ssdscope config show
A drive with all its defaults, and a key changed:
  ssdscope config show sim:mqsim-8g --set nand.read_ns=50000
"""
app = group("config", EXAMPLES)


@app.callback()
def only_with_a_command() -> None:
    """Show the settings in force."""


@command(app, short="Show every setting of a drive, or of a workload.", examples=EXAMPLES)
def show(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="A simulated drive; without it, the defaults of workloads.",
            autocompletion=complete_target,
        ),
        options.TARGET,
    ] = None,
    sets: options.Sets = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show the settings in force, in a form that can be read again.

    For a simulated drive these are all keys of its file, with its defaults and every --set.
    Without a target they are the defaults of a workload, as the table [workload] of a sweep
    takes them.
    """
    from ssdscope.results.record import envelope

    if target is None:
        from ssdscope.workloads.options import default_options

        resolved = {"workload": default_options()}
    else:
        from ssdscope.targets.opening import resolve_drive

        resolved = resolve_drive(target, sets or ())
    if output_format == "json":
        emit_json({**envelope(), "config": resolved})
    else:
        from ssdscope.cli.toml_text import to_toml

        emit(to_toml(resolved))
    return EXIT_DONE
