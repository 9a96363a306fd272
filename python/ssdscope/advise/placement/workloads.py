"""Workloads that make requests: by characteristics at a rate, or from a trace."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol
from zlib import crc32

import numpy as np

from ssdscope.advise.addresses import end_to_end, packed, whole_parts, widened
from ssdscope.advise.placement.requests import Column, Requests
from ssdscope.errors import UsageError
from ssdscope.seeds import stream
from ssdscope.targets.records import OP_READ, OP_WRITE
from ssdscope.targets.traces import LATENCY_UNKNOWN, Trace
from ssdscope.workloads.grid import Vector
from ssdscope.workloads.windows.segments import Windows
from ssdscope.workloads.windows.shape import sequentiality

REQUESTS_MAX = 5_000_000
"""Of one stretch of one workload; some 200 bytes each while they run."""
SLICE_NS = 1_000_000_000
"""The halves of a trace are cut into pieces of so much, in turn."""


class Load(Protocol):
    """A workload to be placed.

    Attributes
    ----------
    name
        What it is called, unique among those that are placed together.
    size_bytes
        Of the part of a drive that it takes.
    rate
        Requests per second.
    written_bytes_per_s
        What it writes.
    latency_limit_ns
        Bound on its mean latency; None for none of its own.
    source
        Where it comes from, for people.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def size_bytes(self) -> int: ...  # noqa: D102
    @property
    def rate(self) -> float: ...  # noqa: D102
    @property
    def written_bytes_per_s(self) -> float: ...  # noqa: D102
    @property
    def latency_limit_ns(self) -> int | None: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def vector(self) -> Vector:
        """Its characteristics, with a depth of 1."""

    def requests(self, half: int, duration_ns: int, unit_bytes: int, seed: int) -> Requests:
        """Make the requests of a stretch of time, in whole units of a drive.

        A workload has two halves: by the first, 0, a placement is chosen, and it is replayed on the
        other, 1. They are alike and share no request.
        """


