"""Many runs at a time, each on a copy of a drive of its own, over all cores.

The runs are one call into Rust, which lets go of Python. What they come to is the same as one by
one, and comes in the order of the work, whichever ends first.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope import _native
from ssdscope.errors import DeviceError, SsdscopeError
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
    booked = [_booked(course) for course in courses]
    threads = None if jobs is None or jobs < 1 else jobs
    try:
        running = _begun(courses, booked, threads)
        try:
            for course, plans in zip(courses, booked, strict=True):
                if isinstance(plans, SsdscopeError):
                    yield Outcome([], None, plans)
                else:
                    yield _taken(course, plans, next(running))
        finally:
            running.close()
    finally:
        for course, plans in zip(courses, booked, strict=True):
            for plan in () if isinstance(plans, SsdscopeError) else plans:
                course.device.note_run(plan, None)


def _booked(course: Course) -> list[Plan] | SsdscopeError:
    """Give what a course keeps to, before any is begun; why not, if it may not begin."""
    plans: list[Plan] = []
    try:
        plans.extend(course.device.booked(plan) for plan in course.plans)
    except DeviceError as error:
        for plan in plans:
            course.device.note_run(plan, None)
        return error
    return plans


def _begun(
    courses: Sequence[Course], booked: Sequence[list[Plan] | SsdscopeError], threads: int | None
) -> Any:
    """Begin the courses that may."""
    both = zip(courses, booked, strict=True)
    begun = [(each, plans) for each, plans in both if not isinstance(plans, SsdscopeError)]
    drives = list({id(course.device): course.device for course, _ in begun}.values())
    places = {id(drive): place for place, drive in enumerate(drives)}
    asked = [
        (places[id(course.device)], [plan.to_json() for plan in plans], course.logged)
        for course, plans in begun
    ]
    with translated_errors():
        return _native.run_on_copies(native_of(drives), asked, threads)


def _taken(course: Course, plans: Sequence[Plan], told: tuple[str, Any, Any]) -> Outcome:
    """Take what a course came to."""
    summaries, failure, columns = told
    # Time is simulated: nothing of the machine shows in it.
    results = [RunResult.from_dict(each | {"quiet": None}) for each in json.loads(summaries)]
    log = None if columns is None else Log(columns)
    outcome = Outcome(results, log, None if failure is None else _ours(failure))
    for plan, result in zip(plans, outcome.results, strict=False):
        course.device.note_run(plan, result)
    return outcome


def _ours(failure: BaseException) -> SsdscopeError:
    """Make one of our errors of a native one."""
    try:
        with translated_errors():
            raise failure
    except SsdscopeError as error:
        return error
