"""The 12,000 workloads of huang2011, and runs of them on a drive.

The paper gives the values of each characteristic and the count of runs, not the list. This is
the only reading that makes 12,000: five shares of writes, five sizes of writes and of reads and
four queue depths, each with 24 access patterns. Nine of those mix sequential and random places,
fifteen leave gaps instead; "the workloads use one access pattern at each time". Each run starts
at a random offset and ends when the mean latency is known to 1 %, or after the paper's minute.

At a share of 0 or 100 % one direction's characteristics mean nothing: `Vector.effective` blanks
them, which leaves 7,480 workloads that differ. A split for held-out data has to go by those.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.targets.device import Device
from ssdscope.targets.records import DeviceInfo, DirectionStats, RunResult
from ssdscope.workloads.workload import Workload

KIB = 1024
WRITE_RATIOS = (0, 25, 50, 75, 100)
SIZES_BYTES = tuple(kib * KIB for kib in (1, 4, 16, 64, 256))
DEPTHS = (1, 4, 16, 64)
RANDOM_PERCENTS = (0, 50, 100)
STRIDES_BYTES = tuple(kib * KIB for kib in (1, 64, 128, 256))

Progress = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""


@dataclass(frozen=True, order=True)
class Vector:
    """A workload of huang2011, by the paper's names.

    Attributes
    ----------
    wr_ratio
        Writes in a hundred requests.
    q_dep
        Requests in flight.
    wr_size, rd_size
        Bytes of a request.
    wr_rand, rd_rand
        Random places in a hundred requests of the direction.
    wr_stride, rd_stride
        Bytes from the end of a request to the start of the next of its direction.
    """

    wr_ratio: int
    q_dep: int
    wr_size: int
    rd_size: int
    wr_rand: int = 0
    rd_rand: int = 0
    wr_stride: int = 0
    rd_stride: int = 0

    def effective(self) -> "Vector":
        """Blank what no request of this workload shows."""
        if self.wr_ratio == 0:
            return replace(self, wr_size=0, wr_rand=0, wr_stride=0)
        if self.wr_ratio == 100:
            return replace(self, rd_size=0, rd_rand=0, rd_stride=0)
        return self

    def fits(self, info: DeviceInfo) -> bool:
        """Whether the drive takes such requests: whole blocks, and writes if there are any."""
        shown = self.effective()
        lengths = (shown.wr_size, shown.rd_size, shown.wr_stride, shown.rd_stride)
        aligned = all(length % info.logical_block_bytes == 0 for length in lengths)
        return aligned and (info.writable or self.wr_ratio == 0)

    def workload(self, stop: "Stop", seed: int, size_bytes: int | None = None) -> Workload:
        """Make the plan for the driver: on the whole drive, or on its first `size_bytes`."""
        return Workload(
            rw={0: "read", 100: "write"}.get(self.wr_ratio, "rw"),
            read_percent=100 - self.wr_ratio,
            iodepth=self.q_dep,
            read_block_bytes=self.rd_size,
            write_block_bytes=self.wr_size,
            read_percentage_random=self.rd_rand,
            write_percentage_random=self.wr_rand,
            read_stride_bytes=self.rd_stride,
            write_stride_bytes=self.wr_stride,
            random_start=True,
            size_bytes=size_bytes,
            until_ci=stop.until_ci,
            runtime_ns=stop.runtime_ns,
            ramp_requests=self._uncounted(stop.fill_bytes),
            seed=seed,
        )

    def _uncounted(self, fill_bytes: int) -> int:
        """Count the requests until so much is written; none where nothing is."""
        written_bytes = self.wr_ratio / 100 * self.wr_size
        if written_bytes == 0:
            return 0
        most = min(fill_bytes // LEAST_WRITTEN_BYTES, MOST_UNCOUNTED)
        return min(math.ceil(fill_bytes / written_bytes), most)


@dataclass(frozen=True)
class Stop:
    """When a run ends: whichever comes first.

    Attributes
    ----------
    until_ci
        The 95 % interval of the mean latency of each direction is within this share of it.
    runtime_ns
        Time on the drive's own clock.
    fill_bytes
        What is measured begins once so much was written, or after `MOST_UNCOUNTED` requests, as
        a buffer that fills tells nothing of a minute; `filling` measures how much it is.
    """

    until_ci: float = 0.01
    runtime_ns: int = 60_000_000_000
    fill_bytes: int = 0


PAPER_STOP = Stop()
FILLED_STOP = Stop(fill_bytes=4 * 1024 * KIB)
LEAST_WRITTEN_BYTES, MOST_UNCOUNTED = 512, 32_768
"""Runs that seldom write begin to count after so many requests: one for each 512 bytes that are to
be written, and never more than these."""
FILL_DEPTH, BUFFERED_BYTES = 8, 4096
"""How a large buffer is filled: writes at a time, and what one takes of it at least."""
FILL_PIECES, MOST_FILLS, FULL = 8, 3, 1.3
"""In so many pieces, and up to so many times as many, until one takes so many times as long as the
fastest: much may leave a buffer while it is filled, and yet less than comes in."""
USE = Workload(rw="randwrite", block_bytes=256 * KIB, requests=1024)
REST_NS = 60_000_000_000


@dataclass(frozen=True)
class Row:
    """A workload and what it came to, over reads and writes together.

    Attributes
    ----------
    read_p99_ns, write_p99_ns
        Of each direction, nearest-rank; None where there is none.
    ci_reached
        Whether the run ended because its mean was known well enough.
    failure
        Why there are no numbers, if there are none.
    """

    vector: Vector
    requests: int = 0
    latency_ns: float = float("nan")
    iops: float = float("nan")
    bandwidth_bytes_per_s: float = float("nan")
    elapsed_ns: int = 0
    read_p99_ns: int | None = None
    write_p99_ns: int | None = None
    ci_reached: bool = False
    failure: str = ""

    @property
    def little_deviation(self) -> float:
        """How far latency times rate is from the requests in flight, as a share of them.

        Little's law: in a closed loop they are equal, but for the queue filling and draining,
        when up to as many requests are missing as are in flight, of all that were counted.
        """
        share = self.latency_ns / 1e9 * self.iops / self.vector.q_dep
        least = 1 - self.vector.q_dep / max(self.requests, 1)
        return max(share - 1, least - share, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Flatten into one object, with the characteristics first."""
        values = asdict(self)
        return {**values.pop("vector"), **values}


