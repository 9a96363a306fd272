"""Many runs at a time, each on a copy of a drive of its own, over all cores.

The runs are one call into Rust, which lets go of Python. What they come to is the same as one by
one, and comes in the order of the work, whichever ends first.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from ssdscope import _native
from ssdscope.errors import SsdscopeError
from ssdscope.targets.device import Device, Plan, native_of, translated_errors
from ssdscope.targets.records import Log, RunResult


@dataclass(frozen=True)
class Course:
    """What is to be run on a copy.

    Attributes
    ----------
    device
        The drive, which is copied as it is when the runs are begun.
    plans
        Workloads, one after the other.
    logged
        Whether the log of the last one is kept.
    """

    device: Device
    plans: Sequence[Plan]
    logged: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a course came to.

    Attributes
    ----------
    results
        Of the workloads that ended.
    log
        Of the last one, if that was asked for; None for one that did not begin.
    failure
        Why the next one did not end, if so.
    """

    results: list[RunResult]
    log: Log | None = None
    failure: SsdscopeError | None = None

    @property
    def last(self) -> RunResult:
        """The result of the last workload.

        Raises
        ------
        SsdscopeError
            If the course did not come to its end.
        """
        self._require_whole()
        return self.results[-1]

    @property
    def last_log(self) -> Log:
        """The log of the last workload, which was asked for.

        Raises
        ------
        SsdscopeError
            If the course did not come to its end.
        """
        self._require_whole()
        return self.log or Log.empty()

    def _require_whole(self) -> None:
        if self.failure is not None:
            raise self.failure


def run_on_copies(
    courses: Sequence[Course], *, jobs: int | None = None
) -> Generator[Outcome, None, None]:
    """Run courses, several at a time; outcomes come in order.

    Parameters
    ----------
    courses
        What is to be run. Those that take longest had better come first.
    jobs
        Courses at a time; None or -1 for all cores.

    Yields
    ------
    Outcome
        One per course.

    Raises
    ------
    UsageError
        If a plan cannot be meant.
    DeviceError
        If a drive cannot be copied.
    KeyboardInterrupt
        After Ctrl-C; what still ran is given up.
    """
    drives = list({id(course.device): course.device for course in courses}.values())
    places = {id(drive): place for place, drive in enumerate(drives)}
    asked = [
        (places[id(each.device)], [plan.to_json() for plan in each.plans], each.logged)
        for each in courses
    ]
    threads = None if jobs is None or jobs < 1 else jobs
    with translated_errors():
        running = _native.run_on_copies(native_of(drives), asked, threads)
    try:
        for course, told in zip(courses, running, strict=True):
            summaries, failure, columns = told
            # Time is simulated: nothing of the machine shows in it.
            results = [
                RunResult.from_dict(each | {"quiet": None}) for each in json.loads(summaries)
            ]
            log = None if columns is None else Log(columns)
            outcome = Outcome(results, log, None if failure is None else _ours(failure))
            for plan, result in zip(course.plans, outcome.results, strict=False):
                course.device.note_run(plan, result)
            yield outcome
    finally:
        running.close()


def _ours(failure: BaseException) -> SsdscopeError:
    """Make one of our errors of a native one."""
    try:
        with translated_errors():
            raise failure
    except SsdscopeError as error:
        return error
