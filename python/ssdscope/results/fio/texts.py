"""What fio printed, as documents: JSON with text around it, several in a row, or cut.

fio prints messages before the brace, a document for each ``--status-interval``, and nothing more
when it is killed or the disk is full. What is whole is read, and where that ends is said.
"""

import gzip
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError

MOST_BYTES = 1 << 30
"""Of a file: fio's own are a few kilobytes, a day of `json+` every second is 600 MB."""
CUT = "cut"
"""Key of a document and of a job that are not whole."""
_GZIP = b"\x1f\x8b"
_BEGIN = re.compile(r'\{\s*"fio version"')
_NOT_A_NUMBER = re.compile(r"(?<=[:\s,\[])-?(?:nan|inf)(?=[\s,}\]])")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')
_IN_A_JOB = 3
"""Braces and brackets that are open within a job: of the document, of its jobs, and its own."""


@dataclass(frozen=True)
class Cut:
    """Where a file stops to be readable.

    Attributes
    ----------
    line, byte
        Of the first that is not read, from 1 and from 0.
    why
        What is wrong there.
    """

    line: int
    byte: int
    why: str

    def __str__(self) -> str:
        """Say it in a sentence."""
        return f"not read from line {self.line:,} (byte {self.byte:,}) on: {self.why}"


@dataclass(frozen=True)
class Printed:
    """What a file of fio's output holds.

    Attributes
    ----------
    documents
        Each as fio wrote it; a job that is not whole has the key `CUT`.
    text_lines
        Lines outside of them that are not blank.
    interim
        Documents of ``--status-interval`` that a later one continues, and are left out.
    cut
        What could not be read; None where everything could.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    text_lines: int = 0
    interim: int = 0
    cut: Cut | None = None


def read_printed(path: str | Path) -> Printed | None:
    """Read the output of fio; None if the file holds none.

    Raises
    ------
    UsageError
        If the file cannot be read.
    """
    text = _text(Path(path))
    return printed(text) if _BEGIN.search(text) else None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB, no output of fio")
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(path) as file:
                content = file.read(MOST_BYTES)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {path}: {reason}") from None
    return content.decode("utf-8", errors="replace")


def printed(text: str) -> Printed:
    """Take the documents of fio out of a text."""
    text = _NOT_A_NUMBER.sub(lambda found: "NaN".rjust(len(found[0])), text)
    decoder = json.JSONDecoder()
    documents: list[dict[str, Any]] = []
    outside: list[str] = []
    cut, behind = None, 0
    begins = [match.start() for match in _BEGIN.finditer(text)]
    for start, following in zip(begins, [*begins[1:], len(text)], strict=True):
        outside.append(text[behind:start])
        try:
            found, behind = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            behind = following
            found = _whole_part(text[start:following])
            cut = cut or _cut(text, getattr(error, "pos", start), following)
        if found is not None:
            documents.append(found)
    outside.append(text[behind:])
    lines = sum(1 for part in outside for line in part.splitlines() if line.strip())
    latest = _latest(documents)
    return Printed(latest, lines, len(documents) - len(latest), cut)


def _cut(text: str, place: int, end: int) -> Cut:
    why = "it ends there" if not text[place:end].strip() else "it is no JSON"
    if why == "it is no JSON" and text[place - 1 : end].count('"') == 1:
        why = "it ends there, in the middle of a word"
    line = text.count("\n", 0, place) + 1
    return Cut(line, len(text[:place].encode("utf-8")), why)


def _whole_part(text: str) -> dict[str, Any] | None:
    """Close what a cut left open, behind the last job or the last part of a job that is whole."""
    open_: list[str] = []
    safe, closers = 0, ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            open_.append("}" if mark == "{" else "]")
        elif mark in ("}", "]"):
            if not open_ or open_.pop() != mark:
                break
        elif mark == "," and len(open_) <= _IN_A_JOB:
            safe, closers = token.start(), "".join(reversed(open_))
    try:
        found = json.loads(text[:safe] + closers)
    except (ValueError, RecursionError):
        return None
    jobs = _jobs(found)
    if "disk_util" not in found and len(closers) == _IN_A_JOB and jobs:
        jobs[-1][CUT] = True
    return found | {CUT: True} if jobs else None


def _latest(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what a later document of the same run continues."""
    kept: list[dict[str, Any]] = []
    for each in documents:
        if kept and _continues(kept[-1], each):
            if CUT in each:
                kept[-1][CUT] = True  # the last state that is whole stands, and is not the end
                continue
            kept.pop()
        kept.append(each)
    return kept


def _continues(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a document is of the same run, later: the same jobs, begun at the same time."""
    first, then = _jobs(one), _jobs(other)
    if CUT in other:
        then = [each for each in then if CUT not in each]
        first = first[: len(then)]
    if len(first) != len(then) or one.get("fio version") != other.get("fio version"):
        return False
    return all(
        before.get("jobname") == after.get("jobname")
        and before.get("job options") == after.get("job options")
        and _began(one, before) - 2 <= _began(other, after) <= _began(one, before) + 2
        and all(_done(before, name) <= _done(after, name) for name in ("read", "write", "trim"))
        for before, after in zip(first, then, strict=True)
    )


def _jobs(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = document.get("jobs") or document.get("client_stats") or []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _began(document: dict[str, Any], job: dict[str, Any]) -> float:
    """Return the second in which a job began, by the clock of the machine."""
    try:
        return float(document.get("timestamp") or 0) - float(job.get("elapsed") or 0)
    except (TypeError, ValueError):
        return 0.0


def _done(job: dict[str, Any], name: str) -> float:
    section = job.get(name)
    done = section.get("total_ios") if isinstance(section, dict) else 0
    return float(done) if isinstance(done, int | float) else 0.0
