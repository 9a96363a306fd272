"""Completion: what each shell is answered, the scripts, and their installation."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.cli import completion
from ssdscope.models.features import SETS
from ssdscope.models.registry import FAMILIES
from ssdscope.probes import registry
from ssdscope.targets.opening import STATES, drive_keys
from ssdscope.targets.presets import preset_description, preset_names
from ssdscope.targets.trace_formats import TRACE_FORMATS
from ssdscope.workloads.workload import PATTERNS

BASH_BREAKS = " \t\n\"'@><=;|&(:"
PRESETS = [f"sim:{name}" for name in preset_names()]
HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "rich")
Ask = Callable[..., list[str]]


@pytest.fixture
def ask(cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Ask as a shell does, in a folder with a few files."""
    for name in ("nothing.bin", "simple.toml", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "nights").mkdir()
    monkeypatch.chdir(tmp_path)

    def answered(line: str, shell: str = "fish", breaks: str = BASH_BREAKS) -> list[str]:
        monkeypatch.setenv(completion.ASKED, f"complete_{shell}")
        monkeypatch.setenv(completion.LINE, line)
        monkeypatch.setenv(completion.BREAKS, breaks)
        said = cli()
        assert said.status == 0
        assert said.err == ""
        return said.out.splitlines()

    return answered


def names(lines: list[str]) -> list[str]:
    return [line.partition("\t")[0] for line in lines]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ssdscope r", ["run", "replay", "reproduce"]),
        ("ssdscope model ", ["collect", "fit", "predict", "evaluate", "explain"]),
        ("ssdscope run null: --until-", ["--until-ci", "--until-steady"]),
        ("ssdscope run sim:", PRESETS),
        ("ssdscope run --rw randread sim:ryu-", [p for p in PRESETS if "sim:ryu-" in p]),
        ("ssdscope run raid0:sim:ryu-a,sim:msr-3", ["raid0:sim:ryu-a,sim:msr-32gb"]),
        ("ssdscope run raid0:(raid0:null:,n", ["raid0:(raid0:null:,null:"]),
        ("ssdscope probe latency sim:mqsim-8", ["sim:mqsim-8g"]),
        ("ssdscope drives show mqsim-8", ["mqsim-8g"]),
        ("ssdscope drives check sim:mqsim-8", ["sim:mqsim-8g"]),
        ("ssdscope run null: --rw ", list(PATTERNS)),
        ("ssdscope run null: --rw=randr", ["--rw=randread", "--rw=randrw"]),
        ("ssdscope run null: --readwrite ", list(PATTERNS)),
        ("ssdscope run null: --state s", [each for each in STATES if each[0] == "s"]),
        ("ssdscope run null: --set ", [f"{key['key']}=" for key in drive_keys()]),
        ("ssdscope run null: -o ", ["normal", "json"]),
        ("ssdscope run null: --write-cache ", ["on", "off"]),
        ("ssdscope replay null: t --format ", list(TRACE_FORMATS)),
        ("ssdscope probe ", ["all", "list", *registry.every()]),
        ("ssdscope reproduce ", ["all", "list", *studies.registry()]),
        ("ssdscope reproduce uflip --figure ", list(studies.registry()["uflip"].figures)),
        ("ssdscope model fit x --model ", ["best", *FAMILIES]),
        ("ssdscope model fit x --features ", ["best", *SETS]),
        (
            "ssdscope model evaluate x --model gp,gui",
            [f"gp,{m}" for m in FAMILIES if m[:3] == "gui"],
        ),
        ('ssdscope run "sim:mqsim-8', ["sim:mqsim-8g"]),
        ("ssdscope run nowhere/", []),
        ("ssdscope run --nonsense sim:mqsim-8", ["sim:mqsim-8g"]),
    ],
)
def test_what_may_come_next(ask: Ask, line: str, expected: list[str]) -> None:
    assert names(ask(line)) == expected


def test_files_stand_beside_names_of_targets(ask: Ask) -> None:
    assert names(ask("ssdscope run n")) == ["null:", "nights/", "nothing.bin"]
    assert names(ask("ssdscope run si")) == [*PRESETS, "simple.toml"]
    assert ".hidden" not in names(ask("ssdscope run "))
    # Where only files begin so, the shell completes them itself.
    assert ask("ssdscope run noth") == []


def test_figures_go_on_after_a_comma(ask: Ask) -> None:
    figures = list(studies.registry()["kuo2009"].figures)
    found = names(ask("ssdscope reproduce kuo2009 --figure 5,2"))
    assert found == [f"5,{each}" for each in figures if each.startswith("2")]


