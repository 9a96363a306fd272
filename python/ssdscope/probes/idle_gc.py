"""The probe `idle_gc`: how long a drive waits before it collects or merges in idle time.

Physics. When the host has been quiet for so long, the drive begins to work for itself: its dies are
busy, and the next reads wait. Later it is done, and writes are fast for a while. Statistic. Each
trial makes work (random overwrites until they are slow), flushes, and reads now and then until
what is left of foreground work has ended; any request keeps a drive from being idle. Then it
pauses, and holds the next reads against those before the pause, and against later ones (which
bracket drift). Pauses grow by three tenths from 1 ms until reads behind them are slower, and the
shortest such pause is narrowed down by bisection.

Decision. Detected if the bracket is narrower than 6 %, reads are much slower behind pauses a little
longer, fresh trials at pauses 12 % shorter show nothing, at such a little longer show it, and
writes behind the shorter ones are no faster (the
drive may have been done already). Absent if not even the longest pause makes reads slower or
the next writes faster. A write buffer that stays on is emptied by a flush first; one on which
a flush has no effect empties itself in idle time, which looks the same: `masked`.

Assumptions. The drive works for itself on most dies, and for more than a third of the time it
waited. Cost: up to four capacities. Source: PROBING 3.1, 3.7; SSDcheck's sweep of think times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.probes.finding import Absent, Detected, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.settling import Overwriter, Settled
from ssdscope.targets.records import OP_FLUSH, OP_READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.finding import Finding
    from ssdscope.targets.records import DeviceInfo

ONSET = "idle_gc_onset_ns"
PROBE_NAME = "idle_gc"

REQUEST_BYTES = 64 * 1024
SETTLE_SHARE = 0.7
MOST_BYTES = 1 << 34
CHUNK, MOST_CHUNKS = 48, 60
SLOW_AGAIN = 0.6
"""Of the settled mean: writes are slow again, and there is work for idle time."""
AS_SLOW = 0.85
KEEP_AWAKE, AWAKE_EVERY_NS = 240, 700_000
"""Reads that let foreground work end, and the pause between them: shorter than any onset sought."""
READS = 24
TRIALS, MOST_TRIALS = 5, 15
LEAST_SLOWER, ERRORS, MOST_ERROR = 0.05, 3.5, 0.08
"""Logarithm of latency, and standard errors, from which on reads are slower."""
MUCH_SLOWER, PROGRAMS_SOON = 0.3, 5
"""Logarithm of latency where dies are programmed; pauses, each longer, by which they are."""
DRIFTED = 0.05
WINDOW_BYTES = 8 * 1024 * 1024
FIRST_NS, LONGEST_NS = 1_000_000, 60_000_000_000
STEP, NARROW, BEYOND = 1.3, 1.06, 1.12


@dataclass
class Pauses:
    """Trials so far.

    Attributes
    ----------
    slower
        How much slower reads behind a pause are, as a logarithm; by pause.
    """

    overwriter: Overwriter
    settled: Settled
    slower: dict[int, float] = field(default_factory=dict)
    first_chunk_ns: float = 0.0

    def works_after(self, pause_ns: int, trials: int = TRIALS) -> bool:
        """Tell whether the drive is at work when it has been left alone for so long.

        Raises
        ------
        Stopped
            If reads scatter so much that a drive that only reads, too, would not be seen.
        """
        bench = self.overwriter.bench
        found: list[tuple[float, float]] = []
        error = np.inf
        while len(found) < trials or ERRORS * error > MOST_ERROR:
            if len(found) == max(trials, MOST_TRIALS):
                raise Stopped(Reason.EFFECT_BELOW_NOISE)
            found.append(in_peace(bench, lambda: self._trial(pause_ns)))
            error = float(np.sqrt(sum(each[1] ** 2 for each in found))) / len(found)
        # The median: others may have come in one trial, unnoticed.
        slower = float(np.median([each[0] for each in found]))
        self.slower[pause_ns] = slower
        return slower > max(LEAST_SLOWER, ERRORS * error)

    def _trial(self, pause_ns: int) -> tuple[float, float]:
        """Give how much slower the reads behind a pause are, and the error of that."""
        self.make_work()
        bench = self.overwriter.bench
        size = base_request_bytes(bench.info)
        count = 2 * KEEP_AWAKE + READS
        pauses = np.full(count + 1, AWAKE_EVERY_NS)
        first = KEEP_AWAKE + 1
        pauses[0], pauses[first], pauses[first + 1 : first + READS] = 0, pause_ns, 0
        log = bench.issue(
            np.concatenate([[OP_FLUSH], np.full(count, OP_READ)]),
            np.concatenate([[0], self._places(count, size)]),
            np.concatenate([[0], np.full(count, size)]),
            pauses_ns=pauses,
        )
        latency = log.latency_ns[np.argsort(log.index)].astype(float)[1:]
        # A disturbance counts as little as a wait for one operation of a die.
        logs = np.minimum(np.log(latency / np.median(latency)), 1.0)
        behind = logs[KEEP_AWAKE : KEEP_AWAKE + READS]
        # What drifts lies between both; foreground work ends in the first half of either.
        quiet = logs[KEEP_AWAKE // 2 : KEEP_AWAKE], logs[-KEEP_AWAKE // 2 :]
        means = [float(each.mean()) for each in quiet]
        usual = max(means) if abs(means[0] - means[1]) > DRIFTED else sum(means) / 2
        error = float(quiet[0].std() * np.sqrt(1 / READS + 2 / KEEP_AWAKE))
        return float(behind.mean() - usual), error

    def _places(self, count: int, size: int) -> NDArray[np.uint64]:
        """Draw places within a small window, which few parts of the mapping table are of."""
        rng, capacity = self.overwriter.rng, self.overwriter.bench.info.capacity_bytes
        blocks = min(WINDOW_BYTES, capacity) // size
        begin = int(rng.integers(0, capacity // size - blocks + 1))
        drawn = rng.choice(blocks, count, replace=blocks < count)
        return ((begin + drawn) * size).astype(np.uint64)

    def rested_by(self, pause_ns: int) -> bool:
        """Tell whether writes are faster behind such a pause than behind hardly any."""
        means = {}
        for pause in (FIRST_NS, pause_ns):
            chunks = []
            for _ in range(2 * TRIALS):
                self.make_work()
                self.overwriter.bench.idle(pause)
                self.make_work()
                chunks.append(self.first_chunk_ns)
            means[pause] = float(np.mean(chunks))
        return means[pause_ns] < AS_SLOW * means[FIRST_NS]

    def make_work(self) -> None:
        """Overwrite until writes are slow again."""
        capacity = self.overwriter.bench.info.capacity_bytes
        for index in range(MOST_CHUNKS):
            mean = float(self.overwriter.write(CHUNK, capacity).mean())
            if not index:
                self.first_chunk_ns = mean
            if mean >= SLOW_AGAIN * self.settled.mean_ns:
                return


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the onset."""
    cache = bench.info.write_cache
    switched_off = cache.control == "switchable" and cache.on
    reads_cached = bench.info.read_cache.control == "switchable" and bench.info.read_cache.on
    with bench.caches(write=False if switched_off else None, read=False if reads_cached else None):
        yield _answer(bench, buffered=not switched_off and cache.control != "absent")


