"""Where gains are measured: a simulated drive, forked for each run.

Physics: a drive takes a while to get used to a stream. A buffer holds what came before, and log
blocks are filled by others' writes. So each run is cut into pieces that double, and the last piece
counts, once it takes as long per byte as the one before. A drive that was written all over at
random answers otherwise than a new one: it is a ground of its own (`Ground.in_use`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.advise.gains import FOUND, LEAST_GAIN, USED, Gain, Misses, ratio_of
from ssdscope.advise.streams import MIB, Stream
from ssdscope.errors import SsdscopeError, UsageError
from ssdscope.targets.crew import Crew
from ssdscope.targets.metered import MeteredDevice
from ssdscope.targets.records import OP_DISCARD
from ssdscope.workloads import grid
from ssdscope.workloads.filling import held_bytes
from ssdscope.workloads.rounds import spare_bound
from ssdscope.workloads.sustained import sustain

if TYPE_CHECKING:
    from ssdscope.targets import Device

REPEATS, MOST_REPEATS = 4, 16
"""Runs of each stream, from whose scatter the interval comes; more while it says nothing."""
OTHERS_REPEATS = 2
"""Runs on drives that it may be as well: of them the direction counts."""
STATES = 4
"""Drives that runs of writes begin on, each written to by seeds of its own before."""
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
MOST_COST = 4e9
"""Nanoseconds of counted work until a rate comes to rest."""
DISCARD_BYTES = 64 * MIB


LATER = "the time for measuring it is over; `ssdscope advise` measures it"
"""Why there is no gain on a page that would have to be waited for."""


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
    misses
        How far it is from the drive, for the intervals.
    state
        Of the drive.
    written_over
        Opens the same drive, written all over at random; None if it is that, or cannot be.
    others
        Drives that the one that advice is for may be as well. The interval of a gain holds theirs,
        so that nothing is sure on which they do not agree.
    """

    device: Device
    seed: int = 1
    writes: bool = True
    name: str = "twin"
    sketched: frozenset[str] = frozenset()
    far: Mapping[str, float] = field(default_factory=dict)
    misses: Misses = field(default_factory=Misses)
    state: str = FOUND
    written_over: Callable[[], Device] | None = None
    others: Sequence[Ground] = ()
    _times: dict[tuple[Stream, int], float] = field(default_factory=dict)
    _busy: dict[int, tuple[Device, int]] = field(default_factory=dict)
    _in_use: Ground | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Refuse a drive that every run would leave changed."""
        if not self.device.info.snapshot:
            raise UsageError(
                "gains are measured on a simulated drive, which can be forked",
                hint="the twin of a report is one",
            )

    @property
    def worked_s(self) -> float:
        """What was measured so far, as counted work; nothing where nobody counts."""
        return self.device.spent.work_s if isinstance(self.device, MeteredDevice) else 0.0

    def gain(self, before: Stream, after: Stream, at_most: str = "") -> Gain:
        """Measure what one stream gains over another.

        Parameters
        ----------
        before, after
            The two.
        at_most
            Why the tool may gain less.

        Raises
        ------
        NoGainError
            If a stream cannot be run here.
        """
        repeats = REPEATS
        while True:
            gain = self._gain_of(before, after, range(repeats), at_most)
            unsure = gain.none and gain.scatter > LEAST_GAIN
            if not unsure or repeats >= MOST_REPEATS:
                return gain if gain.none or not gain.sure else self._as_all(gain, before, after)
            repeats *= 2

    def _as_all(self, gain: Gain, before: Stream, after: Stream) -> Gain:
        """Let the interval hold what others gain; one that cannot be asked says nothing."""
        ratios = [gain.low, gain.high]
        for other in self.others:
            try:
                ground = other.in_use() if self.state == USED else other
                if ground is not None:
                    ratios.append(ground._gain_of(before, after, range(OTHERS_REPEATS), "").ratio)
            except NoGainError:
                continue
        return replace(gain, low=min(ratios), high=max(ratios))

    def _gain_of(self, before: Stream, after: Stream, turns: Sequence[int], at_most: str) -> Gain:
        self._run([(each, turn) for each in (before, after) for turn in turns])
        times = [np.array([self._times[each, turn] for turn in turns]) for each in (before, after)]
        miss = self.misses.of_ratio(after.workload.rw)
        ratio, low, high, scatter = ratio_of(times[0], times[1], miss)
        mean_before, mean_after = (float(each.mean()) for each in times)
        return Gain(
            ratio, low, high, before.words, after.words, mean_before, mean_after,
            self.called(after), self.state, at_most, scatter,
        )  # fmt: skip

    def in_use(self) -> Ground | None:
        """Give the same drive written all over at random, as a ground of its own, if there is one.

        Raises
        ------
        NoGainError
            If the drive cannot be brought there.
        """
        if self._in_use is None and self.written_over is not None:
            try:
                device = self.written_over()
            except SsdscopeError as error:
                raise NoGainError(f"the {self.name} failed: {error.message}") from None
            self._in_use = replace(
                self, device=device, state=USED, written_over=None,
                _times={}, _busy={}, _in_use=None, _lock=Lock(),
            )  # fmt: skip
        return self._in_use

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
        if not new:
            return
        left_s = self.device.left_s()
        if not left_s:
            raise NoGainError(LATER)
        one = partial(self._one, most_cost=min(MOST_COST, 1e9 * left_s))
        writing = {turn % STATES for each, turn in new if each.writes and each.kept_share is None}
        try:
            with Crew() as crew:
                unused = sorted(writing - self._busy.keys())
                self._busy.update(zip(unused, crew.map(self._used, unused), strict=True))
                self._times.update(zip(new, crew.map(one, new), strict=True))
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

    def busy(self) -> Device:
        """Give a drive that was written to for a while; to be forked."""
        if 0 not in self._busy:
            self._busy[0] = self._used(0)
        return self._busy[0][0]

    def _used(self, turn: int) -> tuple[Device, int]:
        """Give a drive whose buffer is full of random writes, and how much that was.

        Each run begins on one of its own: what was written before makes a difference, too.
        """
        device, seed = self._fork(self.device), self.seed + SEEDS_APART * turn
        grid.use(device, seed)
        return device, held_bytes(device, seed)

    def _one(self, wanted: tuple[Stream, int], *, most_cost: float) -> float:
        """Give the mean time per useful byte of one run of a stream, over its places."""
        stream, turn = wanted
        if stream.once_bytes is not None:
            return self._once(stream, stream.once_bytes, turn)
        if stream.kept_share is not None:
            return self._at_rest(stream, stream.kept_share, turn, most_cost)
        drive, held = self._busy[turn % STATES] if stream.writes else (self.device, 0)
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

    def _at_rest(self, stream: Stream, share: float, turn: int, most_cost: float) -> float:
        """Write a share of the drive until its rate has come to rest, the others discarded."""
        device = self._fork(self.device)
        capacity = device.info.capacity_bytes
        region = int(share * capacity) // MIB * MIB
        if region < capacity:
            _discard(device, region, capacity)
        plan = replace(stream.workload, size_bytes=region, seed=self.seed + turn)
        spare = spare_bound(device.info) + capacity - region
        found = sustain(device, plan, most_cost=most_cost, spare_bytes=spare)
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
