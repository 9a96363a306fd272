"""The text of a target, parsed.

=====================================  =================================================
``sim:NAME``                           a drive that ships with ssdscope
``PATH.toml``                          a drive file
``/dev/...``, ``PATH``                 a block device, a regular file
``null:`` ``null:SIZE``                completes at once: measures our own overhead
``raid0:A,B?chunk=64k``                members are targets; parentheses around one that
                                       holds a comma
``nbd+unix:///EXPORT?socket=PATH``     an export of an NBD server; see `exports`
``nbd://127.0.0.1:PORT/EXPORT``
=====================================  =================================================
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ssdscope.errors import UsageError
from ssdscope.targets.exports import read_export
from ssdscope.units import parse_size

NULL_CAPACITY_BYTES = 2**40
DEFAULT_CHUNK_BYTES = 64 * 1024
SECTOR_BYTES = 512
NESTED_MAX = 8

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_FORMS_HINT = (
    "a target is sim:NAME, a drive file ending in .toml, /dev/..., a path to a regular file, "
    "raid0:A,B?chunk=64k, nbd+unix:///EXPORT?socket=PATH or null:"
)


@dataclass(frozen=True)
class Preset:
    """``sim:NAME``."""

    name: str


@dataclass(frozen=True)
class DriveFile:
    """A path that ends in ``.toml``."""

    path: str


@dataclass(frozen=True)
class Path:
    """A block device or a regular file."""

    path: str


@dataclass(frozen=True)
class Null:
    """``null:``."""

    capacity_bytes: int


@dataclass(frozen=True)
class Nbd:
    """``nbd+unix:`` and ``nbd:``."""

    uri: str


@dataclass(frozen=True)
class Raid0:
    """``raid0:``; members in the order of the stripes."""

    members: tuple["Spec", ...]
    chunk_bytes: int


Spec: TypeAlias = Preset | DriveFile | Path | Null | Nbd | Raid0


def parse_target(text: str, *, depth: int = 0) -> Spec:
    """Parse a target without opening anything.

    Parameters
    ----------
    text
        The target.
    depth
        How many RAID-0s it is inside of.

    Raises
    ------
    UsageError
        If the text has none of the forms above.

    Examples
    --------
    >>> parse_target("raid0:sim:mqsim-8g,null:?chunk=128k").chunk_bytes
    131072
    """
    if not text.strip():
        raise UsageError("the target is empty", hint=_FORMS_HINT)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return DriveFile(text) if text.endswith(".toml") else Path(text)
    rest = text[scheme.end() :]
    match scheme.group():
        case "sim:":
            return Preset(_name(rest, text))
        case "null:":
            return Null(_null_capacity(rest, text) if rest else NULL_CAPACITY_BYTES)
        case "raid0:":
            return _parse_raid0(rest, text, depth)
        case "nbd+unix:" | "nbd:":
            read_export(text)
            return Nbd(text)
    raise UsageError(
        f"target {text!r}: unknown kind {scheme.group()!r}",
        hint=f"{_FORMS_HINT}; write ./{text} for a file of that name",
    )


def leaves(spec: Spec) -> list[Spec]:
    """List the drives, files and exports that a target is made of, in order."""
    if isinstance(spec, Raid0):
        return [leaf for member in spec.members for leaf in leaves(member)]
    return [spec]


def write_target(spec: Spec, named: Callable[[str], str] = str) -> str:
    """Write a target as text.

    Parameters
    ----------
    spec
        The parsed target.
    named
        What to call a path in it, as it is if absent.

    Examples
    --------
    >>> write_target(parse_target("raid0:a.bin,sim:mqsim-8g"), str.upper)
    'raid0:(A.BIN),(sim:mqsim-8g)?chunk=65536'
    """
    match spec:
        case Preset(name):
            return f"sim:{name}"
        case DriveFile(path) | Path(path):
            return named(path)
        case Null(capacity_bytes):
            return f"null:{capacity_bytes}"
        case Nbd(uri):
            return uri
        case Raid0(members, chunk_bytes):
            inner = ",".join(f"({write_target(member, named)})" for member in members)
            return f"raid0:{inner}?chunk={chunk_bytes}"


def _name(rest: str, text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+", rest):
        raise UsageError(
            f"target {text!r}: {rest!r} is not the name of a drive",
            hint="ssdscope drives list shows the names; a drive of your own is a path to its .toml",
        )
    return rest


def _null_capacity(rest: str, text: str) -> int:
    capacity_bytes = _size(rest, text)
    if capacity_bytes == 0 or capacity_bytes % SECTOR_BYTES:
        raise UsageError(f"target {text!r}: a drive has whole sectors of {SECTOR_BYTES} bytes")
    return capacity_bytes


def _size(size: str, text: str) -> int:
    try:
        return parse_size(size)
    except UsageError as error:
        raise UsageError(f"target {text!r}: {error.message}", hint=error.hint) from error


def _parse_raid0(rest: str, text: str, depth: int) -> Raid0:
    if depth == NESTED_MAX:
        raise UsageError(f"a target of more than {NESTED_MAX} RAID-0s inside each other")
    body, chunk_bytes = rest, DEFAULT_CHUNK_BYTES
    mark = _last_at_top_level(rest, "?")
    if mark is not None and rest[mark:].startswith("?chunk="):
        body, chunk_bytes = rest[:mark], _size(rest[mark + len("?chunk=") :], text)
    members = [without_parentheses(part) for part in split_at_top_level(body, f"target {text!r}")]
    if len(members) < 2:
        raise UsageError(
            f"target {text!r}: a RAID-0 needs two members or more",
            hint="write raid0:A,B?chunk=64k, with parentheses around a member that holds a comma",
        )
    if "" in members:
        raise UsageError(f"target {text!r}: member {members.index('') + 1} is empty")
    return Raid0(tuple(parse_target(each, depth=depth + 1) for each in members), chunk_bytes)


def split_at_top_level(body: str, what: str) -> list[str]:
    """Part at the commas that stand in no parentheses; a message calls it `what`.

    Raises
    ------
    UsageError
        If the parentheses do not match.
    """
    parts, depth, start = [], 0, 0
    for index, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
        if char == "," and depth == 0:
            parts.append(body[start:index])
            start = index + 1
    if depth != 0:
        raise UsageError(f"{what}: parentheses do not match")
    return [*parts, body[start:]]


def _last_at_top_level(body: str, wanted: str) -> int | None:
    depth, found = 0, None
    for index, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if char == wanted and depth == 0:
            found = index
    return found


def without_parentheses(member: str) -> str:
    """Take off the parentheses around all of it."""
    if member.startswith("(") and member.endswith(")"):
        return member[1:-1]
    return member
