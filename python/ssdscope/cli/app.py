"""The commands put together, and every error turned into a message and an exit code."""

import errno
import os
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ssdscope import __version__
from ssdscope.cli import (
    characterize,
    config,
    doctor,
    drives,
    model,
    probe,
    replay,
    reproduce,
    run,
    sweep,
    trace,
)
from ssdscope.cli.output import close_stdout, emit, error, note
from ssdscope.cli.session import Session
from ssdscope.cli.terminal import take_any_text
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, SsdscopeError


class _Commands(TyperGroup):
    """The commands; typer would end an interrupted one without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note("interrupted")
            return EXIT_INTERRUPTED


app = typer.Typer(
    name="ssdscope",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # fio writes number_ios, most tools number-ios: take both.
        "token_normalize_func": lambda token: token.replace("_", "-"),
    },
)
for module in (characterize, probe, run, replay, reproduce, sweep, doctor):
    module.register(app)
app.add_typer(drives.app)
app.add_typer(trace.app)
app.add_typer(config.app)
app.add_typer(model.app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from ssdscope.targets.native_build import native_build

        emit(f"ssdscope {__version__} ({native_build()})")
        raise typer.Exit(EXIT_DONE)


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version, the commit and the compiler.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Look inside a solid-state drive from the outside.

    Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 usage or
    configuration, 3 finished but not to be trusted, 130 interrupted with what was measured
    so far kept.
    """
    del version, debug  # told by its callback; taken before parsing, so it works anywhere


def run_cli(argv: Sequence[str]) -> int:
    """Run one command line.

    Returns
    -------
    int
        The exit code.
    """
    debug = "--debug" in argv
    words = [word for word in argv if word != "--debug"]
    take_any_text()
    session = Session(tuple(words), debug)
    try:
        status = typer.main.get_command(app).main(
            words, prog_name="ssdscope", standalone_mode=False, obj=session
        )
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        close_stdout()
        return EXIT_DONE
    except Exception as failure:  # noqa: BLE001 (the last stop: nothing may escape as a traceback)
        if debug:
            traceback.print_exc()
        return _explain(failure)
    return status if isinstance(status, int) else EXIT_DONE


def _explain(failure: Exception) -> int:
    """Tell the user of an error, and give the exit code."""
    match failure:
        case SsdscopeError():
            error(failure.message, failure.hint)
            return failure.exit_code
        case TyperException():
            _explain_usage(failure)
            return EXIT_USAGE
        case OSError() if failure.errno is not None:
            where = f"{failure.filename}: " if failure.filename else ""
            hint = "free some space and run again" if failure.errno == errno.ENOSPC else None
            error(f"{where}{os.strerror(failure.errno)}", hint)
            return EXIT_FAILED
        case MemoryError():
            error("out of memory", "a smaller drive or a shorter run needs less")
            return EXIT_FAILED
    error(
        f"this is a defect of ssdscope: {type(failure).__name__}: {failure}",
        "run it again with --debug, and report what it shows",
    )
    return EXIT_FAILED


def _explain_usage(failure: TyperException) -> None:
    message = failure.format_message().rstrip(".")
    context = getattr(failure, "ctx", None)
    if type(failure).__name__ == "NoArgsIsHelpError":
        note(failure.format_message())
        return
    path = context.command_path if context is not None else "ssdscope"
    error(message[:1].lower() + message[1:], f"{path} --help shows the options")
