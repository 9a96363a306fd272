"""Where the fit begins: units and times read off the measured curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import DEPTH_SWEEP, SIZE_SWEEP
from ssdscope.twin.design import Design
from ssdscope.twin.staircase import staircases

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.twin.likeness import Measured

CANDIDATES = 4
"""Numbers of units to begin with, besides one."""
ALONE = 1.15
"""A rate of so many requests in the time of one, or fewer, is of a drive without a queue."""
SPLIT = 0.25
"""Of the time of a page on its unit, what crossing the channel takes."""
DEEP = 16
PROGRAMS_NS = (60_000.0, 200_000.0, 800_000.0)


def of_reads(design: Design, rows: Sequence[Measured], findings: Findings) -> Iterator[Design]:
    """Give designs that meet the latencies of random reads alone and their plateau."""
    sizes, latency = _alone(rows, findings)
    plateau = _plateau(rows, findings)
    if len(sizes) < 2 or plateau <= 0:
        return
    page = design.page_bytes
    # A drive that gains nothing by depth serves one request at a time.
    alone = plateau * latency.min() / 1e9 < ALONE
    every = staircases(sizes, latency, None if alone else plateau, page)
    # Of the best, as many as can hold the units of rewriting; powers of two always can.
    pages = max(design.map_unit_bytes // page, 1)
    can = [each for each in every if each.units % pages == 0 or pages % each.units == 0]
    for stairs in can[:CANDIDATES]:
        transfer = max(SPLIT * stairs.unit_ns / page, 1e-3)
        yield replace(design, channels=stairs.units, queue_depth=1 if alone else 256).timed(
            {
                "firmware": max(stairs.start_ns, 100.0),
                "link": max(stairs.ns_per_byte, 0.02),
                "read": max((1 - SPLIT) * stairs.unit_ns, 1000.0),
                "transfer": transfer,
            }
        )


def of_writes(design: Design, rows: Sequence[Measured]) -> Iterator[Design]:
    """Give designs with programs that sequential writes could have, and typical ones."""
    deep = [row for row in rows if row.rw == "write" and row.iodepth <= DEEP]
    times = list(PROGRAMS_NS)
    if deep:
        row = max(deep, key=lambda row: (row.block_bytes, row.iodepth))
        per_page = row.mean_ns / row.iodepth / row.block_bytes * design.page_bytes
        times.insert(
            0, max(per_page * design.units - design.times["transfer"] * design.page_bytes, 20_000.0)
        )
    for time in times:
        yield design.timed({"program": time})


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
