"""Bars of long functions: where somebody looks on, and nowhere else."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable

import pytest

import ssdscope as s
from ssdscope.api import progress
from ssdscope.targets.records import Progress

LONG = (
    "import ssdscope as s; from ssdscope.api import progress; progress.DELAY_S = 0; "
    's.run("sim:ryu-b", rw="randread", number_ios=1_500_000{})'
)
BAR = "%|"


def on_a_terminal(*words: str, typed: str = "", columns: int = 80) -> str:
    """Run Python on a terminal of its own, type something, and give all that appears there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, *words], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side was closed
                break
            if not part:
                break
            seen += part
        assert process.wait(timeout=60) == 0, seen
    os.close(ours)
    return seen.decode()


def in_pipes(script: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout, done.stderr


def test_a_script_is_silent() -> None:
    assert in_pipes(LONG.format("")) == ("", "")
    assert on_a_terminal("-c", LONG.format("")) == ""


def test_a_script_has_a_bar_if_it_wants_one() -> None:
    out, err = in_pipes(LONG.format(", progress=True"))
    assert out == ""
    assert BAR in err
    assert "mean 172.5 us" in err


@pytest.mark.parametrize("columns", [80, 20])
def test_somebody_who_types_sees_a_bar_that_goes_away(columns: int) -> None:
    typed = f"{LONG.format('')}\nexit()\n"
    seen = on_a_terminal("-i", typed=typed, columns=columns)
    drawn = [each for each in seen.split("\r") if " requests" in each and "import" not in each]
    assert len(drawn) > 2
    assert all(len(each) <= columns for each in drawn)
    assert "\rread: " in seen, "the bar is gone where the result stands"


def test_somebody_who_types_has_none_if_it_is_not_wanted() -> None:
    seen = on_a_terminal("-i", typed=f"{LONG.format(', progress=False')}\nexit()\n")
    assert BAR not in seen
    assert "read: " in seen


def test_a_function_is_called_instead(capsys: pytest.CaptureFixture[str]) -> None:
    stages: list[tuple[str, float]] = []
    runs: list[Progress] = []
    s.probe("sim:ryu-b", "latency", progress=lambda *told: stages.append(told))
    s.run("sim:ryu-b", rw="randread", number_ios=1_500_000, progress=runs.append)
    assert stages
    assert all(0 <= share <= 1 for _, share in stages)
    assert runs
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("manager", [progress.stages, progress.run])
def test_what_breaks_off_takes_its_bar_along(
    manager: Callable[[bool], object], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ZeroDivisionError), manager(True):
        _ = 1 / 0
    assert BAR not in capsys.readouterr().err.split("\r")[-1]
