"""The probe `pslc`: how much a drive writes with one bit per cell before it slows down.

Physics. Such a region takes writes several times faster; when it is full they wait until a part
of it is folded, or go to the slower blocks. Idle time empties it, a flush does not. Statistic.
After a pause a stretch is written in order, in requests that hold whole mapping units of any
usual size, one at a time; the request from which on many wait (`stats.stalls`), or the first
persistent drop of the rate (`stats.knee`), by bytes. Written in order, spare space is no
matter: what is collected holds nothing.

Decision. The stretch is repeated after ever longer pauses until it grows no more, then measured
five times in some fifty requests. Detected if a stretch behind a mere flush is slow from its
beginning: a write buffer would be as fast again. The buffer is switched off, or its size
(property `write_buffer_bytes`) is taken off. Requests of several sizes must tell one size, since
units cut by the ends of requests take room twice. No drop: absent, up to the bytes written.

Assumptions. The fast stretch is longer than twelve requests, and shorter than a third of the
drive. Cost: up to a capacity. Source: PROBING 2.5, 3.7.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.finding import Absent, Detected, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.stats.stalls import LEAST_SLOW_BEHIND, SLOW
from ssdscope.targets.records import OP_FLUSH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.finding import Finding
    from ssdscope.targets.records import DeviceInfo

SIZE = "pslc_bytes"
PROBE_NAME = "pslc"

STEP_BYTES = 192 * 1024
"""Whole mapping units of any power of two up to 64 KiB, and of three times those up to 48 KiB."""
LEAST_BYTES = 96 * 1024
"""Of a request that is known to hold whole units; of smaller ones too few would have to wait."""
FIRST_REQUESTS = 48
SEARCH_RUNS, SIZE_RUNS = 2, 5
LONGEST_SHARE = 1 / 3
"""Of the drive, in one stretch; and of what may be written, to one search."""
WANTED_REQUESTS = 48
FEWEST_REQUESTS = 12
FIRST_IDLE_NS, MOST_IDLE_NS = 5_000_000_000, 320_000_000_000
GREW = 1.1
NO_WASTE = 0.03
"""Share of the size by which requests of two sizes may differ without any reason."""
STILL_SLOW = 1.25
"""A stretch behind a flush alone must take so many times longer than one behind a pause."""
MIN_DROP = 0.1
USELESS_WIDTH = 0.16
MASKED_SHARE = 0.5
"""A write buffer larger than this share of the stretch hides it."""
MOST_BYTES = 1 << 34
"""In one stretch of a simulated drive: what its computer can bear."""


@dataclass(frozen=True)
class Stretch:
    """A fast stretch: requests taken before it ended, of each run, and how the runs went."""

    requests: NDArray[Any]
    length: int
    fast_ns: float
    slow_ns: float
    latency_ns: NDArray[Any]

    @property
    def bytes(self) -> float:
        """Median over the runs."""
        return float(np.median(self.requests)) * self.length


class Streams:
    """Writes stretches in order, each where the one before ended.

    Attributes
    ----------
    idle_ns
        The pause before a stretch.
    step_bytes, phase_bytes
        The smallest request, and how far before its multiples requests begin.
    aligned
        Whether requests are known to hold whole mapping units.
    uneven
        Whether many writes of the last stretches took much longer than others.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.idle_ns = FIRST_IDLE_NS
        self.step_bytes, self.phase_bytes, self.aligned = _requests(bench)
        self.uneven = False
        self._next = self.step_bytes

    @property
    def longest_bytes(self) -> int:
        """The most in one stretch."""
        return min(int(self.bench.window.size_bytes * LONGEST_SHARE), MOST_BYTES)

    def rest(self, idle_ns: int) -> None:
        """Flush, then leave the drive alone."""
        self.bench.issue([OP_FLUSH], [0], [0])
        if idle_ns:
            self.bench.idle(idle_ns)

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
        return self.bench.write(offsets, length).latency_ns.astype(float)

    def measure(self, requests: int, length: int, runs: int) -> Stretch | None:
        """Repeat a stretch behind pauses; None if none of it is faster."""

        def run() -> NDArray[Any]:
            self.rest(self.idle_ns)
            return self.write(requests, length)

        times = np.array([in_peace(self.bench, run) for _ in range(runs)])
        self.uneven = bool((times > SLOW * np.quantile(times, 0.25)).mean() > LEAST_SLOW_BEHIND)
        stall = stats.first_stall(times)
        if stall is not None and stall.requests >= FEWEST_REQUESTS / 2:
            return Stretch(stall.accepted, length, stall.fast_ns, stall.slow_ns, times)
        return _dropped(times, length, self.bench.seed)

    def find(self, runs: int) -> tuple[int, Stretch | None]:
        """Make stretches longer until there is a slow part behind the fast one; give how long."""
        requests = FIRST_REQUESTS
        most = self.longest_bytes // self.step_bytes
        while True:
            requests = min(requests, most)
            found = self.measure(requests, self.step_bytes, runs)
            if found is not None and np.median(found.requests) <= 0.75 * requests:
                return requests, found
            if requests == most:
                return requests, None
            requests *= 2
            runs = 1 if requests * self.step_bytes * runs > self.longest_bytes / 3 else runs


