"""The probe `pslc`: how much a drive writes with one bit per cell before it slows down.

Physics. Such a region takes writes several times faster; when it is full they wait until a part
of it is folded, or go to the slower blocks. Idle time empties it, a flush does not. Statistic.
After a pause a stretch is written in order, in requests that hold whole mapping units of any
usual size, one at a time; the request from which on many wait (`stats.waits_from`), or the first
persistent drop of the rate (`stats.knee`), by bytes.

Decision. Before each stretch the drive is discarded, where it can be, so that nothing is collected
or merged and no spare space runs out; where it merges all the same, log blocks may be what is full.
The stretch is repeated after ever longer pauses until it grows no more, then measured five times in
some hundred requests. Detected if a stretch behind a mere flush is slow from its beginning (a write
buffer would be as fast again), and one behind a pause, with nothing discarded, is fast (else the
region is never emptied). The buffer is switched off, or passed by forced writes, or, if it is
protected, its size (property `write_buffer_bytes`) is taken off; where writes behind an end wait no
longer than what left the buffer until then took, it is this that was full, and is passed over.
Requests of several sizes must tell one size, since units cut by the ends of requests take room
twice, and equal stretches, too; forced writes must hold whole units. What others write in a pause
takes room, and stays where it fills no block: where they come, the region is measured behind the
longest pauses in which they do not, and must not seem smaller there (`interference`). No drop:
absent, if one last stretch of almost half the drive is even, too: all free space may take one bit
per cell, a third of what it else holds. If it is not, or stretches of a large simulated drive are
cut short, refused: `budget_exhausted`. What is full before such requests show it is sought in the
smallest ones. Stretches that slow down by less than erasing may make them: refused, as pauses in
which a drive collects spare it that.

Assumptions. The fast stretch is longer than six requests, and shorter than a ninth of the
drive. Cost: up to a capacity. Source: PROBING 2.5, 3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Exhibit,
    Reason,
    Step,
    Undetectable,
    series,
)
from ssdscope.probes import staying
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.notes import Notes
from ssdscope.probes.pslc_stretches import (
    FIRST_REQUESTS,
    LEAST_SLOWER,
    MOST_IDLE_NS,
    SEARCH_RUNS,
    Streams,
    Stretch,
)
from ssdscope.probes.write_through import writing
from ssdscope.units import format_capacity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

SIZE = "pslc_bytes"
PROBE_NAME = "pslc"

SIZE_RUNS = 5
FEW_RUNS_SHARE, ONE_RUN_SHARE = 1 / 8, 1 / 3
"""Of the longest stretch, from which on the size is measured in fewer runs, and in one."""
WANTED_REQUESTS = 96
FEWEST_REQUESTS = 12
GREW = 1.1
NO_WASTE = 0.03
"""Share of the size by which requests of two sizes may differ without any reason."""
APART = 0.15
"""Share of the size by which equal stretches may differ: a region takes the same each time."""
STILL_SLOW = 1.25
"""A stretch behind a flush alone must take so many times longer than one behind a pause."""
USELESS_WIDTH = 0.18
MASKED_SHARE, BESIDE, FULL = 0.5, 1.3, 1.1
"""A write buffer larger than this share of the stretch hides it; and times its size, up to where
what is full may be the buffer itself; and times where it was full, what is passed over."""
NOT_RULED_OUT = (
    Reason.MASKED,
    Reason.EFFECT_BELOW_NOISE,
    Reason.BUDGET_EXHAUSTED,
    Reason.INTERFERENCE,
)
"""Reasons that leave open whether there is a region; others say that nobody could look for one."""
BEHIND_SHARE, LEAST_BEHIND = 0.1, 6
"""Requests behind an end that tell the pace there, as a share of those before it, and at least."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the size of the region."""
    try:
        with writing(bench) as writer:
            yield _answer(bench, Streams(bench, forced=writer.forced), 0.0)
            return
    except Stopped as stop:
        if stop.reason is not Reason.PLP_NO_FLUSH_EFFECT:
            raise
    yield _answer(bench, Streams(bench, forced=False), staying.about_bytes(bench))


