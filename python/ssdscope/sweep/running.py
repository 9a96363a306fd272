"""A sweep from its points to the journal and the table: what is missing is run."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ssdscope.errors import ClusterError, OutputError, SsdscopeError, UsageError
from ssdscope.sweep.cluster import require_scheduler
from ssdscope.sweep.journal import Journal
from ssdscope.sweep.plan import Plan, read_plan
from ssdscope.sweep.points import Point
from ssdscope.sweep.runner import Outcome, run_points
from ssdscope.targets.sources import files_of


@dataclass(frozen=True)
class Swept:
    """What became of a sweep.

    Attributes
    ----------
    runs, done, failed
        How many the plan has, how many succeeded so far, how many failed now.
    out, table
        The journal, and the table of a row per run.
    reasons
        Why runs failed now, with how many of them.
    unsettled
        Runs of now that are not what their drive, opened steady, was settled for.
    interrupted
        Whether Ctrl-C ended it early.
    """

    runs: int
    done: int
    failed: int
    out: str
    table: str
    unsettled: int = 0
    interrupted: bool = False
    reasons: Mapping[str, int] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Give what the command prints."""
        told = asdict(self)
        return {name: told[name] for name in ("runs", "done", "failed", "out", "table")}


def missing(points: Sequence[Point], journal: Journal) -> list[Point]:
    """Give the points that the journal does not hold, or that failed."""
    done = journal.keys
    return [point for point in points if point.key not in done]


def run_missing(
    points: Sequence[Point],
    journal: Journal,
    seed: int,
    *,
    jobs: int = -1,
    scheduler: str | None = None,
    progress: Callable[[str, float], None],
) -> Swept:
    """Run what is missing of a sweep, each kept as soon as it is there, and write the table.

    Parameters
    ----------
    points
        Of the whole sweep.
    seed
        That the sweep began with.
    jobs
        Runs at a time; -1 for all cores.
    scheduler
        Address of a Dask scheduler, whose workers run them instead.
    progress
        Called with the stage and the share that is done.

    Raises
    ------
    OutputError
        If the journal or the table cannot be written.
    ClusterError
        If the cluster cannot run them, or is lost. What came before is kept, and in the table.
    """
    tally = _Tally(len(missing(points, journal)), progress)
    places = {point.key: place for place, point in enumerate(points)}
    try:
        for outcome in run_points(missing(points, journal), jobs=jobs, scheduler=scheduler):
            failed = journal.append(outcome, seed, places[outcome.point.key])
            tally.add(outcome, failed=failed)
    except KeyboardInterrupt:
        tally.interrupted = True
    except (ClusterError, OutputError):
        with contextlib.suppress(SsdscopeError):  # what ended it is what matters
            if journal.keys:
                journal.write_table(points)
        raise
    table = str(journal.write_table(points))
    done = len(points) - len(missing(points, journal))
    return Swept(
        len(points), done, tally.failed.total(), str(journal.path), table, tally.unsettled,
        tally.interrupted, tally.failed,
    )  # fmt: skip


class _Tally:
    """Counts what became of runs, and shows how far they are."""

    def __init__(self, wanted: int, progress: Callable[[str, float], None]) -> None:
        self.failed = Counter[str]()
        self.unsettled = 0
        self.interrupted = False
        self._done = 0
        self._wanted = wanted
        self._progress = progress
        self._show()

    def add(self, outcome: Outcome, *, failed: bool) -> None:
        """Count one."""
        if failed:
            self.failed[outcome.error or "for no reason"] += 1
        self.unsettled += "unsettled" in (outcome.record or {})
        self._done += 1
        self._show()

    def _show(self) -> None:
        failed = f", {self.failed.total()} failed" if self.failed else ""
        stage = f"{self._done} of {self._wanted} runs{failed}"
        self._progress(stage, self._done / max(self._wanted, 1))


def require_engine(jobs: int, scheduler: str | None = None) -> None:
    """Refuse what is no number of runs, and what is no scheduler; or both together.

    Raises
    ------
    UsageError
        If one is none, or Dask is not installed.
    """
    if jobs == 0 or jobs < -1:
        raise UsageError(f"--jobs: {jobs} is no number of runs", hint="use 1 or more, or -1")
    if scheduler is not None and jobs != -1:
        raise UsageError(
            "--jobs and --scheduler exclude each other: a cluster runs as many as its workers have "
            "threads",
            hint="dask worker --nthreads N says how many",
        )
    if scheduler is not None:
        require_scheduler(scheduler)


def read_by(plan: str | Plan) -> list[str]:
    """List the files that a sweep reads: its plan, and the drives and traces in it."""
    loaded = read_plan(plan) if isinstance(plan, str) else plan
    drives = (file for target in loaded.targets for file in files_of(target))
    return [loaded.source, *drives, *loaded.traces]


def known_seed(given: int | None, planned: int | None, journal: Journal | None) -> int | None:
    """Choose the seed: the one that is given, or the plan's, or the one that it began with."""
    known = (given, planned, None if journal is None else journal.sweep_seed)
    return next((each for each in known if each is not None), None)


def table_beside(journal: str) -> str:
    """Say where the table goes."""
    return f"{journal.removesuffix('.jsonl')}.parquet"
