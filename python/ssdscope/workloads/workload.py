"""One synthetic workload, mirrored to the JSON that the drivers in Rust take."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from ssdscope.errors import UsageError, nearest

PATTERNS = {
    "read": "reads, one behind the other",
    "write": "writes, one behind the other",
    "randread": "reads at random offsets",
    "randwrite": "writes at random offsets",
    "rw": "a mix of read and write",
    "randrw": "a mix of randread and randwrite",
}
"""Access patterns, as fio calls them, and what each does."""
MIXES = ("rw", "randrw")
ARRIVALS = {
    "closed": "when the one before in its place was served",
    "fixed": "evenly, at --rate-iops",
    "poisson": "at random, --rate-iops on average",
}
"""When a request comes."""
SHARES = ("offset_share", "size_share", "io_share")
"""Fields that a drive's size makes bytes of."""
SPLITS = ("block_split", "read_block_split", "write_block_split")
"""Fields that are several sizes with their shares."""


@dataclass(frozen=True)
class BlockShare:
    """One of several sizes, and how many requests in a hundred have it."""

    bytes: int
    percent: int


@dataclass(frozen=True)
class Passes:
    """How a job of fio begins its region anew, and what it counts.

    A pass ends where a request in order does not fit, or where every place was visited. The next
    one begins at the start of the region. The bytes of such a job are reached, if need be by a
    request that goes over them, and what a timed ramp transfers is among them.

    Attributes
    ----------
    count
        Passes that are made in any case; 0 for without end.
    until_bytes
        Passes go on until as many bytes are transferred, as long as a whole request is missing.
    wraps
        A request in order that does not fit starts over within the pass.
    once
        Random requests visit each place once in a pass.
    """

    count: int = 1
    until_bytes: int | None = None
    wraps: bool = False
    once: bool = False


