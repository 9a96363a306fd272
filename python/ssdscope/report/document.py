"""The document of `characterize`, read back: for the twin, for advice, to compare.

A page carries its document, so either of the two files will do.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.findings import Findings
from ssdscope.findings.reading import text
from ssdscope.report.checking import require_info, require_sound
from ssdscope.results.record import SCHEMA_VERSION
from ssdscope.targets.records import CacheInfo, DeviceInfo

BYTES_MAX = 256 * 2**20
HINT = "a report is what `ssdscope characterize TARGET --json FILE` writes, or its page"
CARRIED = "report.json"
"""What a page calls the document that it carries."""
_CARRIED = re.compile(f'download="{CARRIED}" href="data:application/json;base64,([A-Za-z0-9+/=]*)"')
SECTIONS = {
    "target": dict,
    "findings": list,
    "performance": dict,
    "models": list,
    "advice": list,
    "provenance": dict,
}


@dataclass(frozen=True)
class Report:
    """What `characterize` found of a drive.

    Attributes
    ----------
    uri
        The drive, as it was named; of a page to show to others, with what names the host masked.
    info
        What a host knows of it.
    findings
        Its properties.
    document
        The whole document, as it stands in the file.
    where
        What messages call it: the file.
    """

    uri: str
    info: DeviceInfo
    findings: Findings
    document: Mapping[str, Any]
    where: str = "the report"

    @property
    def performance(self) -> Mapping[str, Any]:
        """``points``, ``sustained``, ``distributions``, ``over_time``, ``trace``, as measured."""
        told: Mapping[str, Any] = self.document["performance"]
        return told

    @property
    def twin_toml(self) -> str | None:
        """The drive file of the twin, if one was built."""
        toml = (self.document.get("twin") or {}).get("toml")
        return toml if isinstance(toml, str) else None

    @property
    def sketch(self) -> bool:
        """Whether the twin is too far off for figures."""
        return is_sketch(self.document.get("twin") or {})

    def require_twin(self) -> str:
        """Give the drive file of the twin.

        Raises
        ------
        UsageError
            If none was built, with the report's reason.
        """
        if self.twin_toml is not None:
            return self.twin_toml
        twin = self.document.get("twin")
        if twin is None:
            raise UsageError(
                f"{self.where} has no twin: measuring ended before one was built",
                hint="`ssdscope characterize` with --resume goes on with it",
            )
        raise UsageError(
            f"{self.where} has no twin: {twin['reason']}",
            hint="what was measured decides that; a larger --budget measures more",
        )


def is_sketch(twin: Mapping[str, Any]) -> bool:
    """Say whether the twin of a document is too far off for figures; also if that is not known."""
    return bool(twin.get("sketch", True))


def read(path: Path) -> Report:
    """Read a report.

    Raises
    ------
    UsageError
        If it cannot be read, is none, is of another version, ends early, or holds what no report
        has; the message has the place.
    """
    written = text_of(path)
    try:
        document = json.loads(written, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(written.rstrip()) - 1 or error.msg.startswith("Unterminated")
        why = "it ends too early; was it written whole?" if cut else f"{error.msg}"
        raise UsageError(f"{path}, line {error.lineno}: {why}", hint=HINT) from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply for a report", hint=HINT) from None
    except ValueError as error:  # NaN, or an integer of thousands of digits
        raise UsageError(f"{path}: {error}", hint=HINT) from None
    return parsed(document, str(path))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number of a report")


def parsed(document: Any, where: str) -> Report:
    """Take a document apart, as `read` does."""
    if not isinstance(document, dict) or not _ours(document):
        raise UsageError(f"{where} is no report of ssdscope", hint=HINT)
    if document.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(
            f"{where} is of version {document.get('schema_version')}, and this program reads "
            f"version {SCHEMA_VERSION}",
            hint="measure again, or read it with the program that wrote it",
        )
    for key, kind in SECTIONS.items():
        if not isinstance(document.get(key), kind):
            what = "an object" if kind is dict else "a list"
            raise UsageError(f"{where}: {key!r} is missing or not {what}", hint=HINT)
    target = document["target"]
    try:
        uri, info = target["uri"], _info(target["info"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"{where}: target: {error} is missing or wrong", hint=HINT) from None
    try:
        text(uri, "target.uri")
        require_info(info, "target.info")
        findings = Findings.from_json(document["findings"])
        require_sound(document, info, findings)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", hint=error.hint) from None
    except OverflowError:  # an integer of hundreds of digits
        raise UsageError(f"{where}: a number is larger than any of a drive", hint=HINT) from None
    return Report(uri, info, findings, document, where)


def text_of(path: Path) -> str:
    """Read a file that may be a report, or the report that a page carries.

    Raises
    ------
    UsageError
        If it cannot be read, is no text, is larger than any report, or is another page.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no plain file"
            raise UsageError(f"cannot read {path}: it is {what}", hint=HINT)
        if size > BYTES_MAX:
            raise UsageError(f"{path} is larger than any report", hint=HINT)
        text = path.read_text(encoding="utf-8")
        return _carried_by(text, path) if text[:1] == "<" else text
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text", hint=HINT) from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _carried_by(page: str, path: Path) -> str:
    """Give the document that a page of ours carries."""
    found = _CARRIED.search(page)
    if found is None:
        raise UsageError(f"{path} is a page without the data of a report", hint=HINT)
    try:
        return base64.b64decode(found[1]).decode()
    except ValueError:  # cut, or changed by somebody
        raise UsageError(f"{path}: the data that it carries are damaged", hint=HINT) from None


def _ours(document: Mapping[str, Any]) -> bool:
    tool = document.get("tool")
    return isinstance(tool, dict) and tool.get("name") == "ssdscope"


def _info(values: Mapping[str, Any]) -> DeviceInfo:
    taken = {each.name: values[each.name] for each in fields(DeviceInfo)}
    for name in ("write_cache", "read_cache"):
        taken[name] = CacheInfo(**taken[name])
    return DeviceInfo(**taken)
