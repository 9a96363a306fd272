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
        ({"a_lat.log": "hello\n"}, (), "expected a line of an fio log"),
        ({"a.log": GOOD}, (), "say which with --values"),
        ({"a_lat.log": GOOD, "a_clat.log": GOOD}, (), "the same requests twice"),
        ({"a_lat.log": GOOD}, ("--unit", "fs"), "--unit: 'fs' is unknown"),
        ({"a_lat.log": GOOD}, ("--unit", "us"), "has a column of priorities"),
        ({"a_lat.log": GOOD, "b_lat.log": "1, 5, 0, 0, 0\n"}, (), "they are not of one run"),
        ({"a_clat_hist.1.log": "1, 0, 4096, 1, 2\n"}, (), "line 1: expected ms, 0|1|2"),
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


def rows(path: Path, values: list[tuple[int, int, int]]) -> str:
    """Write an averaged log of rows (ms, value, direction), and name it."""
    path.write_text("".join(f"{at}, {value}, {way}, 0, 0\n" for at, value, way in values))
    return str(path)


def test_rates_of_jobs_side_by_side_add_up(cli: Callable[..., Said], tmp_path: Path) -> None:
    paths = [
        rows(tmp_path / f"run_iops.{job}.log", [(500, 100 + job, 0), (1000, 120 + job, 0)])
        for job in range(1, 65)
    ]
    document = cli("import-fio-log", *paths, "-o", "json").document
    assert document["read"]["iops"] == pytest.approx(sum(110 + job for job in range(1, 65)))
    assert document["elapsed_ns"] == 1_000_000_000


def test_windows_count_with_their_length_and_empty_ones_have_no_row(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    # Half a second each; nothing happened from 1 s to 2 s; the last window is a short one.
    path = rows(
        tmp_path / "a_iops.1.log", [(500, 100, 0), (1000, 100, 0), (2500, 300, 0), (2600, 50, 0)]
    )
    document = cli("import-fio-log", path, "-o", "json").document
    amount = 0.5 * 100 + 0.5 * 100 + 0.5 * 300 + 0.1 * 50
    assert document["read"]["iops"] == pytest.approx(amount / 2.6)


def test_jobs_that_ran_one_after_the_other_are_added_over_the_time_of_both(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    first = rows(tmp_path / "a_iops.1.log", [(500, 100, 0), (1000, 100, 0)])
    then = rows(tmp_path / "a_iops.2.log", [(5500, 300, 0), (6000, 300, 0)])
    document = cli("import-fio-log", first, then, "-o", "json").document
    assert document["elapsed_ns"] == 2_000_000_000
    assert document["read"]["iops"] == pytest.approx(200)


def test_jobs_in_one_log_are_told_apart_by_their_times(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    both = [(500, 100, 0), (1000, 100, 0), (500, 300, 0), (1000, 300, 0)]
    document = cli("import-fio-log", rows(tmp_path / "a_iops.log", both), "-o", "json").document
    assert document["read"]["iops"] == pytest.approx(400)


def test_mean_latencies_of_windows_weigh_by_requests(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    rows(tmp_path / "a_iops.1.log", [(500, 1000, 0), (1000, 10, 0)])
    path = rows(tmp_path / "a_lat.1.log", [(501, 1_000_000, 0), (1000, 100_000_000, 0)])
    said = cli("import-fio-log", path, "-o", "json")
    section = said.document["read"]
    assert section["weighed_by"] == "requests"
    assert section["latency_ns"]["mean"] == pytest.approx((1000 + 10 * 100) / 1010 * 1e6, rel=0.01)
    (tmp_path / "a_iops.1.log").unlink()
    said = cli("import-fio-log", path, "-o", "json")
    assert said.document["read"]["weighed_by"] == "time"
    assert "windows weigh by their length" in said.err


def test_an_empty_log_is_no_error(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = tmp_path / "my run_slat.1.log"
    path.write_text("")
    said = cli("import-fio-log", str(path), "-o", "json")
    assert (said.status, said.document["requests"], said.document["read"]) == (0, 0, None)
    assert "is empty" in said.err


def test_logs_of_an_old_and_a_new_fio_have_their_own_units(
    cli: Callable[..., Said], tmp_path: Path
) -> None:
    (tmp_path / "a_lat.1.log").write_text("0, 7, 0, 512\n")
    (tmp_path / "a_lat.2.log").write_text("0, 9000, 1, 512, 0\n")
    paths = [str(tmp_path / f"a_lat.{job}.log") for job in (1, 2)]
    document = cli("import-fio-log", *paths, "--unit", "us", "-o", "json").document
    assert document["read"]["latency_ns"]["max"] == 7000
    assert document["write"]["latency_ns"]["max"] == 9000


def test_histograms_have_counts_and_percentiles(cli: Callable[..., Said], tmp_path: Path) -> None:
    for job, place in ((1, 128), (2, 192)):  # 128 to 129 ns, and 256 to 259 ns
        counts = ["0"] * 1856
        counts[place] = "50"
        lines = [f"{at}, 0, 4096, {', '.join(counts)}\n" for at in (500, 1000)]
        (tmp_path / f"a_clat_hist.{job}.log").write_text("".join(lines))
    paths = [str(tmp_path / f"a_clat_hist.{job}.log") for job in (1, 2)]
    section = cli("import-fio-log", *paths, "-o", "json").document["read"]
    assert (section["requests"], section["bytes"], section["iops"]) == (200, 200 * 4096, 200)
    assert (section["latency_ns"]["p50"], section["latency_ns"]["p90"]) == (129, 258)
    bad = tmp_path / "b_clat_hist.1.log"
    bad.write_text("500, 0, 4096, 1, x\n")
    said = cli("import-fio-log", str(bad), "--skip-bad", "-o", "json")
    assert said.document["trace"]["bad_lines"] == 1
    assert said.status == 3
