"""The page about a drive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdscope import report
from ssdscope.api.findings import Findings
from ssdscope.api.frames import frame
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import TargetLike, files_behind, seed_of, target_of
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Pictured, Shown
from ssdscope.api.twinning import Twin
from ssdscope.errors import Interrupted, OutputError, UsageError, nearest
from ssdscope.findings import Findings as Known
from ssdscope.probes.budget import Budget
from ssdscope.report import spending, twinning
from ssdscope.report.document import parsed
from ssdscope.report.replay import TraceFile
from ssdscope.report.resuming import require_nothing_lost
from ssdscope.results.guard import Place, claim_places

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet

_WORKLOAD = {"rw": "string", "sort": "string", "block_bytes": "int64", "iodepth": "int64"}
_WORKLOADS = {
    **_WORKLOAD,
    "requests": "int64",
    "duration_ns": "int64",
    "iops": "double",
    "bandwidth_bytes_per_s": "double",
    "mean_ns": "double",
    "ci95_low_ns": "double",
    "ci95_high_ns": "double",
    "p50_ns": "double",
    "p99_ns": "double",
    "max_ns": "double",
    "failure": "string",
}
_HELD_OUT = {**_WORKLOAD, "mean_ns": "double", "predicted_ns": "double"}
TABLES = ("workloads", "findings", "advice", "twin")
"""That a report can be made into."""


@dataclass(frozen=True, repr=False)
class Report(Shown, Pictured):
    """A page about a drive, and everything on it.

    Attributes
    ----------
    page
        The page; of a report that was read back the file that it stands in.
    document
        All of it, as ``characterize --json`` writes it: docs/results.md has the keys.
    """

    page: Path
    document: dict[str, Any]

    @property
    def findings(self) -> Findings:
        """What was found, by property."""
        known = Known.from_json(self.document["findings"])
        spent = self.document["provenance"].get("spent") or {}
        return Findings(known.values(), seed=self.document["seed"], spent=spent)

    @property
    def twin(self) -> Twin:
        """A simulated drive that behaves like this one.

        Raises
        ------
        UsageError
            If none could be built, with the reason.
        """
        return Twin(twinning.twin_of(parsed(self.document, str(self.page))))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the measuring early."""
        return bool(self.document["provenance"].get("interrupted"))

    def to_dict(self) -> dict[str, Any]:
        """Give the document."""
        return self.document

    def to_frame(self, table: str = "workloads") -> pa.Table:
        """Make a table of a part of the report.

        Parameters
        ----------
        table
            ``"workloads"``, a row for each that was measured: reads, bursts of writes, and what
            the drive keeps up (``sort``). ``"findings"``, a row per property, as of `probe`.
            ``"advice"``, a row per setting, as of `advice`. ``"twin"``, a row per workload that
            the twin was not fitted to.

        Returns
        -------
        pyarrow.Table
            Columns carry their units; what was not measured is null.

        Raises
        ------
        UsageError
            If there is no such table, or pyarrow is not installed.
        """
        if table == "findings":
            return self.findings.to_frame()
        if table == "workloads":
            measured = self.document["performance"]
            return frame([*measured["points"], *measured["sustained"]], _WORKLOADS)
        if table == "advice":
            from ssdscope.api.advising import COLUMNS, rows

            return frame(rows(self.document["advice"]), COLUMNS)
        if table == "twin":
            return frame((self.document["twin"] or {}).get("held_out") or [], _HELD_OUT)
        raise UsageError(f"a report has no table {table!r}", hint=nearest(table, TABLES))

    def _sheet(self) -> Sheet:
        from ssdscope.report.notebook import of_report

        return of_report(self.document, str(self.page))

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report.notebook import pictures

        return pictures(self.document)

    def _aliases(self) -> dict[str, str]:
        from ssdscope.report.evidence import picture_names

        return picture_names(self.findings.values())

    def __repr__(self) -> str:
        """Name the page, how much was detected, and how long that took."""
        findings = self.document["findings"]
        detected = sum(each["outcome"] == "detected" for each in findings)
        seconds = self.document["provenance"].get("seconds")  # None while it grows
        took = "some time" if seconds is None else f"{seconds:.1f} s"
        cut = ", then interrupted" if self.interrupted else ""
        return f"{self.page}: {detected} of {len(findings)} properties detected in {took}{cut}"


@keyworded()
def characterize(
    target: TargetLike,
    /,
    *,
    out: str | os.PathLike[str] = "report.html",
    json: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 (the name on the command line)
    columns: str | None = None,
    fit: str = "compact",
    skip_bad: bool = False,
    budget: str = "default",
    rated_writes: int | str | None = None,
    force: bool = False,
    resume: bool = False,
    seed: int | None = None,
    progress: OnStage = None,
) -> Report:
    """Measure a drive, detect what is inside, and write one self-contained page about it.

    The page opens offline. A real drive is only read, unless it was opened for writing.

    Parameters
    ----------
    target
        An open target, or the name of one.
    out
        Where the page goes.
    json
        Write everything on the page here too.
    trace, format, columns
        Replay this trace as well; what it is, where its content leaves a doubt.
    fit, skip_bad
        As of `replay`, for this trace.
    budget, rated_writes
        As of `probe`.
    force
        Also replace files that ssdscope did not write, pages of other drives, and what an
        interrupted run left.
    resume
        Go on with what an interrupted run left there; all other keywords stay.
    seed
        Of everything drawn; that of the target if absent.
    progress
        As of `probe`.

    Returns
    -------
    Report
        With the path of the page.

    Raises
    ------
    UsageError
        If a keyword cannot be meant, or a file cannot be where it is wanted.
    OutputError
        If the page cannot be written; its `partial` is the report.
    Interrupted
        After Ctrl-C; its `partial` is the report of what was measured, which the page holds.

    Examples
    --------
    >>> import tempfile
    >>> import ssdscope as s
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = s.characterize("null:", out=f"{folder}/report.html", budget="1s")
    ...     made.page.exists(), made.interrupted
    (True, False)
    """
    spend = Budget.parse(budget)
    rated = spending.rated(rated_writes)
    page, data = Path(out), None if json is None else Path(json)
    read = [*files_behind(target), *([] if trace is None else [trace])]
    try:
        with (
            claim_places(_places(page, data), [os.fspath(each) for each in read], force=force),
            stages(progress) as stage,
        ):
            if not (resume or force):
                require_nothing_lost(report.growing_file(page, data))
            opened = target_of(target, seed)
            made = report.characterize(
                opened,
                budget=spend,
                seed=seed_of(opened, seed),
                out_html=page,
                out_json=data,
                trace=None
                if trace is None
                else TraceFile(Path(trace), format, columns, fit, skip_bad),
                sets=opened.sets,
                progress=stage,
                rated_bytes=rated,
                resume=resume,
                force=force,
            )
    except OutputError as error:
        if error.partial is not None:
            error.partial = Report(page, error.partial.to_json())
        raise
    result = Report(page, made.to_json())
    if made.interrupted:
        raise Interrupted(result)
    return result


def _places(page: Path, data: Path | None) -> list[Place]:
    """List what is written."""
    if data is None:
        partial = Place(str(page.with_suffix(".partial.json")), beside=str(page))
        return [Place(str(page)), partial]
    return [Place(str(page)), Place(str(data))]
