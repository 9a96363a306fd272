"""Outcomes on disk, appended as they come; the memory of a sweep."""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.results.files import write_bytes
from ssdscope.results.marks import MADE_BY, TOOL
from ssdscope.results.whole_lines import WholeLines
from ssdscope.sweep.runner import Outcome
from ssdscope.targets.names import printable

_OUTCOME = {"key", "sweep_seed", "point", "record", "error"}
_NOT_IN_TABLE = ("drive", "members", "erase_histogram")


class Journal:
    """A file of one JSON document per run.

    Parameters
    ----------
    path
        The file; created if it is missing, and before anything is run.

    Attributes
    ----------
    keys
        Keys of the runs that succeeded. Failed ones are tried again.

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
        try:
            self._documents = [
                self._document(number, line)
                for number, line in enumerate(self._lines.lines, start=1)
            ]
        except BaseException:
            self._lines.close()
            raise
        self.keys = {document["key"] for document in self._documents if document["record"]}

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Every outcome, in the order they came."""
        return list(self._documents)

    @property
    def sweep_seed(self) -> int | None:
        """The seed that the sweep began with, to go on with; None at the beginning."""
        return self._documents[0]["sweep_seed"] if self._documents else None

    def append(self, outcome: Outcome, sweep_seed: int) -> bool:
        """Add an outcome, at once on disk.

        Returns
        -------
        bool
            Whether the run failed.
        """
        document = {
            "tool": TOOL,
            "key": outcome.point.key,
            "sweep_seed": sweep_seed,
            "point": asdict(outcome.point),
            "record": outcome.record,
            "error": outcome.error,
        }
        if outcome.part is not None:
            document["part"] = outcome.part
        self._lines.append(json.dumps(document))
        self._documents.append(document)
        if outcome.record is not None:
            self.keys.add(outcome.point.key)
        return outcome.record is None

    def close(self) -> None:
        """Let others write."""
        self._lines.close()

    def write_table(self) -> Path:
        """Write one row per successful run next to the journal, as Parquet.

        Returns
        -------
        Path
            The table.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path.with_suffix(".parquet")
        rows = [_row(document) for document in self._documents if document["record"]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: [row.get(name) for row in rows] for name in names}
        table = pa.table(columns).replace_schema_metadata({"ssdscope.made_by": MADE_BY})
        packed = io.BytesIO()
        pq.write_table(table, packed)
        write_bytes(path, packed.getvalue())
        return path

    def _document(self, number: int, line: str) -> dict[str, Any]:
        document = read_outcome(line)
        if document is None:
            raise UsageError(
                f"{self.path}, line {number} is not an outcome of a sweep",
                hint="choose another file for the results",
            )
        return document


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


def _row(document: dict[str, Any]) -> dict[str, Any]:
    varied = {f"varied.{name}": value for name, value in document["point"]["varied"].items()}
    return varied | flattened(document["record"])


def flattened(record: dict[str, Any]) -> dict[str, Any]:
    """Spread nested dictionaries over dotted names; lists and whole drives are left out."""
    row: dict[str, Any] = {}
    _flatten(record, "", row)
    return row


def _flatten(value: Any, name: str, row: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in _NOT_IN_TABLE:
                _flatten(each, f"{name}.{key}" if name else key, row)
    elif not isinstance(value, list):
        row[name] = printable(value) if isinstance(value, str) else value
