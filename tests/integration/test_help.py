"""Pages of help: they fit the terminal, cut nothing, and their examples work."""

import gzip
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from ssdscope.cli import choices
from ssdscope.cli.app import app
from ssdscope.cli.choices import Choices
from ssdscope.cli.help import example_lines, page
from ssdscope.cli.outputs import marks_of
from ssdscope.errors import TraceError
from ssdscope.models import features, samples
from ssdscope.probes.budget import Budget
from ssdscope.studies.machado2015 import firmware
from ssdscope.targets.presets import preset_names
from ssdscope.targets.trace_formats import TRACE_FORMATS
from ssdscope.targets.traces import TraceOptions, sniff_trace
from ssdscope.workloads import patterns, synthetic
from ssdscope.workloads.options import ALIASES, OPTIONS, default_options


def commands() -> Iterator[tuple[str, Any]]:
    """Walk the command line, groups before what is below them; the first has no words."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield " ".join(words), command
        for name, each in getattr(command, "commands", {}).items():
            yield from walk(each, (*words, name))

    return walk(typer.main.get_command(app), ())


def context_of(words: str, command: Any) -> Any:
    """Give a context of a command, as its help has it."""
    return command.make_context(f"ssdscope {words}".strip(), [], resilient_parsing=True)


ALL = dict(commands())
EVERY = pytest.mark.parametrize("words", ALL, ids=lambda words: words or "ssdscope")
UNLIMITED = 1 << 20
AWKWARD = re.compile(r"\b(told|tells of|of which|such that|comes to|it be)\b")
MARKS_OF_PAGES = re.compile(r"[<>]|\bint\b|\bfloat\b|x>=")


def told(words: str, columns: int) -> str:
    return page(context_of(words, ALL[words]), columns)


@pytest.mark.parametrize("columns", [60, 80, 120])
@EVERY
def test_a_page_fits_and_loses_no_word(words: str, columns: int) -> None:
    lines = told(words, columns).splitlines()
    assert max(map(len, lines)) <= columns
    kept = [word for line in lines for word in line.split() if word != "\\"]
    assert kept == told(words, UNLIMITED).split()


@pytest.mark.parametrize("columns", ["20", "60", "80", "200"])
@EVERY
def test_help_prints_the_page(
    cli, monkeypatch: pytest.MonkeyPatch, words: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    said = cli(*words.split(), "--help")
    assert said.status == 0, said.err
    assert said.out.startswith(f"Usage: ssdscope {words}".rstrip())
    assert max(map(len, said.out.splitlines())) <= max(int(columns), 60)


@EVERY
def test_the_words_are_plain(words: str) -> None:
    text = told(words, UNLIMITED)
    assert not AWKWARD.search(text)
    assert not MARKS_OF_PAGES.search(text.partition("Examples:")[0])


@EVERY
def test_there_are_two_to_four_examples_and_they_are_taken(words: str) -> None:
    lines = example_lines(ALL[words].epilog)
    assert 2 <= len(lines) <= 4
    for line in lines:
        assert line.startswith(f"ssdscope {words}".rstrip()), line
        typed = shlex.split(line.partition(" > ")[0])[1:]
        name, command = "", ALL[""]
        while typed and typed[0] in getattr(command, "commands", {}):
            name = f"{name} {typed.pop(0)}".strip()
            command = ALL[name]
        if typed != ["--help"]:
            command.make_context(name, list(typed), parent=context_of("", ALL[""]))
        for word in typed:
            if word.startswith("sim:"):
                assert word.removeprefix("sim:") in preset_names()


@EVERY
def test_a_wrapped_example_is_the_same_to_a_shell(words: str) -> None:
    text = told(words, 60).partition("Examples:")[2].replace("\\\n", " ")
    wrapped = [shlex.split(line) for line in example_lines(text)]
    assert wrapped == [shlex.split(line) for line in example_lines(ALL[words].epilog)]


PEERS = Path(__file__).parents[1] / "data" / "peers"
QUICK = ("run ", "replay ", "drives ", "config ", "doctor", "trace ")


def quick_examples() -> list[str]:
    every = {line for each in ALL.values() for line in example_lines(each.epilog)}
    return sorted(
        line
        for line in every
        if line.removeprefix("ssdscope ").startswith(QUICK)
        or "--dry-run" in line
        or line.endswith(" list")
    )


@pytest.fixture
def folder(tmp_path: Path, cli) -> Path:
    """A folder with all that examples read."""
    for name in ("big.bin", "scratch.bin"):
        (tmp_path / name).write_bytes(os.urandom(1 << 20))
    copies = ("block-sizes.toml", "search-front.toml", "sweep-gc.toml", "drives/classroom.toml")
    recording = ("blktrace/loop.blktrace.0.gz", "blktrace/loop.blktrace.1.gz")
    for name in (*copies, *recording):
        copied = tmp_path / "examples" / name
        copied.parent.mkdir(exist_ok=True, parents=True)
        copied.write_bytes((Path(__file__).parents[2] / "examples" / name).read_bytes())
    (tmp_path / "mine.toml").write_text(cli("drives", "show", "msr-4gb", "--toml").out)
    peers = {"ssdconfig.xml": "device.xml", "workload.xml": "workload.xml", "ssd.parv": "ssd.parv"}
    for name, kept in peers.items():
        (tmp_path / name).write_bytes((PEERS / kept).read_bytes())
    (tmp_path / "trace.ssdsim.zst").write_text(
        "\n".join(f"{second}000000000 0 {second * 8} 8 1" for second in range(9_000))
    )
    (tmp_path / "mine.csv").write_text("5,r,0,4096\n70,w,8192,4096\n")
    msr = "\n".join(
        f"{128166372003061629 + second * 10_000_000},hm,0,Read,{second * 4096},4096,1000"
        for second in range(90)
    )
    (tmp_path / "hm_0.csv.gz").write_bytes(gzip.compress(msr.encode()))
    spc = "".join(f"{unit},{unit * 8},512,r,{unit}.25\n" for unit in range(3))
    (tmp_path / "Financial1.spc.gz").write_bytes(gzip.compress(spc.encode()))
    return tmp_path


@pytest.mark.parametrize("line", quick_examples())
def test_an_example_works(cli, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(folder)
    line = line.partition(" > ")[0].replace("--runtime 10s", "--runtime 50ms")
    said = cli(*shlex.split(line)[1:])
    assert said.status == 0, said.err
    assert said.out


def parameters(words: str) -> dict[str, Any]:
    return {str(each.name): each for each in ALL[words].params}


def test_defaults_of_a_workload_are_those_shown() -> None:
    shown = {name: each.show_default for name, each in parameters("run").items()}
    defaults = default_options() | {"rwmixread": 50}
    for name, value in defaults.items():
        if isinstance(value, bool):
            continue
        first = str(shown[name]).split(",")[0]
        first = first.removesuffix(" bytes").removesuffix(" s") if name != "thinktime" else "0us"
        assert OPTIONS[name].parse(first.split(" ")[0]) == OPTIONS[name].parse(
            f"{value}us" if name == "thinktime" else str(value)
        ), name


def test_second_names_of_fio_are_taken_and_shown() -> None:
    run = parameters("run")
    for alias, name in ALIASES.items():
        assert f"--{alias.replace('_', '-')}" in run[name].opts


def test_underscores_are_taken(cli) -> None:
    words = ("run", "null:", "--rw", "randread", "--seed", "1", "-o", "json")
    typed = ("--number_ios=7", "--blocksize=8k"), ("--number-ios", "7", "--bs", "8k")
    one, other = (cli(*words, *each).document["workload"] for each in typed)
    assert one == other
    assert (one["requests"], one["block_bytes"]) == (7, 8192)


@EVERY
def test_names_that_an_option_takes_are_listed_and_offered(words: str) -> None:
    text = told(words, UNLIMITED)
    command = ALL[words]
    if command.callback is None:
        return
    context = context_of(words, command)
    for name, mark in marks_of(command.callback, Choices).items():
        offered = [each.value for each in parameters(words)[name].shell_complete(context, "")]
        assert offered == list(mark.names(())), name
        if mark.listed == "no":
            continue
        for each, meaning in mark.names(()).items():
            assert f"{each} ({meaning})" in text or re.search(
                rf"^ +{re.escape(each)} +{re.escape(meaning)}$", text, re.MULTILINE
            ), each


def test_names_are_those_of_the_registries(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("0,0,512,r,0.0\n")
    with pytest.raises(TraceError) as refusal:
        sniff_trace(str(trace), TraceOptions(format="none"))
    assert str(refusal.value.hint).partition("are ")[2].split(", ") == list(TRACE_FORMATS)
    assert features.SETS_ABOUT.keys() == features.SETS.keys()
    assert samples.TARGETS_ABOUT.keys() == samples.TARGETS.keys()
    assert patterns.ABOUT.keys() == synthetic.PROFILES.keys() | patterns.PATTERNS.keys()
    assert choices.FIRMWARES.names(()).keys() == firmware.NAMES.keys()
    assert Budget.parse("default").wall_s == 60
    assert Budget.parse("full").wall_s == 15 * 60
    for name in choices.BUDGETS.names(()):
        Budget.parse(name)
