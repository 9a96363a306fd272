"""The probe `internal_volumes`: bits of the address that choose between parts that work alone.

Physics. Two blocks read at once wait for each other on one die. Where a bit of the address chooses
between halves of the dies, blocks that differ in it never meet, whatever else differs; with such a
bit fixed, reads reach only half of the dies (SSDcheck's allocation volumes; PROBING.md 3.1).

Design. Random pairs of blocks all over the drive, each read at once several times. (Were they near
each other, those that meet on a die would lie within one round over the dies, and hardly ever
differ in a bit as large as that, whatever it does.) On a drive that merges log blocks both are of
one merge unit: units change their places. On one that keeps a single piece of its mapping table,
both are of that.

Statistic. Of the pairs that wait, how many differ in a bit, over how many of all pairs do: 0 for a
bit that chooses, 1 for one that does nothing, and in between where sizes that are no powers of two
spread what a bit does over several.

Decision. Detected: bits below 0.5 (one that leaves 85 % of the work to half of the dies); all bits
that can be told must lie three standard errors from that, or be known to 0.035, and pairs must
either wait or not: where many lie midway, sharing a channel looks like sharing a die. Absent if all
are surely above 0.75, and either no units are merged, which turn what a bit chooses by their
places, or both of a pair were of one of those. `masked` if none is below and some are in between,
or whether units are merged is not known; `link_bound` if nothing waits.

Assumptions. The drive was filled in order, and a part that an address falls on is either chosen by
the address or, as on drives that place by order of arrival, was given to it by that fill. (Filling
it again would not do: drives collect in between.) A read cache that stays on has units that are
known.

Cost. Some 50,000 reads; at 50 dies a million. Nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import (
    Absent,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Partition,
    Reason,
    Undetectable,
    series,
)
from ssdscope.probes.bench import Stopped
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.rows import random_blocks, without_read_cache
from ssdscope.probes.runs import survey
from ssdscope.probes.together import Together, cached_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.runs import Survey

NAME, PROPERTY, BITS = "internal_volumes", "internal_volume_bits", "waiting-by-bit"

SMALLEST_PAGE_BYTES = 2048
PAIRS, MOST_PAIRS = 400, 20_000
SURVEYED = 60
CHOOSES_BELOW = 0.5
ALL_WAIT = 0.8
"""Share of pairs that wait, above which a drive takes one at a time."""
BETWEEN_SHARE = 0.3
"""Of waiting pairs; if more lie midway, pairs that share a channel are among those that wait."""
NOTHING_ABOVE = 0.75
"""A bit that leaves three quarters of the work to half of the dies; one that does nothing has 1."""
LEAST_OFTEN = 0.2
"""Of all pairs that differ in a bit, for it to be told."""
CERTAIN = 3.0
"""Standard errors."""
IN_BETWEEN_ERROR = 0.035
"""A bit known so well that is not certain halves some of the drive: it may be named or not."""
EXPECTED, EXPECTED_FOR_NOTHING = 60, 350
"""Waiting pairs that would differ in a bit without effect: to name it, and to say it has none."""


@dataclass(frozen=True)
class _Bits:
    """How bits fare that can be told.

    Attributes
    ----------
    bits
        Shape (n,).
    share
        Of waiting pairs that differ, over that of all pairs.
    error
        Standard error of it.
    expected
        Waiting pairs that would differ if the bit did nothing.
    """

    bits: NDArray[np.int64]
    share: NDArray[Any]
    error: NDArray[Any]
    expected: NDArray[Any]


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer with the bits, ascending, joined by commas."""
    rng = bench.rng(NAME)
    with without_read_cache(bench) as cached:
        together = Together(bench, rng, cached_units(bench) if cached else 0)
        first = _firsts(bench, rng, SURVEYED)
        others = [first, *(_partners(bench, first, rng) for _ in range(8))]
        seen = survey(together, first, np.column_stack(others))
        bench.progress("pairs", 0.3)
        differ, slower = np.empty(0, np.int64), np.empty(0)
        while True:
            one = _firsts(bench, rng, PAIRS)
            other = _partners(bench, one, rng)
            read = together.read(one, other[:, None], seen.times)
            differ, slower = np.append(differ, one ^ other), np.append(slower, read.slower[:, 0])
            waits = slower > seen.waits_from
            if waits.mean() > ALL_WAIT:
                raise Stopped(Reason.LINK_BOUND, "nearly all reads wait for each other")
            between = np.count_nonzero(np.abs(slower - seen.waits_from) < seen.effect / 4)
            told = _told(bench, differ, waits)
            apart = bool(between <= BETWEEN_SHARE * waits.sum())
            finding = _finding(told, seen, apart, all_told=_all_told(bench))
            if not isinstance(finding, Undetectable) or differ.size >= MOST_PAIRS:
                break
    yield finding


