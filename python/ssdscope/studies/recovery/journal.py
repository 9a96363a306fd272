"""Drives that are done, appended to a file as they come: an interrupted study goes on there."""

import json
from pathlib import Path

from ssdscope import probes
from ssdscope.errors import OutputError, UsageError
from ssdscope.studies.recovery.blind import Probed
from ssdscope.targets.opening import native_version


class Journal:
    """A file of one JSON document per drive; the first says what made it.

    Parameters
    ----------
    path
        The file; created if it is missing.

    Raises
    ------
    UsageError
        If the file holds something else, or was made by another version or other probes.
    OutputError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        made_by = {"version": native_version(), "probes": list(probes.registry())}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            # What was cut short when the machine stopped is done again.
            complete = text[: text.rfind("\n") + 1]
            self.drives = self._read(text, complete, made_by)
            path.write_text(complete or json.dumps({"made_by": made_by}) + "\n", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from error

    def append(self, probed: Probed) -> None:
        """Add a drive, at once on disk."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(probed.to_json()) + "\n")
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}") from error
        self.drives[probed.label] = probed

    def _read(self, text: str, complete: str, made_by: object) -> dict[str, Probed]:
        if not text:
            return {}
        head, *lines = complete.splitlines() or [""]
        try:
            same = json.loads(head)["made_by"] == made_by
            drives = [Probed.from_json(json.loads(line)) for line in lines]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{self.path} is no journal of this study",
                hint="move it away, or choose another folder with --out",
            ) from error
        if not same:
            raise UsageError(
                f"{self.path} was made by another version or other probes",
                hint="move it away, or choose another folder with --out",
            )
        return {each.label: each for each in drives}
