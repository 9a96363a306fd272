"""What a drive did, as numbers that a design is held to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Row", "fitted_rows", "held_out_rows"]

Sort = Literal["read", "burst", "long", "rest"]
KNOWN = 0.03
"""Within such a share no twin is asked to be: what is known better counts no more."""
REST_COUNTS, LONG_COUNTS = 4.0, 2.0
"""Times as much as a read or a burst."""
LONG_BYTES = 128 << 20
"""Of writes on their way to rest: more take too long on a design."""
LONG_DEPTH = 16
"""At which a pattern and size begins; writes at other depths go on from there."""
REST_MOST_BYTES = 64 << 10
"""Larger writes are a large part of the small drives that are brought to rest."""
COURSE_KNOWN = 0.08
"""How far parts of a course are known at least: of several bursts of a hundred writes."""
KIB = 1024
CHEAP_BYTES, QUICK_BYTES = 16 * KIB, 256 << 20
"""Pages are what costs: of a request, and of a burst."""
READS: dict[tuple[str, int], tuple[int, ...]] = {
    ("randread", 1): (4, 8, 12, 16, 24, 40, 64, 96, 256, 1024),
    ("randread", 4): (4, 64),
    ("randread", 16): (4, 16, 64, 256),
    ("randread", 64): (4, 16),
    ("read", 1): (4, 16, 64, 256),
    ("read", 4): (16, 64),
    ("read", 16): (4, 64),
    ("read", 64): (4, 16, 64),
}
BURSTS: dict[tuple[str, int], tuple[int, ...]] = {
    ("randwrite", 1): (4, 8, 16, 40, 64),
    ("randwrite", 4): (4, 16, 64),
    ("randwrite", 16): (4, 16, 64, 1024),
    ("randwrite", 64): (4, 16),
    ("write", 1): (4, 8, 16, 64, 256),
    ("write", 4): (16, 64),
    ("write", 16): (4, 64, 256),
    ("write", 64): (4, 16),
}
REST: dict[tuple[str, int], tuple[int, ...]] = {("randwrite", 16): (4, 64), ("write", 16): (64,)}
LONG: dict[tuple[str, int], tuple[int, ...]] = {("randwrite", 16): (4, 64), ("write", 16): (64,)}
"""What a design is fitted to, by pattern and depth: sizes in KiB. Sizes between show where units
and rounds of pages end, depths where what works side by side ends; what is large takes long."""
WANTED: dict[Sort, dict[tuple[str, int], tuple[int, ...]]] = {
    "read": READS,
    "burst": BURSTS,
    "rest": REST,
    "long": LONG,
}
SHARES = (0.0, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Of a burst, between which its course is told."""


