"""The probe `allocation`: whether the order of writing or the address decides where data lie.

Physics. A drive that places pages in the order of their arrival spreads what is written in order
evenly over its chips; of what is written in random order neighbours meet on one chip, and large
reads wait for it. Short of free blocks it is the other way round: what arrives then goes where one
was just emptied, and neighbours in time meet. Where the address decides, the order of writing
leaves no trace. (ryu2009, section 2; its faults are in PROBING.md 1.2.)

Design. Pairs of neighbouring regions of eight pieces of 128 KiB (at least four units), one written
in order and one in random order, which of them drawn; read back piece by piece and all at once.
Both regions of a pair have the same age, so that only the order differs. How pages of a region
came to lie differs from region to region, so there are many small ones: a dozen pairs at a time,
until it is clear. Little is written, so that a drive has room and need not collect; but some at
random before, as planes that were only filled in order keep step, and one command reads them.

Statistic. The log of the ratio of both reading times, per pair, the median of several passes; a
sign-flip permutation test and a 95 % interval per depth.

Decision. "order" if at either depth all of the interval lies above 3 %, or below -3 %, and no more
than two in a thousand flips (for both depths together) are as large: it is asked up to five times.
"address" if equivalence tests rule out 3 % either way for single pieces and 10 % for all at once;
else `effect_below_noise`, after five dozen pairs. Where no dies were found to read side by side, an
order need not show: `link_bound`.

Assumptions. Blocks that log what was written hold it in order of arrival until they are merged,
whatever the drive places by. If a merge unit is known the drive places by address; if it is not
known whether there is one, "order" is only said if single pieces take longer even after so much was
written elsewhere as no log blocks hold. Nor is it said if it shows at depth alone and no dies were
found to read side by side: planes of one chip that fell out of step cannot be read by one command.
What a region of one bit per cell takes is written out of it before and after.

Cost. 24 MiB and a twentieth of the capacity, or five times that; with what is written elsewhere at
most all of it.
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
from ssdscope.probes.rows import without_read_cache
from ssdscope.probes.states import SETTLE_NS, State
from ssdscope.probes.together import Together, cached_units
from ssdscope.targets.records import OP_WRITE, OP_WRITE_FUA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = PROPERTY = "allocation"

PAIRS, BATCHES = 12, 5
"""Pairs of regions until it is asked whether it is clear; how often."""
REGIONS_SHARE, USED_SHARE = 4, 16
"""Which part of the capacity all regions are together at most; and what is written before."""
PIECES, PIECE_BYTES = 8, 128 << 10
"""Of a region."""
DEPTHS = (1, PIECES)
PASSES = 5
MARGINS = (0.03, 0.1)
"""Differences that do not matter, by depth: where regions lie to each other counts at depth, too,
and pieces by themselves show more of their order than several at once."""
SHOWS = 0.03
"""A difference that all of the interval must exceed."""
ALPHA = 0.002
FLIPS = 1999
FIRST_WRITES, FIRST_WINDOW_BYTES = 2048, 8 << 20
"""Of a unit each, before all regions; within so much, lest each have log blocks merged."""
STRAY_WRITES = 24
"""Of a unit, before each region: less than the region's."""
BESIDE_SHARE, BESIDE_EXCESS = 40, 1.2
"""Which part of the capacity a region of one bit per cell may be, and how much more is written."""
ELSEWHERE_SHARE = 0.75
"""Of the capacity, at most: more than log blocks hold."""
OTHER_WRITE_BYTES = 64 << 10
OTHER_WINDOW_BYTES = 2 << 20
"""What is written in between is random within so much, lest each write merge log blocks."""
WRITE_DEPTH = 4


