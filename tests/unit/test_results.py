"""Records of runs, and logs on disk."""

import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ssdscope.errors import DeviceError, OutputError, UsageError
from ssdscope.results import ATTRIBUTION_CAUSES, Log, LogWriter, RunResult, read_log
from ssdscope.targets.records import LOG_TYPES
from ssdscope.targets.told import told_trace


def log_of(count: int, *, first: int = 0, attribution: bool = False) -> Log:
    """A log with recognisable values."""
    numbers = np.arange(first, first + count)
    columns = {name: numbers.astype(kind) for name, kind in LOG_TYPES.items()}
    columns["op"] = np.array([0, 1, 2, 3, 5], np.uint8)[numbers % 5]
    columns["complete_ns"] = numbers * 3
    if attribution:
        columns |= {f"attr_{cause}_ns": numbers.copy() for cause in ATTRIBUTION_CAUSES}
    return Log(columns)


@pytest.mark.parametrize("attribution", [False, True])
def test_a_log_survives_the_disk(tmp_path: Path, attribution: bool) -> None:
    path = tmp_path / "a.parquet"
    with LogWriter(path, attribution=attribution) as writer:
        for first in range(0, 1000, 100):
            writer.append(log_of(100, first=first, attribution=attribution))
        writer.finish({"seed": 1})
    log, record = read_log(path)
    assert record == {"seed": 1}
    whole = log_of(1000, attribution=attribution)
    assert log.columns.keys() == whole.columns.keys()
    for name, column in whole.columns.items():
        assert log.columns[name].dtype == column.dtype
        assert (log.columns[name] == column).all()
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"seed": 1}
    assert not list(tmp_path.glob("*.part"))


def test_a_log_says_in_words_what_was_done_and_how_long_it_took(tmp_path: Path) -> None:
    """What a data frame needs to be right without a look into the documentation."""
    path = tmp_path / "a.parquet"
    with LogWriter(path, attribution=True, flows=True) as writer:
        for first in (0, 5):
            log = log_of(5, first=first, attribution=True)
            log.columns["flow"] = np.zeros(5, np.int32)
            writer.append(log)
        writer.finish({"seed": 1})
    rows = pq.read_table(path)
    words = ["read", "write", "flush", "discard", "write_zeroes"]
    assert rows.column("op").to_pylist() == words * 2
    assert pa.types.is_dictionary(rows.schema.field("op").type)
    assert rows.column("latency_ns").to_pylist() == [2 * number for number in range(10)]
    unsigned = [field.name for field in rows.schema if pa.types.is_unsigned_integer(field.type)]
    assert unsigned == []
    # The wrong way round: 1.8e19 where the columns are unsigned, and nobody says so.
    differences = pc.subtract(rows.column("submit_ns"), rows.column("complete_ns"))
    assert differences.to_pylist() == [-2 * number for number in range(10)]


def test_the_words_of_a_log_are_those_that_occur(tmp_path: Path) -> None:
    """A data frame lists every word of the dictionary as a category."""
    path = tmp_path / "a.parquet"
    log = log_of(10)
    log.columns["op"] = np.full(10, 1, np.uint8)
    with LogWriter(path, attribution=False) as writer:
        writer.append(log)
    column = pq.read_table(path).column("op")
    assert [chunk.dictionary.to_pylist() for chunk in column.chunks] == [["write"]]


def test_a_log_of_an_older_version_is_read(tmp_path: Path) -> None:
    """Its numbers were unsigned, operations were numbers, and no column had the latency."""
    path, whole = tmp_path / "old.parquet", log_of(1000, attribution=True)
    old = {name: column.astype(np.uint64) for name, column in whole.columns.items()}
    old |= {"op": whole.op, "error": whole.error, "flow": np.ones(1000, np.uint16)}
    metadata = {b"ssdscope": b'{"seed": 7}'}
    pq.write_table(pa.table(old).replace_schema_metadata(metadata), path)
    log, record = read_log(path)
    assert record == {"seed": 7}
    for name, column in {**whole.columns, "flow": np.ones(1000, np.int32)}.items():
        assert log.columns[name].dtype == column.dtype, name
        assert (log.columns[name] == column).all()
    assert (log.latency_ns == whole.latency_ns).all()


def test_a_log_that_others_wrote_again_is_read(tmp_path: Path) -> None:
    """A data frame may give words without a dictionary back."""
    path, plain = tmp_path / "a.parquet", tmp_path / "plain.parquet"
    with LogWriter(path, attribution=False) as writer:
        writer.append(log_of(10))
    rows = pq.read_table(path)
    words = pa.array(rows.column("op").to_pylist(), pa.large_string())
    pq.write_table(rows.set_column(1, "op", words), plain)
    assert (read_log(plain)[0].op == log_of(10).op).all()
    strange = pa.array(["peek"] * 10)
    pq.write_table(rows.set_column(1, "op", strange), plain)
    with pytest.raises(UsageError, match="not a log of requests: no request does 'peek'"):
        read_log(plain)