def grid() -> list[Vector]:
    """List the 12,000 workloads, always in the same order."""
    random = [
        {"wr_rand": write, "rd_rand": read}
        for write, read in itertools.product(RANDOM_PERCENTS, repeat=2)
    ]
    gaps = [
        {"wr_stride": write, "rd_stride": read}
        for write, read in itertools.product(STRIDES_BYTES, repeat=2)
        if (write, read) != (KIB, KIB)
    ]
    return [
        Vector(wr_ratio, q_dep, wr_size, rd_size, **pattern)
        for wr_ratio, wr_size, rd_size, q_dep, pattern in itertools.product(
            WRITE_RATIOS, SIZES_BYTES, SIZES_BYTES, DEPTHS, [*random, *gaps]
        )
    ]


def subset(count: int, seed: int) -> list[Vector]:
    """Draw workloads of the grid, none twice, in the order of the grid."""
    every = grid()
    chosen = np.random.default_rng(seed).choice(len(every), size=count, replace=False)
    return [every[index] for index in sorted(chosen)]


def split(vectors: Sequence[Vector], info: DeviceInfo) -> tuple[list[Vector], int]:
    """Part what a drive can run from what it cannot.

    Returns
    -------
    runnable, skipped
        The workloads that fit, and how many do not: those of 1 KB on a drive of 4 KiB blocks,
        those that write where writing is not allowed.
    """
    runnable = [vector for vector in vectors if vector.fits(info)]
    return runnable, len(vectors) - len(runnable)


