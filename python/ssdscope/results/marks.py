"""Marks that say that ssdscope wrote a file, and how they are found again.

=====================  ========================================================
Parquet                a key ``ssdscope...`` in the metadata
JSON                   ``tool.name``, or the ``format`` of our models
journals (JSON lines)  the same in the first line
HTML                   ``<meta name="generator">``
SVG, PNG, PDF          their creator
recorded series        the comment of the archive
traces, drive files    a comment ``# ssdscope ...`` among the first lines
CSV                    no room for one: a list in the folder, with digests
=====================  ========================================================
"""

import gzip
import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdscope import __version__
from ssdscope.errors import SsdscopeError
from ssdscope.results.opening import open_parquet

NAME = "ssdscope"
TOOL = {"name": NAME, "version": __version__}
MADE_BY = f"{NAME} {__version__}"
LIST = ".ssdscope.json"
"""What lists the tables of a folder that bear no mark."""

_HEAD_BYTES = 64 * 2**10
_PARSED_BYTES_MAX = 256 * 2**20
_PARQUET = b"PAR1"
_SERIES_HEAD, _SERIES = "arr_0.npy", '{"version": '.encode("utf-32-le")
_TOOL_FIRST = re.compile(rb'\{(\s*"schema_version":\s*\d+,)?\s*"tool":\s*\{\s*"name":\s*"ssdscope"')
_IN_HEAD = {
    b"\x89PNG": re.compile(rb"Software\0ssdscope"),
    b"<": re.compile(rb'<meta name="generator" content="ssdscope|<dc:title>ssdscope'),
    b"#": re.compile(rb"\A(#[^\n]*\n)*# ssdscope "),
}
"""By what a file begins with: what it says then if it is ours."""


def written_by_us(path: Path, content: Path | None = None) -> bool:
    """Say whether ssdscope wrote a file, or it holds nothing.

    Parameters
    ----------
    content
        Where to read what has that name, if not there (`Claim.content`).

    Raises
    ------
    OSError
        If it cannot be read.
    """
    content = content or path
    if content.stat().st_size == 0:
        return True
    with content.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"\x1f\x8b"):
        head = _unpacked(head)
    if head.startswith(_PARQUET):
        return _parquet(content)
    if head.startswith(b"%PDF"):
        return b"/Creator (ssdscope" in content.read_bytes()
    if head.startswith(b"PK"):
        return _archive(content)
    if head.lstrip().startswith(b"{"):
        return _json(content, head)
    for begins, mark in _IN_HEAD.items():
        if head.startswith(begins):
            return mark.search(head) is not None
    return _digest(content.read_bytes()) in _listed(path.parent).get(path.name, ())


def lists(tables: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """Compose the lists of folders with tables that will be there, which have no mark of their own.

    What is there now stays known: until the tables are replaced, and after a crash meanwhile.

    Parameters
    ----------
    tables
        What each will hold.

    Returns
    -------
    dict
        By the path of the list. One that somebody else wrote is left alone.
    """
    made = {}
    for folder in {path.parent for path in tables}:
        listed = folder / LIST
        if listed.exists() and not written_by_us(listed):
            continue
        files = _listed(folder)
        for path, content in tables.items():
            if path.parent == folder:
                there = _digest(path.read_bytes()) if path.is_file() else None
                kept = [each for each in files.get(path.name, ()) if each == there]
                files[path.name] = list(dict.fromkeys([_digest(content), *kept]))
        document = {"tool": TOOL, "files": dict(sorted(files.items()))}
        made[listed] = (json.dumps(document) + "\n").encode()
    return made


def _listed(folder: Path) -> dict[str, list[str]]:
    """Read the list of a folder: digests of each table, the newest first."""
    try:
        files = json.loads((folder / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    # Lists that were written before had one digest each.
    return {name: [each] if isinstance(each, str) else each for name, each in files.items()}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.comment.startswith(NAME.encode()):
                return True
            with archive.open(_SERIES_HEAD) as head:  # of records from before they bore a mark
                return _SERIES in head.read(_HEAD_BYTES)
    except (zipfile.BadZipFile, KeyError, zlib.error):
        return False


def _unpacked(head: bytes) -> bytes:
    """Unpack the beginning of a gzip file; nothing where it is damaged."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, _HEAD_BYTES)
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _parquet(path: Path) -> bool:
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            metadata = file.metadata.metadata or {}
    except (OSError, pa.ArrowInvalid):
        return False
    return any(key.startswith(NAME.encode()) for key in metadata)


def _json(path: Path, head: bytes) -> bool:
    if path.stat().st_size > _PARSED_BYTES_MAX:
        return _TOOL_FIRST.match(head) is not None
    content = path.read_bytes()
    for text in (content, content.partition(b"\n")[0]):
        try:
            return _says_so(json.loads(text))
        except (ValueError, RecursionError):
            continue
    return False


def _says_so(document: Any) -> bool:
    """Say whether a document, or the first of a journal, names us as its maker."""
    if not isinstance(document, dict):
        return False
    if str(document.get("format")).startswith(f"{NAME}-"):
        return True
    # Lines of sweeps before they bore a mark themselves: that of the run.
    run = document.get("record") if "point" in document else None
    tools = [each.get("tool") for each in (document, run) if isinstance(each, dict)]
    return any(isinstance(tool, dict) and tool.get("name") == NAME for tool in tools)


def is_ours(path: Path, content: Path | None = None) -> bool:
    """Say as `written_by_us` does, and no where the file cannot be read."""
    try:
        return written_by_us(path, content)
    except (OSError, SsdscopeError):
        return False
