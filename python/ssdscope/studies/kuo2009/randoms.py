"""Figures 9, 15, 32 and 33: small writes, and when they collect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdscope.studies.judging import MAGNITUDE, similar
from ssdscope.studies.kuo2009 import pictures
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    Drives,
    Served,
    Times,
    periods,
    slow,
    write,
)
from ssdscope.studies.kuo2009.sheet import Binder, Columns, because, exact, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

DRIVE = "transcend-slc"
BLOCK = MIB
SMALL = 4 * KIB
ALWAYS = 0.95
"""Share of the writes that counts as all of them."""


def random_writes(drives: Drives, name: str, range_bytes: int, count: int, *sets: str) -> Served:
    """Write 4 KB at random places of the drive's first bytes."""
    offsets = drives.random(name).integers(0, range_bytes // SMALL, count) * SMALL
    return write(drives.fork(DRIVE, *sets), offsets, SMALL)


def figure_9(drives: Drives, binder: Binder) -> FigureResult:
    """Draw response times of random writes of 4 KB and of sequential ones of 2 MB."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    small = random_writes(drives, "9", capacity, 300).times_ns
    large = write(drives.fork(DRIVE), np.arange(150) * 2 * MIB, 2 * MIB).times_ns
    columns: Columns = {
        "what": ["random 4 KB"] * small.size + ["sequential 2 MB"] * large.size,
        "response_ns": np.concatenate([small, large]).tolist(),
    }
    picture = pictures.small_against_large(small, large)
    return hand_in("9", claims_9(small, large), picture, columns, binder)


def claims_9(small: Times, large: Times) -> list[Claim]:
    """Hold random writes of 4 KB against sequential ones of 2 MB, the first third left out."""
    one, other = (float(each[each.size // 3 :].mean()) for each in (small, large))
    collects = float(slow(small)[small.size // 3 :].mean())
    return [
        stated(
            "a random write of 4 KB against a sequential one of 2 MB",
            "almost the same",
            f"{one / other:.2f} times as long",
            similar(one, other),
        ),
        stated(
            "the cause: log blocks are used up, and collection goes on all the time",
            "all the time",
            f"in {100 * collects:.0f} % of the writes",
            collects > ALWAYS,
        ),
    ]


def figure_15(drives: Drives, binder: Binder) -> FigureResult:
    """Draw where random writes fall, and their response times: in one block, over the drive."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    inside = random_writes(drives, "15 inside", BLOCK, 1024)
    over = random_writes(drives, "15 over", capacity, 400)
    rows = claims_15(inside.times_ns, over.times_ns, over.counts["gc_runs"])
    runs = {"in one block": inside, "over the drive": over}
    pairs = [(each.log.offset_bytes, each.times_ns) for each in runs.values()]
    picture = pictures.random_places(pairs[0], pairs[1], BLOCK)
    columns: Columns = {
        "where": [name for name, each in runs.items() for _ in range(each.times_ns.size)],
        "offset_bytes": [int(at) for each in runs.values() for at in each.log.offset_bytes],
        "response_ns": [int(time) for each in runs.values() for time in each.times_ns],
    }
    return hand_in("15", rows, picture, columns, binder)


def claims_15(inside: Times, over: Times, collected: int) -> list[Claim]:
    """Hold random writes within a block, and over the drive, against the paper's words.

    Parameters
    ----------
    collected
        Log blocks that were collected during the writes over the drive.
    """
    onset = int(np.argmax(slow(over)))
    after = float(slow(over)[onset:].mean())
    late = over.size - onset
    return [
        exact(
            "within an effective block: writes until the log block is full and collected",
            BLOCK // SMALL,
            _mean(periods(slow(inside))),
            "writes",
        ),
        stated(
            "over the drive: collection once the log blocks are used up",
            "then every write",
            f"from write {onset + 1} on {100 * after:.0f} % of the writes",
            onset > 0 and after > ALWAYS,
        ),
        stated(
            "over the drive: log blocks are collected while mostly empty",
            "much unused space",
            f"{late / max(collected, 1):.2f} writes of 4 KB for each log block collected, "
            f"which has room for {BLOCK // SMALL}",
            2 * late < collected * BLOCK // SMALL,
        ),
    ]


RANGES = tuple(64 * KIB << step for step in range(14))
"""From a part of an effective block to half a GB."""
FEW = (BLOCK // 2, BLOCK, 2 * BLOCK, RANGES[-1])
ONE_LOG_BLOCK = ("ftl.log_blocks=1",)


@dataclass(frozen=True)
class Range:
    """Random writes within a range."""

    bytes: int
    mean_ns: float
    median_ns: float


def figure_32(drives: Drives, binder: Binder) -> FigureResult:
    """Draw the mean response time by the range of random writes."""
    ranges, whole = _by_range(drives, RANGES)
    *rows, where = claims_32(ranges, whole)
    if drives.target is None:
        tried = slow_from(*_by_range(drives, FEW, *ONE_LOG_BLOCK))
        where = because(
            where,
            "each block in the range can have one of the 16 log blocks, a number that is assumed; "
            "the paper does not say how many its drive has",
            f"with a single log block it becomes slow {_between(tried)}",
            shown=tried == 2 * BLOCK,
        )
    columns: Columns = {
        "range_bytes": [each.bytes for each in ranges],
        "mean_ns": [each.mean_ns for each in ranges],
        "median_ns": [each.median_ns for each in ranges],
    }
    picture = pictures.ranges(ranges, whole, BLOCK)
    return hand_in("32", [*rows, where], picture, columns, binder)


def claims_32(ranges: Sequence[Range], whole_ns: float) -> list[Claim]:
    """Hold random writes by their range against sequential ones, which take `whole_ns`."""
    inside = max(each.mean_ns for each in ranges if each.bytes <= BLOCK)
    wide = ranges[-1].mean_ns
    knee = slow_from(ranges, whole_ns)
    return [
        stated(
            "random within an effective block against sequential writes of as much data",
            "almost the same",
            f"{inside / whole_ns:.2f} times as long in the mean, collection included",
            similar(inside, whole_ns),
        ),
        stated(
            "random over a range far beyond an effective block",
            "very slow",
            f"{wide / whole_ns:.1f} times as long as sequential",
            wide > MAGNITUDE[0] * whole_ns,
        ),
        stated(
            "where it becomes slow",
            "beyond one effective block",
            _between(knee),
            knee == 2 * BLOCK,
        ),
    ]


def slow_from(ranges: Sequence[Range], whole_ns: float) -> int | None:
    """Give the first range whose writes are nearer to the slowest than to sequential ones."""
    border = max(float(np.sqrt(whole_ns * ranges[-1].mean_ns)), 2 * whole_ns)
    late = [each.bytes for each in ranges if each.mean_ns > border]
    return late[0] if late else None


def _between(knee: int | None) -> str:
    if knee is None:
        return "nowhere"
    return f"between {pictures.size(knee / 2)} and {pictures.size(knee)}"


def _by_range(drives: Drives, sizes: Sequence[int], *sets: str) -> tuple[list[Range], float]:
    """Measure random writes by their range, and sequential writes in the mean."""
    device = drives.fork(DRIVE, *sets)
    sequential = write(device, np.arange(1536) * SMALL, SMALL).times_ns
    ranges = [_range(drives, size, *sets) for size in sizes]
    return ranges, float(sequential[512:].mean())


def _range(drives: Drives, size: int, *sets: str) -> Range:
    # Enough to fill the log blocks of the range; wide ranges collect in every write.
    count = max(1536, 3 * size // SMALL) if size <= 16 * BLOCK else 384
    times = random_writes(drives, f"32 {size}", size, count, *sets).times_ns[count // 3 :]
    return Range(size, float(times.mean()), float(np.median(times)))


def figure_33(drives: Drives, binder: Binder) -> FigureResult:
    """Draw which writes collect when each is a fixed distance from the one before."""
    distances = [BLOCK // 8, BLOCK // 4, BLOCK // 2, BLOCK, 2 * BLOCK]
    runs = {each: _strided(drives, each) for each in distances}
    # By the counts of the drive: which share of the writes waited for collection.
    shares = {each: run.counts["gc_runs"] / run.times_ns.size for each, run in runs.items()}
    rows = claims_33(_mean(periods(slow(runs[BLOCK // 2].times_ns))), shares)
    columns: Columns = {
        "distance_bytes": [each for each, run in runs.items() for _ in range(run.times_ns.size)],
        "response_ns": [int(time) for run in runs.values() for time in run.times_ns],
    }
    picture = pictures.distances({each: run.times_ns for each, run in runs.items()}, BLOCK)
    return hand_in("33", rows, picture, columns, binder)


def claims_33(half: float, shares: Mapping[int, float]) -> list[Claim]:
    """Hold how often writes collect against the paper's.

    Parameters
    ----------
    half
        Writes from one collection to the next at a distance of half a block; NaN if none was seen.
    shares
        Collections for each write, by distance.
    """
    whole = 1 / shares[BLOCK] if shares[BLOCK] else float("nan")
    return [
        exact(
            "(A) distance of half an effective block: one collection in so many writes",
            2,
            half,
            "writes",
        ),
        exact(
            "(B) distance of an effective block: one collection in so many writes",
            1,
            whole,
            "writes",
        ),
        stated(
            "the longer the distance, the more often",
            "yes",
            ", ".join(f"{pictures.size(each)}: {100 * s:.0f} %" for each, s in shares.items()),
            _rising(list(shares.values())),
        ),
    ]


def _strided(drives: Drives, distance: int) -> Served:
    device = drives.fork(DRIVE)
    before = 40 * BLOCK // distance
    write(device, np.arange(before) * distance, SMALL)
    return write(device, (before + np.arange(48)) * distance, SMALL)


def _mean(steps: Sequence[int]) -> float:
    return float(np.mean(steps)) if steps else float("nan")


def _rising(shares: Sequence[float]) -> bool:
    return shares[0] < shares[-1] and all(one <= other for one, other in pairwise(shares))
