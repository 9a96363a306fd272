"""Many runs at a time on copies of drives: the same as one by one, on any number of threads."""

import os
import signal
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from tests.unit.quick_drive import quick_drive

from ssdscope.errors import DeviceError, UsageError
from ssdscope.targets import Device, Log, open_target
from ssdscope.targets.copies import Course, run_on_copies
from ssdscope.targets.metered import MeteredDevice
from ssdscope.workloads import Workload


def reads(seed: int, **more: int) -> Workload:
    return Workload(rw="randread", requests=200, iodepth=4, seed=seed, **more)


WRITES = Workload(rw="randwrite", requests=50, seed=9)


class Odd:
    """A plan that no driver knows."""

    def to_json(self) -> str:
        return '{"rw": "sideways"}'


def one_by_one(course: Course) -> tuple[list[dict[str, object]], dict[str, list[int]]]:
    copy = course.device.fork()
    *before, last = course.plans
    summaries = [copy.run(plan).summary for plan in before]
    result, log = copy.run_logged(last)
    return [*summaries, result.summary], columns(log)


def columns(log: Log) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in log.columns.items()}


@pytest.mark.parametrize("jobs", [None, 1, 2, 5])
def test_outcomes_are_those_of_one_by_one_in_order(jobs: int | None) -> None:
    one, other = quick_drive(), open_target("sim:msr-4gb", seed=1).device
    other.run(WRITES)
    courses = [
        Course((one, other)[seed % 2], [WRITES, reads(seed)], logged=True) for seed in range(9)
    ]
    courses.append(Course(one, [reads(1)]))
    before = one.counters(), other.counters()
    *logged, bare = run_on_copies(courses, jobs=jobs)
    for course, outcome in zip(courses, logged, strict=False):
        summaries, rows = one_by_one(course)
        assert [each.summary for each in outcome.results] == summaries
        assert columns(outcome.last_log) == rows
    assert bare.log is None
    assert bare.last.summary == one.fork().run(reads(1)).summary
    assert (one.counters(), other.counters()) == before, "runs are on copies"


def test_copies_are_of_the_state_at_the_beginning() -> None:
    device = quick_drive()
    courses = [Course(device, [WRITES])] * 3
    with closing(run_on_copies(courses, jobs=1)) as outcomes:
        first = next(outcomes)
        device.run(Workload(rw="write", requests=5_000))
        assert [each.last.summary for each in outcomes] == [first.last.summary] * 2


def test_one_that_fails_leaves_the_others_alone() -> None:
    device = quick_drive()
    beyond = reads(1, offset_bytes=1 << 50)
    good, bad, last = run_on_copies([Course(device, [plan]) for plan in (WRITES, beyond, WRITES)])
    assert isinstance(bad.failure, UsageError)
    assert bad.results == []
    with pytest.raises(UsageError, match="offset"):
        bad.last_log  # noqa: B018
    assert good.last.summary == last.last.summary


def test_what_cannot_be_copied_or_meant_is_refused() -> None:
    with pytest.raises((DeviceError, UsageError), match="forks"):
        list(run_on_copies([Course(open_target("null:", seed=1).device, [reads(1)])]))
    with pytest.raises(UsageError, match="sideways"):
        list(run_on_copies([Course(quick_drive(), [Odd()])]))
    assert list(run_on_copies([])) == []


def test_a_meter_counts_them() -> None:
    meter = MeteredDevice(quick_drive())
    list(run_on_copies([Course(meter, [WRITES, reads(seed)]) for seed in range(3)]))
    alone = MeteredDevice(quick_drive())
    for plan in [WRITES, reads(0)] * 3:
        alone.run(plan)
    assert meter.spent.to_json() == alone.spent.to_json()


def endless(device: Device) -> list[Course]:
    return [Course(device, [Workload(rw="randread", io_bytes=1 << 60)])] * 3


def test_an_interrupt_ends_them_at_once() -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(run_on_copies(endless(quick_drive())))
    assert time.monotonic() - begun < 30


def test_given_up_they_end() -> None:
    courses = [Course(quick_drive(), [WRITES]), *endless(quick_drive())]
    outcomes = run_on_copies(courses, jobs=2)
    assert np.isfinite(next(outcomes).last.elapsed_ns)
    outcomes.close()
