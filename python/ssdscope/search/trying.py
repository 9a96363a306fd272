"""One trial: the part on a fork of the prepared drive, then the whole on the drive itself.

The fork leaves the drive as it was, so the figures of a whole are those of ``ssdscope run``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.results import run_record
from ssdscope.search import loads
from ssdscope.search.figures import figures_of_part
from ssdscope.search.stopping import Judge
from ssdscope.sweep import Outcome, Point
from ssdscope.sweep.processes import in_processes
from ssdscope.sweep.runner import until_interrupted
from ssdscope.targets import Target, open_target
from ssdscope.workloads.options import in_option_names

STOPPED = "stopped early: "


@dataclass(frozen=True)
class Task:
    """What is to be tried.

    Attributes
    ----------
    point
        The run, as a sweep has it.
    figures
        Those that only a run tells.
    exact
        Those that are known: costs.
    part
        Share of the load that is run on a fork; 0 for none.
    judge
        What says whether the rest is run.
    """

    point: Point
    figures: tuple[str, ...]
    exact: dict[str, float]
    part: float
    judge: Judge


def run_tasks(tasks: Sequence[Task], *, jobs: int = -1) -> Iterator[Outcome]:
    """Run trials, and give each outcome as soon as it is there.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, which reaches the processes of the trials.
    """
    if not tasks:
        return
    yield from until_interrupted(in_processes(try_one, tasks, jobs))


def try_one(task: Task) -> Outcome:
    """Run one trial; a failure is an outcome, not an exception."""
    point = task.point
    try:
        target = open_target(point.target, state=point.state, sets=point.sets, seed=point.seed)
        return _tried(task, target)
    except UsageError as error:
        return Outcome(point, None, error=in_option_names(error, str).message)
    except SsdscopeError as error:
        return Outcome(point, None, error=error.message)
    except KeyboardInterrupt:
        return Outcome(point, None, interrupted=True)


def _tried(task: Task, target: Target) -> Outcome:
    point, part = task.point, None
    if task.part and task.figures:
        part = _part(task, target)
        if reason := task.judge.hopeless(part, task.exact):
            return Outcome(point, None, error=STOPPED + reason, part=part)
    result = loads.run(target.device, point.workload)
    record = run_record(target, point.workload, result, seed=point.seed) | task.exact
    return Outcome(point, record, interrupted=result.interrupted, part=part)


def _part(task: Task, target: Target) -> dict[str, float]:
    """Run the part; where that fails there are no figures, and the whole says what is wrong."""
    try:
        result = loads.run(target.device.fork(), task.point.workload, task.part)
    except UsageError:
        return {}
    return figures_of_part(result.whole(), task.figures)
