"""Where gains are measured: a simulated drive, forked for each run.

Physics: a drive takes a while to get used to a stream. A buffer holds what came before, and log
blocks are filled by others' writes. So each run is cut into pieces that double, and the last piece
counts, once it takes as long per byte as the one before.
Statistic: mean time per byte that the tool asked for. A gain is the ratio of two such means, with
the interval of 95 % over runs that differ in their seeds alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.advise.streams import MIB, Stream
from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.targets.drive_writer import open_drive
from ssdscope.targets.records import OP_DISCARD
from ssdscope.workloads import grid
from ssdscope.workloads.filling import held_bytes
from ssdscope.workloads.rounds import spare_bound
from ssdscope.workloads.sustained import sustain

if TYPE_CHECKING:
    from ssdscope.targets import Device

REPEATS, MOST_REPEATS = 4, 16
"""Runs of each stream, from whose scatter the interval comes; more while it says nothing."""
MOST_TRIED = 8
"""Of each value of a sweep."""
FIRST_REQUESTS, MOST_REQUESTS = 48, 512
"""Of the first piece, and of the last."""
FIRST_BYTES, MOST_BYTES = MIB, 256 * MIB
"""Likewise in bytes: a piece of small requests has more of them, one of large ones fewer."""
SETTLED_WITHIN = 0.03
SEEDS_APART = 1 << 40
"""Between the runs of a stream: further than they send bytes."""
TURNED_OVER = 1.5
"""Times the size of a buffer that is written before anything counts."""
MOST_ONCE_BYTES = 16 << 30
"""More bytes in one go than so many take too long to simulate."""
MOST_COST = 12e6
"""Requests and operations of the flash until a rate comes to rest: some five seconds of a core."""
DISCARD_BYTES = 64 * MIB
NINTH_ERROR = 0.15
"""A twin that misses more than one latency in ten by more is a sketch."""
MEDIAN_ERROR = 0.10
"""If it misses half of them by more, it cannot say a gain to within ten points."""
DIRECTIONS = frozenset(("read", "write"))
LEAST_GAIN = 0.02
"""A smaller one is none."""


@dataclass(frozen=True)
class Gain:
    """What a setting gains over another.

    Attributes
    ----------
    ratio
        Mean time per byte before, over that after: 1.25 is a quarter more bytes in the same time.
    low, high
        Its interval of 95 %.
    before, after
        The streams in words.
    before_ns_per_byte, after_ns_per_byte
        The two means.
    of
        Where it was measured.
    """

    ratio: float
    low: float
    high: float
    before: str
    after: str
    before_ns_per_byte: float
    after_ns_per_byte: float
    of: str = "twin"

    @property
    def saved(self) -> float:
        """The share of the time that is saved: 0.2 where a fifth is."""
        return 1 - 1 / self.ratio

    @property
    def none(self) -> bool:
        """Whether it is no effect: the interval holds 1, or it is within 2 %."""
        return self.low <= 1 <= self.high or abs(self.ratio - 1) < LEAST_GAIN

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return dict(vars(self))


class NoGainError(Exception):
    """A gain cannot be measured here; the message says why, in a few words."""


@dataclass
class Ground:
    """A simulated drive that streams are run on; it is left as it is.

    Parameters
    ----------
    device
        The drive, which can be forked.
    seed
        Of the streams.
    writes
        Whether its writes are like those of the drive that advice is for.
    name
        What it is called where a gain is stated.
    sketched
        ``read``, ``write``: what it is only a sketch of, and then does not overrule a formula by.
    far
        Likewise, with the error, what it is too far from to state a gain of.
    """

    device: Device
    seed: int = 1
    writes: bool = True
    name: str = "twin"
    sketched: frozenset[str] = frozenset()
    far: Mapping[str, float] = field(default_factory=dict)
    _times: dict[tuple[Stream, int], float] = field(default_factory=dict)
    _used: tuple[Device, int] | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Refuse a drive that every run would leave changed."""
        if not self.device.info.snapshot:
            raise UsageError(
                "gains are measured on a simulated drive, which can be forked",
                hint="the twin of a report is one",
            )

    def gain(self, before: Stream, after: Stream) -> Gain:
        """Measure what one stream gains over another.

        Raises
        ------
        NoGainError
            If a stream cannot be run here.
        """
        repeats = REPEATS
        while True:
            gain = self._gain_of(before, after, range(repeats))
            unsure = gain.low <= 1 <= gain.high and gain.high / gain.low > 1 + 2 * LEAST_GAIN
            if not unsure or repeats >= MOST_REPEATS:
                return gain
            repeats *= 2

    def _gain_of(self, before: Stream, after: Stream, turns: Sequence[int]) -> Gain:
        self._run([(each, turn) for each in (before, after) for turn in turns])
        times = [np.array([self._times[each, turn] for turn in turns]) for each in (before, after)]
        logs = stats.student(np.log(times[0] / times[1]))
        ratio, low, high = (math.exp(each) for each in (logs.mean, logs.low, logs.high))
        mean_before, mean_after = (float(each.mean()) for each in times)
        where = self.called(after)
        return Gain(ratio, low, high, before.words, after.words, mean_before, mean_after, where)

    def called(self, stream: Stream) -> str:
        """Say what it is to such requests: a twin, or a sketch of one."""
        return self.name if self.sure_of(stream) else f"sketch of a {self.name}"

    def sure_of(self, stream: Stream) -> bool:
        """Say whether its times of such requests are near enough to overrule a formula."""
        return _direction(stream) not in self.sketched

    def ns_per_byte(self, streams: Sequence[Stream]) -> list[float]:
        """Measure streams beside each other: two runs each, or more where these differ.

        Raises
        ------
        NoGainError
            If one cannot be run here.
        """
        turns = 2
        while True:
            self._run([(each, turn) for each in streams for turn in range(turns)])
            times = np.array(
                [[self._times[each, turn] for turn in range(turns)] for each in streams]
            )
            means = times.mean(axis=1)
            # Of two means that differ by less than runs scatter neither is the better one.
            scatter = times.std(axis=1, ddof=1) / means / math.sqrt(turns)
            if turns >= MOST_TRIED or bool((scatter <= LEAST_GAIN / 2).all()):
                return [float(each) for each in means]
            turns *= 2

    def _run(self, wanted: Sequence[tuple[Stream, int]]) -> None:
        """Run what was not run before, side by side: a run lets go of Python."""
        new = [each for each in dict.fromkeys(wanted) if each not in self._times]
        for stream, _ in new:
            self._require(stream)
        if any(stream.writes and stream.kept_share is None for stream, _ in new):
            self._in_use()
        if not new:
            return
        from joblib import cpu_count

        try:
            with ThreadPoolExecutor(cpu_count()) as pool:
                self._times.update(zip(new, pool.map(self._one, new), strict=True))
        except SsdscopeError as error:
            raise NoGainError(f"the {self.name} failed: {error.message}") from None

    def _require(self, stream: Stream) -> None:
        if stream.writes and not self.writes:
            raise NoGainError(f"the {self.name} has no writes")
        if (error := self.far.get(_direction(stream))) is not None:
            raise NoGainError(f"the {self.name} misses {_direction(stream)}s by {error:.0%}")
        if (stream.once_bytes or 0) > MOST_ONCE_BYTES:
            raise NoGainError("too long to simulate")
        room = self.device.info.capacity_bytes - max(stream.places())
        if room < 4 * stream.request_bytes or room < (stream.once_bytes or 0):
            raise NoGainError("the drive is too small for it")

    def in_use(self) -> Device:
        """Give a drive that was written to for a while; to be forked."""
        return self._in_use()[0]

    def _in_use(self) -> tuple[Device, int]:
        """Give a drive whose buffer is full of random writes, and how much that was."""
        if self._used is None:
            device = self.device.fork()
            grid.use(device, self.seed)
            held = held_bytes(device, self.seed)
            self._used = device, held
        return self._used

    def _one(self, wanted: tuple[Stream, int]) -> float:
        """Give the mean time per useful byte of one run of a stream, over its places."""
        stream, turn = wanted
        if stream.once_bytes is not None:
            return self._once(stream, stream.once_bytes, turn)
        if stream.kept_share is not None:
            return self._at_rest(stream, stream.kept_share, turn)
        drive, held = self._in_use() if stream.writes else (self.device, 0)
        times = [
            self._settled(self._fork(drive), stream, at, turn, TURNED_OVER * held)
            for at in stream.places()
        ]
        return float(np.mean(times)) / stream.useful

    def _fork(self, device: Device) -> Device:
        with self._lock:
            return device.fork()

    def _once(self, stream: Stream, size_bytes: int, turn: int) -> float:
        requests = max(1, size_bytes // stream.request_bytes)
        plan = stream.at(stream.starts_bytes, self.seed + turn, requests)
        done = self._fork(self.device).run(plan).whole()
        return done.elapsed_ns / done.only().bytes / stream.useful

    def _at_rest(self, stream: Stream, share: float, turn: int) -> float:
        """Write a share of the drive until its rate has come to rest, the others discarded."""
        device = self._fork(self.device)
        capacity = device.info.capacity_bytes
        region = int(share * capacity) // MIB * MIB
        if region < capacity:
            _discard(device, region, capacity)
        plan = replace(stream.workload, size_bytes=region, seed=self.seed + turn)
        spare = spare_bound(device.info) + capacity - region
        found = sustain(device, plan, most_cost=MOST_COST, spare_bytes=spare)
        rate = found.figures["write"].bandwidth_bytes_per_s if found.reached else None
        if not rate:
            raise NoGainError("its rate does not come to rest in the time that there is")
        return 1e9 / rate / stream.useful

    def _settled(
        self, device: Device, stream: Stream, place: int, turn: int, first_bytes: float
    ) -> float:
        """Run pieces that double until two take alike, and give the last one's time per byte."""
        least = max(FIRST_REQUESTS, 8 * stream.workload.iodepth)
        count = max(least, FIRST_BYTES // stream.request_bytes)
        most = max(MOST_REQUESTS, count, int(first_bytes / stream.request_bytes))
        before, sent = math.inf, 0
        while True:
            at = place + self._further(stream, turn, sent, count) if stream.in_order else place
            plan = stream.at(at, self.seed + SEEDS_APART * turn + sent, count)
            done = device.run(plan).whole()
            now = done.elapsed_ns / done.only().bytes
            sent += done.only().bytes
            settled = abs(now / before - 1) <= SETTLED_WITHIN or sent >= MOST_BYTES
            if sent >= first_bytes and (settled or count >= most):
                return now
            before, count = now, min(2 * count, most)

    def _further(self, stream: Stream, turn: int, sent: int, count: int) -> int:
        """Say where a stream in order goes on: each run begins in a part of the drive of its own.

        Behind the last place with room for the next piece it begins anew.
        """
        grain = math.lcm(stream.request_bytes, MIB)
        room = self.device.info.capacity_bytes - stream.starts_bytes - count * stream.request_bytes
        place = turn * self.device.info.capacity_bytes // REPEATS + sent
        return place % max(room, 1) // grain * grain if room >= grain else 0


def _direction(stream: Stream) -> str:
    return "write" if stream.writes else "read"


def _discard(device: Device, first: int, end: int) -> None:
    starts = np.arange(first, end, DISCARD_BYTES)
    lengths = np.minimum(DISCARD_BYTES, end - starts)
    device.run_list(np.full(len(starts), OP_DISCARD), starts, lengths)


def _fitted_to_writes(twin: Mapping[str, Any]) -> bool:
    """Say whether a twin was held to writes: of a drive that was only read it was not."""
    lacking, held_out = twin.get("not_modelled"), twin.get("held_out")
    if isinstance(held_out, list) and held_out:
        return any(isinstance(row, Mapping) and "write" in str(row.get("rw")) for row in held_out)
    told = lacking if isinstance(lacking, list | tuple) else ()
    return not any(str(each).startswith("writes") for each in told)


def _errors(twin: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Give the errors of a twin by direction: at the median, and at nine of ten."""
    held_out = twin.get("held_out")
    rows = [each for each in held_out or () if isinstance(each, Mapping)]
    found = {name: _misses(rows, name) for name in DIRECTIONS}
    return {
        name: (stats.nearest_rank(misses, 50), stats.nearest_rank(misses, 90))
        for name, misses in found.items()
        if misses
    }


def _misses(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    pairs = [
        (row.get("predicted_ns"), row.get("mean_ns")) for row in rows if name in str(row.get("rw"))
    ]
    return [
        abs(told / measured - 1)
        for told, measured in pairs
        if isinstance(told, int | float) and isinstance(measured, int | float) and measured > 0
    ]


def of_twin(twin: Mapping[str, Any] | None, seed: int = 1) -> Ground | str:
    """Open the twin of a report.

    Parameters
    ----------
    twin
        The section of the report.
    seed
        Of the streams.

    Returns
    -------
    Ground or str
        Or why there is none, in a few words.
    """
    if not isinstance(twin, Mapping) or not isinstance(twin.get("toml"), str):
        return "no twin"
    writes = _fitted_to_writes(twin)
    # A twin that is near as a whole may still miss its writes, and one that says nothing is one.
    unknown = {} if twin.get("sketch") else dict.fromkeys(DIRECTIONS, (0.0, 0.0))
    errors = unknown | _errors(twin)
    near = {name for name, (_, most) in errors.items() if most <= NINTH_ERROR}
    far = {name: middle for name, (middle, _) in errors.items() if middle > MEDIAN_ERROR}
    try:
        device = open_drive(twin["toml"], "twin", seed)
        return Ground(device, seed, writes, sketched=frozenset(DIRECTIONS - near), far=far)
    except SsdscopeError as error:
        return f"the twin cannot be opened: {error.message}"
