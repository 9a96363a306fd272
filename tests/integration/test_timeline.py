"""``run --timeline``: the rate over time of any run, against its log, and what makes it drop."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import ssdscope as s
from ssdscope.errors import UsageError
from ssdscope.results import Log, read_log

OPS = {"read": 0, "write": 1}
ERROR = 2**-9
"""Of a percentile: half a bucket of the histogram."""
MIXED = (
    "run", "sim:mqsim-8g", "--rw", "randrw", "--bs", "4k,16k", "--iodepth", "8",
    "--number-ios", "30000", "--seed", "3",
)  # fmt: skip


def over_time(cli, *words: str) -> dict[str, Any]:
    said = cli(*words, "--timeline", "-o", "json")
    assert said.status == 0, said.err
    found: dict[str, Any] = said.document["timeline"]
    return found


def places(log: Log, timeline: dict[str, Any]) -> np.ndarray:
    """In which window each request of a log was served."""
    ended = log.complete_ns - timeline["start_ns"]
    assert ended.min() >= 0
    return np.minimum(ended // timeline["interval_ns"], len(timeline["begin_ns"]) - 1)


def check_series(columns: dict[str, Any], log: Log, of: np.ndarray, durations: list[int]) -> None:
    """Hold a series against the rows that it is of, calculated by NumPy."""
    latency = log.latency_ns
    for place, duration_ns in enumerate(durations):
        inside = of == place
        assert columns["requests"][place] == inside.sum()
        assert columns["bytes"][place] == log.bytes[inside].sum()
        assert columns["iops"][place] == pytest.approx(inside.sum() * 1e9 / duration_ns)
        if not inside.any():
            assert columns["mean_ns"][place] is columns["p50_ns"][place] is None
            continue
        assert columns["mean_ns"][place] == pytest.approx(latency[inside].mean())
        assert columns["max_ns"][place] == latency[inside].max()
        for cause, means in (columns["attribution_ns"] or {}).items():
            part = log.columns[f"attr_{cause}_ns"][inside].mean()
            assert means[place] == pytest.approx(part, abs=1e-6)
    for name, percent, fewest in (("p50", 50, 20), ("p99", 99, 1000)):
        place = 0
        while place < len(durations):
            count = columns[f"{name}_windows"][place]
            value = columns[f"{name}_ns"][place]
            if value is not None:
                group = latency[(of >= place) & (of < place + count)]
                assert group.size >= fewest
                exact = np.percentile(group, percent, method="inverted_cdf")
                assert abs(value - exact) <= ERROR * exact
            place += max(count, 1)


def test_windows_are_those_of_the_log(cli, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    timeline = over_time(cli, *MIXED, "--log", str(path))
    log, stored = read_log(path)
    assert stored is not None
    assert stored["timeline"] == timeline
    assert 49 <= len(timeline["begin_ns"]) <= 120
    of = places(log, timeline)
    for name, op in OPS.items():
        rows = log.op == op
        check_series(timeline[name], log.select(rows), of[rows], timeline["duration_ns"])
    assert sum(timeline["duration_ns"]) == stored["elapsed_ns"]


def test_it_needs_no_log_and_changes_nothing(cli) -> None:
    with_it = cli(*MIXED, "--timeline", "-o", "json").document
    without = cli(*MIXED, "-o", "json").document
    assert with_it.pop("timeline")["read"]["requests"]
    assert with_it == without


@pytest.mark.parametrize("drive", ["sim:kuo-samsung-slc", "sim:msr-4gb", "sim:ryu-hdd"])
def test_readings_change_no_drive(cli, drive: str) -> None:
    """Merges that are looked ahead at go on as they would have."""
    words = ("run", drive, "--rw", "randwrite", "--bs", "4k", "--number-ios", "600", "--seed", "5",
             "--iodepth", "4")  # fmt: skip
    with_it = cli(*words, "--timeline", "-o", "json").document
    del with_it["timeline"]
    assert with_it == cli(*words, "-o", "json").document


def test_windows_of_a_given_length(cli, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    words = (*MIXED, "--timeline-interval", "7ms", "--log", str(path))
    timeline = cli(*words, "-o", "json").document["timeline"]
    assert timeline["interval_ns"] == 7_000_000
    log, _ = read_log(path)
    rows = log.op == 0
    check_series(
        timeline["read"], log.select(rows), places(log, timeline)[rows], timeline["duration_ns"]
    )


def test_flows_are_told_apart(cli, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    words = (
        "run", "sim:mqsim-8g", "--size", "1g", "--runtime", "60ms", "--seed", "1",
        "--flow", "name=web rw=randread iodepth=8",
        "--flow", "name=backup rw=write bs=128k iodepth=16", "--log", str(path),
    )  # fmt: skip
    timeline = over_time(cli, *words)
    log, _ = read_log(path)
    of = places(log, timeline)
    web, backup = timeline["flows"]
    assert (web["name"], backup["name"]) == ("web", "backup")
    assert (web["read"], backup["write"]) == (timeline["read"], timeline["write"])
    assert log.flow is not None
    for number, columns in enumerate((web["read"], backup["write"])):
        rows = log.flow == number
        check_series(columns, log.select(rows), of[rows], timeline["duration_ns"])


def test_two_flows_of_reads_add_up(cli) -> None:
    words = ("run", "sim:mqsim-8g", "--number-ios", "3000", "--seed", "1",
             "--flow", "name=a rw=randread", "--flow", "name=b rw=randread iodepth=4")  # fmt: skip
    timeline = over_time(cli, *words)
    one, other = (np.array(flow["read"]["requests"]) for flow in timeline["flows"])
    assert (one + other).tolist() == timeline["read"]["requests"]
    assert one.sum() == other.sum() == 3000


def test_a_replay_has_it(cli, tmp_path: Path) -> None:
    trace = tmp_path / "t.spc"
    rows = [f"0,{(n * 7919 % 4096) * 8},4096,{'rw'[n % 2]},{n / 1000:.6f}" for n in range(3000)]
    trace.write_text("\n".join(rows) + "\n", encoding="utf-8")
    path = tmp_path / "a.parquet"
    timeline = over_time(cli, "replay", "sim:mqsim-8g", str(trace), "--log", str(path))
    log, _ = read_log(path)
    of = places(log, timeline)
    for name, op in OPS.items():
        rows_of = log.op == op
        check_series(timeline[name], log.select(rows_of), of[rows_of], timeline["duration_ns"])
    assert timeline["drops"] == []


JOB = """
[global]
ioengine=libaio
bs=4k
[fill]
rw=write
number_ios=2000
[read]
stonewall
rw=randread
number_ios=2000
"""


def test_a_job_file_has_one_for_each_stage(cli, tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text(JOB, encoding="utf-8")
    words = ("run", "sim:mqsim-8g", "--fio-job", str(job), "--seed", "1")
    stages = cli(*words, "--timeline", "-o", "json").document["stages"]
    for stage, op in zip(stages, ("write", "read"), strict=True):
        assert sum(stage["timeline"][op]["requests"]) == 2000
    refused = cli(*words, "-O", str(tmp_path / "a.svg"))
    assert refused.status == 2
    assert "--section" in refused.err
    assert cli(*words, "--section", "read", "-O", str(tmp_path / "a.svg")).status == 0
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")


def test_a_file_says_how_long_the_machine_waited(cli, tmp_path: Path) -> None:
    path = tmp_path / "real.bin"
    path.write_bytes(bytes(range(256)) * 4096)
    timeline = over_time(
        cli, "run", str(path), "--rw", "randread", "--runtime", "300ms", "--seed", "1"
    )
    assert timeline["interval_ns"] >= 10_000_000
    assert timeline["upkeep"] is None
    assert timeline["machine"].keys() == {"waited_ns", "steal_ns", "stalled_ns"}
    for column in timeline["machine"].values():
        assert len(column) == len(timeline["begin_ns"])
        assert all(0 <= each < 10**10 for each in column)
    assert sum(timeline["read"]["requests"]) > 0


SMALL_REGION = ("--set", "pslc.bytes=256m", "--set", "pslc.dynamic_bytes=0")


def test_a_full_region_is_named(cli) -> None:
    timeline = over_time(
        cli, "run", "sim:sata-tlc", *SMALL_REGION, "--rw", "write", "--bs", "256k",
        "--iodepth", "8", "--io-size", "1g", "--seed", "1",
    )  # fmt: skip
    (drop,) = timeline["drops"]
    assert drop["end_ns"] is None
    assert drop["causes"][0]["cause"] == "region_full"
    assert {each["cause"] for each in drop["causes"]} <= {"region_full", "buffer"}
    written = np.cumsum(timeline["write"]["bytes"])
    before = written[drop["windows"][0]]
    # The region's own blocks, and what the buffer takes beside.
    assert 256 * 2**20 * 0.7 <= before <= 256 * 2**20 * 1.6


def test_collection_is_named(cli) -> None:
    timeline = over_time(
        cli, "run", "sim:mqsim-8g", "--state", "fresh", "--rw", "randwrite", "--bs", "64k",
        "--iodepth", "8", "--number-ios", "150000", "--seed", "1",
    )  # fmt: skip
    assert timeline["drops"], "nothing fell although blocks had to be collected"
    first = timeline["drops"][0]
    assert first["causes"][0]["cause"] == "gc"
    moved = np.array(timeline["upkeep"]["gc_pages_moved"])
    assert moved[: first["windows"][0] - 1].sum() < 0.02 * moved.sum()


def test_merges_are_named(cli) -> None:
    timeline = over_time(
        cli, "run", "sim:kuo-samsung-slc", "--rw", "randwrite", "--bs", "4k",
        "--number-ios", "1200", "--seed", "1",
    )  # fmt: skip
    (drop,) = timeline["drops"]
    assert [each["cause"] for each in drop["causes"]] == ["merge"]
    assert sum(timeline["upkeep"]["merges"]) > 500


def test_a_neighbour_that_ends_is_no_fault_of_the_drive(cli) -> None:
    timeline = over_time(
        cli, "run", "sim:mqsim-8g", "--size", "1g", "--seed", "1",
        "--flow", "name=web rw=randread iodepth=8 number_ios=3000",
        "--flow", "name=rest rw=randread rate_iops=500 number_ios=100",
    )  # fmt: skip
    (drop,) = timeline["drops"]
    assert [each["cause"] for each in drop["causes"]] == ["load"]
    assert "of web" in drop["words"]


@pytest.mark.parametrize("drive", ["nvme-tlc", "mqsim-8g", "ryu-b", "huang-hdd-s", "msr-4gb"])
def test_reads_of_a_drive_at_rest_do_not_drop(cli, drive: str) -> None:
    words = ("run", f"sim:{drive}", "--rw", "randread", "--bs", "4k", "--number-ios", "6000",
             "--iodepth", "2", "--seed", "2")  # fmt: skip
    assert over_time(cli, *words)["drops"] == []


def test_the_library_gives_it_as_a_table() -> None:
    drive = s.open("sim:mqsim-8g", seed=1)
    run = s.run(drive, rw="randrw", number_ios=3000, timeline="1ms")
    table = run.timeline_frame()
    assert sum(table.column("requests").to_pylist()) == 3000
    assert set(table.column("op").to_pylist()) == {"read", "write"}
    assert run.document["timeline"]["interval_ns"] == 1_000_000
    with pytest.raises(UsageError, match="has no timeline"):
        s.run(drive, number_ios=10).timeline_frame()
    with pytest.raises(UsageError, match="takes some time"):
        s.run(drive, number_ios=10, timeline="0s")


def test_each_ending_is_a_form(cli, tmp_path: Path) -> None:
    words = ("run", "sim:mqsim-8g", "--rw", "randrw", "--number-ios", "2000", "--seed", "1")
    starts = {
        "html": b"<!doctype html>", "svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF",
        "csv": b"begin_ns,duration_ns,flow,op,", "parquet": b"PAR1",
    }  # fmt: skip
    for ending, start in starts.items():
        path = tmp_path / f"a.{ending}"
        for _ in range(2):  # the second replaces the first: it is known as ours
            said = cli(*words, "-O", str(path))
            assert said.status == 0, said.err
        assert path.read_bytes().startswith(start)
    rows = pq.read_table(tmp_path / "a.parquet")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert len(text) == rows.num_rows + 1
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h1>randrw 4k on sim:mqsim-8g</h1>" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--timeline-interval", "0"), "--timeline-interval: a window takes some time"),
        (("--timeline-interval", "soon"), "--timeline-interval: 'soon' is not a time"),
        (("-O", "a.txt"), "the name must end in one of .html, .svg"),
        (("-O", "nowhere/a.svg"), "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli, words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = cli("run", "null:", "--number-ios", "10", *words)
    assert said.status == 2
    assert message in said.err
    assert list(tmp_path.iterdir()) == []


def test_files_of_others_stay(cli, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine\n", encoding="utf-8")
    said = cli("run", "null:", "--number-ios", "10", "-O", str(path))
    assert said.status == 2
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_an_interval_alone_asks_for_it_and_seconds_need_no_unit(cli) -> None:
    said = cli("run", "sim:ryu-b", "--rw", "randread", "--number-ios", "8000", "--seed", "1",
               "--timeline-interval", "1", "-o", "json")  # fmt: skip
    assert said.document["timeline"]["interval_ns"] == 10**9


def test_a_run_without_requests_says_so(cli, tmp_path: Path) -> None:
    drive = s.open("sim:mqsim-8g", seed=1)
    run = s.run(drive, rw="randread", number_ios=1, timeline=True)
    json.dumps(run.document, allow_nan=False)
    assert len(run.document["timeline"]["begin_ns"]) == 1
    said = cli("run", "sim:mqsim-8g", "--rw", "read", "--number-ios", "1", "--seed", "1",
               "-O", str(tmp_path / "a.svg"))  # fmt: skip
    assert said.status == 0
    assert "1 window of" in said.out
