"""``ssdscope trace``: show, windows, make."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ssdscope.workloads.windows import FEATURES


@pytest.fixture
def systor(tmp_path: Path) -> Path:
    """A trace of three minutes, a request every half second, latencies of a millisecond."""
    path = tmp_path / "lun.csv"
    head = "Timestamp,Response,IOType,LUN,Offset,Size\n"
    rows = (f"{i / 2},0.001,{'RW'[i % 2]},0,{i * 4096},4096\n" for i in range(361))
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def test_show_says_what_it_is(cli, systor: Path) -> None:
    said = cli("trace", "show", str(systor))
    assert said.status == 0, said.err
    assert "systor" in said.out
    assert "write, as traced" in said.out
    about = cli("trace", "show", str(systor), "-o", "json").document["trace"]
    assert (about["format"], about["requests"], about["span_ns"]) == ("systor", 361, 180 * 10**9)
    assert about["latency_ns"]["read"]["p50"] == 1_000_000


def test_windows_are_rows_of_features(cli, systor: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.parquet"
    said = cli("trace", "windows", str(systor), "-O", str(out), "-o", "json")
    assert said.status == 0, said.err
    assert said.document["windows"] == 4
    read = pq.read_table(out)
    assert read.column_names == ["start_s", "covered", "requests", *FEATURES]
    columns = read.to_pydict()
    assert columns["requests"] == [120, 120, 120, 1]
    assert columns["iops"][0] == 2.0
    assert columns["previous_latency_ns"][1] == 1e6
    assert b"ssdscope.trace" in read.schema.metadata
    longer = cli(
        "trace", "windows", str(systor), "-O", str(out), "--window", "2m", "-o", "json"
    ).document
    assert longer["windows"] == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-O", "w.csv"), ".parquet"),
        (("-O", "w.parquet", "--window", "1500ms"), "whole seconds"),
        (("-O", "missing/w.parquet"), "no folder"),
    ],
)
def test_windows_that_cannot_be_are_refused(
    cli, systor: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(systor.parent)
    said = cli("trace", "windows", str(systor), *words)
    assert said.status == 2
    assert expected in said.err


def test_a_made_up_trace_says_so_everywhere(cli, tmp_path: Path) -> None:
    out = tmp_path / "synthetic-financial1.spc.gz"
    words = ("trace", "make", "financial1", "--span", "1m", "--seed", "1", "-O", str(out))
    said = cli(*words, "-o", "json")
    assert said.status == 0, said.err
    assert said.document["synthetic"] is True
    assert "synthetic" in said.err
    first = out.read_bytes()
    cli(*words)
    assert out.read_bytes() == first, "the same seed, the same file"
    replayed = cli(
        "replay", "sim:mqsim-8g", str(out), "--fit", "compact", "--seed", "1", "-o", "json"
    )
    assert replayed.status == 0, replayed.err
    assert replayed.document["trace"]["remark"].startswith("synthetic: made after")
    assert "this trace is synthetic" in replayed.err
    assert replayed.document["requests"] == said.document["requests"]


def test_a_pattern_says_that_it_is_one(cli, tmp_path: Path) -> None:
    out = tmp_path / "synthetic-mix.spc.gz"
    said = cli("trace", "make", "mix", "--span", "10m", "--seed", "1", "-O", str(out), "-o", "json")
    assert said.status == 0, said.err
    assert said.document["sources"] == {"assumed": "all of it"}
    shown = cli("trace", "show", str(out), "-o", "json").document
    assert shown["trace"]["remark"].startswith("synthetic: made up after the pattern mix")


def test_a_made_up_trace_is_not_given_a_real_name(cli, tmp_path: Path) -> None:
    said = cli("trace", "make", "financial1", "-O", str(tmp_path / "Financial1.spc"))
    assert said.status == 2
    assert "synthetic-Financial1.spc" in said.err
    unknown = cli("trace", "make", "tpcc", "-O", str(tmp_path / "synthetic.spc"))
    assert unknown.status == 2
    assert "financial1, financial2" in unknown.err
