"""Many runs on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown
from ssdscope.errors import Interrupted
from ssdscope.results.guard import Claims, Place, claim_places
from ssdscope.results.opening import open_parquet
from ssdscope.seeds import require_seed
from ssdscope.sweep import Journal, points_of, read_plan
from ssdscope.sweep.running import (
    Swept,
    known_seed,
    read_by,
    require_engine,
    run_missing,
    table_beside,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ssdscope.report.sheet import Sheet
    from ssdscope.sweep.summary import Combination


@dataclass(frozen=True, repr=False)
class Sweep(Shown, Swept):
    """A sweep that was run, as far as it got."""

    def to_frame(self) -> pa.Table:
        """Read the table of a row per run: what was varied, and the keys of the run's document.

        Returns
        -------
        pyarrow.Table
        """
        with open_parquet(self.table) as file:
            return file.read()

    @keyworded()
    def plot(self, *, metric: str | None = None, x: str | None = None) -> Figure:
        """Draw a metric against something that was varied, as ``ssdscope sweep plot`` does.

        Parameters
        ----------
        metric
            A figure of the runs under its keys in their JSON, as ``"read.iops"``; the first of
            the summary if absent.
        x
            What goes along the axis: a name that was varied, the first one if absent.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If there is no such metric, nothing so named was varied, or there is nothing to draw.
        """
        from ssdscope.plots import LIGHT, sweeps, titled

        combinations = self._combinations()
        wanted = sweeps.Wanted.of(combinations, metric, x)
        title = f"{wanted.metric} against {wanted.x}"
        return titled(sweeps.picture(combinations, wanted, LIGHT), title, LIGHT)

    def _combinations(self) -> list[Combination]:
        from ssdscope.sweep.summary import combined, read_results

        return combined(read_results(self.out))

    def _sheet(self) -> Sheet:
        from ssdscope.report import sweeps
        from ssdscope.report.sheet import Sheet
        from ssdscope.sweep.summary import chosen_metrics

        combinations = self._combinations() if self.done + self.failed else []
        metrics = chosen_metrics(combinations, ())
        reasons = [f"{count:,} failed: {reason}" for reason, count in self.reasons.items()]
        return Sheet(repr(self), tables=[sweeps.table(combinations, metrics)], remarks=reasons)

    def __repr__(self) -> str:
        """Count the runs, and name the table."""
        cut = "; interrupted" if self.interrupted else ""
        return f"{self.table}: {self.done} of {self.runs} runs, {self.failed} failed{cut}"


@keyworded()
def run_sweep(
    plan: str | os.PathLike[str],
    /,
    *,
    out: str | os.PathLike[str] = "sweep.jsonl",
    jobs: int = -1,
    scheduler: str | None = None,
    force: bool = False,
    seed: int | None = None,
    progress: OnStage = None,
) -> Sweep:
    """Run every combination of a plan, as ``ssdscope sweep`` does.

    Runs that the output holds are not run again, so that a sweep goes on where it was interrupted.

    Parameters
    ----------
    plan
        A TOML file: docs/sweeps.md describes it.
    out
        The journal of a JSON document per run (``.jsonl``); the table goes beside it.
    jobs
        Runs at a time, each a process of its own; 1 for none beside each other, -1 for all cores.
    scheduler
        Address of a Dask scheduler, as ``tcp://127.0.0.1:8786``, whose workers run them instead.
    force
        Also replace files that ssdscope did not write.
    seed
        Of everything drawn; if absent the plan's, or that which the journal began with.
    progress
        As of `probe`.

    Returns
    -------
    Sweep

    Raises
    ------
    UsageError
        If the plan cannot be meant, or the output cannot be where it is wanted.
    ClusterError
        If the cluster cannot be reached, is lost, or cannot run the points; what came before is
        kept.
    OutputError
        If a file cannot be written.
    Interrupted
        After Ctrl-C; its `partial` is the sweep so far.
    """
    require_engine(jobs, scheduler)
    loaded = read_plan(os.fspath(plan))
    journal_path = os.fspath(out)
    with (
        claim_journal(journal_path, read_by(loaded), force=force),
        closing(Journal(journal_path)) as journal,
        stages(progress) as stage,
    ):
        known = known_seed(seed, loaded.seed, journal)
        used_seed = require_seed(SEED if known is None else known)
        points = points_of(loaded, used_seed)
        swept = run_missing(
            points, journal, used_seed,
            jobs=jobs, scheduler=scheduler, progress=stage,
        )  # fmt: skip
    result = Sweep(**vars(swept))
    if result.interrupted:
        raise Interrupted(result)
    return result


def claim_journal(path: str, read: Sequence[str], *, force: bool) -> Claims:
    """Claim a journal and the table beside it, or refuse what cannot be where it is wanted.

    Parameters
    ----------
    read
        Files that the work reads.

    Raises
    ------
    UsageError
        If it cannot.
    """
    places = [Place(path, resumed=True, judged=True), Place(table_beside(path), beside=path)]
    return claim_places(places, read, force=force)
