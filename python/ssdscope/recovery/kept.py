"""What was measured of a drawn drive, and what is true of it, kept to decide upon it again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.probes.record import Record
from ssdscope.recovery.known import Known
from ssdscope.recovery.observability import Visibility
from ssdscope.recovery.truth import Truth
from ssdscope.results.files import write_text
from ssdscope.results.marks import TOOL


class Kept:
    """The files of one drive in a folder.

    Parameters
    ----------
    folder
        Created if it is missing.
    label
        Of the drive.
    """

    def __init__(self, folder: Path, label: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._series = folder / f"{label.replace(':', '-')}.npz"
        self._true = self._series.with_suffix(".json")
        self._label = label

    def record(self) -> Record:
        """Give what was measured, or an empty record.

        Raises
        ------
        UsageError
            If what is there was recorded by another version.
        """
        return Record.load(self._series) if self._series.exists() else Record(self._label)

    def keep(self, record: Record) -> None:
        """Write what was measured."""
        record.save(self._series)

    def known(self) -> tuple[Known, int] | None:
        """Give what is true and how many draws were thrown away, if it was worked out before."""
        if not self._true.exists():
            return None
        try:
            values = json.loads(self._true.read_text())
            return _read(values), int(values["redraws"])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{self._true} does not say what is true of a drive",
                hint="remove it: it is worked out again",
            ) from error

    def keep_known(self, known: Known, redraws: int) -> None:
        """Write what is true."""
        document = {
            "tool": TOOL,
            "redraws": redraws,
            "truths": {name: asdict(each) for name, each in known.truths.items()},
            "visible": {name: asdict(each) for name, each in known.visible.items()},
        }
        write_text(self._true, json.dumps(document))


def _read(values: Mapping[str, Any]) -> Known:
    return Known(
        {name: Truth(**each) for name, each in values["truths"].items()},
        {
            name: Visibility(tuple(each["masked_by"]), each["contrast"])
            for name, each in values["visible"].items()
        },
    )
