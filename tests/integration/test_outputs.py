"""Where results go: links, devices, folders, full disks; nothing is replaced that is no file."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ssdscope.errors import OutputError, UsageError
from ssdscope.results import read_log
from ssdscope.results.files import write_text
from ssdscope.results.publishing import Part

QUICK = ("sim:mqsim-8g", "--rw", "randread", "--seed", "1")


def test_a_text_replaces_a_file_at_once_and_follows_links(tmp_path: Path) -> None:
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("old", encoding="utf-8")
    link.symlink_to(page)
    write_text(link, "new")
    assert link.is_symlink()
    assert page.read_text(encoding="utf-8") == "new"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.html", "page.html"]


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_what_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_text(page, "new")
    assert page.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("name", ["", " ", ".", "missing/page.html"])
def test_no_file_can_be_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="cannot write"):
        write_text(name, "text")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", *QUICK, "--log", ""), "must end in .parquet"),
        (("run", *QUICK, "--log", "folder.parquet"), "it is a folder"),
        (("run", *QUICK, "--log", "pipe.parquet"), "not a plain file"),
        (("run", *QUICK, "--log", "missing/log.parquet"), "there is no folder missing"),
        (("characterize", "sim:mqsim-8g", "-O", "."), "not the name of a file"),
        (("characterize", "sim:mqsim-8g", "-O", ""), "not the name of a file"),
        (("characterize", "sim:mqsim-8g", "-O", "folder.parquet"), "it is a folder"),
        (("characterize", "data.bin", "-O", "data.bin"), "files of their own"),
        (("characterize", "data.bin", "-O", "a.html", "--json", "./a.html"), "of their own"),
    ],
)
def test_a_bad_place_is_refused_before_anything_is_measured(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.parquet").mkdir()
    Path("data.bin").write_bytes(bytes(2**20))
    os.mkfifo("pipe.parquet")
    said = cli(*words)
    assert said.status == 2
    assert told in said.err
    assert said.out == ""
    assert Path("data.bin").stat().st_size == 2**20


def test_a_page_that_cannot_be_written_does_not_lose_the_findings(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, data = tmp_path / "page.html", tmp_path / "page.json"

    ready = Part.make_ready

    def full(part: Part) -> None:
        if part.claim.name.endswith(".html"):
            raise OSError(28, "No space left on device")
        ready(part)

    monkeypatch.setattr(Part, "make_ready", full)
    said = cli(
        "characterize", "null:1m", "-O", str(page), "--json", str(data), "--budget", "2s",
        "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 1
    assert f"cannot write {page}: No space left on device" in said.err
    assert said.document["findings"]
    assert json.loads(data.read_text(encoding="utf-8"))["findings"] == said.document["findings"]
    assert not page.exists()


def test_a_small_disk_keeps_the_rows_that_fit_and_the_document(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "run.parquet"
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        "ssdscope.results.parquet.shutil.disk_usage",
        lambda _path: usage._replace(free=400_000),
    )
    said = cli("run", *QUICK, "--number-ios", "100000", "--log", str(log), "-o", "json")
    assert said.status == 1
    assert "No space left on device" in said.err
    assert "repeat: ssdscope run" in said.err
    rows, stored = read_log(log)
    assert 10_000 < len(rows) < 100_000
    assert stored == said.document == json.loads(log.with_suffix(".json").read_text("utf-8"))
