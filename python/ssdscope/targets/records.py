"""What a drive tells us: what it is, how a run went, and every request of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from ssdscope.errors import DeviceError
from ssdscope.targets.quiet import Quiet
from ssdscope.targets.told import told_summary
from ssdscope.units import format_duration

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Column: TypeAlias = "npt.NDArray[Any]"

OP_READ, OP_WRITE, OP_FLUSH, OP_DISCARD, OP_WRITE_FUA, OP_WRITE_ZEROES = range(6)
"""What a request does. `OP_WRITE_FUA` is for asking only, a write that is durable when it is
acknowledged; in a log it is an `OP_WRITE` like others. `OP_WRITE_ZEROES` sends no data."""

ATTRIBUTION_CAUSES = (
    "host_queue",
    "link",
    "firmware",
    "buffer",
    "map",
    "channel_wait",
    "transfer",
    "die_wait",
    "nand",
    "rmw",
    "gc",
    "merge",
    "suspend",
    "mechanical",
)
"""Where the time of a request can go, in the order of the columns of a log."""

LOG_TYPES = {
    "index": "int64",
    "op": "uint8",
    "offset_bytes": "int64",
    "bytes": "int64",
    "submit_ns": "int64",
    "complete_ns": "int64",
    "error": "int32",
}
"""Columns that every log has. Rows are in the order of completion; ``index`` counts requests
in the order they were issued. Numbers are signed: so a difference of two is right."""

LOG_COLUMNS = tuple(LOG_TYPES)

FLOW_TYPE = "int32"
"""Of the column ``flow``, which the log of a run of several flows has: the place of its flow."""


class Moved(NamedTuple):
    """Bytes that somebody read and wrote; apart, as reading takes less time and leaves no trace."""

    read_bytes: int
    written_bytes: int

    def since(self, earlier: Moved) -> Moved:
        """Give what was moved after an earlier count."""
        return Moved(
            self.read_bytes - earlier.read_bytes, self.written_bytes - earlier.written_bytes
        )


@dataclass(frozen=True)
class CacheInfo:
    """A cache of a drive, as far as a host may know and switch it."""

    control: str
    """``unknown``, ``absent``, ``fixed`` or ``switchable``."""
    on: bool

    @property
    def stays_on(self) -> bool:
        """Whether it may be at work, and no host can switch it off."""
        return self.control == "unknown" or (self.control == "fixed" and self.on)


UNKNOWN_CACHE = CacheInfo("unknown", on=False)


@dataclass(frozen=True)
class DeviceInfo:
    """What a host knows of a drive before the first request."""

    kind: str
    """``simulated``, ``block``, ``file``, ``nbd``, ``raid0`` or ``null``."""
    capacity_bytes: int
    logical_block_bytes: int
    """Smallest request and its alignment."""
    clock: str
    """``virtual`` or ``wall``."""
    writable: bool
    discard: bool
    attribution: bool
    """Whether completions say where the time went."""
    snapshot: bool
    """Whether the state can be kept, returned to and forked."""
    write_cache: CacheInfo = UNKNOWN_CACHE
    read_cache: CacheInfo = UNKNOWN_CACHE

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the native module's JSON; keys we do not know are left out."""
        values = json.loads(text)
        for name, cache in values["caches"].items():
            values[f"{name}_cache"] = CacheInfo(**cache)
        return cls(**{each.name: values[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class LatencySummary:
    """Latencies of one direction, in nanoseconds. Percentiles are nearest-rank."""

    mean: float
    stddev: float
    ci95_low: float | None
    """Low end of the 95 % interval of the mean; None for a single request."""
    ci95_high: float | None
    min: int
    p50: int
    p90: int
    p95: int
    p99: int
    p99_9: int
    max: int


@dataclass(frozen=True)
class DirectionStats:
    """What the reads, or the writes, of a run came to."""

    requests: int
    bytes: int
    iops: float | None
    """Requests per second of the run; None if the run took no time."""
    bandwidth_bytes_per_s: float | None
    latency_ns: LatencySummary
    attribution_ns: dict[str, float] | None
    """Mean nanoseconds by cause; None where the drive cannot say."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Take one direction out of a run's summary."""
        latency = values["latency_ns"]
        return cls(
            requests=values["requests"],
            bytes=values["bytes"],
            iops=values["iops"],
            bandwidth_bytes_per_s=values["bandwidth_bytes_per_s"],
            latency_ns=LatencySummary(
                **{each.name: latency[each.name] for each in fields(LatencySummary)}
            ),
            attribution_ns=values["attribution_ns"],
        )


@dataclass(frozen=True)
class RunResult:
    """The summary of a run: typed where we calculate with it, whole in `summary`."""

    requests: int
    elapsed_ns: int
    read: DirectionStats | None
    write: DirectionStats | None
    counters: dict[str, Any] | None
    """What the drive counted during the run; None for real drives."""
    interrupted: bool
    summary: dict[str, Any]
    """Everything the run reported, under the names of the JSON output; `told` says which
    percentiles, of which those of `read` and `write` are all there is to calculate with."""
    quiet: Quiet | None = None
    """How quiet the machine was meanwhile; None for simulated drives."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a run's summary as the native module writes it."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, summary: dict[str, Any]) -> Self:
        """Take a run's summary."""
        directions = {
            name: None if summary[name] is None else DirectionStats.from_dict(summary[name])
            for name in ("read", "write")
        }
        return cls(
            requests=summary["requests"],
            elapsed_ns=summary["elapsed_ns"],
            counters=summary["counters"],
            interrupted=summary.get("interrupted", False),
            summary=told_summary(summary),
            quiet=Quiet.from_dict(summary.get("quiet")),
            **directions,
        )

    def whole(self) -> Self:
        """Give the run itself, for callers that half of one is of no use to.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C ended it.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        return self

    def only(self) -> DirectionStats:
        """Give the one direction that ran.

        Raises
        ------
        DeviceError
            If nothing was served, or both reads and writes were.
        """
        ran = [each for each in (self.read, self.write) if each is not None]
        if len(ran) != 1:
            raise DeviceError(f"expected reads or writes alone, {len(ran)} directions were served")
        return ran[0]


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    requests: int
    elapsed_ns: int
    fraction: float | None
    """Part of the work done, 0 to 1; None where the end is not known."""
    mean_latency_ns: float
    relative_half_width: float | None
    """Half the 95 % interval of the mean as a share of it, where the run stops on it."""
    looking: bool = False
    """Whether the run has not begun: ``fraction`` is of looking at what it would write over."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a progress report of the native module."""
        values = json.loads(text)
        return cls(**{each.name: values[each.name] for each in fields(cls)})

    def in_words(self) -> str:
        """Say how many requests were served, and what the estimate is."""
        if self.looking:
            return "reading what would be written over"
        text = f"{self.requests:,} requests"
        if self.requests:
            text += f", mean {format_duration(self.mean_latency_ns)}"
        if self.relative_half_width is not None:
            text += f" ±{self.relative_half_width:.1%}"
        return text


class Log:
    """One row per request, held as columns of equal length.

    Parameters
    ----------
    columns
        `LOG_COLUMNS`, of a run of several flows ``flow``, and, of a drive that attributes,
        ``attr_<cause>_ns`` for each of `ATTRIBUTION_CAUSES`. Shapes are (n,).
    quiet
        How quiet the machine was meanwhile, if these are all the requests of a call.
    """

    def __init__(self, columns: Mapping[str, Column], quiet: Quiet | None = None) -> None:
        missing = [name for name in LOG_COLUMNS if name not in columns]
        if missing:
            raise ValueError(f"a log without the columns {', '.join(missing)}")
        self.columns: dict[str, Column] = dict(columns)
        self.quiet = quiet

    def __len__(self) -> int:
        return len(self.columns["op"])

    @property
    def index(self) -> Column:
        """Number of each request in the order they were issued, int64."""
        return self.columns["index"]

    @property
    def op(self) -> Column:
        """Operations, uint8: 0 read, 1 write, 2 flush, 3 discard."""
        return self.columns["op"]

    @property
    def offset_bytes(self) -> Column:
        """First byte of each request, int64."""
        return self.columns["offset_bytes"]

    @property
    def bytes(self) -> Column:
        """Length of each request, int64."""
        return self.columns["bytes"]

    @property
    def submit_ns(self) -> Column:
        """When each request was submitted, int64."""
        return self.columns["submit_ns"]

    @property
    def complete_ns(self) -> Column:
        """When each request was served, int64."""
        return self.columns["complete_ns"]

    @property
    def error(self) -> Column:
        """The errno of failed requests, int32; 0 for served ones."""
        return self.columns["error"]

    @property
    def flow(self) -> Column | None:
        """Place of each request's flow in the plan, int32; None where there is one at most."""
        return self.columns.get("flow")

    @property
    def flushes(self) -> int:
        """How many of the requests are flushes."""
        return int((self.op == OP_FLUSH).sum())

    @cached_property
    def latency_ns(self) -> npt.NDArray[np.int64]:
        """Completion minus submission, int64."""
        return (self.complete_ns - self.submit_ns).astype("int64", copy=False)

    @property
    def in_order_ns(self) -> npt.NDArray[np.float64]:
        """Latencies in the order in which the requests were issued, float64."""
        ordered = self.latency_ns.astype("float64")
        ordered[self.index] = self.latency_ns
        return ordered

    @cached_property
    def attribution_ns(self) -> dict[str, Column] | None:
        """Columns of nanoseconds by cause; None where the drive cannot say."""
        if f"attr_{ATTRIBUTION_CAUSES[0]}_ns" not in self.columns:
            return None
        return {cause: self.columns[f"attr_{cause}_ns"] for cause in ATTRIBUTION_CAUSES}

    def select(self, rows: Column) -> Log:
        """Take rows by a boolean mask, indices or a slice."""
        return Log({name: column[rows] for name, column in self.columns.items()})

    @staticmethod
    def empty() -> Log:
        """Make a log without rows."""
        import numpy as np

        return Log({name: np.empty(0, kind) for name, kind in LOG_TYPES.items()})

    @staticmethod
    def concatenate(parts: Sequence[Log]) -> Log:
        """Join logs of one run, in order; at least one."""
        if len(parts) == 1:
            return parts[0]
        import numpy as np

        return Log(
            {
                name: np.concatenate([part.columns[name] for part in parts])
                for name in parts[0].columns
            }
        )
