"""No output destroys an input, or what ssdscope did not write: every option that names one."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from tests.small_drives import PAGES

from ssdscope.cli.app import app
from ssdscope.cli.outputs import Input, Output, OutputFolder, marks
from ssdscope.errors import UsageError
from ssdscope.results import read_log
from ssdscope.results.files import write_text
from ssdscope.results.guard import Claims, Place, claim_places
from ssdscope.results.marks import written_by_us

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
NAMES_A_FILE = re.compile(r"\bFILE|PAGE|FOLDER|PATH|DIR|TARGET|TRACE$|\.\w+$")
INPUTS = (
    "data.parquet", "model.json", "run.json", "other.json", "report.json", "swept.jsonl",
)  # fmt: skip
"""Inputs whose names end as those of outputs do."""
QUICK = ("--rw", "randread", "--number-ios", "10", "--seed", "1")
TRACE = "0,0,512,r,0.0\n0,8,512,r,0.5\n"

PEERS = Path(__file__).parents[1] / "data" / "peers"
SWEPT = "".join(
    f'{{"key": "{bs}", "point": {{"target": "null:", "varied": {{"bs": {bs}}}}}, '
    f'"record": {{"read": {{"iops": {bs}}}}}, "error": null, "sweep_seed": 1}}\n'
    for bs in (4096, 8192)
)
SEARCH = """
target = "drive.toml"
minimise = "read.latency_ns.mean"
[trace]
file = "trace.spc"
[space]
nand.channels = [1, 2]
"""
COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "run": (("data.bin", "--jobs", "jobs.toml"), {"log": "a.parquet", "timeline_output": "a.svg"}),
    "replay": (("data.bin", "trace.spc"), {"log": "a.parquet", "timeline_output": "a.svg"}),
    "characterize": (
        ("data.bin", "--trace", "trace.spc"),
        {"out": "a.html", "json_out": "a.json"},
    ),
    "sweep run": (("plan.toml",), {"out": "a.jsonl"}),
    "sweep plot": (("swept.jsonl",), {"out": "a.svg"}),
    "search": (
        ("search.toml",),
        {"out": "a.jsonl", "write_drive": "a.toml", "plot": "a.svg"},
    ),
    "compare": (("run.json", "other.json"), {"out": "a.html"}),
    "reproduce": (
        ("huang2011", "--figure", "VII", "--target", "data.bin", "--trace", "f=trace.spc"),
        {"out": "folder", "series": "kept"},
    ),
    "serve": (
        ("sim:mqsim-8g", "--socket", "a.sock", "--backing", "data.bin"),
        {"stats": "a.json"},
    ),
    "import": (("j_lat.1.log",), {"out": "a.parquet"}),
    "import-fio-log": (("j_lat.1.log",), {"output": "a.parquet"}),
    "drives import": (("ssd.parv",), {"out": "a.toml"}),
    "trace windows": (("trace.spc",), {"out": "a.parquet"}),
    "trace make": (("financial1",), {"out": "synthetic.spc"}),
    "probe": (("latency", "data.bin"), {"record": "a.npz"}),
    "model collect": (("data.bin", "--points", "4"), {"out": "a.parquet"}),
    "model fit": (("data.parquet",), {"out": "a.json"}),
    "model explain": (("model.json",), {"out": "a.svg"}),
    "twin": (("report.json",), {"out": "a.toml"}),
}
"""By command: words that name inputs, and a good name for each output."""
READ = {
    "run": ("data.bin", "jobs.toml"),
    "replay": ("data.bin", "trace.spc"),
    "characterize": ("data.bin", "trace.spc"),
    "sweep run": ("plan.toml", "data.bin", "array.toml"),
    "sweep plot": ("swept.jsonl",),
    "search": ("search.toml", "drive.toml", "trace.spc"),
    "compare": ("run.json", "other.json"),
    "reproduce": ("data.bin", "trace.spc"),
    "serve": ("data.bin",),
    "import": ("j_lat.1.log",),
    "import-fio-log": ("j_lat.1.log",),
    "drives import": ("ssd.parv",),
    "trace windows": ("trace.spc",),
    "trace make": (),
    "probe": ("data.bin",),
    "model collect": ("data.bin",),
    "model fit": ("data.parquet",),
    "model explain": ("model.json",),
    "twin": ("report.json",),
}


def commands() -> Iterator[tuple[str, Any]]:
    """Walk the command line: every command with its words."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for name, each in getattr(command, "commands", {}).items():
            yield from walk(each, (*words, name))
        if not hasattr(command, "commands"):
            yield " ".join(words), command

    return walk(typer.main.get_command(app), ())


