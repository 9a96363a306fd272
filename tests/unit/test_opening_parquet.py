"""Parquet files are opened by Arrow itself, whatever bytes their names have."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ssdscope.results.opening import open_parquet


@pytest.mark.parametrize(
    "name", [b"plain.parquet", b"no \xff utf-8.parquet", "größe.parquet".encode()]
)
def test_any_name_is_opened(tmp_path: Path, name: bytes) -> None:
    plain = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), plain)
    path = tmp_path / os.fsdecode(name)
    plain.rename(path)
    with open_parquet(path) as file:
        assert file.read().to_pydict() == {"a": [1, 2]}


def test_what_is_not_there_or_no_parquet_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_parquet(tmp_path / "none.parquet")
    other = tmp_path / "text.parquet"
    other.write_text("no table")
    with pytest.raises(pa.ArrowInvalid):
        open_parquet(other)


def test_nobody_hands_a_file_of_python_to_arrow_s_reader() -> None:
    """Its threads may outlive the command, and what they hold then aborts the process."""
    sources = (Path(__file__).parents[2] / "python" / "ssdscope").rglob("*.py")
    readers = ("ParquetFile(", "read_table(", "read_metadata(", "read_schema(")
    found = {
        path.name
        for path in sources
        if any(f"pq.{reader}" in path.read_text(encoding="utf-8") for reader in readers)
    }
    assert found == {"opening.py"}