@dataclass(frozen=True)
class Row:
    """A workload, and what the drive came to.

    Attributes
    ----------
    sort
        ``read``; ``burst``, so many writes from the state that the drive was found in; ``long``,
        likewise, but written on to see if it comes to rest; ``rest``, writes that it keeps up.
    requests
        Of a burst, how many were written.
    mean_ns
        Mean latency.
    course_ns
        Of a burst, mean latencies between the shares of `SHARES`, if they were told; of a long one,
        of its rounds.
    known
        How far the mean is known, as the share that half an interval of 95 % is.
    """

    sort: Sort
    rw: str
    block_bytes: int
    iodepth: int
    requests: int
    mean_ns: float
    course_ns: tuple[float, ...] = ()
    known: float = 0.0

    @property
    def name(self) -> str:
        """A key for what was asked: sort, pattern, size and depth."""
        return f"{self.sort} {self.rw} {self.block_bytes} {self.iodepth}"

    @property
    def slow(self) -> bool:
        """Whether it takes long to simulate."""
        return self.sort in ("rest", "long") or self.burst_bytes > QUICK_BYTES

    @property
    def cheap(self) -> bool:
        """Whether it costs next to nothing to simulate."""
        return not self.slow and self.block_bytes <= CHEAP_BYTES

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Shares of all requests, between which each number is a mean; shape (numbers + 1,)."""
        count = max(len(self.course_ns), 1)
        return (
            np.array(SHARES) if self.sort == "burst" and count > 1 else np.linspace(0, 1, count + 1)
        )

    @property
    def counts(self) -> float:
        """How much it counts: what is kept up is asked of few workloads, and matters as much."""
        return {"rest": REST_COUNTS, "long": LONG_COUNTS}.get(self.sort, 1.0)

    @property
    def burst_bytes(self) -> int:
        """What it writes from the state that the drive was found in."""
        return self.requests * self.block_bytes if self.sort in ("burst", "long") else 0

    def logs(self) -> npt.NDArray[np.float64]:
        """Return the logarithms of what was measured; shape (4,) of a course, else (1,)."""
        return np.log(self.course_ns or (self.mean_ns,))

    def weights(self) -> npt.NDArray[np.float64]:
        """Return one over how far each is known; parts of a course count as much as one."""
        count = max(len(self.course_ns), 1)
        # The interval of a mean that goes up on the way is of that, and its parts say so.
        known = min(self.known, COURSE_KNOWN) if count > 1 else self.known
        return np.full(count, self.counts**0.5 / (np.hypot(KNOWN, known / 2) * np.sqrt(count)))

    def told(self) -> dict[str, Any]:
        """Return the workload and what was measured, as plain data."""
        keys = ("rw", "block_bytes", "iodepth", "mean_ns")
        sort = "sustained" if self.sort in ("rest", "long") else self.sort
        return {key: getattr(self, key) for key in keys} | {"sort": sort}


def _of(each: Mapping[str, Any], sort: Sort) -> Row:
    mean, low, high = (each.get(key) for key in ("mean_ns", "ci95_low_ns", "ci95_high_ns"))
    known = 0.0 if low is None or high is None else (high - low) / 2 / float(mean or 1)
    bursts = max(each.get("bursts") or 1, 1)
    return Row(
        sort, each["rw"], each["block_bytes"], each["iodepth"],
        max(1, each.get("requests", 400) // bursts), float(mean or 0),
        tuple(each.get("course_ns") or ()), known,
    )  # fmt: skip


def _points(performance: Mapping[str, Any], splits: Sequence[str]) -> list[Row]:
    rows = [
        row for row in performance.get("points", ()) if row["mean_ns"] and row["split"] in splits
    ]
    return [_of(row, "burst" if "write" in row["rw"] else "read") for row in rows]


def _rest(performance: Mapping[str, Any]) -> list[Row]:
    rows = performance.get("sustained", ())
    return [_of(row, "rest") for row in rows if row.get("reached") and row["mean_ns"]]


def _long(performance: Mapping[str, Any]) -> Iterator[Row]:
    """Take the first rounds of writes that came to rest, or were to: the way there says much."""
    for row in performance.get("sustained", ()):
        course, block, depth = row.get("course") or {}, row["block_bytes"], row["iodepth"]
        round_bytes = int(course.get("round_bytes") or 0)
        if depth != LONG_DEPTH or not round_bytes:
            continue
        rates = [float(rate) for rate in course["rates_bytes_per_s"]][: LONG_BYTES // round_bytes]
        if rates and min(rates) > 0:
            means = tuple(depth * block * 1e9 / rate for rate in rates)
            requests = len(rates) * round_bytes // block
            mean = float(np.mean(means))
            yield Row("long", row["rw"], block, depth, requests, mean, means, COURSE_KNOWN)


def fitted_rows(performance: Mapping[str, Any]) -> list[Row]:
    """Choose what a design is fitted to; of larger logical blocks the sizes that there are."""
    rows = [*_points(performance, ("grid", "between")), *_rest(performance), *_long(performance)]
    return [row for row in rows if row.block_bytes // KIB in _sizes(row)]


def _sizes(row: Row) -> tuple[int, ...]:
    return WANTED[row.sort].get((row.rw, row.iodepth), ())


def held_out_rows(performance: Mapping[str, Any]) -> list[Row]:
    """Choose what nothing is fitted to: points off the grid, and others of what is kept up."""
    fitted = {row.name for row in fitted_rows(performance)}
    return _points(performance, ("off-grid",)) + [
        row
        for row in [*_rest(performance), *_long(performance)]
        if row.name not in fitted and row.block_bytes <= REST_MOST_BYTES
    ]


def stacked(parts: Iterable[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Put numbers of rows behind each other."""
    return np.concatenate([*parts, np.empty(0)])
