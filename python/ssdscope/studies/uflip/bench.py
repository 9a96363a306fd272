"""A target under uFLIP: brought into a random state, and each experiment run and added up.

A drive that can be copied is copied for each experiment, so that none finds what another has left.
On any other, writes in order go to a stretch of their own each, and when the target has been used
up it is written at random again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.errors import DeviceError, UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies.uflip.benchmarks import (
    MIB,
    PATTERNS,
    WRITING,
    Benchmark,
    Room,
    baseline,
    series_patterns,
)
from ssdscope.studies.uflip.phases import (
    MOST_COUNT,
    TRACE_REQUESTS,
    Counts,
    Phases,
    counts,
    find_phases,
)
from ssdscope.targets import Target
from ssdscope.targets.records import OP_WRITE, Log
from ssdscope.workloads import Flows, Workload
from ssdscope.workloads.flows import workloads_of
from ssdscope.workloads.preconditioning import fill_sequentially

LEAST_BYTES = 64 * MIB
"""Enough for the longest run of writes in order not to come by a place twice."""
LARGEST_BYTES = 128 << 10
"""The random state is of writes of random sizes up to this, which was a flash block in 2008."""
STATE_BYTES = 4 << 30
"""The most that is written at random: as much as the target holds, if that is less."""
STATE_PIECE = 16_384
REST_NS = 200_000_000
"""Between two runs on a drive that cannot be copied, so that one is over before the next."""
RUN_NS = 10_000_000_000
"""The longest run where time is real, and the longest that is left out before it."""
PAUSED_NS = 2_000_000_000
"""The most of it that is pauses."""


@dataclass(frozen=True)
class Point:
    """Response times of one experiment."""

    mean_ns: float
    low_ns: float
    high_ns: float
    requests: int


Points = dict[str, dict[float, Point]]
"""By series, and by the value of the parameter."""


class Bench:
    """One target, and everything that is measured on it.

    Parameters
    ----------
    target
        Open; where it may not be written to, reads alone are made.
    traced
        Requests of each pattern that tell its phases.
    most
        Of an experiment.
    rest_ns
        Between two runs on a drive that cannot be copied.
    """

    def __init__(
        self,
        target: Target,
        seed: int,
        traced: int = TRACE_REQUESTS,
        most: int = MOST_COUNT,
        rest_ns: int = REST_NS,
    ) -> None:
        self._device = target.device
        self._seed, self._traced, self._most, self._rest_ns = seed, traced, most, rest_ns
        self.capacity_bytes = target.capacity_bytes // MIB * MIB
        self._cursor = 0
        self._is_ready = False
        self._traces: dict[str, npt.NDArray[np.float64]] = {}
        self._points: dict[str, Points] = {}
        self.failures: dict[str, str] = {}

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the target allows."""
        writable = self._device.info.writable
        return tuple(each for each in PATTERNS if writable or each not in WRITING)

    def traces(self, progress: StageProgress) -> Mapping[str, npt.NDArray[np.float64]]:
        """Give the response times of a long run of each pattern, one by one."""
        if not self._traces:
            self._prepare(progress)
            none = Counts(dict.fromkeys(PATTERNS, 0), self._traced)
            room = self._room(none)
            self._traces = {name: self._latencies(baseline(name, room)) for name in self.patterns}
        return self._traces

    def phases(self, progress: StageProgress) -> dict[str, Phases]:
        """Give the phases of each pattern."""
        return {name: find_phases(each) for name, each in self.traces(progress).items()}

    def measure(self, name: str, benchmark: Benchmark, progress: StageProgress) -> Points:
        """Run a micro-benchmark, once; what could not be run is among the failures."""
        if name not in self._points:
            chosen = counts(self.phases(progress))
            room = self._room(replace(chosen, count=min(chosen.count, self._most)))
            self._points[name] = self._measure(name, benchmark, room, progress)
        return self._points[name]

    def _measure(
        self, name: str, benchmark: Benchmark, room: Room, progress: StageProgress
    ) -> Points:
        asked = [
            (series, value)
            for series, values in benchmark.values.items()
            if set(series_patterns(series)) <= set(self.patterns)
            for value in values
        ]
        points: Points = {}
        for done, (series, value) in enumerate(asked):
            progress(name, done / len(asked))
            plan = benchmark.build(series, value, room)
            if plan is None:
                continue
            where = f"{name}: {series} at {benchmark.label(value)}"
            unit_bytes = self._device.info.logical_block_bytes
            if _cuts_blocks(plan, unit_bytes):
                self.failures[where] = f"the drive reads and writes blocks of {unit_bytes:,} bytes"
                continue
            try:
                latencies = self._latencies(plan)
            except (DeviceError, UsageError) as error:
                self.failures[where] = error.message.replace("\n", "; ")
                continue
            points.setdefault(series, {})[value] = _point(latencies)
        return points

    def _room(self, chosen: Counts) -> Room:
        is_real = self._device.info.clock == "wall"
        return Room(self.capacity_bytes, chosen, self._seed, PAUSED_NS if is_real else None)

    def _prepare(self, progress: StageProgress) -> None:
        if self._is_ready or not self._device.info.writable:
            return
        progress("random state", 0.0)
        fill_sequentially(self._device, size_bytes=self.capacity_bytes).whole()
        self._write_at_random(progress)
        self._is_ready = True

    def _write_at_random(self, progress: StageProgress | None = None) -> None:
        """Write sizes of a block to 128 KB anywhere, as much as the target holds."""
        unit = self._device.info.logical_block_bytes
        rng = stream(self._seed, "studies.uflip.random_state")
        left = most = min(self.capacity_bytes, STATE_BYTES)
        while left > 0:
            sizes = rng.integers(1, LARGEST_BYTES // unit + 1, STATE_PIECE) * unit
            sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), left)) + 1]
            starts = rng.integers(0, (self.capacity_bytes - sizes) // unit + 1) * unit
            self._device.run_list(np.full(len(sizes), OP_WRITE), starts, sizes)
            left -= int(sizes.sum())
            if progress is not None:
                progress("random state", 1 - max(left, 0) / most)

    def _latencies(self, plan: Workload | Flows) -> npt.NDArray[np.float64]:
        """Run an experiment; the response times that count, in the order of the requests.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C.
        """
        device = self._device
        if device.info.snapshot:
            device = device.fork()
        elif isinstance(plan, Workload):
            plan = self._apart(plan)
        if device.info.clock == "wall":
            plan = _limited(plan)
            if device.info.writable:
                device.idle(self._rest_ns)
        parts: list[Log] = []
        run = device.run_flows if isinstance(plan, Flows) else device.run
        run(plan, chunk=parts.append).whole()
        log = Log.concatenate(parts) if parts else Log.empty()
        served = log.select(log.columns["error"] == 0)
        if not len(served):
            raise DeviceError("no request was served")
        order = np.argsort(served.columns["index"])
        return served.latency_ns[order].astype(float)

    def _apart(self, plan: Workload) -> Workload:
        """Move what is written in a small stretch to one that nothing has been written to."""
        extent = plan.offset_bytes + (plan.size_bytes or self.capacity_bytes)
        extent += (plan.numjobs - 1) * plan.offset_increment_bytes
        if not plan.writes or extent > self.capacity_bytes // 2:
            return plan
        if self._cursor + extent > self.capacity_bytes:
            self._write_at_random()
            self._cursor = 0
        moved = replace(plan, offset_bytes=plan.offset_bytes + self._cursor)
        self._cursor += -(-extent // MIB) * MIB
        return moved


def _cuts_blocks(plan: Workload | Flows, unit_bytes: int) -> bool:
    """Whether a request would begin or end within a block of the drive."""
    return any(
        bytes_ % unit_bytes
        for each in workloads_of(plan)
        for bytes_ in (each.block_bytes, each.offset_bytes)
    )


def _limited(plan: Workload | Flows) -> Workload | Flows:
    """End a run where it would take too long."""
    if isinstance(plan, Workload):
        return _shortened(plan)
    flows = (replace(flow, workload=_shortened(flow.workload)) for flow in plan.flows)
    return replace(plan, flows=tuple(flows))


def _shortened(plan: Workload) -> Workload:
    ramp_ns = RUN_NS if plan.ramp_requests else None
    return replace(plan, runtime_ns=RUN_NS, ramp_ns=ramp_ns)


def _point(latencies: npt.NDArray[np.float64]) -> Point:
    mean = stats.correlated_mean(latencies) or stats.mean_interval(latencies)
    return Point(mean.mean, max(mean.low, 0.0), mean.high, len(latencies))
