"""Command lines that cannot be meant: what is wrong, and what would be right."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ssdscope.cli.help import example_lines
from ssdscope.errors import nearest

_PLAINER = (
    (r"is not a valid int(eger)?( range)?", "is not a whole number"),
    (r"is not a valid float( range)?", "is not a number"),
    (r"is not in the range x>=(-?\d+)", r"is less than \1"),
)
"""What the parser says of values, and what we say."""


def explain(failure: Any, root: Any, words: Sequence[str]) -> tuple[str, str]:
    """Say what is wrong with a command line, and give the hint.

    Parameters
    ----------
    failure
        What the parser raised.
    root
        The command of which all others are.
    words
        The command line.
    """
    path, command = _meant(root, words)
    text = str(failure.message).rstrip(".")
    page = f"{path} --help"
    match type(failure).__name__:
        case "NoSuchOption":
            return f"{failure.option_name}: there is no such option", _no_option(
                failure.option_name, path, command, root
            )
        case "BadOptionUsage":
            return _option_usage(failure, command, page)
        case "MissingParameter":
            name = _name(failure.param)
            examples = example_lines(command.epilog or "")
            return f"{path}: {name} is missing", f"as in {examples[0]}" if examples else page
        case "BadParameter":
            return _bad_value(failure, text, page)
    if command_name := re.match(r"No such command '(.*?)'", text):
        return _no_command(command_name[1], path, command, root)
    if extra := re.match(r"Got unexpected extra argument\(?s?\)? \((.*)\)", text):
        taken = [_name(each) for each in command.params if each.param_type_name == "argument"]
        takes = f"{path} takes {' and '.join(taken) or 'options only'}"
        return f"{extra[1]}: one word too many", f"{takes}; options begin with --"
    return text[:1].lower() + text[1:], f"{page} shows the options"


def _meant(root: Any, words: Sequence[str]) -> tuple[str, Any]:
    """Follow the words to the command that they name."""
    path, command = "ssdscope", root
    for word in words:
        below = getattr(command, "commands", {})
        if word in below:
            path, command = f"{path} {word}", below[word]
        elif not word.startswith("-") or not below:
            break
    return path, command


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    return str(parameter.opts[0])


def _every(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Walk the commands that do something."""
    below = getattr(command, "commands", {})
    for name, each in below.items():
        yield from _every(each, f"{path} {name}")
    if not below:
        yield path, command


def _options(command: Any) -> list[str]:
    return [opt for each in command.params for opt in each.opts if opt.startswith("-")]


def _no_option(name: str, path: str, command: Any, root: Any) -> str:
    """Say which option may be meant: fio's, one alike, or one of other commands."""
    from ssdscope.workloads.options import ELSEWHERE

    fio = name.lstrip("-").replace("-", "_")
    if path == "ssdscope run" and fio in ELSEWHERE:
        return f"fio's {fio}: {ELSEWHERE[fio]}"
    takers = [where for where, each in _every(root, "ssdscope") if name in _options(each)]
    if takers:
        return f"{', '.join(takers)} {'takes' if len(takers) == 1 else 'take'} it"
    return nearest(name, _options(command), listed_by=f"{path} --help")


def _option_usage(failure: Any, command: Any, page: str) -> tuple[str, str]:
    name = failure.option_name
    if "does not take a value" in failure.message:
        return f"{name}: it takes no value", f"write {name} alone"
    takers = [each for each in command.params if name in each.opts]
    value = takers[0].metavar if takers else "VALUE"
    return f"{name}: its value is missing", f"write {name} {value}; {page} says what it is"


def _bad_value(failure: Any, text: str, page: str) -> tuple[str, str]:
    name = _name(failure.param) if failure.param is not None else "a value"
    if known := re.match(r"'(.*)' is not one of (.*)", text):
        names = re.findall(r"'(.*?)'", known[2])
        return f"{name}: '{known[1]}' is not one of its values", nearest(known[1], names)
    for theirs, ours in _PLAINER:
        text = re.sub(theirs, ours, text)
    return f"{name}: {text}", f"{page} says what it is"


def _no_command(name: str, path: str, command: Any, root: Any) -> tuple[str, str]:
    wrong = f"there is no command '{name}'"  # as the parser quoted it
    found = [where for where, _ in _every(root, "ssdscope") if where.split()[-1] == name]
    if found:
        return wrong, f"did you mean {' or '.join(found)}? ssdscope --help lists the commands"
    return wrong, nearest(name, command.commands, listed_by=f"{path} --help")
