"""Which options name what a command writes, and which what it reads.

The marks stand beside an option's type, and `guard` reads them: a command whose options are
marked hands all of them to the one rule in `results.guard` with a line.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

from ssdscope.cli.output import note
from ssdscope.errors import UsageError

if TYPE_CHECKING:
    from ssdscope.results.guard import Place

_Mark = TypeVar("_Mark")
Given = Mapping[str, Any]
"""The options of a command, by the names of its parameters."""


def _nothing(_path: str, _given: Given) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Output:
    """The option names a file that the command writes.

    Attributes
    ----------
    endings
        What its name may end in; anything where there are none.
    beside
        What is written beside it.
    resumed
        Whether the command goes on with what is there.
    judged
        Whether it says itself, and better, what is wrong with what is there.
    unnamed
        Where it goes if the option is not given.
    """

    endings: tuple[str, ...] = ()
    beside: Callable[[str, Given], Iterable[str]] = _nothing
    resumed: bool = False
    judged: bool = False
    unnamed: Callable[[Given], str] | None = None

    def places(self, path: str | None, given: Given) -> list["Place"]:
        """List all that is written where the option says `path`."""
        from ssdscope.results.files import destination
        from ssdscope.results.guard import Place

        if path is None and self.unnamed is not None:
            path = self.unnamed(given)
        if path is None:
            return []
        if self.endings and Path(path).suffix not in self.endings:
            several = "one of " * (len(self.endings) > 1)
            raise UsageError(
                f"cannot write {path}: the name must end in {several}{', '.join(self.endings)}"
            )
        destination(path)
        beside = [Place(each, path, self.resumed) for each in self.beside(path, given)]
        return [Place(path, resumed=self.resumed, judged=self.judged), *beside]


@dataclass(frozen=True)
class OutputFolder:
    """The option names a folder that the command writes into.

    Attributes
    ----------
    patterns
        Names of all that may be written there.
    """

    patterns: Callable[[Given], Iterable[str]]

    def places(self, path: str | None, given: Given) -> list["Place"]:
        """List the folder, and what stands there and may be replaced."""
        from ssdscope.results.guard import places_in

        return [] if path is None else places_in(path, self.patterns(given))


@dataclass(frozen=True)
class Input:
    """The option names something that the command reads.

    Attributes
    ----------
    files
        The files behind it.
    """

    files: Callable[[str], Iterable[str]] = lambda path: (path,)


def marks(command: Any) -> dict[str, Output | OutputFolder | Input]:
    """Give the parameters of a command that name what it writes or reads."""
    return {
        **marks_of(command, Output),
        **marks_of(command, OutputFolder),
        **marks_of(command, Input),
    }


def marks_of(command: Any, kind: type[_Mark]) -> dict[str, _Mark]:
    """Give the parameters of a command that have a mark of a kind, with the mark."""
    return {
        name: mark
        for name, hint in get_type_hints(command, include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, kind)
    }


def guard(context: typer.Context, *, force: bool) -> None:
    """Refuse outputs that would destroy something, and claim them until the command ends.

    Raises
    ------
    UsageError
        If one would, cannot be written, or is written by another process.
    """
    from ssdscope.results.guard import claim_places

    given = context.params
    outputs: list[Place] = []
    inputs: list[Input] = []
    texts: list[Any] = []
    for name, mark in marks(context.command.callback).items():
        if isinstance(mark, Input):
            inputs.append(mark)
            texts.append(given[name])
        else:
            outputs += mark.places(given[name], given)
    if not outputs:
        return
    read = [
        file
        for mark, text in zip(inputs, texts, strict=True)
        for each in ([text] if isinstance(text, str) else text or ())
        for file in mark.files(each)
    ]
    claims = claim_places(outputs, read, force=force)
    context.call_on_close(claims.release)
    for each in claims.unlocked:
        note(f"warning: {each}: its file system has no locks; let no other run write there")
