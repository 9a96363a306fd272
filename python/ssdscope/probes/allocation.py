"""The probe `allocation`: whether the order of writing or the address decides where data lie.

Physics. A drive that places pages in the order of their arrival spreads what is written in order
evenly over its chips; of what is written in random order neighbours meet on one chip, and large
reads wait for it. Where the address decides, the order of writing leaves no trace. (ryu2009,
section 2; its faults are in PROBING.md 1.2.)

Design. Pairs of neighbouring regions, one written in order and one in random order, which of them
drawn and by turns in time; read back in pieces of 128 KiB (at least four units), at depth 1 and 8,
pair by pair. Both regions of a pair have the same age, so that only the order differs.

Statistic. The log of the ratio of both reading times, per pair; a sign-flip permutation test and a
95 % interval per depth.

Decision. "order" if at either depth all of the interval lies above 5 % and no more than one in a
hundred flips (for both depths together) is as large; "address" if at both depths the equivalence
test rules out 3 % either way; else `effect_below_noise`, after more passes. Where several reads at
once gain nothing, nothing lies side by side and there is nothing to tell (`link_bound`).

Assumptions. Blocks that log what was written hold it in order of arrival until they are merged,
whatever the drive places by. If a merge unit is known the drive places by address; if it is not
known whether there is one, "order" is only said if the effect outlives further writes.

Cost. A quarter of the capacity, at most three quarters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import SETTLE_NS, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = PROPERTY = "allocation"

PAIRS = 12
REGIONS_SHARE = 4
"""Which part of the capacity all regions are together."""
LARGEST_REGION_BYTES = 16 << 20
PIECE_BYTES = 128 << 10
DEPTHS = (1, 8)
PASSES = 2
LOOKS = 3
MARGIN = 0.03
"""A difference that does not matter."""
SHOWS = 0.05
"""A difference that all of the interval must exceed."""
WARMED_BY = 4
GAIN_READS, GAIN_ROUNDS = 128, 7
DEPTH_GAINS = 1.6
"""What several reads at once must gain, for a placement to be there that an order could change."""
ALPHA = 0.01
FLIPS = 1999
WINDOW_BYTES = 2 << 20
"""On a drive that merges log blocks the order is random within so much, lest each write merge."""
OTHER_WRITE_BYTES = 64 << 10
WRITE_DEPTH = 4


@dataclass(frozen=True)
class _Layout:
    """What is written where, in bytes; ``begins`` has the shape (pairs, 2)."""

    begins: NDArray[np.int64]
    size: int
    step: int
    window: int
    ordered: NDArray[np.int64]
    """Which region of each pair is the ordered one, shape (pairs,)."""


@dataclass(frozen=True)
class _Contrast:
    """What the order costs at one depth, in logarithms."""

    mean: float
    low: float
    high: float
    p_value: float
    equivalent: bool

    @property
    def shows(self) -> bool:
        """Whether reading what was written at random takes longer for certain."""
        return self.low > np.log1p(SHOWS) and self.p_value <= ALPHA / len(DEPTHS)


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    regions, other = info.capacity_bytes // REGIONS_SHARE, info.capacity_bytes // 2
    return regions + other


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer "order" or "address"."""
    layout = _layout(bench)
    if layout is None:
        yield Undetectable(name=PROPERTY, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    _write(bench, layout)
    bench.idle(SETTLE_NS)
    bench.progress("order of writing", 0.4)
    with bench.without_caches(write=False):
        logs, contrasts = _read(bench, layout)
        bench.progress("order of writing", 0.8)
        lasting = contrasts
        if _any_shows(contrasts) and not isinstance(bench.known.get("merge_unit_bytes"), Absent):
            _write_elsewhere(bench, layout)
            _, lasting = _read(bench, layout)
        beside = _side_by_side(bench)
    yield _finding(bench, logs, contrasts, lasting, beside)


def _side_by_side(bench: Bench) -> bool:
    """Whether reads at different places are served side by side: an order could matter."""
    degree = bench.found("interleave_degree")
    return (degree is not None and float(degree) >= 2) or _gain(bench) >= DEPTH_GAINS


def _gain(bench: Bench) -> float:
    """How many times faster small reads are several at once than alone; near each other.

    So a mapping table in parts need not be loaded; places are fresh, so no cache holds them.
    """
    rng = bench.rng(f"{NAME} gain")
    block = bench.info.logical_block_bytes
    gains = []
    for _ in range(GAIN_ROUNDS):
        begin = int(rng.integers(0, bench.info.capacity_bytes // LARGEST_REGION_BYTES))
        times = []
        for depth in (1, max(DEPTHS), 1):
            places = begin * LARGEST_REGION_BYTES + block * rng.integers(
                0, LARGEST_REGION_BYTES // block, GAIN_READS
            )
            log = in_peace(bench, partial(bench.read, places, block, iodepth=depth))
            times.append(float(log.complete_ns.max() - log.submit_ns.min()))
        gains.append(min(times[0], times[2]) / times[1])
    return float(np.median(gains))


def _any_shows(contrasts: list[_Contrast]) -> bool:
    return any(each.shows for each in contrasts)


def _layout(bench: Bench) -> _Layout | None:
    """Lay pairs of regions over the drive, on whole units if they are known."""
    info = bench.info
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(info))
    phase = int(bench.found("alignment_phase_bytes") or 0)
    room = info.capacity_bytes // REGIONS_SHARE // (2 * PAIRS)
    piece = max(PIECE_BYTES, 4 * unit) // unit * unit
    size = min(room, LARGEST_REGION_BYTES) // piece * piece
    if size < 4 * piece:
        return None
    rng = bench.rng(NAME)
    apart = (info.capacity_bytes - 2 * size) // PAIRS // unit * unit
    pairs = (np.arange(PAIRS) * apart + unit) // unit * unit - phase
    window = WINDOW_BYTES if bench.found("merge_unit_bytes") else size
    return _Layout(
        begins=pairs[:, None] + np.array([0, size])[None, :],
        size=size,
        step=unit,
        window=max(window // unit, 1) * unit,
        ordered=rng.integers(0, 2, PAIRS),
    )


def _write(bench: Bench, layout: _Layout) -> None:
    """Write all regions, ordered and random ones by turns; with the write cache off if possible.

    One that stays on may put some of what is random in order.
    """
    rng = bench.rng(f"{NAME} write")
    steps = np.arange(0, layout.size, layout.step)
    with bench.without_caches(read=False):
        for pair in rng.permutation(PAIRS):
            for region in rng.permutation(2):
                places = steps if region == layout.ordered[pair] else _mixed(rng, steps, layout)
                _write_anyway(bench, layout.begins[pair, region] + places, layout.step)


def _write_anyway(bench: Bench, places: NDArray[np.int64], length: int) -> None:
    """Write what is not timed, whoever else is there."""
    try:
        bench.write(places, length, iodepth=WRITE_DEPTH)
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise


def _mixed(
    rng: np.random.Generator, steps: NDArray[np.int64], layout: _Layout
) -> NDArray[np.int64]:
    """Shuffle places within windows."""
    count = max(layout.window // layout.step, 1)
    parts = [steps[first : first + count] for first in range(0, steps.size, count)]
    return np.concatenate([rng.permutation(part) for part in parts])


def _read(bench: Bench, layout: _Layout) -> tuple[list[NDArray[Any]], list[_Contrast]]:
    """Read pairs at both depths until it is clear; give the logs of ratios and what they say."""
    rng = bench.rng(f"{NAME} read")
    piece = max(PIECE_BYTES, 4 * layout.step) // layout.step * layout.step
    pieces = np.arange(0, layout.size, piece)
    passes: list[NDArray[Any]] = []
    for _ in range(LOOKS):
        for _ in range(PASSES):
            logs = np.empty((len(DEPTHS), PAIRS))
            for pair in rng.permutation(PAIRS):
                for number, depth in enumerate(DEPTHS):
                    order = rng.permutation(pieces)
                    times = np.empty(2)
                    for region in rng.permutation(2):
                        places = layout.begins[pair, region] + order
                        times[region] = _reading_ns(bench, places, piece, depth)
                    in_order = layout.ordered[pair]
                    logs[number, pair] = np.log(times[1 - in_order] / times[in_order])
            passes.append(logs)
        means = np.median(np.array(passes), axis=0)
        contrasts = [_contrast(each) for each in means]
        if _any_shows(contrasts) or all(each.equivalent for each in contrasts):
            break
    return list(means), contrasts


def _reading_ns(bench: Bench, places: NDArray[np.int64], piece: int, depth: int) -> float:
    """Time the reading of a region whose part of the mapping table is in memory."""
    warming = partial(bench.read, places[:WARMED_BY], bench.info.logical_block_bytes)
    in_peace(bench, warming)
    log = in_peace(bench, partial(bench.read, places, piece, iodepth=depth))
    return float(log.complete_ns.max() - log.submit_ns.min())


def _contrast(logs: NDArray[Any]) -> _Contrast:
    """Sum up the pairs of one depth."""
    from scipy.special import stdtrit

    mean = float(logs.mean())
    half = float(stdtrit(logs.size - 1, 0.975) * logs.std(ddof=1) / np.sqrt(logs.size))
    flips = np.random.default_rng(0).choice([-1.0, 1.0], (FLIPS, logs.size))
    p_value = (1 + int(((flips * logs).mean(axis=1) >= mean).sum())) / (1 + FLIPS)
    equivalent = stats.tost(logs, float(np.log1p(MARGIN))).holds()
    return _Contrast(mean, mean - half, mean + half, p_value, equivalent)


def _write_elsewhere(bench: Bench, layout: _Layout) -> None:
    """Write between the regions what makes log blocks give up what they hold."""
    rng = bench.rng(f"{NAME} elsewhere")
    taken = np.sort(layout.begins[:, 0])
    allowed = bench.info.capacity_bytes // 2
    steps = np.arange(0, layout.window, OTHER_WRITE_BYTES)
    ends = np.append(taken[1:], bench.info.capacity_bytes)
    for begin, end in zip(taken + 2 * layout.size, ends, strict=True):
        share = min(int(end - begin), allowed // PAIRS) - OTHER_WRITE_BYTES
        for first in range(0, max(share, 0) // layout.window * layout.window, layout.window):
            places = rng.permutation(steps) + int(begin) + first
            aligned = places // base_request_bytes(bench.info) * base_request_bytes(bench.info)
            _write_anyway(bench, aligned, OTHER_WRITE_BYTES)
    bench.idle(SETTLE_NS)


def _finding(
    bench: Bench,
    logs: list[NDArray[Any]],
    contrasts: list[_Contrast],
    lasting: list[_Contrast],
    beside: bool,
) -> Finding:
    strongest = max(contrasts, key=lambda each: each.mean)
    common: dict[str, Any] = {"probe": NAME, "evidence": _evidence(logs, contrasts)}
    effect = float(np.expm1(strongest.mean))
    if bench.found("merge_unit_bytes") is not None:
        common["evidence"]["cautions"] = ["data blocks hold every page at its own place"]
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    if _any_shows(contrasts):
        if _any_shows(lasting):
            return Detected(name=PROPERTY, value="order", interval=None, effect=effect, **common)
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    if not beside:
        return Undetectable(name=PROPERTY, reason=Reason.LINK_BOUND, **common)
    if all(each.equivalent for each in contrasts):
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _evidence(logs: list[NDArray[Any]], contrasts: list[_Contrast]) -> dict[str, Any]:
    picture = Picture(
        title="Reading what was written at random, over what was written in order",
        caption="Each point is a pair of regions of the same age.",
        x=Axis("pair of regions"),
        y=Axis("ratio of reading times"),
        series=[
            series(f"depth {depth}", np.arange(PAIRS), np.exp(each), "points")
            for depth, each in zip(DEPTHS, logs, strict=True)
        ],
    )
    return {
        "depths": list(DEPTHS),
        "time_ratio": [float(np.exp(each.mean)) for each in contrasts],
        "interval": [[float(np.exp(each.low)), float(np.exp(each.high))] for each in contrasts],
        "p_value": [each.p_value for each in contrasts],
        "picture": picture.to_json(),
    }


PROBE = ProbeInfo(
    name=NAME,
    summary="whether data lie by the order of writing or by address",
    weight="standard",
    properties=(PROPERTY,),
    cost="a quarter of the capacity written, 5,000 reads of 128 KiB",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.FILLED,
)
