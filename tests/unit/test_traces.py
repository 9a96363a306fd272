"""Traces as columns: what comes out of a file, whole and in chunks."""

from pathlib import Path

import numpy as np
import pytest

from ssdscope.errors import TraceError
from ssdscope.targets.traces import (
    COLUMN_TYPES,
    LATENCY_UNKNOWN,
    TraceOptions,
    TraceRows,
    read_trace,
    scan_trace,
    sniff_trace,
)

SHARED = Path(__file__).parents[2].parent / "shared" / "traces"
SYSTOR = (
    "Timestamp,Response,IOType,LUN,Offset,Size\n"
    "10.5,0.002,R,1,8192,4096\n10.25,,W,0,0,512\n11.0,0.001,W,1,512,1024\n"
)


def test_columns_are_by_time_and_have_their_types(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(SYSTOR, encoding="utf-8")
    trace = read_trace(str(path))
    rows = trace.rows
    assert {name: getattr(rows, name).dtype for name in COLUMN_TYPES} == COLUMN_TYPES
    assert rows.arrival_ns.tolist() == [0, 250_000_000, 750_000_000]
    assert rows.op.tolist() == [1, 0, 1]
    assert rows.volume.tolist() == [0, 1, 1]
    assert rows.offset_bytes.tolist() == [0, 8192, 512]
    assert rows.bytes.tolist() == [512, 4096, 1024]
    assert rows.latency_ns.tolist() == [LATENCY_UNKNOWN, 2_000_000, 1_000_000]
    assert (trace.about["format"], trace.about["reordered"]) == ("systor", 1)
    assert not trace.synthetic
    assert sniff_trace(str(path))["format"] == "systor"
    alone = read_trace(str(path), TraceOptions(volume=1))
    assert alone.rows.arrival_ns.tolist() == [0, 500_000_000]


def test_a_long_trace_comes_in_chunks(tmp_path: Path) -> None:
    path = tmp_path / "long.spc"
    count = 2**20 + 5
    path.write_text("".join(f"0,{i},512,r,{i}.5\n" for i in range(count)), encoding="utf-8")
    lengths: list[int] = []
    about = scan_trace(str(path), TraceOptions(), lambda rows: lengths.append(len(rows)))
    assert lengths == [2**20, 5]
    assert about["requests"] == count
    rows = read_trace(str(path)).rows
    assert len(rows) == count
    np.testing.assert_array_equal(rows.offset_bytes, np.arange(count, dtype=np.uint64) * 512)


def test_errors_of_the_caller_and_of_the_file_come_through(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(SYSTOR + "rubbish\n", encoding="utf-8")
    with pytest.raises(TraceError, match="line 5: expected six fields"):
        read_trace(str(path))
    trace = read_trace(str(path), TraceOptions(skip_bad=True))
    assert trace.about["first_bad_lines"][0]["line"] == 5

    def fail(_: TraceRows) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scan_trace(str(path), TraceOptions(skip_bad=True), fail)


@pytest.mark.parametrize(
    ("name", "trace_format", "requests"),
    [
        ("DTRS.8h.ssdsim.zst", "mqsim", 127_043),
        ("msr-cambridge1-sample.csv.zst", "msr", 1_000),
        ("ycsb-ext4.blkparse.txt.zst", "blkparse", 9_887),
    ],
)
def test_real_traces(name: str, trace_format: str, requests: int) -> None:
    if not (SHARED / name).exists():
        pytest.skip(f"the reference file {name} is not beside the project")
    trace = read_trace(str(SHARED / name), TraceOptions(skip_bad=True))
    assert (trace.about["format"], len(trace.rows)) == (trace_format, requests)
    assert (np.diff(trace.rows.arrival_ns.astype(np.int64)) >= 0).all()
