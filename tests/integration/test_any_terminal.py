"""Any terminal: encodings that lack our characters, few columns, and terminals that go away."""

import fcntl
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integration.writing import wait_until_writing

from ssdscope.cli import terminal
from ssdscope.cli.app import run_cli
from ssdscope.cli.layout import table
from ssdscope.results import read_log

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
QUICK = ("run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "100", "--seed", "1")
ALL_SHOWN = [
    QUICK,
    ("drives", "list"),
    ("drives", "show", "nvme-tlc"),
    ("drives", "show", "huang-hdd-s"),
    ("drives", "keys"),
    ("doctor",),
    ("probe", "list"),
    ("probe", "latency", "sim:mqsim-8g", "--budget", "2s", "--seed", "1"),
    ("model", "collect", "sim:mqsim-8g", "--dry-run", "--seed", "1"),
    ("config", "show", "sim:nvme-tlc"),
]
TABLES = ALL_SHOWN[:-1]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", ALL_SHOWN, ids=" ".join)
def test_no_encoding_loses_a_result(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], encoding: str
) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert run_cli(words) == 0
    told = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert len(told) > 100
    assert "\\u" not in told


def test_what_is_lacking_is_written_alike() -> None:
    terminal.take_any_text()
    told = io.BytesIO()
    stream = io.TextIOWrapper(told, encoding="ascii", errors=terminal.FALLBACK)
    print("│±5 µs … ² é 漢 \udcfe", file=stream, flush=True)
    assert told.getvalue() == b"|+-5 us ... 2 e \\u6f22 \\xfe\n"


def test_an_encoding_of_the_environment_is_taken() -> None:
    done = subprocess.run(
        [*COMMAND, *QUICK],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"+-95 %" in done.stdout


@pytest.mark.parametrize("columns", [20, 40, 60])
@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_nothing_is_wider_than_the_terminal(
    cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], columns: int
) -> None:
    monkeypatch.setattr(terminal, "width", lambda: columns)
    monkeypatch.setenv("COLUMNS", str(columns))
    said = cli(*words)
    assert said.status == 0, said.err
    assert max(map(len, said.out.splitlines())) <= columns


HEADER = ("name", "value", "unit")
ROWS = [("latency", "12.5", "us"), ("rate", "", "1/s")]


def test_a_table_that_does_not_fit_is_told_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = table(HEADER, ROWS)
    assert wide.splitlines()[1] == "latency   12.5    us"
    monkeypatch.setattr(terminal, "width", lambda: 20)
    assert table(HEADER, ROWS) == wide
    monkeypatch.setattr(terminal, "width", lambda: 19)
    assert table(HEADER, ROWS).splitlines() == [
        "latency", "  value 12.5", "  unit  us", "rate", "  unit  1/s",
    ]  # fmt: skip


def test_a_last_text_is_wrapped_in_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "width", lambda: 30)
    told = table(("name", "text"), [("a", "some words that take more than a line")], left=2)
    assert told.splitlines() == [
        "name  text",
        "a     some words that take",
        "      more than a line",
    ]


def test_a_pipe_has_no_width(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert max(map(len, cli("drives", "keys").out.splitlines())) > 100


def on_a_terminal(words: tuple[str, ...], columns: int) -> str:
    """Run a command line on a terminal of so many columns, and give what it shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass  # the other end is closed: that is how a terminal says so
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def test_a_narrow_terminal_gets_a_table_that_fits() -> None:
    shown = on_a_terminal(QUICK, 40)
    assert max(map(len, shown.split("\r\n"))) <= 40
    assert "  p99.9 " in shown


LONG = ("run", "sim:mqsim-512g", "--rw", "randread", "--runtime", "1000s", "--seed", "1")


def test_a_hangup_is_an_interrupt_also_when_it_comes_twice(spawn: Any, tmp_path: Path) -> None:
    log = tmp_path / "run.parquet"
    process = spawn(*LONG, "-o", "json", "--log", str(log))
    wait_until_writing(process, tmp_path)
    time.sleep(0.3)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["interrupted"] is True
    assert read_log(log)[1] == json.loads(out)


def test_a_terminal_that_is_closed_leaves_the_result(tmp_path: Path) -> None:
    log = tmp_path / "run.parquet"
    process, terminal_end = pty.fork()
    if process == 0:
        os.execv(COMMAND[0], [*COMMAND, *LONG, "--log", str(log)])
    shown = b""
    while b"mean" not in shown:  # the bar tells the estimate: the run is on its way
        shown += os.read(terminal_end, 65536)
    os.close(terminal_end)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    rows, stored = read_log(log)
    assert stored is not None
    assert stored["interrupted"] is True
    assert len(rows) == stored["requests"] > 0


def test_a_hangup_of_a_whole_sweep_leaves_its_journal(spawn: Any, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out.jsonl"
    plan.write_text(
        'targets = ["sim:mqsim-8g"]\nseed = 1\nrepeats = 200\n'
        '[workload]\nrw = "randread"\nnumber_ios = 100000\n',
        encoding="utf-8",
    )
    words = ("sweep", str(plan), "-O", str(out), "--jobs", "2")
    process = spawn(*words, start_new_session=True)
    end = time.monotonic() + 60
    while not (out.exists() and out.stat().st_size):
        assert time.monotonic() < end, "no run ended"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run it again to go on" in err
    assert "Traceback" not in err
    assert out.with_suffix(".parquet").exists()


def test_what_nohup_ignores_stays_ignored(spawn: Any, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = spawn(*LONG, "--log", str(tmp_path / "run.parquet"))
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_until_writing(process, tmp_path)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130