def use(device: Device, seed: int) -> None:
    """Write to a drive what leaves it as one that has been measured for a while.

    In the paper one run followed the other on the same drive. Copies of a drive that was only
    filled would each find its log blocks free, and be faster for the first seconds than it can
    be later. So 1,024 random writes of 256 KB come first, and a minute in which buffers empty.
    """
    device.run(replace(USE, seed=seed)).whole()
    device.idle(REST_NS)


def run(
    device: Device,
    vectors: Sequence[Vector],
    *,
    seed: int,
    stop: Stop = PAPER_STOP,
    size_bytes: int | None = None,
    jobs: int = -1,
    progress: Progress = lambda _done, _of: None,
) -> Iterator[Row]:
    """Run workloads on a drive.

    Parameters
    ----------
    device
        The drive, in the state that each run is to begin in. If it can be forked, each run
        gets a copy of its own; otherwise one run follows the other, as in the paper.
    vectors
        What to run; all must fit (`split`).
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
    from joblib import Parallel, delayed

    alone = not device.info.snapshot
    # A run is one call into Rust that lets go of Python, so threads are enough.
    workers = Parallel(n_jobs=1 if alone else jobs, prefer="threads", return_as="generator")
    if size_bytes is not None and size_bytes >= device.info.capacity_bytes:
        size_bytes = None
    tasks = (
        delayed(measure)(
            device if alone else device.fork(), vector, stop, run_seed(seed, vector), size_bytes
        )
        for vector in vectors
    )
    rows = workers(tasks)
    try:
        for done, row in enumerate(rows, start=1):
            progress(done, len(vectors))
            yield row
    finally:
        rows.close()


def measure(
    device: Device, vector: Vector, stop: Stop, seed: int, size_bytes: int | None = None
) -> Row:
    """Run one workload; where there is a large buffer, its own writes fill that first.

    Mixed with reads they may need minutes to. Once it is full, a workload that keeps it full shows
    that at once, and any other empties it soon.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C: half a run is not what the caller asked for.
    """
    try:
        if vector.wr_ratio and stop.fill_bytes > FILLED_STOP.fill_bytes:
            writes = replace(vector, wr_ratio=100, q_dep=FILL_DEPTH)
            _fill(device, writes.workload(PAPER_STOP, seed, size_bytes), stop.fill_bytes)
        return _row(vector, device.run(vector.workload(stop, seed, size_bytes)).whole())
    except DeviceError as error:
        return Row(vector, failure=error.message)


def _fill(device: Device, writes: Workload, fill_bytes: int) -> None:
    """Write until a buffer is full, in other places than what is measured will."""
    taken_bytes = max(writes.write_block_bytes or 0, BUFFERED_BYTES)
    count = math.ceil(fill_bytes / taken_bytes / FILL_PIECES)
    fastest_ns = math.inf
    for piece in range(1, 1 + FILL_PIECES * MOST_FILLS):
        plan = replace(writes, until_ci=None, requests=count, seed=writes.seed + piece)
        took_ns = device.run(plan).whole().elapsed_ns
        if took_ns > FULL * fastest_ns:
            return
        fastest_ns = min(fastest_ns, took_ns)


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Average latency, IOPS and bandwidth over runs, as the paper's tables do; failures left out.

    Returns
    -------
    dict
        ``latency_ns, iops, bandwidth_bytes_per_s``.
    """
    fine = [row for row in rows if not row.failure]
    names = ("latency_ns", "iops", "bandwidth_bytes_per_s")
    return {name: float(np.mean([getattr(row, name) for row in fine])) for name in names}


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


def run_seed(seed: int, vector: Vector) -> int:
    """Give each workload a seed of its own, whichever others run beside it."""
    place = np.random.SeedSequence([seed, *astuple(vector)])
    return int(place.generate_state(1, np.uint64)[0] >> np.uint64(12))


COLUMNS = tuple(each.name for each in fields(Vector))
"""Names of the characteristics, in the order of a `Vector`."""
