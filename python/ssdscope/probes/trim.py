"""The probe `trim`: how much faster random writes are after half of a settled drive was discarded.

Physics. What was discarded need not be copied: collection and merges become cheap, and there is
more free space. Statistic. The drive is overwritten at random until it has settled, then its
first half is: the mean latency before that is discarded over that of all writes after it, as
what was freed may help only when its turn to be collected comes. The interval is by resampling
long blocks of writes, which hold several stalls each. Reads of the other half stand between the
writes; the lower quartile of their latencies tells drift, which is divided out. How long
discards take, and reads of what was discarded, is measured on the way.

Decision. Detected if the ratio is above 1.03 by three standard errors (two let one in a hundred
drives pass on which nothing but noise is slow at times), and 1.09 at least; absent if it is surely
within 3 % of 1, the drive had settled, and as much was written as was discarded: what is collected
in the order of writing has its turn late; undetectable otherwise. Log blocks that all merge units
share still hold data of everywhere when only one half is written; those that come later hold that
half alone, and are merged with half as many units at best, without any discard. So if the merge
unit is not known to be absent, and few writes merge, the ratio must surely be above twice 1.03.
Assumptions. Drift is the same for reads and writes. Cost: up to a capacity, which holds too few
stalls of drives with shared log blocks of a third of their size. Source: PROBING 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.findings import (
    Absent,
    Axis,
    Contrast,
    Detected,
    Evidence,
    Exhibit,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import base_request_bytes, in_peace, random_offsets
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.settling import Overwriter
from ssdscope.targets.records import OP_DISCARD, OP_READ, OP_WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

EFFECT = "trim_effect"
PROBE_NAME = "trim"

SETTLE_SHARE, MOST_SHARE = 0.6, 0.95
"""Of the capacity: written to settle it, and in all."""
BEFORE_SHARE = 0.35
"""Of what is left then: written before the discard, and the rest after it."""
MOST_BYTES = 1 << 34
REQUEST_BYTES = 32 * 1024
"""Of a write, or as many whole RMW units as come to more. What it gains depends on that: on a drive
of many planes long writes meet collection that goes on beside short ones. So it is as much where
the unit is not known."""
MOST_MEASURED, LEAST_MEASURED, PART, READ_EVERY, BLOCKS = 20_000, 256, 64, 4, 24
DISCARDS = 64
"""Pieces that half of the drive is discarded in, timed one by one."""
SURE_ERRORS, NOTHING = 3.0, 1.03
CLEAR = 1.09
"""Ratio from which on there is an effect: reads in between, and noise, make up to three times more
of what a discard gains."""
NARROWED = 2.0
"""How many times fewer merge units a shared log block holds of half of the drive, at most."""
QUICK, FEW_WAIT = 0.1, 0.5
"""Quantile of writes that wait for nothing, and how long the median write waits, as a share of what
writes wait in the mean, up to which few of them merge."""
MOST_DRIFT = 1.35


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer the effect."""
    if not bench.info.writable:
        raise Stopped(Reason.NOT_WRITABLE)
    if not bench.info.discard:
        raise Stopped(Reason.NOT_SUPPORTED, "it takes no discards")
    with bench.without_caches(read=False):
        yield _answer(bench)


