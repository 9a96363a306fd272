"""What a knob declares: a formula, what it needs to be known, and the requests it changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ssdscope.advise.facts import Facts
from ssdscope.advise.gains import Gain
from ssdscope.advise.streams import Stream


class Worked(NamedTuple):
    """A formula with its numbers filled in.

    Attributes
    ----------
    value
        What it comes to: bytes, or a count.
    text
        The sum in words.
    """

    value: int
    text: str


def _none(_facts: Facts, _value: int) -> Sequence[int]:
    return ()


SHELL, PROGRAM = "a shell, as root", "the program, in C++"
"""Where lines are typed; a file of a tool's settings is called by its name."""


@dataclass(frozen=True)
class Knob:
    """One setting of one tool.

    Attributes
    ----------
    tool, name
        What ``--for`` calls the tool, and what the tool calls the setting.
    needs
        Properties that must be known.
    formula
        In words.
    setting
        The formula, from the facts.
    command
        The whole command or configuration line, from the facts and a value; of a habit the
        sentence that says it.
    shown
        A value as the tool takes it.
    default
        The tool's own value, in the same unit, or how it follows from the device; None if it
        depends on the system.
    product
        Whose default that is, with the version: others have another one.
    stream
        The requests that the tool sends with a value. None for a setting that changes no requests,
        or none that a drive alone could show.
    candidates
        Other values worth trying, the cheapest first, given the formula's.
    no_stream
        Where there is no stream, why, in a few words.
    before
        The requests without the setting, given its value, where the default is no value of it.
    gain
        A gain that a probe measured on the drive itself.
    also
        Properties that it rests on besides, if they are known.
    today
        What is set on this machine, if the report says it.
    typed_in
        Where the line is typed; None for a habit, which is no line.
    at_most
        Why the line alone may gain less than its streams do; empty where it cannot.
    """

    tool: str
    name: str
    needs: tuple[str, ...]
    formula: str
    setting: Callable[[Facts], Worked]
    command: Callable[[Facts, int], str]
    shown: Callable[[int], str] = str
    default: int | Callable[[Facts], int] | None = None
    product: str = ""
    stream: Callable[[Facts, int], Stream] | None = None
    candidates: Callable[[Facts, int], Sequence[int]] = _none
    no_stream: str = "it changes no requests"
    before: Callable[[Facts, int], Stream] | None = None
    gain: Callable[[Facts], Gain | None] | None = None
    also: tuple[str, ...] = ()
    today: Callable[[Facts], int | None] = lambda _facts: None
    typed_in: str | None = SHELL
    at_most: str = ""

    def usual(self, facts: Facts) -> int | None:
        """Give what is set today, if that is known; else the tool's own value."""
        today = self.today(facts)
        if today is not None:
            return today
        return self.default(facts) if callable(self.default) else self.default

    def default_of(self, facts: Facts) -> str | None:
        """Return the product whose value that is; None of what is set today, or not known."""
        theirs = self.default is not None and self.today(facts) is None
        return (self.product or None) if theirs else None

    def values(self, facts: Facts, formula: int) -> list[int]:
        """List what is worth trying, the default and the formula's among them."""
        others = [*self.candidates(facts, formula), formula]
        usual = self.usual(facts)
        return sorted({*others, *([] if usual is None else [usual])})
