"""Threads that run workloads: what they give, and that nobody waits for what nobody wants."""

from collections.abc import Callable

import pytest

from ssdscope.targets import open_target
from ssdscope.targets.crew import Crew
from ssdscope.workloads import Workload

ENDLESS = Workload("randread", runtime_ns=10**17)
"""Of a simulated drive: days of the machine's time."""


def test_what_each_did_comes_in_order() -> None:
    with Crew(2) as crew:
        assert list(crew.map(lambda one, other: one - other, range(20), [1] * 20)) == [
            *range(-1, 19)
        ]


def left_early(crew: Crew, begun: Callable[[], bool], reason: type[BaseException]) -> None:
    """Leave a crew while it is at work."""
    with crew:
        while not begun():
            pass
        raise reason


def test_runs_end_when_who_waits_for_them_is_interrupted() -> None:
    device, crew = open_target("sim:msr-4gb", seed=1).device, Crew(2)
    tasks = [crew.submit(device.fork().run, ENDLESS) for _ in range(4)]
    with pytest.raises(KeyboardInterrupt):
        left_early(crew, lambda: any(task.running() for task in tasks), KeyboardInterrupt)
    assert all(task.done() for task in tasks)
    assert sum(task.cancelled() for task in tasks) >= 2, "they had not begun"


def test_a_chain_of_short_runs_ends_too() -> None:
    device, crew, begun = open_target("sim:msr-4gb", seed=1).device, Crew(1), 0

    def again_and_again() -> None:
        nonlocal begun
        while True:
            device.run(Workload("randread", requests=10))
            begun += 1

    task = crew.submit(again_and_again)
    with pytest.raises(ZeroDivisionError):
        left_early(crew, lambda: begun > 0, ZeroDivisionError)
    assert isinstance(task.exception(), KeyboardInterrupt)
