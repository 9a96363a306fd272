"""Values of a file that are taken by name, and the account of what became of each.

A section of a file is a `Values`. Its readers share an `Account`: each value that somebody takes
is noted there, each default that stood in for a missing one, each value without a counterpart
here and why, and in the end what nobody has asked for.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ssdscope.errors import ConfigError, UsageError, nearest

T = TypeVar("T")
Outcome = Literal["taken", "default", "replaced", "without counterpart", "not known"]
QUANTITY_MAX = 1e12
"""Of any unit of any simulator: beyond what flash or a disk has."""
_COUNTED = {
    "taken": "taken",
    "replaced": "replaced by --override",
    "default": "missing, with the simulator's own default",
    "without counterpart": "without a counterpart",
    "not known": "not known",
}


@dataclass(frozen=True)
class Entry:
    """What became of one value of a file.

    Attributes
    ----------
    section
        Where it stands, empty in a file without sections.
    name
        The file's.
    value
        As it stands there; of a missing one the default.
    outcome
        ``taken``, ``default``, ``replaced``, ``without counterpart`` or ``not known``.
    why
        The reason, empty for what is taken.
    """

    section: str
    name: str
    value: str
    outcome: Outcome
    why: str = ""


@dataclass
class Account:
    """The account of a file.

    Attributes
    ----------
    overrides
        By name, values that take the place of the file's.
    entries
        One for each value, in the order in which they were read.
    notes
        What in the file has no meaning here, or another one; each with the reason.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)

    def add(self, entry: Entry) -> None:
        """Enter a value, once."""
        if entry in self.entries:
            return
        self.entries.append(entry)
        if entry.why:
            self.note(f"{entry.name} = {entry.value}: {entry.why}")

    def note(self, text: str) -> None:
        """Add a remark, once."""
        if text not in self.notes:
            self.notes.append(text)

    def override(self, name: str, section: str) -> str | None:
        """Return the value that takes the place of the file's, if there is one."""
        for key in (name, f"{section}.{name}"):
            if key in self.overrides:
                self._used.add(key)
                return self.overrides[key]
        return None

    def check_overrides(self) -> None:
        """Refuse an override that nothing has asked for."""
        for name in self.overrides:
            if name in self._used:
                continue
            for each in self.entries:
                if name in (each.name, f"{each.section}.{each.name}"):
                    raise UsageError(f"--override {name} would change nothing: {each.why}")
            raise UsageError(
                f"--override {name}: no value of that name is needed",
                hint=nearest(name, [each.name for each in self.entries]),
            )

    def header(self, path: str) -> list[str]:
        """Return the lines at the top of a drive file that was imported."""
        counts = [
            f"{count} {word}"
            for outcome, word in _COUNTED.items()
            if (count := sum(each.outcome == outcome for each in self.entries))
        ]
        said = [
            "",
            "Without a counterpart here, or another than it seems:",
            *(f"- {each}" for each in self.notes),
        ]
        return [
            f"Imported from {path}.",
            f"Values: {', '.join(counts)}.",
            *(said if self.notes else []),
        ]