@dataclass(frozen=True)
class _Layout:
    """What is written where, in bytes; ``begins`` has the shape (pairs, 2)."""

    begins: NDArray[np.int64]
    piece: int
    step: int
    ordered: NDArray[np.int64]
    """Which region of each pair is the ordered one, shape (pairs,)."""

    @property
    def size(self) -> int:
        """Bytes of a region."""
        return PIECES * self.piece

    def part(self, first: int, last: int) -> _Layout:
        """Give some of the pairs."""
        pairs = slice(first, last)
        return _Layout(self.begins[pairs], self.piece, self.step, self.ordered[pairs])


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
        """Whether reading what was written at random takes longer, or less long, for certain."""
        apart = max(self.low, -self.high) > np.log1p(SHOWS)
        return bool(apart and self.p_value <= ALPHA / len(DEPTHS))


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written: what is not needed for the regions goes elsewhere."""
    return info.capacity_bytes


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer "order" or "address"."""
    layout = _layout(bench)
    if layout is None:
        yield Undetectable(name=PROPERTY, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    rng, before = bench.rng(NAME), bench.bytes_written
    with without_read_cache(bench) as cached:
        together = Together(bench, rng, cached_units(bench) if cached else 0)
        logs = np.empty((len(DEPTHS), 0))
        _use(bench, layout, rng)
        for first in range(0, len(layout.begins), PAIRS):
            batch = layout.part(first, first + PAIRS)
            _write_beside(bench, batch)
            _write(bench, batch, rng)
            _write_beside(bench, batch)
            bench.idle(SETTLE_NS)
            logs = np.hstack([logs, _read(bench, together, batch, rng)])
            bench.progress("order of writing", 0.8 * (first + PAIRS) / len(layout.begins))
            contrasts = _contrasts(logs)
            if _any_shows(contrasts) or all(each.equivalent for each in contrasts):
                break
            if _merges(bench):
                break
        lasts = True
        if _any_shows(contrasts) and _merges(bench) is None:
            left = writes_bytes(bench.info) - (bench.bytes_written - before)
            _write_elsewhere(bench, layout, left, rng)
            again = _read(bench, together, layout.part(0, logs.shape[1]), rng)
            # At depth it also counts which chips whole merge units came to lie on.
            lasts = _contrasts(again)[0].low > np.log1p(SHOWS)
    yield _finding(bench, logs, contrasts, bool(lasts))


def _interleaves(bench: Bench) -> bool:
    return float(bench.found("interleave_degree") or 0) >= 2


def _any_shows(contrasts: list[_Contrast]) -> bool:
    return any(each.shows for each in contrasts)


def _layout(bench: Bench) -> _Layout | None:
    """Lay pairs of regions over the drive, on whole units if they are known."""
    info = bench.info
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(info))
    phase = int(bench.found("alignment_phase_bytes") or 0)
    piece = max(PIECE_BYTES, 4 * unit) // unit * unit
    size = PIECES * piece
    count = min(info.capacity_bytes // REGIONS_SHARE // (2 * size), BATCHES * PAIRS)
    if count < PAIRS:
        return None
    rng = bench.rng(f"{NAME} layout")
    apart = (info.capacity_bytes - 2 * unit) // count // unit * unit
    begins = np.arange(count) * apart + unit - phase
    return _Layout(
        begins=rng.permutation(begins)[:, None] + np.array([0, size])[None, :],
        piece=piece,
        step=unit,
        ordered=rng.integers(0, 2, count),
    )


def _use(bench: Bench, layout: _Layout, rng: np.random.Generator) -> None:
    """Write at random, so that planes do not keep step.

    On a drive that was filled in order one command reads what was written in order from several
    planes, wherever addresses place it; on a drive in use it cannot.
    """
    count = min(FIRST_WRITES, bench.info.capacity_bytes // USED_SHARE // layout.step)
    window = min(FIRST_WINDOW_BYTES, layout.begins.max() - layout.begins.min()) // layout.step
    places = layout.begins.min() + rng.integers(0, max(window, 1), count) * layout.step
    _write_anyway(bench, places, layout.step)


def _write(bench: Bench, layout: _Layout, rng: np.random.Generator) -> None:
    """Write regions in order, by turns with parts of all the others at random.

    A write cache is off if possible, or passed by forced writes: it would put in order what is
    random in one region. On a drive that merges log blocks the order is random within regions
    only, lest each write merge.
    """
    steps = np.arange(0, layout.size, layout.step)
    pairs = np.arange(len(layout.begins))
    mixed = layout.begins[pairs, 1 - layout.ordered][:, None] + steps
    if _write_cache_stays_on(bench) and _merges(bench) is None:
        mixed = rng.permutation(mixed.ravel()).reshape(mixed.shape)
    else:
        mixed = rng.permuted(mixed, axis=1)
    with bench.without_caches(read=False):
        for pair in rng.permutation(pairs):
            both = layout.begins[pair, layout.ordered[pair]] + steps, mixed[pair]
            for first in rng.permutation(2):
                # On a drive in use planes do not keep step, so that one command serves several.
                stray = layout.begins[pair, 0] + 2 * layout.size + rng.choice(steps, STRAY_WRITES)
                _write_anyway(bench, stray, layout.step)
                _write_anyway(bench, both[first], layout.step)


def _write_cache_stays_on(bench: Bench) -> bool:
    cache = bench.info.write_cache
    return cache.control == "unknown" or (cache.control == "fixed" and cache.on)


def _merges(bench: Bench) -> bool | None:
    """Whether the drive merges blocks, where data wait in order of arrival; None if not known."""
    known = bench.known.get("merge_unit_bytes")
    return None if not isinstance(known, Detected | Absent) else isinstance(known, Detected)


def _write_anyway(bench: Bench, places: NDArray[np.int64], length: int) -> None:
    """Write what is not timed, whoever else is there."""
    op = OP_WRITE_FUA if _write_cache_stays_on(bench) else OP_WRITE
    try:
        bench.issue(op, places, length, iodepth=WRITE_DEPTH)
    except Stopped as stop:
        if stop.reason is not Reason.INTERFERENCE:
            raise


def _write_beside(bench: Bench, layout: _Layout) -> None:
    """Write in between as much as a region of one bit per cell may hold.

    Before and after what is to be compared, so that none of it goes, or stays, where it is read
    sooner.
    """
    if isinstance(bench.known.get("pslc_bytes"), Absent):
        return
    most = bench.info.capacity_bytes // BESIDE_SHARE
    held = int(float(bench.found("pslc_bytes") or most) * BESIDE_EXCESS)
    each = min(held, most) // len(layout.begins)
    for begin in layout.begins[:, 0] + 2 * layout.size:
        _write_anyway(bench, begin + np.arange(0, each, layout.step), layout.step)


def _read(
    bench: Bench, together: Together, layout: _Layout, rng: np.random.Generator
) -> NDArray[Any]:
    """Read all pairs several times; give logs of ratios, of shape (depths, pairs)."""
    pairs = len(layout.begins)
    times = np.empty((PASSES, len(DEPTHS), pairs, 2))
    for turn in range(PASSES):
        for number, depth in enumerate(DEPTHS):
            together.forget()
            for pair in rng.permutation(pairs):
                _look_up(bench, together, layout, pair)
                for region in rng.permutation(2):
                    # The greater address first: nothing is read ahead of what does not follow.
                    places = layout.begins[pair, region] + layout.piece * np.arange(PIECES)[::-1]
                    log = in_peace(bench, partial(bench.read, places, layout.piece, iodepth=depth))
                    times[turn, number, pair, region] = log.complete_ns.max() - log.submit_ns.min()
    logs = np.log(np.median(times, axis=0))
    in_order = np.arange(pairs), layout.ordered
    return np.asarray(logs[:, in_order[0], 1 - in_order[1]] - logs[:, in_order[0], in_order[1]])


def _look_up(bench: Bench, together: Together, layout: _Layout, pair: int) -> None:
    """Have what the drive must know of a pair of regions brought to hand.

    By a block of every unit, if all of it fits; where what is read is kept, by few.
    """
    every = PIECES * layout.piece // 4 if together.cached_units else layout.step
    places = layout.begins[pair, 0] + np.arange(0, 2 * layout.size, every)
    looking = partial(bench.read, places, bench.info.logical_block_bytes, iodepth=max(DEPTHS))
    in_peace(bench, looking)


def _contrasts(logs: NDArray[Any]) -> list[_Contrast]:
    """Sum up pairs, depth by depth."""
    return [_contrast(each, margin) for each, margin in zip(logs, MARGINS, strict=True)]


def _contrast(logs: NDArray[Any], margin: float) -> _Contrast:
    from scipy.special import stdtrit

    mean = float(logs.mean())
    half = float(stdtrit(logs.size - 1, 0.975) * logs.std(ddof=1) / np.sqrt(logs.size))
    flips = np.random.default_rng(0).choice([-1.0, 1.0], (FLIPS, logs.size))
    p_value = (1 + int((np.abs((flips * logs).mean(axis=1)) >= abs(mean)).sum())) / (1 + FLIPS)
    equivalent = stats.tost(logs, float(np.log1p(margin))).holds()
    return _Contrast(mean, mean - half, mean + half, p_value, equivalent)


def _write_elsewhere(
    bench: Bench, layout: _Layout, most_bytes: int, rng: np.random.Generator
) -> None:
    """Write between the regions what makes log blocks give up what they hold."""
    taken = np.sort(layout.begins[:, 0])
    allowed = min(int(ELSEWHERE_SHARE * bench.info.capacity_bytes), most_bytes)
    steps = np.arange(0, OTHER_WINDOW_BYTES, OTHER_WRITE_BYTES)
    ends = np.append(taken[1:], bench.info.capacity_bytes)
    for begin, end in zip(taken + 2 * layout.size, ends, strict=True):
        share = min(int(end - begin), allowed // len(taken)) - OTHER_WRITE_BYTES
        windows = max(share, 0) // OTHER_WINDOW_BYTES
        for first in int(begin) + OTHER_WINDOW_BYTES * np.arange(windows):
            places = rng.permutation(steps) + first
            aligned = places // base_request_bytes(bench.info) * base_request_bytes(bench.info)
            _write_anyway(bench, aligned, OTHER_WRITE_BYTES)
    bench.idle(SETTLE_NS)


def _finding(
    bench: Bench,
    logs: NDArray[Any],
    contrasts: list[_Contrast],
    lasts: bool,
) -> Finding:
    strongest = max(contrasts, key=lambda each: each.mean)
    common: dict[str, Any] = {"probe": NAME, "evidence": _evidence(logs, contrasts)}
    effect = float(np.expm1(strongest.mean))
    if _merges(bench):
        common["evidence"]["cautions"] = ["data blocks hold every page at its own place"]
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    if _any_shows(contrasts):
        if lasts and (contrasts[0].shows or _interleaves(bench)):
            return Detected(name=PROPERTY, value="order", interval=None, effect=effect, **common)
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    if not _interleaves(bench):
        return Undetectable(name=PROPERTY, reason=Reason.LINK_BOUND, **common)
    if all(each.equivalent for each in contrasts):
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _evidence(logs: NDArray[Any], contrasts: list[_Contrast]) -> dict[str, Any]:
    picture = Picture(
        title="Reading what was written at random, over what was written in order",
        caption="Each point is a pair of regions of the same age.",
        x=Axis("pair of regions"),
        y=Axis("ratio of reading times"),
        series=[
            series(f"depth {depth}", np.arange(each.size), np.exp(each), "points")
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
    cost="24 MiB and a twentieth of the capacity written, or all of it; 2,000 reads of 128 KiB",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.AS_FOUND,
)
