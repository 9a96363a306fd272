"""Where the fit begins: units and times read off the measured curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import DEPTH_SWEEP, SIZE_SWEEP
from ssdscope.twin.design import LEAST_PAGE_BYTES, MOST_PAGE_BYTES, Design
from ssdscope.twin.staircase import Staircase, staircases

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.twin.likeness import Measured

CANDIDATES = 3
"""Numbers of units to begin with, for each size of page."""
ALONE = 1.15
"""A rate of so many requests in the time of one, or fewer, is of a drive without a queue."""
SPLIT = 0.25
"""Of the time of a page on its unit, what crossing the channel takes."""
SHARES = (0.2, 0.55, 0.9)
"""Of what a byte of a read takes, the link's."""
LEAST_REST = 0.05
"""Of what a small read takes, so much is left for firmware and flash."""
TYPICAL_PROGRAM_NS = 300_000.0
FASTEST_PROGRAM_NS = 60_000.0
"""What is written in less was acknowledged from memory."""
BUFFERS_BYTES = tuple(kib << 10 for kib in (128, 1024, 8192, 32_768))
MOST_LOGS = 0.25
"""Of a drive, all log blocks together."""


def of_reads(design: Design, rows: Sequence[Measured], findings: Findings) -> Iterator[Design]:
    """Give designs that meet the latencies of random reads alone and their plateau.

    Pages are small, or as large as what is rewritten.
    """
    sizes, latency = _alone(rows, findings)
    plateau = _plateau(rows, findings)
    if len(sizes) < 2 or plateau <= 0:
        return
    counted = findings.get("interleave_degree")
    side_by_side = None if counted is None else counted.value
    # A drive that gains nothing by depth serves one request at a time.
    alone = plateau * latency.min() / 1e9 < ALONE
    for page in dict.fromkeys((design.page_bytes, design.map_unit_bytes)):
        if not _possible(design, page):
            continue
        every = staircases(sizes, latency, None if alone else plateau, page)
        pages = max(design.map_unit_bytes // page, 1)
        can = [each for each in every if each.units % pages == 0 or pages % each.units == 0]
        if side_by_side is not None:
            can = [each for each in can if each.units == side_by_side] or can
        paged = replace(design, page_bytes=page, queue_depth=1 if alone else 256)
        for stairs in can[:CANDIDATES]:
            yield _on_channels(paged, stairs)
            yield _on_one_channel(paged, stairs)


def _on_channels(design: Design, stairs: Staircase) -> Design:
    """Give each unit a channel of its own; what a byte takes is the link's."""
    return replace(design, channels=stairs.units).timed(
        {
            "firmware": max(stairs.start_ns, 100.0),
            "link": max(stairs.ns_per_byte, 0.02),
            "read": max((1 - SPLIT) * stairs.unit_ns, 1000.0),
            "transfer": max(SPLIT * stairs.unit_ns / design.page_bytes, 1e-3),
        }
    )


def _on_one_channel(design: Design, stairs: Staircase) -> Design:
    """Put all units on one channel, which takes most of what a byte takes."""
    return replace(design, channels=1, ways=stairs.units).timed(
        {
            "firmware": max(stairs.start_ns, 100.0),
            "link": max(SPLIT * stairs.ns_per_byte, 0.02),
            "read": max(stairs.unit_ns, 1000.0),
            "transfer": max((1 - SPLIT) * stairs.ns_per_byte, 1e-3),
        }
    )


def arrays(design: Design, *, counted: bool = False) -> Iterator[Design]:
    """Give other arrays whose reads alone would take about as long: only writes tell them apart.

    What a byte takes may be the link's or the channels'; and pages may be smaller on more chips.

    Parameters
    ----------
    counted
        Whether units were counted; then there are as many, on whatever channels.
    """
    whole = design.times["link"] + design.times["transfer"] / design.channels
    start = design.times["firmware"] + design.times["read"]
    start += design.times["transfer"] * design.page_bytes
    for page in (design.page_bytes, design.page_bytes // 2, design.page_bytes * 2):
        if not _possible(design, page):
            continue
        for channels in dict.fromkeys((design.channels, 1, 2, 4, 8, max(design.units // 2, 1))):
            if counted and design.units % channels:
                continue
            ways = design.units // channels if counted else design.ways
            for share in SHARES:
                transfer = whole * (1 - share) * channels
                rest = start - transfer * page
                if rest < LEAST_REST * start:
                    continue
                array = replace(design, page_bytes=page, channels=channels, ways=ways, planes=1)
                yield array.timed(
                    {
                        "link": whole * share,
                        "transfer": transfer,
                        "firmware": rest / 2,
                        "read": rest / 2,
                    }
                )


def _possible(design: Design, page: int) -> bool:
    unit = design.merge_unit_bytes if design.log_block else page
    whole = page % design.logical_block_bytes == 0 and unit % page == 0
    usual = LEAST_PAGE_BYTES <= page <= MOST_PAGE_BYTES
    return whole and usual and design.map_unit_bytes % page == 0


def chips(design: Design, *, counted: bool = False) -> Iterator[Design]:
    """Give the same array with more chips on each channel, which program side by side."""
    for ways in (design.ways,) if counted else (1, 2, 4):
        if ways >= design.ways:
            yield replace(design, ways=ways)


def programs(design: Design, rows: Sequence[Measured]) -> Iterator[Design]:
    """Give the times of programs that sequential writes show: of small ones, and of large ones."""
    alone = sorted(
        (row for row in rows if row.rw == "write" and row.iodepth == 1),
        key=lambda row: row.block_bytes,
    )
    if not alone:
        return
    times, page = design.times, design.page_bytes
    small, large = alone[0], alone[-1]
    rest = times["firmware"] + times["link"] * small.block_bytes + times["transfer"] * page
    rounds = -(-small.block_bytes // (page * design.units))
    for program in (
        (small.mean_ns - rest) / rounds,
        large.mean_ns / large.block_bytes * page * design.units - times["transfer"] * page,
        TYPICAL_PROGRAM_NS,
    ):
        yield design.timed({"program": min(max(program, 20_000.0), 4e6)})


def buffers(design: Design, rows: Sequence[Measured]) -> Iterator[Design]:
    """Give write buffers of several sizes if small writes are faster than any program."""
    yield design
    alone = [row for row in rows if row.rw == "write" and row.iodepth == 1]
    if not alone or "write_buffer.bytes" in design.extra:
        return
    small = min(alone, key=lambda row: row.block_bytes)
    besides = design.times["link"] * small.block_bytes
    if small.mean_ns - besides > FASTEST_PROGRAM_NS:
        return
    for size in BUFFERS_BYTES:
        if size <= design.capacity_bytes // 8:
            yield design.also(write_buffer__bytes=size, write_buffer__unit_bytes=4096).timed(
                {"firmware": min(design.times["firmware"], small.mean_ns / 2)}
            )


def rooms(design: Design) -> Iterator[Design]:
    """Give other amounts of room to write to, before collection or merging begins."""
    yield design
    if design.log_block:
        for blocks in (32, 128, 512):
            if design.spare_for_logs(blocks) < MOST_LOGS:
                yield design.with_logs(blocks)
        return
    for spare in (0.035, 0.15):
        yield replace(design, spare_ratio=spare)


def _alone(rows: Sequence[Measured], findings: Findings) -> tuple[np.ndarray, np.ndarray]:
    """Give sizes and latencies of random reads, one at a time."""
    swept = _swept(findings, "read_latency_alpha_ns", SIZE_SWEEP)
    if swept is not None:
        return swept
    picked = sorted(
        (row.block_bytes, row.mean_ns) for row in rows if row.rw == "randread" and row.iodepth == 1
    )
    both = np.array(picked, dtype=float).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _plateau(rows: Sequence[Measured], findings: Findings) -> float:
    """Give the highest rate of the smallest random reads."""
    swept = _swept(findings, "queue_depth_knee", DEPTH_SWEEP)
    if swept is not None:
        return float(swept[1].max())
    reads = [row for row in rows if row.rw == "randread"]
    least = min((row.block_bytes for row in reads), default=0)
    return max(
        (1e9 * row.iodepth / row.mean_ns for row in reads if row.block_bytes == least), default=0.0
    )


def _swept(findings: Findings, name: str, exhibit: str) -> tuple[np.ndarray, np.ndarray] | None:
    finding = findings.get(name)
    shown = None if finding is None else finding.evidence.exhibit(exhibit)
    if shown is None:
        return None
    return np.array(shown.series[0].x, dtype=float), np.array(shown.series[0].y, dtype=float)
