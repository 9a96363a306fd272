"""Pages of help, laid out for the width of the terminal.

A page says how the command is called and what it does. Then come its arguments, its options in
groups (the common ones first, those of all commands last), and examples that can be copied.
Names that an option takes are listed with what they mean (`choices`).
"""

import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ssdscope.cli.choices import Choices, Names
from ssdscope.cli.commands import LISTED
from ssdscope.cli.outputs import marks_of

LEAST_COLUMNS, MOST_COLUMNS = 40, 100
BESIDE_COLUMNS = 72
"""With fewer columns the text of an option stands below its name, not beside it."""
LEAD_MAX = 28
GAP, INDENT = "  ", "  "
READING, TARGET, OUTPUT = "Reading the trace", "Target", "Output"
LAST_GROUPS = (READING, TARGET, OUTPUT)
"""Groups of options that many commands have."""
OUTPUT_ORDER = {"output_format": 0, "seed": 1, "log": 2, "progress": 3, "force": 4}
_KEPT_SPACE = "\N{NO-BREAK SPACE}"
_WORD = r"""(?:[^\s"']|"[^"]*"|'[^']*')+"""
_ARGUMENT = re.compile(rf"-\S+ (?!-){_WORD}|{_WORD}")
"""A word of a command line, or an option with its value."""


class HelpCommand(TyperCommand):
    """A command with a page of ours."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        formatter.write(page(ctx, columns()))


class HelpGroup(TyperGroup):
    """A command with commands below it, and a page of ours."""

    def listed(self) -> Iterator[tuple[str, str, str]]:
        """Give the heading, the name and the meaning of each command below it."""
        for name, each in self.commands.items():
            yield "Commands", name, each.short_help or ""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        formatter.write(page(ctx, columns()))


def group(name: str, examples: str, cls: type[HelpGroup] = HelpGroup) -> typer.Typer:
    """Make a command that has commands below it; `commands` says what it does."""
    text = LISTED[name].short
    return typer.Typer(name=name, cls=cls, help=text, epilog=examples, no_args_is_help=True)


def command(
    app: typer.Typer, name: str | None = None, *, examples: str, short: str | None = None
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add a function as a command.

    Parameters
    ----------
    app
        Where it is added.
    name
        Its name; by default the function's.
    examples
        Lines that begin with ``ssdscope`` can be copied, others say what those below them do.
    short
        What it does, in a line; of a command that is not below another, `commands` says it.
    """
    return app.command(name, cls=HelpCommand, short_help=short, epilog=examples)


def columns() -> int:
    """Give the columns of a page."""
    return min(max(shutil.get_terminal_size().columns, LEAST_COLUMNS), MOST_COLUMNS)


@dataclass(frozen=True)
class _Row:
    """A name, what it means, and the names that it takes."""

    lead: str
    text: str
    names: Names = field(default_factory=dict)


def page(context: typer.Context, columns: int) -> str:
    """Write the page of a command, no line longer than `columns`."""
    shown = context.command
    paragraphs = re.split(r"\n\s*\n", (shown.help or "").strip())
    parts = [
        _usage(context, columns),
        *(_filled(text, columns, INDENT) for text in paragraphs),
        *_sections(_commands(context), columns),
        *_sections(_parameters(context), columns),
        *_examples(shown.epilog or "", columns),
    ]
    return "\n\n".join(parts) + "\n"


def example_lines(epilog: str) -> list[str]:
    """Give the command lines among examples."""
    lines = (line.strip() for line in epilog.splitlines())
    return [line for line in lines if line.startswith("ssdscope ")]


def _usage(context: typer.Context, columns: int) -> str:
    parameters: list[Any] = [*context.command.get_params(context)]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    names = (each.metavar if each.required else f"[{each.metavar}]" for each in arguments)
    pieces = ["[OPTIONS]", *names]
    if hasattr(context.command, "commands"):
        pieces.append("COMMAND ...")
    lead = f"Usage: {context.command_path} "
    return _filled(lead + " ".join(pieces), columns, "", GAP * 4)


def _commands(context: typer.Context) -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    if isinstance(context.command, HelpGroup):
        for heading, name, text in context.command.listed():
            rows.setdefault(heading, []).append(_Row(name, text))
    return rows