def _answer(bench: Bench) -> Finding:
    overwriter = Overwriter(bench, bench.rng(PROBE_NAME), REQUEST_BYTES, REQUEST_BYTES)
    capacity = bench.info.capacity_bytes
    size = overwriter.granule.size_bytes
    half = capacity // 2 // size * size
    settled = overwriter.settle(min(int(SETTLE_SHARE * capacity), MOST_BYTES))
    left = min(int(MOST_SHARE * capacity) // size - settled.requests, MOST_MEASURED)
    before_count, after_count = (
        int(share * left) // PART * PART for share in (BEFORE_SHARE, 1 - BEFORE_SHARE)
    )
    if before_count < LEAST_MEASURED:
        return Undetectable(name=EFFECT, probe=PROBE_NAME, reason=Reason.RANGE_TOO_SMALL)
    bench.progress("settled", 0.5)
    before = measured(overwriter, half, before_count)
    pieces, discards = discard_first(bench, half)
    reads = _reads(bench, half)
    bench.progress("half of it discarded", 0.7)
    after = measured(overwriter, half, after_count)
    seen = compared(before, after)
    evidence = seen.evidence.noting(
        settled=settled.slowed,
        discarded_share=float(pieces[-1]) / capacity,
        discard_bytes=int(np.diff(pieces)[0]),
        discard_ns=float(np.median(discards)),
        read_discarded_ns=reads[0],
        read_written_ns=reads[1],
    )
    nothing = NOTHING * NARROWED if _shares_logs(bench, before[0]) else NOTHING
    enough = settled.slowed and after_count * size >= half
    return _judged(replace(seen, evidence=evidence), nothing, enough)


def _shares_logs(bench: Bench, write_ns: NDArray[Any]) -> bool:
    """Tell whether log blocks may be shared: few writes merge, of a drive that may have any."""
    merge = bench.known.get("merge_unit_bytes")
    may_merge = merge is not None and not isinstance(merge, Absent)
    waits_ns = write_ns - np.quantile(write_ns, QUICK)
    return may_merge and bool(np.median(waits_ns) < FEW_WAIT * waits_ns.mean())


def discard_first(bench: Bench, half: int) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """Discard the first half in pieces; give where they begin and end, and how long each took.

    Pieces are whole mebibytes, so a small half has fewer than `DISCARDS`.
    """
    ends = np.unique(np.linspace(0, half // (1 << 20), DISCARDS + 1).astype(np.uint64))
    pieces = ends << np.uint64(20)
    return pieces, bench.issue(OP_DISCARD, pieces[:-1], np.diff(pieces)).latency_ns


def measured(overwriter: Overwriter, half: int, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Overwrite the first half with reads of the second in between; latencies of both."""
    reads = []

    def measure(part: slice) -> NDArray[Any]:
        write_ns, read_ns = _part(overwriter, half, part.stop - part.start)
        reads.append(read_ns)
        return write_ns

    write_ns = between_bursts(overwriter.bench, count, measure, longest=PART)
    return write_ns[~np.isnan(write_ns)], np.concatenate(reads)


def _part(overwriter: Overwriter, half: int, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Overwrite so often, and read after every few writes and once in the end."""
    bench = overwriter.bench
    size = base_request_bytes(bench.info)
    behind = np.append(np.arange(READ_EVERY, count, READ_EVERY), count)
    lengths = np.full(behind.size, size, dtype=np.uint64)
    reads = random_offsets(overwriter.rng, bench.info.capacity_bytes - half, lengths)
    reads += np.uint64(half // size * size)
    ops = np.insert(np.full(count, OP_WRITE), behind, OP_READ)
    sizes = np.insert(np.full(count, overwriter.granule.size_bytes), behind, size)
    places = np.insert(overwriter.places(count, half), behind, reads)
    latency = bench.issue(ops, places, sizes).latency_ns.astype(float)
    return latency[ops == OP_WRITE], latency[ops == OP_READ]


def _reads(bench: Bench, half: int) -> tuple[float, float]:
    """Read what was discarded, and what was not."""
    rng = bench.rng("trim reads")
    lengths = np.full(64, base_request_bytes(bench.info), dtype=np.uint64)
    discarded = random_offsets(rng, half, lengths)
    written = discarded + np.uint64(half // int(lengths[0]) * int(lengths[0]))

    def median_ns(places: NDArray[np.uint64]) -> float:
        log = in_peace(bench, lambda: bench.read(places, lengths))
        return float(np.median(log.latency_ns))

    return median_ns(discarded), median_ns(written)


@dataclass(frozen=True)
class Gain:
    """What discards gain.

    Attributes
    ----------
    ratio, interval
        Of the mean before over that after, without drift.
    surely
        The ratio that it surely is.
    """

    ratio: float
    interval: tuple[float, float]
    surely: float
    evidence: Evidence = field(default_factory=Evidence)


def compared(
    before: tuple[NDArray[Any], NDArray[Any]],
    after: tuple[NDArray[Any], NDArray[Any]],
    rounds: int = 1,
    sure_errors: float = SURE_ERRORS,
) -> Gain:
    """Give the ratio of means without drift, its interval, and both distributions.

    Parameters
    ----------
    before, after
        Latencies of writes, and of reads in between.
    rounds
        In which they were measured.
    sure_errors
        Standard errors by which the ratio that it surely is lies below.
    """
    # Few and long blocks: stalls are spread more evenly than chance would.
    means = [
        np.array([part.mean() for part in np.array_split(each[0], rounds * BLOCKS)])
        for each in (before, after)
    ]
    quartiles = [float(np.quantile(each[1], 0.25)) for each in (before, after)]
    drift = float(np.clip(quartiles[0] / quartiles[1], 1 / MOST_DRIFT, MOST_DRIFT))
    draws = [stats.block_bootstrap(each, np.mean, seed=index) for index, each in enumerate(means)]
    ratios = draws[0] / draws[1] / drift
    low, high = stats.percentile_interval(ratios)
    shares = np.linspace(0.01, 0.99, 99)
    one, other = (float(each.mean()) for each in means)
    ratio = one / other / drift
    gain = Contrast(
        one="before", other="after", one_at=one, other_at=other, axis="x",
        ratio=ratio, low=float(low), high=float(high),
    )  # fmt: skip
    exhibit = Exhibit(
        name="before-and-after-discards",
        title="Random writes before and after half of the drive was discarded",
        caption="How many of the writes to that half take at most so long.",
        x=Axis("latency", "ns", log=True),
        y=Axis("share of writes"),
        series=(
            series("before", np.quantile(before[0], shares), shares, "steps"),
            series("after", np.quantile(after[0], shares), shares, "steps"),
        ),
        fitted=(gain,),
    )
    surely = float(np.exp(np.log(ratios).mean() - sure_errors * np.log(ratios).std()))
    figures = {
        "before_ns": one,
        "after_ns": other,
        "drift": drift,
        "ratio": ratio,
        "interval": (float(low), float(high)),
        "surely": surely,
    }
    evidence = Evidence(exhibits=(exhibit,), figures=figures)
    return Gain(ratio, (float(low), float(high)), surely, evidence)


def shows(seen: Gain, nothing: float = NOTHING) -> bool:
    """Whether there is an effect: surely more than nothing, and as much as writes alone show."""
    return seen.surely > nothing and seen.ratio >= CLEAR


def _judged(seen: Gain, nothing: float, enough: bool) -> Finding:
    common: dict[str, Any] = {"name": EFFECT, "probe": PROBE_NAME, "evidence": seen.evidence}
    low, high = seen.interval
    if shows(seen, nothing):
        return Detected(value=seen.ratio, interval=(low, high), effect=seen.ratio - 1, **common)
    if enough and high < NOTHING and low > 1 / NOTHING:
        reason = "random writes are as fast as before half of the drive was discarded"
        return Absent(bound=high, reason=reason, **common)
    return Undetectable(reason=Reason.EFFECT_BELOW_NOISE, **common)


def _declared(info: DeviceInfo) -> int:
    return info.capacity_bytes


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="how much faster random writes are after half of the drive was discarded",
    weight="standard",
    properties=(EFFECT,),
    cost="up to one capacity, written at random",
    detect=detect,
    declared_writes_bytes=_declared,
)
