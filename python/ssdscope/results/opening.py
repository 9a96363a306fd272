"""Parquet files opened for reading, by Arrow itself."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow.parquet as pq


def open_parquet(path: str | Path) -> "pq.ParquetFile":
    """Open a Parquet file, whatever bytes its name has.

    Arrow opens it by its path. Of a file that Python opened Arrow's threads may still hold a part
    when a command that refuses its content ends, and letting go of it then aborts the process.

    Raises
    ------
    OSError
        If it cannot be opened.
    pyarrow.ArrowInvalid
        If it is no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.ParquetFile(pa.OSFile(os.fsencode(path)))
