"""io_uring refused by the kernel: threads take over, every result says so, and why."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ssdscope.targets.opening import open_target

LAUNCHER = Path(__file__).with_name("without_io_uring.py")
MAIN = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
MIB = 1 << 20


def without(answer: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command under the launcher."""
    done = subprocess.run(
        [sys.executable, str(LAUNCHER), answer, *MAIN, *words],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if "no seccomp filter here" in done.stderr:
        pytest.skip("this kernel takes no filter")
    busy = "not to be trusted: the machine was busy" in done.stderr
    assert done.returncode == (3 if busy else 0), done.stderr
    return done


def document(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(os.urandom(4 * MIB))
    return path


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("EPERM", "kernel.io_uring_disabled or a seccomp filter"), ("ENOSYS", "the kernel has none")],
)
def test_a_run_reads_and_writes_by_threads_and_says_why(
    data: Path, answer: str, reason: str
) -> None:
    words = ("run", str(data), "--rw", "randrw", "--iodepth", "8", "--number-ios", "200")
    allowed = ("--destroy-data", "FILE:data.bin", "--overwrite-existing", "--seed", "1")
    done = without(answer, *words, *allowed, "-o", "json")
    assert f"requests go by threads: io_uring is off: {reason}" in done.stderr
    told = document(done)
    access = told["target"]["access"]
    assert access["engine"] == "threads"
    assert reason in access["engine_note"]
    assert told["read"]["requests"] + told["write"]["requests"] == 200
    known = document(without(answer, "doctor", "--identify", str(data), "-o", "json"))
    assert known["identity"]["engine"] == "threads"


def test_a_page_names_the_engine(data: Path, tmp_path: Path) -> None:
    page, report = tmp_path / "page.html", tmp_path / "page.json"
    words = ("characterize", str(data), "-O", str(page), "--json", str(report), "--seed", "1")
    without("EPERM", *words, "--budget", "2s")
    told = page.read_text(encoding="utf-8")
    assert "threads, direct I/O (io_uring is off: kernel.io_uring_disabled" in told or (
        "threads, through the page cache (io_uring is off" in told
    )
    assert json.loads(report.read_text())["target"]["access"]["engine"] == "threads"


def test_latency_is_probed_by_threads(data: Path) -> None:
    words = ("probe", "latency", str(data), "--budget", "3s", "--seed", "1", "-o", "json")
    told = document(without("EPERM", *words))
    assert told["target"]["access"]["engine"] == "threads"
    (alpha,) = (f for f in told["findings"] if f["property"] == "read_latency_alpha_ns")
    # On a busy machine it is refused for that, and for nothing that the engine would do.
    assert alpha["outcome"] == "detected" or alpha["reason"] in (
        "machine_busy", "budget_exhausted", "effect_below_noise", "interference", "model_misfit",
    )  # fmt: skip
    assert alpha["requests"] > 0


def test_a_drive_is_served_without_io_uring(tmp_path: Path) -> None:
    # The client is this process, and the server the one without.
    place = tmp_path / "s"
    server = subprocess.Popen(
        [sys.executable, str(LAUNCHER), "EPERM", *MAIN, "serve", "sim:mqsim-8g",
         "--socket", str(place), "--backing", str(tmp_path / "disk.img"), "-o", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stderr is not None
    try:
        first = server.stderr.readline()
        if "Traceback" in first:
            pytest.skip("this kernel takes no filter")
        while "serving" not in first:
            first = server.stderr.readline()
        target = open_target(
            f"nbd+unix:///?socket={place}", destroy_token="NBD:", allow_virtual=True
        )
        log = target.device.run_list([1, 0], [0, 0], [4096, 4096])
        assert (log.error == 0).all()
        server.terminate()
        out, err = server.communicate(timeout=30)
        assert server.returncode == 0, err
        assert json.loads(out)["requests"] == 2
    finally:
        server.kill()
        server.communicate()
