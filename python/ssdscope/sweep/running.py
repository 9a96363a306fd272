"""A sweep from its points to the journal and the table: what is missing is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.sweep.journal import Journal
from ssdscope.sweep.plan import Plan, Point, read_plan
from ssdscope.sweep.runner import run_points
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
    return [point for point in points if point.key not in journal.keys]


def run_missing(
    points: Sequence[Point],
    journal: Journal,
    seed: int,
    *,
    jobs: int = -1,
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
    progress
        Called with the stage and the share that is done.

    Raises
    ------
    OutputError
        If the journal or the table cannot be written.
    """
    wanted = missing(points, journal)
    failed, unsettled, interrupted = Counter[str](), 0, False
    try:
        for done, outcome in enumerate(run_points(wanted, jobs=jobs), start=1):
            if journal.append(outcome, seed):
                failed[outcome.error or "for no reason"] += 1
            unsettled += "unsettled" in (outcome.record or {})
            progress(f"{done} of {len(wanted)} runs", done / len(wanted))
    except KeyboardInterrupt:
        interrupted = True
    table = str(journal.write_table())
    return Swept(
        len(points), len(journal.keys), failed.total(), str(journal.path), table, unsettled,
        interrupted, failed,
    )  # fmt: skip


def require_jobs(jobs: int) -> None:
    """Refuse what is no number of runs.

    Raises
    ------
    UsageError
        If it is none.
    """
    if jobs == 0 or jobs < -1:
        raise UsageError(f"--jobs: {jobs} is no number of runs", hint="use 1 or more, or -1")


def read_by(plan: str | Plan) -> list[str]:
    """List the files that a sweep reads: its plan, and the drives in it."""
    loaded = read_plan(plan) if isinstance(plan, str) else plan
    return [loaded.source, *(file for target in loaded.targets for file in files_of(target))]


def table_beside(journal: str) -> str:
    """Say where the table goes."""
    return f"{journal.removesuffix('.jsonl')}.parquet"
