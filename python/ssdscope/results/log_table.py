"""A log as a table of Arrow: the columns of its file, and of a data frame.

``op`` is a word, times and sizes are signed, and the latency is a column of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ssdscope.targets import ATTRIBUTION_CAUSES, Log
from ssdscope.targets.records import (
    FLOW_TYPE,
    LOG_TYPES,
    OP_DISCARD,
    OP_FLUSH,
    OP_READ,
    OP_WRITE,
    OP_WRITE_ZEROES,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

OP_WORDS = {
    OP_READ: "read",
    OP_WRITE: "write",
    OP_FLUSH: "flush",
    OP_DISCARD: "discard",
    OP_WRITE_ZEROES: "write_zeroes",
}
"""What a request does, as its log says it."""

LATENCY = "latency_ns"
"""The column behind the two that it is the difference of."""


def schema(*, attribution: bool, flows: bool, metadata: dict[bytes, bytes] | None = None) -> Any:
    """Give names and types of the columns.

    Parameters
    ----------
    attribution
        Whether the drive says where the time of a request went.
    flows
        Whether the run has several flows.
    metadata
        What else belongs to the table.

    Returns
    -------
    pyarrow.Schema
    """
    import pyarrow as pa

    words = pa.dictionary(pa.int8(), pa.string())
    columns = []
    for name, kind in LOG_TYPES.items():
        columns.append((name, words if name == "op" else pa.type_for_alias(kind)))
        if name == "complete_ns":
            columns.append((LATENCY, pa.int64()))
    if flows:
        columns.append(("flow", pa.type_for_alias(FLOW_TYPE)))
    if attribution:
        columns += [(f"attr_{cause}_ns", pa.int64()) for cause in ATTRIBUTION_CAUSES]
    # Nothing is ever missing: what is said of that for each value takes as long as the value.
    fields = [pa.field(name, kind, nullable=False) for name, kind in columns]
    return pa.schema(fields, metadata=metadata)


def table_of(logs: Sequence[Log], columns: pa.Schema) -> pa.Table:
    """Make a table of logs behind each other, with the columns of a schema.

    The memory of the logs becomes that of the table; only words and latencies are new.
    """
    import pyarrow as pa

    arrays = []
    for name in columns.names:
        if name == "op":
            arrays.append(_words([log.op for log in logs]))
        elif name == LATENCY:
            arrays.append(pa.chunked_array([log.latency_ns for log in logs]))
        else:
            arrays.append(pa.chunked_array([log.columns[name] for log in logs]))
    return pa.table(arrays, schema=columns)


def log_of(table: pa.Table) -> Log:
    """Read the rows of a table, of one of an older version, too, whose columns were unsigned.

    Raises
    ------
    ValueError
        If it is no log of requests.
    """
    import numpy as np

    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name == "op":
            columns[name] = _codes(column)
        elif name != LATENCY:
            kind = FLOW_TYPE if name == "flow" else LOG_TYPES.get(name, "int64")
            columns[name] = np.asarray(column).astype(kind, copy=False)
    return Log(columns)


def _words(ops: Sequence[npt.NDArray[np.uint8]]) -> pa.ChunkedArray:
    """Write operations as words; the dictionary holds those that occur, as readers list them."""
    import numpy as np
    import pyarrow as pa

    counts = sum(np.bincount(op, minlength=max(OP_WORDS) + 1) for op in ops)
    present = np.flatnonzero(counts)
    places = np.zeros(max(OP_WORDS) + 1, np.int8)
    places[present] = np.arange(present.size)
    words = pa.array([OP_WORDS[int(code)] for code in present], pa.string())
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(places[op], words) for op in ops],
        pa.dictionary(pa.int8(), pa.string()),
    )


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    """Read operations back from words, or from the numbers of older logs."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return np.asarray(column).astype(np.uint8)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = {word: code for code, word in OP_WORDS.items()}
    parts = [np.empty(0, np.uint8)]
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        if unknown := [word for word in words if word not in codes]:
            raise ValueError(f"no request does {unknown[0]!r}")
        known = np.array([codes[word] for word in words], np.uint8)
        parts.append(known[np.asarray(chunk.indices)])
    return np.concatenate(parts)
