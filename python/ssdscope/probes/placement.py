"""Placement: how many pages follow each other on what works as one (k of ryu2009).

Physics
    A read that straddles two pages takes no longer if both are read side by side, and one more read
    of the array if they follow each other on one chip. Pages that follow each other on one make
    a row; where a row ends, straddling costs nothing.
Statistic
    Reads of two blocks about a boundary between blocks, anywhere on the drive; each is read four
    times, the first to bring to hand what is looked up, and the median of the rest counts.
    Boundaries that cost more lie in one phase of a power of two: the page. Of the boundaries of
    pages in windows, those that cost nothing are k pages apart.
Decision rule
    k is detected if a single distance makes up nine tenths of those between boundaries that cost
    nothing. k is 1 if none costs anything and the drive is known to read side by side
    (`interleave`): without that, a drive that hides its chips behind the link looks alike
    (`link_bound`). Rows on several planes of a chip, which one command may serve, are ambiguous.
    "one-channel" if the merge unit, or else the RMW unit, lies in one row; that needs them found.
Assumptions
    Data were written in order. The read cache is off, or none. Logical blocks are below 4 KiB.
Cost
    About 50,000 reads of two blocks.
Source
    ryu2009, equations 1 and 2, decides by the curve of latency over size; with a link term that
    curve fits k = 1, 2 and 4 alike (PROBING.md 1.4). Boundaries: flashbench's `-a`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import cautions
from ssdscope.probes.finding import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.rows import patient_read, slow_changes, without_read_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

WAY, PAGES = "placement", "placement_pages"
PROBE_NAME = "placement"
ONE, SEVERAL = "one-channel", "multi-channel"
RANDOM = 6000
REPEATED = 4
LEAST_SHARE = 0.003
COSTS_FROM = 0.06
"""How far levels must lie apart, in the logarithm."""
COSTS_UNKNOWN, COSTS_SHARE = 0.25, 0.6
"""How much slower a read in a row must be; and as a share of waiting for a chip, if known."""
SEVERAL_PAGES, FURTHER_SHARE = 160, 0.75
LONG_ROW = 40
"""Longer rows are physical blocks: merge units, of which several may follow on one chip."""
MOST_FREE = 0.6
"""Share of pages' boundaries that cost nothing, above which there are no rows."""
WINDOWS, LONG_WINDOWS = (24, 80), (3, 2500)
"""So many windows, of so many pages."""
ONE_PHASE, ONE_DISTANCE = 0.95, 0.9
FEWEST = 12
LARGEST_PAGE_BYTES = 1 << 17
LARGEST_BLOCK_BYTES = 2048
"""Of larger logical blocks a read of two moves so much that what a page costs is lost in it."""


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer how pages are placed."""
    rng = bench.rng(PROBE_NAME)
    evidence: dict[str, Any] = {"cautions": cautions(bench.info)}
    with without_read_cache(bench) as cached:
        if cached:
            yield from _refused(Reason.CACHE_NOT_CONTROLLABLE, evidence)
            return
        block = bench.info.logical_block_bytes
        if block > LARGEST_BLOCK_BYTES:
            yield from _refused(Reason.ALIASING, evidence)
            return
        edges = rng.integers(1, bench.info.capacity_bytes // block - 1, RANDOM) * block
        slower, deviation = _straddling(bench, edges, rng)
        bench.progress("boundaries", 0.5)
        threshold = _threshold(bench, slower, deviation)
        evidence["picture"] = _picture(slower)
        if threshold is None:
            yield from _nothing_costs(bench, evidence)
            return
        page, phase = _page(edges[slower > threshold], block)
        if page is None:
            yield from _refused(Reason.EFFECT_BELOW_NOISE, evidence)
            return
        effect = math.expm1(float(np.median(slower[slower > threshold])))
        rows = _rows(bench, page, phase, threshold, rng)
        if rows is None:
            yield from _refused(Reason.EFFECT_BELOW_NOISE, evidence)
            return
        in_a_row, starts = rows
        short = 2 < in_a_row <= LONG_ROW
        single = in_a_row > LONG_ROW or (short and _one_by_one(bench, page, in_a_row, starts, rng))
        evidence |= {"page_bytes": page, "pages_in_a_row": in_a_row, "one_by_one": single}
    merged = bench.found("merge_unit_bytes")
    if in_a_row > LONG_ROW and isinstance(merged, (int, float)) and merged <= page * in_a_row:
        in_a_row = int(merged) // page  # neighbouring merge units may lie on the same chip
    elif in_a_row > LONG_ROW:
        single = False
    if single:
        yield from _answers(bench, page, in_a_row, effect, evidence)
        return
    why = "of pages in a row, several may be read by one command"
    divisors = tuple(each for each in range(1, in_a_row + 1) if in_a_row % each == 0)
    yield _ambiguous(WAY, (SEVERAL, ONE), why, evidence)
    yield _ambiguous(PAGES, divisors, why, evidence)


def _refused(reason: Reason, evidence: dict[str, Any]) -> Iterator[Finding]:
    for name in (WAY, PAGES):
        yield Undetectable(name=name, probe=PROBE_NAME, reason=reason, evidence=evidence)


def _straddling(
    bench: Bench, edges: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[Any], float]:
    """Read two blocks about each boundary, and the lower one alone.

    Returns
    -------
    slower : ndarray, shape (n,)
        Logarithm of the median latency over that of single blocks about then.
    deviation : float
    """
    block = bench.info.logical_block_bytes
    order = rng.permutation(edges.size)
    starts = np.repeat(edges[order] - block, REPEATED + 1)
    lengths = np.tile([2 * block] * REPEATED + [block], edges.size)
    log = patient_read(bench, starts, lengths)
    logs = np.log(np.maximum(log.latency_ns.astype(float), 1.0)).reshape(-1, REPEATED + 1)
    pairs = logs[:, 1:REPEATED]
    medians = np.median(pairs, axis=1)
    spread = stats.mad((pairs - medians[:, None]).ravel())
    slower = np.empty(edges.size)
    slower[order] = medians - slow_changes(logs[:, REPEATED])
    return slower, 1.2533 * spread / math.sqrt(REPEATED - 2)


def _threshold(bench: Bench, slower: NDArray[Any], deviation: float) -> float | None:
    """Give from where on a boundary costs a read of the array; None if none does."""
    found = stats.levels(slower, deviation, least_share=LEAST_SHARE, apart=COSTS_FROM)
    waiting = bench.known.get("interleave_degree")
    least = COSTS_UNKNOWN
    if isinstance(waiting, Detected):  # as much as waiting for another read on the chip
        least = COSTS_SHARE * math.log1p(waiting.effect)
    costly = np.flatnonzero(found - found[0] >= least)
    if not costly.size:
        return None
    return float(found[costly[0] - 1] + found[costly[0]]) / 2


def _nothing_costs(bench: Bench, evidence: dict[str, Any]) -> Iterator[Finding]:
    """Answer if no boundary costs anything."""
    together = bench.found("interleave_degree")
    if not isinstance(together, (int, float)) or together < 2:
        yield from _refused(Reason.LINK_BOUND, evidence)
        return
    for name, value in ((WAY, SEVERAL), (PAGES, 1)):
        yield _detected(name, value, 0.0, evidence)


def _page(costly: NDArray[np.int64], block: int) -> tuple[int | None, int]:
    """Give the largest power of two, in blocks, of which costly boundaries have one phase."""
    found: tuple[int | None, int] = (None, 0)
    if costly.size < FEWEST:
        return found
    page = block
    while page <= LARGEST_PAGE_BYTES:
        phases, counts = np.unique(costly % page, return_counts=True)
        if counts.max() < ONE_PHASE * costly.size:
            break
        found = page, int(phases[np.argmax(counts)])
        page *= 2
    return found


def _rows(
    bench: Bench, page: int, phase: int, threshold: float, rng: np.random.Generator
) -> tuple[int, NDArray[np.int64]] | None:
    """Give pages in a row and where rows begin; None if rows are not all as long."""
    for windows, length in (WINDOWS, LONG_WINDOWS):
        last = (bench.info.capacity_bytes - phase) // page - length - 4
        if last < 2:
            return None
        first = rng.integers(1, last, windows)
        edges = phase + (first[:, None] + np.arange(length)) * page
        slower, _ = _straddling(bench, edges.ravel(), rng)
        free = (slower < threshold).reshape(edges.shape)
        gaps = np.concatenate([np.diff(np.flatnonzero(each)) for each in free])
        if free.mean() > MOST_FREE:
            return None
        if gaps.size >= FEWEST:
            values, counts = np.unique(gaps, return_counts=True)
            most = int(np.argmax(counts))
            if counts[most] < ONE_DISTANCE * gaps.size or values[most] == 1:
                return None
            return int(values[most]), edges[free]
    return None


def _one_by_one(
    bench: Bench, page: int, in_a_row: int, starts: NDArray[np.int64], rng: np.random.Generator
) -> bool:
    """Say whether all further pages of a row cost as much as the second.

    Where others wait with it, one command may serve pages on several planes of a chip.
    """
    block = bench.info.logical_block_bytes
    chosen = rng.choice(starts, SEVERAL_PAGES)
    chosen = chosen[chosen + in_a_row * page <= bench.info.capacity_bytes]
    lengths = np.array([block, page, 2 * page, in_a_row * page])
    log = patient_read(bench, np.repeat(chosen, 5), np.tile([block, *lengths], chosen.size))
    latency = np.median(log.latency_ns.reshape(-1, 5)[:, 1:], axis=0)
    moved = (latency[1] - latency[0]) * page / max(page - block, 1)
    second = latency[2] - latency[1]
    further = (latency[3] - latency[2]) / (in_a_row - 2)
    return bool(second > 1.3 * moved and further > moved + FURTHER_SHARE * (second - moved))


def _answers(
    bench: Bench, page: int, in_a_row: int, effect: float, evidence: dict[str, Any]
) -> Iterator[Finding]:
    """Answer for rows of several pages."""
    yield from _way(bench, page, page * in_a_row, effect, evidence)
    yield _detected(PAGES, in_a_row, effect, evidence)


def _way(
    bench: Bench, page: int, row: int, effect: float, evidence: dict[str, Any]
) -> Iterator[Finding]:
    """Say whether what is managed as one lies in one row."""
    unit = bench.found("merge_unit_bytes")
    if unit is None and isinstance(bench.known.get("merge_unit_bytes"), Absent):
        unit = bench.found("rmw_unit_bytes")
        if unit is None and isinstance(bench.known.get("rmw_unit_bytes"), Absent):
            unit = bench.info.logical_block_bytes
    if not isinstance(unit, (int, float)):
        why = "neither the merge unit nor the RMW unit is known"
        yield _ambiguous(WAY, (SEVERAL, ONE), why, evidence)
        return
    yield _detected(WAY, ONE if row >= unit > page else SEVERAL, effect, evidence)


def _detected(name: str, value: float | str, effect: float, evidence: dict[str, Any]) -> Finding:
    return Detected(
        name=name, probe=PROBE_NAME, value=value, interval=None, effect=effect, evidence=evidence
    )


def _ambiguous(
    name: str, candidates: tuple[float | str, ...], why: str, evidence: dict[str, Any]
) -> Finding:
    return Ambiguous(
        name=name, probe=PROBE_NAME, candidates=candidates, reason=why, evidence=evidence
    )


def _picture(slower: NDArray[Any]) -> dict[str, Any]:
    ratio = np.sort(np.exp(slower))
    shares = np.arange(1, ratio.size + 1) / ratio.size
    return Picture(
        title="Reads of two blocks about a boundary",
        caption="Latency over that of most; the step on the right is boundaries within a row.",
        x=Axis("relative latency"),
        y=Axis("share of boundaries"),
        series=(series("boundaries", ratio[::8], shares[::8], "steps"),),
    ).to_json()


PROBE = ProbeInfo(
    name=PROBE_NAME,
    summary="pages in a row on one chip (k), and whether a unit lies on one channel",
    weight="light",
    properties=(WAY, PAGES),
    cost="about 50,000 reads of two blocks",
    detect=detect,
)
