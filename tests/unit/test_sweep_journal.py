"""The journal of a sweep, and its table: in the order of the plan, and whole or not at all."""

import errno
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ssdscope.errors import OutputError
from ssdscope.sweep import Journal, Outcome, Point, table
from ssdscope.sweep.table import write_table


def point(number: int) -> Point:
    return Point("null:1g", None, (), number, {}, {"bs": number}, None)


def outcome(number: int, record: dict[str, Any] | None = None) -> Outcome:
    return Outcome(point(number), record or {"iops": float(number)})


def rows(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


def test_rows_stand_in_the_order_of_the_plan_however_they_came(tmp_path: Path) -> None:
    plan = [point(number) for number in range(5)]
    tables = []
    for name, order in (("a", (3, 0, 4, 1, 2)), ("b", (2, 1, 0, 3, 4))):
        with closing(Journal(tmp_path / f"{name}.jsonl")) as journal:
            for number in order:
                journal.append(outcome(number), 1, number)
            tables.append(journal.write_table(plan))
    assert [row["varied.bs"] for row in rows(tables[0])] == [0, 1, 2, 3, 4]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_runs_of_another_plan_stay_behind_those_of_this(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "a.jsonl")) as journal:
        for number in (9, 1, 8):
            journal.append(outcome(number), 1)
        told = [row["varied.bs"] for row in rows(journal.write_table([point(1)]))]
    assert told[0] == 1
    assert sorted(told[1:]) == [8, 9]


def test_a_journal_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with closing(Journal(path)) as journal:
        assert journal.sweep_seed is None
        journal.append(outcome(1), 7)
        journal.append(Outcome(point(2), None, "it failed"), 7)
    path.write_bytes(path.read_bytes() + b'{"cut sho')
    with closing(Journal(path)) as journal:
        assert (journal.sweep_seed, journal.keys) == (7, {point(1).key})
        journal.append(outcome(2), 7)
        assert len(rows(journal.write_table())) == 2
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "whole", "broken", "kind"),
    [
        ("over_provisioning_ratio", 1, 0.25, "double"),
        ("host.bytes_per_second", 600_000_000, 5.5e8, "double"),
        ("until_ci", 1, 0.5, "double"),
        ("nand.channels", 4, 8, "int64"),
        ("iodepth", 1, 32, "int64"),
    ],
)
def test_a_column_has_the_type_of_its_key_whatever_stands_there(
    name: str, whole: float, broken: float, kind: str, tmp_path: Path
) -> None:
    for value in (whole, broken):
        document = {"point": {"varied": {name: value}}, "record": {}}
        path = tmp_path / f"{value}.parquet"
        write_table(path, lambda document=document: [document])  # type: ignore[misc]
        assert str(pq.read_schema(path).field(f"varied.{name}").type) == kind
        assert rows(path) == [{f"varied.{name}": value}]


def test_columns_take_what_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "BATCH_ROWS", 2)
    records = [
        {"a": 1, "b": None, "c": True, "d": "4k", "deep": {"x": [1], "y": 2}},
        {"a": 2.5, "b": None, "c": False, "d": 4096},
        {"a": None, "c": None, "d": None, "e": 5},
    ]
    documents = [{"point": {"varied": {}}, "record": record} for record in records]
    path = tmp_path / "a.parquet"
    write_table(path, lambda: documents)
    read = pq.read_table(path)
    assert pq.read_metadata(path).num_row_groups == 2
    assert read.to_pydict() == {
        "a": [1.0, 2.5, None],
        "b": [None, None, None],
        "c": [True, False, None],
        "d": ["4k", "4096", None],
        "deep.y": [2, None, None],
        "e": [None, None, 5],
    }
    assert read.schema.field("e").type == pa.int64()


def test_a_table_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with closing(Journal(tmp_path / "a.jsonl")) as journal:
        journal.append(outcome(1), 1)
        before = journal.write_table().read_bytes()
        journal.append(outcome(2), 1)
        monkeypatch.setattr(table, "_table", full)
        with pytest.raises(OutputError, match="No space left"):
            journal.write_table()
    assert (tmp_path / "a.parquet").read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.jsonl", "a.parquet"]


def test_documents_are_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with closing(Journal(path)) as journal:
        journal.append(outcome(3), 1, 5)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["place"] == 5
    assert "trace_digest" not in document["point"]
