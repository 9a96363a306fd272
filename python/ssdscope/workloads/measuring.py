"""Runs of workloads of `grid` on a drive, each from the same state if the drive can be copied.

Where a drive has a large buffer, a run begins with that full of what it writes (`filling`). Runs
that write alike, and come near each other (`alike_together`), begin on copies of one drive that was
filled so, and the last of them on that drive itself: the grid writes in 30 ways, points that are
spread evenly in a way of their own each.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Lock

from ssdscope.errors import DeviceError
from ssdscope.targets.copies import Course, Outcome, run_on_copies
from ssdscope.targets.crew import Crew
from ssdscope.targets.device import Device
from ssdscope.targets.records import DirectionStats, RunResult
from ssdscope.workloads.filling import begins_full, fill, filler, turn_over
from ssdscope.workloads.grid import PAPER_STOP, Drawn, Row, Stop, Vector

KEPT = 8
"""Full drives that are kept for the next runs; each may take as much memory as its buffer."""
Progress = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""


def run(
    device: Device,
    vectors: Sequence[Vector],
    *,
    seed: int,
    stop: Stop = PAPER_STOP,
    size_bytes: int | None = None,
    jobs: int = -1,
    progress: Progress = lambda _done, _of: None,
) -> Generator[Row, None, None]:
    """Run workloads on a drive.

    Parameters
    ----------
    device
        The drive, in the state that each run is to begin in. If it can be forked, each run
        gets a copy of its own; otherwise one run follows the other, as in the paper.
    vectors
        What to run; all must fit (`grid.split`).
    seed
        Of every run; two workloads never share one.
    stop
        When each run ends.
    size_bytes
        Requests fall into so many bytes from the drive's start on; into all of it if None, or
        if it holds fewer.
    jobs
        Runs at a time on copies of the drive; -1 for all cores.
    progress
        Called after each run.

    Yields
    ------
    Row
        One per workload, in order. A run in which the drive fails has the reason in it.

    Raises
    ------
    UsageError
        If a workload does not fit the drive.
    """
    if size_bytes is not None and size_bytes >= device.info.capacity_bytes:
        size_bytes = None
    drawn = [Drawn(vector, seed) for vector in vectors]
    if device.info.snapshot:
        rows = on_copies(device, drawn, stop, size_bytes, jobs)
    else:
        rows = (measure(device, each, stop, size_bytes) for each in drawn)
    with closing(rows):
        for done, row in enumerate(rows, start=1):
            progress(done, len(vectors))
            yield row


def on_copies(
    device: Device,
    drawn: Sequence[Drawn],
    stop: Stop,
    size_bytes: int | None = None,
    jobs: int = -1,
) -> Generator[Row, None, None]:
    """Run each on a copy of a drive, several at a time; rows come in order.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C: half a run is not what the caller asked for.
    """
    if stop.full:
        return _on_full_copies(device, drawn, stop, size_bytes, jobs)
    return on_copies_of([device] * len(drawn), drawn, stop, size_bytes, jobs)


def on_copies_of(
    devices: Sequence[Device],
    drawn: Sequence[Drawn],
    stop: Stop,
    size_bytes: int | None = None,
    jobs: int = -1,
) -> Generator[Row, None, None]:
    """Run each on a copy of a drive of its own, where no large buffer is to be filled first."""
    courses = [
        Course(device, [each.plan(stop, size_bytes)])
        for device, each in zip(devices, drawn, strict=True)
    ]
    with closing(run_on_copies(courses, jobs=jobs)) as outcomes:
        for each, outcome in zip(drawn, outcomes, strict=True):
            yield _row_of(each.vector, outcome)


def _row_of(vector: Vector, outcome: Outcome) -> Row:
    try:
        return _row(vector, outcome.last.whole())
    except DeviceError as error:
        return Row(vector, failure=error.message)


def _on_full_copies(
    device: Device, drawn: Sequence[Drawn], stop: Stop, size_bytes: int | None, jobs: int
) -> Generator[Row, None, None]:
    """Fill buffers and run, on threads: runs that write alike wait for one to fill the buffer."""
    copies = _Copies(device, drawn, stop, size_bytes)
    # A run is one call into Rust that lets go of Python, so threads are enough.
    with Crew(jobs if jobs > 0 else None) as crew:
        yield from crew.map(copies.measure, drawn)


def alike_together(drawn: Sequence[Drawn]) -> list[int]:
    """Give the order in which runs that write alike come next to each other, else as they are."""
    first: dict[Drawn, int] = {}
    for place, each in enumerate(drawn):
        first.setdefault(filler(each), place)
    return sorted(range(len(drawn)), key=lambda place: first[filler(drawn[place])])


def measure(device: Device, drawn: Drawn, stop: Stop, size_bytes: int | None = None) -> Row:
    """Run one workload on the drive itself; what it writes fills a large buffer first.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C.
    """
    try:
        if begins_full(drawn, stop):
            fill(device, drawn, stop, size_bytes)
        return _counted(device, drawn, stop, size_bytes)
    except DeviceError as error:
        return Row(drawn.vector, failure=error.message)


@dataclass
class _Full:
    """A drive whose buffer is full of one kind of writes."""

    lock: Lock = field(default_factory=Lock)
    device: Device | None = None


class _Copies:
    """Copies of a drive for runs on several threads; those that write alike share a full one."""

    def __init__(
        self, device: Device, drawn: Sequence[Drawn], stop: Stop, size_bytes: int | None
    ) -> None:
        self._device, self._lock = device, Lock()
        self._stop, self._size_bytes = stop, size_bytes
        self._to_come = Counter(filler(each) for each in drawn if begins_full(each, stop))
        self._full: dict[Drawn, _Full] = {}

    def measure(self, drawn: Drawn) -> Row:
        """Run one workload on a copy of its own."""
        try:
            return _counted(self._copy(drawn), drawn, self._stop, self._size_bytes)
        except DeviceError as error:
            return Row(drawn.vector, failure=error.message)

    def _copy(self, drawn: Drawn) -> Device:
        if not begins_full(drawn, self._stop):
            return self._fork()
        writes = filler(drawn)
        full = self._kept(writes)
        with full.lock:
            if full.device is None:
                device = self._fork()
                fill(device, drawn, self._stop, self._size_bytes)
                full.device = device
            return full.device if self._is_last(writes) else full.device.fork()

    def _kept(self, writes: Drawn) -> _Full:
        with self._lock:
            full = self._full.pop(writes, None) or _Full()
            self._full[writes] = full
            while len(self._full) > KEPT:
                del self._full[next(iter(self._full))]
            return full

    def _is_last(self, writes: Drawn) -> bool:
        """Count a run off, and say whether nobody wants a drive full of its writes after it."""
        with self._lock:
            self._to_come[writes] -= 1
            if self._to_come[writes] > 0:
                return False
            self._full.pop(writes, None)
            return True

    def _fork(self) -> Device:
        with self._lock:
            return self._device.fork()


def _counted(device: Device, drawn: Drawn, stop: Stop, size_bytes: int | None) -> Row:
    turn_over(device, drawn, stop, size_bytes)
    return _row(drawn.vector, device.run(drawn.plan(stop, size_bytes)).whole())


def _row(vector: Vector, result: RunResult) -> Row:
    served = [each for each in (result.read, result.write) if each is not None]
    requests = sum(each.requests for each in served)
    if requests == 0 or result.elapsed_ns == 0:
        return Row(vector, failure="no request was served in the time allowed")
    seconds = result.elapsed_ns / 1e9
    return Row(
        vector,
        requests=requests,
        latency_ns=sum(map(_time_ns, served)) / requests,
        iops=requests / seconds,
        bandwidth_bytes_per_s=sum(each.bytes for each in served) / seconds,
        elapsed_ns=result.elapsed_ns,
        read_p99_ns=None if result.read is None else result.read.latency_ns.p99,
        write_p99_ns=None if result.write is None else result.write.latency_ns.p99,
        ci_reached=result.summary.get("until_ci_reached") is True,
    )


def _time_ns(direction: DirectionStats) -> float:
    return direction.requests * direction.latency_ns.mean