def _answer(bench: Bench, *, buffered: bool) -> Finding:
    common: dict[str, Any] = {"name": ONSET, "probe": PROBE_NAME}
    overwriter = Overwriter(bench, bench.rng(PROBE_NAME), REQUEST_BYTES)
    most = min(int(SETTLE_SHARE * bench.info.capacity_bytes), MOST_BYTES)
    settled = overwriter.settle(most)
    if buffered and not _flush_works(overwriter, settled):
        return Undetectable(reason=Reason.MASKED, **common)
    pauses = Pauses(overwriter, settled)
    bench.progress("pauses", 0.3)
    low, high = _bracket(pauses)
    common["evidence"] = {"settled": settled.slowed, "settled_ns": settled.mean_ns}
    if high is None:
        common["evidence"] |= _evidence(pauses, None)
        pauses.make_work()
        rested = pauses.first_chunk_ns / settled.mean_ns
        common["evidence"]["rested_over_settled"] = rested
        quiet = np.quantile(list(pauses.slower.values()), 0.9) < LEAST_SLOWER / 2
        if settled.slowed and quiet and rested > AS_SLOW:
            reason = "no pause makes the next reads slow, or the next writes fast"
            return Absent(bound=float(LONGEST_NS), reason=reason, **common)
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    sure = low >= FIRST_NS and not pauses.works_after(round(low / BEYOND), 2 * TRIALS)
    sure = sure and pauses.works_after(high, 2 * TRIALS) and not pauses.rested_by(low)
    # Between two pieces of work a drive may be quiet.
    sure = sure and any(
        pauses.works_after(round(high * BEYOND**times), 2 * TRIALS) for times in (1, 2, 3)
    )
    common["evidence"] |= _evidence(pauses, high)
    if not sure:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    value = math.sqrt(low * high)
    # A read that finds the first step of the work under way comes a little late.
    interval = (low / 1.02, high * 1.02)
    return Detected(
        value=value, interval=interval, effect=float(np.expm1(pauses.slower[high])), **common
    )


