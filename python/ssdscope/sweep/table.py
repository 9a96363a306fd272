"""The table of a sweep: Parquet, a row per run, written in batches, whole or not at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope.results.files import whole_file
from ssdscope.results.marks import MADE_BY
from ssdscope.targets.names import printable
from ssdscope.targets.opening import drive_keys
from ssdscope.units import parse_microseconds, parse_percent, parse_seconds
from ssdscope.workloads.options import OPTIONS

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1024
"""Rows in memory at a time."""
_FRACTIONS = (parse_percent, parse_seconds, parse_microseconds)
_NOT_IN_TABLE = ("drive", "members", "erase_histogram")


def write_table(path: Path, documents: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
    """Write outcomes of runs as a table.

    Parameters
    ----------
    documents
        Gives those of a journal, always the same and in the same order. It is asked twice, for
        which columns there are and for their values, so that never all rows are in memory.

    Raises
    ------
    OutputError
        If it cannot be written; what was there before stays.
    """
    import pyarrow.parquet as pq

    schema = _schema(_columns(map(row_of, documents())))
    with whole_file(path) as file, pq.ParquetWriter(file, schema) as writer:
        for batch in _batches(map(row_of, documents())):
            writer.write_table(_table(batch, schema))


def table_of(documents: Sequence[Mapping[str, Any]]) -> "pa.Table":
    """Make the table of outcomes that are in memory."""
    rows = [row_of(each) for each in documents]
    return _table(rows, _schema(_columns(iter(rows))))


def _schema(columns: Mapping[str, str]) -> "pa.Schema":
    import pyarrow as pa

    fields = [pa.field(name, getattr(pa, maker)()) for name, maker in columns.items()]
    return pa.schema(fields, {"ssdscope.made_by": MADE_BY})


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Find the columns of all rows, in the order in which they come, and the type of each."""
    columns: dict[str, str] = {}
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        kinds = (*row, *map(type, row.values()))
        if kinds not in seen:  # most rows of a sweep are alike
            seen.add(kinds)
            for name, value in row.items():
                columns[name] = _wider(columns.get(name, "null"), _type_of(value))
    return columns


def _table(rows: list[dict[str, Any]], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    texts = {field.name for field in schema if field.type == pa.string()}
    columns = [
        [_text(row.get(name)) if name in texts else row.get(name) for row in rows]
        for name in schema.names
    ]
    arrays = [pa.array(each, field.type) for each, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, BATCH_ROWS)):
        yield batch


def _type_of(value: Any) -> str:
    """Name the maker of the column's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool_"
        case int():
            return "int64"
        case float():
            return "float64"
    return "string"


def _wider(one: str, other: str) -> str:
    """Give the type that holds the values of both; where there is no other, it is text."""
    if one == other or other == "null":
        return one
    if one == "null":
        return other
    return "float64" if {one, other} == {"int64", "float64"} else "string"


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def row_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Make a row of an outcome: what was varied, then the keys of its document."""
    varied = document["point"]["varied"].items()
    named = {f"varied.{name}": _by_key(name, value) for name, value in varied}
    return named | flattened(document["record"])


def _by_key(name: str, value: Any) -> Any:
    """Convert a number to its key's type, so that tables of several sweeps have the same columns.

    Who asks for a spare space of 1 and 2 in one sweep and of 0.25 in another means one quantity.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and name in _with_fractions() else value


@cache
def _with_fractions() -> frozenset[str]:
    """List what is varied by numbers that may have fractions: keys of drives, and options."""
    keys = {each["key"] for each in drive_keys() if each["type"] in ("ratio", "rate")}
    options = {name for name, option in OPTIONS.items() if option.parse in _FRACTIONS}
    return frozenset(keys | options)


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
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
