"""Reads over parallel units: a start, a round per full stripe, and a cost per byte.

A read of P pages on N units takes ``start + ceil(P / N) · unit + bytes · per_byte``; many at once
are served at ``min(N / unit, 1 / (page · per_byte), 1 / start)`` requests per second.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats

MAX_UNITS = 128


@dataclass(frozen=True)
class Staircase:
    """Fitted values.

    Attributes
    ----------
    units
        Pages served side by side.
    unit_ns
        Time a unit takes for a page.
    start_ns
        Time of a request before its pages, one request at a time.
    ns_per_byte
        Of the link.
    error
        Root mean square of the relative errors of latencies and of the plateau.
    """

    units: int
    unit_ns: float
    start_ns: float
    ns_per_byte: float
    error: float

    def latency_ns(self, sizes_bytes: npt.ArrayLike, page_bytes: int) -> npt.NDArray[Any]:
        """Latency of reads alone."""
        sizes = np.asarray(sizes_bytes, dtype=float)
        rounds = np.ceil(np.ceil(sizes / page_bytes) / self.units)
        return self.start_ns + rounds * self.unit_ns + sizes * self.ns_per_byte

    def plateau_iops(self, page_bytes: int) -> float:
        """Rate of reads of a page when very many wait."""
        slowest = max(self.unit_ns / self.units, self.start_ns, page_bytes * self.ns_per_byte)
        return 1e9 / slowest


def fit_staircase(
    sizes_bytes: npt.ArrayLike,
    latency_ns: npt.ArrayLike,
    plateau_iops: float,
    page_bytes: int,
) -> Staircase:
    """Find the staircase that meets the latencies at depth 1 and the plateau at depth.

    Parameters
    ----------
    sizes_bytes, latency_ns
        The size sweep; shapes (n,).
    plateau_iops
        Highest rate of page-sized reads.
    page_bytes
        Page of the twin.
    """
    return staircases(sizes_bytes, latency_ns, plateau_iops, page_bytes)[0]


def staircases(
    sizes_bytes: npt.ArrayLike,
    latency_ns: npt.ArrayLike,
    plateau_iops: float | None,
    page_bytes: int,
) -> list[Staircase]:
    """Give the best staircase of each number of units, the best of all first.

    Parameters
    ----------
    plateau_iops
        None of a drive that serves one request at a time, whose rate tells nothing else.
    """
    sizes = np.asarray(sizes_bytes, dtype=float)
    latency = np.asarray(latency_ns, dtype=float)
    best = [
        min(
            _with_units(units, sizes, latency, plateau_iops, page_bytes),
            key=lambda each: each.error,
        )
        for units in range(1, MAX_UNITS + 1)
    ]
    return sorted(best, key=lambda each: each.error)


def _with_units(
    units: int,
    sizes: npt.NDArray[Any],
    latency: npt.NDArray[Any],
    plateau_iops: float | None,
    page_bytes: int,
) -> list[Staircase]:
    """Fit the costs for a given number of units: all from latencies, or one from the plateau."""
    rounds = np.ceil(np.ceil(sizes / page_bytes) / units)
    columns = np.column_stack([np.ones_like(sizes), rounds, sizes])
    (start, unit, per_byte), _ = stats.relative_nnls(columns, latency)
    free = (start, unit, per_byte)
    if plateau_iops is None:
        return [_judged(units, *free, sizes, latency, None, page_bytes)]
    # The plateau fixes the time of a unit; what is left of the latency is start and link.
    unit = min(units / plateau_iops * 1e9, latency[0])
    rest = np.maximum(latency - rounds * unit, 0.02 * latency)
    (start, per_byte), _ = stats.relative_nnls(columns[:, [0, 2]], rest)
    tied = (start, unit, per_byte)
    return [
        _judged(units, *each, sizes, latency, plateau_iops, page_bytes) for each in (free, tied)
    ]


def _judged(
    units: int,
    start: float,
    unit: float,
    per_byte: float,
    sizes: npt.NDArray[Any],
    latency: npt.NDArray[Any],
    plateau_iops: float | None,
    page_bytes: int,
) -> Staircase:
    """Bound the start to what the plateau allows, then see how far off everything is."""
    if plateau_iops is not None:
        start = min(start, 0.95e9 / plateau_iops)
    draft = Staircase(units, float(unit), float(start), float(per_byte), 0.0)
    misses = draft.latency_ns(sizes, page_bytes) / latency - 1
    if plateau_iops is None:
        error = float(np.sqrt(np.mean(misses**2)))
        return Staircase(draft.units, draft.unit_ns, draft.start_ns, draft.ns_per_byte, error)
    rate_miss = np.log(draft.plateau_iops(page_bytes) / plateau_iops)
    # The plateau is one number against many latencies, and as important as all of them.
    error = float(np.sqrt((np.mean(misses**2) + rate_miss**2) / 2))
    return Staircase(draft.units, draft.unit_ns, draft.start_ns, draft.ns_per_byte, error)
