"""A disk's queue set for a measurement: it comes back on every way out, and by doctor --restore."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("losetup") is None, reason="losetup is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="attributes of a disk need root"),
]

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device whose queue is not as measuring wants it."""
    path = tmp_path / "backing.bin"
    path.write_bytes(os.urandom(64 << 20))
    made = subprocess.run(
        ["losetup", "--find", "--show", str(path)], capture_output=True, text=True, timeout=30
    )
    if made.returncode:
        pytest.skip(f"no loop device here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        (queue_of(device) / "nomerges").write_text("1")
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True, timeout=30)


def queue_of(device: str) -> Path:
    return Path("/sys/block") / Path(device).name / "queue"


def values(device: str) -> dict[str, str]:
    names = ("scheduler", "nomerges", "wbt_lat_usec", "nr_requests")
    files = ((name, queue_of(device) / name) for name in names)
    return {name: file.read_text() for name, file in files if file.exists()}


def running(device: str) -> subprocess.Popen[bytes]:
    """Start a long run, and wait until it has set the queue."""
    words = ("run", device, "--rw", "randread", "--runtime", "60s", "--quiet-queue")
    child = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while values(device)["nomerges"] != "2\n" and time.monotonic() < deadline:
        assert child.poll() is None
        time.sleep(0.02)
    return child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_run_leaves_the_queue_as_it_was(loop: str, number: int) -> None:
    before = values(loop)
    child = running(loop)
    assert values(loop) != before
    child.send_signal(number)
    assert child.wait(30) == 130
    assert values(loop) == before


def test_doctor_sets_back_what_a_killed_run_has_left(cli: Callable[..., Any], loop: str) -> None:
    before = values(loop)
    child = running(loop)
    busy = cli("run", loop, "--rw", "randread", "--number-ios", "1", "--quiet-queue")
    assert busy.status == 1
    assert "another ssdscope" in busy.err
    child.kill()
    child.wait(30)
    assert values(loop) != before
    name = Path(loop).name
    done = cli("doctor", "--restore", "-o", "json")
    assert done.status == 0
    mine = [each for each in done.document["restored"] if each["disk"] == name]
    assert {"disk": name, "setting": "nomerges", "outcome": "restored", "detail": "'2' -> '1'"} in (
        mine
    )
    assert values(loop) == before
    again = cli("doctor", "--restore", "-o", "json")
    assert not [each for each in again.document["restored"] if each["disk"] == name]


def test_a_run_records_the_machine_and_its_disk(cli: Callable[..., Any], loop: str) -> None:
    before = values(loop)
    said = cli(
        "run", loop, "--rw", "randread", "--number-ios", "500", "--quiet-queue", "-o", "json"
    )
    assert said.status == 0, said.err
    assert "nomerges 1 -> 2" in said.err
    quiet, machine = said.document["quiet"], said.document["target"]["machine"]
    assert quiet["wall_ns"] >= said.document["elapsed_ns"]
    assert quiet["disk"]["read_requests"] >= 500
    assert machine["queue"]["nomerges"] == "2"
    assert values(loop) == before


def test_a_look_without_writing_says_what_writing_would_add(
    cli: Callable[..., Any], loop: str
) -> None:
    said = cli("probe", "all", loop, "--budget", "1s", "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    left = said.document["left_out"]
    assert "rmw_unit_bytes" in left["properties"]
    assert left["writes_bytes"] > 0
    token = "--destroy-data LOOP:backing.bin --allow-virtual"
    # It would write more than half of the drive, which has to be asked for.
    assert left["command"] == f"ssdscope probe all {loop} --budget full {token}"
    assert left["in_words"] in said.err
