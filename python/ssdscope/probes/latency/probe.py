"""The probe `latency`: what a read costs per request and per byte, and how deep to queue.

Command, firmware, table and sensing cost the same for any size, bus and link cost by the byte;
drives that stripe a request climb in steps between, so the `line` is one of all sizes. Blocks of
random reads hold each size once, and are read again and again: a request meets the same tables,
caches and chips each time, so that what differs is delay (`noise.quickest`). On a simulated drive
repetitions are spread over minutes of its time; a real one has sittings with places of their own,
and the interval holds what another run would give. docs/probes.md has the rest. PROBING 2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    PROPERTIES,
    SIZE_SWEEP,
    Axis,
    Evidence,
    Exhibit,
    Finding,
    Line,
    Reason,
    series,
)
from ssdscope.inference.levels import LEAST_EFFECT
from ssdscope.inference.noise import floor, medians, quickest
from ssdscope.inference.series import Series, Weighed, joined
from ssdscope.probes import verdict
from ssdscope.probes.bench.discipline import (
    MAX_DROPPED_SHARE,
    MAX_FOREIGN_SHARE,
    base_request_bytes,
    cautions,
    undivided,
)
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.latency import queue_depth
from ssdscope.probes.latency.line import line
from ssdscope.probes.plan import Ask, Plan, Stopped
from ssdscope.targets.quiet import machine_busy
from ssdscope.targets.records import OP_READ, DeviceInfo
from ssdscope.units import format_binary, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench

NAME, ALPHA, BETA = "latency", "read_latency_alpha_ns", "read_latency_beta_ns_per_byte"

FITTED, SHOWN = 64, (128, 256)
"""Multiples of the smallest read: all up to the first make the line."""
TOLERANCE = PROPERTIES[ALPHA].tolerance or 0.0
"""A line that misses latencies by more is none, and a value that may be off by more is not told."""
LEAST_SIZES = 4
REPEATS, BATCHES = 5, 32
LEAST_BLOCKS, MOST_BLOCKS = 64, 128
"""About as many as read a drive of half a GiB to one once over."""
ENDS = 8
"""Parts of the sizes, of which the first and the last are short and long reads."""
PLACES, HELD = 4, 20
"""Before each block the same few places are read, five times over: the first time looks up what
they need, the others tell how long answers are held back at the time, by drift above all."""
MORE = 2
"""Times as many where they do not tell."""
SPREAD_NS = 200_000_000_000
"""Over which repetitions lie: twice what the slowest drift takes that docs/observability.md has."""
AFTER_OTHERS_NS = 250_000_000
SITTINGS, SITTING_REPEATS = 8, 3
SHARE_OF_WALL = 1 / 12
"""Of the time of a real drive, for reading; as much is spent between sittings."""


def sizes_of(info: DeviceInfo) -> NDArray[np.int64]:
    """Give the sizes that are read, fewer on a small drive."""
    every = base_request_bytes(info) * np.array([*range(1, FITTED + 1), *SHOWN])
    return np.asarray(every[every <= info.capacity_bytes // 8], np.int64)


@dataclass(frozen=True, kw_only=True)
class Sizes(Plan):
    """One list of random reads of all sizes, read again and again.

    Attributes
    ----------
    blocks
        How many times the list holds each size; 0 for as many as there is time for.
    repeats
        Besides the first time, which warms what the list meets.
    """

    blocks: int = 0
    repeats: int = REPEATS

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Give the mean undelayed latency by size, of batches of blocks as strata.

        At size 0 stands by what share they may be off: the correction of `quickest`, and what
        short reads changed against long ones from repetition to repetition. A sitting beside which
        the machine was busy is not valid.
        """
        sizes = sizes_of(bench.info)
        if sizes.size < LEAST_SIZES:
            raise Stopped(Reason.RANGE_TOO_SMALL)
        whole = undivided(bench, sizes.astype(np.uint64), bench.rng("undivided"))
        if whole.size < LEAST_SIZES:
            raise Stopped(Reason.REQUEST_SPLIT)
        sizes, heard = whole.astype(np.int64), bench.take_quiet()
        allowed_s = bench.budget.wall_s * SHARE_OF_WALL / SITTINGS
        blocks = self.blocks or self._affordable(bench, sizes, rng, allowed_s)
        order = rng.permuted(np.tile(np.arange(sizes.size), (blocks, 1)), axis=1)
        lengths = np.hstack([np.full((blocks, HELD), sizes[0]), sizes[order]])
        starts = rng.integers(0, bench.info.capacity_bytes // lengths) * lengths
        starts[:, :HELD] = np.resize(starts[0, :PLACES], HELD)
        _read(bench, starts, lengths, 0, rng)
        rest_ns = int(SPREAD_NS / self.repeats / blocks) if bench.virtual else 0
        again = [_read(bench, starts, lengths, rest_ns, rng) for _ in range(self.repeats)]
        quiet = bench.quiet
        bench.hear([heard, quiet])
        if quiet is not None and quiet.drowned:
            raise Stopped(Reason.MACHINE_BUSY, machine_busy(quiet))
        if not bench.virtual:
            bench.idle(int(1e9 * allowed_s))
        return self._reduced(sizes, order, np.array(again), busy=bool(machine_busy(quiet)))

    def _affordable(
        self, bench: Bench, sizes: NDArray[np.int64], rng: np.random.Generator, allowed_s: float
    ) -> int:
        """Say how many blocks can be read so many times; two at least, for their scatter."""
        starts = rng.integers(0, bench.info.capacity_bytes // sizes) * sizes
        log = bench.read(starts.astype(np.uint64), sizes.astype(np.uint64), keep_errors=True)
        span_s = max(float(log.complete_ns.max() - log.submit_ns.min()), 1.0) / 1e9
        return int(np.clip(allowed_s / (self.repeats + 1) / span_s, 2, LEAST_BLOCKS))

    def _reduced(
        self,
        sizes: NDArray[np.int64],
        order: NDArray[np.int64],
        times: NDArray[np.float64],
        *,
        busy: bool,
    ) -> Series:
        """Give means of what reads take undelayed, of times by repeat, block and size."""
        order, times = _whole(order, times)
        held = times[:, :, PLACES:HELD]
        longer = (held.reshape(-1, PLACES) / floor(held.reshape(-1, PLACES))).reshape(held.shape)
        usual = np.median(longer, axis=2)
        if not np.isfinite(usual).any():
            raise Stopped(Reason.INTERFERENCE, "others came across most reads")
        times[usual > queue_depth.CALM * np.nanmedian(usual)] = np.nan
        order, times, longer = _whole(order, times[:, :, HELD:], longer)
        piece = np.repeat(np.arange(len(order)), sizes.size)
        floors, correction = quickest(times.reshape(len(times), -1), piece, longer)
        by_size = np.empty(order.shape)
        np.put_along_axis(by_size, order, floors.reshape(order.shape), axis=1)
        # What others write may move tables to faster cells: short reads change against long ones.
        delays = np.log(times) - np.log(floors.reshape(order.shape))
        fitted = min(sizes.size, FITTED)
        end = -(-fitted // ENDS)
        short, long = (
            medians(delays[:, chosen])
            for chosen in (order < end, (order >= fitted - end) & (order < fitted))
        )
        changed = (short - long)[np.isfinite(short - long)]
        correction = math.hypot(correction, float(np.ptp(changed)) if changed.size else 0.0)
        batches = np.array_split(by_size, min(BATCHES if self.blocks else 2, len(by_size)))
        means = np.array([batch.mean(axis=0) for batch in batches])
        strata = np.repeat(np.arange(len(batches)), sizes.size) + BATCHES * self.number
        return Series.of(
            np.append(np.tile(sizes, len(batches)), 0),
            np.append(means.ravel(), correction),
            stratum=np.append(strata, strata[0]),
            valid=np.full(strata.size + 1, not busy),
        )


def _whole(order: NDArray[np.int64], *times: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    """Keep blocks all of whose reads have two times at least, by the first of those."""
    kept = (np.isfinite(times[0]).sum(axis=0) >= 2).all(axis=1)
    if kept.mean() < 1 - MAX_DROPPED_SHARE:
        raise Stopped(Reason.INTERFERENCE, "others came across most reads")
    return order[kept], *(each[:, kept] for each in times)


def _read(
    bench: Bench,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rest_ns: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Read a list block by block, with rests of about so long; NaN where others came across."""
    times, failed, lost = np.full(starts.shape, np.nan), 0, 0
    for done, (row, start, length) in enumerate(zip(times, starts, lengths, strict=True)):
        try:
            log = bench.issue(
                OP_READ,
                start.astype(np.uint64),
                length.astype(np.uint64),
                keep_errors=True,
                most_foreign_share=MAX_FOREIGN_SHARE,
                undivided=True,
            )
        except Stopped as stop:
            lost += 1
            if stop.reason is not Reason.INTERFERENCE or 4 * lost > 3 * max(done, LEAST_BLOCKS / 2):
                raise
            bench.idle(AFTER_OTHERS_NS)
        else:
            good = log.error == 0
            failed += not good.all()
            row[good] = log.latency_ns[good]
        if rest_ns:
            bench.idle(int(rng.uniform(0, 2 * rest_ns)))
    if failed > MAX_DROPPED_SHARE * len(times):
        said = f"requests failed in {failed} of {len(times)} blocks"
        raise Stopped(Reason.DEVICE_ERRORS, said)
    if (times <= 0).mean() > MAX_DROPPED_SHARE:
        raise Stopped(Reason.EFFECT_BELOW_NOISE, "answers come faster than the clock can tell")
    return np.where(times > 0, times, np.nan)


def detect(ask: Ask) -> Iterator[Finding]:
    """Answer all three."""
    yield from _line(ask)
    yield from queue_depth.detect(ask)


def _line(ask: Ask) -> Iterator[Finding]:
    """Answer alpha and beta."""
    try:
        taken, weights = _measured(ask)
    except Stopped as stop:
        said = Evidence(detail=stop.detail or None)
        for name in (ALPHA, BETA):
            yield verdict.refused(name, stop.reason, said, probe=NAME)
        return
    evidence = _evidence(ask.info, taken, *weights)
    for name, found in zip((ALPHA, BETA), weights, strict=True):
        yield _answer(name, found, evidence)


def _measured(ask: Ask) -> tuple[Series, tuple[Weighed, Weighed]]:
    """Take series, of a simulated drive more where one does not tell; fit a line to them."""
    if ask.info.clock != "virtual":
        sittings = []
        for number in range(SITTINGS):
            sittings.append(ask.take(Sizes(repeats=SITTING_REPEATS, number=number)))
            ask.progress("read latency against size", (number + 1) / SITTINGS / 2)
        quiet = [each for each in sittings if each.valid.all()]
        used = quiet if 2 * len(quiet) >= len(sittings) else sittings
        used = [replace(each, valid=np.ones(len(each), np.bool_)) for each in used]
        return joined(used), _lasting(used)
    first, more = plans(ask.info)
    taken = ask.take(first)
    ask.progress("read latency against size", 1 / 4)
    weights = _through(taken)
    if any(map(_unsure, weights)):
        taken = taken.then(ask.take(more))
        weights = _through(taken)
    ask.progress("read latency against size", 1 / 2)
    return taken, weights


def _through(taken: Series) -> tuple[Weighed, Weighed]:
    """Fit the line, and widen its intervals by what floors may be off."""
    off = float(taken.y[taken.x == 0].mean())
    largest = np.unique(taken.x)[: FITTED + 1][-1]
    alpha, beta = line(taken.where((taken.x > 0) & (taken.x <= largest)))
    return _wider(alpha, off * (alpha.estimate or 0.0)), _wider(beta, off * (beta.estimate or 0.0))


def _wider(found: Weighed, by: float) -> Weighed:
    """Widen an interval by something that is independent of what made it."""
    if found.estimate is None or found.interval is None:
        return found
    low, high = (math.hypot(end - found.estimate, by) for end in found.interval)
    return replace(found, interval=(found.estimate - low, found.estimate + high))


def _unsure(found: Weighed) -> bool:
    """Whether more may tell: a value whose interval reaches too far, or that may be none."""
    if found.estimate is None or found.interval is None:
        return False
    low, high = found.interval
    return max(high - found.estimate, found.estimate - low) > TOLERANCE * abs(found.estimate)


def _lasting(sittings: list[Series]) -> tuple[Weighed, Weighed]:
    """Fit the line to all sittings; what differs between them counts in whole."""
    alpha, beta = _through(joined(sittings))
    halves = np.array(
        [
            [_plain(each.where(each.stratum == half)) for half in np.unique(each.stratum)]
            for each in sittings
        ]
    )
    half_widths = [stats.lasting(each.mean(axis=1), each) for each in np.moveaxis(halves, 2, 0)]
    return _wider(alpha, half_widths[0]), _wider(beta, half_widths[1])


def _plain(taken: Series) -> tuple[float, float]:
    """Give intercept and slope of one stratum."""
    fitted = taken.where((taken.x > 0) & (taken.x <= np.unique(taken.x)[: FITTED + 1][-1]))
    slope, intercept = np.polyfit(fitted.x, fitted.y, 1)
    return float(intercept), float(slope)


def _answer(name: str, found: Weighed, evidence: Evidence) -> Finding:
    """Answer one of the two, unless there is no line, or it hangs on the sizes."""
    if found.estimate is not None:
        said = None
        if found.detail["missed_most"] > TOLERANCE:
            said = f"the latencies are no line: it misses them by {found.detail['missed']:.0%}"
        elif found.detail["bent"] > TOLERANCE and found.effect >= LEAST_EFFECT:
            said = "they bend: the line through the lower half of the sizes is another"
        if said:
            said = f"{said}; {_ends(evidence)}"
            return verdict.refused(name, Reason.MODEL_MISFIT, evidence.saying(said), probe=NAME)
    return verdict.weighed(name, found, "line", evidence, probe=NAME)


def _ends(evidence: Evidence) -> str:
    """Say what the shortest read takes, and the longest that counts: all that is known of both."""
    shown = evidence.exhibits[0].series[0]
    times = zip(shown.x[:FITTED], shown.y, strict=False)
    short, *_, long = (f"{format_binary(size)} takes {format_duration(ns)}" for size, ns in times)
    return f"a read of {short}, one of {long}"


def _evidence(info: DeviceInfo, taken: Series, alpha: Weighed, beta: Weighed) -> Evidence:
    """Gather latencies with intervals, the line, and where it holds."""
    evidence = Evidence(cautions=tuple(cautions(info)))
    sizes = np.unique(taken.x[taken.x > 0])
    table = np.array([taken.y[taken.x == size] for size in sizes])
    means = table.mean(axis=1)
    margins = 2 * table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    exhibit = Exhibit(
        name=SIZE_SWEEP,
        title="Read latency against size",
        caption="Means over random places of what reads take when nothing delays them, depth 1.",
        x=Axis("read size", "bytes", log=True),
        y=Axis("latency", "ns", log=True),
        series=(
            series(
                "reads, 95 % interval", sizes, means, "points",
                low=means - margins, high=means + margins,
            ),
        ),
    )  # fmt: skip
    bandwidth = sizes / means
    evidence = evidence.showing(exhibit).noting(
        n90_bytes=int(sizes[int(np.argmax(bandwidth >= 0.9 * bandwidth.max()))])
    )
    if alpha.estimate is None or beta.estimate is None:
        return evidence
    misses = np.abs((alpha.estimate + beta.estimate * sizes) / means - 1)
    beyond = np.flatnonzero((misses > TOLERANCE) & (np.arange(sizes.size) >= FITTED))
    last = sizes[(beyond[0] if beyond.size else sizes.size) - 1]
    fitted = Line(
        intercept=alpha.estimate,
        slope=beta.estimate,
        first=float(sizes[0]),
        last=float(last),
        error=alpha.detail["missed"],
        word="alpha + beta·size",
    )
    return evidence.fitting(SIZE_SWEEP, fitted).noting(
        linear_region_bytes=(int(sizes[0]), int(last)),
        alpha_ns=alpha.estimate,
        beta_ns_per_byte=beta.estimate,
        typical_relative_error=alpha.detail["missed"],
    )


def plans(info: DeviceInfo) -> tuple[Sizes, Sizes]:
    """Give what a simulated drive is asked, at first and for more."""
    every = sizes_of(info)[:FITTED].sum()
    blocks = int(np.clip(info.capacity_bytes // max(int(every), 1), LEAST_BLOCKS, MOST_BLOCKS))
    return Sizes(blocks=blocks), Sizes(blocks=MORE * blocks, number=1)


PROBE = ProbeInfo(
    name=NAME,
    summary="read latency per request (alpha) and per byte (beta), and the queue-depth knee",
    weight="light",
    properties=(ALPHA, BETA, queue_depth.KNEE),
    cost="0.3 to 1.4 million reads, on a slow drive fewer",
    least_bytes=0,
    detect=detect,
    plans=plans,
)
