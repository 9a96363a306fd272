"""Which workload belongs on which drive."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.advise.placement.placing import Placement as Cheapest
from ssdscope.advise.placement.ranking import Ranking
from ssdscope.api.characterizing import Report
from ssdscope.api.frames import frame
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown
from ssdscope.report import document, placing
from ssdscope.seeds import require_seed

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.sheet import Sheet

_SEEN = {
    "workload": "string",
    "drive": "string",
    "source": "string",
    "mean_ns": "double",
    "low_ns": "double",
    "high_ns": "double",
    "keeps_up": "bool",
}
_PLACED = {
    **_SEEN,
    "replayed_mean_ns": "double",
    "replayed_low_ns": "double",
    "replayed_high_ns": "double",
    "error": "double",
    "limit_ns": "double",
    "kept": "bool",
}
_RANKED = {**_SEEN, "times_faster": "double", "reason": "string"}


@dataclass(frozen=True, repr=False)
class Placement(Shown):
    """Workloads on drives: the cheapest placement, or the drives ranked for each workload.

    Attributes
    ----------
    placed
        All of it.
    """

    placed: placing.Placed

    @property
    def cheapest(self) -> Cheapest | None:
        """The cheapest placement and its replay; None where drives were ranked, without costs."""
        return self.placed.placement

    @property
    def rankings(self) -> Sequence[Ranking]:
        """The drives for each workload, the fastest first; none where workloads were placed."""
        return self.placed.rankings

    @property
    def trustworthy(self) -> bool:
        """Whether the placement, replayed, kept every limit; a ranking promises none."""
        return self.placed.trustworthy

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know besides."""
        broken = "replayed, the placement breaks a limit; a longer duration judges better"
        return (*self.placed.cautions, *(() if self.trustworthy else (broken,)))

    def to_dict(self) -> dict[str, Any]:
        """Give the document of ``ssdscope place -o json``."""
        return self.placed.document

    def to_frame(self) -> pa.Table:
        """Make a table: of a placement a row per workload, of rankings one per workload and drive.

        Returns
        -------
        pyarrow.Table
            Means with their 95 % intervals; null where a drive does not keep up or was not tried.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        return frame(self._rows(), _RANKED if self.cheapest is None else _PLACED)

    def _rows(self) -> Iterator[dict[str, Any]]:
        if self.cheapest is not None:
            for row in self.cheapest.replay:
                replayed = {
                    f"replayed_{key}": each for key, each in (row["replayed"] or {}).items()
                }
                yield row | (row["predicted"] or {}) | replayed
        for ranking in self.rankings:
            for row in ranking.rows:
                yield row | {"workload": ranking.workload} | (row["seen"] or {})

    def _sheet(self) -> Sheet:
        from ssdscope.report.sheet import Sheet

        if self.cheapest is None:
            verdicts = [(each.workload, each.verdict) for each in self.rankings]
            tables = [placing.ranking_table(each) for each in self.rankings]
            return Sheet("drives for each workload", verdicts, tables, self.remarks)
        found = self.cheapest
        tables = [placing.drives_table(found), placing.replay_table(found)]
        tables.append(placing.pairs_table(found))
        return Sheet(placing.headline(found), tables=tables, remarks=self.remarks)

    def __repr__(self) -> str:
        """Say what the placement costs, or which drive answers each workload the fastest."""
        if self.cheapest is None:
            return "\n".join(each.verdict for each in self.rankings)
        placed = (f"{row['workload']} on {row['drive']}" for row in self.cheapest.replay)
        return "\n".join([placing.headline(self.cheapest), *placed])


@keyworded()
def place(
    *workloads: str | os.PathLike[str],
    on: Sequence[str | os.PathLike[str] | Report] | str | os.PathLike[str] | Report = (),
    cost: str | os.PathLike[str] | None = None,
    latency: str | None = None,
    lifetime: str | None = None,
    max_cost: float | None = None,
    reference: str | os.PathLike[str] | None = None,
    duration: str = placing.DURATION,
    align: str = "refuse",
    fit: str = "refuse",
    time_scale: float = 1.0,
    format: str | None = None,  # noqa: A002 (the name on the command line)
    limit: int | None = None,
    state: str | None = None,
    seed: int = SEED,
    progress: OnStage = None,
) -> Placement:
    """Find the cheapest placement of workloads on drives, or rank drives for each workload.

    Workloads that share a drive are run on it together: on a simulated drive, or on the twin of a
    measured one.

    Parameters
    ----------
    *workloads
        Each a list of workloads (``.toml``, ``.json``), a trace, or options of `run` with a rate
        and a size: ``"rw=randread,bs=4k,rate_iops=200,size=10g"``.
    on
        Drives: reports or their files, ``"sim:NAME"``, drive files, or ``"presets"`` for all that
        ship. Those of the cost file if there are none.
    cost
        A file (``.toml``) with what each drive costs, holds and endures. Without it drives are
        ranked, and nothing is placed.
    latency
        Bound on the mean latency of workloads that have none of their own, as ``"5ms"``.
    lifetime, max_cost
        How long each drive must last, as ``"5y"``; the most that all may cost.
    reference
        A drive that the others are ranked against.
    duration
        How much of each workload is tried at first.
    align, fit, time_scale, format, limit
        How traces are read, as of `replay`.
    state
        Of simulated drives; without it their own.
    seed
        Of the drives and the requests.
    progress
        As of `probe`.

    Returns
    -------
    Placement

    Raises
    ------
    UsageError
        If it cannot be meant, or no placement keeps the limits; the message names the limit that
        is in the way.

    Examples
    --------
    >>> import ssdscope as s
    >>> load = "rw=randread,bs=4k,rate_iops=500,size=64m"
    >>> s.place(load, on=["sim:ryu-a", "sim:ryu-b"], duration="1s").rankings[0].rows[0]["drive"]
    'sim:ryu-b'
    """
    named = [on] if isinstance(on, str | os.PathLike | Report) else on
    reading = placing.reading_of(
        latency, fit=fit, align=align, time_scale=time_scale, limit=limit, format=format
    )
    job = placing.read(
        placing.Asked(
            [os.fspath(each) for each in workloads],
            [_named(each) for each in named],
            None if cost is None else os.fspath(cost),
            latency,
            lifetime,
            max_cost,
            None if reference is None else os.fspath(reference),
            duration,
            reading,
            state,
        )
    )
    with stages(progress) as stage:
        return Placement(placing.place(job, seed=require_seed(seed), progress=stage))


def _named(drive: str | os.PathLike[str] | Report) -> str | document.Report:
    if isinstance(drive, Report):
        return document.parsed(drive.document, str(drive.page))
    return os.fspath(drive)
