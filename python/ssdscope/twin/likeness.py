"""How like a design is to the drive: both run the same workloads from the same state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import SsdscopeError
from ssdscope.targets import work
from ssdscope.targets.copies import Course, Outcome, run_on_copies
from ssdscope.targets.crew import Crew
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import counted, stretch_latencies_ns

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

    @property
    def spent(self) -> bool:
        """Whether no more may be done."""
        return self.left_s <= 0

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
    ((means, _),) = _ran([device], rows, seed, whole=whole)
    return means


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
    # Opening is a call into Rust that lets go of Python, so threads are enough.
    found = []
    with Crew() as crew:
        for at in range(0, len(files), OPEN_AT_ONCE):
            some = files[at : at + OPEN_AT_ONCE]
            devices = list(crew.map(lambda values: opened(values, seed), some))
            ran = _ran([device for device in devices if device is not None], rows, seed)
            for values, device in zip(some, devices, strict=True):
                if device is None:
                    found.append(np.full(len(rows), np.nan))
                    continue
                means, worked_s = next(ran)
                found.append(means)
                allowance.spend(_filled_s(device, values) + worked_s)
    return found


def _filled_s(device: Device, values: Mapping[str, Value]) -> float:
    """Tell what it takes to open a drive: page by page only where a fast region is folded."""
    if values["default_state"] == "fresh" or not any(key.startswith("pslc.") for key in values):
        return DESIGN_S
    return DESIGN_S + FOLDED_PAGE_S * device.info.capacity_bytes / int(values["nand.page_bytes"])


def _ran(
    devices: Sequence[Device], rows: Sequence[Measured], seed: int, *, whole: bool = False
) -> Iterator[tuple[npt.NDArray[np.float64], float]]:
    """Run workloads on copies of drives; give the means of each drive, and the work it was."""
    # Those that take longest come first.
    order = sorted(range(len(rows)), key=lambda at: _effort(rows[at]), reverse=True)
    plans = {at: _plan(rows[at], seed + at, whole) for at in order}
    courses = [
        # Where nothing overlaps the summary is enough.
        Course(device, [plans[at]], logged=rows[at].iodepth > 1)
        for device in devices
        for at in order
    ]
    outcomes = run_on_copies(courses)
    for _ in devices:
        means, worked_s = np.full(len(rows), np.nan), 0.0
        for at, outcome in zip(order, outcomes, strict=False):
            means[at] = _mean(outcome, plans[at])
            worked_s += _worked_s(outcome)
        yield means, worked_s


def _effort(row: Measured) -> tuple[bool, int]:
    """Tell which workloads take longest: random writes move more than they write."""
    return row.rw == "randwrite", row.requests * row.block_bytes * row.writes


def _worked_s(outcome: Outcome) -> float:
    """Count what a workload cost, as far as it came."""
    done = list(outcome.results)
    if outcome.failure is not None and outcome.failure.partial is not None:
        done.append(outcome.failure.partial)
    return sum(work.of_run(each) for each in done)


def _count(row: Measured, whole: bool) -> int:
    """Give how many requests of a workload are run."""
    if row.writes or whole:
        return row.requests
    most = max(READS_LEAST, READ_BYTES // row.block_bytes // 16, READ_QUEUES * row.iodepth)
    return min(row.requests, most, 400)


def _plan(row: Measured, seed: int, whole: bool) -> Workload:
    plan = Workload(rw=row.rw, block_bytes=row.block_bytes, iodepth=row.iodepth, seed=seed)
    count = _count(row, whole)
    return replace(plan, requests=count) if row.iodepth == 1 else counted(plan, count)


def _mean(outcome: Outcome, plan: Workload) -> float:
    try:
        if outcome.log is None:
            return outcome.last.only().latency_ns.mean
        latencies = stretch_latencies_ns(outcome.last_log, plan)
    except SsdscopeError:
        return float("nan")
    return float(latencies.mean()) if latencies.size else float("nan")
