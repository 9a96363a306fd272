"""Names from outside reach no terminal raw: each command is given names that order it about."""

import json
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import typer

from ssdscope.cli.app import app, run_cli
from ssdscope.cli.output import error, name_words, note
from ssdscope.shown import shown, shown_name
from ssdscope.targets.names import shell_word

NAME = "a\x1b]0;t\x07\x1b[2J\x9b31m\u202eb\x7f\nerror: c\td"
"""Sets a title, clears the screen, colours (C1), turns the order round, and says a line of ours."""
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Walk the commands that do something."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name in list(below):
        yield from leaves(below[name], (*path, name))


LEAVES = dict(leaves(typer.main.get_command(app)))


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command, and give all that it said; nothing in it may be an order to the terminal."""
    status = run_cli(words)
    streams = capsys.readouterr()
    text = streams.out + streams.err
    assert status in (0, 1, 2, 3), (words, status)
    assert not RAW.search(text), (words, text)
    assert "\nerror: c" not in text, (words, text)
    assert "defect" not in text, (words, text)
    return text


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_no_command_repeats_a_hostile_word(
    path: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    command = LEAVES[path]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    said([*path, NAME, NAME, NAME, NAME], capsys)
    said([*path, f"--{NAME}"], capsys)
    if not arguments:
        return  # it would set to work
    named = [NAME] * len(arguments)
    said([*path, *named], capsys)
    for option in command.params:
        if option not in arguments and not option.is_flag:
            said([*path, *named, option.opts[0], NAME], capsys)


def test_what_stands_in_files_of_such_names_is_shown_in_digits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drive, wrong, trace, page = (f"{NAME}.{end}" for end in ("toml", "bad.toml", "csv", "html"))
    shutil.copy(str(files("ssdscope") / "drives/mqsim-8g.toml"), drive)
    quoted = json.dumps(NAME)
    Path(wrong).write_text(f"{quoted} = {quoted}\n[nand]\n{quoted} = 1\nchannels = {quoted}\n")
    Path(trace).write_text(f"{NAME}\n{NAME},1,2,3\n")
    Path("report.json").write_text(json.dumps({NAME: NAME}))
    told = said(["run", drive, "--rw", "randread", "--number-ios", "10"], capsys)
    assert r"a\x1b]0;t" in told
    for words in (
        ["drives", "check", drive],
        ["drives", "check", wrong],
        ["drives", "show", wrong],
        ["run", wrong],
        ["run", drive, "--set", f"{NAME}={NAME}"],
        ["run", f"nbd+unix:///{NAME}?socket={NAME}"],
        ["replay", trace, drive],
        ["trace", "info", trace],
        ["compare", "report.json", "report.json"],
        ["sweep", wrong],
        ["search", wrong],
        ["drives", "import", wrong],
        ["run", drive, "--number-ios", "10", "--log", f"{page}/x.parquet"],
    ):
        said(words, capsys)


def test_json_gives_the_name_exactly_and_no_raw_byte(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(str(files("ssdscope") / "drives/mqsim-8g.toml"), f"{NAME}.toml")
    words = ["run", f"{NAME}.toml", "--rw", "randread", "--number-ios", "10"]
    assert run_cli([*words, "--output-format", "json"]) == 0
    streams = capsys.readouterr()
    assert not RAW.search(streams.out + streams.err)
    assert json.loads(streams.out)["target"]["uri"] == f"{NAME}.toml"


def test_a_name_stays_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    name_words(["run", "x\nhint: y", "--log=p\nq"])
    error("cannot read x\nhint: y: no\nsuch file", "p\nq")
    assert capsys.readouterr().err == (
        "error: cannot read x\\x0ahint: y: no\nsuch file\n\nhint: p\\x0aq\n"
    )
    name_words([])
    note("a\r\nb\rc")
    assert capsys.readouterr().err == "a\nb\\x0dc\n"


def test_a_bar_shows_no_orders() -> None:
    from rich.console import Console

    from ssdscope.cli.bars import Bar, Description

    bar = Bar(Description(markup=False), console=Console(quiet=True))
    bar.add_task(NAME)
    assert Description(markup=False).render(bar.tasks[0]).plain == shown_name(NAME)


def test_words_for_a_shell_are_read_back_by_bash() -> None:
    import subprocess

    for word in (NAME, "it's", "b\udcfe\x1b", "\\x41\n", "ä b"):
        told = shell_word(word)
        assert not RAW.search(told)
        assert "\n" not in told
        back = subprocess.run(["bash", "-c", f"printf %s {told}"], capture_output=True, check=True)
        assert back.stdout == word.encode(errors="surrogateescape")


def test_text_that_is_no_order_is_left_alone() -> None:
    for text in ("plain", "ä π 你 ±µ", "a\tb\nc\r\n", "👩‍👩‍👧"):
        assert shown(text) == text
