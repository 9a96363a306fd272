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
   the period is the smallest that is nearly as high as the best. Where the RMW unit is not known,
   two steps must show the same: each write below a unit takes a whole one of the log block.
2. *Collapse of alignment.* Whole units of that size are written in random order, then such that lie
   across two. The latter copy, and take longer. At a wrong size both or neither are aligned.
   Single writes far apart go ahead, so that every log block is taken, and as many runs as there
   were of them do not count (`merge_runs`).

Decision. Detected if the second estimator finds units that lie across slower (rank test, 0.1 %) by
at least a tenth; where the mapping table is loaded in parts of that size, by more than four writes
far apart take, each of which loads one, or if those came to wait for merges; else more of the drive
is written in order, where something larger may repeat. Absent if neither they nor writes far apart
nor short runs at random places are slower, and an erase could not have been missed.

Assumptions. Writes wait for flash (`write_through`); RMW unit and phase are those that were found
before, or else steps of 4 KiB and more, and 0; the phase is told if the RMW unit is.

Cost. At most the capacity once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes import merge_runs, write_through
from ssdscope.probes.discipline import base_request_bytes
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME = "merge_unit"
UNIT, PHASE = "merge_unit_bytes", "alignment_phase_bytes"

STREAM_SHARES = (12, 4)
"""Which part of the capacity is overwritten in order, in the first look and in the second."""
MOST_WRITES = 1 << 17
LEAST_PERIODS, ENOUGH_PERIODS = 9, 12
SURE = 5.0
"""Standard errors above the middle of ranks."""
AS_GOOD = 0.85
"""Of the height of the best candidate; that of half the period is one half."""
BETWEEN_SURE, BETWEEN_AS_SLOW = 4.0, 0.5
"""Standard errors, and share of the height, of writes between, if a part is the period."""
RUNS_SHARE = 0.9
"""Of the capacity, that streams and runs may write; the rest is for what must not be slow."""
LEAST_RUNS, RUNS_LOOKS = 8, 4
SUSPECT = 0.05
"""Common log blocks that are merged now and then make few units much slower: ranks suspect it."""
LARGEST_STEP_BYTES = 128 << 10
"""Of writing in order, where the RMW unit is not known."""
ERASE_NS = 1_000_000
"""What erasing a block takes at least."""


@dataclass(frozen=True)
class _Stream:
    """Latency of writes in order, an RMW unit each; shape (n,). NaN where others disturbed."""

    unit_bytes: int
    phase_bytes: int
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


