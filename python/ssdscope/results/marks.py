"""Marks that say that ssdscope wrote a file, and how they are found again.

=====================  ========================================================
Parquet                a key ``ssdscope...`` in the metadata
JSON                   ``tool.name``, or the ``format`` of our models
journals (JSON lines)  the same in the first line
HTML                   ``<meta name="generator">``
SVG, PNG, PDF          their creator
traces, drive files    a comment ``# ssdscope ...`` among the first lines
CSV                    no room for one: a list in the folder, with digests
=====================  ========================================================
"""

import gzip
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Any

from ssdscope import __version__
from ssdscope.errors import SsdscopeError
from ssdscope.results.files import write_text

NAME = "ssdscope"
TOOL = {"name": NAME, "version": __version__}
MADE_BY = f"{NAME} {__version__}"
LIST = ".ssdscope.json"
"""What lists the tables of a folder that bear no mark."""

_HEAD_BYTES = 64 * 2**10
_PARSED_BYTES_MAX = 256 * 2**20
_PARQUET = b"PAR1"
_TOOL_FIRST = re.compile(rb'\{(\s*"schema_version":\s*\d+,)?\s*"tool":\s*\{\s*"name":\s*"ssdscope"')
_IN_HEAD = {
    b"\x89PNG": re.compile(rb"Software\0ssdscope"),
    b"<": re.compile(rb'<meta name="generator" content="ssdscope|<dc:title>ssdscope'),
    b"#": re.compile(rb"\A(#[^\n]*\n)*# ssdscope "),
}
"""By what a file begins with: what it says then if it is ours."""


def written_by_us(path: Path) -> bool:
    """Say whether ssdscope wrote a file, or it holds nothing.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    if path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"\x1f\x8b"):
        head = _unpacked(head)
    if head.startswith(_PARQUET):
        return _parquet(path)
    if head.startswith(b"%PDF"):
        return b"/Creator (ssdscope" in path.read_bytes()
    if head.lstrip().startswith(b"{"):
        return _json(path, head)
    for begins, mark in _IN_HEAD.items():
        if head.startswith(begins):
            return mark.search(head) is not None
    return _listed(path.parent).get(path.name) == _digest(path)


def remember(path: Path) -> None:
    """Note that we wrote a table, which has no room for a mark of its own."""
    listed = path.parent / LIST
    if listed.exists() and not written_by_us(listed):
        return
    files = _listed(path.parent) | {path.name: _digest(path)}
    write_text(listed, json.dumps({"tool": TOOL, "files": dict(sorted(files.items()))}) + "\n")


def _listed(folder: Path) -> dict[str, str]:
    try:
        files = json.loads((folder / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return files if isinstance(files, dict) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpacked(head: bytes) -> bytes:
    """Unpack the beginning of a gzip file; nothing where it is damaged."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, _HEAD_BYTES)
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _parquet(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            metadata = pq.read_metadata(file).metadata or {}
    except (OSError, pa.ArrowInvalid):
        # Rows without a footer, which nobody can read: a run of ours that was cut short.
        return path.suffix == ".part"
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


def is_ours(path: Path) -> bool:
    """Say as `written_by_us` does, and no where the file cannot be read."""
    try:
        return written_by_us(path)
    except (OSError, SsdscopeError):
        return False
