"""Whose drive a page is about: what the page says of that, and what it leaves out.

A page is made to be shared. Before anything is measured, targets and traces get the names that the
page may hold, so that no stage knows others. What errors quote is masked in `Masked.document`,
through which every document passes before it is written or drawn.

=============  ==================  ==========================  =======================
of             ``--anonymous``     neither option              ``--with-identity``
=============  ==================  ==========================  =======================
serial, WWN    last four digits    last four digits            whole
host name      left out            left out                    shown
kernel         its name            its name and its build      its name and its build
files          ``FILE``            their path                  their path
block devices  the kernel's name   the kernel's name           as on the command line
=============  ==================  ==========================  =======================
"""

import contextlib
import os
import platform
import pwd
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from ssdscope.errors import SsdscopeError
from ssdscope.report.replay import TraceFile
from ssdscope.targets import Target, grammar
from ssdscope.targets.names import printable
from ssdscope.targets.opening import identify
from ssdscope.targets.sources import files_of

SHOWN_DIGITS = 4
"""Of a serial number or a WWN: enough to tell one's own drives apart."""
HIDDEN = "…"
FILE, DRIVE, DEVICE, TRACE = "FILE", "DRIVE.toml", "DEVICE", "TRACE"
"""What a page calls what it may not name..."""
HOST, USER, HOME = "HOST", "USER", "HOME"
"""... and what it puts for such a word in a text."""
PARTICULAR_LENGTH = 6
"""A name that short, or of letters alone, may stand in a text by chance."""

_WWN = re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{16,32}(?![0-9A-Za-z])")
_NAMES_OF_THE_TARGET = ("path", "real_path", "write_refusal")
_USER_VARIABLES = ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER")


class Disclosure(StrEnum):
    """How much a page says of whose drive it is about."""

    ANONYMOUS = "anonymous"
    MASKED = "masked"
    WHOLE = "whole"


