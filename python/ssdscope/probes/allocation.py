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
until it is clear. Little is written, each dozen on the drive as found where returning costs nothing
and behind a pause, so that a drive has room and need not collect, as short of it either order is
spoilt; but some at random before, as planes that were only filled in order keep step, and one
command reads them.

Statistic. The log of the ratio of both reading times, per pair, the median of several passes; a
sign-flip permutation test and a 95 % interval per depth.

Decision. "order" if at either depth all of the interval lies above 3 %, or below -3 %, and no more
than two in a thousand flips (for both depths together) are as large: it is asked up to five times.
"address" if equivalence tests (5 %, over five looks) rule out 3 % either way for single pieces and
5 % for all at once, and neither shows a trace (1 %), as a small one may be larger elsewhere, nor,
where a buffer stays on, if they are written again one at a time (`masked`), as it drains several at
once in an order of its own; else `effect_below_noise`, after five dozen pairs. Where no dies were
found to read side by side, an order need not show: `link_bound`; nor where a region of one bit per
cell was found, or looked for and not ruled out: it lays out anew what leaves it: `masked`.

Assumptions. Blocks that log what was written hold it in order of arrival until they are merged,
whatever the drive places by. If a merge unit is known the drive places by address. If it is not
known whether there is one, more is written elsewhere. If what single pieces showed is gone, by an
equivalence test, after an eighth of the capacity, in which collection reaches hardly any of what
was written just before: "address". "order" is only said if they show a trace of it, the same way
round, even after so much as no log blocks hold; collection has then moved a part. Nor is it said if
it shows at depth alone: a piece lies on all that reads side by side, so that an order shows on one
that is read alone; at depth it counts as well which planes of a chip fell out of step, as one
command cannot read these. Nor if what was written at random is read sooner and a buffer stays on:
that may let go of long runs first, and hold the rest still; nor behind a protected buffer that may
hide a region of one bit per cell, as neither can be passed, and each has an order of its own; nor,
where no dies were found to read side by side, if it is less than a tenth and does not show at
depth, too, as planes of one chip that keep step may read sooner.
What a region of one bit per cell takes that was found, or a buffer that stays on, is written out of
it before and after; for one that nobody saw nothing is, as that would use up the spare space.

Cost. Some 40 MiB, or five times that; with what is written beside and elsewhere at most a capacity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    Axis,
    Contrast,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes import pslc
from ssdscope.probes.bench.discipline import in_peace
from ssdscope.probes.bench.ledger import Stopped
from ssdscope.probes.bench.states import SETTLE_NS, State
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.order_regions import (
    BATCHES,
    PAIRS,
    PIECES,
    WRITE_DEPTH,
    Regions,
    lay_out,
    merges,
    use,
    write,
    write_beside,
    write_cache_stays_on,
    write_elsewhere,
)
from ssdscope.probes.rows import without_read_cache
from ssdscope.probes.together import Together, cached_units
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = PROPERTY = "allocation"

DEPTHS = (1, PIECES)
PASSES = 5
MARGINS = (0.03, 0.05)
"""Differences that do not matter, by depth: where regions lie to each other counts at depth."""
SHOWS = 0.03
"""A difference that all of the interval must exceed."""
ALPHA = 0.002
NOTHING_ALPHA = 0.05 / BATCHES
"""Of the equivalence tests, at each look: the first that passes ends the search."""
TRACE_ALPHA = 0.01
"""Of a trace of the order, which is none of an address, however small."""
LITTLE = 0.1
"""In the logarithm: an order that costs less may be none, unless it shows at depth, too."""
FLIPS = 1999
SOON_SHARE, ELSEWHERE_SHARE = 0.125, 0.75
"""Of the capacity, at most: more than most log blocks hold, and more than any do."""