def test_each_shell_is_answered_in_its_own_form(ask: Ask) -> None:
    text = preset_description("mqsim-8g")
    assert ask("ssdscope run sim:mqsim-8", "fish") == [f"sim:mqsim-8g\t{text}"]
    assert ask("ssdscope run sim:mqsim-8", "zsh") == [f"1sim\\:mqsim-8g:{text}"]
    assert ask("ssdscope run nul", "zsh") == ["0null\\::completes everything at once"]
    assert ask("ssdscope run sim:mqsim-8", "bash") == ["mqsim-8g"]
    assert ask("ssdscope run sim:mqsim-8", "bash", " \t\n") == ["sim:mqsim-8g"]
    assert ask("ssdscope run null: --rw=randw", "bash") == ["randwrite"]
    assert ask("ssdscope run null: ", "bash") == []
    assert ask("ssdscope run 'sim:mqsim-8", "bash") == ["sim:mqsim-8g"]


def test_a_drive_file_that_cannot_be_read_ends_nothing(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[str]:
        raise OSError

    monkeypatch.setattr("ssdscope.targets.presets.preset_names", broken)
    assert ask("ssdscope run sim:") == []


def test_a_preset_is_completed_fast(ask: Ask) -> None:
    """Processor time: that of the machine's clock depends on what else runs."""
    ask("ssdscope run sim:")
    begun = time.process_time()
    ask("ssdscope run sim:")
    assert time.process_time() - begun < 0.3


def test_nothing_heavy_is_imported_for_a_preset() -> None:
    code = (
        "import sys; from ssdscope.cli.app import run_cli; run_cli([]); "
        f"sys.exit(any(name in sys.modules for name in {HEAVY}))"
    )
    asked = {completion.ASKED: "complete_zsh", completion.LINE: "ssdscope run sim:"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == len(PRESETS)


@pytest.mark.parametrize("instruction", ["complete_tcsh", "explain_bash", "x"])
def test_what_no_shell_asks_is_refused(
    cli, monkeypatch: pytest.MonkeyPatch, instruction: str
) -> None:
    monkeypatch.setenv(completion.ASKED, instruction)
    said = cli()
    assert said.status == 2
    assert "bash, zsh or fish" in said.err


FILES = {
    "bash": {".bash_completions/ssdscope.sh", ".bashrc"},
    "zsh": {".zfunc/_ssdscope", ".zshrc"},
    "fish": {".config/fish/completions/ssdscope.fish"},
}


@pytest.mark.parametrize("shell", FILES)
def test_completion_is_installed_once(
    cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(completion, "current_shell", lambda: shell)
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'", encoding="utf-8")
    for _ in range(2):
        said = cli("--install-completion")
        assert said.status == 0, said.err
    found = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file()}
    assert found == FILES[shell] | {".bashrc"}
    script, *_ = FILES[shell] - {".bashrc", ".zshrc"}
    assert (tmp_path / script).read_text(encoding="utf-8") == completion.SCRIPTS[shell]
    lines = (tmp_path / ".bashrc").read_text(encoding="utf-8").splitlines()
    sourced = [f"source '{tmp_path / script}'"] if shell == "bash" else []
    assert lines == ["alias ll='ls -l'", *sourced]
    assert cli("--show-completion").out == completion.SCRIPTS[shell]
    monkeypatch.setenv(completion.ASKED, f"source_{shell}")
    assert cli().out == completion.SCRIPTS[shell]


def test_the_shell_is_the_nearest_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "_ancestors", lambda: ["make", "fish", "bash"])
    assert completion.current_shell() == "fish"
    monkeypatch.setattr(completion, "_ancestors", lambda: ["make"])
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert completion.current_shell() == "zsh"


def test_another_shell_is_refused_with_what_to_do(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "_ancestors", lambda: ["tcsh"])
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    said = cli("--show-completion")
    assert said.status == 2
    assert "source_bash" in said.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ssdscope run sim:mqsim-8", "mqsim-8g"),
        ("ssdscope run null: --rw=randw", "randwrite"),
        ("ssdscope run null: --set nand.read_by", "nand.read_by_type_ns="),
    ],
)
def test_bash_takes_the_script_and_the_answer(tmp_path: Path, line: str, expected: str) -> None:
    program = tmp_path / "ssdscope"
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c "
        "'from ssdscope.cli.start import main; main()' \"$@\"\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    script = "\n".join(
        [
            completion.SCRIPTS["bash"],
            "compopt() { :; }",
            f"COMP_LINE={line!r}; COMP_POINT={len(line)}; _ssdscope_completion {program}",
            'printf "%s\\n" "${COMPREPLY[@]}"',
        ]
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [expected]
