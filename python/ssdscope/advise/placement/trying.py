"""Workloads tried on a simulated drive that they share: what each of them sees."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssdscope import stats
from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.requests import merged
from ssdscope.advise.placement.workloads import Load
from ssdscope.errors import UsageError
from ssdscope.stats.correlated import correlated_mean, supported
from ssdscope.targets import Device, Snapshot
from ssdscope.workloads.grid import use

WARM_UP = 0.1
"""Share of a stretch whose requests do not count: queues and buffers fill meanwhile."""
KEEPS_UP = 1.05
"""A drive keeps up if it has served all requests by so many times the stretch."""


@dataclass(frozen=True)
class Seen:
    """What a workload sees of a drive.

    Attributes
    ----------
    requests
        That count.
    mean_ns, low_ns, high_ns
        Mean latency and its interval, 95 % of a simulated one, 90 % of a model; the ends are
        None where too few requests were made.
    p99_ns
        None for fewer than ten requests beyond it.
    """

    requests: int
    mean_ns: float
    low_ns: float | None = None
    high_ns: float | None = None
    p99_ns: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Tried:
    """What became of workloads on a drive that they shared.

    Attributes
    ----------
    seen
        By workload, in their order; None for one that made no request that counts.
    keeps_up
        Whether the drive served requests as fast as they came.
    waf
        Flash bytes programmed for each byte that the host wrote; None if nobody says.
    source
        As of the drive.
    """

    seen: tuple[Seen | None, ...]
    keeps_up: bool
    waf: float | None
    source: str


class Trials:
    """A drive that workloads are tried on, each time in the same state: one that was in use.

    Parameters
    ----------
    drive
        What is tried; its simulated drive is opened when it is first needed.
    seed
        Of the requests.
    """

    def __init__(self, drive: Drive, seed: int) -> None:
        self.drive = drive
        self.seed = seed
        self._in_use: Snapshot | None = None

    def _device(self) -> Device:
        opened = self.drive.opened
        if opened is None:
            raise UsageError(f"{self.drive.name} has no twin to try workloads on")
        device = opened.device
        if self._in_use is None:
            if device.info.writable:
                use(device, self.seed)
            self._in_use = device.snapshot()
        device.restore(self._in_use)
        return device

    def run(self, loads: Sequence[Load], half: int, duration_ns: int) -> Tried:
        """Run a stretch of several workloads at the same time.

        Parameters
        ----------
        loads
            At least one; together they fit the drive.
        half, duration_ns
            Which half of each, and how much of it.

        Raises
        ------
        UsageError
            If requests are not whole blocks of the drive.
        DeviceError
            If the drive fails.
        """
        device = self._device()
        unit = device.info.logical_block_bytes
        parts = [each.requests(half, duration_ns, unit, self.seed) for each in loads]
        sizes = [each.size_bytes for each in loads]
        shared = merged(parts, sizes, device.info.capacity_bytes)
        asked = shared.requests
        before = device.counters()
        log = device.run_list(
            asked.op, asked.offset_bytes, asked.bytes, arrivals_ns=asked.arrival_ns
        )
        taken_ns = int(log.complete_ns.max() - log.submit_ns.min()) if len(log) else 0
        latency = np.empty(len(asked))
        latency[log.index] = log.latency_ns
        counts = asked.arrival_ns >= WARM_UP * duration_ns
        return Tried(
            tuple(_seen(latency[counts & (shared.owner == n)]) for n in range(len(loads))),
            taken_ns <= KEEPS_UP * duration_ns,
            _waf(before, device.counters()),
            self.drive.source,
        )


def _seen(latency_ns: np.ndarray) -> Seen | None:
    """Sum up latencies in the order of arrival."""
    if not len(latency_ns):
        return None
    interval = correlated_mean(latency_ns)
    low, high = (None, None) if interval is None else (max(0.0, interval.low), interval.high)
    tail = stats.nearest_rank(latency_ns, 99) if supported(99, len(latency_ns)) else None
    return Seen(len(latency_ns), float(latency_ns.mean()), low, high, tail)


def _waf(before: dict[str, Any] | None, after: dict[str, Any] | None) -> float | None:
    if before is None or after is None:
        return None
    host, flash = (
        after.get(name, 0) - before.get(name, 0)
        for name in ("host_bytes_written", "flash_bytes_programmed")
    )
    return flash / host if host > 0 else None