def _requests(bench: Bench) -> tuple[int, int, bool]:
    """Choose the smallest request: whole mapping units where those are known, and their phase."""
    unit, phase = bench.known.get("rmw_unit_bytes"), bench.found("alignment_phase_bytes")
    if isinstance(unit, Absent):
        return LEAST_BYTES, 0, True
    if isinstance(unit, Detected) and phase is not None:
        size = int(float(unit.value))
        return size * -(-LEAST_BYTES // size), int(float(phase)) % size, True
    return STEP_BYTES, 0, False


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


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the size of the region."""
    cache = bench.info.write_cache
    switched_off = cache.control == "switchable" and cache.on
    with bench.caches(write=False) if switched_off else nullcontext():
        yield _answer(bench, 0.0 if switched_off or cache.control == "absent" else _buffer(bench))


def _buffer(bench: Bench) -> float | None:
    """Give the size of a buffer that stays on; None if there may be one of any size."""
    size = bench.found("write_buffer_bytes")
    return None if size is None else float(size)


def _answer(bench: Bench, buffer_bytes: float | None) -> Finding:
    streams = Streams(bench)
    if streams.longest_bytes // streams.step_bytes < FIRST_REQUESTS:
        return Undetectable(name=SIZE, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)
    found = _adapted(streams)
    evidence: dict[str, Any] = {"idle_ns": streams.idle_ns, "buffer_bytes": buffer_bytes}
    common: dict[str, Any] = {"name": SIZE, "probe": PROBE_NAME, "evidence": evidence}
    if found is None and streams.uneven:
        evidence["detail"] = "many writes wait from the first on, as where a region is always full"
        return Undetectable(reason=Reason.MASKED, **common)
    if found is None:
        return Absent(
            bound=float(streams.longest_bytes),
            reason="writes in order are as fast at the end of a long stretch as behind a pause",
            **common,
        )
    bench.progress("stretches behind pauses", 0.5)
    step = streams.step_bytes
    length = step * max(1, round(found.bytes / WANTED_REQUESTS / step))
    requests = round(1.5 * found.bytes / length) + 8
    fine = streams.measure(requests, length, SIZE_RUNS)
    if fine is None or np.median(fine.requests) < FEWEST_REQUESTS:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    evidence |= _evidence(fine)
    if not _slow_behind_a_flush(streams, fine, evidence):
        evidence["detail"] = "what is fast again after a flush is a buffer, which may hide a region"
        return Undetectable(reason=Reason.MASKED, **common)
    if buffer_bytes is None or buffer_bytes > MASKED_SHARE * fine.bytes:
        return Undetectable(reason=Reason.MASKED, **common)
    coarser = [
        streams.measure(requests // times + 4, times * length, SEARCH_RUNS)
        for times in ((2,) if streams.aligned else (2, 4))
    ]
    found_all = [each for each in coarser if each is not None]
    if len(found_all) < len(coarser):
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    judged = _judged([fine, *found_all], buffer_bytes, aligned=streams.aligned)
    evidence["told_by_request_size_bytes"] = judged["told"]
    value, (low, high) = judged["value"], judged["interval"]
    if not judged["agree"]:
        evidence["detail"] = "requests of several sizes do not fill it with the same bytes"
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    if high - low > USELESS_WIDTH * value:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    effect = fine.slow_ns / fine.fast_ns - 1
    return Detected(value=value, interval=(low, high), effect=effect, **common)


def _adapted(streams: Streams) -> Stretch | None:
    """Find the stretch behind ever longer pauses, until it grows no more."""
    requests, found = streams.find(SEARCH_RUNS)
    while found is not None and streams.idle_ns < MOST_IDLE_NS:
        streams.idle_ns *= 4
        enough = min(requests, round(1.4 * float(np.median(found.requests))) + 8)
        again = streams.measure(enough, streams.step_bytes, SEARCH_RUNS)
        if again is not None and again.bytes <= GREW * found.bytes:
            break
        requests, found = streams.find(SEARCH_RUNS)
    return found


def _slow_behind_a_flush(streams: Streams, fine: Stretch, evidence: dict[str, Any]) -> bool:
    """Tell whether a flush alone does not bring the fast stretch back."""
    requests = max(4, round(0.6 * float(np.median(fine.requests))))
    streams.rest(0)
    flushed = streams.write(requests, fine.length)
    rested = np.median(fine.latency_ns[:, :requests], axis=0)
    evidence["flushed_over_rested"] = float(flushed.mean() / rested.mean())
    return bool(evidence["flushed_over_rested"] >= STILL_SLOW)


def _judged(stretches: list[Stretch], buffer_bytes: float, *, aligned: bool) -> dict[str, Any]:
    """Make a value and an interval of requests of several sizes.

    What a request wastes, because a unit that it fills in part takes room twice, is the same for
    all sizes: ``1 / V = (1 + waste / length) / size``, a line whose start is sought.
    """
    lengths = np.array([each.length for each in stretches], dtype=float)
    # A request that has to wait began in the region and ended outside: half of it on average.
    told = np.array([each.bytes for each in stretches]) + lengths / 2 - buffer_bytes
    if aligned:
        value, expected = told[0], np.full(len(told), told[0])
        error = lengths[0]
    else:
        away = 1 / lengths - (1 / lengths).mean()
        slope = max(0.0, float(away @ (1 / told) / (away @ away)))
        start = float((1 / told).mean() - slope * (1 / lengths).mean())
        value = 1 / start if start > 0 else np.inf
        expected = 1 / (start + slope / lengths)
        error = lengths[0] * (1 if slope == 0 else 2) + NO_WASTE * value
    agree = bool((np.abs(told - expected) <= lengths / 2 + NO_WASTE * told).all())
    spread = np.quantile(stretches[0].requests, [0.1, 0.9]) * lengths[0]
    error = max(float(error), float(spread[1] - spread[0]) / 2)
    return {
        "value": float(value),
        "interval": (float(value) - error, float(value) + error),
        "agree": agree,
        "told": told.tolist(),
    }


def _evidence(fine: Stretch) -> dict[str, Any]:
    """Gather the runs, and what a sceptic looks at."""
    places = np.arange(fine.latency_ns.shape[1]) * fine.length
    rates = fine.length / np.median(fine.latency_ns, axis=0) * 1e9
    picture = Picture(
        title="Writing in order behind a pause",
        caption="Rate of each request, median over equal stretches; behind the mark it drops.",
        x=Axis("written", "bytes"),
        y=Axis("rate", "bytes/s", log=True),
        series=[series("written in order", places, rates, "points")],
        marks=[(fine.bytes, "full")],
    )
    return {
        "request_bytes": fine.length,
        "requests_before_drop": fine.requests.tolist(),
        "fast_ns": fine.fast_ns,
        "slow_ns": fine.slow_ns,
        "picture": picture.to_json(),
    }


def _declared(info: DeviceInfo) -> int:
    return info.capacity_bytes


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="region written with one bit per cell: how much fits before writes slow down",
    weight="standard",
    properties=(SIZE,),
    cost="up to one capacity, written in order",
    detect=detect,
    declared_writes_bytes=_declared,
)
