"""What a run gives: its figures, and the whole document that the command line prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ssdscope.api.frames import frame, log_frame, timeline_frame
from ssdscope.api.shown import Pictured, Shown
from ssdscope.errors import UsageError
from ssdscope.results.remarks import doubts, remarks, trustworthy
from ssdscope.targets.records import ATTRIBUTION_CAUSES, Log, RunResult
from ssdscope.units import format_duration

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet
    from ssdscope.targets import Target
    from ssdscope.workloads.steady import Steadiness

_DIRECTIONS = ("read", "write")


@dataclass(frozen=True, repr=False)
class Direction:
    """The reads, or the writes, of a run.

    A percentile is nearest-rank, and None where fewer than ten requests lie beyond it. The
    interval is that of the mean, and None for a single request.
    """

    requests: int
    bytes: int
    iops: float | None
    """Requests in a second of the run; None if that took no time."""
    bandwidth_bytes_per_s: float | None
    mean_ns: float
    stddev_ns: float
    ci95_low_ns: float | None
    ci95_high_ns: float | None
    min_ns: int
    p50_ns: int | None
    p90_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None
    max_ns: int
    attribution_ns: dict[str, float] | None
    """Mean by cause; None where the drive cannot say."""

    @classmethod
    def of(cls, values: dict[str, Any]) -> Direction:
        """Take it out of the document of a run."""
        rates = ("requests", "bytes", "iops", "bandwidth_bytes_per_s", "attribution_ns")
        latencies = {
            each.name: values["latency_ns"][each.name.removesuffix("_ns")]
            for each in fields(cls)
            if each.name not in rates
        }
        return cls(**{name: values[name] for name in rates}, **latencies)

    def __repr__(self) -> str:
        """Show rate, bandwidth, mean and 99th percentile."""
        rates = "no time passed"
        if self.iops is not None and self.bandwidth_bytes_per_s is not None:
            rates = f"{self.iops:,.0f} IOPS, {self.bandwidth_bytes_per_s / 2**20:,.1f} MiB/s"
        p99 = "unknown" if self.p99_ns is None else format_duration(self.p99_ns)
        return f"{rates}, mean {format_duration(self.mean_ns)}, p99 {p99}"

    def row(self) -> dict[str, Any]:
        """Give it as a row of a table."""
        causes = self.attribution_ns or {}
        return asdict(self) | {f"attr_{cause}_ns": each for cause, each in causes.items()}


_COLUMNS = {
    "flow": "string",
    "direction": "string",
    **{
        each.name: "int64" if str(each.type).startswith("int") else "double"
        for each in fields(Direction)[:-1]
    },
    **{f"attr_{cause}_ns": "double" for cause in ATTRIBUTION_CAUSES},
}


@dataclass(frozen=True, repr=False, eq=False)
class Run(Shown, Pictured):
    """A run or a replay.

    Attributes
    ----------
    document
        All of it, as ``run -o json`` prints it: docs/results.md has the keys.
    log
        Every request, in the order of completion; None unless it was asked for.
    """

    document: dict[str, Any]
    log: Log | None = None

    @classmethod
    def of(
        cls,
        target: Target,
        workload: dict[str, Any],
        result: RunResult,
        seed: int,
        *,
        log: Log | None = None,
        steady: Steadiness | None = None,
    ) -> Run:
        """Make it of what a drive gave."""
        from ssdscope.results import run_record

        rest = None if steady is None else steady.to_json()
        document = run_record(target, workload, result, seed=seed, steady_state=rest)
        if target.seed != seed:  # a command has one for both
            document["target"]["seed"] = target.seed
        return cls(document, log)

    @property
    def seed(self) -> int:
        """Seed of what the run drew; the drive's own stands in the document if it is another."""
        return int(self.document["seed"])

    @property
    def requests(self) -> int:
        """Requests served."""
        return int(self.document["requests"])

    @property
    def elapsed_ns(self) -> int:
        """From the first submission to the last completion, on the drive's clock."""
        return int(self.document["elapsed_ns"])

    @cached_property
    def read(self) -> Direction | None:
        """The reads, of all flows together; None if there were none."""
        return self._direction("read")

    @cached_property
    def write(self) -> Direction | None:
        """The writes, likewise."""
        return self._direction("write")

    @property
    def iops(self) -> float:
        """Reads and writes in a second."""
        return sum(each.iops or 0.0 for each in self._ran)

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes read and written in a second."""
        return sum(each.bandwidth_bytes_per_s or 0.0 for each in self._ran)

    @property
    def mean_latency_ns(self) -> float | None:
        """Mean over reads and writes; None if neither was served."""
        served = sum(each.requests for each in self._ran)
        total = sum(each.requests * each.mean_ns for each in self._ran)
        return total / served if served else None

    @property
    def p99_latency_ns(self) -> int | None:
        """Nearest-rank, of reads or of writes; None where fewer than ten requests lie beyond it.

        It is also None where both ran: see `read` and `write`.
        """
        return self._ran[0].p99_ns if len(self._ran) == 1 else None

    @property
    def counters(self) -> dict[str, Any] | None:
        """What a simulated drive counted; None for real ones."""
        counted: dict[str, Any] | None = self.document["counters"]
        return counted

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return bool(self.document.get("interrupted"))

    @property
    def trustworthy(self) -> bool:
        """Whether all that was asked for was reached, and at most a fifth of it failed."""
        return trustworthy(self.document)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the command line says beside the figures: what they rest on, and what is missing."""
        return (*remarks(self.document), *doubts(self.document))

    def to_dict(self) -> dict[str, Any]:
        """Give the document, as ``run -o json`` prints it."""
        return self.document

    def to_frame(self) -> pa.Table:
        """Make a table of a row per direction, and of several flows per flow and direction.

        Returns
        -------
        pyarrow.Table
            Columns carry their units; what was not measured is null.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        return frame(self._rows(), _COLUMNS)

    def log_frame(self) -> pa.Table:
        """Make a table of a row per request, with the columns of ``--log``.

        ``op`` is a word, and ``latency_ns`` a column of its own.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        UsageError
            If the log was not kept (``log=True``), or pyarrow is not installed.
        """
        if self.log is None:
            raise UsageError("this run kept no log", hint="run it with log=True")
        return log_frame(self.log)

    def timeline_frame(self) -> pa.Table:
        """Make a table of the rate over time: a row per window, flow and kind of request.

        Returns
        -------
        pyarrow.Table
            The columns of ``--timeline-output FILE.csv``.

        Raises
        ------
        UsageError
            If it was not asked for (``timeline=True``), or pyarrow is not installed.
        """
        if "timeline" not in self.document:
            raise UsageError("this run has no timeline", hint="run it with timeline=True")
        return timeline_frame(self.document["timeline"])

    def __repr__(self) -> str:
        """Show rate, bandwidth, mean and 99th percentile of each direction."""
        ran = (("read", self.read), ("write", self.write))
        lines = [f"{name}: {each}" for name, each in ran if each is not None]
        lines = lines or ["no reads and no writes were served"]
        if self.interrupted:
            lines.append(f"interrupted after {self.requests:,} requests")
        elif not self.trustworthy:
            lines.append("not to be trusted: remarks say why")
        return "\n".join(lines)

    def _sheet(self) -> Sheet:
        from ssdscope.report import runs
        from ssdscope.report.sheet import Sheet

        remarks = [*self.remarks]
        if self.interrupted:
            remarks.append(f"Interrupted after {self.requests:,} requests.")
        elif not self.trustworthy:
            remarks.append("Not to be trusted, for the reasons above.")
        tables = [runs.table(self.document)]
        return Sheet(runs.title(self.document), runs.went_to(self.document), tables, remarks)

    def _charts(self) -> Sequence[Chart]:
        from ssdscope.report import over_time, runs
        from ssdscope.results.timeline import timeline_of

        latencies, shown = runs.chart(self.document, self.log), timeline_of(self.document)
        over = None if shown is None else over_time.chart(shown, "timeline", "Rate and latency")
        return [each for each in (latencies, over) if each is not None]

    def _nothing(self) -> str:
        return "no reads and no writes were served"

    @property
    def _ran(self) -> list[Direction]:
        return [each for each in (self.read, self.write) if each is not None]

    def _direction(self, name: str) -> Direction | None:
        values = self.document[name]
        return None if values is None else Direction.of(values)

    def _rows(self) -> Iterator[dict[str, Any]]:
        flows = self.document.get("flows") or [self.document | {"name": None}]
        for flow in flows:
            for name in _DIRECTIONS:
                if flow[name]:
                    yield {
                        "flow": flow["name"],
                        "direction": name,
                        **Direction.of(flow[name]).row(),
                    }