@dataclass(frozen=True)
class _Found:
    """What repeats in writes in order; None if it is no period of the drive."""

    stream: _Stream
    period: _Period | None

    @property
    def size_bytes(self) -> int:
        """How large the unit would be; 0 without a period."""
        return self.period.units * self.stream.unit_bytes if self.period else 0


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    return info.capacity_bytes


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the unit, and the phase if there is a unit."""
    begun = bench.bytes_written
    stream: _Stream | None = None
    unclear: Reason | None = None
    evidence: dict[str, Any] = {}
    refuted = 0
    for stream in _streams(bench):
        found = _repeating(bench, stream)
        if found is None or (found.period is not None and found.size_bytes == refuted):
            evidence = evidence or _evidence(stream, None)
            continue
        left = int(bench.info.capacity_bytes * RUNS_SHARE) - (bench.bytes_written - begun)
        collapse = None if found.period is None else _collapse(bench, found, left)
        evidence = _evidence(found.stream, found.period) | (collapse.evidence if collapse else {})
        if collapse is None:
            unclear = Reason.MODEL_MISFIT if found.period is None else Reason.RANGE_TOO_SMALL
        elif collapse.sure and (collapse.merges or not _is_zone(bench, found)):
            yield from _detected(bench, found, collapse)
            return
        elif collapse.contrast >= merge_runs.COLLAPSES / 2 or collapse.p_value <= SUSPECT:
            unclear = Reason.EFFECT_BELOW_NOISE
        refuted = found.size_bytes
    common: dict[str, Any] = {"probe": NAME, "evidence": evidence}
    if stream is not None and unclear is None:
        yield from _none(bench, stream, common)
        return
    for name in (UNIT, PHASE):
        yield Undetectable(name=name, reason=unclear or Reason.RANGE_TOO_SMALL, **common)


def _detected(bench: Bench, found: _Found, collapse: merge_runs.Collapse) -> Iterator[Finding]:
    evidence = _evidence(found.stream, found.period) | collapse.evidence
    common: dict[str, Any] = {"probe": NAME, "evidence": evidence}
    told = common | {"effect": collapse.contrast, "interval": None}
    yield Detected(name=UNIT, value=found.size_bytes, **told)
    if _unit_is_known(bench):  # Less than an RMW unit does not show in whole merge units.
        yield Detected(name=PHASE, value=found.stream.phase_bytes, **told)
    else:
        yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _streams(bench: Bench) -> Iterator[_Stream]:
    """Overwrite the beginning of the drive in order, and then more of it."""
    unit = int(bench.found("rmw_unit_bytes") or base_request_bytes(bench.info))
    written = 0
    for look, share in enumerate(STREAM_SHARES):
        count = min(bench.info.capacity_bytes // share // unit, MOST_WRITES)
        if count < 3 * LEAST_PERIODS or count <= written:
            break
        if look:
            merge_runs.renew(bench)
        bench.progress("units of merging", look / 4)
        yield _written_in_order(bench, count, unit, int(bench.found(PHASE) or 0))
        written = count


def _written_in_order(bench: Bench, count: int, unit: int, phase: int) -> _Stream:
    """Overwrite the beginning of the drive; what others disturbed is not known."""
    places = np.arange(1, count + 1) * unit - phase
    with write_through.writing(bench) as writer:
        latency = merge_runs.undisturbed(writer, places, unit)
    return _Stream(unit, phase, latency)


def _repeating(bench: Bench, stream: _Stream) -> _Found | None:
    """Give what repeats; without its period if that is one of the writes and not of the drive."""
    period = _period(stream.ranks())
    if period is None:
        return None
    if _unit_is_known(bench):
        return _Found(stream, period)
    return _of_two_steps(bench, stream, period)


def _of_two_steps(bench: Bench, stream: _Stream, period: _Period) -> _Found:
    """Write in larger and larger steps until two of them show the same period in bytes.

    A step below the RMW unit, or aside of where it begins, takes a whole one more of the log block,
    which so is full too soon.
    """
    least = bench.info.capacity_bytes // STREAM_SHARES[0]
    while stream.unit_bytes < LARGEST_STEP_BYTES:
        step = 2 * stream.unit_bytes
        shown = max(ENOUGH_PERIODS * period.units * stream.unit_bytes, least)
        count = min(shown // step, MOST_WRITES)
        merge_runs.renew(bench)
        larger = _written_in_order(bench, count, step, 0)
        again = _period(larger.ranks())
        if again is None:
            break
        if again.units * step == period.units * stream.unit_bytes:
            return _Found(stream, period)
        stream, period = larger, again
    return _Found(stream, None)


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
    return _whole(ranks, next(each for each in found if each.height >= AS_GOOD * best))


def _whole(ranks: NDArray[Any], period: _Period) -> _Period:
    """Give the smallest part of a period between whose multiples writes are about as slow.

    Of several periods few writes may happen to be slow more often than those of one.
    """
    for units in range(2, period.units):
        if period.units % units:
            continue
        between = ranks[units::units][np.arange(units, ranks.size, units) % period.units > 0]
        height = float(np.nanmean(between))
        sure = height * np.sqrt(12 * between.size)
        if sure >= BETWEEN_SURE and height >= BETWEEN_AS_SLOW * period.height:
            return _Period(units, float(np.nanmean(ranks[units::units])), sure)
    return period


def _collapse(bench: Bench, found: _Found, left_bytes: int) -> merge_runs.Collapse | None:
    """Write units of a size aligned, and across two; None if there are too few."""
    from scipy.stats import mannwhitneyu

    size, stream = found.size_bytes, found.stream
    merge_runs.renew(bench)
    apart = merge_runs.far_apart(bench, stream.unit_bytes, -stream.phase_bytes)
    half = size // 2 // stream.unit_bytes * stream.unit_bytes
    layouts = [
        merge_runs.Layout(size, stream.unit_bytes, each - stream.phase_bytes, apart.logs)
        for each in (0, half)
    ]
    left = left_bytes // (2 * size)
    collapse, aligned, across = None, np.empty(0), np.empty(0)
    for look in range(RUNS_LOOKS):
        runs = min(layouts[0].runs, left, layouts[0].slots(bench.info))
        if runs < LEAST_RUNS:
            break
        left -= runs
        more = [merge_runs.run_times(bench, each, runs, look) for each in layouts]
        aligned, across = np.concatenate([aligned, more[0]]), np.concatenate([across, more[1]])
        if min(aligned.size, across.size) < 2:
            continue
        p_value = float(mannwhitneyu(across, aligned, alternative="greater").pvalue)
        collapse = merge_runs.Collapse(size, aligned, across, p_value, apart)
        if p_value <= merge_runs.RANKS_DIFFER or collapse.contrast < merge_runs.COLLAPSES / 2:
            break
    return collapse


def _is_zone(bench: Bench, found: _Found) -> bool:
    """Whether that may be loading the mapping table, which times of writes must then refute."""
    zone = bench.found("map_zone_bytes")
    return zone is not None and abs(float(zone) - found.size_bytes) <= found.stream.unit_bytes


def _unit_is_known(bench: Bench) -> bool:
    return isinstance(bench.known.get("rmw_unit_bytes"), Detected | Absent)


def _none(bench: Bench, stream: _Stream, common: dict[str, Any]) -> Iterator[Finding]:
    """Say that nothing is merged, if an erase would have shown and no scattered write is slow."""
    spread = float(np.subtract(*np.nanpercentile(stream.latency_ns, [75, 25])))
    merge_runs.renew(bench)
    apart = merge_runs.far_apart(bench, stream.unit_bytes, -stream.phase_bytes).slower
    runs = _short_runs(bench, stream)
    common["evidence"] |= {"spread_ns": spread, "short_runs": runs, "far_apart": apart}
    told = (
        _unit_is_known(bench)
        and not write_through.too_fast(stream.known_ns())
        and spread < ERASE_NS
    )
    if told and runs < merge_runs.COLLAPSES and apart < merge_runs.MERGES - 1:
        why = "neither shifted units nor short runs nor writes far apart are slower than others"
        yield Absent(name=UNIT, bound=max(runs, 0.0), reason=why, **common)
    else:
        yield Undetectable(name=UNIT, reason=Reason.EFFECT_BELOW_NOISE, **common)
    yield Undetectable(name=PHASE, reason=Reason.EFFECT_BELOW_NOISE, **common)


def _short_runs(bench: Bench, stream: _Stream) -> float:
    """How much longer short runs at random places take than the same bytes in order."""
    rng = bench.rng(f"{NAME} short")
    unit = stream.unit_bytes
    length = max(merge_runs.RUN_BYTES // unit, 4)
    slots = bench.info.capacity_bytes // (length * unit) - 1
    count = min(4 * merge_runs.RUNS, slots, bench.info.capacity_bytes // 8 // (length * unit))
    first = rng.permutation(slots)[:count] * length + 1 + length // 3
    merge_runs.renew(bench)
    places = (first[:, None] + np.arange(length)) * unit - stream.phase_bytes
    with write_through.writing(bench) as writer:
        latency = merge_runs.undisturbed(writer, places.ravel(), unit).reshape(places.shape)
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
