"""``ssdscope config``: what is in force after defaults, files and options."""

from typing import Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.output import emit, emit_json
from ssdscope.errors import EXIT_DONE

app = typer.Typer(name="config", help="Show resolved settings.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Show resolved settings."""


@app.command()
def show(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]", help="A simulated drive; without it, the defaults of workloads."
        ),
    ] = None,
    sets: options.Sets = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Print the settings in force, in a form that can be fed back.

    For a simulated drive: its file with every default and every --set applied. Without a
    target: the defaults of a workload, as the [workload] table of a sweep file has them.
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