def test_what_was_written_is_readable_after_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"

    def run_on_a_dying_drive() -> None:
        with LogWriter(path, attribution=False) as writer:
            writer.append(log_of(10))
            raise DeviceError("the drive died")

    with pytest.raises(DeviceError, match="died"):
        run_on_a_dying_drive()
    log, record = read_log(path)
    assert len(log) == 10
    assert record is None


def test_rows_reach_the_disk_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdscope.results.parquet.ROW_GROUP_ROWS", 100)
    with LogWriter(tmp_path / "a.parquet", attribution=False) as writer:
        before = writer._file.tell()
        writer.append(log_of(99))
        assert writer._file.tell() == before
        writer.append(log_of(1))
        assert writer._file.tell() > before
        assert not (tmp_path / "a.parquet").exists()


def test_a_full_disk_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdscope.results.parquet.ROW_GROUP_ROWS", 1)
    monkeypatch.setattr("ssdscope.results.parquet._RECORD_BYTES", 2**62)
    with LogWriter(tmp_path / "a.parquet", attribution=False) as writer:
        with pytest.raises(OutputError, match="No space left on device"):
            writer.append(log_of(10))
        writer.append(log_of(10))
        writer.finish({"seed": 1})
    log, record = read_log(tmp_path / "a.parquet")
    assert len(log) == 0
    assert record == {"seed": 1}


@pytest.mark.parametrize("name", ["a.csv", "nowhere/a.parquet"])
def test_a_bad_path_fails_before_the_run(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        LogWriter(tmp_path / name, attribution=False)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello"])
def test_what_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="cannot read the log"):
        read_log(path)


def test_columns_and_selections() -> None:
    log = log_of(10, attribution=True)
    assert (log.latency_ns == 2 * np.arange(10)).all()
    assert log.latency_ns.dtype == np.int64
    assert log.attribution_ns is not None
    assert tuple(log.attribution_ns) == ATTRIBUTION_CAUSES
    assert len(log.select(log.op < 3)) == 6
    assert (Log.concatenate([log_of(3), log_of(4, first=3)]).index == np.arange(7)).all()
    assert len(Log.empty()) == 0
    with pytest.raises(ValueError, match="without the columns index, op"):
        Log({})


def summary(**changes: object) -> str:
    latency = dict.fromkeys(
        ("mean", "stddev", "ci95_low", "ci95_high", "min",
         "p50", "p90", "p95", "p99", "p99_9", "max"), 1,
    )  # fmt: skip
    direction = {
        "requests": 1,
        "bytes": 4096,
        "iops": None,
        "bandwidth_bytes_per_s": None,
        "latency_ns": latency,
        "attribution_ns": None,
    }
    document = {"requests": 1, "elapsed_ns": 0, "read": direction, "write": None, "counters": None}
    return json.dumps(document | changes)


def test_a_summary_is_read() -> None:
    result = RunResult.from_json(summary(future_key=7))
    assert result.only().latency_ns.p99_9 == 1
    assert result.interrupted is False
    assert result.summary["future_key"] == 7
    assert RunResult.from_json(summary(interrupted=True)).interrupted is True
    with pytest.raises(DeviceError, match="0 directions"):
        RunResult.from_json(summary(read=None)).only()


def test_half_a_run_is_not_taken_for_a_whole_one() -> None:
    result = RunResult.from_json(summary())
    assert result.whole() is result
    with pytest.raises(KeyboardInterrupt):
        RunResult.from_json(summary(interrupted=True)).whole()


def test_errors_cross_processes_with_their_hint() -> None:
    error = UsageError("what went wrong\n\nhint: what to do")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.hint) == (UsageError, "what went wrong", "what to do")


def test_no_percentile_is_told_of_too_few_requests() -> None:
    """A summary keeps all of them to calculate with; what is told has ten requests beyond each."""
    told = RunResult.from_json(summary()).summary["read"]["latency_ns"]
    assert {name for name, value in told.items() if value is None} == {
        "p50", "p90", "p95", "p99", "p99_9",
    }  # fmt: skip
    read = json.loads(summary())["read"] | {"requests": 1000}
    many = RunResult.from_json(summary(read=read)).summary["read"]["latency_ns"]
    assert many["p99"] == 1
    assert many["p99_9"] is None
    flow = {"name": "a", "read": json.loads(summary())["read"], "write": None}
    flows = RunResult.from_json(summary(flows=[flow])).summary["flows"]
    assert flows[0]["read"]["latency_ns"]["p50"] is None
    assert flows[0]["read"]["latency_ns"]["max"] == 1


def test_a_trace_tells_percentiles_of_its_own_latencies_by_its_requests() -> None:
    latency = {"mean": 1, "p50": 1, "p99": 2, "max": 2}
    about = {"requests": 2100, "writes": 100, "latency_ns": {"read": latency, "write": latency}}
    told = told_trace(about)["latency_ns"]
    assert told["read"] == latency
    assert told["write"] == latency | {"p99": None}
    assert told_trace(about | {"latency_ns": None})["latency_ns"] is None
