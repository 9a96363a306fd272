"""What the reserve of 4 GB decides where 50 % are kept free: the paper does not say it.

The reserve is what is not exported, in percent of the blocks, and 51 % is the least that allows
50 % to be kept free. Cleaning starts when the reserve is used up to that mark: the larger the
reserve, the later. Here it is 51 to 60 %, at two request sizes, each beside 5 % kept free with the
same reserve. Random writes fall anywhere, as in the other figures, or once on each of 300 places in
random order; and with the smallest reserve also into smaller ranges.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.machado2015.claims import LARGEST, MIB, OVERHEAD_4GB
from ssdscope.studies.machado2015.procedure import (
    REGION_BYTES,
    REQUESTS,
    RESERVE_PERCENT,
    Cell,
    Cells,
    Configuration,
    measure,
    run_lines,
)
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, Table
from ssdscope.targets import Device
from ssdscope.targets.records import OP_WRITE

RESERVES_PERCENT = tuple(range(51, 61))
SIZES_BYTES = (MIB, LARGEST)
RANGES_BYTES = (32 * MIB, 128 * MIB, 512 * MIB, REGION_BYTES)
"""Where random writes fall; the last is that of the other figures."""
ORDERS_MIN, ORDERS_MAX = 2, 20
KNOWN_WITHIN = 0.0005
"""Standard error at which a mean over random orders is known, as a share of it."""


@dataclass(frozen=True)
class Point:
    """One reserve at one size; NaN where the drive gets stuck.

    Attributes
    ----------
    in_order, random, once
        What 50 % kept free cost against 5 %, in percent: writes in order, random ones, and random
        ones that fall on no place twice.
    ratio
        Random writes over those in order, with 50 % kept free.
    moved
        Valid pages that cleaning moved for the random ones.
    """

    reserve_percent: int
    size_bytes: int
    in_order: float
    random: float
    once: float
    ratio: float
    moved: int = 0


@dataclass(frozen=True)
class Sweep:
    """All points; and of random writes of 4 MB with 51 % reserved, what became of each range.

    Attributes
    ----------
    ranges
        By bytes: why the drive got stuck, or nothing if it did not.
    """

    points: list[Point]
    ranges: dict[int, str]


def sweep(seed: int, progress: StageProgress, reserves: Sequence[int] = RESERVES_PERCENT) -> Sweep:
    """Run all reserves, and all ranges with the smallest."""
    points = []
    for done, reserve in enumerate(reserves):
        points += _points(reserve, seed, within(progress, done, len(reserves)))
    device = Configuration("greedy", 50, 4, reserves[0]).open(seed).device
    ranges = {
        size: measure(device.fork(), "", "randwrite", LARGEST, seed, size).failure
        for size in RANGES_BYTES
    }
    return Sweep(points, ranges)


def _points(reserve: int, seed: int, progress: StageProgress) -> list[Point]:
    configurations = [Configuration("greedy", percent, 4, reserve) for percent in (5, 50)]
    patterns = ("write", "randwrite")
    cells = run_lines([c.line() for c in configurations], seed, progress, patterns, SIZES_BYTES)
    devices = [each.open(seed).device for each in configurations]
    points = []
    for size in SIZES_BYTES:
        few, half = (_by_pattern(cells, each.label, size) for each in configurations)
        once_few, once_half = (_once(device, size, seed) for device in devices)
        points.append(
            Point(
                reserve,
                size,
                100 * (half["write"].mean_ns / few["write"].mean_ns - 1),
                100 * (half["randwrite"].mean_ns / few["randwrite"].mean_ns - 1),
                100 * (once_half / once_few - 1),
                half["randwrite"].mean_ns / half["write"].mean_ns,
                half["randwrite"].gc_pages_moved,
            )
        )
    return points


def _by_pattern(cells: Cells, line: str, size: int) -> dict[str, Cell]:
    return {pattern: cells[line, pattern, size] for pattern in ("write", "randwrite")}


def _once(device: Device, size: int, seed: int) -> float:
    """Write 300 places once each, in random order.

    Returns
    -------
    float
        The mean in ns over as many orders as it takes to know it, each from the same state; NaN
        if one gets stuck.
    """
    lengths, writes = np.full(REQUESTS, size), np.full(REQUESTS, OP_WRITE)
    rng = stream(seed, "studies.machado2015.reserve")
    means: list[float] = []
    while len(means) < ORDERS_MAX and not _known(means):
        try:
            log = device.fork().run_list(writes, rng.permutation(REQUESTS) * size, lengths)
        except DeviceError:
            return float("nan")
        means.append(float(log.latency_ns.mean()))
    return float(np.mean(means))


def _known(means: Sequence[float]) -> bool:
    if len(means) < ORDERS_MIN:
        return False
    error = np.std(means, ddof=1) / np.sqrt(len(means))
    return bool(error <= KNOWN_WITHIN * np.mean(means))


def compare(found: Sweep) -> list[Claim]:
    """Ask for one reserve with which all holds that the paper says of the drive."""
    points, most = found.points, (1 + judging.QUOTED_WITHIN) * OVERHEAD_4GB
    costly = _reserves(points, lambda p: judging.quoted(OVERHEAD_4GB, p.in_order), (LARGEST,))
    similar = _reserves(points, lambda p: judging.similar(p.ratio, 1))
    cheap = _reserves(points, lambda p: p.random <= most)
    once = _reserves(points, lambda p: p.once <= most)
    what = "4 GB, one reserve: 50 % free cost 7 % in writes of 4 MB in order, and"
    comparable = judging.claim(
        f"{what} random writes of 1 and 4 MB take about as long as those in order",
        "both",
        f"{_listed(_both(costly, similar))}: 7 % with {_listed(costly)} reserved, about as long "
        f"with {_listed(similar)}",
        "",
        holds=bool(_both(costly, similar)),
    )
    as_small = judging.claim(
        f"{what} no more in random writes of 1 and 4 MB",
        "both",
        f"{_listed(_both(costly, cheap))}: 7 % with {_listed(costly)} reserved, no more in random "
        f"writes with {_listed(cheap)}",
        "",
        holds=bool(_both(costly, cheap)),
    )
    if _both(costly, once):
        moved = max(point.moved for point in points)
        as_small = judging.explained(
            as_small,
            f"random writes that overwrite each other leave cleaning up to {moved} valid pages to "
            "move; the paper does not say where its random requests fall",
            "300 places written once each, mean of random orders: no more than 7 % with "
            f"{_listed(once)} reserved, both with {_listed(_both(costly, once))}",
        )
    return [comparable, as_small]


def _both(some: Sequence[int], others: Sequence[int]) -> list[int]:
    return [each for each in some if each in others]


def _reserves(
    points: Sequence[Point], holds: Callable[[Point], bool], sizes: Sequence[int] = SIZES_BYTES
) -> list[int]:
    """Give the reserves for which something holds at all of these sizes."""
    return [
        reserve
        for reserve in sorted({point.reserve_percent for point in points})
        if all(
            holds(point)
            for point in points
            if point.reserve_percent == reserve and point.size_bytes in sizes
        )
    ]


def _listed(reserves: Sequence[int]) -> str:
    if not reserves:
        return "none"
    low, high = min(reserves), max(reserves)
    if len(reserves) != high - low + 1:
        return ", ".join(f"{each} %" for each in reserves)
    return f"{low} %" if low == high else f"{low} to {high} %"


def notes(found: Sweep) -> list[str]:
    """Say what became of the ranges, and what the sweep leaves open."""
    stuck = [size for size, failure in found.ranges.items() if failure]
    ranges = ", ".join(f"{size // MIB} MB" for size in found.ranges)
    smallest = found.points[0].reserve_percent
    within_ranges = (
        f"with {smallest} % reserved, random writes of 4 MB get the drive stuck in {len(stuck)} "
        f"of {len(found.ranges)} ranges ({ranges})"
    )
    return [
        within_ranges,
        "open: which reserve and which random places the paper had",
        f"figure 1 has its 5.5 % on 32 GB with {RESERVE_PERCENT[50]} % reserved",
    ]


def table(found: Sweep) -> Table:
    """List all points."""
    columns = ("reserved", "request", "in order", "random", "random, no place twice")
    rows = [
        (
            f"{point.reserve_percent} %",
            f"{point.size_bytes // MIB} MB",
            *(_told(cost) for cost in (point.in_order, point.random, point.once)),
            "stuck" if np.isnan(point.ratio) else f"{point.ratio:.2f}",
        )
        for point in found.points
    ]
    return Table((*columns, "random over in order"), tuple(rows))


def _told(cost: float) -> str:
    return "stuck" if np.isnan(cost) else f"{cost:+.2f} %"
