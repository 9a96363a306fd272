"""The 12,000 workloads of huang2011, when a run of one ends, and what it comes to.

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
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from ssdscope.seeds import stream
from ssdscope.targets.device import Device
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads.workload import Workload

KIB = 1024
WRITE_RATIOS = (0, 25, 50, 75, 100)
SIZES_BYTES = tuple(kib * KIB for kib in (1, 4, 16, 64, 256))
DEPTHS = (1, 4, 16, 64)
RANDOM_PERCENTS = (0, 50, 100)
STRIDES_BYTES = tuple(kib * KIB for kib in (1, 64, 128, 256))
PATTERNS = len(RANDOM_PERCENTS) ** 2 + len(STRIDES_BYTES) ** 2 - 1


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
            io_bytes=stop.most_bytes,
            ramp_requests=self.uncounted(stop),
            ramp_ns=MIXED_NS if stop.full and 0 < self.wr_ratio < 100 else None,
            seed=seed,
        )

    def uncounted(self, stop: "Stop") -> int:
        """Count the requests until so much is written; none where nothing is."""
        if self.wr_ratio == 0:
            return 0
        fill_bytes, taken_bytes = float(stop.fill_bytes), self.wr_size
        if stop.full:
            fill_bytes *= 1 if self.wr_stride else TURNED_OVER
            taken_bytes = max(taken_bytes, BUFFERED_BYTES)
        most = min(stop.fill_bytes // LEAST_WRITTEN_BYTES, MOST_UNCOUNTED)
        return min(math.ceil(fill_bytes / (self.wr_ratio / 100 * taken_bytes)), most)


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
        a buffer that fills tells nothing of a minute; `filling` measures how much it is. A large
        buffer was filled before: `TURNED_OVER` says how much of it is written then, and
        `MIXED_NS` for how long with reads among that.
    most_bytes
        What is moved while it is measured.
    """

    until_ci: float = 0.01
    runtime_ns: int = 60_000_000_000
    fill_bytes: int = 0
    most_bytes: int | None = None

    @property
    def full(self) -> bool:
        """Whether a large buffer was seen, with which full a run begins that writes."""
        return self.fill_bytes > FILLED_STOP.fill_bytes


class Drawn(NamedTuple):
    """A workload, and a seed that it shares with all that are drawn together."""

    vector: Vector
    seed: int

    def plan(self, stop: Stop, size_bytes: int | None = None) -> Workload:
        """Make the plan for the driver, with a seed of its own, whichever others run beside it."""
        place = np.random.SeedSequence([self.seed, *astuple(self.vector)])
        seed = int(place.generate_state(1, np.uint64)[0] >> np.uint64(12))
        return self.vector.workload(stop, seed, size_bytes)


PAPER_STOP = Stop()
FILLED_STOP = Stop(fill_bytes=4 * 1024 * KIB)
LEAST_WRITTEN_BYTES, MOST_UNCOUNTED = 512, 32_768
"""Runs that seldom write begin to count after so many requests: one for each 512 bytes that are to
be written, and never more than these."""
BUFFERED_BYTES = 4096
"""Of a large buffer, that a write takes at least."""
TURNED_OVER = 0.5
"""Of what fills a buffer: written, after it was filled, before anything counts. Writes with gaps
come round to what it still holds, and all of it is written."""
MIXED_NS = 5_000_000_000
"""How long a workload that reads as well goes on before it counts, once its writes alone have
turned over so much of a buffer: reads leave that as it is, and may need minutes."""
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
    chosen = stream(seed, "workloads.grid.subset").choice(len(every), size=count, replace=False)
    return [every[index] for index in sorted(chosen)]


def one_pattern_each(seed: int) -> list[Vector]:
    """Draw one access pattern for every share of writes, sizes and depth: 500 workloads.

    Patterns are dealt like cards, all of them before any comes again. A mean over these workloads
    is two to nine times nearer to that of the grid than one over as many drawn at random.
    """
    every = grid()
    firsts = range(0, len(every), PATTERNS)
    draws = stream(seed, "workloads.grid.patterns")
    rounds = [draws.permutation(PATTERNS) for _ in range(0, len(firsts), PATTERNS)]
    dealt = np.concatenate(rounds)[: len(firsts)]
    return [every[first + int(place)] for first, place in zip(firsts, dealt, strict=True)]


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


COLUMNS = tuple(each.name for each in fields(Vector))
"""Names of the characteristics, in the order of a `Vector`."""