def _parameters(context: typer.Context) -> dict[str, list[_Row]]:
    """Describe arguments and options, in groups."""
    found: dict[str, list[Any]] = {}
    parameters: list[Any] = [*context.command.get_params(context)]
    *others, asking_help = parameters
    for each in others:
        argument = each.param_type_name == "argument"
        heading = "Arguments" if argument else each.rich_help_panel or "Options"
        found.setdefault(heading, []).append(each)
    last = {name: found.pop(name) for name in LAST_GROUPS if name in found}
    last.get(OUTPUT, []).sort(key=lambda each: OUTPUT_ORDER.get(each.name, len(OUTPUT_ORDER)))
    found |= last
    found.setdefault(OUTPUT if last else "Options", []).append(asking_help)
    callback = context.command.callback
    marked = marks_of(callback, Choices) if callback else {}
    return {
        heading: [_row(each, context, marked.get(each.name)) for each in these]
        for heading, these in found.items()
    }


def _row(parameter: Any, context: typer.Context, choices: Choices | None) -> _Row:
    text = parameter.help or ""
    names: Names = {}
    if choices is not None and choices.listed != "no":
        names = choices.names(())
    if choices is not None and choices.listed == "inline":
        listed = (f"{name} ({meaning})" for name, meaning in names.items())
        text, names = f"{text.rstrip('.')}: {', '.join(listed)}.", {}
    if parameter.param_type_name == "argument":
        default = _default(parameter, context)
        return _Row(parameter.metavar, " ".join(filter(None, (text, default))), names)
    opts = sorted(parameter.opts, key=lambda opt: opt.startswith("--"))
    lead = ", ".join(opts)
    if not parameter.is_flag:
        lead += f" {parameter.metavar}"
    default = "[required]" if parameter.required else _default(parameter, context)
    return _Row(lead, " ".join(filter(None, (text, default))), names)


def _default(parameter: Any, context: typer.Context) -> str:
    """Write the default, so that it stays in one line."""
    shown = parameter.show_default
    if not isinstance(shown, str):
        value = parameter.get_default(context, call=False)
        shown = "" if shown is False or value is None or isinstance(value, bool) else str(value)
    return f"[default: {shown}]".replace(" ", _KEPT_SPACE) if shown else ""


def _sections(rows: Mapping[str, Sequence[_Row]], columns: int) -> list[str]:
    leads = [len(row.lead) for each in rows.values() for row in each]
    lead = max((length for length in leads if length <= LEAD_MAX), default=LEAD_MAX)
    write = _beside if columns >= BESIDE_COLUMNS else _below
    return [
        "\n".join([f"{heading}:", *(line for row in each for line in write(row, lead, columns))])
        for heading, each in rows.items()
    ]


def _beside(row: _Row, lead: int, columns: int) -> Iterator[str]:
    """Write the text beside the name, or below it where the name is long."""
    indent = INDENT + " " * lead + GAP
    first = f"{INDENT}{row.lead:<{lead}}{GAP}"
    if len(row.lead) > lead:
        yield INDENT + row.lead
        first = indent
    yield _filled(row.text, columns, first, indent)
    yield from _named(row.names, columns, INDENT * 4)


def _below(row: _Row, _lead: int, columns: int) -> Iterator[str]:
    """Write the text below the name."""
    yield _filled(row.lead, columns, INDENT, INDENT * 2)
    indent = INDENT * 3
    if row.text:
        yield _filled(row.text, columns, indent)
    yield from _named(row.names, columns, INDENT * 4)


def _named(names: Names, columns: int, indent: str) -> Iterator[str]:
    """List names with what they mean."""
    lead = max(map(len, names), default=0)
    for name, meaning in names.items():
        yield _filled(f"{name:<{lead}}{GAP}{meaning}", columns, indent, indent + " " * lead + GAP)


def _examples(text: str, columns: int) -> list[str]:
    """Lay out examples; a long one goes on in the next line, as a shell takes it."""
    lines: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("ssdscope "):
            lines += _shell(line, columns, INDENT * 2)
        else:
            lines.append(_filled(line, columns, INDENT))
    return ["\n".join(["Examples:", *lines])] if lines else []


def _shell(line: str, columns: int, indent: str) -> Iterator[str]:
    current = ""
    for word in _ARGUMENT.findall(line):
        begun = f"{current} {word}" if current else indent + word
        if current and len(begun) + len(" \\") > columns:
            yield f"{current} \\"
            begun = indent + INDENT * 2 + word
        current = begun
    yield current


def _filled(text: str, columns: int, first: str, rest: str | None = None) -> str:
    """Fill lines without cutting a word."""
    filled = textwrap.fill(
        re.sub(r"\s*\n\s*", " ", text.strip()),
        columns,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (filled or first).rstrip().replace(_KEPT_SPACE, " ")
