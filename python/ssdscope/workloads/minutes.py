"""A trace on a drive, minute by minute: what came, and how the drive did.

What is too short for minutes may be cut into shorter intervals; all that is said of minutes holds
for these.

The trace is replayed in an open loop: each request at its own time, whether or not those before
it were served. `Scenario` describes what came, once for all drives; `measure` adds a drive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import DeviceError, UsageError
from ssdscope.targets.device import Device, ProgressCallback
from ssdscope.targets.records import Log
from ssdscope.targets.traces import TraceOptions, TraceRows, is_synthetic, read_trace
from ssdscope.workloads.replaying import ReplayOptions
from ssdscope.workloads.windows import MINUTE_NS, SECOND_NS, Table, window_features
from ssdscope.workloads.windows.segments import Windows

Floats = npt.NDArray[np.float64]
TARGETS = ("latency_ns", "bandwidth_bytes_per_s", "iops")
"""What a drive is measured by. Latency is the mean of the requests that arrive in the minute,
the other two count those that are served in it."""

WHOLE = 0.99
"""A last minute that has requests until so much of it is over is a whole one."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """A trace that is to be replayed, and its minutes as far as they need no drive.

    Attributes
    ----------
    rows
        Its requests, at the times of the replay.
    table
        Features of its minutes, nothing measured among them.
    about
        What the trace is, as `read_trace` tells it.
    interval_ns
        What counts as a minute.
    """

    path: str
    options: ReplayOptions
    rows: TraceRows
    table: Table
    about: dict[str, Any]
    interval_ns: int = MINUTE_NS

    @classmethod
    def read(
        cls, path: str, options: ReplayOptions, least: int = 0, shorter_ns: Sequence[int] = ()
    ) -> Self:
        """Read a trace into memory.

        Parameters
        ----------
        least, shorter_ns
            If it has fewer whole minutes than `least`, it is cut into the first of these intervals
            that gives so many, or else the last of them.

        Raises
        ------
        UsageError
            If the replay is to be anything but an open loop.
        TraceError
            If the trace cannot be read.
        """
        if options.mode != "open":
            raise UsageError("minutes are those of the trace: they need --mode open")
        same = {each.name: getattr(options, each.name) for each in fields(TraceOptions)}
        trace = read_trace(path, TraceOptions(**same))
        rows = trace.rows
        if options.time_scale != 1:
            times = (rows.arrival_ns * options.time_scale).astype(np.uint64)
            rows = replace(rows, arrival_ns=times)
        interval_ns = _interval_ns(rows, least, shorter_ns)
        unknown = np.full(len(rows), np.nan)
        table = window_features(rows, window_ns=interval_ns, measured_latency_ns=unknown)
        return cls(path, options, rows, table, trace.about, interval_ns)

    @property
    def synthetic(self) -> bool:
        """Whether the trace says of itself that it was made up."""
        return is_synthetic(self.about)


def _interval_ns(rows: TraceRows, least: int, shorter_ns: Sequence[int]) -> int:
    lasts_ns = int(rows.arrival_ns[-1]) if len(rows) else 0
    enough = (each for each in (MINUTE_NS, *shorter_ns) if lasts_ns >= (least - 1 + WHOLE) * each)
    return next(enough, shorter_ns[-1] if shorter_ns else MINUTE_NS)


@dataclass(frozen=True, eq=False)
class Minutes:
    """The whole minutes of a trace on a drive, in order.

    Attributes
    ----------
    features
        Columns of `windows.FEATURES`. Nothing in them was measured but ``previous_latency_ns``,
        of what the drive had served when the minute began, in the minute before, and ``q_dep``,
        the rate times that (Little's law).
    targets
        Columns of `TARGETS`; NaN or 0 where nothing was asked, or served.
    settled
        Whether the requests of a minute were served within a second of its end, so that its
        latency is known in the next; booleans.
    """

    features: Table
    targets: dict[str, Floats]
    settled: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.targets["iops"])

    def part(self, begin: int, end: int) -> "Minutes":
        """Take minutes from `begin` to before `end`."""
        return Minutes(
            {name: column[begin:end] for name, column in self.features.items()},
            {name: column[begin:end] for name, column in self.targets.items()},
            self.settled[begin:end],
        )


def measure(
    device: Device, scenario: Scenario, progress: ProgressCallback | None = None
) -> tuple[Minutes, dict[str, Any]]:
    """Replay a trace on a drive.

    Returns
    -------
    Minutes
        Of the trace's time; a last one that the trace does not fill is left out.
    dict
        What happened to the trace on this drive, as ``summary["trace"]`` of a replay.

    Raises
    ------
    DeviceError
        If the drive did not serve the whole trace.
    """
    parts: list[Log] = []
    result = device.replay(scenario.path, scenario.options, progress=progress, chunk=parts.append)
    result.whole()
    log = Log.concatenate(parts) if parts else Log.empty()
    if len(log) != len(scenario.rows):
        raise DeviceError(f"{len(log):,} of {len(scenario.rows):,} requests were logged")
    return _minutes(log.select(np.argsort(log.index)), scenario), result.summary["trace"]


def _minutes(log: Log, scenario: Scenario) -> Minutes:
    """Put a log, in the order of the trace, into minutes."""
    served = log.error == 0
    latency = np.where(served, log.latency_ns.astype(np.float64), np.nan)
    windows = Windows(scenario.rows.arrival_ns, scenario.interval_ns)
    whole = windows.covered >= WHOLE
    start = int(log.submit_ns[0]) - int(scenario.rows.arrival_ns[0])
    ended = (log.complete_ns - start) // scenario.interval_ns
    # What is served after the trace's end belongs to none of its minutes.
    timely = served & (ended < windows.count)
    targets = {
        "latency_ns": windows.mean(latency[served], windows.of[served]),
        "bandwidth_bytes_per_s": windows.per_second(windows.sum(log.bytes[timely], ended[timely])),
        "iops": windows.per_second(windows.number(ended[timely])),
    }
    # A request that was still waiting when the minute began is none of its history.
    before = windows.mean(latency[timely], ended[timely])
    table = scenario.table | {"previous_latency_ns": np.append(np.nan, before[:-1])}
    table["q_dep"] = table["iops"] * table["previous_latency_ns"] / 1e9
    late = windows.sum(log.complete_ns - start > _ends(windows) + SECOND_NS)
    return Minutes(
        {name: column[whole] for name, column in table.items()},
        {name: column[whole] for name, column in targets.items()},
        late[whole] == 0,
    )


def _ends(windows: Windows) -> npt.NDArray[np.int64]:
    """Give each request the end of its minute."""
    ends: npt.NDArray[np.int64] = (windows.of + 1) * windows.window_ns
    return ends
