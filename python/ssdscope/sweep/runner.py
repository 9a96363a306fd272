"""Points into outcomes, on all cores, in whatever order they come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.results import run_record
from ssdscope.sweep.plan import Point
from ssdscope.sweep.processes import in_processes
from ssdscope.targets import open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.options import in_option_names


@dataclass(frozen=True)
class Outcome:
    """What became of a point: the document of its run, or the reason there is none.

    `part` has figures of the beginning of its load, where that was run before the whole.
    """

    point: Point
    record: dict[str, Any] | None
    error: str | None = None
    interrupted: bool = False
    part: dict[str, float] | None = None


def run_points(points: Sequence[Point], *, jobs: int = -1) -> Iterator[Outcome]:
    """Run points, and give each outcome as soon as it is there.

    Parameters
    ----------
    points
        What to run.
    jobs
        Runs at a time: 1 for none beside each other, -1 for all cores. Each is a process of
        its own, so that Ctrl-C reaches it.

    Yields
    ------
    Outcome
        In the order of completion.
    """
    if not points:
        return
    outcomes = in_processes(run_point, points, jobs)
    try:
        for outcome in outcomes:
            if outcome.interrupted:
                raise KeyboardInterrupt
            yield outcome
    finally:
        outcomes.close()


def run_point(point: Point) -> Outcome:
    """Run one point; a failure of the run is an outcome, not an exception."""
    try:
        target = open_target(point.target, state=point.state, sets=point.sets, seed=point.seed)
        result = target.device.run(Workload(**point.workload))
    except UsageError as error:
        return Outcome(point, None, error=in_option_names(error, str).message)
    except SsdscopeError as error:
        return Outcome(point, None, error=error.message)
    except KeyboardInterrupt:
        return Outcome(point, None, interrupted=True)
    record = run_record(target, point.workload, result, seed=point.seed)
    return Outcome(point, record, interrupted=result.interrupted)
