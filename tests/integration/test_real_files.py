"""Real files: read by default, written to only with the token."""

import os
import threading
from pathlib import Path

import pytest

MIB = 2**20


@pytest.fixture
def zeros(tmp_path: Path) -> Path:
    """A file of zeros, eight megabytes."""
    path = tmp_path / "zeros.bin"
    path.write_bytes(bytes(8 * MIB))
    return path


def test_a_file_is_read_and_unchanged(cli, zeros: Path) -> None:
    said = cli(
        "run", str(zeros), "--rw", "randread", "--number-ios", "50", "--seed", "1", "-o", "json"
    )
    assert said.status == 0, said.err
    document = said.document
    assert document["target"]["kind"] == "file"
    assert document["target"]["capacity_bytes"] == 8 * MIB
    assert document["target"]["drive"] is None
    assert document["counters"] is None
    assert document["read"]["attribution_ns"] is None
    assert document["read"]["latency_ns"]["min"] > 0
    assert zeros.read_bytes() == bytes(8 * MIB)


def test_what_was_never_written_is_told(cli, zeros: Path, tmp_path: Path) -> None:
    words = ("--rw", "randread", "--number-ios", "9", "--seed", "1")
    assert "never written" not in cli("run", str(zeros), *words).err
    with (tmp_path / "holes.bin").open("wb") as file:
        file.write(b"x" * 2 * MIB)
        file.truncate(8 * MIB)
        if os.lseek(file.fileno(), 0, os.SEEK_HOLE) == 8 * MIB:
            pytest.skip("this file system does not tell what was never written")
    holes = tmp_path / "holes.bin"
    told = cli("run", str(holes), *words)
    assert told.status == 0
    assert f"75% of {holes} was never written" in told.err
    array = f"raid0:{zeros},{holes}?chunk=64k"
    assert f"38% of {array} was never written" in cli("run", array, *words).err


def test_writing_needs_the_token(cli, zeros: Path) -> None:
    words = ("run", str(zeros), "--rw", "write", "--number-ios", "8", "--seed", "1", "-o", "json")
    refused = cli(*words)
    assert refused.status == 2
    assert "open for reading only" in refused.err
    assert "doctor --identify" in refused.err
    wrong = cli(*words, "--destroy-data", "FILE:other.bin")
    assert wrong.status == 2
    assert zeros.read_bytes() == bytes(8 * MIB)

    identity = cli("doctor", "--identify", str(zeros), "-o", "json").document["identity"]
    assert identity["token"] == "FILE:zeros.bin"
    written = cli(*words, "--destroy-data", identity["token"])
    assert written.status == 0, written.err
    assert written.document["write"]["bytes"] == 8 * 4096
    assert zeros.read_bytes() != bytes(8 * MIB)


def test_a_file_with_data_needs_a_second_word(cli, tmp_path: Path) -> None:
    path = tmp_path / "thesis.bin"
    path.write_bytes(b"years of work" * MIB)
    before = path.read_bytes()
    words = (
        "run", str(path), "--rw", "write", "--number-ios", "8", "--size", "1m",
        "--destroy-data", "FILE:thesis.bin",
    )  # fmt: skip
    refused = cli(*words)
    assert refused.status == 2
    assert "--overwrite-existing" in refused.err
    assert path.read_bytes() == before
    assert cli(*words, "--overwrite-existing").status == 0


@pytest.mark.parametrize("rw", ["randread", "randwrite"])
def test_a_file_that_is_truncated_meanwhile_is_an_error(cli, zeros: Path, rw: str) -> None:
    cli("run", str(zeros), "--number-ios", "1", "--seed", "1")  # imports what takes a while
    over = threading.Event()

    def cut() -> None:
        """Cut it, again and again: a write may extend it before anybody looks."""
        while not over.wait(0.3 if zeros.stat().st_size == 8 * MIB else 0.005):
            os.truncate(zeros, MIB)

    cutter = threading.Thread(target=cut)
    cutter.start()
    said = cli(
        "run", str(zeros), "--rw", rw, "--runtime", "20s", "--seed", "1", "-o", "json",
        "--destroy-data", "FILE:zeros.bin",
    )  # fmt: skip
    over.set()
    cutter.join()
    assert said.status == 1
    assert f"its size was {8 * MIB} bytes, and is " in said.err
    assert said.document[rw.removeprefix("rand")]["requests"] > 0, "what was measured is kept"


def test_an_empty_file_is_refused(cli, tmp_path: Path) -> None:
    path = tmp_path / "empty.bin"
    path.touch()
    said = cli("run", str(path), "--number-ios", "1")
    assert said.status in (1, 2)
    assert "empty.bin" in said.err


def test_an_array_is_written_only_with_a_token_for_each_member(cli, tmp_path: Path) -> None:
    for name in ("a.bin", "b,c.bin"):
        (tmp_path / name).write_bytes(bytes(2 * MIB))
    uri = f"raid0:{tmp_path}/a.bin,({tmp_path}/b,c.bin)?chunk=64k"
    words = ("run", uri, "--rw", "write", "--bs", "64k", "--number-ios", "8", "--seed", "1")
    known = cli("doctor", "--identify", uri, "-o", "json").document["identity"]
    assert known["token"] == "FILE:a.bin,(FILE:b,c.bin)"
    assert [each["capacity_bytes"] for each in known["members"]] == [2 * MIB, 2 * MIB]
    without = cli(*words)
    assert without.status == 2
    assert "doctor --identify" in without.err
    for token in ("FILE:a.bin", "FILE:a.bin,FILE:a.bin", "(FILE:b,c.bin),FILE:a.bin"):
        refused = cli(*words, "--destroy-data", token)
        assert refused.status == 2, token
        assert "token" in refused.err
    for name in ("a.bin", "b,c.bin"):
        assert (tmp_path / name).read_bytes() == bytes(2 * MIB), "nothing was written"
    said = cli(*words, "--destroy-data", known["token"])
    assert said.status == 0, said.err
    for name in ("a.bin", "b,c.bin"):
        assert (tmp_path / name).read_bytes() != bytes(2 * MIB)
