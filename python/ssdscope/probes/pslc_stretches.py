"""Stretches written in order behind pauses, and where the fast part of them ends.

It ends with the request from which on many take longer, or few very long; or with the first
persistent drop of the rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import Absent, Detected
from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.stats.stalls import LEAST_SLOW_BEHIND, SLOW
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_WRITE, OP_WRITE_FUA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

STEP_BYTES = 192 * 1024
"""Whole mapping units of any power of two up to 64 KiB, and of three times those up to 48 KiB."""
LEAST_BYTES = 96 * 1024
"""Of a request that is known to hold whole units, in a search: of smaller ones few would wait."""
FIRST_REQUESTS = 48
SEARCH_RUNS = 2
LONGEST_FAST = 0.85
"""Of a stretch, that may be fast for what is behind it to tell."""
FEWEST_FAST, SLOWER = 3, 1.3
"""Requests of a fast stretch, and times what these take from which on one is slower."""
LEAST_SLOWER = 1.35
"""Times the requests before a wait takes what is behind it, on average: mere erasing is less."""
DOUBTFUL = 1.15
"""Times the first half of the longest stretch takes the second: no proof that there is nothing."""
FAINT, SAME = 1.07, 1.1
"""Times the requests before a wait takes what is behind it, and times the bytes before it in one
stretch those in a longer one, for it to be maybe a region that gains little, as the link takes most
of the time: no proof, either."""
LATER_WAITS, LATER_REQUESTS, HEAD = 1.1, 384, 8
"""Times the first part of a stretch, of so many, the second half waits in the mean of its median,
in two stretches of so many requests, for it to be maybe a region that folds seldom: no proof."""
AS_LONG = 0.5
"""Of the longest wait that all stretches share: what an earlier one must have to be the end."""
FEWEST_REGULAR, IRREGULAR = 3, 1.25
"""Waits of one stretch, and times the shortest distance the longest, for them to be regular."""
REPEATED_SHARE = 1 / 16
"""Of the longest stretch, up to which one is repeated while it is searched for."""
LONGEST_SHARE = 1 / 4
"""Of the drive, in one stretch of a search; doubled until then, all come to twice as much."""
LAST_SHARE = 0.45
"""Of the drive, in one last stretch that has to be even for nothing to be there: a third of what
three-bit cells hold, which all that is free may become, and some spare."""
FIRST_IDLE_NS, LONG_IDLE_NS, MOST_IDLE_NS = 5_000_000_000, 80_000_000_000, 320_000_000_000
QUIET_NS = (8_000_000_000, 4_000_000_000, 2_000_000_000, 1_000_000_000, 500_000_000)
TRIES = 8
"""Pauses in which others may not come, the first that is to be had in so many tries."""
MIN_DROP = 0.1
MOST_BYTES = 1 << 35
"""In one stretch of a simulated drive, unless the budget is full: what its computer can bear."""


@dataclass(frozen=True)
class Stretch:
    """A fast stretch: requests taken before it ended, of each run, and how the runs went.

    Attributes
    ----------
    skipped
        Requests at its beginning that a buffer takes.
    """

    requests: NDArray[Any]
    length: int
    fast_ns: float
    slow_ns: float
    latency_ns: NDArray[Any]
    skipped: int = 0

    @property
    def usual(self) -> float:
        """Requests taken, in the median of the runs, without those skipped."""
        return float(np.median(self.requests)) - self.skipped

    @property
    def bytes(self) -> float:
        """Median over the runs, with what was skipped."""
        return float(np.median(self.requests)) * self.length


class Streams:
    """Writes stretches in order, each where the one before ended.

    Parameters
    ----------
    fine
        Whether to search in the smallest requests, and only what is too small for others.

    Attributes
    ----------
    forced
        Whether writes are, to pass a buffer that stays on.
    idle_ns
        The pause before a stretch.
    step_bytes, phase_bytes
        The smallest request, and how far before its multiples requests begin.
    aligned
        Whether requests are known to hold whole mapping units.
    finest_bytes
        The smallest request that holds whole ones: of a small region few others would.
    skipped_bytes
        At the beginning of each stretch, which a buffer takes, and which does not count.
    uneven
        Whether many writes of the last stretches took much longer than others.
    doubtful
        Whether a stretch seemed to have a slow part that another one did not, or two seemed to
        have a faint one from the same place on.
    faint
        Whether it was only the latter, and of the longest stretches.
    last_ns
        Latencies of the last stretches, shape (runs, requests).
    others
        Whether others came in the pauses before the last stretches: what they write then lies in
        the region, too, and what does not fill a block stays there.
    """

    def __init__(self, bench: Bench, *, forced: bool, fine: bool = False) -> None:
        self.bench = bench
        self.forced = forced
        # Simulated time costs nothing, and a region that folds slowly is not taken for none.
        self.idle_ns = LONG_IDLE_NS if bench.virtual else FIRST_IDLE_NS
        self.finest_bytes, self.phase_bytes, self.aligned = _requests(bench)
        self.step_bytes = self.finest_bytes * -(-LEAST_BYTES // self.finest_bytes)
        self._most_bytes = self.longest_bytes
        if fine:
            self._most_bytes = min(self._most_bytes, FIRST_REQUESTS * self.step_bytes)
            if not self.aligned:
                self.finest_bytes = base_request_bytes(bench.info)
            self.step_bytes = self.finest_bytes
        self.skipped_bytes = 0
        self.uneven = self.doubtful = self.faint = self.others = False
        self._tries = 1
        self._faint_from: list[float] = []
        self._later_waits = 0
        self._next = self.step_bytes
        self.last_ns = np.empty((0, 0))

    @property
    def longest_bytes(self) -> int:
        """The most in one stretch of a search."""
        share = int(self.bench.window.size_bytes * LONGEST_SHARE)
        full = self.bench.budget.heavy or not self.bench.virtual
        return share if full else min(share, MOST_BYTES)

    @property
    def shortened(self) -> bool:
        """Whether that is less than its share of the drive."""
        return self.longest_bytes < int(self.bench.window.size_bytes * LONGEST_SHARE)

    def rest(self, idle_ns: int, *, discard: bool = True) -> None:
        """Flush; discard everything, so that spare space does not matter, and leave it alone."""
        self.bench.issue([OP_FLUSH], [0], [0])
        if idle_ns:
            if discard and self.bench.info.discard:
                window = self.bench.window
                self.bench.issue([OP_DISCARD], [window.offset_bytes], [window.size_bytes])
            self.bench.idle(idle_ns)

    def _emptied(self) -> bool:
        """Rest, again if others come meanwhile; say whether nobody did in the last pause."""
        for _ in range(self._tries):
            before = self.bench.foreign
            self.rest(self.idle_ns)
            if self.bench.foreign == before:
                return True
        return False

    def alone(self, requests: int, length: int, runs: int) -> Stretch | None:
        """Repeat a stretch behind the longest pauses in which others do not come; None if none.

        From then on all pauses are such. Behind a discard a short one may do, as nothing that has
        to be folded is left.
        """
        self._tries = TRIES
        for self.idle_ns in QUIET_NS:
            if self._emptied():
                found = self.measure(requests, length, runs)
                if not self.others:
                    return found
        return None

    def write(self, requests: int, length: int) -> NDArray[Any]:
        """Write one stretch; give its latencies, shape (requests,)."""
        size = self.bench.window.size_bytes
        begin = -(-self._next // length) * length
        if begin + requests * length > size:
            begin = length if self.phase_bytes else 0
        self._next = begin + requests * length
        offsets = np.uint64(begin - self.phase_bytes) + np.arange(
            requests, dtype=np.uint64
        ) * np.uint64(length)
        op = OP_WRITE_FUA if self.forced else OP_WRITE
        return self.bench.issue(op, offsets, length).latency_ns.astype(float)

    def measure(self, requests: int, length: int, runs: int) -> Stretch | None:
        """Repeat a stretch behind pauses; None if none of it is faster."""
        self.others = False

        def run() -> NDArray[Any]:
            self.others |= not self._emptied()
            return self.write(requests, length)

        every = np.array([in_peace(self.bench, run) for _ in range(runs)])
        skipped = -(-self.skipped_bytes // length)
        self.last_ns = times = every[:, skipped:]
        self.uneven = bool((times > SLOW * np.quantile(times, 0.25)).mean() > LEAST_SLOW_BEHIND)
        self._later_waits += times.shape[1] >= LATER_REQUESTS and _waits_later(times)
        found = _waited(times, length, LEAST_SLOWER) or _dropped(times, length, self.bench.seed)
        if found is None and (faint := _waited(times, length, FAINT)) is not None:
            self._faint_from.append(faint.bytes)
        if found is None or not skipped:
            return found
        return replace(found, requests=found.requests + skipped, skipped=skipped, latency_ns=every)

    def _runs(self, requests: int, runs: int) -> int:
        """Give how often a stretch is repeated: a long one takes much of what may be written."""
        return 1 if requests * self.step_bytes > REPEATED_SHARE * self.longest_bytes else runs

    def again(self, found: Stretch) -> Stretch | None:
        """Repeat a stretch, with some behind its end; a longer one if nothing of it was slow."""
        most = self.longest_bytes // self.step_bytes
        for times in (1.4, 4.0):
            requests = min(round(times * float(np.median(found.requests))) + 8, most)
            same = self.measure(requests, self.step_bytes, self._runs(requests, SEARCH_RUNS))
            if same is not None:
                return same
        self.doubtful = True
        return None

    def find(self, runs: int) -> tuple[int, Stretch | None]:
        """Make stretches longer until there is a slow part behind the fast one; give how long."""
        most = self._most_bytes // self.step_bytes
        requests = min(FIRST_REQUESTS + self.skipped_bytes // self.step_bytes, most)
        while True:
            found = self.measure(requests, self.step_bytes, runs)
            if found is not None and np.median(found.requests) <= 0.75 * requests:
                return requests, found
            if 2 * requests > most:
                behind = self._slower_behind()
                self.faint = not behind and self._faint_again()
                self.doubtful = behind or self.faint
                return requests, None
            requests *= 2
            runs = self._runs(requests, runs)

    def last(self) -> Stretch | None:
        """Write one as long as the largest region; None if nothing of it is surely slower."""
        requests = int(self.bench.window.size_bytes * LAST_SHARE) // self.step_bytes
        found = self.measure(requests, self.step_bytes, 1)
        return found if found and found.slow_ns >= LEAST_SLOWER * found.fast_ns else None

    def _faint_again(self) -> bool:
        places = np.sort(self._faint_from)
        return self._later_waits > 1 or bool((places[1:] < SAME * places[:-1]).any())

    def _slower_behind(self) -> bool:
        head, tail = np.array_split(self.last_ns.mean(axis=0), 2)
        return bool(tail.mean() > DOUBTFUL * head.mean())


def _requests(bench: Bench) -> tuple[int, int, bool]:
    """Choose the finest request: whole mapping units where those are known, and their phase."""
    unit, phase = bench.known.get("rmw_unit_bytes"), bench.found("alignment_phase_bytes")
    if isinstance(unit, Absent):
        return base_request_bytes(bench.info), 0, True
    if isinstance(unit, Detected) and phase is not None:
        return int(float(unit.value)), int(float(phase)) % int(float(unit.value)), True
    return STEP_BYTES, 0, False


def _waited(times: NDArray[Any], length: int, least_slower: float) -> Stretch | None:
    """Look for the request from which on many wait, or few for long.

    The longest part that surely does not wait tells most of it, so longer ones are tried first.
    """
    requests = times.shape[1]
    least = requests // 2
    while least >= FEWEST_FAST:
        waits = stats.waits_from(times, least, SLOWER)
        # One that waits from the first on that may has waited before.
        if waits is not None and least < np.median(waits.accepted) <= LONGEST_FAST * requests:
            ends = _before_all_waited(times, _where_others_ended(times, waits.accepted))
            parts = list(zip(times, ends, strict=True))
            fast = np.concatenate([row[:at] for row, at in parts])
            slow = np.concatenate([row[at:] for row, at in parts])
            both = fast.size > 0 and slow.size > 0
            if both and slow.mean() >= least_slower * fast.mean():
                return Stretch(ends, length, float(np.median(fast)), float(slow.mean()), times)
        least //= 2
    return None


def _waits_later(times: NDArray[Any]) -> bool:
    """Tell whether some wait in the second half, of which none do in the beginning.

    A mean over its median: what drifts is in both.
    """
    requests = times.shape[1]
    head, tail = times[:, : requests // HEAD], times[:, requests // 2 :]
    waits = [float(part.mean() / np.median(part)) for part in (head, tail)]
    return waits[1] >= LATER_WAITS * waits[0]


def _where_others_ended(times: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """Take a stretch to end where most do if it waited there, though few waits followed at once."""
    usual_end = int(np.median(ends))
    near = slice(max(usual_end - 1, 0), usual_end + 2)
    waited = times[:, near] > LEAST_SLOWER * np.median(times[:, : near.start], axis=1)[:, None]
    early = (ends >= near.stop) & waited.any(axis=1)
    return np.where(early, near.start + np.argmax(waited, axis=1), ends)


def _before_all_waited(times: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """Go back to a request at which all waited before, as long as they do behind the end.

    What fills a region in parts waits once for each, and the first such wait is lost among the many
    that do not wait before and behind it. No disturbance comes at the same request each time. Of
    one stretch the waits behind must be as far apart as they are from that one.
    """
    end, all_ns = int(ends.min()), times.min(axis=0)
    usual = float(np.median(all_ns[:end]))
    longest = float(all_ns[end:].max())
    if longest < SLOWER * usual:
        return ends
    waited = np.flatnonzero(all_ns - usual >= AS_LONG * (longest - usual))
    if waited[0] >= end or (len(times) < SEARCH_RUNS and not _regular(waited, end)):
        return ends
    return np.asarray(np.minimum(ends, waited[0]))


def _regular(waited: NDArray[np.int64], end: int) -> bool:
    """Whether waits come evenly, and only the first before the end."""
    between = np.diff(waited)
    many = waited.size >= FEWEST_REGULAR and waited[1] >= end
    return bool(many and between.max() <= IRREGULAR * between.min())


def _dropped(times: NDArray[Any], length: int, seed: int) -> Stretch | None:
    """Look for a drop of the rate that is too small to be a stall."""
    typical = np.median(times, axis=0)
    bins = min(len(typical), 200)
    edges, rates = stats.binned_rates(np.full(len(typical), length), typical, bins)
    found = stats.knees(edges, rates, min_drop=MIN_DROP, seed=seed)
    if not found:
        return None
    at = found[0].bytes / length
    fast, slow = length / found[0].rate_before, length / found[0].rate_after
    return Stretch(np.full(len(times), at), length, fast, slow, times)
