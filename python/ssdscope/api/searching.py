"""The best configuration of a drive."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown
from ssdscope.api.sweeping import claim_journal
from ssdscope.errors import Interrupted
from ssdscope.results.opening import open_parquet
from ssdscope.search import read_plan, search
from ssdscope.search.files import read_by
from ssdscope.search.running import Found
from ssdscope.search.telling import drive_file, to_json
from ssdscope.seeds import require_seed
from ssdscope.sweep import Journal
from ssdscope.sweep.running import known_seed, require_engine

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ssdscope.report.sheet import Sheet


@dataclass(frozen=True, repr=False)
class Search(Shown):
    """A search that was run, as far as it got.

    Attributes
    ----------
    found
        What it found.
    """

    found: Found

    @property
    def best(self) -> list[dict[str, Any]]:
        """Give the best configuration, or the front of several figures, in order.

        Each has ``trial``, ``set`` (the keys of the drive), ``figures`` and ``again``, the
        figures with another seed. There is none if nothing keeps the limits.
        """
        rows: list[dict[str, Any]] = self.to_dict()["best"]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Give the document of ``ssdscope search -o json``, without its head."""
        return to_json(self.found)

    def to_toml(self, row: int = 1) -> str:
        """Write a row of the best as a drive file; the first is number 1.

        Raises
        ------
        IndexError
            If there is no such row.
        """
        if not 1 <= row <= len(self.found.best):
            raise IndexError(f"the search found {len(self.found.best)} row(s), there is no {row}")
        return drive_file(self.found, self.found.best[row - 1])

    def to_frame(self) -> pa.Table:
        """Read the table of a row per whole run, as of a sweep.

        Returns
        -------
        pyarrow.Table
        """
        with open_parquet(self.found.table) as file:
            return file.read()

    def plot(self) -> Figure:
        """Draw the front of several figures, or the best of one so far, as ``--plot`` does.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If no trial was run to its end.
        """
        from ssdscope.plots import LIGHT, titled
        from ssdscope.plots.searches import picture

        title = f"search for the least {' and '.join(self.found.plan.minimise)}"
        return titled(picture(self.found, LIGHT), title, LIGHT)

    def _sheet(self) -> Sheet:
        from ssdscope.report.searches import best, counts
        from ssdscope.report.sheet import Sheet

        return Sheet(f"{self.found.plan.target}: {counts(self.found)}", tables=[best(self.found)])

    def __repr__(self) -> str:
        """Count the trials and the best."""
        ran, best = len(self.found.trials), len(self.found.best)
        cut = "; interrupted" if self.found.interrupted else ""
        return f"{self.found.plan.source}: {ran} configurations, {best} best{cut}"


@keyworded()
def run_search(
    plan: str | os.PathLike[str],
    /,
    *,
    out: str | os.PathLike[str] = "search.jsonl",
    jobs: int = -1,
    force: bool = False,
    seed: int | None = None,
    progress: OnStage = None,
) -> Search:
    """Find the best configuration of a drive, as ``ssdscope search`` does.

    Trials that the output holds are not run again, so that a search goes on where it was
    interrupted.

    Parameters
    ----------
    plan
        A TOML file: docs/search.md describes it.
    out
        The journal of a JSON document per trial (``.jsonl``); the table goes beside it.
    jobs
        Trials at a time, each a process of its own; 1 for none beside each other, -1 for all
        cores. It changes no result.
    force
        Also replace files that ssdscope did not write.
    seed
        Of everything drawn; if absent the plan's, or that which the journal began with.
    progress
        As of `probe`.

    Returns
    -------
    Search

    Raises
    ------
    UsageError
        If the plan cannot be meant, or the output cannot be where it is wanted.
    OutputError
        If a file cannot be written.
    Interrupted
        After Ctrl-C; its `partial` is the search so far.
    """
    require_engine(jobs, None)
    loaded = read_plan(os.fspath(plan))
    path = os.fspath(out)
    with (
        claim_journal(path, read_by(loaded), force=force),
        closing(Journal(path)) as journal,
        stages(progress) as stage,
    ):
        known = known_seed(seed, loaded.seed, journal)
        used = require_seed(SEED if known is None else known)
        result = Search(search(loaded, journal, used, jobs=jobs, progress=stage))
    if result.found.interrupted:
        raise Interrupted(result)
    return result
