"""What a drive keeps up: the spare space of a design, from the settled rates of random writes.

A settled rate depends on the share of spare space, not on how much drive there is. So a design is
made smaller for this, with the same array, and written through in a fraction of the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.errors import SsdscopeError
from ssdscope.twin.design import LEAST_SPARE_BLOCKS
from ssdscope.twin.likeness import Allowance, Measured, opened
from ssdscope.workloads import Workload
from ssdscope.workloads.sustained import sustain

if TYPE_CHECKING:
    from ssdscope.targets import Device
    from ssdscope.twin.design import Design

DEPTH = 16
"""Of the rows that the spare space is fitted to; others are held out."""
LEAST_BYTES = 128 << 20
LEAST_BLOCKS, LEAST_MERGE_UNITS, LEAST_REQUESTS = 400, 96, 500
"""A smaller drive has so many blocks in a plane, merge units and requests at least: of few blocks
those that are being written are a share of the spare space that counts."""
LEAST_LOG_BLOCKS = 2
MOST_COST = 2e9
"""Nanoseconds of counted work until it comes to rest."""
SPARES = (0.01, 0.6)
TRIES = 5
EVEN_ROUNDS, EVEN = 3, 0.05
"""Rounds that must agree, and how far, of what did not come to rest."""
MOST_WRITTEN = 20_000
"""Requests of those, at most: more take too long on a twin."""
NEAR = 0.03
"""A latency that is met as nearly as this needs no better spare space."""


@dataclass(frozen=True)
class Settled:
    """One workload that came to rest on the drive, and its mean latency then."""

    rw: str
    block_bytes: int
    iodepth: int
    mean_ns: float

    def told(self) -> dict[str, Any]:
        """Give the workload and what was measured, as plain data."""
        keys = ("rw", "block_bytes", "iodepth", "mean_ns")
        return {key: getattr(self, key) for key in keys} | {"sort": "sustained"}


def settled(rows: Iterable[Mapping[str, Any]]) -> list[Settled]:
    """Take the rows of what the drive keeps up that came to rest."""
    return [
        Settled(row["rw"], row["block_bytes"], row["iodepth"], float(row["mean_ns"]))
        for row in rows
        if row.get("reached") and row["mean_ns"]
    ]


@dataclass(frozen=True)
class WrittenOn(Measured):
    """One workload that did not come to rest, and its mean latency after so many requests.

    Attributes
    ----------
    before
        Requests that it took before those it is the mean of.
    """

    before: int


def written_on(rows: Iterable[Mapping[str, Any]]) -> list[WrittenOn]:
    """Take random writes that did not come to rest, but went on evenly: long after a burst.

    A buffer is full by then, and log blocks are used up, which bursts need not show.
    """
    found = []
    for row in rows:
        course = row.get("course") or {}
        rates = [float(rate) for rate in course.get("rates_bytes_per_s") or []][-EVEN_ROUNDS:]
        even = len(rates) == EVEN_ROUNDS and max(rates) <= (1 + EVEN) * min(rates)
        if row.get("reached") or row["rw"] != "randwrite" or not even:
            continue
        block, depth = row["block_bytes"], row["iodepth"]
        written, last = (int(course[key]) // block for key in ("bytes_written", "round_bytes"))
        if last > 0 and written <= MOST_WRITTEN:
            mean_ns = depth * block * 1e9 / float(np.mean(rates))
            found.append(WrittenOn(row["rw"], block, depth, last, mean_ns, written - last))
    return found


def latency_then_ns(device: Device, row: WrittenOn, seed: int) -> float:
    """Run a workload on a device as long as on the drive; its mean latency at the end, if any."""
    plan = Workload(rw=row.rw, block_bytes=row.block_bytes, iodepth=row.iodepth, seed=seed)
    try:
        if row.before:
            device.run(replace(plan, requests=row.before))
        last = device.run(replace(plan, requests=row.requests, seed=seed + 1))
    except SsdscopeError:
        return float("nan")
    return row.iodepth * last.elapsed_ns / row.requests


def told_apart(rows: Sequence[Settled]) -> tuple[Settled | None, list[Settled]]:
    """Choose the smallest random write to be fitted; what shares its size is held out."""
    chosen = min(
        (row for row in rows if row.rw == "randwrite" and row.iodepth == DEPTH),
        key=lambda row: row.block_bytes,
        default=None,
    )
    if chosen is None:
        return None, []
    return chosen, [row for row in rows if row is not chosen and row.rw == chosen.rw]


def smaller(design: Design, block_bytes: int) -> Design:
    """Give a design with the same array and share of spare space, and less of it."""
    block = design.units * design.page_bytes * design.pages_per_block
    # A plane has some spare blocks at least, which shall be no larger a share of a smaller drive.
    blocks = max(LEAST_BLOCKS, math.ceil(LEAST_SPARE_BLOCKS / design.spare_ratio))
    least = [LEAST_BYTES, LEAST_REQUESTS * block_bytes, blocks * block]
    least.append(LEAST_MERGE_UNITS * design.merge_unit_bytes)
    step = max(design.merge_unit_bytes, design.map_unit_bytes)
    capacity = -(-max(least) // step) * step
    if capacity >= design.capacity_bytes:
        return design
    # A random write finds an open log block as often as on the whole drive.
    logs = round(design.log_blocks * capacity / design.capacity_bytes)
    return replace(
        design,
        capacity_bytes=capacity - design.phase_bytes,
        log_blocks=max(logs, LEAST_LOG_BLOCKS),
    )


def latency_ns(design: Design, row: Settled, seed: int, allowance: Allowance) -> float | None:
    """Bring a workload to rest on a smaller design; None if it does not come to."""
    device = opened(smaller(design, row.block_bytes).values(), seed)
    if device is None:
        return None
    plan = Workload(rw=row.rw, block_bytes=row.block_bytes, iodepth=row.iodepth, seed=seed)
    most_cost = min(MOST_COST, 1e9 * max(allowance.left_s, 0))
    try:
        found = sustain(device, plan, most_cost=most_cost)
    except SsdscopeError:
        allowance.spend(device.flash_work().seconds)
        return None
    allowance.spend(found.cost / 1e9)
    figure = found.figures.get("write")
    if figure is not None:
        return figure.mean_ns
    if most_cost < MOST_COST:  # cut off: where it stands by now says nothing
        return None
    rates = found.steadiness.rates_bytes_per_s[-5:]
    return row.iodepth * row.block_bytes * 1e9 / float(np.mean(rates)) if rates else None


def with_spare(design: Design, row: Settled, seed: int, allowance: Allowance) -> Design:
    """Fit the spare space to what is kept up; less is slower, nearly evenly in its logarithm.

    That of a drive with log blocks is its log blocks, which bursts show. The nearest of what was
    tried is given when the work is done.
    """
    if design.log_block:
        return design
    low, high = (float(np.log(each)) for each in SPARES)
    at, tried = float(np.log(design.spare_ratio)), dict[float, float]()
    for _ in range(TRIES):
        if allowance.spent:
            break
        found = latency_ns(replace(design, spare_ratio=float(np.exp(at))), row, seed, allowance)
        if found is None:
            low = at
            at = (low + high) / 2
            continue
        tried[at] = float(np.log(found / row.mean_ns))
        if abs(tried[at]) < NEAR:
            break
        low, high = (at, high) if tried[at] > 0 else (low, at)
        at = float(np.clip(_crossing(tried, (low + high) / 2), low, high))
    nearest = min(tried, key=lambda each: abs(tried[each]), default=None)
    return design if nearest is None else replace(design, spare_ratio=float(np.exp(nearest)))


def _crossing(tried: Mapping[float, float], middle: float) -> float:
    """Say where the line through the two nearest tries is zero; `middle` if it does not fall."""
    if len(tried) < 2:
        return middle
    (x1, y1), (x2, y2) = sorted(tried.items(), key=lambda each: abs(each[1]))[:2]
    slope = (y2 - y1) / (x2 - x1)
    return x1 - y1 / slope if slope < 0 else middle