class Masked:
    """The names that a page may hold, and what stands in for the others.

    Parameters
    ----------
    target, trace
        As they were opened.
    disclosure
        How much the page may say.
    """

    def __init__(self, target: Target, trace: TraceFile | None, disclosure: Disclosure) -> None:
        self._anonymous = disclosure is Disclosure.ANONYMOUS
        self._whole = disclosure is Disclosure.WHOLE
        self._disclosure = disclosure
        files = files_of(target.uri)
        self._identities = {path: _identity(path) for path in files if not _is_drive_file(path)}
        self._serials = _serials(self._identities.values())
        self._words = _words_of_this_machine(anonymous=self._anonymous)
        self._names: dict[str, str] = {}
        names = {path: self._name(path) for path in files}
        names = _told_apart(names) if self._anonymous else names
        if trace is not None:
            names[str(trace.path)] = self._name_of_file(str(trace.path), TRACE)
        self._names = dict(sorted(names.items(), key=lambda name: -len(name[0])))

    def target(self, target: Target) -> Target:
        """Give the same open target under the names that the page may hold."""
        drive = target.drive
        if drive is not None and drive.get("description") and files_of(target.uri):
            # A file of the user's own; drives that ship name nobody.
            drive = drive | {"description": self.text(str(drive["description"]))}
        members = tuple(map(self.target, target.members))
        return replace(target, uri=self._uri(target.uri), drive=drive, members=members)

    def trace(self, trace: TraceFile | None) -> TraceFile | None:
        """Give the same trace under the name that the page may hold."""
        return None if trace is None else replace(trace, shown=self._names[str(trace.path)])

    def declared(self, target: Target) -> dict[str, Any] | None:
        """Give what the kernel says of a file or a block device: a hint, and no truth."""
        known = self._identities.get(target.uri)
        if not known:
            return None
        # A page should hold nothing that allows a drive to be written to.
        told = {key: value for key, value in known.items() if key != "token"}
        if self._whole:
            return told
        if self._anonymous:
            told = {key: told[key] for key in told if key not in _NAMES_OF_THE_TARGET}
            # "sda1 is mounted at ...": where is nobody's business.
            told["in_use"] = [each.partition(" at ")[0] for each in told["in_use"]]
        for name in ("serial", "wwn"):
            if told.get(name):
                told[name] = last_digits(told[name])
        masked: dict[str, Any] = _each_text(told, self.text)
        return masked

    def provenance(self) -> dict[str, str]:
        """Say on what machine the page is made, and how much it says."""
        build = "" if self._anonymous else f" {platform.release()}"
        told = {
            "machine": platform.machine(),
            "kernel": f"{platform.system()}{build}",
            "python": platform.python_version(),
            "identity": str(self._disclosure),
        }
        return told | ({"host": platform.node()} if self._whole else {})

    def options(self) -> list[str]:
        """Give the words of a command that says as much."""
        if self._anonymous:
            return ["--anonymous"]
        return ["--with-identity"] if self._whole else []

    def text(self, text: str) -> str:
        """Mask what the user wrote, or the kernel: any name in it is one."""
        if self._whole:
            return text
        for name, shown in (self._names | self._words).items():
            text = _replaced(text, name, shown)
        return self._without_serials(text)

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Give a copy of a document that names nothing that the page may not."""
        if self._whole:
            return dict(document)
        particular = _particular(self._names)

        def mask(text: str) -> str:
            for name, shown in particular.items():
                text = _replaced(text, name, shown)
            return self._without_serials(text)

        masked: dict[str, Any] = _each_text(document, mask)
        performance = masked["performance"]
        performance["trace"] = _each_text(performance["trace"], self.text)
        return masked

    def _uri(self, uri: str) -> str:
        if all(self._names[path] == path for path in files_of(uri)):
            return uri
        return grammar.write_target(grammar.parse_target(uri), self._names.__getitem__)

    def _name(self, path: str) -> str:
        if _is_drive_file(path):
            return self._name_of_file(path, DRIVE)
        known = self._identities[path]
        if known.get("kind") != "block" or self._whole:
            return self._name_of_file(path, FILE)
        # Links to a device are called after its serial number, its WWN, or what its owner likes.
        return f"/dev/{known['device']}" if known["device"] else DEVICE

    def _name_of_file(self, path: str, anonymous: str) -> str:
        if self._whole:
            return path
        if self._anonymous:
            return anonymous
        return _WWN.sub(lambda each: last_digits(each[0]), self.text(path))

    def _without_serials(self, text: str) -> str:
        for serial in self._serials:
            text = serial.sub(lambda each: last_digits(each[0]), text)
        return text


def last_digits(text: str) -> str:
    """Give the last four characters of a serial number that has more.

    Examples
    --------
    >>> last_digits("S4EWNX0M123456"), last_digits("0001")
    ('…3456', '…')
    """
    return HIDDEN + (text[-SHOWN_DIGITS:] if len(text) > SHOWN_DIGITS else "")


def _identity(path: str) -> dict[str, Any]:
    """Give what the kernel says of a path; nothing to fail over."""
    try:
        return identify(path)
    except SsdscopeError:
        return {}


def _is_drive_file(path: str) -> bool:
    return isinstance(grammar.parse_target(path), grammar.DriveFile)


def _serials(identities: Iterable[Mapping[str, Any]]) -> list[re.Pattern[str]]:
    """Give what finds whole serial numbers, also in the names of links, which have no spaces."""
    given = {
        str(each[name])
        for identity in identities
        for each in (identity, identity.get("nvme") or {})
        for name in ("serial", "wwn")
        if each.get(name)
    }
    found = []
    for serial in sorted(given, key=len, reverse=True):
        spelt = re.escape(serial).replace(r"\ ", "[ _]+")
        bounded = rf"(?<![0-9A-Za-z]){spelt}(?![0-9A-Za-z])"
        if len(serial) > SHOWN_DIGITS:
            found.append(re.compile(spelt if len(serial) >= 8 else bounded, re.IGNORECASE))
    return found


def _words_of_this_machine(*, anonymous: bool) -> dict[str, str]:
    """Give the words that name this machine and, for an anonymous page, its user."""
    node = platform.node()
    words = {node: HOST, node.partition(".")[0]: HOST}
    if anonymous:
        users = {os.environ.get(each, "") for each in _USER_VARIABLES}
        with contextlib.suppress(KeyError):  # a user without an entry, as in a container
            users.add(pwd.getpwuid(os.geteuid()).pw_name)
        words = {os.environ.get("HOME", ""): HOME} | words | dict.fromkeys(sorted(users), USER)
    return {word: shown for word, shown in words.items() if word}


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Put numbers to names that several files have: ``FILE-1``, ``FILE-2``."""
    counts, used, told = Counter(names.values()), Counter[str](), {}
    for path, name in names.items():
        if counts[name] > 1 and not name.startswith("/dev/"):
            used[name] += 1
            stem, dot, ending = name.partition(".")
            name = f"{stem}-{used[name]}{dot}{ending}"  # noqa: PLW2901
        told[path] = name
    return told


def _particular(names: Mapping[str, str]) -> dict[str, str]:
    """Give all ways to write paths that no text holds by chance; the longest first."""
    ways = {
        way: shown
        for path, shown in names.items()
        for each in (path, str(Path(path).absolute()), os.path.realpath(path))
        for way in (each, printable(each), repr(each)[1:-1])
        if path != shown and way != shown and _is_particular(way)
    }
    return dict(sorted(ways.items(), key=lambda way: -len(way[0])))


def _is_particular(name: str) -> bool:
    plain = name.isalpha() or name.isdigit()
    return "/" in name or (len(name) >= PARTICULAR_LENGTH and not plain)


def _replaced(text: str, name: str, shown: str) -> str:
    """Replace a name where it is a word of its own."""
    if name not in text and name.casefold() not in text.casefold():
        return text
    bounded = rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])"
    return re.sub(bounded, lambda _: shown, text, flags=re.IGNORECASE)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Give a copy of nested values in which every text is changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each_text(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(each, change) for each in value]
    return value
