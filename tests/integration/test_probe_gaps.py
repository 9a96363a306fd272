"""Measurements in pieces between the bursts of others."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from ssdscope.findings import Reason
from ssdscope.probes.bench.discipline import between_bursts
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.plan import Stopped


class Clock:
    """A bench that only tells time; others use the drive in the first second of each ten."""

    def __init__(self, busy_ns: int = 10**9) -> None:
        self.now_ns, self.busy_ns = 0, busy_ns
        self.pieces: list[int] = []

    def idle(self, duration_ns: int) -> None:
        self.now_ns += duration_ns

    def measure(self, part: slice) -> np.ndarray[Any, Any]:
        count, begin_ns = part.stop - part.start, self.now_ns
        self.pieces.append(count)
        self.now_ns += count * 10**8
        if any(at % 10**10 < self.busy_ns for at in range(begin_ns, self.now_ns, 10**8)):
            raise Stopped(Reason.INTERFERENCE)
        return np.arange(part.start, part.stop, dtype=float)


def between(clock: Clock, **options: Any) -> np.ndarray[Any, Any]:
    return between_bursts(cast("Bench", clock), 500, clock.measure, longest=200, **options)


def test_everything_is_measured_in_the_end_in_shorter_pieces() -> None:
    clock = Clock()
    assert between(clock).tolist() == list(range(500))
    assert clock.pieces[0] == 200
    assert max(clock.pieces[3:]) <= 100


def test_a_list_whose_order_matters_goes_on_at_once() -> None:
    clock = Clock()
    values = between(clock, again=False, most_lost=0.7)
    assert 0 < np.isnan(values).mean() <= 0.7
    assert values[~np.isnan(values)].tolist() == np.flatnonzero(~np.isnan(values)).tolist()
    assert sum(clock.pieces) == 500
    assert clock.now_ns == 500 * 10**8


@pytest.mark.parametrize("again", [True, False])
def test_a_drive_never_in_peace_is_given_up(again: bool) -> None:
    with pytest.raises(Stopped) as stopped:
        between(Clock(busy_ns=10**10), again=again)
    assert stopped.value.reason is Reason.INTERFERENCE


def test_other_reasons_pass() -> None:
    def spent(_: slice) -> np.ndarray[Any, Any]:
        raise Stopped(Reason.BUDGET_EXHAUSTED)

    with pytest.raises(Stopped) as stopped:
        between_bursts(cast("Bench", Clock()), 5, spent, longest=5)
    assert stopped.value.reason is Reason.BUDGET_EXHAUSTED