def _answer(bench: Bench, streams: Streams, buffer_bytes: float | None) -> Finding:
    if streams.longest_bytes // streams.step_bytes < FIRST_REQUESTS:
        return Undetectable(name=SIZE, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)
    found = _adapted(streams)
    if found is None and buffer_bytes == 0 and not streams.doubtful:
        small = Streams(bench, forced=streams.forced, fine=True)
        found = _adapted(small)
        streams = streams if found is None else small
    if found is not None and buffer_bytes and _fills_a_buffer(found, buffer_bytes):
        streams.skipped_bytes = int(FULL * max(buffer_bytes, found.bytes))
        found = _adapted(streams)
    notes = Notes({"idle_ns": streams.idle_ns, "buffer_bytes": buffer_bytes})
    if found is None and streams.uneven and not bench.info.discard:
        notes.detail = "many writes wait from the first on, as where a region is always full"
        notes.figures["slow_from_the_first"] = True
        return _refused(Reason.MASKED, notes)
    if found is None and streams.doubtful:
        notes.detail = "some stretches slow down, and others do not"
        notes.figures["only_faint"] = streams.faint
        return _refused(Reason.EFFECT_BELOW_NOISE, notes)
    if found is None:
        return _nothing(streams, notes)
    if bench.found("merge_unit_bytes") is not None:
        notes.detail = "the drive merges, and log blocks that are full show as a region does"
        return _refused(Reason.MASKED, notes)
    if streams.forced and not streams.aligned:
        notes.detail = "forced writes that cut units of an unknown size fill it sooner"
        return _refused(Reason.MASKED, notes)
    bench.progress("stretches behind pauses", 0.5)
    told = _sized(streams, found, buffer_bytes, notes)
    if isinstance(told, Reason):
        return _refused(told, notes)
    value, interval = told
    effect = notes.figures["slow_ns"] / notes.figures["fast_ns"] - 1
    common: dict[str, Any] = {"name": SIZE, "probe": PROBE_NAME, "evidence": notes.evidence()}
    return Detected(value=value, interval=interval, effect=effect, **common)


def _refused(reason: Reason, notes: Notes) -> Finding:
    return Undetectable(name=SIZE, probe=PROBE_NAME, reason=reason, evidence=notes.evidence())


def _nothing(streams: Streams, notes: Notes) -> Finding:
    """Say that there is no region, if one as large as all that is free may become would show.

    A drive without discards never has much that is free.
    """
    if streams.shortened:
        first = format_capacity(streams.longest_bytes)
        notes.detail = f"the first {first} are written evenly, and a region may be larger"
        return _refused(Reason.BUDGET_EXHAUSTED, notes)
    if streams.skipped_bytes:
        notes.detail = "a buffer that stays on is full first, and may hide a small region"
        return _refused(Reason.MASKED, notes)
    late = streams.last() if streams.bench.info.discard else None
    if late is not None:
        _note(notes, late)
        notes.detail = "it slows down too late for another stretch to confirm it"
        return _refused(Reason.BUDGET_EXHAUSTED, notes)
    return Absent(
        name=SIZE,
        probe=PROBE_NAME,
        bound=float(streams.longest_bytes),
        reason="writes in order are as fast at the end of a long stretch as behind a pause",
        evidence=notes.evidence(),
    )


