"""Outcomes on disk, appended as they come; the memory of a sweep."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.results.marks import TOOL
from ssdscope.results.whole_lines import WholeLines
from ssdscope.sweep.points import Point
from ssdscope.sweep.runner import Outcome
from ssdscope.sweep.table import write_table

_OUTCOME = {"key", "sweep_seed", "point", "record", "error"}


class Journal:
    """A file of one JSON document per run.

    Documents stay on disk: in memory is where that of a run begins.

    Parameters
    ----------
    path
        The file; created if it is missing, and before anything is run.

    Attributes
    ----------
    sweep_seed
        The seed that the sweep began with, to go on with; None at the beginning.

    Raises
    ------
    UsageError
        If the file is something else, or another process writes it.
    OutputError
        If it cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".jsonl":
            raise UsageError(f"cannot write the sweep to {path}: the name must end in .jsonl")
        self._lines = WholeLines(self.path)
        self.sweep_seed: int | None = None
        self._places: dict[str, int] = {}
        try:
            for number, (place, line) in enumerate(self._lines.placed(), start=1):
                self._take(number, place, line)
        except BaseException:
            self._lines.close()
            raise

    def _take(self, number: int, place: int, line: str) -> None:
        document = read_outcome(line)
        if document is None:
            raise UsageError(
                f"{self.path}, line {number} is not an outcome of a sweep",
                hint="choose another file for the results",
            )
        if number == 1:
            self.sweep_seed = document["sweep_seed"]
        if document["record"]:
            self._places[document["key"]] = place

    @property
    def keys(self) -> set[str]:
        """Keys of the runs that succeeded. Failed ones are tried again."""
        return set(self._places)

    def documents(self) -> Iterator[dict[str, Any]]:
        """Read what it held when it was opened, in the order it came."""
        for _place, line in self._lines.placed():
            yield json.loads(line)

    def append(self, outcome: Outcome, sweep_seed: int, place: int = 0) -> bool:
        """Add an outcome, at once on disk.

        Parameters
        ----------
        place
            Of the run in its plan.

        Returns
        -------
        bool
            Whether the run failed.
        """
        key = outcome.point.key
        document = {
            "tool": TOOL,
            "key": key,
            "sweep_seed": sweep_seed,
            "place": place,
            "point": outcome.point.to_json(),
            "record": outcome.record,
            "error": outcome.error,
        }
        if outcome.part is not None:
            document["part"] = outcome.part
        begins = self._lines.append(json.dumps(document))
        if outcome.record is not None:
            self._places[key] = begins
        return outcome.record is None

    def close(self) -> None:
        """Let others write."""
        self._lines.close()

    def write_table(self, points: Sequence[Point] = ()) -> Path:
        """Write one row per successful run next to the journal, as Parquet.

        Parameters
        ----------
        points
            Of the plan: their rows come first and in this order, however the runs came. Those of
            other plans follow, by their keys.

        Returns
        -------
        Path
            The table.

        Raises
        ------
        OutputError
            If it cannot be written; what was there before stays.
        """
        path = self.path.with_suffix(".parquet")
        order = dict.fromkeys([*(point.key for point in points), *sorted(self._places)])
        write_table(path, lambda: self._successful(key for key in order if key in self._places))
        return path

    def _successful(self, keys: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Read the documents of runs again."""
        for key in keys:
            yield json.loads(self._lines.read(self._places[key]))


def read_outcome(line: str) -> dict[str, Any] | None:
    """Read a line of a journal; None if it is something else."""
    try:
        document: dict[str, Any] = json.loads(line)
        if not document.keys() >= _OUTCOME:
            return None
    except (json.JSONDecodeError, AttributeError):
        return None
    whole = isinstance(document["key"], str) and isinstance(document["record"], dict | None)
    return document if whole else None
