"""How like a design is to the drive: both run the same workloads from the same state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import SsdscopeError
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import DIRECTIONS, counted, run_counted

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdscope.targets import Device
    from ssdscope.twin.design import Value

LABEL = "twin"
READS_LEAST, READ_BYTES = 60, 8 << 20
"""Reads that count of a workload in a fit, at least, and bytes beyond those. They change nothing,
so fewer than were measured are as good."""
DESIGN_S, FOLDED_PAGE_S = 5e-3, 110e-9
"""What it costs on one core to open a design, and more by page where a fast region is folded."""
REQUEST_S, PROGRAM_S = 1.3e-6, 150e-9
"""What a request costs, and a page that is programmed."""
OPEN_AT_ONCE = 4
"""Designs that are run side by side: of large drives each takes memory."""
READ_QUEUES = 2
"""Times the depth, of a deep queue."""


@dataclass(frozen=True)
class Measured:
    """One workload and its mean latency on the drive.

    Attributes
    ----------
    requests
        Of a burst: a write changes the state, so a design runs as many.
    """

    rw: str
    block_bytes: int
    iodepth: int
    requests: int
    mean_ns: float

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return "write" in self.rw

    @property
    def rate(self) -> float:
        """Requests in a nanosecond."""
        return self.iodepth / self.mean_ns

    def told(self) -> dict[str, Any]:
        """Give the workload and what was measured, as plain data."""
        keys = ("rw", "block_bytes", "iodepth", "mean_ns")
        return {key: getattr(self, key) for key in keys}


def measured(rows: Iterable[Mapping[str, Any]]) -> list[Measured]:
    """Take the rows of a survey that have numbers."""
    return [
        Measured(
            row["rw"],
            row["block_bytes"],
            row["iodepth"],
            max(1, row.get("requests", 400) // max(row.get("bursts") or 1, 1)),
            float(row["mean_ns"]),
        )
        for row in rows
        if row["mean_ns"]
    ]


def opened(values: Mapping[str, Value], seed: int) -> Device | None:
    """Open a drive with these values; None if no drive can have them."""
    try:
        return open_drive(drive_toml(values, []), LABEL, seed)
    except SsdscopeError:
        return None


@dataclass
class Allowance:
    """Simulated work that a search may still do.

    It is counted, not timed: what is found hangs on the seed, and not on the machine.

    Attributes
    ----------
    left_s
        About what it takes on one core.
    whole
        Of which it is a part, if it is one.
    """

    left_s: float
    whole: Allowance | None = None

    def part(self, share: float) -> Allowance:
        """Allow a share of what is left; what it does not need stays with the whole."""
        return Allowance(share * self.left_s, self)

    def spend(self, work_s: float) -> None:
        """Take away what was done."""
        self.left_s -= work_s
        if self.whole is not None:
            self.whole.spend(work_s)


def means_ns(
    device: Device,
    rows: Sequence[Measured],
    seed: int,
    *,
    whole: bool = False,
) -> npt.NDArray[np.float64]:
    """Run workloads, each on a copy of the drive; shape (n,), not a number where one fails.

    Parameters
    ----------
    whole
        Run as many reads as were measured, too.
    """
    with ThreadPoolExecutor(_cores()) as pool:
        return _gathered(_begun(pool, device, rows, seed, whole=whole))


def means_of_each(
    files: Sequence[Mapping[str, Value]], rows: Sequence[Measured], seed: int, allowance: Allowance
) -> list[npt.NDArray[np.float64]]:
    """Open drives and run the workloads on each; no numbers of one that no drive can be.

    Parameters
    ----------
    files
        Drives, as keys of a drive file.
    allowance
        What they took is taken from it.
    """
    # Opening and running are calls into Rust that let go of Python, so threads are enough.
    found = []
    with ThreadPoolExecutor(_cores()) as pool:
        for at in range(0, len(files), OPEN_AT_ONCE):
            some = files[at : at + OPEN_AT_ONCE]
            devices = list(pool.map(lambda values: opened(values, seed), some))
            begun = [
                None if device is None else _begun(pool, device, rows, seed, whole=False)
                for device in devices
            ]
            for values, device, running in zip(some, devices, begun, strict=True):
                if device is None or running is None:
                    found.append(np.full(len(rows), np.nan))
                    continue
                found.append(_gathered(running))
                programmed = sum(_programmed_bytes(copy) for copy, _ in running)
                programmed -= len(running) * _programmed_bytes(device)
                requests = sum(_count(row, whole=False) for row in rows)
                allowance.spend(_filled_s(device, values))
                allowance.spend(_run_s(int(values["nand.page_bytes"]), requests, programmed))
    return found


def _filled_s(device: Device, values: Mapping[str, Value]) -> float:
    """Tell what it takes to open a drive: page by page only where a fast region is folded."""
    if values["default_state"] == "fresh" or not any(key.startswith("pslc.") for key in values):
        return DESIGN_S
    return DESIGN_S + FOLDED_PAGE_S * device.info.capacity_bytes / int(values["nand.page_bytes"])


def _run_s(page_bytes: int, requests: int, programmed_bytes: int) -> float:
    return requests * REQUEST_S + programmed_bytes / page_bytes * PROGRAM_S


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def _begun(
    pool: ThreadPoolExecutor, device: Device, rows: Sequence[Measured], seed: int, *, whole: bool
) -> list[tuple[Device, Future[float]]]:
    """Start workloads, those first that take longest; give them in their order, with the copies."""
    started = {
        at: (copy := device.fork(), pool.submit(_mean, copy, rows[at], seed + at, whole))
        for at in sorted(range(len(rows)), key=lambda at: _effort(rows[at]), reverse=True)
    }
    return [started[at] for at in range(len(rows))]


def _gathered(running: Sequence[tuple[Device, Future[float]]]) -> npt.NDArray[np.float64]:
    return np.array([mean.result() for _, mean in running])


def _effort(row: Measured) -> tuple[bool, int]:
    """Tell which workloads take longest: random writes move more than they write."""
    return row.rw == "randwrite", row.requests * row.block_bytes * row.writes


def _programmed_bytes(device: Device) -> int:
    counters = device.counters() or {}
    return int(counters["flash_bytes_programmed"])


def _count(row: Measured, whole: bool) -> int:
    """Give how many requests of a workload are run."""
    if row.writes or whole:
        return row.requests
    most = max(READS_LEAST, READ_BYTES // row.block_bytes // 16, READ_QUEUES * row.iodepth)
    return min(row.requests, most, 400)


def _mean(device: Device, row: Measured, seed: int, whole: bool) -> float:
    plan = Workload(rw=row.rw, block_bytes=row.block_bytes, iodepth=row.iodepth, seed=seed)
    count = _count(row, whole)
    try:
        if row.iodepth == 1:
            # Where nothing overlaps the summary is enough, and a log takes time to keep.
            return device.run(replace(plan, requests=count)).only().latency_ns.mean
        log, _, _ = run_counted(device, counted(plan, count))
    except SsdscopeError:
        return float("nan")
    wanted = log.op == DIRECTIONS["write" if row.writes else "read"]
    latency = log.latency_ns[wanted].astype(float)
    return float(latency.mean()) if latency.size else float("nan")
