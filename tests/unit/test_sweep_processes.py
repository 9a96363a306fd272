"""Processes side by side: one that is killed takes nothing along but what it worked on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ssdscope.errors import SsdscopeError
from ssdscope.sweep.processes import in_processes

ROOT = Path(__file__).parents[2]


def kill_once(item: tuple[int, str]) -> int:
    """Give the number; where the mark is not there yet, make it and die."""
    number, mark = item
    if mark:
        marks = Path(mark)
        marks.with_suffix(f".{len(list(marks.parent.iterdir()))}").touch()
        if len(list(marks.parent.iterdir())) < 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def kill_always(number: int) -> int:
    """Give the number; for 2, die."""
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def busy(folder: str) -> None:
    """Say who runs this, and never end: in Python alone, which hears nothing."""
    Path(folder, str(os.getpid())).touch()
    while True:
        pass


def fail(number: int) -> int:
    raise ValueError(number)


def test_what_a_killed_process_worked_on_is_begun_again(tmp_path: Path) -> None:
    items = [(number, str(tmp_path / "mark") if number == 1 else "") for number in range(5)]
    assert sorted(in_processes(kill_once, items, 2)) == [0, 1, 2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 2, "it was begun twice"


def test_what_kills_twice_is_lost_and_nothing_else() -> None:
    lost: list[tuple[int, str]] = []
    found = in_processes(kill_always, range(5), 2, lambda item, why: lost.append((item, why)))
    assert sorted(each for each in found if each is not None) == [0, 1, 3, 4]
    ((item, why),) = lost
    assert item == 2
    assert why == "its process was killed 2 times (SIGKILL): is there too little memory?"


def test_what_is_lost_is_an_error_where_nobody_takes_it() -> None:
    with pytest.raises(SsdscopeError, match="killed 2 times"):
        list(in_processes(kill_always, [2], 2))


def test_an_error_of_the_work_comes_through() -> None:
    with pytest.raises(ValueError, match="7"):
        list(in_processes(fail, [7], 2))


def test_one_at_a_time_is_done_here() -> None:
    assert list(in_processes(lambda _: os.getpid(), range(2), 1)) == [os.getpid()] * 2


def test_no_process_outlives_a_killed_parent(tmp_path: Path) -> None:
    program = (
        "from tests.unit.test_sweep_processes import busy\n"
        "from ssdscope.sweep.processes import in_processes\n"
        f"list(in_processes(busy, [{str(tmp_path)!r}] * 2, 2))"
    )
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while len(workers := [int(each.name) for each in tmp_path.iterdir()]) < 2:
        assert time.monotonic() < end, "they did not begin"
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    end = time.monotonic() + 2
    while left := [each for each in workers if Path(f"/proc/{each}").exists()]:
        if time.monotonic() > end:
            for each in left:
                os.kill(each, signal.SIGKILL)
            pytest.fail("a worker lives on")
        time.sleep(0.02)


def test_a_process_whose_parent_has_ended_ends() -> None:
    program = "from ssdscope.sweep.lifetime import end_with_parent\nend_with_parent(1)"
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == 1