def outputs(command: Any) -> dict[str, Output | OutputFolder]:
    found = marks(command.callback)
    return {name: mark for name, mark in found.items() if not isinstance(mark, Input)}


CASES = [(words, name) for words, each in commands() for name in outputs(each)]


@pytest.mark.parametrize(("words", "command"), list(commands()))
def test_every_option_that_names_a_file_says_which_way(words: str, command: Any) -> None:
    marked = marks(command.callback)
    for parameter in command.params:
        if parameter.type.name == "str" and NAMES_A_FILE.search(parameter.metavar or ""):
            assert parameter.name in marked, f"{words}: {parameter.opts}"
    if outputs(command):
        assert "--force" in [option for each in command.params for option in each.opts]
        assert set(outputs(command)) == set(COMMANDS[words][1]), f"{words} is not tried here"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one input of each kind, and what each holds."""
    monkeypatch.chdir(tmp_path)
    Path("data.bin").write_bytes(b"precious" * 2**17)
    Path("jobs.toml").write_text('[a]\nrw = "randread"\nnumber_ios = 10\n', encoding="utf-8")
    Path("j_lat.1.log").write_text("1, 10, 0, 4096, 0, 0\n", encoding="utf-8")
    Path("trace.spc").write_text(TRACE, encoding="utf-8")
    Path("ssd.parv").write_bytes((PEERS / "ssd.parv").read_bytes())
    Path("array.toml").write_text('target = "raid0:data.bin,null:1m"\n', encoding="utf-8")
    Path("plan.toml").write_text(
        'targets = ["array.toml"]\n[workload]\nrw = "randread"\nnumber_ios = 10\n', encoding="utf-8"
    )
    Path("drive.toml").write_text(PAGES, encoding="utf-8")
    Path("search.toml").write_text(SEARCH, encoding="utf-8")
    Path("swept.jsonl").write_text(SWEPT, encoding="utf-8")
    pq.write_table(pa.table({"a": [1]}), "data.parquet")
    Path("model.json").write_text("{}\n", encoding="utf-8")
    for name in ("run.json", "other.json", "report.json"):
        Path(name).write_text("{}\n", encoding="utf-8")
    return tmp_path


def words_of(words: str, name: str, output: str) -> list[str]:
    """Compose a command line that writes to a place."""
    command = dict(commands())[words]
    option = next(each.opts[0] for each in command.params if each.name == name)
    return [*words.split(), *COMMANDS[words][0], option, output]


def stands_at(words: str, name: str) -> Path:
    """Say where the file is that the output would replace; for a folder, one in it."""
    good = Path(COMMANDS[words][1][name])
    if words != "reproduce":
        return good
    good.mkdir(exist_ok=True)
    return good / {"out": "huang2011-traces.csv", "series": "1-1.npz"}[name]


@pytest.mark.parametrize("link", [os.symlink, os.link, None])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
@pytest.mark.parametrize(("words", "name"), CASES)
def test_an_input_is_never_replaced(
    cli, place: Path, words: str, name: str, link: Callable[..., None] | None, force: tuple[str]
) -> None:
    for read in READ[words]:
        content = (place / read).read_bytes()
        output = stands_at(words, name)
        if link is None and words != "reproduce":
            if Path(read).suffix != output.suffix and words not in ("characterize", "model fit"):
                continue  # its own ending is asked for
            output = Path(read)
        else:
            (link or os.symlink)((place / read).resolve(), output)
        wanted = str(output.parent) if words == "reproduce" else str(output)
        said = cli(*words_of(words, name, wanted), *force)
        assert said.status == 2
        assert "inputs and outputs are files of their own" in said.err, said.err
        assert said.out == ""
        assert (place / read).read_bytes() == content
        if output != Path(read):
            output.unlink()


@pytest.mark.parametrize(("words", "name"), CASES)
def test_what_is_not_ours_is_replaced_only_by_force(
    cli, place: Path, monkeypatch: pytest.MonkeyPatch, words: str, name: str
) -> None:
    output = stands_at(words, name)
    output.write_text('{"mine": 1}\n', encoding="utf-8")
    wanted = str(output.parent) if words == "reproduce" else str(output)
    said = cli(*words_of(words, name, wanted))
    assert (said.status, said.out) == (2, "")
    assert "did not write" in said.err or "not an outcome of a sweep" in said.err
    assert output.read_text(encoding="utf-8") == '{"mine": 1}\n'
    assert place.exists()

    def allowed(*given: Any, **options: Any) -> Claims:
        claim_places(*given, **options).release()
        raise UsageError("the guard lets it pass")

    monkeypatch.setattr("ssdscope.results.guard.claim_places", allowed)
    said = cli(*words_of(words, name, wanted), "--force")
    assert "the guard lets it pass" in said.err


@pytest.mark.parametrize(
    ("words", "beside"),
    [
        (("run", "data.bin", *QUICK, "--log", "a.parquet"), "a.json"),
        (("characterize", "data.bin", "-O", "a.html"), "a.partial.json"),
        (("sweep", "plan.toml", "-O", "a.jsonl"), "a.parquet"),
        (("search", "search.toml", "-O", "a.jsonl"), "a.parquet"),
        (("model", "collect", "data.bin", "-O", "a.parquet"), "a.parquet.part"),
        (("trace", "make", "financial1"), "synthetic-financial1.spc.gz"),
    ],
)
def test_what_stands_beside_is_guarded_too(
    cli, place: Path, words: tuple[str, ...], beside: str
) -> None:
    Path(beside).write_text("my notes\n", encoding="utf-8")
    said = cli(*words)
    assert (said.status, said.out) == (2, "")
    assert f"cannot write {beside}" in said.err
    assert Path(beside).read_text(encoding="utf-8") == "my notes\n"
    Path(beside).unlink()
    if words[0] in ("run", "characterize"):
        os.link("data.bin", beside)
        assert "files of their own" in cli(*words, "--force").err
        assert Path("data.bin").read_bytes().startswith(b"precious")
    assert place.exists()


def test_what_is_ours_is_replaced_without_a_word(cli, place: Path) -> None:
    twice = [
        ("run", "data.bin", *QUICK, "--log", "a.parquet"),
        ("trace", "windows", "trace.spc", "-O", "w.parquet", "--window", "1s"),
        ("trace", "make", "financial1", "--span", "2s", "--seed", "1"),
        ("trace", "make", "financial1", "--span", "2s", "--seed", "1", "-O", "synthetic.spc"),
        ("sweep", "plan.toml", "-O", "a.jsonl", "--seed", "1", "--jobs", "1"),
        (
            "search",
            "search.toml",
            "-O",
            "b.jsonl",
            "--seed",
            "1",
            "--jobs",
            "1",
            "--write-drive",
            "found.toml",
            "--plot",
            "found.svg",
        ),
        ("reproduce", "ryu2009", "--figure", "12", "-O", "folder", "--seed", "1"),
    ]
    for words in twice:
        first, second = cli(*words), cli(*words)
        assert (first.status, second.status) == (0, 0), second.err
    made = [each for each in place.rglob("*") if each.suffix in (".parquet", ".json", ".jsonl")]
    made += [each for each in place.rglob("*") if each.name.startswith(("ryu", "synth"))]
    made = [each for each in made if each.name not in INPUTS]
    assert len(made) > 8
    assert [each for each in made if not written_by_us(each)] == []


def test_a_table_of_ours_that_was_changed_is_not_ours(cli, place: Path) -> None:
    words = ("reproduce", "ryu2009", "--figure", "12", "-O", "folder", "--seed", "1")
    assert cli(*words).status == 0
    table = place / "folder" / "ryu2009-figure12.csv"
    table.write_text(table.read_text(encoding="utf-8") + "my own row\n", encoding="utf-8")
    assert "ryu2009-figure12.csv: it holds something" in cli(*words).err
    assert cli(*words, "--force").status == 0
    assert written_by_us(table)


def test_a_journal_that_is_not_ours_begins_anew_by_force(cli, place: Path) -> None:
    for words in (
        ("sweep", "plan.toml", "-O", "a.jsonl", "--jobs", "1"),
        ("model", "collect", "sim:mqsim-8g", "--points", "1", "--test", "0", "--repeats", "0",
         "--runtime", "1ms", "-O", "a.parquet", "--jobs", "1"),
    ):  # fmt: skip
        Path(words[words.index("-O") + 1]).write_text("my notes\n", encoding="utf-8")
        assert cli(*words, "--seed", "1").status == 2
        said = cli(*words, "--seed", "1", "--force")
        assert said.status in (0, 3), said.err
        assert written_by_us(place / words[words.index("-O") + 1])
        Path("a.parquet").unlink(missing_ok=True)


def test_special_files_are_written_into(place: Path) -> None:
    claim_places([Place("/dev/null"), Place("/dev/null")], ["data.bin"]).release()
    write_text("/dev/null", "text")
    assert Path("/dev/null").is_char_device()
    (place / "synthetic-stdout").symlink_to("/dev/stdout")
    words = ("trace", "make", "financial1", "--span", "1s", "-O", "synthetic-stdout")
    with Path("synthetic-both.txt").open("wb") as both:
        done = subprocess.run(
            [*COMMAND, *words], stdout=both, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    told = Path("synthetic-both.txt").read_text(encoding="utf-8")
    assert told.startswith("# synthetic")
    assert "requests" in told


def test_stdout_is_an_output_into_a_pipe_too(place: Path) -> None:
    program = (
        "from ssdscope.results.files import write_text\n"
        "from ssdscope.results.guard import Place, claim_places\n"
        "with claim_places([Place('/dev/stdout')], ['data.bin']):\n"
        "    write_text('/dev/stdout', 'page')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == (b"page", b"")
    assert place.exists()


def test_a_journal_from_before_it_bore_a_mark_is_ours(place: Path) -> None:
    journal = place / "old.jsonl"
    run = {"tool": {"name": "ssdscope"}, "requests": 1}
    journal.write_text(json.dumps({"key": "a", "point": {}, "record": run}) + "\n", "utf-8")
    assert written_by_us(journal)
    journal.write_text(json.dumps({"notes": "mine", "record": run}) + "\n", "utf-8")
    assert not written_by_us(journal)


def test_a_block_device_is_no_output(cli, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("disk").write_bytes(b"")
    monkeypatch.setattr(Path, "is_block_device", lambda self: self.name == "disk")
    said = cli("characterize", "null:1m", "-O", "disk", "--force")
    assert said.status == 2
    assert "disk: it is a block device" in said.err
    assert place.exists()


def test_no_room_is_told_before_anything_is_measured(cli, place: Path) -> None:
    """A limit on the size of files stands for a full disk: it needs no rights."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for words, name in CASES:
        output = stands_at(words, name)
        wanted = str(output.parent) if words == "reproduce" else str(output)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        try:
            said = cli(*words_of(words, name, wanted))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert said.status == 2, (words, said.err)
        assert "cannot write" in said.err, (words, said.err)
        assert "File too large" in said.err, (words, said.err)
        assert not output.exists()
    assert place.exists()


