"""The probe `amplification`: what a settled drive programs for a byte that a host writes.

Physics. Collecting a block copies what is still valid: a block of which a share f is stale costs
1 / f programs for each page it frees. What collecting costs in time is not known from outside,
since it goes on beside the writes, but a host can prepare blocks of which it knows f: it fills the
drive in order and then overwrites a share f of every reclaim unit. Once the spare space is used up,
any victim is such a block, whichever the drive prefers, and A = 1 / f (a drive that chooses takes
wholly stale blocks first, until there are none; one that draws blindly mixes them).

Statistic. Mean latencies of writes one by one, over those of control reads in between (which
divides out drift): of uniform overwrites, settled (T); of overwrites in order, where A is 1 (T1);
and along the prepared ones. Two courses of A are fitted to these, that of a drive that chooses
and that of one that draws blindly: T = T1 + c (A - 1). The better gives c, A = 1 + (T - T1) / c.
The share f is chosen so that 1 / f is near what theory says, and the line short. What misses of the
mapping table add to T is measured before anything is copied, and taken off.

Decision. The prepared writes must follow their course within 12 % of its rise, beyond scatter.
Where A agrees with theory for so much spare space (`stats.write_amplification`, or the same of
blind draws) within 15 % (35 %), the answer is their weighted geometric mean; less is told too (who
weighs ages copies less), more is not. The interval is 8 % to both sides.

Assumptions. Spare space, RMW unit and reclaim unit are known, no region of one bit per cell folds,
the drive does not merge, and takes discards.
Cost. Some five capacities written: heavy.
Source. PROBING.md 3.2 (head over settled rate, here calibrated); Luojie and Kurkoski,
arXiv:1110.4245, for what A is near to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes, in_peace
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.overwriting import Granule, fill_afresh, granule, latencies_ns
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import State
from ssdscope.targets.records import OP_READ, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "amplification"
AMPLIFICATION = "gc_write_amplification"
_NEEDED = ("over_provisioning_ratio", "reclaim_unit_bytes")

SHARES = (1 / 16, 1 / 12, 1 / 8, 1 / 6, 3 / 16, 1 / 4, 1 / 3, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8)
"""Of a reclaim unit, one of which is overwritten: whole pages of every block of it."""
ROOM = (1.25, 0.02)
"""Overwritten at least: times the spare space, and of the capacity more."""
SETTLE = (1.0, 1.5)
"""Capacities overwritten until the drive has settled, and times the spare space more."""
DEPTH = 32
MEASURED_SHARE, MEASURED_MOST = 0.25, 40_000
"""Of the capacity, and requests: of which a mean is taken."""
PARTS, USUAL_PLANES = (8, 4, 2), 16
WINDOW_SHARE, WINDOW_LEAST = 0.01, 256
"""Of the capacity, and requests: written in random order before the next such."""
PIECES, COARSE = 40, 10
"""Into which the prepared writes are divided, and of which so many say how well theory fits."""
EVERY, CONTROLS, CONTROLS_TOGETHER = 32, 4, 128
"""Writes, and control reads after them; of so many the quick ones count."""
CONTROL_BYTES = 0
"""Where they read."""
QUICK = 0.03
NOTHING = 0.02
MISFIT, MISFIT_ALONE = 0.12, 0.08
AS_THEORY, WEIGHT = 0.15, 2 / 3
"""Difference from theory up to which both are taken together, and how much theory counts."""
AS_DRAWN, DRAWN_WEIGHT = 0.35, 0.85
"""Likewise of blind draws, whose course has no level to be seen, but which nothing else decides."""
CHOOSING_LEAST = 0.5
BLIND_MOST = 8.0
"""Above, the spare space that nobody sees decides, and so does the mapping table's own traffic."""
LITTLE, AS_LITTLE = 0.08, 0.1
"""Of so little spare space a hundredth more or less decides, and both must agree the better."""
INTERVAL = 0.08
RESERVE = 0.01
"""Spare space, of the capacity, that a host does not see."""
DRAWN_RESERVE = 0.018
"""Likewise; more, as what is kept free is never drawn."""
RESERVES = (0.85, 0.95, 1.05, 1.15, 1.3)
"""Times the spare space, where wholly stale blocks may come to their end."""


