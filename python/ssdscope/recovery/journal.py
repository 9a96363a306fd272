"""Drives that are done, appended to a file as they come: an interrupted study goes on there."""

import json
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes import registry
from ssdscope.recovery.blind import Probed
from ssdscope.results.marks import TOOL
from ssdscope.results.whole_lines import WholeLines
from ssdscope.targets.opening import native_version

_HINT = "move it away, or choose another folder with --out"


class Journal:
    """A file of one JSON document per drive; the first says what made it.

    Parameters
    ----------
    path
        The file; created if it is missing.

    Attributes
    ----------
    drives
        Those that are done, by their labels.

    Raises
    ------
    UsageError
        If the file holds something else, was made by another version or other probes, or another
        process writes it.
    OutputError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        made_by = {"version": native_version(), "probes": list(registry.every())}
        self._path = path
        self._lines = WholeLines(path)
        try:
            if not self._lines.lines:
                self._lines.append(json.dumps({"tool": TOOL, "made_by": made_by}))
            self.drives = self._read(made_by)
        except BaseException:
            self._lines.close()
            raise

    def append(self, probed: Probed) -> None:
        """Add a drive, at once on disk."""
        self._lines.append(json.dumps(probed.to_json()))
        self.drives[probed.label] = probed

    def close(self) -> None:
        """Let others write."""
        self._lines.close()

    def _read(self, made_by: object) -> dict[str, Probed]:
        if not self._lines.lines:
            return {}
        head, *lines = self._lines.lines
        try:
            same = json.loads(head)["made_by"] == made_by
            drives = [Probed.from_json(json.loads(line)) for line in lines]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{self._path} is no journal of this study", hint=_HINT) from error
        if not same:
            raise UsageError(
                f"{self._path} was made by another version or other probes", hint=_HINT
            )
        return {each.label: each for each in drives}