@dataclass(frozen=True)
class Stream:
    """A workload by its characteristics: requests that arrive at random, at a rate.

    Attributes
    ----------
    vector
        The characteristics of huang2011; its depth is not used, as arrivals wait for nobody.
    """

    name: str
    vector: Vector
    rate: float
    size_bytes: int
    latency_limit_ns: int | None = None
    source: str = "characteristics"

    @property
    def written_bytes_per_s(self) -> float:
        """What it writes, in bytes per second."""
        return self.rate * self.vector.wr_ratio / 100 * self.vector.wr_size

    def requests(self, half: int, duration_ns: int, unit_bytes: int, seed: int) -> Requests:
        """Draw a stretch: a Poisson process, whose draws belong to the seed, name and half."""
        used = self.vector.effective()
        if math.gcd(used.wr_size, used.rd_size, used.wr_stride, used.rd_stride) % unit_bytes:
            raise UsageError(
                f"workload {self.name!r}: its sizes and gaps are not whole blocks of "
                f"{unit_bytes:,} bytes",
                hint=f"use multiples of {unit_bytes:,} bytes",
            )
        rng = stream((seed, crc32(self.name.encode()), half), "advise.placement.stream")
        count = rng.poisson(self.rate * duration_ns / 1e9)
        _require_few(self.name, count)
        arrival = np.sort(rng.integers(0, duration_ns, count)).astype(np.uint64)
        writes = rng.random(count) < self.vector.wr_ratio / 100
        size = np.where(writes, self.vector.wr_size, self.vector.rd_size)
        offset = np.empty(count, np.int64)
        shown = self.vector
        for chosen, length, percent, gap in (
            (writes, shown.wr_size, shown.wr_rand, shown.wr_stride),
            (~writes, shown.rd_size, shown.rd_rand, shown.rd_stride),
        ):
            random = rng.random(int(chosen.sum())) < percent / 100
            offset[chosen] = self._places(rng, random, length, gap)
        op = np.where(writes, OP_WRITE, OP_READ).astype(np.uint8)
        return Requests(arrival, op, offset, size)

    def _places(self, rng: np.random.Generator, random: Column, length: int, gap: int) -> Column:
        """Place requests of a direction: at random, or behind the one before with a gap."""
        if not len(random):
            return np.empty(0, np.int64)
        blocks = max(1, self.size_bytes // length)
        heads = random.copy()
        heads[0] = True  # a stream begins anywhere
        drawn = rng.integers(0, blocks, len(random)) * length
        head = np.maximum.accumulate(np.where(heads, np.arange(len(random)), 0))
        place = drawn[head] + (np.arange(len(random)) - head) * (length + gap)
        place %= blocks * length
        # A gap may leave one across the end of the part: it begins again there.
        return np.where(place + length > blocks * length, 0, place)


@dataclass(frozen=True)
class Traced:
    """A workload from a trace, at its own times; it begins again where a trace ends.

    Attributes
    ----------
    trace
        All of it, in memory.
    fit
        As of ``replay``: ``refuse`` takes the addresses as they are, ``compact`` packs the
        megabytes that are touched, ``wrap`` takes addresses modulo that much.
    align
        As of ``replay``.
    time_scale
        Arrival times are multiplied by it.
    """

    name: str
    trace: Trace = field(repr=False)
    fit: str = "refuse"
    align: str = "refuse"
    time_scale: float = 1.0
    latency_limit_ns: int | None = None
    source: str = "trace"

    @cached_property
    def _moves(self) -> Requests:
        """Reads and writes, at addresses of the part; nothing else counts as a request here."""
        rows = self.trace.rows
        chosen = (rows.op <= OP_WRITE) & (rows.bytes > 0)
        if not chosen.any():
            raise UsageError(f"the trace {self.name} has no reads and no writes")
        size = rows.bytes[chosen].astype(np.int64)
        place = end_to_end(rows.volume[chosen], rows.offset_bytes[chosen].astype(np.int64), size)
        if self.fit != "refuse":
            place = packed(place, size) if self.fit == "compact" else _wrapped(place, size)
        arrival = np.round(rows.arrival_ns[chosen] * self.time_scale).astype(np.uint64)
        return Requests(arrival, rows.op[chosen], place, size)

    @cached_property
    def size_bytes(self) -> int:
        """The end of the last byte that it touches, in whole parts."""
        moves = self._moves
        return whole_parts(int((moves.offset_bytes + moves.bytes).max()))

    @cached_property
    def period_ns(self) -> int:
        """After how long it begins again: one mean gap behind its last request."""
        last = int(self._moves.arrival_ns[-1])
        count = len(self._moves)
        return max(1, last + (last // (count - 1) if count > 1 else 1_000_000_000))

    @property
    def rate(self) -> float:
        """Requests per second, over all of it."""
        return len(self._moves) * 1e9 / self.period_ns

    @property
    def written_bytes_per_s(self) -> float:
        """What it writes, in bytes per second, over all of it."""
        moves = self._moves
        return float(moves.bytes[moves.op == OP_WRITE].sum()) * 1e9 / self.period_ns

    @cached_property
    def vector(self) -> Vector:
        """Its characteristics over all of it: mean sizes, and shares that continue nothing."""
        rows = self.trace.rows
        told = sequentiality(Windows(rows.arrival_ns, int(rows.arrival_ns[-1]) + 1), rows)
        return _vector(self._moves, told)

    @cached_property
    def traced_latency_ns(self) -> float | None:
        """The mean response time that the trace brought along; None if it has none."""
        rows = self.trace.rows
        known = rows.latency_ns[(rows.op <= OP_WRITE) & (rows.latency_ns != LATENCY_UNKNOWN)]
        return float(known.mean()) if len(known) else None

    def requests(
        self,
        half: int,
        duration_ns: int,
        unit_bytes: int,
        seed: int,  # noqa: ARG002 (a trace draws nothing)
    ) -> Requests:
        """Take every other second of the trace, which repeats for ever; widened to whole units.

        So both halves see the same of what changes over minutes.
        """
        moves = self._widened(unit_bytes)
        laps = 2 * duration_ns // self.period_ns + 1
        _require_few(self.name, laps * len(moves))
        starts = np.arange(laps, dtype=np.int64) * self.period_ns
        at = (starts[:, None] + moves.arrival_ns.astype(np.int64)[None, :]).ravel()
        piece = at // SLICE_NS
        arrival = piece // 2 * SLICE_NS + at % SLICE_NS
        inside = (piece % 2 == half) & (arrival < duration_ns)
        op, offset, size = (
            np.tile(each, laps)[inside] for each in (moves.op, moves.offset_bytes, moves.bytes)
        )
        return Requests(arrival[inside].astype(np.uint64), op, offset, size)

    def _widened(self, unit_bytes: int) -> Requests:
        moves = self._moves
        begin, length = widened(moves.offset_bytes, moves.bytes, unit_bytes)
        off = int(((begin != moves.offset_bytes) | (length != moves.bytes)).sum())
        if off and self.align == "refuse":
            raise UsageError(
                f"the trace {self.name}: {off:,} of {len(moves):,} requests are not whole blocks "
                f"of {unit_bytes:,} bytes",
                hint="--align expand widens them",
            )
        return replace(moves, offset_bytes=begin, bytes=length)


def _require_few(name: str, count: int) -> None:
    if count > REQUESTS_MAX:
        raise UsageError(
            f"workload {name!r} would make {count:,} requests; {REQUESTS_MAX:,} are the most",
            hint="a shorter --duration makes fewer",
        )


def _wrapped(place: Column, size: Column) -> Column:
    """Take addresses modulo as much as packing would leave."""
    room = whole_parts(int((packed(place, size) + size).max()))
    folded: Column = np.minimum(place % room, room - size)
    return folded


def _vector(moves: Requests, told: dict[str, Column]) -> Vector:
    def mean(chosen: Column) -> int:
        return int(moves.bytes[chosen].mean()) if chosen.any() else 0

    writes = moves.op == OP_WRITE
    shares = {
        name: round(100 * float(np.nan_to_num(told[name][0]))) for name in ("wr_rand", "rd_rand")
    }
    return Vector(round(100 * float(writes.mean())), 1, mean(writes), mean(~writes), **shares)
