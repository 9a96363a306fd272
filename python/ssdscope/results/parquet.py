"""A log on disk: Parquet, one row per request, written while the run goes on.

The file is begun before the run, so that a bad path fails early. Row groups are appended as they
arrive. A log cut short by a crash has no footer, which Parquet needs; so it gets its name with the
footer, together with the JSON document of the run next to it (and, where the run is interrupted,
all the same). Where that cannot be written, nothing is left of either, and what stood there stays.
"""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ssdscope.errors import OutputError, UsageError
from ssdscope.results import reasons
from ssdscope.results.files import Together, destination
from ssdscope.results.log_table import log_of, schema, table_of
from ssdscope.results.marks import MADE_BY
from ssdscope.results.opening import open_parquet
from ssdscope.targets import Log

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP_ROWS = 262_144
_ENCODED = {
    "compression": "zstd",
    "use_dictionary": ["op"],
    "write_statistics": ["index", "offset_bytes", "submit_ns", "complete_ns"],
}
"""Dictionaries take twice as long, as most columns repeat nothing or change little from row to row;
words have one already.
Statistics are of the columns by which readers choose row groups."""
_RECORD_BYTES = 256 * 2**10
_ROW_GROUP_FOOTER_BYTES = 8 * 2**10
_RECORD_KEY = b"ssdscope"
_MAKER_KEY = b"ssdscope.made_by"


class LogWriter:
    """Writes the log of one run.

    Use as a context manager; call `append` with each chunk and `finish` with the document.

    Parameters
    ----------
    path
        Where the log shall be, ending in ``.parquet``.
    attribution
        Whether the drive says where the time of a request went.
    flows
        Whether the run has several flows, so that a row says whose it is.

    Raises
    ------
    UsageError
        If the file cannot be created, or another process writes it.
    """

    def __init__(self, path: str | Path, *, attribution: bool, flows: bool = False) -> None:
        import pyarrow.parquet as pq

        if Path(path).suffix != ".parquet":
            raise UsageError(f"cannot write the log to {path}: the name must end in .parquet")
        self._name = str(path)
        self.path = destination(path)
        self.summary_path = Path(path).with_suffix(".json")
        made_by = {_MAKER_KEY: MADE_BY.encode()}
        self._schema = schema(attribution=attribution, flows=flows, metadata=made_by)
        self._pending: list[Log] = []
        self._pending_rows = 0
        self._row_groups = 0
        self._broken = self._torn = self._finished = False
        self._outputs = Together()
        try:
            if self._outputs.claim(path).special:
                raise UsageError(f"cannot write the log to {path}: it is not a plain file")
            self._outputs.claim(self.summary_path)
            self._file = self._outputs.part(path).file
            self._writer = pq.ParquetWriter(self._file, self._schema, **_encoded(self._schema))
            self._file.flush()
        except BaseException as error:
            self._let_go()
            if not isinstance(error, OSError):
                raise
            why, hint = reasons.reason(error), reasons.hint(error)
            raise UsageError(f"cannot write the log to {path}: {why}", hint=hint) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file whatever happened, so that what was measured can be read."""
        try:
            with self._failing_clearly():
                self._flush()
                self._writer.close()
                if not self._torn and (self._row_groups or kind is None):
                    if not self._finished:  # a document that is there is of another run
                        self._outputs.remove(self.summary_path)
                    self._outputs.publish()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Close what is open; what has not become the log by now is nothing to keep."""
        if hasattr(self, "_writer"):
            self._writer.is_open = False  # or it would try again when it is collected
        self._outputs.let_go()

    def append(self, log: Log) -> None:
        """Add rows; they reach the disk in groups of `ROW_GROUP_ROWS`.

        Raises
        ------
        OutputError
            If the disk is full or failing. The rows so far stay readable where the end of
            the disk was seen coming.
        """
        self._pending.append(log)
        self._pending_rows += len(log)
        if self._pending_rows >= ROW_GROUP_ROWS:
            with self._failing_clearly():
                self._flush()

    def finish(self, record: dict[str, Any]) -> None:
        """Store the document of the run, in the file and next to it, when the writer is left.

        Raises
        ------
        OutputError
            If the disk is full; the document and the rows that fit are kept all the same.
        """
        try:
            with self._failing_clearly():
                self._flush()
        finally:
            self._writer.add_key_value_metadata({_RECORD_KEY: json.dumps(record).encode()})
            with self._failing_clearly():
                self._outputs.write(
                    self.summary_path, (json.dumps(record, indent=2) + "\n").encode()
                )
                self._finished = True

    def _flush(self) -> None:
        if not self._pending or self._broken:
            return
        chunks = self._pending
        self._pending, self._pending_rows = [], 0
        rows = table_of(chunks, self._schema)
        # A row group that is cut short makes all before it unreadable, so stop in time.
        fitting = self._fitting(rows)
        if fitting:
            self._torn = True
            self._writer.write_table(rows.slice(0, fitting))
            self._file.flush()
            self._torn = False
            self._row_groups += 1
        if fitting < rows.num_rows:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _fitting(self, rows: "pa.Table") -> int:
        """Say how many of the rows the disk still takes, with the footer behind them."""
        footer_bytes = _RECORD_BYTES + (self._row_groups + 1) * _ROW_GROUP_FOOTER_BYTES
        room = shutil.disk_usage(self.path.parent).free - footer_bytes
        count = int(rows.num_rows)
        if room >= 2 * rows.nbytes:
            return count
        while count and (size := _encoded_bytes(rows.slice(0, count))) > room:
            count = int(count * 0.9 * max(room, 0) / size)
        return count

    @contextlib.contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        """Turn the system's errors into ours, once: what follows is only closing."""
        try:
            yield
        except OutputError:
            if not self._broken:
                self._broken = True
                raise
        except OSError as error:
            if self._broken:
                return
            self._broken = True
            raise OutputError(
                f"cannot write the log to {self._name}: {reasons.reason(error)}",
                hint=reasons.hint(error),
            ) from error


def _encoded(schema: "pa.Schema") -> dict[str, Any]:
    """Give how columns are written: each number by its difference from the one before."""
    numbers = [name for name in schema.names if name not in _ENCODED["use_dictionary"]]
    return {**_ENCODED, "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED")}


def _encoded_bytes(rows: "pa.Table") -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **_encoded(rows.schema))
    return int(sink.getvalue().size)


def read_log(path: str | Path) -> tuple[Log, dict[str, Any] | None]:
    """Read a log back, one that an older version wrote, too.

    Returns
    -------
    log, record
        The rows, and the document of the run if it was finished.

    Raises
    ------
    UsageError
        If the file is no log of ours.
    """
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            metadata, table = file.metadata.metadata or {}, file.read()
    except (OSError, pa.ArrowInvalid) as error:
        raise UsageError(f"cannot read the log {path}: {error}") from error
    try:
        log = log_of(table)
    except ValueError as error:
        raise UsageError(f"{path} is not a log of requests: {error}") from error
    text = metadata.get(_RECORD_KEY)
    return log, None if text is None else json.loads(text)