@dataclass(frozen=True)
class Workload:
    """What to issue, how fast, and when to stop.

    Names and meanings are those of fio: every limit and rate is per job. Whichever of
    `requests`, `io_bytes`, `runtime_ns` and `until_ci` comes first stops the run; without any
    of them it stops after one pass over the region.

    Attributes
    ----------
    rw
        One of `PATTERNS`; ``rw`` and ``randrw`` mix reads and writes.
    block_bytes
        Size of a request.
    read_block_bytes, write_block_bytes
        Sizes where reads and writes differ; None for `block_bytes`.
    block_split, read_block_split, write_block_split
        Several sizes with their shares instead of one; None for `block_bytes`.
    read_percent
        Share of reads in a mix.
    iodepth, numjobs
        Requests each job keeps in flight, and jobs.
    offset_bytes, size_bytes
        The region; a size of None is up to the end of the drive.
    offset_share, size_share, io_share
        The region, and what is transferred, as shares: the first two of the drive, the last of
        the region. `within` makes bytes of them.
    offset_increment_bytes
        How far the region of each job begins behind that of the one before; 0 for one region.
    io_bytes, requests, runtime_ns
        When to stop.
    until_ci
        Stop when the 95 % interval of the mean latency is within this share of the mean on
        either side.
    thinktime_ns
        Pause of a job: as soon as `thinktime_every` requests were served, it makes no more until
        its queue is empty, and then sleeps as long.
    thinktime_every
        Requests between two pauses: with more than 1, bursts.
    rate_iops
        Upper bound on requests per second of each job; with arrivals of their own, how many.
    rate_bytes, read_rate_bytes, write_rate_bytes
        Upper bound on bytes per second of each job, of reads and of writes apart. In a mix each
        direction runs at its own, whatever `read_percent` says: one that is ahead of its rate
        leaves its turn to the other.
    arrival
        ``closed``: a request takes the place of one that was served. ``fixed``, ``poisson``:
        requests arrive evenly, or as a Poisson process, at `rate_iops`, whatever has been
        served; latencies then count from the arrival.
    fsync_every
        A flush after so many writes, and none after the last; in a mix also before every read
        until the next write, as fio does; 0 for none.
    fua
        Writes are durable when they complete.
    percentage_random
        Share of random offsets; None for 100 in ``rand*`` patterns and 0 in the others.
    read_percentage_random, write_percentage_random
        Shares where reads and writes differ; None for `percentage_random`.
    random_distribution
        Where random requests fall, as the driver takes it: ``{"zipf": 1.2}``; None for anywhere
        alike.
    stride_bytes
        Gap from the end of a sequential request to the start of the next of its direction;
        minus its size for requests in one place, less for requests that go backwards.
    read_stride_bytes, write_stride_bytes
        Gaps where reads and writes differ; None for `stride_bytes`.
    partitions
        Equal parts of the region that take sequential requests in turn, each in order.
    random_start
        Sequential reads and writes begin at a random block of the region, not at its start.
    ramp_requests
        Requests issued first and left out of the statistics.
    ramp_ns
        How long nothing counts; with `ramp_requests`, whichever ends first.
    align_bytes
        What random offsets are multiples of, from the start of the region; None for the smallest
        request.
    start_delay_ns
        How long after the run each job begins.
    passes
        How it begins its region anew and ends, as a job of fio; None for our own way: a request
        in order that would leave the region starts over, and none goes over `io_bytes`.
    seed
        Of offsets and of the mix.
    """

    rw: str
    block_bytes: int = 4096
    read_block_bytes: int | None = None
    write_block_bytes: int | None = None
    block_split: tuple[BlockShare, ...] | None = None
    read_block_split: tuple[BlockShare, ...] | None = None
    write_block_split: tuple[BlockShare, ...] | None = None
    read_percent: int = 50
    iodepth: int = 1
    numjobs: int = 1
    offset_bytes: int = 0
    offset_increment_bytes: int = 0
    size_bytes: int | None = None
    offset_share: float | None = None
    size_share: float | None = None
    io_share: float | None = None
    io_bytes: int | None = None
    requests: int | None = None
    runtime_ns: int | None = None
    until_ci: float | None = None
    thinktime_ns: int = 0
    thinktime_every: int = 1
    rate_iops: int | None = None
    rate_bytes: int | None = None
    read_rate_bytes: int | None = None
    write_rate_bytes: int | None = None
    arrival: str = "closed"
    fsync_every: int = 0
    fua: bool = False
    percentage_random: int | None = None
    read_percentage_random: int | None = None
    write_percentage_random: int | None = None
    random_distribution: Mapping[str, Any] | None = None
    stride_bytes: int = 0
    read_stride_bytes: int | None = None
    write_stride_bytes: int | None = None
    partitions: int = 1
    random_start: bool = False
    ramp_requests: int = 0
    ramp_ns: int | None = None
    align_bytes: int | None = None
    start_delay_ns: int = 0
    passes: Passes | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what is wrong in itself; what depends on the drive is refused by the driver."""
        if self.rw not in PATTERNS:
            raise UsageError(
                f"{self.rw!r} is not an access pattern", hint=nearest(self.rw, PATTERNS)
            )
        if self.arrival not in ARRIVALS:
            raise UsageError(
                f"arrival: {self.arrival!r} is unknown", hint=nearest(self.arrival, ARRIVALS)
            )
        if self.until_ci is not None and not 0 < self.until_ci < 1:
            raise UsageError(
                f"until_ci: an interval within {100 * self.until_ci:g}% of the mean cannot be "
                "waited for",
                hint="use a share above 0% and below 100%, as in 5%",
            )

    @property
    def writes(self) -> bool:
        """Whether the plan writes at all."""
        mixed = self.rw in MIXES and self.read_percent < 100
        return mixed or self.rw in ("write", "randwrite")

    def seeded(self, seed: int) -> Self:
        """Give the same plan with another seed."""
        return replace(self, seed=seed)

    def within(self, capacity_bytes: int) -> Self:
        """Make bytes of shares, on a drive of this size: whole requests, as fio cuts them.

        An offset goes up to the next whole request, a size and what is transferred down.
        """
        unit = min(self._sizes())

        def part(share: float, of: int) -> int:
            return round(share * 100) * of // 100 // unit * unit

        plan = self
        if self.offset_share is not None:
            at = round(self.offset_share * 100) * capacity_bytes // 100
            plan = replace(plan, offset_bytes=-(-at // unit) * unit)
        if self.size_share is not None:
            plan = replace(plan, size_bytes=part(self.size_share, capacity_bytes))
        if self.io_share is not None:
            last = plan.offset_bytes + plan.offset_increment_bytes * (plan.numjobs - 1)
            region = capacity_bytes - last if plan.size_bytes is None else plan.size_bytes
            plan = replace(plan, io_bytes=part(self.io_share, region))
        return replace(plan, offset_share=None, size_share=None, io_share=None)

    def _sizes(self) -> list[int]:
        """List the sizes of its requests."""
        splits = (self.block_split, self.read_block_split, self.write_block_split)
        drawn = [share.bytes for split in splits for share in split or ()]
        plain = [self.read_block_bytes, self.write_block_bytes]
        sizes = [size for size in (*drawn, *plain) if size]
        return sizes or [self.block_bytes or 1]

    def to_dict(self) -> dict[str, Any]:
        """Give the keys of the JSON form, every one of them."""
        # `asdict` copies each of them deeply, and small runs are made by the thousand.
        values = {name: each for name, each in vars(self).items() if name not in SHARES}
        for name in SPLITS:
            if values[name] is not None:
                values[name] = [asdict(each) for each in values[name]]
        for name in ("align_bytes", "start_delay_ns", "passes"):
            if not values[name]:
                del values[name]
        if self.passes is not None:
            values["passes"] = asdict(self.passes)
        if self.random_distribution is not None:
            values["random_distribution"] = dict(self.random_distribution)
        return values

    def to_plan(self) -> dict[str, Any]:
        """Give what makes it on a drive of any size: as `to_dict`, with the shares that it has."""
        shares = {name: getattr(self, name) for name in SHARES}
        return self.to_dict() | {name: each for name, each in shares.items() if each is not None}

    def to_json(self) -> str:
        """Write the plan for the driver."""
        return json.dumps(self.to_dict())
