"""The commands put together, and every error turned into a message and an exit code."""

import os
import traceback
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from ssdscope import __version__
from ssdscope.cli import completion, memory, usage
from ssdscope.cli.commands import LISTED, Commands
from ssdscope.cli.help import HelpGroup
from ssdscope.cli.output import close_stdout, emit, error, name_words, note
from ssdscope.cli.session import Session
from ssdscope.cli.terminal import take_any_text
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, SsdscopeError


class _Commands(HelpGroup):
    """The commands; typer would end an interrupted one without a word."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        self.commands = Commands()  # type: ignore[assignment]  # nothing is added to it

    def listed(self) -> Iterator[tuple[str, str, str]]:
        """Give what is known of the commands before they are loaded."""
        for name, each in LISTED.items():
            yield each.heading, name, each.short

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note("interrupted")
            return EXIT_INTERRUPTED


_PANIC = "PanicException"
"""What a panic of the compiled module is in Python: no `Exception`, as it may break anything."""

EXAMPLES = """
The drives that ship, and one of them read at random:
  ssdscope drives list
  ssdscope run sim:mqsim-8g --rw randread --iodepth 8 --number-ios 100000
Everything about it on one page:
  ssdscope characterize sim:mqsim-8g -O report.html
More examples of a command:
  ssdscope run --help
"""

app = typer.Typer(
    name="ssdscope",
    cls=_Commands,
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # fio writes number_ios, most tools number-ios: take both.
        "token_normalize_func": lambda token: token.replace("_", "-"),
    },
)


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
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion",
            callback=completion.install_if,
            is_eager=True,
            help="Install completion for this shell: bash, zsh or fish.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion",
            callback=completion.show_if,
            is_eager=True,
            help="Print the script that does it.",
        ),
    ] = False,
) -> None:
    """Look inside a solid-state drive from the outside.

    Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 usage or
    configuration, 3 finished but not to be trusted, 130 interrupted with what was measured
    so far kept.
    """
    del version, install_completion, show_completion  # done by their callbacks
    del debug  # taken before parsing, so that it works anywhere


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
    name_words(words)
    session = Session(tuple(words), debug)
    command = typer.main.get_command(app)
    if instruction := os.environ.get(completion.ASKED):
        return completion.answer(command, instruction)
    try:
        status = command.main(words, prog_name="ssdscope", standalone_mode=False, obj=session)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        close_stdout()
        return EXIT_DONE
    except BaseException as failure:  # the last stop: nothing may escape as a traceback
        if not isinstance(failure, Exception) and type(failure).__name__ != _PANIC:
            raise
        if debug:
            note(traceback.format_exc())
        return _explain(failure, command, words)
    return status if isinstance(status, int) else EXIT_DONE


def _explain(failure: BaseException, command: Any, words: Sequence[str]) -> int:
    """Tell the user of an error, and give the exit code."""
    match failure:
        case SsdscopeError():
            error(failure.message, failure.hint)
            return failure.exit_code
        case TyperException():
            _explain_usage(failure, command, words)
            return EXIT_USAGE
        case OSError() if failure.errno is not None:
            from ssdscope.results import reasons

            where = f"{failure.filename}: " if failure.filename else ""
            error(f"{where}{reasons.reason(failure)}", reasons.known_hint(failure))
            return EXIT_FAILED
        case MemoryError() | RuntimeError() if memory.is_exhaustion(failure):
            error(memory.words(failure), memory.HINT)
            return EXIT_FAILED
    error(
        f"this is a defect of ssdscope: {type(failure).__name__}: {failure}",
        "run it again with --debug, and report what it shows",
    )
    return EXIT_FAILED


def _explain_usage(failure: TyperException, command: Any, words: Sequence[str]) -> None:
    if type(failure).__name__ == "NoArgsIsHelpError":
        note(failure.format_message())
    else:
        error(*usage.explain(failure, command, words))
