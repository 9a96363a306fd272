"""Logs that fio wrote, as results: committed ones of fio 3.33, and bad ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Said

from ssdscope.results.parquet import read_log

DATA = Path(__file__).parents[1] / "data" / "fio"
IOLOG = "fio version 3 iolog\n0 f add\n1 f open\n1000 f read 0 4096\n3000 f write 4096 8192\n"


def test_a_log_with_offsets_and_priorities(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = DATA / "offsets_clat.1.log"
    rows = [line.split(", ") for line in path.read_text().splitlines()]
    out = tmp_path / "run.parquet"
    document = cli("import-fio-log", str(path), "-O", str(out), "-o", "json").document
    for name, op in (("read", "0"), ("write", "1")):
        values = [int(row[1]) for row in rows if row[2] == op]
        section = document[name]
        assert section["requests"] == len(values)
        assert section["latency_ns"]["mean"] == pytest.approx(sum(values) / len(values))
        assert section["latency_ns"]["max"] == max(values)
        assert section["bytes"] == 4096 * len(values)
    log, record = read_log(out)
    assert log.columns["offset_bytes"].tolist() == [int(row[4]) for row in rows]
    assert record == document


def test_an_averaged_log_has_no_percentiles(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = str(DATA / "averaged_clat.1.log")
    said = cli("import-fio-log", path, "-o", "json")
    assert "log_avg_msec" in said.err
    assert said.document["read"]["latency_ns"].keys() == {"mean"}
    assert said.document["requests"] is None
    refused = cli("import-fio-log", path, "-O", str(tmp_path / "a.parquet"))
    assert refused.status == 2
    assert "means of windows" in refused.err
    assert not list(tmp_path.iterdir())


def test_rates_and_bandwidths_of_windows_and_of_requests(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    for name, text, key, expected in (
        ("w_bw.1.log", "1, 2048, 0, 0, 0\n2, 4096, 0, 0, 0\n", "bandwidth_bytes_per_s", 3 << 20),
        ("w_iops.1.log", "1, 100, 0, 0, 0\n2, 300, 0, 0, 0\n", "iops", 200),
        ("r_iops.1.log", "0, 1, 0, 512, 0\n1000, 1, 0, 512, 0\n", "iops", 2),
    ):
        path = tmp_path / name
        path.write_text(text)
        section = cli("import-fio-log", str(path), "-o", "json").document["read"]
        assert section[key] == pytest.approx(expected, rel=1e-6), name
        assert section["latency_ns"] is None


def test_an_iolog_has_requests_and_no_latencies(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_text(IOLOG)
    document = cli("import-fio-log", str(path), "-o", "json").document
    assert document["read"]["requests"] == 1
    assert document["write"]["bytes"] == 8192
    assert document["write"]["latency_ns"] is None
    assert document["elapsed_ns"] == 2_000_000


GOOD = "0, 700, 0, 4096, 0\n"


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ({"a_lat.log": "0, 700, 0, 4096\n"}, (), "--unit ns or --unit us"),
        ({"a_lat.log": GOOD + "0, x, 0, 4096, 0\n"}, (), "line 2: expected a value (column 2)"),
        ({"a_lat.log": ""}, (), "holds no requests"),
        ({"a_lat.log": "hello\n"}, (), "expected a line of an fio log"),
        ({"a.log": GOOD}, (), "say which with --values"),
        ({"a_lat.log": GOOD, "a_clat.log": GOOD}, (), "the same requests twice"),
        ({"a_lat.log": GOOD}, ("--unit", "fs"), "--unit: 'fs' is unknown"),
        ({"a_bw.log": GOOD}, ("--unit", "ns"), "--unit is of latencies"),
        ({"a_lat.log": GOOD}, ("--values", "lot"), "--values: 'lot' is unknown"),
        ({"a_iops.log": GOOD}, ("-O", "OUT.parquet"), "there are no rows to keep"),
        ({"a_lat.log": GOOD}, ("-O", "OUT.txt"), "must end in .parquet"),
    ],
)
def test_bad_logs_and_options_are_named(
    files: dict[str, str], options: tuple[str, ...], words: str,
    cli: Callable[..., Said], tmp_path: Path,
) -> None:  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in files]
    options = tuple(each.replace("OUT", str(tmp_path / "out")) for each in options)
    said = cli("import-fio-log", *paths, *options)
    assert said.status != 0
    assert words in " ".join(said.err.split())


def test_bad_lines_are_counted_where_that_is_wanted(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    path = tmp_path / "a_lat.log"
    path.write_text(GOOD * 9 + "0, x, 0, 4096, 0\n")
    said = cli("import-fio-log", str(path), "--skip-bad", "-o", "json")
    assert (said.status, said.document["trace"]["bad_lines"]) == (0, 1)
    assert "line 10 left out" in said.err
