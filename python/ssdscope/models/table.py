"""Collected runs on disk: streamed while they are made, Parquet when they are done.

Each row is appended, as JSON, to ``NAME.parquet.part`` as soon as its run has ended, so that
whatever stops a collection costs the run it was in. The end of a collection, an early one too,
writes everything as one Parquet file and removes the other. Both begin with what was collected;
a collection that is asked for again goes on with what they hold, if it is the same.
"""

import contextlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.results.files import Together, destination, is_special
from ssdscope.results.marks import TOOL
from ssdscope.results.opening import open_parquet
from ssdscope.results.whole_lines import WholeLines
from ssdscope.workloads.grid import COLUMNS, Row, Vector

SPLITS = ("train", "test", "repeat")
"""To learn from; to be held to; runs of ``train`` again, with other draws, for the noise."""
LITTLE_MAX = 0.05
"""Beyond this deviation from Little's law a run is not as it was asked for."""
HOST_BOUND_MAX = 0.25
"""Models learn from runs with up to this share of requests less in flight than asked for. With
still less a run is of another depth."""
_KEY = b"ssdscope"
_SAME = (
    "target", "state", "sets", "capacity_bytes", "fingerprint",
    "design", "seed", "until_ci", "runtime_ns", "fill_bytes", "size_bytes",
)  # fmt: skip
"""What has to agree for a collection to go on with what is there."""


@dataclass(frozen=True)
class Collected:
    """A run and its place in a collection.

    Attributes
    ----------
    split
        One of `SPLITS`.
    state_ok
        Whether the drive was as it should be; on a simulated drive always.
    """

    split: str
    row: Row
    state_ok: bool = True

    @property
    def key(self) -> tuple[str, Vector]:
        """What tells it from the others."""
        return self.split, self.row.vector

    @property
    def host_bound(self) -> bool:
        """Whether fewer requests were in flight than asked for: the host could not keep up."""
        row = self.row
        below = row.latency_ns / 1e9 * row.iops < row.vector.q_dep
        return bool(below and LITTLE_MAX < row.little_deviation <= HOST_BOUND_MAX)

    @property
    def against_little(self) -> bool:
        """Whether latency times rate cannot be what was in flight, even behind a slow host."""
        return self.row.little_deviation > LITTLE_MAX and not self.host_bound

    @property
    def usable(self) -> bool:
        """Whether a model may learn from it."""
        return not self.row.failure and self.state_ok and not self.against_little

    def to_dict(self) -> dict[str, Any]:
        """Flatten into one object; what is unknown is None."""
        values = self.row.to_dict() | {"little_deviation": self.row.little_deviation}
        values = {key: _known(value) for key, value in values.items()}
        return {"split": self.split, **values, "state_ok": self.state_ok}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        vector = Vector(**{name: values[name] for name in COLUMNS})
        own = [each.name for each in fields(Row) if each.name != "vector"]
        given = {name: values[name] for name in own}
        for name in ("latency_ns", "iops", "bandwidth_bytes_per_s"):
            given[name] = float("nan") if given[name] is None else given[name]
        return cls(values["split"], Row(vector, **given), values["state_ok"])


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


class Runs:
    """The runs of a collection while it is made.

    Attributes
    ----------
    rows
        All there are.
    known
        Keys of those that did not fail.
    """

    def __init__(self, rows: Sequence[Collected] = ()) -> None:
        self.rows = list(rows)
        self.known = {each.key for each in self.rows if not each.row.failure}
        self._failed = {each.key for each in self.rows if each.row.failure}

    def append(self, row: Collected) -> None:
        """Add a row; it replaces a failed one of the same run."""
        if row.key in self._failed:
            self.rows = [each for each in self.rows if each.key != row.key or not each.row.failure]
        self.rows.append(row)
        (self._failed if row.row.failure else self.known).add(row.key)


