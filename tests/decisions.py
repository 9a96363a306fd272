"""Counts what a run of the tests decides; `make decisions` prints it by folder.

A decision is one comparison of what is with what must be: an ``assert`` that held, a
``pytest.raises`` or `numpy.testing` that was met, one place held to a rule by `Violations`, one of
scikit-learn's own checks, one line of an example. The number of cases says less: a rule tried on
400 files is one case in a loop and 400 with parameters, and decides the same. Seconds are those
of processors, of the case and of the processes it waited for, so that a busy machine does not
change them.
"""

import doctest
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.violations import Violations

KEYS = ("decisions", "cpu_s")
SLOWEST = 25
counted: Counter[str] = Counter()
started: list[float] = [0.0]


def cpu_s() -> float:
    """Seconds of processors that this process and its ended children took."""
    return sum(os.times()[:4])


class Totals:
    """Sums per folder what the cases report, here or in worker processes."""

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.cases[report.nodeid] = dict(report.user_properties)  # type: ignore[arg-type]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        write(f"{'folder':<20} {'cases':>7} {'functions':>10} {'decisions':>10} {'CPU s':>9}")
        for folder in sorted({"/".join(name.split("/")[:2]) for name in self.cases}):
            mine = {name: each for name, each in self.cases.items() if name.startswith(folder)}
            functions = {name.partition("[")[0] for name in mine}
            decisions, seconds = (sum(each.get(key, 0) for each in mine.values()) for key in KEYS)
            write(
                f"{folder:<20} {len(mine):>7} {len(functions):>10} "
                f"{decisions:>10.0f} {seconds:>9.1f}"
            )
        by_cost = sorted(self.cases.items(), key=lambda case: -case[1].get("cpu_s", 0))
        for name, each in by_cost[: int(os.environ.get("SLOWEST", SLOWEST))]:
            write(f"{each.get('cpu_s', 0):9.2f} s {each.get('decisions', 0):>8.0f}  {name}")


def counting(function: Callable[..., Any], amount: Callable[[Any], int]) -> Callable[..., Any]:
    """Wrap a function so that what each call decided is counted."""

    def wrapped(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        counted["all"] += amount(result)
        return result

    return wrapped


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Totals())
    places: list[tuple[Any, str, Callable[[Any], int]]] = [
        (pytest.RaisesExc, "__exit__", bool),
        (Violations, "check", lambda _: 1),
        (doctest, "testmod", lambda result: result.attempted),
        (np.testing, "assert_allclose", lambda _: 1),
        (np.testing, "assert_array_equal", lambda _: 1),
    ]
    for owner, name, amount in places:
        setattr(owner, name, counting(getattr(owner, name), amount))


def pytest_assertion_pass() -> None:
    counted["all"] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Any:
    counted["all"], started[0] = 0, cpu_s()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        took = cpu_s() - started[0]
        item.user_properties += zip(KEYS, (counted["all"], took), strict=True)
