"""Input that cannot be meant, as a user types it: what is said, and that nothing hangs."""

import os
from pathlib import Path

import pytest

RUN = ("run", "sim:msr-4gb", "--seed", "1")
NESTED = "raid0:(" * 2000 + "null:" + "),null:" * 2000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*RUN, "--bs", "100"), "error: --bs: 100 is not a multiple of the drive's 4096-byte"),
        ((*RUN, "--bs", "0"), "error: --bs: must be more than 0\n"),
        ((*RUN, "--size", "0"), "error: --size: the region of 0 bytes cannot hold"),
        ((*RUN, "--offset", "100t"), "error: --offset: 109951162777600 is past the drive's end"),
        ((*RUN, "--io_size", "1"), "error: --io-size: less than one request of 4 KiB\n"),
        ((*RUN, "--runtime", "0s"), "error: --runtime: must be more than 0"),
        ((*RUN, "--until-ci", "0%"), "error: --until-ci: an interval within 0% of the mean"),
        ((*RUN, "--state", "steady:"), "error: --state steady: '' is not a size"),
        ((*RUN, "--set", "write_buffer.bytes=1k"), "write_buffer.bytes: means nothing on a"),
        (("run", "sim:MQSIM-8G"), "did you mean mqsim-8g"),
        (("run", "null:100"), "target 'null:100': a drive has whole sectors of 512 bytes"),
        (("run", "null:1KB"), "target 'null:1KB': '1KB' can be read as"),
        (("run", "raid0:null:,null:?chunk="), "target 'raid0:null:,null:?chunk=': ''"),
        (("run", "raid0:null:,,null:"), "member 2 is empty"),
        (("run", NESTED), "more than 8 RAID-0s inside each other"),
        (("sweep", "any.toml", "--jobs", "0"), "error: --jobs: 0 is no number of runs"),
        (("drives", "check", "/dev/null"), "/dev/null is not a drive file"),
        (("doctor", "--identify", "sim:mqsim-8g"), "it has no identity"),
        (
            ("replay", "sim:mqsim-8g", "t.spc", "--volume", "-1"),
            "error: --volume: -1 is less than 0",
        ),
    ],
)
def test_what_is_wrong_is_named_as_it_was_typed(cli, words: tuple[str, ...], told: str) -> None:
    said = cli(*words)
    assert said.status == 2
    assert told in said.err.replace(f"{words[-1]} (drawn)", "")
    assert said.out == ""


def test_a_pipe_is_no_drive_and_no_trace(cli, tmp_path: Path) -> None:
    for name in ("pipe.toml", "pipe.spc"):
        os.mkfifo(tmp_path / name)
    said = cli("drives", "check", str(tmp_path / "pipe.toml"))
    assert (said.status, said.out) == (2, "")
    assert "it is not a plain file" in said.err
    said = cli("replay", "sim:mqsim-8g", str(tmp_path / "pipe.spc"))
    assert said.status == 2
    assert "hint: save the stream to a file" in said.err


def test_a_file_smaller_than_a_few_requests(cli, tmp_path: Path) -> None:
    tiny = tmp_path / "tiny.bin"
    tiny.write_bytes(bytes(2048))
    said = cli("probe", "latency", str(tiny), "--seed", "1", "-o", "json")
    assert said.status == 0
    assert {each["reason"] for each in said.document["findings"]} == {"range_too_small"}
    page = tmp_path / "page.html"
    for words in (
        ("characterize", str(tiny), "-O", str(page)),
        ("reproduce", "machado2015", "--target", str(tiny), "-O", str(tmp_path)),
    ):
        said = cli(*words)
        assert said.status == 2
        assert "holds 2048 bytes" in said.err
    assert not page.exists()


def test_a_huge_file_is_no_drive(cli, tmp_path: Path) -> None:
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(2**33)
    said = cli("run", str(huge))
    assert said.status == 2
    assert "holds 8,589,934,592 bytes" in said.err


def test_a_trace_that_writes_is_refused_at_once_where_only_reading_is_allowed(
    cli, tmp_path: Path
) -> None:
    disk, trace = tmp_path / "disk.bin", tmp_path / "trace.spc"
    disk.write_bytes(bytes(2**20))
    trace.write_text("0,0,4096,r,0.0\n0,8,4096,w,0.1\n0,8,4096,r,0.2\n", encoding="utf-8")
    said = cli("replay", str(disk), str(trace), "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert "error: 1 of the trace's 3 requests write" in said.err
    assert "--destroy-data" in said.err
    trace.write_text("0,0,4096,r,0.0\n0,8,4096,r,0.1\n", encoding="utf-8")
    assert cli("replay", str(disk), str(trace), "--mode", "asap", "--seed", "1").status == 0


def test_a_time_scale_that_no_clock_holds_is_refused(cli, tmp_path: Path) -> None:
    trace = tmp_path / "trace.spc"
    trace.write_text("0,0,4096,r,0.0\n0,8,4096,r,1.0\n", encoding="utf-8")
    said = cli("replay", "sim:mqsim-8g", str(trace), "--time-scale", "1e300", "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert "the trace would go on for more than" in said.err


def test_an_interval_asked_for_in_vain_is_told_as_it_was_asked(cli) -> None:
    said = cli(
        "run", "sim:mqsim-8g", "--rw", "randread", "--iodepth", "32", "--seed", "1",
        "--number-ios", "2000", "--until-ci", "0.01%", "-o", "json",
    )  # fmt: skip
    assert said.status == 3
    assert "did not come within 0.01% of the mean" in said.err
    assert said.document["until_ci_reached"] is False