def _sized(
    streams: Streams, found: Stretch, buffer_bytes: float | None, notes: Notes
) -> tuple[float, tuple[float, float]] | Reason:
    """Measure the stretch in requests of several sizes; give value and interval."""
    region_bytes = found.usual * found.length
    small = region_bytes < WANTED_REQUESTS * streams.step_bytes
    step = streams.finest_bytes if small else streams.step_bytes
    length = step * max(1, round(region_bytes / WANTED_REQUESTS / step))
    requests = round(1.5 * found.bytes / length) + 8
    share = requests * length / streams.longest_bytes
    fine: Stretch | None = found
    if share > ONE_RUN_SHARE:
        # What was found is all that can be afforded.
        runs, length = 1, found.length
        requests = round(1.2 * float(np.median(found.requests)))
    else:
        runs = SEARCH_RUNS if share > FEW_RUNS_SHARE else SIZE_RUNS
        fine = streams.measure(requests, length, runs)
    if fine is None or fine.usual < FEWEST_REQUESTS:
        return Reason.EFFECT_BELOW_NOISE
    _note(notes, fine)
    if not _is_region(streams, fine, notes):
        return Reason.MASKED
    if buffer_bytes is None or buffer_bytes > MASKED_SHARE * fine.bytes:
        notes.detail = "a buffer of unknown size, or nearly as large, is filled before it"
        return Reason.MASKED
    if streams.others and share <= ONE_RUN_SHARE:
        alone = streams.alone(requests, length, runs)
        if alone is None or alone.usual < (1 - NO_WASTE) * fine.usual:
            notes.detail = "what others write in the pauses may lie in the region, too"
            return Reason.INTERFERENCE
        fine = alone
        _note(notes, fine)
    stretches = [fine]
    for times in (2,) if streams.aligned else (2, 4):
        coarser = streams.measure(requests // times + 4, times * length, runs)
        if coarser is None:
            return Reason.EFFECT_BELOW_NOISE
        stretches.append(coarser)
    judged = _judged(stretches, buffer_bytes, aligned=streams.aligned)
    notes.figures["told_by_request_size_bytes"] = judged["told"]
    value, (low, high) = judged["value"], judged["interval"]
    if not judged["agree"]:
        notes.detail = "requests of several sizes do not fill it with the same bytes"
        return Reason.EFFECT_BELOW_NOISE
    if high - low > USELESS_WIDTH * value:
        return Reason.EFFECT_BELOW_NOISE
    return value, (low, high)


def _is_region(streams: Streams, fine: Stretch, notes: Notes) -> bool:
    """Whether a full one is slow behind a flush, and fast behind a pause.

    By more than erases alone make it, which a drive that collects in pauses is then spared.
    """
    if fine.slow_ns < LEAST_SLOWER * fine.fast_ns:
        notes.detail = "erases alone may make it so much slower behind what pauses have freed"
        return False
    notes.figures["flushed_over_rested"] = _against_rested(streams, fine, 0)
    if notes.figures["flushed_over_rested"] < STILL_SLOW:
        notes.detail = "what is fast again after a flush is a buffer, which may hide a region"
        return False
    notes.figures["paused_over_rested"] = _against_rested(streams, fine, streams.idle_ns)
    if notes.figures["paused_over_rested"] > STILL_SLOW:
        notes.detail = "a pause does not make it fast again, as where a region stays full"
        return False
    return True


def may_be_full(bench: Bench) -> bool:
    """Whether what is seen may be a region that is always full: not even a pause makes it fast."""
    known = bench.known.get(SIZE)
    if not isinstance(known, Undetectable) or known.reason is not Reason.MASKED:
        return False
    never_fast = known.evidence.figures.get("paused_over_rested", 0.0) > STILL_SLOW
    return never_fast or bool(known.evidence.figures.get("slow_from_the_first", False))


def may_be_there(bench: Bench) -> bool:
    """Whether a region was found, or looked for and not ruled out.

    It is ruled out where writes slow down by no more than erasing may make them.
    """
    known = bench.known.get(SIZE)
    if isinstance(known, Undetectable):
        return known.reason in NOT_RULED_OUT and not known.evidence.figures.get("only_faint", False)
    return isinstance(known, Ambiguous | Detected)


def may_be_behind_a_buffer(bench: Bench) -> bool:
    """Whether a protected buffer, which nothing passes, may hide a region."""
    known = bench.known.get(SIZE)
    if not isinstance(known, Undetectable) or known.reason is not Reason.MASKED:
        return False
    return bool(known.evidence.figures.get("buffer_bytes", 0.0) != 0.0)


def seen(bench: Bench) -> bool:
    """Whether there is a region, though its size may not be known well enough to be told.

    Without a buffer nothing else is slow behind a flush where it was full, and fast behind a pause.
    """
    known = bench.known.get(SIZE)
    if not isinstance(known, Undetectable):
        return isinstance(known, Detected)
    emptied = known.evidence.figures.get("paused_over_rested", np.inf) <= STILL_SLOW
    return bool(emptied and known.evidence.figures["buffer_bytes"] == 0)


def _adapted(streams: Streams) -> Stretch | None:
    """Find the stretch behind ever longer pauses, until it grows no more; None if it is not one."""
    _, found = streams.find(SEARCH_RUNS)
    while found is not None:
        longer = streams.idle_ns < MOST_IDLE_NS
        streams.idle_ns *= 4 if longer else 1
        before, found = found, streams.again(found)
        if found is None or found.bytes <= GREW * before.bytes or not longer:
            return found
    return None


def _fills_a_buffer(found: Stretch, buffer_bytes: float) -> bool:
    """Tell whether it may be the buffer that was full, and not what is behind it.

    What it does not hold has left it while it was filled. Writes that then wait for it come at the
    pace of that; a region that is full makes them slower.
    """
    emptied = found.bytes - buffer_bytes
    if found.bytes < BESIDE * buffer_bytes:
        return True
    at = round(float(np.median(found.requests)))
    behind = max(LEAST_BEHIND, round(BEHIND_SHARE * at))
    request_ns = found.latency_ns.mean(axis=0)
    emptied_ns = float(request_ns[:at].sum()) * found.length / emptied
    return bool(request_ns[at : at + behind].mean() < LEAST_SLOWER * emptied_ns)


def _against_rested(streams: Streams, fine: Stretch, idle_ns: int) -> float:
    """Give how many times longer writes take behind a full region, a flush and such a pause."""
    requests = max(4, round(0.6 * fine.usual))

    def again() -> NDArray[Any]:
        streams.rest(idle_ns, discard=False)
        return streams.write(requests, fine.length)

    rested = np.median(fine.latency_ns[:, fine.skipped : fine.skipped + requests], axis=0)
    return float(in_peace(streams.bench, again).mean() / rested.mean())


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
    # Of rare waits the first comes somewhat later, one time more than another.
    scatter = aligned * np.array([float(np.ptp(each.requests)) for each in stretches]) * lengths / 2
    agree = bool((np.abs(told - expected) <= lengths / 2 + scatter + NO_WASTE * told).all())
    agree &= all(np.ptp(each.requests) <= max(APART * each.usual, 1) for each in stretches)
    spread = np.quantile(stretches[0].requests, [0.1, 0.9]) * lengths[0]
    error = max(float(error), float(spread[1] - spread[0]) / 2)
    return {
        "value": float(value),
        "interval": (float(value) - error, float(value) + error),
        "agree": agree,
        "told": told.tolist(),
    }


def _note(notes: Notes, fine: Stretch) -> None:
    """Note the runs, and what a sceptic looks at."""
    places = np.arange(fine.latency_ns.shape[1]) * fine.length
    rates = fine.length / np.median(fine.latency_ns, axis=0) * 1e9
    exhibit = Exhibit(
        name="in-order-behind-a-pause",
        title="Writing in order behind a pause",
        caption="Rate of each request, median over equal stretches; behind the mark it drops.",
        x=Axis("written", "bytes"),
        y=Axis("rate", "bytes/s", log=True),
        series=(series("written in order", places, rates, "points"),),
        fitted=(Step(at=fine.bytes, word="full"),),
    )
    notes.show(exhibit)
    notes.figures |= {
        "request_bytes": fine.length,
        "requests_before_drop": fine.requests.tolist(),
        "fast_ns": fine.fast_ns,
        "slow_ns": fine.slow_ns,
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
