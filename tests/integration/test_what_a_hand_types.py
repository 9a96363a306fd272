"""What people type from habit does what they mean, or says what it did."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
TINY = ("--budget", "1s", "--seed", "1")


def test_the_doctor_takes_a_target_alone(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "scratch.bin"
    file.write_bytes(bytes(1 << 20))
    alone = cli("doctor", str(file), "-o", "json").document["identity"]
    named = cli("doctor", "--identify", str(file), "-o", "json").document["identity"]
    assert alone == named
    assert alone["token"] == "FILE:scratch.bin"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a", "--identify", "b"), "--identify names a target already"),
        (("a", "--restore"), "--restore is of all disks, and takes no target: a"),
        (("missing.bin",), "missing.bin: no such file"),
    ],
)
def test_the_doctor_takes_one_target(cli: Cli, words: tuple[str, ...], told: str) -> None:
    said = cli("doctor", *words)
    assert said.status == 2
    assert told in said.err


def test_a_time_alone_has_the_unit_that_fio_gives_it(cli: Cli) -> None:
    words = ("--runtime", "0.01", "--ramp-time", "0.002", "--thinktime", "50")
    workload = cli("run", "null:", *words, "-o", "json").document["workload"]
    assert workload["runtime_ns"] == 10_000_000
    assert workload["ramp_ns"] == 2_000_000
    assert workload["thinktime_ns"] == 50_000


def test_a_flow_that_keeps_an_option_of_its_own_is_named(cli: Cli) -> None:
    flows = ("--flow", "name=web rw=randread runtime=5ms", "--flow", "name=log rw=write")
    said = cli("run", "sim:mqsim-8g", "--runtime", "10ms", "--bs", "4k,8k", *flows)
    assert said.status == 0, said.err
    assert "flow web keeps its own runtime, --runtime is for the others" in said.err
    assert said.err.count("keeps its own") == 1


def test_a_page_is_read_as_its_report(cli: Cli, tmp_path: Path) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    cli("characterize", "null:", *TINY, "-O", str(page), "--json", str(data))
    from_page, from_data = (cli("advise", str(each), "-o", "json") for each in (page, data))
    assert from_page.status == from_data.status == 0, from_page.err
    assert from_page.document["advice"] == from_data.document["advice"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("<!doctype html><title>other</title>", "is a page without the data of a report"),
        (
            '<a download="report.json" href="data:application/json;base64,eyJ">',
            "the data that it carries are damaged",
        ),
    ],
)
def test_a_page_without_a_report_is_named(
    cli: Cli, tmp_path: Path, content: str, told: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text(content, encoding="utf-8")
    said = cli("advise", str(page))
    assert said.status == 2
    assert told in said.err


@pytest.mark.parametrize("kept", ["page", "document"])
def test_the_report_of_another_drive_is_not_replaced(cli: Cli, tmp_path: Path, kept: str) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    for drive in (one, other):
        drive.write_text(cli("drives", "show", "mqsim-8g", "--toml").out, encoding="utf-8")
    words = (*TINY, "-O", str(page), "--json", str(data))
    assert cli("characterize", str(one), *words).status == 0
    before = page.read_bytes(), data.read_bytes()
    (data if kept == "page" else page).unlink()
    refused = cli("characterize", str(other), *words)
    assert refused.status == 2
    assert f"it holds the report of {one}, and this one is of {other}" in refused.err
    assert "--force" in refused.err
    there = page if kept == "page" else data
    assert there.read_bytes() == before[0 if kept == "page" else 1]
    assert cli("characterize", str(one), *words).status == 0, "its own it replaces"
    assert cli("characterize", str(other), *words, "--force").status == 0
