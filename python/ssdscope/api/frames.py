"""Rows as a table of pyarrow, which pandas and polars take over as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.targets import Log


def frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pa.Table:
    """Make a table of rows.

    Parameters
    ----------
    rows
        By column; a value that is missing is null.
    types
        Of every column, in order, by pyarrow's names: ``"string"``, ``"int64"``, ``"double"``;
        ``"string[]"`` holds lists.

    Returns
    -------
    pyarrow.Table
        ``to_pandas()`` and ``polars.from_arrow(...)`` make a data frame of it.

    Raises
    ------
    UsageError
        If pyarrow is not installed.
    """
    pa = _pyarrow()
    listed = list(rows)
    columns = {}
    for name, kind in types.items():
        plain = pa.type_for_alias(kind.removesuffix("[]"))
        values = [row.get(name) for row in listed]
        columns[name] = pa.array(values, pa.list_(plain) if kind.endswith("[]") else plain)
    return pa.table(columns)


def log_frame(log: Log) -> pa.Table:
    """Make a table of a log, as `frame` does of rows."""
    _pyarrow()
    from ssdscope.results.log_table import schema, table_of

    attributes, flows = log.attribution_ns is not None, log.flow is not None
    return table_of([log], schema(attribution=attributes, flows=flows))


def timeline_frame(document: Mapping[str, Any]) -> pa.Table:
    """Make a table of a rate over time, as `frame` does of rows."""
    _pyarrow()
    from ssdscope.results.timeline import Timeline

    return Timeline(document).table()


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError(
            "a table needs pyarrow, which is not installed",
            hint="pip install pyarrow; to_dict() gives the same without it",
        ) from error
    return pa