class Table(Runs):
    """The runs of a collection on disk.

    Use as a context manager: leaving it, by an error or Ctrl-C too, writes the Parquet file.

    Parameters
    ----------
    path
        The file, ending in ``.parquet``.
    header
        What is collected, and how.

    Raises
    ------
    UsageError
        If the file is written by another process, or holds another collection.
    OutputError
        If it cannot be written.
    """

    def __init__(self, path: str | Path, header: dict[str, Any]) -> None:
        if Path(path).suffix != ".parquet":
            raise UsageError(f"cannot write runs to {path}: the name must end in .parquet")
        self._name = path
        self.path = destination(path)
        if is_special(self.path):
            raise UsageError(f"cannot write runs to {path}: it is not a plain file")
        self._part = Path(f"{path}.part")
        self.header = header
        with contextlib.ExitStack() as opened:
            self._files = opened.enter_context(Together())
            self._files.claim(path)
            self._files.claim(self._part)
            self._lines = opened.enter_context(WholeLines(self._part))
            super().__init__(self._finished())
            self._go_on()
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the Parquet file, whatever happened."""
        with self._lines, self._files:
            if self.rows:
                self._files.write(self._name, _parquet_of(self.header, self.rows))
            self._files.remove(self._part)

    def append(self, row: Collected) -> None:
        """Add a row, at once on disk; it replaces a failed one of the same run.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        super().append(row)
        self._lines.append(json.dumps(row.to_dict()))

    def _finished(self) -> list[Collected]:
        if not self.path.exists():
            return []
        found, rows = load(self.path)
        self._require_same(found)
        return rows

    def _go_on(self) -> None:
        """Add what an interrupted collection left, or begin."""
        try:
            documents = [json.loads(line) for line in self._lines.lines]
            header = documents[0]["header"] if documents else None
            left = [Collected.from_dict(each) for each in documents[1:]]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{self._part} is not what an interrupted collection left",
                hint="remove it, or name another file for the runs",
            ) from error
        if header is None:
            self._lines.append(json.dumps({"tool": TOOL, "header": self.header}))
        else:
            self._require_same(header)
        for each in left:
            if each.key not in self.known:
                super().append(each)

    def _require_same(self, found: dict[str, Any]) -> None:
        for key in _SAME:
            if found.get(key) != self.header.get(key):
                raise UsageError(
                    f"{self.path.name} holds runs with {key} {found.get(key)!r}, "
                    f"and {self.header.get(key)!r} is asked for",
                    hint="name another file, or repeat the command that began this one",
                )


def begun(path: str | Path) -> dict[str, Any] | None:
    """Give the header of a collection to go on with; None at the beginning."""
    place = Path(path)
    part = place.with_name(place.name + ".part")
    try:
        if place.is_file():
            return _parquet(place, rows=False)[0]
        if part.is_file():
            with part.open(encoding="utf-8") as file:
                header: dict[str, Any] = json.loads(file.readline())["header"]
                header["seed"]  # which another's has not
                return header
    except (ValueError, KeyError, TypeError):
        return None  # `Table` says what is wrong with it
    return None


def load(path: str | Path) -> tuple[dict[str, Any], list[Collected]]:
    """Read a collection.

    Returns
    -------
    header, rows
        What was collected, and the runs.

    Raises
    ------
    UsageError
        If the file cannot be read, or holds something else.
    """
    return _parquet(path, rows=True)


def _parquet(path: str | Path, *, rows: bool) -> tuple[dict[str, Any], list[Collected]]:
    """Read the header of a collection, and its rows if they are asked for."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            metadata, table = file.metadata.metadata or {}, file.read() if rows else None
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no file {path}", hint="ssdscope model collect TARGET -O makes one"
        ) from error
    except (OSError, pa.ArrowInvalid) as error:
        raise UsageError(f"cannot read {path}: {_short(error)}") from error
    try:
        header = json.loads(metadata[_KEY])
        header["design"], header["seed"]  # which a log of requests has not
        found = [] if table is None else [Collected.from_dict(row) for row in table.to_pylist()]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{path} does not hold runs for a model",
            hint="ssdscope model collect TARGET -O makes such a file",
        ) from error
    return header, found


def _short(error: Exception) -> str:
    return str(error).splitlines()[0]


def _parquet_of(header: dict[str, Any], rows: Sequence[Collected]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Parallel runs end in any order, the file does not show it.
    ordered = sorted(rows, key=lambda each: (SPLITS.index(each.split), each.row.vector))
    documents = [each.to_dict() for each in ordered]
    columns = {name: [each[name] for each in documents] for name in documents[0]}
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(header).encode()})
    packed = io.BytesIO()
    pq.write_table(table, packed, compression="zstd")
    return packed.getvalue()
