"""Points into outcomes, on all cores or a cluster, in whatever order they come."""

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.results import run_record
from ssdscope.sweep.cluster import on_cluster
from ssdscope.sweep.points import REPLAY, Point, require_same_trace
from ssdscope.sweep.processes import in_processes
from ssdscope.targets import RunResult, Target, open_target
from ssdscope.targets.opening import drive_files
from ssdscope.targets.sources import drive_texts
from ssdscope.workloads import Workload
from ssdscope.workloads.options import in_option_names
from ssdscope.workloads.replaying import ReplayOptions


@dataclass(frozen=True)
class Work:
    """A point, and what another process or machine needs to run it.

    Attributes
    ----------
    drives
        Drive files by their paths: the text goes along, so that no copy of it can be another.
    folder
        Where paths of traces begin.
    """

    point: Point
    drives: Mapping[str, str]
    folder: str = ""


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


def run_points(
    points: Sequence[Point], *, jobs: int = -1, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Run points, and give each outcome as soon as it is there.

    Parameters
    ----------
    points
        What to run.
    jobs
        Runs at a time: 1 for none beside each other, -1 for all cores. Each is a process of
        its own, so that Ctrl-C reaches it.
    scheduler
        Address of a Dask scheduler, whose workers run the points instead.

    Yields
    ------
    Outcome
        In the order of completion.

    Raises
    ------
    ClusterError
        If the cluster cannot run them.
    """
    if not points:
        return
    work = _packed(points)
    if scheduler is None:
        outcomes = in_processes(run_work, work, jobs, _lost)
    else:
        outcomes = on_cluster(run_work, work, scheduler, _lost)
    yield from until_interrupted(outcomes)


def until_interrupted(outcomes: Generator[Outcome, None, None]) -> Iterator[Outcome]:
    """Give outcomes as they come; one that was interrupted interrupts here, and ends the rest."""
    try:
        for outcome in outcomes:
            if outcome.interrupted:
                raise KeyboardInterrupt
            yield outcome
    finally:
        outcomes.close()


def _packed(points: Sequence[Point]) -> Iterator[Work]:
    drives = {target: drive_texts(target) for target in {point.target for point in points}}
    folder = str(Path.cwd())
    return (Work(point, drives[point.target], folder) for point in points)


def _lost(work: Work, why: str) -> Outcome:
    return Outcome(work.point, None, error=why)


def run_work(work: Work) -> Outcome:
    """Run a point here, wherever it comes from."""
    with drive_files(work.drives):
        return run_point(work.point, work.folder)


def run_point(point: Point, folder: str = "") -> Outcome:
    """Run one point; a failure of the run is an outcome, not an exception."""
    try:
        target = open_target(point.target, state=point.state, sets=point.sets, seed=point.seed)
        result = _result(target, point, folder)
        record = run_record(target, point.workload, result, seed=point.seed)
    except UsageError as error:
        return Outcome(point, None, error=in_option_names(error, str).message)
    except SsdscopeError as error:
        return Outcome(point, None, error=error.message)
    except KeyboardInterrupt:
        return Outcome(point, None, interrupted=True)
    except BaseException as error:  # noqa: BLE001 (a defect, or too little memory, for one point)
        return Outcome(point, None, error=f"{type(error).__name__}: {error}")
    return Outcome(point, record, interrupted=result.interrupted)


def _result(target: Target, point: Point, folder: str) -> RunResult:
    if REPLAY not in point.workload:
        plan = Workload(**point.workload).within(target.device.info.capacity_bytes)
        return target.device.run(plan)
    options = dict(point.workload)
    trace = os.path.join(folder, options.pop(REPLAY))  # noqa: PTH118 (an absolute path stays)
    require_same_trace(trace, point.trace_digest)
    return target.device.replay(trace, ReplayOptions(**options))
