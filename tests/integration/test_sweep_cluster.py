"""Sweeps on a Dask cluster on loopback: the same rows, whatever happens to its workers."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler")
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard")
PLAN = """
targets = ["drive.toml"]
repeats = 2
seed = 1
[[workloads]]
name = "writer"
rw = "randwrite"
number_ios = 20
[[workloads]]
name = "web"
trace = "web.spc"
align = "expand"
[set]
"gc.policy" = ["greedy", "wear-aware"]
"""
LONG = """
targets = ["sim:mqsim-8g"]
seed = 1
repeats = 10
[workload]
rw = "randread"
number_ios = 150_000
"""


@contextmanager
def started(*words: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have a process meanwhile; what it says stays in the folder."""
    with (folder / "said.log").open("ab") as said:
        process = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def worker(folder: Path, name: str, **environment: str) -> Any:
    """Start a worker of the scheduler in a folder, in a folder of its own."""
    (folder / name).mkdir()
    return started(
        "env", *(f"{key}={value}" for key, value in environment.items()),
        *WORKER, *LOOPBACK, "--scheduler-file", str(folder / "scheduler.json"), "--no-nanny",
        "--nthreads", "1", "--name", name, "--local-directory", name, folder=folder / name,
    )  # fmt: skip


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a scheduler."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    words = (*SCHEDULER, *LOOPBACK, "--port", "0", "--scheduler-file", str(file))
    with started(*words, folder=folder):
        wait_until(file.exists)
        yield folder


@pytest.fixture(scope="module")
def cluster(scheduler: Path) -> Iterator[Path]:
    """The folder of a scheduler with two workers, each in a folder that holds no input."""
    with worker(scheduler, "one"), worker(scheduler, "two"):
        yield scheduler


def address(folder: Path) -> str:
    return str(json.loads((folder / "scheduler.json").read_text(encoding="utf-8"))["address"])


def wait_until(there: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("drive.toml").write_text(cli("drives", "show", "msr-4gb", "--toml").out, encoding="utf-8")
    Path("web.spc").write_text("0,0,512,r,0.0\n0,8,512,w,0.5\n", encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    Path("long.toml").write_text(LONG, encoding="utf-8")
    return tmp_path


def lines(path: str) -> int:
    return len(Path(path).read_bytes().splitlines()) if Path(path).exists() else 0


def test_rows_are_the_same_in_one_process_in_several_and_on_a_cluster(cli, cluster: Path) -> None:
    engines = {
        "one": ("--jobs", "1"),
        "two": ("--jobs", "2"),
        "cluster": ("--scheduler", address(cluster)),
    }
    for name, words in engines.items():
        said = cli("sweep", "plan.toml", "-O", f"{name}.jsonl", *words)
        assert said.status == 0, said.err
        assert lines(f"{name}.jsonl") == 8
    assert len({Path(f"{name}.parquet").read_bytes() for name in engines}) == 1


def test_a_worker_that_is_killed_loses_nothing_but_its_run(spawn: Any, cluster: Path) -> None:
    with worker(cluster, "doomed") as doomed:
        log = cluster / "doomed" / "said.log"
        wait_until(lambda: b"Registered to" in log.read_bytes())
        process = spawn("sweep", "long.toml", "-O", "a.jsonl", "--scheduler", address(cluster))
        wait_until(lambda: lines("a.jsonl") > 2)
        doomed.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "10" in out
    assert lines("a.jsonl") == 10
    assert "Traceback" not in err


def test_an_interrupt_withdraws_what_was_sent(spawn: Any, cluster: Path) -> None:
    process = spawn("sweep", "long.toml", "-O", "a.jsonl", "--scheduler", address(cluster))
    wait_until(lambda: lines("a.jsonl") > 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "run it again to go on" in err
    assert "Traceback" not in err
    assert 0 < lines("a.jsonl") < 10
    assert Path("a.parquet").exists()


def test_a_cluster_of_another_version_is_refused(cli, inputs: Path, cluster: Path) -> None:
    empty = inputs / "empty" / "ssdscope"
    empty.mkdir(parents=True)
    (empty / "__init__.py").touch()
    with worker(cluster, "empty", PYTHONPATH=str(empty.parent)):
        log = cluster / "empty" / "said.log"
        wait_until(lambda: b"Registered to" in log.read_bytes())
        said = cli("sweep", "plan.toml", "-O", "a.jsonl", "--scheduler", address(cluster))
    assert said.status == 1
    assert said.err.count("has no ssdscope that works: ModuleNotFoundError") == 1
    assert "install this version" in said.err


@pytest.mark.parametrize(
    ("where", "status", "expected"),
    [
        ("tcp://127.0.0.1:1", 1, "the scheduler tcp://127.0.0.1:1 did not answer within"),
        ("nonsense", 2, "'nonsense' is not the address of a scheduler"),
        ("foo://127.0.0.1:1", 2, "unknown address scheme 'foo'"),
    ],
)
def test_a_scheduler_that_is_not_there_is_told(
    cli, monkeypatch: pytest.MonkeyPatch, where: str, status: int, expected: str
) -> None:
    monkeypatch.setattr("ssdscope.sweep.cluster.CONNECT_S", 1)
    said = cli("sweep", "plan.toml", "-O", "a.jsonl", "--scheduler", where)
    assert (said.status, said.out) == (status, "")
    assert expected in said.err
    assert "hint: " in said.err


def test_a_scheduler_and_jobs_exclude_each_other(cli) -> None:
    said = cli("sweep", "plan.toml", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert said.status == 2
    assert "--jobs and --scheduler exclude each other" in said.err


def test_without_dask_the_extra_is_named(
    cli, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "distributed"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = cli("sweep", "plan.toml", "--scheduler", "tcp://127.0.0.1:1")
    assert said.status == 2
    assert "pip install 'ssdscope[cluster]'" in said.err
    assert not (inputs / "sweep.jsonl").exists()


def test_a_scheduler_that_goes_away_ends_the_sweep_and_what_is_done_stays(
    spawn: Any, inputs: Path
) -> None:
    file = inputs / "scheduler.json"
    words = (*SCHEDULER, *LOOPBACK, "--port", "0", "--scheduler-file", str(file))
    with started(*words, folder=inputs) as process:
        wait_until(file.exists)
        with worker(inputs, "one"):
            sweep = spawn("sweep", "long.toml", "-O", "a.jsonl", "--scheduler", address(inputs))
            wait_until(lambda: lines("a.jsonl") > 0)
            process.kill()
            _, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 1
    assert "is gone" in err
    assert "the same command runs what is missing" in err
    assert "Traceback" not in err
    assert Path("a.parquet").exists()
