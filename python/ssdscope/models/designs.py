"""Which workloads are run for a model to learn from.

``grid``
    The 12,000 of huang2011, or some of them drawn.
``sobol``
    Points of a scrambled Sobol sequence: sizes, depths and gaps even in their logarithms. Any
    first part of it is spread evenly, so a collection can be ended early or made longer.
``adaptive``
    Begins like ``sobol``; what follows is where a Gaussian process fitted to what is known is
    least sure (the criterion of MacKay 1992: the point of largest predictive variance; each
    choice then counts as known, so that the points of a batch do not crowd).

As on the grid a workload has one access pattern at a time: both directions have shares of random
places, or both leave gaps. One workload in twelve only reads, one only writes; of shares of random
places one in six is 0 and one 100 %: those are what people ask about. The shortest and the longest
of lengths and the deepest queue are one in 32 each, so that the design holds its own ends.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.models import features
from ssdscope.seeds import stream
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import grid
from ssdscope.workloads.grid import KIB, Vector

Array = npt.NDArray[Any]
DESIGNS = {
    "sobol": "spread evenly over all workloads; any first part of it is, too",
    "grid": "the 12,000 workloads of huang2011, or some of them",
    "adaptive": "begins as sobol, and goes on where a model is least sure",
}
"""How workloads are chosen, and what that gives."""
GRID_POINTS = 12_000
LARGEST_BYTES = 256 * KIB
DEEPEST = 64
SMALLEST_DRIVE_BYTES = DEEPEST * LARGEST_BYTES
"""A drive holds the deepest run of the largest requests."""
CANDIDATES = 2048
"""Of these an adaptive design chooses."""
_DIMENSIONS = 7
_PURE_WRITE_RATIO = 1 / 12
_PURE_RANDOM = 1 / 6
_LONGEST = 1 / 32


def require(info: DeviceInfo) -> None:
    """Refuse a drive that is too small for the workloads.

    Raises
    ------
    UsageError
        If the deepest run of the largest requests does not fit into it.
    """
    if info.capacity_bytes < SMALLEST_DRIVE_BYTES:
        raise UsageError(
            f"the target holds {info.capacity_bytes} bytes, too few for {DEEPEST} requests of "
            f"{LARGEST_BYTES // KIB} KiB in flight",
            hint=f"use one of at least {SMALLEST_DRIVE_BYTES // 2**20} MiB",
        )


def sobol(info: DeviceInfo, count: int, seed: int) -> list[Vector]:
    """Spread workloads evenly; on a drive that may not be written all of them read."""
    return _vectors(_sequence(count, stream(seed, "models.designs.sobol")), info)


def off_grid(info: DeviceInfo, count: int, seed: int) -> list[Vector]:
    """Spread workloads of the same law by a scramble of their own, to hold a model to."""
    return _vectors(_sequence(count, stream(seed, "models.designs.off_grid")), info)


def _sequence(count: int, rng: np.random.Generator) -> Array:
    """Give the first points of a scrambled Sobol sequence; shape (count, dimensions)."""
    from scipy.stats import qmc

    # A power of two keeps the balance of the sequence; what is too many is left out.
    power = int(np.ceil(np.log2(max(count, 1))))
    drawn: Array = qmc.Sobol(_DIMENSIONS, rng=rng).random_base2(power)
    return drawn[:count]


def of_grid(info: DeviceInfo, count: int, seed: int) -> tuple[list[Vector], int]:
    """Draw workloads of the paper's grid, or take all.

    Returns
    -------
    vectors, skipped
        Those that the drive takes, and how many it does not.
    """
    drawn = grid.grid() if count >= GRID_POINTS else grid.subset(count, seed)
    return grid.split(drawn, info)


def _vectors(unit: Array, info: DeviceInfo) -> list[Vector]:
    """Turn points of the unit cube into workloads that the drive takes."""
    block = max(KIB, info.logical_block_bytes)
    writes = _with_ends(unit[:, 0], _PURE_WRITE_RATIO) if info.writable else np.zeros(len(unit))
    depths = np.rint(2 ** (_stretched(unit[:, 1], _LONGEST) * np.log2(DEEPEST))).astype(int)
    write_sizes, read_sizes = (_length(unit[:, column], block) for column in (2, 3))
    mixed = unit[:, 4] < 0.5
    percents = [np.where(mixed, _with_ends(unit[:, c], _PURE_RANDOM), 0) for c in (5, 6)]
    gaps = [np.where(mixed, 0, _length(unit[:, c], block)) for c in (5, 6)]
    rows = zip(writes, depths, write_sizes, read_sizes, *percents, *gaps, strict=True)
    return [Vector(*(int(value) for value in row)) for row in rows]


def _with_ends(unit: Array, share: float) -> Array:
    """Spread percents evenly, with a share of exactly 0 and one of exactly 100."""
    percents: Array = np.rint(100 * _stretched(unit, share)).astype(int)
    return percents


def _stretched(unit: Array, share: float) -> Array:
    """Give either end of an interval a share of its own, so that the ends are in the design."""
    within: Array = np.clip((unit - share) / (1 - 2 * share), 0, 1)
    return within


def _length(unit: Array, block: int) -> Array:
    """Spread lengths evenly in their logarithm, in whole blocks."""
    length = block * (LARGEST_BYTES / block) ** _stretched(unit, _LONGEST)
    whole: Array = block * np.rint(length / block).astype(int)
    return whole


def least_sure(
    known: Sequence[Vector],
    latencies_ns: Sequence[float],
    info: DeviceInfo,
    count: int,
    seed: int,
) -> list[Vector]:
    """Choose the next workloads of an adaptive design.

    Parameters
    ----------
    known, latencies_ns
        What was run, and what it came to.
    info
        The drive.
    count
        How many to choose.
    seed
        Of the candidates and of the fit.
    """
    from ssdscope.models.gaussian import GaussianProcess

    candidates = sobol(info, CANDIDATES, seed)
    rows = features.columns("extended", features.inputs(known))
    process = GaussianProcess(random_state=seed % 2**32).fit(rows, np.asarray(latencies_ns))
    points = features.columns("extended", features.inputs(candidates))
    chosen = process.most_uncertain(points, count)
    return [candidates[index] for index in chosen]
