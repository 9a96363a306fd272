"""Figures that are complete, in a folder beside the page: an interrupted book goes on with them.

The pictures and tables of the studies lie there, and ``book.jsonl``: a first line that says which
book it is, and a line for every figure as soon as it is complete.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ssdscope
from ssdscope.errors import UsageError
from ssdscope.results.files import unwritable
from ssdscope.results.marks import TOOL
from ssdscope.results.record import strict_json
from ssdscope.results.whole_lines import WholeLines
from ssdscope.studies import FigureResult
from ssdscope.targets.opening import native_version

JOURNAL = "book.jsonl"
_ABOVE = ("cli", "report")
"""What is above the studies changes the page, not what is on it."""


def folder_of(page: Path) -> Path:
    """Give the folder beside a page in which its parts are."""
    return page.with_name(f"{page.name}.parts")


def begun(page: Path) -> int | None:
    """Give the seed of the book that was begun at a place, to go on with it; None if none was."""
    try:
        with (folder_of(page) / JOURNAL).open(encoding="utf-8") as file:
            seed = json.loads(file.readline())["book"]["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return seed if isinstance(seed, int) else None


class Parts:
    """The figures of a book that are complete, and more to come.

    Parameters
    ----------
    page
        The book's page; the folder beside it is created if it is missing.
    seed, quick
        Of the book. Figures of another one are not mixed with its own.

    Attributes
    ----------
    folder
        Where the parts are.
    outdated
        Figures that another version of ssdscope made: they are made again.

    Raises
    ------
    UsageError
        If the folder holds parts of another book, or another process adds to it.
    OutputError
        If it cannot be written.
    """

    def __init__(self, page: Path, seed: int, *, quick: bool) -> None:
        self.folder = folder_of(page)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        self._made_by = _version()
        self._lines = WholeLines(self.folder / JOURNAL)
        try:
            documents = self._documents(seed, quick)
            if not self._lines.lines:
                book = {"seed": seed, "quick": quick}
                self._lines.append(json.dumps({"tool": TOOL, "book": book}))
        except BaseException:
            self._lines.close()
            raise
        self._parts = {(each["study"], each["result"]["id"]): each for each in documents}
        self.outdated = sum(each["made_by"] != self._made_by for each in self._parts.values())

    def get(self, study: str, figure: str, extras: Mapping[str, Any]) -> dict[str, Any] | None:
        """Give a figure, if it is complete and was made as it would be made now."""
        part = self._parts.get((study, figure))
        if part is None or part["made_by"] != self._made_by or part["extras"] != extras:
            return None
        image = part["result"]["image"]
        return part if image is None or (self.folder / image).is_file() else None

    def keep(
        self, study: str, figure: FigureResult, extras: Mapping[str, Any], seconds: float
    ) -> None:
        """Add a figure, at once on disk."""
        result = figure.to_json()
        for key in ("image", "data"):
            result[key] = None if result[key] is None else Path(result[key]).name
        part = {
            "study": study,
            "made_by": self._made_by,
            "extras": dict(extras),
            "seconds": round(seconds, 1),
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "result": json.loads(strict_json(result)),
        }
        self._lines.append(json.dumps(part))
        self._parts[study, figure.id] = part

    def close(self) -> None:
        """Let others write."""
        self._lines.close()

    def _documents(self, seed: int, quick: bool) -> list[dict[str, Any]]:
        """Read what is there, and refuse what is of another book."""
        if not self._lines.lines:
            return []
        head, *lines = self._lines.lines
        try:
            book = json.loads(head)["book"]
            there = book["seed"], book["quick"]
            parts = [json.loads(line) for line in lines]
            complete = all(
                each.keys() >= {"study", "made_by", "extras", "seconds", "made", "result"}
                for each in parts
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            complete, there = False, (seed, quick)
        if not complete:
            raise UsageError(
                f"{self._lines.path} holds no parts of a book",
                hint="move it away, or name another page with --out",
            )
        if there != (seed, quick):
            raise UsageError(
                f"{self.folder} holds parts of another book: {_said(*there)}, not "
                f"{_said(seed, quick)}",
                hint=f"go on with {_said(*there)}, name another page with --out, or remove "
                f"{self.folder}",
            )
        return parts


def _said(seed: int, quick: bool) -> str:
    return f"--seed {seed} {'with' if quick else 'without'} --quick"


def _version() -> str:
    """Name what makes figures: the version, and a digest of everything they come from."""
    package = Path(ssdscope.__file__).parent
    digest = hashlib.sha256(native_version().encode())
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.suffix in (".py", ".toml", ".so") and inside.parts[0] not in _ABOVE:
            digest.update(f"{inside}\0".encode())
            digest.update(path.read_bytes())
    return f"{ssdscope.__version__}+{digest.hexdigest()[:12]}"
