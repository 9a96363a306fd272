"""The requests that a tool sends with a setting: what a knob's gain is measured by.

A stream says where its requests begin. Of one whose requests begin at any multiple of a grain,
several phases are run, spread evenly over the unit that they may miss.
"""

from dataclasses import dataclass, replace

from ssdscope.units import format_binary
from ssdscope.workloads import Workload

KIB, MIB = 1 << 10, 1 << 20
PHASES = 4
"""Of a stream that may begin anywhere in a unit: so many places are run."""


@dataclass(frozen=True)
class Stream:
    """Requests of one kind.

    Attributes
    ----------
    words
        What it is, for people.
    workload
        The requests, without limits of their own.
    starts_bytes
        Where the first unit begins: the start of a partition, for example.
    grain_bytes, unit_bytes
        Requests begin at multiples of the grain, wherever that is in a unit; with a grain of 0,
        or of whole units, they all begin where a unit does.
    useful
        Bytes that the tool asked for, as a share of those it sends.
    once_bytes
        The bytes that it sends in all, from the state that the drive is found in; None for a
        stream that is measured once the drive has got used to it.
    kept_share
        Of writes that go on until the drive's rate has come to rest: the share of the drive that
        they fall in. The rest is discarded.
    """

    words: str
    workload: Workload
    starts_bytes: int = 0
    grain_bytes: int = 0
    unit_bytes: int = 0
    useful: float = 1.0
    once_bytes: int | None = None
    kept_share: float | None = None

    @property
    def sends(self) -> tuple[object, ...]:
        """What it sends, whatever it is called: two of one drive are alike if this is equal."""
        limits = (self.useful, self.once_bytes, self.kept_share)
        return self.workload, tuple(self.places()), limits

    @property
    def request_bytes(self) -> int:
        """Size of a request."""
        return self.workload.block_bytes

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.workload.writes

    @property
    def in_order(self) -> bool:
        """Whether each request follows the one before."""
        return self.workload.rw in ("read", "write") and not self.workload.percentage_random

    def places(self) -> list[int]:
        """List the first bytes to run it from."""
        grain, unit = self.grain_bytes, self.unit_bytes
        if not grain or unit <= grain:
            return [self.starts_bytes]
        phases = [int((turn + 0.5) * unit / PHASES) // grain * grain for turn in range(PHASES)]
        return [self.starts_bytes + phase for phase in dict.fromkeys(phases)]

    def at(self, place_bytes: int, seed: int, requests: int) -> Workload:
        """Give so many of its requests, from a place on."""
        return replace(self.workload, offset_bytes=place_bytes, seed=seed, requests=requests)


def random_writes(
    size_bytes: int,
    *,
    starts_bytes: int = 0,
    grain_bytes: int = 0,
    unit_bytes: int = 0,
    useful: float = 1.0,
    tell_start: bool = False,
) -> Stream:
    """Give writes of one size at random, one at a time."""
    where = ""
    if grain_bytes and unit_bytes > grain_bytes:
        where = f" that begin at any multiple of {size(grain_bytes)}"
    elif unit_bytes:
        where = f" that begin where units of {size(unit_bytes)} do"
    elif tell_start:
        where = f" from byte {starts_bytes:,} on"
    words = f"random writes of {size(size_bytes)}{where}"
    workload = Workload("randwrite", size_bytes)
    return Stream(words, workload, starts_bytes, grain_bytes, unit_bytes, useful)


def random_reads(size_bytes: int, depth: int) -> Stream:
    """Give reads of one size at random, so many at a time."""
    words = f"random reads of {size(size_bytes)}, {depth} at a time"
    return Stream(words, Workload("randread", size_bytes, iodepth=depth))


def sequential_reads(size_bytes: int) -> Stream:
    """Give reads in order, one at a time."""
    workload = Workload("read", size_bytes)
    return Stream(f"sequential reads of {size(size_bytes)}", workload)


def sequential_writes(size_bytes: int, *, starts_bytes: int = 0, durable: bool = False) -> Stream:
    """Give writes in order, one at a time; each on the medium when it ends, if asked for."""
    words = f"sequential {'durable ' * durable}writes of {size(size_bytes)}"
    workload = Workload("write", size_bytes, fua=durable)
    return Stream(words, workload, starts_bytes)


def runs_of_writes(size_bytes: int, neighbours: int, *, starts_bytes: int = 0) -> Stream:
    """Give writes of one size at random, of which so many in a row are neighbours."""
    if neighbours == 1:
        return random_writes(size_bytes, starts_bytes=starts_bytes)
    words = f"random writes of {size(size_bytes)}, {neighbours} neighbours in a row"
    workload = Workload("write", size_bytes, percentage_random=round(100 / neighbours))
    return Stream(words, workload, starts_bytes)


def load(size_bytes: int) -> Stream:
    """Give a load in order of so many bytes in all, on the drive as it is found."""
    words = f"{size(size_bytes)} written in order"
    return Stream(words, Workload("write", MIB), once_bytes=size_bytes)


def settled_writes(kept_share: float) -> Stream:
    """Give random writes in a share of the drive, once their rate has come to rest."""
    where = "the whole drive" if kept_share == 1 else f"{kept_share:.1%} of the drive"
    words = f"settled random writes of 4 KiB in {where}"
    return Stream(words, Workload("randwrite", 4 * KIB, iodepth=16), kept_share=kept_share)


def size(size_bytes: float) -> str:
    """Write a size for people, with the four digits that whole KiB below 1 MiB have."""
    return format_binary(size_bytes, digits=4)
