"""Runs on disk: streamed, resumed, refused where they are others."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.made_up_runs import collection

from ssdscope.errors import UsageError
from ssdscope.models.table import Collected, Table, begun, load

HEADER: dict[str, Any] = {
    "target": "a formula",
    "state": None,
    "sets": [],
    "capacity_bytes": 1,
    "design": "sobol",
    "seed": 1,
    "until_ci": 0.01,
    "runtime_ns": 1,
}


def rows() -> list[Collected]:
    return collection(20, test=5)


def written(path: Path, found: list[Collected], header: dict[str, Any] = HEADER) -> None:
    with Table(path, header) as table:
        for each in found:
            table.append(each)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    written(path, rows())
    header, found = load(path)
    assert header == HEADER
    assert sorted(found, key=lambda each: each.key) == sorted(rows(), key=lambda each: each.key)
    assert [each.name for each in tmp_path.iterdir()] == ["runs.parquet"]
    assert (begun(path) or {})["seed"] == 1


def test_a_collection_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    every = rows()
    written(path, every[:7])
    with Table(path, HEADER | {"points": 64}) as table:
        assert table.known == {each.key for each in every[:7]}
        table.append(every[7])
    assert len(load(path)[1]) == 8


def test_a_crash_costs_the_run_it_was_in(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    table = Table(path, HEADER)
    for each in rows()[:3]:
        table.append(each)
    table._lines.close()
    table._files.let_go()  # without an end: the machine stopped, in the middle of a line
    part = tmp_path / "runs.parquet.part"
    part.write_text(part.read_text() + '{"split": "tr')
    assert (begun(path) or {})["seed"] == 1
    with Table(path, HEADER) as again:
        assert again.rows == rows()[:3]
    assert len(load(path)[1]) == 3


def test_two_collections_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    with Table(path, HEADER) as table:
        with pytest.raises(UsageError, match="another process is writing"):
            Table(path, HEADER)
        table.append(rows()[0])
    assert load(path)[1] == rows()[:1]


def test_a_failed_run_that_was_tried_again_before_a_crash_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    good = rows()[0]
    table = Table(path, HEADER)
    table.append(Collected("train", type(good.row)(good.row.vector, failure="the drive is stuck")))
    table.append(good)
    table._lines.close()
    table._files.let_go()
    with Table(path, HEADER) as again:
        assert again.rows == [good]


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    def stopped() -> None:
        with Table(tmp_path / "runs.parquet", HEADER) as table:
            table.append(rows()[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert len(load(tmp_path / "runs.parquet")[1]) == 1


def test_a_failed_run_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    good = rows()[0]
    failed = Collected("train", type(good.row)(good.row.vector, failure="the drive is stuck"))
    assert not failed.usable
    written(path, [failed])
    with Table(path, HEADER) as table:
        assert table.known == set()
        table.append(good)
    assert load(path)[1] == [good]


@pytest.mark.parametrize(("key", "value"), [("target", "another"), ("seed", 2), ("until_ci", 0.5)])
def test_runs_of_another_collection_are_not_mixed_in(tmp_path: Path, key: str, value: Any) -> None:
    path = tmp_path / "runs.parquet"
    written(path, rows()[:1])
    with pytest.raises(UsageError, match=f"holds runs with {key}"):
        Table(path, HEADER | {key: value})
    assert len(load(path)[1]) == 1


def test_what_is_no_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.parquet"):
        Table(tmp_path / "runs.csv", HEADER)
    with pytest.raises(UsageError, match="there is no file"):
        load(tmp_path / "no.parquet")
    text = tmp_path / "text.parquet"
    text.write_text("no")
    with pytest.raises(UsageError, match="cannot read"):
        load(text)
    import pyarrow as pa
    import pyarrow.parquet as pq

    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1]}), other)
    with pytest.raises(UsageError, match="does not hold runs for a model"):
        load(other)
    part = tmp_path / "odd.parquet.part"
    part.write_text(json.dumps({"no": "header"}) + "\n")
    with pytest.raises(UsageError, match="is not what an interrupted collection left"):
        Table(tmp_path / "odd.parquet", HEADER)


def test_little_s_law_is_checked() -> None:
    from dataclasses import replace

    good = rows()[0]
    assert good.row.little_deviation < 1e-9
    off = replace(good, row=replace(good.row, iops=1.06 * good.row.iops))
    assert off.row.little_deviation == pytest.approx(0.06)
    assert good.usable
    assert not off.usable
    # Sixteen in flight of 256 that are counted: a sixteenth of the time they come and go.
    vector = replace(good.row.vector, q_dep=16)
    short = replace(good.row, vector=vector, requests=256, latency_ns=16e6, iops=1000 * 15 / 16)
    assert short.little_deviation == pytest.approx(0.0, abs=1e-9)
    assert replace(short, iops=880.0).little_deviation == pytest.approx(0.9375 - 0.88)
    assert not replace(good, state_ok=False).usable