@dataclass(frozen=True)
class Course:
    """Writes to prepared blocks: shares of the capacity written, and times there; shapes (n,)."""

    written: NDArray[np.float64]
    times: NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """How a course of the amplification fits the times of prepared writes.

    `cost` is that of one more program; `scatter` that of the times about the course, as a share of
    its rise, and `misfit` what of it is no chance; `amplified` the course, shape (n,), and `blind`
    whether it is that of a drive that draws blocks blindly.
    """

    cost: float
    scatter: float
    misfit: float
    amplified: NDArray[np.float64]
    blind: bool


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer."""
    spare, reclaim = _required(bench)
    unit = granule(bench)
    if not unit.exact:
        unknown = bench.known.get("rmw_unit_bytes")
        why = unknown.reason if isinstance(unknown, Undetectable) else Reason.EFFECT_BELOW_NOISE
        raise Stopped(why, "without the RMW unit padding would count as data")
    per_unit = int(reclaim) // unit.size_bytes
    share = _share_of(spare)
    if share is None or per_unit < 1 / SHARES[0] or not bench.info.discard:
        raise Stopped(Reason.RANGE_TOO_SMALL, "no share of it leaves room for the measurement")
    bench.progress("overwriting until settled", 0.0)
    steps = np.arange(1, bench.info.capacity_bytes // unit.size_bytes - 1)
    settled = _settled(bench, unit, spare, steps.size)
    bench.progress("overwriting in order", 0.6)
    fill_afresh(bench, unit)
    plain, loads = _plain(bench, unit, steps[: int(0.5 * spare * steps.size)], steps.size)
    bench.progress("overwriting a share of every reclaim unit", 0.8)
    fill_afresh(bench, unit)
    period = _period(bench, share, per_unit)
    stale = round(share * period)
    in_block = float(bench.found("gc_period_bytes") or reclaim) / unit.size_bytes
    course = _prepared(bench, unit, steps[steps % period < stale], steps.size)
    yield _judge(spare, stale / period, (settled, settled - loads), plain, course, in_block)


def _required(bench: Bench) -> tuple[float, float]:
    """Give the spare share and the reclaim unit; stop without them."""
    if bench.found("merge_unit_bytes") is not None:
        raise Stopped(Reason.MASKED, "merges copy one after the other, and hide what they copy")
    period = bench.known.get("gc_period_bytes")
    ruled_out = isinstance(bench.known.get("pslc_bytes"), Absent) or isinstance(period, Detected)
    if bench.found("pslc_bytes") is not None or not ruled_out:
        raise Stopped(Reason.MASKED, "a region of one bit per cell is not ruled out")
    for name in _NEEDED:
        if bench.found(name) is None:
            known = bench.known.get(name)
            why = known.reason if isinstance(known, Undetectable) else Reason.EFFECT_BELOW_NOISE
            raise Stopped(why, f"it needs {name}")
    spare, reclaim = (float(bench.found(name) or 0) for name in _NEEDED)
    return spare, reclaim


def _theory(spare: float) -> float:
    return float(stats.write_amplification(1 + spare + RESERVE))


def _drawn_theory(spare: float, in_block: float) -> float:
    """Amplification where victims are drawn blindly, of blocks that hold anything stale.

    A block of n pages becomes a candidate when its first page is stale, and is drawn at a constant
    rate from then on, while its pages become stale at the rate of the writes. With as many blocks
    drawn as filled, v = (1 - 1/n) / (1 + alpha / A - 1/n) of a victim is valid, A = 1 / (1 - v).
    """
    alpha, low, high = 1 + spare + DRAWN_RESERVE, 1.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        valid = (1 - 1 / in_block) / (1 + alpha / middle - 1 / in_block)
        low, high = (middle, high) if 1 / (1 - valid) > middle else (low, middle)
    return low


def _share_of(spare: float) -> float | None:
    """Choose the share to overwrite: near what theory says, and more than is spare."""
    roomy = [each for each in SHARES if each > ROOM[0] * spare + ROOM[1]]
    return min(roomy, key=lambda each: abs(np.log(each * _theory(spare))), default=None)


def _write(bench: Bench, unit: Granule, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Overwrite units by number, one by one; latencies over those of control reads in between.

    Control reads are all alike. The quick ones among them, which nothing was collected for, tell
    how fast the drive is at that time.
    """
    groups = -(-steps.size // EVERY)
    width = EVERY + CONTROLS
    ops = np.tile(np.repeat([OP_WRITE, OP_READ], [EVERY, CONTROLS]).astype(np.uint8), groups)
    starts = np.full(groups * width, CONTROL_BYTES, np.uint64)
    lengths = np.full(groups * width, base_request_bytes(bench.info), np.uint64)
    written = np.flatnonzero(ops == OP_WRITE)[: steps.size]
    starts[written] = (steps * unit.size_bytes - unit.phase_bytes).astype(np.uint64)
    lengths[written] = unit.size_bytes
    kept = written[-1] + 1
    with bench.without_caches(read=False):
        all_of_them = latencies_ns(bench.issue(ops[:kept], starts[:kept], lengths[:kept]))
    controls = all_of_them[ops[:kept] == OP_READ]
    if controls.size < CONTROLS_TOGETHER:
        return np.asarray(all_of_them[written] / np.quantile(controls, QUICK))
    parts = np.array_split(controls, controls.size // CONTROLS_TOGETHER)
    quick = np.array([np.quantile(part, QUICK) for part in parts])
    of_each = np.minimum(np.arange(steps.size) * quick.size // steps.size, quick.size - 1)
    return np.asarray(all_of_them[written] / quick[of_each])


def _period(bench: Bench, share: float, per_unit: int) -> int:
    """Choose after how many units stale ones come again: often in a reclaim unit, on all planes."""
    planes = int(float(bench.found("interleave_degree") or USUAL_PLANES))
    for parts in PARTS:
        if share * per_unit / parts >= 2 * planes:
            return per_unit // parts
    return per_unit


def _shuffled(bench: Bench, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put each window in random order, so that planes meet as unevenly as in uniform writes."""
    rng = bench.rng("amplification windows")
    window = max(int(WINDOW_SHARE * steps.size), WINDOW_LEAST)
    parts = [rng.permutation(steps[i : i + window]) for i in range(0, steps.size, window)]
    return np.asarray(np.concatenate(parts))


def _mean(bench: Bench, unit: Granule, steps: NDArray[np.int64]) -> float:
    """Overwrite one by one; give the mean."""
    return float(in_peace(bench, lambda: _write(bench, unit, steps)).mean())


def _settled(bench: Bench, unit: Granule, spare: float, steps: int) -> float:
    """Overwrite at random until the drive has settled, then measure."""
    rng = bench.rng("amplification settled")
    settle = rng.integers(1, steps, int((SETTLE[0] + SETTLE[1] * spare) * steps))
    places = (settle * unit.size_bytes - unit.phase_bytes).astype(np.uint64)
    with bench.without_caches(read=False):
        in_peace(bench, lambda: bench.write(places, unit.size_bytes, iodepth=DEPTH))
    count = min(int(MEASURED_SHARE * steps), MEASURED_MOST)
    return _mean(bench, unit, rng.integers(1, steps, count))


def _plain(
    bench: Bench, unit: Granule, first: NDArray[np.int64], steps: int
) -> tuple[float, float]:
    """Measure where nothing is copied; and how much longer writes take that miss the table."""
    plain = _mean(bench, unit, _shuffled(bench, first[:MEASURED_MOST]))
    if bench.found("map_cache_bytes") is None:
        return plain, 0.0
    rng = bench.rng("amplification loads")
    scattered = _mean(bench, unit, rng.integers(1, steps, max(first.size // 4, WINDOW_LEAST)))
    return plain, scattered - plain


def _prepared(bench: Bench, unit: Granule, prepared: NDArray[np.int64], steps: int) -> Course:
    """Overwrite what makes blocks alike; give the times piece by piece."""
    parts = np.array_split(_write(bench, unit, _shuffled(bench, prepared)), PIECES)
    written = (np.arange(PIECES) + 0.5) / PIECES * prepared.size / steps
    return Course(written, np.array([part.mean() for part in parts]))


def _judge(
    spare: float,
    share: float,
    with_and_without_loads: tuple[float, float],
    plain: float,
    course: Course,
    in_block: float,
) -> Finding:
    fits = [
        _fitted(course, plain, model(course.written, reserve * spare + more, share), blind)
        for model, blind in ((_choosing, False), (_drawing, True))
        for reserve in RESERVES
        for more in (0.0, RESERVE)
    ]
    best = min(fits, key=lambda each: each.scatter)
    # A blind drive copies from the first write on, which would pass for loads.
    settled = with_and_without_loads[0 if best.blind else 1]
    value = 1 + (settled - plain) / best.cost if best.cost > 0 else 0.0
    theory = _drawn_theory(spare, in_block) if best.blind else _theory(spare)
    common: dict[str, Any] = {
        "name": AMPLIFICATION,
        "probe": NAME,
        "evidence": {
            "settled": settled,
            "loads": with_and_without_loads[0] - with_and_without_loads[1],
            "in_order": plain,
            "cost_of_one_more": best.cost,
            "scatter": best.scatter,
            "misfit": best.misfit,
            "blind": best.blind,
            "prepared_amplification": 1 / share,
            "theory": theory,
            "picture": _picture(course, plain, best).to_json(),
        },
    }
    told = _told(value, theory, spare, best)
    if told is None:
        return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)
    interval = (told * (1 - INTERVAL), told * (1 + INTERVAL))
    return Detected(value=told, interval=interval, effect=settled / plain - 1, **common)


def _told(value: float, theory: float, spare: float, fit: Fit) -> float | None:
    """Give what measurement and theory say together, if they do."""
    if fit.misfit > MISFIT or value <= 0 or (fit.blind and theory > BLIND_MOST):
        return None
    if spare < LITTLE and (fit.blind or abs(np.log(value / theory)) > AS_LITTLE):
        return None
    if abs(np.log(value / theory)) < (AS_DRAWN if fit.blind else AS_THEORY):
        weight = DRAWN_WEIGHT if fit.blind else WEIGHT
        return float(value ** (1 - weight) * theory**weight)
    # Nobody who looks at what is valid does worse than the oldest first, and some better.
    better = not fit.blind and CHOOSING_LEAST < value / theory < 1
    return value if better and fit.misfit < MISFIT_ALONE else None


def _choosing(written: NDArray[np.float64], spare: float, share: float) -> NDArray[np.float64]:
    """Amplification of a drive that takes wholly stale blocks as long as there are any."""
    return np.asarray(np.where(written < spare, 1.0, 1 / share))


def _drawing(written: NDArray[np.float64], spare: float, share: float) -> NDArray[np.float64]:
    """Amplification of a drive that draws blindly from all blocks that hold anything stale.

    Of the wholly stale ones there are as many as are spare; prepared ones become more by 1 / share
    for each page written.
    """
    whole, prepared, at, step = spare, 0.0, 0.0, written[-1] / 4000
    course = []
    while at < written[-1] + step:
        freed = (whole + share * prepared) / (whole + prepared)
        course.append(1 / freed)
        drawn = step / freed
        part = whole / (whole + prepared)
        whole = max(whole - drawn * part, 0.0)
        prepared = max(prepared + step / share - drawn * (1 - part), 1e-9)
        at += step
    return np.asarray(np.interp(written, np.arange(len(course)) * step, course))


def _fitted(course: Course, plain: float, amplified: NDArray[np.float64], blind: bool) -> Fit:
    """Fit the cost of one more program, by least squares."""
    more = amplified - 1
    total = float(more @ more)
    if total == 0:
        return Fit(0.0, np.inf, np.inf, amplified, blind)
    cost = float((course.times - plain) @ more / total)
    off = course.times - plain - cost * more
    groups = off.reshape(COARSE, -1)
    # Of groups of pieces, without the scatter that the pieces of a group have among themselves.
    scatter = groups.var(axis=1, ddof=1).mean() / groups.shape[1]
    excess = max(float(np.mean(groups.mean(axis=1) ** 2) - scatter), 0.0)
    reach = abs(cost) * float(more.max())
    if not reach:
        return Fit(cost, np.inf, np.inf, amplified, blind)
    rms = float(np.sqrt(np.mean(off**2)))
    return Fit(cost, rms / reach, float(np.sqrt(excess)) / reach, amplified, blind)


def _picture(course: Course, plain: float, fit: Fit) -> Picture:
    return Picture(
        title="Writes to blocks of which a known share is stale",
        caption="Mean latency of overwrites of a share of every reclaim unit, and its course.",
        x=Axis("overwritten, as a share of the capacity"),
        y=Axis("latency"),
        series=[
            series("measured", course.written, course.times, "points"),
            series("theory", course.written, plain + fit.cost * (fit.amplified - 1), "line"),
        ],
    )


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Settle, measure, fill twice and overwrite parts; some of it again if others disturb."""
    return int(12 * info.capacity_bytes)


PROBE = ProbeInfo(
    name=NAME,
    summary="write amplification, calibrated by blocks of which the stale share is known",
    weight="heavy",
    properties=(AMPLIFICATION,),
    cost="some five capacities written",
    detect=detect,
    declared_writes_bytes=declared_writes_bytes,
    state=State.AS_FOUND,
)
