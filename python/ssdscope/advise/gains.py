"""What a setting gains, and how sure that is.

Statistic: the ratio of two mean times per byte that the tool asked for. Two errors make its
interval: runs differ by their seeds, and a twin is not the drive. How far a twin misses ratios is
known from the workloads that it was held to: of two of a direction it misses the ratio of their
times by the difference of the logarithms of its errors.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats

LEAST_GAIN = 0.02
"""A smaller one is none."""
FOUND, USED = "as found", "in use"
"""States that gains are measured in: as the drive was when it was measured, and written all over
at random."""
SEVERAL = 1.5
"""From this on a gain is told as so many times as fast; below it in per cent."""
LEAST_PAIRS = 3
"""Of workloads of one pattern; fewer say nothing of it, and those of all patterns count."""
USUAL_PERCENT, FACTOR = 75, 6.0
"""Three of four ratios of held-out workloads are missed by no more; and so many times of that is
the half of an interval. A few workloads that a twin misses by far do not move the first. The second
is no normal distribution's, as the requests of a tool are of sizes and places that no twin was held
to: `benchmarks/gain_intervals.py` measures it on drives whose gains are known."""
Key = tuple[str, str]


@dataclass(frozen=True)
class Gain:
    """What a setting gains over another.

    Attributes
    ----------
    ratio
        Mean time per byte before, over that after: 1.25 is a quarter more bytes in the same time.
    low, high
        Its interval of 95 %, the errors of a twin included.
    before, after
        The streams in words.
    before_ns_per_byte, after_ns_per_byte
        The two means.
    of
        Where it was measured.
    state
        ``as found`` or ``in use``.
    at_most
        Why the tool may gain less; empty where it cannot.
    scatter
        How far runs alone leave the ratio open, as a share.
    """

    ratio: float
    low: float
    high: float
    before: str = ""
    after: str = ""
    before_ns_per_byte: float = math.nan
    after_ns_per_byte: float = math.nan
    of: str = "twin"
    state: str = FOUND
    at_most: str = ""
    scatter: float = 0.0

    @property
    def saved(self) -> float:
        """The share of the time that is saved: 0.2 where a fifth is."""
        return 1 - 1 / self.ratio

    @property
    def none(self) -> bool:
        """Whether runs show no effect: they differ by less than 2 %, or than they scatter."""
        return abs(math.log(self.ratio)) <= max(math.log1p(LEAST_GAIN), math.log1p(self.scatter))

    @property
    def sure(self) -> bool:
        """Whether there is a gain or a loss for certain: the interval does not hold 1."""
        return not self.low <= 1 <= self.high

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Gain:
        """Read it back; keys of other versions are left out."""
        return cls(**{each.name: told[each.name] for each in fields(cls) if each.name in told})

    def in_words(self) -> str:
        """Say how much faster, with the interval and the state."""
        if self.none:
            return f"no difference {self.state}"
        if not self.sure:
            return f"not certain {self.state}: {self.low:.3g} to {self.high:.3g} times as fast"
        bound = "at most " if self.at_most else ""
        if 1 <= self.ratio < SEVERAL:
            much = f"{100 * (self.ratio - 1):.2g} % faster"
            ends = [f"{100 * (each - 1):.2g}" for each in (self.low, self.high)]
        else:
            much = f"{self.ratio:.3g} times as fast"
            ends = [f"{each:.3g}" for each in (self.low, self.high)]
        # Runs of a drive without noise repeat: an interval without width says nothing.
        span = f" ({' to '.join(ends)})" if ends[0] != ends[1] else ""
        return f"{bound}{much}{span} {self.state}"


@dataclass(frozen=True)
class Misses:
    """By how much a twin misses what it was held to: logarithms of its errors, by pattern and sort.

    Empty for the drive itself, which misses nothing.
    """

    logs: Mapping[Key, tuple[float, ...]] = field(default_factory=dict)

    def of_ratio(self, rw: str) -> float:
        """Give half the width of an interval, as a logarithm, that holds the error of a ratio.

        Parameters
        ----------
        rw
            The pattern of the two workloads; where too few of it were held out, those of its
            direction count.
        """
        direction = "write" if "write" in rw else "read"
        kept = {key: logs for key, logs in self.logs.items() if direction in key[0]}
        alike = [logs for (name, _), logs in kept.items() if name == rw]
        for chosen in (alike, list(kept.values())):
            apart = [abs(one - other) for logs in chosen for one, other in combinations(logs, 2)]
            if len(apart) >= LEAST_PAIRS:
                return FACTOR * stats.nearest_rank(apart, USUAL_PERCENT)
        return 0.0


def misses(held_out: Iterable[Mapping[str, Any]]) -> Misses:
    """Take the errors of a twin from the workloads that it was held to."""
    logs: dict[Key, list[float]] = defaultdict(list)
    for row in held_out:
        told, measured = (_positive(row.get(key)) for key in ("predicted_ns", "mean_ns"))
        if told and measured:
            logs[str(row.get("rw")), str(row.get("sort"))].append(math.log(told / measured))
    return Misses({key: tuple(each) for key, each in logs.items()})


def _positive(value: Any) -> float | None:
    number = isinstance(value, int | float) and math.isfinite(value) and value > 0
    return float(value) if number else None


def ratio_of(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], miss: float
) -> tuple[float, float, float, float]:
    """Give the ratio of two times with its interval, and how far runs alone leave it open.

    Parameters
    ----------
    before, after
        Of runs of either stream, shape (n,).
    miss
        Half the width, as a logarithm, that the error of the twin adds.
    """
    logs = stats.student(np.log(before / after))
    # Another mean of as many runs is to lie in it, which scatters as much as this one.
    scatter = math.sqrt(2) * logs.half_width
    half = math.hypot(scatter, miss)
    ends = (math.exp(logs.mean + each) for each in (-half, half))
    return math.exp(logs.mean), *ends, math.expm1(scatter)  # type: ignore[return-value]
