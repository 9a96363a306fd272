"""The probe `merge_unit`: the span of a log block and of a data block, where a drive merges them.

Physics. A firmware with log blocks maps whole units of B bytes. Written in order and from its
beginning, a unit only has its old block erased (a switch merge); anything else copies what was not
written. (kuo2009, table 3, and its observation on alignment; ryu2009, figure 6, on drive B.)

Two estimators that share no data must agree.

1. *Period of erasing.* The drive is overwritten in order, one RMW unit at a time. With log blocks
   the first write of every unit waits for an erase, at addresses that are multiples of B less
   the phase. For every candidate B the ranks of latency at its multiples are averaged; the phase
   is known, so one number per candidate remains. A candidate counts if its mean lies five
   standard errors above the middle (one in three million, for up to twenty thousand candidates);
   the period is the smallest that is nearly as high as the best.
2. *Collapse of alignment.* Whole units of that size are written in random order, then such that lie
   across two. The latter copy, and take longer. At a wrong size both or neither are aligned.
   Single writes far apart go ahead, so that every log block is taken.

Decision. Detected if the second estimator finds units that lie across slower (rank test, 0.1 %) by
at least a tenth. Absent if neither they nor writes far apart nor short runs at random places
are slower, and an erase could not have been missed.

Assumptions. Writes wait for flash (`write_through`); RMW unit and phase are those that were found
before, or else a logical block (of 4 KiB at least) and 0.

Cost. At most the capacity once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes import write_through
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import MAX_DROPPED_SHARE, base_request_bytes
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

NAME = "merge_unit"
UNIT, PHASE = "merge_unit_bytes", "alignment_phase_bytes"

STREAM_SHARES = (12, 3)
"""Which part of the capacity is overwritten in order, in the first look and in the second."""
MOST_WRITES = 1 << 17
LEAST_PERIODS = 9
SURE = 5.0
"""Standard errors above the middle of ranks."""
AS_GOOD = 0.85
"""Of the height of the best candidate; that of half the period is one half."""
RUNS, RUNS_SHARE = 24, 0.4
"""How many whole units are written aligned, and as many across two; of the capacity in all."""
LEAST_RUNS, RUNS_LOOKS = 8, 4
RUN_BYTES = 256 << 10
COLLAPSES = 0.1
RANKS_DIFFER = 0.001
PIECE_WRITES = 4096
APART_BYTES, SLOTS, BATCH = 4 << 20, (64, 1024), 16
"""Distance of single writes, the fewest and the most of them, and how many are judged at once."""
MERGES = 2.0
"""How many times longer such a write must take than the first ones, to have waited for a merge."""
ERASE_NS = 1_000_000
"""What erasing a block takes at least."""


@dataclass(frozen=True)
class _Stream:
    """Writes in order: latency of the first, second ... whole RMW unit; shape (n,).

    NaN where others disturbed.
    """

    unit_bytes: int
    latency_ns: NDArray[Any]

    def known_ns(self) -> NDArray[Any]:
        """Give the latencies that nobody disturbed."""
        return np.asarray(self.latency_ns[~np.isnan(self.latency_ns)])

    def ranks(self) -> NDArray[Any]:
        """Give ranks by number of the unit on the drive, from -1/2 to 1/2; NaN where unknown."""
        ranks = np.full(self.latency_ns.size + 1, np.nan)
        known = np.flatnonzero(~np.isnan(self.latency_ns))
        order = known[np.argsort(self.latency_ns[known], kind="stable")]
        ranks[order + 1] = (np.arange(order.size) + 0.5) / order.size - 0.5
        return ranks


@dataclass(frozen=True)
class _Period:
    """A candidate: units in a period, mean rank at its multiples, standard errors above 0."""

    units: int
    height: float
    sure: float


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    return info.capacity_bytes


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the unit, and the phase if there is a unit."""
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(bench.info))
    phase = int(bench.found(PHASE) or 0)
    stream, period = None, None
    for look, share in enumerate(STREAM_SHARES):
        count = min(bench.info.capacity_bytes // share // unit, MOST_WRITES)
        if count < 3 * LEAST_PERIODS or (stream and count <= stream.latency_ns.size):
            break
        if look:
            _renew(bench)
        stream = _written_in_order(bench, count, unit, phase)
        period = _period(stream.ranks())
        bench.progress("units of merging", (look + 1) / 4)
        if period is not None:
            break
    if stream is None:
        for name in (UNIT, PHASE):
            yield Undetectable(name=name, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    common: dict[str, Any] = {"probe": NAME, "evidence": _evidence(stream, period)}
    if period is None:
        yield from _none(bench, stream, phase, common)
        return
    yield from _confirmed(bench, period.units * unit, stream, phase, common)


def _written_in_order(bench: Bench, count: int, unit: int, phase: int) -> _Stream:
    """Overwrite the beginning of the drive; what others disturbed is not known."""
    places = np.arange(1, count + 1) * unit - phase
    with write_through.writing(bench) as writer:
        latency = _undisturbed(writer, places, unit)
    return _Stream(unit, latency)


def _undisturbed(
    writer: Writer, places: NDArray[Any], size: int, most_lost: float = MAX_DROPPED_SHARE
) -> NDArray[Any]:
    """Write a list whose order matters; latencies, NaN where others disturbed."""

    def write(part: slice) -> NDArray[Any]:
        return writer.latency_ns(places[part], size)

    return between_bursts(
        writer.bench,
        places.size,
        write,
        longest=PIECE_WRITES,
        again=False,
        most_lost=most_lost,
    )


def _renew(bench: Bench) -> None:
    """Return to the filled drive, where that costs nothing."""
    if bench.info.snapshot:
        bench.enter(State.FILLED)


def _period(ranks: NDArray[Any]) -> _Period | None:
    """Find the smallest distance at whose multiples writes are slow."""
    sd = 1 / np.sqrt(12)
    found = []
    for units in range(2, (ranks.size - 1) // LEAST_PERIODS + 1):
        on = ranks[units::units]
        sure = float(np.nansum(on)) / sd / np.sqrt(on.size)
        if sure >= SURE:
            found.append(_Period(units, float(np.nanmean(on)), sure))
    if not found:
        return None
    best = max(each.height for each in found)
    return next(each for each in found if each.height >= AS_GOOD * best)


def _confirmed(
    bench: Bench, size: int, stream: _Stream, phase: int, common: dict[str, Any]
) -> Iterator[Finding]:
    """Write units of a size aligned, and across two, and answer."""
    from scipy.stats import mannwhitneyu

    unit = stream.unit_bytes
    left = int(bench.info.capacity_bytes * RUNS_SHARE) // (2 * size)
    slots = (bench.info.capacity_bytes // size - 2) // 2
    aligned, across = np.empty(0), np.empty(0)
    contrast, p_value = 0.0, 1.0
    for look in range(RUNS_LOOKS):
        runs = min(RUNS, left, slots)
        if runs < LEAST_RUNS:
            break
        left -= runs
        shifts = (0, size // 2 // unit * unit)
        more = [_run_times(bench, size, unit, each - phase, runs, look) for each in shifts]
        aligned, across = np.concatenate([aligned, more[0]]), np.concatenate([across, more[1]])
        if min(aligned.size, across.size) < 2:
            continue
        contrast = float(np.median(across) / np.median(aligned) - 1)
        p_value = float(mannwhitneyu(across, aligned, alternative="greater").pvalue)
        if p_value <= RANKS_DIFFER or contrast < COLLAPSES / 2:
            break
    if min(aligned.size, across.size) < 2:
        for name in (UNIT, PHASE):
            yield Undetectable(name=name, reason=Reason.RANGE_TOO_SMALL, **common)
        return
    common["evidence"] |= {
        "period_bytes": size,
        "aligned_ns": aligned.tolist(),
        "across_ns": across.tolist(),
        "contrast": contrast,
        "p_value": p_value,
    }
    if contrast >= COLLAPSES and p_value <= RANKS_DIFFER:
        yield Detected(name=UNIT, value=size, interval=None, effect=contrast, **common)
        yield Detected(name=PHASE, value=phase, interval=None, effect=contrast, **common)
        return
    if contrast < COLLAPSES / 2:
        yield from _none(bench, stream, phase, common)
        return
    for name in (UNIT, PHASE):
        yield Undetectable(name=name, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _run_times(
    bench: Bench, size: int, unit: int, shift: int, runs: int, look: int
) -> NDArray[Any]:
    """Time runs of a size at random multiples of it, less those that only fill log blocks.

    No two are neighbours: the rest of a unit that one began would go to the same log block.
    """
    rng = bench.rng(f"{NAME} {size} {look}")
    slots = (bench.info.capacity_bytes // size - 2) // 2
    begins = (2 * rng.permutation(slots)[:runs] + 1) * size + shift
    step = unit * _largest_divisor(size // unit, max(RUN_BYTES // unit, 1))
    places = begins[:, None] + np.arange(0, size, step)[None, :]
    _renew(bench)
    _far_apart(bench, unit, shift)
    times = np.empty(runs)
    with write_through.writing(bench) as writer:
        for run in range(runs):
            latency = _undisturbed(writer, places[run], step, most_lost=1.0)
            times[run] = np.nan if np.isnan(latency).mean() > 0.5 else np.nanmean(latency)
    times = times[runs // 3 :] * places.shape[1]
    return np.asarray(times[~np.isnan(times)])


def _far_apart(bench: Bench, unit: int, shift: int) -> float:
    """Write single RMW units far apart until they are slow; how much slower than the first ones.

    A log block for each data block is soon merged for the next one; shared ones take them all.
    """
    rng = bench.rng(f"{NAME} apart")
    slots = min(max(bench.info.capacity_bytes // APART_BYTES, SLOTS[0]), SLOTS[1])
    apart = bench.info.capacity_bytes // slots // unit * unit
    places = rng.permutation(slots - 2) * apart + apart + unit + shift
    places = places[places + unit <= bench.info.capacity_bytes]
    times: list[float] = []
    with write_through.writing(bench) as writer:
        for first in range(0, places.size - BATCH + 1, BATCH):
            batch = _undisturbed(writer, places[first : first + BATCH], unit, most_lost=1.0)
            if np.isnan(batch).all():
                continue
            times.append(float(np.nanmedian(batch)))
            if times[-1] > MERGES * times[0]:
                break
    if not times:
        raise Stopped(Reason.INTERFERENCE, "others used the drive nearly all the time")
    return times[-1] / times[0] - 1


def _largest_divisor(number: int, most: int) -> int:
    return next(each for each in range(min(number, most), 0, -1) if number % each == 0)


def _none(bench: Bench, stream: _Stream, phase: int, common: dict[str, Any]) -> Iterator[Finding]:
    """Say that nothing is merged, if an erase would have shown and no scattered write is slow."""
    quartiles = np.nanpercentile(stream.latency_ns, [25, 50, 75])
    spread = float(quartiles[2] - quartiles[0])
    _renew(bench)
    apart = _far_apart(bench, stream.unit_bytes, -phase)
    runs = _short_runs(bench, stream, phase)
    common["evidence"] |= {"spread_ns": spread, "short_runs": runs, "far_apart": apart}
    known = isinstance(bench.known.get("rmw_unit_bytes"), Detected | Absent)
    told = known and not write_through.too_fast(stream.known_ns()) and spread < ERASE_NS
    if told and runs < COLLAPSES and apart < MERGES - 1:
        why = "neither shifted units nor short runs nor writes far apart are slower than others"
        yield Absent(name=UNIT, bound=max(runs, 0.0), reason=why, **common)
    else:
        yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)
    yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _short_runs(bench: Bench, stream: _Stream, phase: int) -> float:
    """How much longer short runs at random places take than the same bytes in order."""
    rng = bench.rng(f"{NAME} short")
    unit = stream.unit_bytes
    length = max(RUN_BYTES // unit, 4)
    slots = bench.info.capacity_bytes // (length * unit) - 1
    count = min(4 * RUNS, slots, bench.info.capacity_bytes // 8 // (length * unit))
    begins = rng.permutation(slots)[:count] * length * unit + unit * (1 + length // 3) - phase
    _renew(bench)
    places = begins[:, None] + np.arange(length)[None, :] * unit
    with write_through.writing(bench) as writer:
        latency = _undisturbed(writer, places.ravel(), unit).reshape(places.shape)
    in_order = stream.latency_ns[: stream.latency_ns.size // length * length]
    usual = np.nanmedian(in_order.reshape(-1, length).mean(axis=1))
    return float(np.nanmedian(np.nanmean(latency, axis=1)[count // 2 :]) / usual - 1)


def _evidence(stream: _Stream, period: _Period | None) -> dict[str, Any]:
    evidence: dict[str, Any] = {
        "written_in_order": int(stream.latency_ns.size),
        "step_bytes": stream.unit_bytes,
        "median_latency_ns": float(np.nanmedian(stream.latency_ns)),
    }
    if period is None:
        return evidence
    on = stream.ranks()[period.units :: period.units]
    folded = np.concatenate([[np.nan], stream.latency_ns])
    folded = folded[: folded.size // period.units * period.units].reshape(-1, period.units)
    medians = np.nanmedian(folded[1:], axis=0)
    picture = Picture(
        title="Latency of a write in order, folded at the merge unit",
        caption="The first write of a unit waits until the unit before is erased.",
        x=Axis("offset within a merge unit", "bytes"),
        y=Axis("median latency", "ns"),
        series=[series("in order", np.arange(period.units) * stream.unit_bytes, medians, "steps")],
    )
    return evidence | {
        "periods": int(on.size),
        "mean_rank": period.height,
        "standard_errors": period.sure,
        "picture": picture.to_json(),
    }


PROBE = ProbeInfo(
    name=NAME,
    summary="span that is merged at once, on drives with log blocks",
    weight="standard",
    properties=(UNIT, PHASE),
    cost="up to the capacity written, mostly in order",
    detect=detect,
    declared_writes_bytes=writes_bytes,
    state=State.FILLED,
)
