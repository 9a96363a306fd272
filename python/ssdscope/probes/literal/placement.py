"""Equations (1) and (2) of ryu2009: response time of a read, by where management blocks lie.

A read of a drive with several channels is served page by page on each of them. Where a management
block lies on one channel (design a), or k pages of it lie on one channel before the next has its
turn (design b), the response time climbs in stairs of one unit; where the unit is a page it is
close to a line. The paper draws both designs and compares by eye: "B's block is 1 MB and its curve
a line, so its placement is multi-channel with k = 1".

Both equations are linear in the time of a page, the cost of taking over from a further channel,
and a constant: `terms` gives what each of them is multiplied by, as printed (bytes for pages in
(1), a page's bytes divided away twice in (2)) and corrected. `fits` finds the three by least
squares of the relative error, none below zero, for every design and unit; `straight` is the rule
that the paper applies.

Assumes what the paper assumes to be known: the channels, the page, the management block. Cost:
reads only. Source: ryu2009, figures 11, 12 and 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ssdscope.stats import fit_line, relative_nnls

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ssdscope.probes.bench.ledger import Bench

Design = Literal["a", "b"]

STRAIGHT_WITHIN = 0.05
"""A curve is a line if no point is further from one than this share of its value; the paper
looks."""


@dataclass(frozen=True)
class Placement:
    """A design and its unit.

    Attributes
    ----------
    design
        ``a``: a management block on one channel; ``b``: over all channels.
    unit_pages
        Pages on one channel before the next one has its turn: the block of (a), k of (b).
    """

    design: Design
    unit_pages: int
    channels: int
    page_bytes: int


def terms(placement: Placement, pages: ArrayLike, *, printed: bool = False) -> NDArray[Any]:
    """Give what the time of a page, the cost of a further channel and 1 are multiplied by.

    Parameters
    ----------
    pages : array_like of int, shape (n,)
        Sizes of reads.
    printed
        The equations letter by letter; otherwise with their units put right.

    Returns
    -------
    ndarray, shape (n, 3)
    """
    count = np.asarray(pages, dtype=np.int64)
    unit, channels = placement.unit_pages, placement.channels
    rounds, rest = np.divmod(count, channels * unit)
    if not printed:
        further = np.where(rest <= unit, 0, np.ceil(rest / unit) - 1)
        in_pages = rounds * unit + np.minimum(rest, unit)
        return _columns(in_pages, rounds * (channels - 1) + further)
    unit_bytes = unit * placement.page_bytes
    # The rest is in pages already, and compared with, and divided by, bytes.
    small = rest <= unit_bytes
    further = np.where(small, 0, np.floor(rest / unit_bytes - 1))
    whole, part = (
        (unit_bytes, rest) if placement.design == "a" else (unit, rest / placement.page_bytes)
    )
    return _columns(rounds * whole + np.where(small, part, unit), rounds * (channels - 1) + further)


def _columns(page_times: NDArray[Any], takeovers: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([page_times, takeovers, np.ones(page_times.size)]).astype(float)


@dataclass(frozen=True)
class Fit:
    """A placement fitted to a curve.

    Attributes
    ----------
    times_ns
        Time of a page, cost of a further channel, cost of a request, and time of a page on the
        link (0 if there is no such term).
    residual
        Root of the mean squared relative error.
    """

    placement: Placement
    times_ns: tuple[float, float, float, float]
    residual: float


def fits(
    pages: ArrayLike,
    latency_ns: ArrayLike,
    candidates: Sequence[Placement],
    *,
    printed: bool = False,
    link: bool = False,
) -> list[Fit]:
    """Fit every candidate to a curve; the best one first.

    Parameters
    ----------
    pages, latency_ns : array_like, shape (n,)
        Sizes of reads and their response times.
    link
        Whether every page also takes its time on the link, which the equations leave out.
    """
    times = np.asarray(latency_ns, dtype=float)
    found = []
    for each in candidates:
        columns = terms(each, pages, printed=printed)
        if link:
            columns = np.column_stack([columns, np.asarray(pages, dtype=float)])
        coefficients, residual = relative_nnls(columns, times)
        page, takeover, constant = (float(each) for each in coefficients[:3])
        on_link = float(coefficients[3]) if link else 0.0
        mean = float(residual / np.sqrt(times.size))
        found.append(Fit(each, (page, takeover, constant, on_link), mean))
    return sorted(found, key=lambda fit: fit.residual)


def predicted(fit: Fit, pages: ArrayLike, *, printed: bool = False) -> NDArray[Any]:
    """Give the response times of a fit of the equations, in nanoseconds."""
    form = terms(fit.placement, pages, printed=printed)
    columns = np.column_stack([form, np.asarray(pages, dtype=float)])
    return np.asarray(columns @ np.array(fit.times_ns))


def straight(pages: ArrayLike, latency_ns: ArrayLike) -> bool:
    """Tell whether a curve is close to a line, from which the paper concludes k = 1."""
    return fit_line(pages, latency_ns).max_relative_error <= STRAIGHT_WITHIN


@dataclass(frozen=True)
class ReadSizes:
    """Reads of 1, 2, 3, ... pages at places all over the drive, the mean of each."""

    page_bytes: int
    pages: Sequence[int]
    reads: int = 64

    def run(self, bench: Bench) -> NDArray[Any]:
        """Read, one request at a time.

        Returns
        -------
        ndarray, shape (sizes,)
            Mean response times in nanoseconds.
        """
        rng = bench.rng("ryu2009 placement")
        lengths = np.repeat(np.asarray(self.pages, dtype=np.int64), self.reads) * self.page_bytes
        room = (bench.info.capacity_bytes - lengths) // self.page_bytes
        offsets = rng.integers(0, room + 1) * self.page_bytes
        log = bench.read(offsets, lengths)
        latency = np.asarray(log.latency_ns, dtype=float)
        return np.asarray(latency.reshape(-1, self.reads).mean(axis=1))