def _flush_works(overwriter: Overwriter, settled: Settled) -> bool:
    """Tell whether a flush behind writes takes about as long as one of them, or longer."""
    capacity = overwriter.bench.info.capacity_bytes
    took = []
    for _ in range(TRIALS):
        overwriter.write(CHUNK, capacity)
        took.append(float(overwriter.bench.issue([OP_FLUSH], [0], [0]).latency_ns[0]))
    return float(np.median(took)) > 0.1 * settled.mean_ns


def _bracket(pauses: Pauses) -> tuple[int, int | None]:
    """Find two neighbouring pauses: the drive works behind the longer, not behind the shorter."""
    low, pause = 0, FIRST_NS
    while not _works(pauses, pause):
        low, pause = pause, round(pause * STEP)
        if pause > LONGEST_NS:
            return low, None
    high = pause
    while low and high > NARROW * low:
        middle = round(math.sqrt(low * high))
        if pauses.works_after(middle):
            high = middle
        else:
            low = middle
    return low, high


def _works(pauses: Pauses, pause_ns: int) -> bool:
    """Tell whether the drive works behind a pause, and soon makes reads much slower.

    It may begin with reads, which others hardly notice, but then it programs.
    """
    if not pauses.works_after(pause_ns):
        return False
    for times in range(PROGRAMS_SOON):
        longer = round(pause_ns * BEYOND**times)
        if times:
            pauses.works_after(longer)
        if pauses.slower[longer] >= MUCH_SLOWER:
            return True
    return False


def _evidence(pauses: Pauses, onset: int | None) -> dict[str, Any]:
    tried = sorted(pauses.slower)
    slower = [pauses.slower[each] for each in tried]
    picture = Picture(
        title="Reads behind a pause",
        caption="Where reads behind a pause are slower, the drive was at work for itself.",
        x=Axis("pause", "ns", log=True),
        y=Axis("logarithm of latency over that before"),
        series=[series("reads behind it", tried, slower, "points")],
        marks=[] if onset is None else [(float(onset), "onset")],
    )
    return {"pauses_ns": tried, "slower": slower, "picture": picture.to_json()}


def _declared(info: DeviceInfo) -> int:
    return 4 * info.capacity_bytes


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="how long a drive waits before it collects or merges in idle time",
    weight="heavy",
    properties=(ONSET,),
    cost="up to four capacities, written at random, and a hundred pauses",
    detect=detect,
    declared_writes_bytes=_declared,
)
