"""Values of a file that are taken by name; what nobody takes is named in the end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ssdscope.errors import ConfigError

T = TypeVar("T")


@dataclass
class Values:
    """The values of one section of a file.

    Attributes
    ----------
    where
        File and section, for messages.
    texts
        By name, as they stand in the file.
    notes
        What has no meaning here, or another one.
    """

    where: str
    texts: Mapping[str, str]
    notes: list[str]
    _taken: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.texts

    def take(self, name: str, kind: Callable[[str], T]) -> T:
        """Take a value that must be there.

        Raises
        ------
        ConfigError
            If it is missing or not of its kind.
        """
        if name not in self.texts:
            raise ConfigError(f"{self.where}: {name} is missing")
        self._taken.add(name)
        text = self.texts[name].strip()
        try:
            return kind(text)
        except (KeyError, ValueError, OverflowError):
            expected = EXPECTED.get(kind, "one of those that are known")
            raise ConfigError(f"{self.where}: {name} is {text!r}, not {expected}") from None

    def choose(self, name: str, choices: Mapping[str, T]) -> T:
        """Take a value that stands for another."""
        text = self.take(name, str)
        if text not in choices:
            raise ConfigError(
                f"{self.where}: {name} is {text!r}", hint=f"known here: {', '.join(choices)}"
            )
        return choices[text]

    def only(self, name: str, allowed: str, why: str) -> None:
        """Refuse a value that the drive would not be the same without."""
        if name in self.texts and (text := self.take(name, str)) != allowed:
            raise ConfigError(f"{self.where}: {name} is {text!r}, and only {allowed} works: {why}")

    def without_meaning(self, reasons: Mapping[str, str]) -> None:
        """Name what says nothing about a drive here."""
        for name in reasons:
            if name in self.texts:
                self._taken.add(name)
                self.notes.append(f"{name} = {self.texts[name].strip()}: {reasons[name]}")

    def name_the_rest(self) -> None:
        """Name what nobody has taken."""
        for name, text in self.texts.items():
            if name not in self._taken:
                self.notes.append(f"{name} = {text.strip()}: not known, left out")


def natural(text: str) -> int:
    """Read a whole number that is not negative."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def positive(text: str) -> int:
    """Read a whole number above 0."""
    value = natural(text)
    if value == 0:
        raise ValueError
    return value


def quantity(text: str) -> float:
    """Read a number that is not negative."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value


def truth(text: str) -> bool:
    """Read a truth value: MQSim's words, or DiskSim's digits."""
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


EXPECTED: dict[Callable[[str], object], str] = {
    natural: "a whole number",
    positive: "a whole number above 0",
    quantity: "a number, 0 or more",
    truth: "true or false",
}


def unlike(values: Iterable[object]) -> bool:
    """Say whether values differ."""
    return len(set(values)) > 1


def header(path: str, notes: Sequence[str]) -> list[str]:
    """Give the lines at the top of a drive file that was imported."""
    said = ["", "Without meaning here:", *(f"- {each}" for each in notes)] if notes else []
    return [f"Imported from {path}.", *said]
