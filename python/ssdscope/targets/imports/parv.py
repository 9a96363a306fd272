"""DiskSim's parameter language: blocks of settings, which other files may be read into.

A file holds blocks ``module name { setting = value, ... }``, and lines ``source FILE`` that stand
for what is in another file. A value is a number or word, a list in brackets, a block, or
``source FILE``. What builds a machine of the blocks (``instantiate``, ``topology``) is passed over.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from ssdscope.errors import ConfigError, SsdscopeError
from ssdscope.targets.imports.file_text import file_text

NESTED_MAX = 32
"""Blocks and lists in each other: DiskSim's own files need four."""
FILES_MAX = 64
"""Files that are read for one: a file that names itself would never end."""
_PIECE = re.compile(r"[{}\[\],=]|[^{}\[\],=]+")
_COMMENT = re.compile(r"#[^\n]*")

Setting = Union[str, "Block", list["Setting"]]


@dataclass(frozen=True)
class Block:
    """A block of settings.

    Attributes
    ----------
    module
        What it is, as ``disksim_disk``.
    name
        Its own, empty for a block that is a value.
    path, line
        Where it begins.
    settings
        By name.
    """

    module: str
    name: str
    path: str
    line: int
    settings: dict[str, Setting]

    @property
    def where(self) -> str:
        """Name the block and its place."""
        return f"{self.path}, line {self.line}, {f'{self.module} {self.name}'.strip()}"

    def texts(self) -> dict[str, str]:
        """Return the settings that are single values."""
        return {name: each for name, each in self.settings.items() if isinstance(each, str)}

    def block(self, name: str) -> "Block":
        """Return a setting that is a block.

        Raises
        ------
        ConfigError
            If there is none.
        """
        value = self.settings.get(name)
        if not isinstance(value, Block):
            raise ConfigError(f"{self.where}: {name} is missing, or no block")
        return value


@dataclass
class _Reader:
    """The pieces of a file, and how far they are read."""

    path: str
    opened: list[str]
    pieces: list[str]
    lines: list[int]
    at: int = 0
    blocks: list[Block] = field(default_factory=list)

    @property
    def piece(self) -> str:
        return self.pieces[self.at] if self.at < len(self.pieces) else ""

    @property
    def line(self) -> int:
        return self.lines[min(self.at, len(self.lines) - 1)] if self.lines else 1


def blocks(text: str, path: str, opened: list[str] | None = None) -> list[Block]:
    """Read a file's blocks, and those of the files that it names.

    Parameters
    ----------
    text
        The file.
    path
        Where it is: files that it names lie beside it.
    opened
        The files read so far, to which others are added.

    Raises
    ------
    ConfigError
        If a block does not end, or a file that is named cannot be read; with the line.
    """
    reader = _Reader(path, [path] if opened is None else opened, *_pieces(_COMMENT.sub("", text)))
    while reader.piece:
        words = reader.piece.split()
        line, reader.at = _last_line(reader), reader.at + 1
        while words[:1] == ["source"]:
            reader.blocks += _sourced(reader, words[1] if len(words) > 1 else "", line)
            words = words[2:]
        if reader.piece == "{" and words:
            module, name = (words[-2], words[-1]) if len(words) > 1 else (words[0], "")
            reader.at += 1
            reader.blocks.append(Block(module, name, path, line, _settings(reader, name or module)))
        elif reader.piece == "[":
            reader.at += 1
            _list(reader, "the list", 0)
    return reader.blocks


def _pieces(text: str) -> tuple[list[str], list[int]]:
    found, lines, line = [], [], 1
    for each in _PIECE.finditer(text):
        if stripped := each[0].strip():
            found.append(stripped)
            before = len(each[0]) - len(each[0].lstrip())
            lines.append(line + each[0][:before].count("\n"))
        line += each[0].count("\n")
    return found, lines


def _last_line(reader: _Reader) -> int:
    """Return the line on which a piece ends: a block's name is the last of it."""
    return reader.line + reader.piece.count("\n")


def _sourced(reader: _Reader, file: str, line: int) -> list[Block]:
    """Read the blocks of another file, which lies beside this one."""
    place = str(Path(reader.path).parent / file)
    reader.opened.append(place)
    if len(reader.opened) > FILES_MAX:
        raise ConfigError(f"{reader.path}, line {line}: names more than {FILES_MAX} files")
    try:
        text = file_text(place)
    except SsdscopeError as error:
        raise ConfigError(
            f"{reader.path}, line {line}: source {file}: {error.message}",
            hint="the files that a file of DiskSim names must lie beside it",
        ) from None
    return blocks(text, place, reader.opened)


def _settings(reader: _Reader, name: str, nested: int = 0) -> dict[str, Setting]:
    """Read the inside of a block, its end included."""
    begun, settings = reader.line, dict[str, Setting]()
    while reader.piece and reader.piece != "}":
        key, reader.at = " ".join(reader.piece.split()), reader.at + 1
        if reader.piece == "=":
            reader.at += 1
            settings[key] = _value(reader, name, nested)
    if not reader.piece:
        raise ConfigError(f"{reader.path}, line {begun}: the block of {name} does not end")
    reader.at += 1
    return settings


def _value(reader: _Reader, name: str, nested: int) -> Setting:
    if nested > NESTED_MAX:
        raise ConfigError(f"{reader.path}, line {reader.line}: nested deeper than {NESTED_MAX}")
    if reader.piece == "[":
        reader.at += 1
        return _list(reader, name, nested + 1)
    if reader.piece in ("{", "}", "]", ",", "=", ""):
        return ""
    text, line = reader.piece, reader.line
    reader.at += 1
    if reader.piece == "{":
        reader.at += 1
        module = text.split()[0]
        return Block(module, "", reader.path, line, _settings(reader, module, nested + 1))
    words = text.split()
    if words[0] == "source" and len(words) == 2:
        found = _sourced(reader, words[1], line)
        if len(found) != 1:
            raise ConfigError(f"{reader.path}, line {line}: {words[1]} holds {len(found)} blocks")
        return found[0]
    return text


def _list(reader: _Reader, name: str, nested: int) -> list[Setting]:
    begun, values = reader.line, list[Setting]()
    while reader.piece and reader.piece != "]":
        if reader.piece in (",", "=", "}", "{"):
            reader.at += 1
        else:
            values.append(_value(reader, name, nested))
    if not reader.piece:
        raise ConfigError(f"{reader.path}, line {begun}: a list of {name} does not end")
    reader.at += 1
    return values
