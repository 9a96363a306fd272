"""Ctrl-C, SIGTERM, readers that go away, disks that are full: what was measured is kept."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.writing import wait_until_writing

from ssdscope.probes.latency import queue_depth
from ssdscope.results import read_log

LONG = ("--runtime", "1000s", "--seed", "1", "-o", "json")


def wait_for(path: Path, *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("virtual", [True, False], ids=["simulated", "file"])
def test_an_interrupted_run_keeps_what_it_has(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: int, virtual: bool
) -> None:
    file = tmp_path / "zeros.bin"
    file.write_bytes(bytes(2**20))
    target = "sim:mqsim-512g" if virtual else str(file)
    log = tmp_path / "run.parquet"
    process = spawn("run", target, "--rw", "randread", *LONG, "--log", str(log))
    wait_until_writing(process, tmp_path)
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    document = json.loads(out)
    assert document["interrupted"] is True
    assert document["requests"] > 0
    rows, stored = read_log(log)
    assert len(rows) == document["requests"]
    assert stored == document


def test_a_process_of_the_background_leaves_an_ignored_interrupt_alone(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    log = tmp_path / "run.parquet"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = spawn("run", "sim:mqsim-512g", "--rw", "randread", *LONG, "--log", str(log))
    finally:
        signal.signal(signal.SIGINT, before)
    wait_until_writing(process, tmp_path)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["interrupted"] is True


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = [sys.executable, "-c", "from ssdscope.cli.start import main; main()"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as pipe:
        process = subprocess.run(
            [*command, "drives", "show", "mqsim-8g"],
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""


def test_a_disk_that_fills_up_ends_the_run_and_keeps_what_fits(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "run.parquet"
    room = iter([2**40, 2**40])
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        "ssdscope.results.parquet.shutil.disk_usage",
        lambda _path: usage._replace(free=next(room, 1000)),
    )
    monkeypatch.setattr("ssdscope.results.parquet.ROW_GROUP_ROWS", 65_536)
    said = cli(
        "run", "sim:mqsim-512g", "--rw", "randread", "--iodepth", "32",
        "--number-ios", "1000000", "--seed", "1", "--log", str(log), "-o", "json",
    )  # fmt: skip
    assert said.status == 1
    assert f"cannot write the log to {log}: No space left on device" in said.err
    rows, stored = read_log(log)
    assert len(rows) == 2 * 65_536
    assert stored == said.document
    assert 2 * 65_536 <= said.document["requests"] < 1_000_000


def test_a_log_that_cannot_even_begin_is_refused_before_the_run(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_claim: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ssdscope.results.files.Part", full)
    log = tmp_path / "run.parquet"
    said = cli("run", "sim:mqsim-8g", "--number-ios", "1000", "--log", str(log))
    assert said.status == 2
    assert "No space left on device" in said.err
    assert said.out == ""


def test_an_interrupted_sweep_goes_on_where_it_stopped(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out.jsonl"
    plan.write_text(
        'targets = ["sim:mqsim-8g"]\nseed = 1\nrepeats = 200\n'
        '[workload]\nrw = "randread"\nnumber_ios = 100000\n',
        encoding="utf-8",
    )
    process = spawn("sweep", str(plan), "-O", str(out), "--jobs", "2")
    end = time.monotonic() + 60
    while not (out.exists() and out.stat().st_size):
        assert time.monotonic() < end, "no run ended"
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run it again to go on" in err
    assert "Traceback" not in err
    done = [json.loads(line)["key"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert 0 < len(done) == len(set(done)) < 200
    assert out.with_suffix(".parquet").exists()


def test_an_interrupt_while_python_still_imports_is_no_traceback(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    mark = tmp_path / "importing"
    slow = tmp_path / "typer.py"
    slow.write_text(f"import time\nopen({str(mark)!r}, 'w').close()\ntime.sleep(60)\n", "utf-8")
    process = spawn("drives", "list", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    wait_for(mark)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_an_interrupt_before_the_run_says_so(spawn: Callable[..., subprocess.Popen[str]]) -> None:
    process = spawn("run", "sim:mqsim-512g", "--state", "steady", "--number-ios", "1")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("seed ")
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "interrupted"


def test_an_interrupted_probe_tells_the_findings_it_has(
    cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(queue_depth, "detect", interrupted)
    said = cli("probe", "latency", "sim:mqsim-8g", "--seed", "1", "-o", "json")
    assert said.status == 130
    assert said.document["interrupted"] is True
    assert [each["property"] for each in said.document["findings"]] == [
        "read_latency_alpha_ns",
        "read_latency_beta_ns_per_byte",
    ]
    assert "interrupted; 2 findings were complete" in said.err


def test_an_interrupted_study_tells_the_figures_it_has(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ssdscope.studies.machado2015.wear.age", interrupted)
    words = ("reproduce", "machado2015", "-O", str(tmp_path), "--seed", "1", "-o", "json")
    said = cli(*words, "--figure", "random-reads,wear")
    assert said.status == 130
    assert said.document["interrupted"] is True
    assert [figure["id"] for figure in said.document["figures"]] == ["random-reads"]
    assert "interrupted; 1 figures were complete" in said.err


def test_a_closed_or_full_stderr_does_not_stop_a_run() -> None:
    command = f"'{sys.executable}' -c 'from ssdscope.cli.start import main; main()'"
    for redirection in ("2>&-", "2>/dev/full"):
        done = subprocess.run(
            f"{command} run sim:mqsim-8g --number-ios 10 -o json {redirection}",
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, redirection
        assert json.loads(done.stdout)["requests"] == 10