class _Fate(Enum):
    """What became of an effect of the order when more was written elsewhere."""

    LASTS, FADES, GONE = range(3)


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
    layout = lay_out(bench)
    if layout is None:
        yield Undetectable(name=PROPERTY, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    rng, before = bench.rng(NAME), bench.bytes_written
    with without_read_cache(bench) as cached:
        together = Together(bench, rng, cached_units(bench) if cached else 0)
        logs = np.empty((len(DEPTHS), 0))
        for first in range(0, len(layout.begins), PAIRS):
            batch = layout.part(first, first + PAIRS)
            logs = np.hstack([logs, _look(bench, together, batch, rng, again=first > 0)])
            bench.progress("order of writing", 0.8 * (first + PAIRS) / len(layout.begins))
            contrasts = _contrasts(logs)
            if _any_shows(contrasts) or all(each.equivalent for each in contrasts):
                break
            if merges(bench):
                break
        nothing, stays_on = all(each.equivalent for each in contrasts), write_cache_stays_on(bench)
        if nothing and stays_on and merges(bench) is not True:
            _require_nothing_alone(bench, together, layout.part(0, logs.shape[1]), rng)
        fate = _Fate.LASTS
        if _any_shows(contrasts) and merges(bench) is None:
            read = partial(_read, bench, together, layout.part(0, logs.shape[1]), rng)
            left = writes_bytes(bench.info) - (bench.bytes_written - before)
            fate = _fate(bench, layout, contrasts, read, left)
    yield _finding(bench, logs, contrasts, fate)


def _renewed(bench: Bench) -> bool:
    """Return to the drive as found, where it costs nothing, lest looks use up its spare space.

    Not if all that was written may have to be read again; give whether it was done.
    """
    renewed = merges(bench) is not None and bench.renew(State.AS_FOUND)
    if renewed and bench.info.read_cache.control == "switchable":
        bench.switch(read=False)
    return renewed


def _look(
    bench: Bench,
    together: Together,
    layout: Regions,
    rng: np.random.Generator,
    depth: int = WRITE_DEPTH,
    *,
    again: bool = False,
) -> NDArray[Any]:
    """Write pairs of regions, so many requests at once, and read them as `_read` does."""
    if _renewed(bench) or not again:
        use(bench, layout, rng)
    write_beside(bench, layout)
    write(bench, layout, rng, depth)
    write_beside(bench, layout)
    bench.idle(SETTLE_NS)
    return _read(bench, together, layout, rng)


def _require_nothing_alone(
    bench: Bench, together: Together, layout: Regions, rng: np.random.Generator
) -> None:
    """Refuse where writes one by one leave a trace of their order.

    Of several at once through a buffer, neighbours may meet as often in order as at random.
    """
    contrasts = _contrasts(_look(bench, together, layout, rng, depth=1))
    if any(each.p_value <= TRACE_ALPHA for each in contrasts):
        raise Stopped(Reason.MASKED, "the order shows where writes are made one at a time")


def _fate(
    bench: Bench,
    layout: Regions,
    contrasts: list[_Contrast],
    read: Callable[[], NDArray[Any]],
    most_bytes: int,
) -> _Fate:
    """Tell what becomes of an effect of the order when more and more is written elsewhere.

    By single pieces: at depth it also counts which chips whole merge units came to lie on.
    """
    rng, before = bench.rng(f"{NAME} elsewhere"), bench.bytes_written
    capacity = bench.info.capacity_bytes
    write_elsewhere(bench, layout, min(int(SOON_SHARE * capacity), most_bytes), rng)
    soon = _contrasts(read())
    # Of units written in parts the blocks are half stale, and collected before any others.
    hidden = bench.known.get("rmw_unit_bytes")
    parts = isinstance(hidden, Undetectable) and hidden.reason is not Reason.PLP_NO_FLUSH_EFFECT
    relocates = parts or bench.found("pslc_bytes") is not None
    gone = contrasts[0].shows and soon[0].equivalent and not _any_shows(soon)
    if gone and not relocates:
        return _Fate.GONE
    left = most_bytes - (bench.bytes_written - before)
    write_elsewhere(bench, layout, min(int(ELSEWHERE_SHARE * capacity), left), rng)
    # Of log blocks nothing is left; of other drives collection has moved a part.
    late = _contrasts(read())[0]
    same_way = late.mean * contrasts[0].mean > 0
    return _Fate.LASTS if same_way and late.p_value <= TRACE_ALPHA else _Fate.FADES


def _interleaves(bench: Bench) -> bool:
    return float(bench.found("interleave_degree") or 0) >= 2


def _any_shows(contrasts: list[_Contrast]) -> bool:
    return any(each.shows for each in contrasts)


def _read(
    bench: Bench, together: Together, layout: Regions, rng: np.random.Generator
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


def _look_up(bench: Bench, together: Together, layout: Regions, pair: int) -> None:
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
    flips = stream(0, "probes.allocation.flips").choice([-1.0, 1.0], (FLIPS, logs.size))
    p_value = (1 + int((np.abs((flips * logs).mean(axis=1)) >= abs(mean)).sum())) / (1 + FLIPS)
    little = stats.tost(logs, float(np.log1p(margin))).holds(NOTHING_ALPHA)
    nothing = little and p_value > TRACE_ALPHA
    return _Contrast(mean, mean - half, mean + half, p_value, nothing)


def _finding(bench: Bench, logs: NDArray[Any], contrasts: list[_Contrast], fate: _Fate) -> Finding:
    strongest = max(contrasts, key=lambda each: each.mean)
    evidence = _evidence(logs, contrasts)
    common: dict[str, Any] = {"probe": NAME, "evidence": evidence}
    effect = float(np.expm1(strongest.mean))
    if merges(bench):
        said = "data blocks hold every page at its own place"
        common["evidence"] = replace(evidence, cautions=(said,))
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    if _any_shows(contrasts):
        if fate is _Fate.GONE:
            said = "the order shows until as much was written elsewhere as logs hold"
            common["evidence"] = evidence.saying(said)
            return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
        hidden = _why_no_order(bench, contrasts)
        if fate is _Fate.LASTS and contrasts[0].shows and hidden is None:
            return Detected(name=PROPERTY, value="order", interval=None, effect=effect, **common)
        common["evidence"] = evidence.saying(hidden or "an order shows, but it does not last")
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    if not _interleaves(bench):
        common["evidence"] = evidence.saying("without dies that read side by side no order shows")
        return Undetectable(name=PROPERTY, reason=Reason.LINK_BOUND, **common)
    if pslc.may_be_there(bench):
        said = "what was written last may lie in a region of one bit per cell"
        common["evidence"] = evidence.saying(said)
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    if all(each.equivalent for each in contrasts):
        return Detected(name=PROPERTY, value="address", interval=None, effect=effect, **common)
    return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _why_no_order(bench: Bench, contrasts: list[_Contrast]) -> str | None:
    """Say what else than the order of writing may show where one seems to, if anything may."""
    if pslc.may_be_behind_a_buffer(bench):
        return "a protected buffer, or a region behind it, has an order of its own"
    # It may let go of long runs first, and keep what was written at random for good.
    if contrasts[0].mean < 0 and write_cache_stays_on(bench):
        return "what is read sooner may still be in the buffer"
    alone, at_once = contrasts
    both = at_once.p_value <= TRACE_ALPHA and alone.mean * at_once.mean > 0
    if abs(alone.mean) < LITTLE and not both and not _interleaves(bench):
        return "planes of a chip in step may be what shows, as no dies were found"
    return None


def _evidence(logs: NDArray[Any], contrasts: list[_Contrast]) -> Evidence:
    exhibit = Exhibit(
        name="random-over-in-order",
        title="Reading what was written at random, over what was written in order",
        caption="Each point is a pair of regions of the same age.",
        x=Axis("pair of regions"),
        y=Axis("ratio of reading times"),
        series=tuple(
            series(f"depth {depth}", np.arange(each.size), np.exp(each), "points")
            for depth, each in zip(DEPTHS, logs, strict=True)
        ),
        fitted=tuple(
            Contrast(
                one=f"depth {depth}",
                other="in order",
                one_at=float(np.exp(each.mean)),
                other_at=1.0,
                ratio=float(np.exp(each.mean)),
                low=float(np.exp(each.low)),
                high=float(np.exp(each.high)),
                p_value=each.p_value,
            )
            for depth, each in zip(DEPTHS, contrasts, strict=True)
        ),
    )
    return Evidence(
        exhibits=(exhibit,),
        figures={
            "depths": DEPTHS,
            "time_ratio": [float(np.exp(each.mean)) for each in contrasts],
            "p_value": [each.p_value for each in contrasts],
        },
    )


PROBE = ProbeInfo(
    name=NAME,
    summary="whether data lie by the order of writing or by address",
    weight="standard",
    properties=(PROPERTY,),
    cost="some 40 MiB written, or at most one capacity; 2,000 reads of 128 KiB",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.AS_FOUND,
)
