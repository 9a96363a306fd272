"""What repeats in the latency of small writes, and where the units begin of which it consists.

Both halves of the data are scanned for periods (`stats.folding`). The latency of a write repeats
with the unit, or with several that lie on different chips. These may be more than any unit that is
looked for, and then a part of them explains most, which need not hold whole units: so a period of
which that is not clear is held against its multiples (`whole_of`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.shifted_writes import Samples
    from ssdscope.targets.records import DeviceInfo

LARGEST_UNIT_BYTES = 128 << 10
TOLERANCE = 0.2
"""Log blocks repeat at distances far above a unit, which adds to what its multiples explain."""
LEAST_SHARE = 0.015
"""Of the variance, for a period to be one: what explains less is there, but is no unit."""
LEAST_FIT = 0.4
"""Correlation of the folded latency with the number of units that a write touches. Below, and at
the largest candidate, the period is something else's: of merges, or a divisor of it."""
ALIKE_FIT = 0.7
"""Likewise, where a period explains too little to be one, for it not to be none."""
AS_WELL = 0.85
"""Of how well the first blocks of units fit, which boundaries must fit."""
MULTIPLES, FAR_MORE = (2, 3, 4), 1.5
"""Of a period, and times what it explains one of them must, to be what repeats."""


@dataclass(frozen=True)
class Answer:
    """What one half of the data says, in logical blocks; None where it says nothing."""

    scan: stats.PeriodScan
    unit: int | None
    boundary: int | None


def candidates_blocks(info: DeviceInfo) -> NDArray[np.int64]:
    """Give the units that are looked for, in logical blocks."""
    largest = LARGEST_UNIT_BYTES // info.logical_block_bytes
    odd = np.array([1, 3, 5, 7, 9, 15])
    every = np.unique(odd[:, None] << np.arange(int(largest).bit_length())[None, :])
    return every[(every >= 2) & (every <= largest)]


def common(halves: list[Answer]) -> int | None:
    """Give the period of which both halves see all or a whole part, as of several units."""
    units = sorted(each.unit or 0 for each in halves)
    return units[1] if units[0] and not units[1] % units[0] else None


def agreed(halves: list[Answer]) -> bool:
    """Whether both name one period, and where it begins."""
    first, second = halves
    return first.unit is not None and (first.unit, first.boundary) == (second.unit, second.boundary)


def alike(halves: list[Samples], answers: list[Answer]) -> bool:
    """Whether both halves show the same units, however little these explain.

    Merges repeat at no place of their own: where such seem to begin, the halves differ.
    """
    first, second = (each.scan.period for each in answers)
    if first is None or first != second:
        return False
    begins, fits = zip(*(boundary_of(half, first) for half in halves), strict=True)
    return bool(begins[0] == begins[1] and min(fits) >= ALIKE_FIT)


def answer_of(samples: Samples, candidates: NDArray[np.int64]) -> Answer:
    """Find period and phase of one half."""
    scan = _scan(samples, candidates)
    if scan.period is None or scan.explained.max() < LEAST_SHARE:
        return Answer(scan, None, None)
    unit = scan.period
    boundary, fit = boundary_of(samples, unit)
    if fit < LEAST_FIT:
        return Answer(scan, None, None)
    return Answer(scan, unit, boundary)


def boundary_of(samples: Samples, unit: int) -> tuple[int, float]:
    """Find the place within a unit, in blocks, at which units begin, and how well it fits.

    What fits is the number of units that a write touches, place by place; as a correlation.
    """
    match, best_of_each = _match(samples, unit, straddling=True)
    best = int(np.argmax(match))
    return best, float(best_of_each[best])


def _match(samples: Samples, unit: int, *, straddling: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Correlate places with how many boundaries a write straddles, or first blocks it contains.

    Returns
    -------
    tuple of ndarray, shape (unit,)
        By the place of the boundary: over all sizes and depths, and of the best of them.
    """
    values = samples.ranks()
    match, best, weight = np.zeros(unit), np.zeros(unit), 0
    for number in np.unique(samples.strata):
        there = samples.strata == number
        size = int(samples.size[there][0])
        profile, counts = stats.folded_profile(samples.place[there], values[there], unit)
        # One first block more than boundaries is in writes that begin with it.
        reach = np.arange(unit) + size if straddling else np.arange(-1, unit - 1) % unit + size + 1
        touched = -(-reach // unit)
        if touched.min() < touched.max():
            fits = stats.shift_match(profile, touched)
            match += fits * counts.sum()
            best = np.maximum(best, fits)
            weight += int(counts.sum())
    return match / max(weight, 1), best


def straddles(samples: Samples, unit: int) -> bool:
    """Whether what costs is to straddle a boundary, and not to write the first block of something.

    A firmware may keep a log block for streams, and merge it for any write to a unit's beginning.
    """
    straddling, containing = (
        float(_match(samples, unit, straddling=each)[0].max()) for each in (True, False)
    )
    return straddling >= AS_WELL * containing


def whole_of(halves: list[Samples], period: int) -> int:
    """Give the multiple of a period that explains far more in both halves, or the period."""
    periods = [period, *(times * period for times in MULTIPLES)]
    scans = [_scan(half, np.array(periods)) for half in halves]
    longer = scans[0].period
    if longer is None or any(scan.period != longer for scan in scans):
        return period
    at = periods.index(longer)
    far = all(scan.explained[at] >= FAR_MORE * scan.explained[0] for scan in scans)
    return longer if far else period


def _scan(samples: Samples, periods: NDArray[np.int64]) -> stats.PeriodScan:
    return stats.scan_periods(
        samples.place,
        samples.ranks(),
        periods,
        strata=samples.strata,
        permutations=99,
        tolerance=TOLERANCE,
    )