def test_a_disk_that_fills_up_leaves_no_log_cut_short(cli, place: Path) -> None:
    old = cli("run", "sim:mqsim-8g", *QUICK, "--log", "a.parquet", "-o", "json").document
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        said = cli(
            "run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "100000", "--seed", "1",
            "--log", "a.parquet", "-o", "json",
        )  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert said.status == 1
    assert "cannot write the log to a.parquet: File too large" in said.err
    assert said.document["requests"] == 100_000
    assert read_log("a.parquet")[1] == old
    assert json.loads(Path("a.json").read_text(encoding="utf-8")) == old
    assert not list(place.glob("*.part"))


def test_a_run_that_cannot_begin_leaves_the_log_that_is_there(cli, place: Path) -> None:
    words = ("run", "sim:mqsim-8g", *QUICK, "--log", "a.parquet")
    assert cli(*words).status == 0
    assert cli(*words, "--bs", "1000").status == 2
    assert len(read_log(place / "a.parquet")[0]) == 10


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is permitted to root")
def test_no_permission_is_told_before_anything_is_measured(cli, place: Path) -> None:
    (place / "closed").mkdir(mode=0o500)
    said = cli("run", "data.bin", *QUICK, "--log", "closed/a.parquet")
    assert said.status == 2
    assert "Permission denied" in said.err
    shutil.rmtree(place / "closed")