@dataclass
class Values:
    """The values of one section of a file.

    Attributes
    ----------
    where
        File and section, for messages.
    texts
        By name, as they stand in the file.
    account
        Of the file.
    section
        What an override may write before a name, where sections share names.
    defaults
        What the simulator itself takes for a missing value.
    """

    where: str
    texts: Mapping[str, str]
    account: Account
    section: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.texts or self.account.override(name, self.section) is not None

    def is_taken(self, name: str) -> bool:
        """Say whether somebody has asked for a value."""
        return name in self._taken

    def text(self, name: str) -> str:
        """Take a value as text: the override's, the file's or the simulator's default.

        Raises
        ------
        ConfigError
            If there is none.
        """
        given = self.texts[name].strip() if name in self.texts else None
        self._taken.add(name)
        other = self.account.override(name, self.section)
        if other is not None:
            why = f"replaced by {other}, as --override says"
            self.account.add(Entry(self.section, name, given or "nothing", "replaced", why))
            return other
        if given is not None:
            self.account.add(Entry(self.section, name, given, "taken"))
            return given
        if name not in self.defaults:
            raise ConfigError(
                f"{self.where}: {name} is missing", hint=f"{overriding(name)} gives one"
            )
        default = self.defaults[name]
        why = "missing; the simulator's own default"
        self.account.add(Entry(self.section, name, default, "default", why))
        return default

    def take(self, name: str, kind: Callable[[str], T]) -> T:
        """Take a value.

        Raises
        ------
        ConfigError
            If it is missing or not of its kind.
        """
        text = self.text(name)
        try:
            return kind(text)
        except (KeyError, ValueError, OverflowError):
            expected = EXPECTED.get(kind, "one of those that are known")
            raise ConfigError(f"{self.where}: {name} is {text!r}, not {expected}") from None

    def choose(self, name: str, choices: Mapping[str, T]) -> T:
        """Take a value that stands for another, whatever its case."""
        text = self.text(name)
        for each in (text, text.upper(), text.lower()):
            if each in choices:
                return choices[each]
        raise ConfigError(
            f"{self.where}: {name} is {text!r}",
            hint=f"known here: {', '.join(choices)}; {overriding(name)} takes another",
        )

    def only(self, name: str, allowed: str, why: str) -> None:
        """Refuse a value that the drive would not be the same without."""
        if name in self and (text := self.text(name)).upper() != allowed.upper():
            raise ConfigError(
                f"{self.where}: {name} is {text!r}, and only {allowed} works: {why}",
                hint=f"{overriding(name, allowed)} imports the drive without it",
            )

    def without_meaning(self, reasons: Mapping[str, str]) -> None:
        """Name what says nothing about a drive here."""
        for name in reasons:
            if name in self.texts:
                self._taken.add(name)
                value = self.texts[name].strip()
                entry = Entry(self.section, name, value, "without counterpart", reasons[name])
                self.account.add(entry)

    def name_the_rest(self) -> None:
        """Name what nobody has taken."""
        for name, text in self.texts.items():
            if name not in self._taken:
                why = "not known, left out"
                self.account.add(Entry(self.section, name, text.strip(), "not known", why))


def overriding(name: str, value: str = "VALUE") -> str:
    """Word an override as a shell takes it."""
    return f"--override {shlex.quote(f'{name}={value}')}"


def natural(text: str) -> int:
    """Read a whole number that is not negative; ``1200.0`` is one."""
    value = float(text)
    if value < 0 or not value.is_integer():
        raise ValueError
    return int(value) if any(each in text for each in ".eE") else int(text)


def positive(text: str) -> int:
    """Read a whole number above 0."""
    value = natural(text)
    if value == 0:
        raise ValueError
    return value


def quantity(text: str) -> float:
    """Read a number that is not negative."""
    value = float(text)
    if not 0 <= value <= QUANTITY_MAX:
        raise ValueError
    return value


def share(text: str) -> float:
    """Read a part of a whole, below all of it."""
    value = quantity(text)
    if value >= 1:
        raise ValueError
    return value


def truth(text: str) -> bool:
    """Read a truth value: MQSim's words, or DiskSim's digits."""
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


EXPECTED: dict[Callable[[str], object], str] = {
    natural: "a whole number",
    positive: "a whole number above 0",
    quantity: f"a number from 0 to {QUANTITY_MAX:g}",
    share: "a number from 0 to below 1",
    truth: "true or false",
}


def unlike(values: Iterable[object]) -> bool:
    """Say whether values differ."""
    return len(set(values)) > 1


def renamed(texts: Mapping[str, str], old_names: Mapping[str, str]) -> dict[str, str]:
    """Rename values as they are called today; what is there under both keeps today's."""
    today = {old_names.get(name, name): text for name, text in texts.items() if name in old_names}
    return {**today, **{name: text for name, text in texts.items() if name not in old_names}}
