"""Relative speeds with intervals, as hyperfine prints them, and who is ahead."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.report.comparison.inputs import Cell, Entry


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one is as another.

    Attributes
    ----------
    value
        Ratio of mean latencies; of several workloads the geometric mean.
    half
        Half the width of its 95 % interval; None if one of the means has none.
    """

    value: float
    half: float | None

    def __str__(self) -> str:
        """Write it as hyperfine does: ``1.83 ± 0.05``."""
        if self.half is None:
            return f"{self.value:.3g}"
        digits = 2 if self.value < 100 else 0
        return f"{self.value:.{digits}f} ± {self.half:.{digits}f}"

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 1: one of them is faster."""
        return self.half is not None and abs(self.value - 1) > self.half


@dataclass(frozen=True)
class Ranked:
    """One of those compared, by its place.

    Attributes
    ----------
    slower
        How many times as fast the first is as this one, over the workloads that all share.
    """

    entry: Entry
    slower: Ratio

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {
            "name": self.entry.name,
            "file": self.entry.path,
            "target": self.entry.target,
            "times_slower_than_first": self.slower.value,
            "half_width": self.slower.half,
        }


@dataclass(frozen=True)
class Group:
    """Workloads of one pattern that all have, and who is ahead in them.

    Attributes
    ----------
    ranking
        The fastest first.
    """

    name: str
    workloads: Sequence[str]
    ranking: Sequence[Ranked]

    @property
    def sure(self) -> bool:
        """Whether the first is faster than the second for certain."""
        return self.ranking[1].slower.sure

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {
            "group": self.name,
            "workloads": list(self.workloads),
            "ranking": [each.to_json() for each in self.ranking],
        }


def grouped(entries: Sequence[Entry], names: Sequence[str]) -> list[Group]:
    """Rank by the patterns of workloads that all share, in the order of the first."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(entries[0].cells[name].group, []).append(name)
    return [Group(name, own, rank(entries, own)) for name, own in found.items()]


def shared(entries: Sequence[Entry]) -> list[str]:
    """List the workloads that all have, in the order of the first."""
    return [name for name in entries[0].cells if all(name in other.cells for other in entries[1:])]


def ratio(slow: Cell, fast: Cell) -> Ratio:
    """Divide two means; relative errors add in quadrature.

    Notes
    -----
    First-order propagation of independent errors, as in hyperfine's ``relative_speed``; the
    halves are those of 95 % intervals, not standard deviations.
    """
    value = slow.mean_ns / fast.mean_ns if fast.mean_ns else math.inf
    if slow.half_ns is None or fast.half_ns is None or not slow.mean_ns or not fast.mean_ns:
        return Ratio(value, None)
    relative = math.hypot(slow.half_ns / slow.mean_ns, fast.half_ns / fast.mean_ns)
    return Ratio(value, value * relative)


def over_all(slow: Entry, fast: Entry, names: Sequence[str]) -> Ratio:
    """Give the geometric mean of the ratios of several workloads, with its interval."""
    ratios = [ratio(slow.cells[name], fast.cells[name]) for name in names]
    if any(not 0 < each.value < math.inf for each in ratios):
        return Ratio(math.nan, None)
    value = math.exp(sum(math.log(each.value) for each in ratios) / len(ratios))
    halves = [each.half / each.value for each in ratios if each.half is not None]
    if len(halves) < len(ratios):
        return Ratio(value, None)
    return Ratio(value, value * math.hypot(*halves) / len(ratios))


def rank(entries: Sequence[Entry], names: Sequence[str]) -> list[Ranked]:
    """Order by speed over the workloads that all share, the fastest first."""
    base = entries[0]
    ordered = sorted(entries, key=lambda each: over_all(each, base, names).value)
    first = ordered[0]
    itself = Ratio(1.0, 0.0)
    return [
        Ranked(each, itself if each is first else over_all(each, first, names)) for each in ordered
    ]
