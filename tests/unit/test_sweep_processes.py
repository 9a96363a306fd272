"""Processes side by side: one that is killed takes nothing along but what it worked on."""

import os
import signal
from pathlib import Path

import pytest

from ssdscope.errors import SsdscopeError
from ssdscope.sweep.processes import in_processes


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
