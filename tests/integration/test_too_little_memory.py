"""Too little memory: what was asked for, for which drive, and exit code 1."""

import subprocess
import sys

import pytest

from ssdscope.cli.memory import is_exhaustion, words

LIMIT_KIB = 300_000
"""Room to start and to open a drive, and little more."""


def run_short_of_memory(*options: str) -> subprocess.CompletedProcess[str]:
    command = "import sys; from ssdscope.cli.start import main; main()"
    limited = f'ulimit -v {LIMIT_KIB}; exec "$@"'
    arguments = [sys.executable, "-c", command, "run", "sim:mqsim-512g", "--seed", "1", *options]
    return subprocess.run(
        ["bash", "-c", limited, "bash", *arguments], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("state", ["sequential", "steady"])
def test_a_drive_whose_tables_do_not_fit_is_refused_before_they_are_made(state: str) -> None:
    ended = run_short_of_memory("--state", state, "--rw", "randread", "--number-ios", "1")
    assert ended.returncode == 1, ended.stderr
    assert f"mqsim-512g.toml, {state}: needs " in ended.stderr
    assert "bytes of memory for its tables" in ended.stderr
    assert "(ulimit -v)" in ended.stderr
    assert "\nhint: " in ended.stderr


def test_memory_that_runs_out_on_the_way_ends_with_words() -> None:
    ended = run_short_of_memory("--rw", "randwrite", "--number-ios", "50000000")
    assert ended.returncode == 1, ended.stderr
    assert "error: out of memory: " in ended.stderr
    assert "more bytes cannot be had; the drive is mqsim-512g.toml (fresh)" in ended.stderr
    assert "\nhint: " in ended.stderr


def test_what_numpy_asked_for_is_said() -> None:
    failure = MemoryError("Unable to allocate 7.28 TiB for an array.")
    assert is_exhaustion(failure)
    assert words(failure) == "out of memory: unable to allocate 7.28 TiB for an array"
    assert words(MemoryError()) == "out of memory"
    assert is_exhaustion(RuntimeError("can't start new thread"))
    assert not is_exhaustion(RuntimeError("another"))