def _span(bench: Bench) -> tuple[int, int] | None:
    """Give the size of what both of a pair must lie in, and where such begin; None if anywhere."""
    merged, zone = bench.found("merge_unit_bytes"), bench.found("map_zone_bytes")
    if merged is not None:
        return int(merged), -int(bench.found("alignment_phase_bytes") or 0)
    if zone is not None and zone == bench.found("map_cache_bytes"):
        return int(zone), 0
    return None


def _all_told(bench: Bench) -> bool:
    """Tell whether a bit that chooses would show, whichever it is.

    Units that are merged lie on other dies each, so that pairs all over the drive wait for each
    other whatever they differ in; and within a part of a mapping table larger bits are all alike.
    """
    units = bench.known.get("merge_unit_bytes")
    return isinstance(units, Detected) or (isinstance(units, Absent) and _span(bench) is None)


def _firsts(bench: Bench, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Draw places anywhere but at the ends, beside which something is looked up."""
    block = bench.info.logical_block_bytes
    return random_blocks(rng, 4 * block, bench.info.capacity_bytes - 4 * block, count, block)


def _partners(
    bench: Bench, first: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a partner for each place, anywhere or in its span."""
    info, block = bench.info, bench.info.logical_block_bytes
    span = _span(bench)
    size, begin = span or (info.capacity_bytes, 0)
    begins = (first - begin) // size * size + begin
    low = np.maximum(begins, 4 * block)
    high = np.minimum(begins + size, info.capacity_bytes - 4 * block)
    return np.asarray(rng.integers(low // block, high // block) * block)


def _told(bench: Bench, differ: NDArray[np.int64], waits: NDArray[np.bool_]) -> _Bits:
    """Count in which bits pairs differ that wait; of bits in which enough of all differ."""
    info = bench.info
    first = max(SMALLEST_PAGE_BYTES, info.logical_block_bytes).bit_length() - 1
    bits = np.arange(first, info.capacity_bytes.bit_length() - 1)
    apart = (differ[:, None] >> bits) & 1
    often = apart.mean(axis=0)
    span = _span(bench)
    if span is not None:  # what lies beyond follows from where pairs are
        often[1 << bits >= span[0]] = 0.0
    told = often >= LEAST_OFTEN
    bits, often, apart = bits[told], often[told], apart[:, told]
    expected = waits.sum() * often
    counts = apart[waits].sum(axis=0)
    return _Bits(
        bits,
        counts / np.maximum(expected, 1),
        np.sqrt(counts + 1) / np.maximum(expected, 1),
        expected,
    )


def _finding(told: _Bits, seen: Survey, apart: bool, *, all_told: bool) -> Finding:
    common: dict[str, Any] = {"probe": NAME, "evidence": _evidence(told)}
    if not told.bits.size:
        return Undetectable(name=PROPERTY, reason=Reason.RANGE_TOO_SMALL, **common)
    certain = np.abs(told.share - CHOOSES_BELOW) > CERTAIN * told.error
    certain |= told.error < IN_BETWEEN_ERROR
    if told.expected.min() < EXPECTED or not (apart and certain.all()):
        return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)
    chosen = told.share < CHOOSES_BELOW
    if chosen.any():
        value = ",".join(map(str, told.bits[chosen]))
        effect = float(np.expm1(seen.effect))
        common["evidence"] = common["evidence"].fitting(BITS, _chosen(told, chosen))
        return Detected(name=PROPERTY, value=value, interval=None, effect=effect, **common)
    if told.expected.min() < EXPECTED_FOR_NOTHING:
        return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)
    if not all_told or (told.share - 2 * told.error).min() < NOTHING_ABOVE:
        said = "no bit shows, and not each that chooses would"
        common["evidence"] = common["evidence"].saying(said)
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    return Absent(
        name=PROPERTY,
        bound=float(1 - (told.share - 2 * told.error).min()),
        reason="pairs of blocks wait for each other as often if they differ in any bit",
        **common,
    )


def _chosen(told: _Bits, chosen: NDArray[np.bool_]) -> Partition:
    """Part bits that choose between volumes from others."""
    parts = (told.bits[chosen], told.bits[~chosen])
    return Partition(
        names=("choose", "do not"), members=tuple(tuple(map(float, each)) for each in parts)
    )


def _evidence(told: _Bits) -> Evidence:
    exhibit = Exhibit(
        name=BITS,
        title="Pairs of blocks that wait for each other",
        caption="Where a bit chooses between two halves of the dies, those that differ never wait.",
        x=Axis("bit of the byte address"),
        y=Axis("how often they differ, over all pairs"),
        series=(
            series(
                "waiting pairs",
                told.bits,
                told.share,
                "points",
                low=told.share - 2 * told.error,
                high=told.share + 2 * told.error,
            ),
        ),
    )
    return Evidence(exhibits=(exhibit,))


PROBE = ProbeInfo(
    name=NAME,
    summary="bits of the address that choose between parts of the drive",
    weight="light",
    properties=(PROPERTY,),
    cost="some 50,000 reads, at 50 dies a million",
    detect=detect,
)
