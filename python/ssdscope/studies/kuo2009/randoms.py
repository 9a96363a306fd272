"""Figures 9, 15, 32 and 33: small writes, and when they collect."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from ssdscope.studies.kuo2009 import pictures
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, Served, periods, slow, write
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, number, stated
from ssdscope.studies.record import FigureResult

DRIVE = "transcend-slc"
BLOCK = MIB
SMALL = 4 * KIB


def random_writes(drives: Drives, name: str, range_bytes: int, count: int) -> Served:
    """Write 4 KB at random places of the drive's first bytes."""
    offsets = drives.random(name).integers(0, range_bytes // SMALL, count) * SMALL
    return write(drives.fork(DRIVE), offsets, SMALL)


def figure_9(drives: Drives, folder: Path) -> FigureResult:
    """Draw response times of random writes of 4 KB and of sequential ones of 2 MB."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    small = random_writes(drives, "9", capacity, 300)
    large = write(drives.fork(DRIVE), np.arange(150) * 2 * MIB, 2 * MIB)
    settled = [each.times_ns[each.times_ns.size // 3 :] for each in (small, large)]
    means = [float(each.mean()) for each in settled]
    collects = float(slow(small.times_ns)[100:].mean())
    rows = [
        number(
            "a random write of 4 KB in sequential writes of 2 MB",
            1.0,
            means[0] / means[1],
            "",
            within=0.25,
        ),
        stated(
            "the cause: log blocks are used up, and collection goes on all the time",
            "all the time",
            f"in {100 * collects:.0f} % of the writes",
            collects > 0.95,
        ),
    ]
    columns: Columns = {
        "what": ["random 4 KB"] * settled[0].size + ["sequential 2 MB"] * settled[1].size,
        "response_ns": np.concatenate(settled).tolist(),
    }
    return hand_in(
        "9", rows, pictures.small_against_large(small.times_ns, large.times_ns), columns, folder
    )


def figure_15(drives: Drives, folder: Path) -> FigureResult:
    """Draw where random writes fall, and their response times: in one block, over the drive."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    inside = random_writes(drives, "15 inside", BLOCK, 1024)
    over = random_writes(drives, "15 over", capacity, 400)
    onset = int(np.argmax(slow(over.times_ns)))
    after = slow(over.times_ns)[onset:]
    filled = periods(slow(inside.times_ns))
    rows = [
        number(
            "within an effective block: writes until the log block is full and collected",
            BLOCK / SMALL,
            _mean(filled),
            "",
        ),
        stated(
            "over the drive: collection once the log blocks are used up",
            "then every write",
            f"from write {onset + 1} on {100 * after.mean():.0f} % of the writes",
            0 < onset < 100 and bool(after.mean() > 0.95),
        ),
        stated(
            "over the drive: log blocks are collected while mostly empty",
            "much unused space",
            f"{(over.times_ns.size - onset) / over.counts['gc_runs']:.2f} writes of 4 KB for each "
            f"log block collected, which has room for {BLOCK // SMALL}",
            over.counts["gc_runs"] > 0.9 * (over.times_ns.size - onset),
        ),
    ]
    runs = {"in one block": inside, "over the drive": over}
    pairs = [(each.log.offset_bytes, each.times_ns) for each in runs.values()]
    picture = pictures.random_places(pairs[0], pairs[1], BLOCK)
    columns: Columns = {
        "where": [name for name, each in runs.items() for _ in range(each.times_ns.size)],
        "offset_bytes": [int(at) for each in runs.values() for at in each.log.offset_bytes],
        "response_ns": [int(time) for each in runs.values() for time in each.times_ns],
    }
    return hand_in("15", rows, picture, columns, folder)


LOG_BLOCKS = (
    "as many effective blocks as there are log blocks can each have one; the text gives one block "
    "as the limit and does not say how many log blocks there are, and this drive's number is "
    "assumed"
)
RANGES = tuple(64 * KIB << step for step in range(14))
"""From a part of an effective block to half a GB."""


@dataclass(frozen=True)
class Range:
    """Random writes within a range."""

    bytes: int
    mean_ns: float
    median_ns: float


def figure_32(drives: Drives, folder: Path) -> FigureResult:
    """Draw the mean response time by the range of random writes."""
    sequential = write(drives.fork(DRIVE), np.arange(1536) * SMALL, SMALL).times_ns
    whole = float(sequential[512:].mean())
    ranges = [_range(drives, size) for size in RANGES]
    inside = max(each.mean_ns for each in ranges if each.bytes <= BLOCK)
    typical = max(each.median_ns for each in ranges if each.bytes <= BLOCK)
    wide = ranges[-1].mean_ns
    late = [each.bytes for each in ranges if each.mean_ns > max(np.sqrt(whole * wide), 2 * whole)]
    knee = late[0] if late else None
    rows = [
        stated(
            "random within an effective block against sequential writes of as much data",
            "almost the same",
            f"{typical / np.median(sequential):.2f} times as long in the median, "
            f"{inside / whole:.2f} times in the mean, collection included",
            typical < 1.1 * float(np.median(sequential)) and inside < 2 * whole,
        ),
        stated(
            "random over a range far beyond an effective block",
            "very slow",
            f"{wide / whole:.0f} times as long as sequential",
            wide > 10 * whole,
        ),
        stated(
            "where it becomes slow",
            "beyond one effective block",
            "nowhere" if knee is None else f"between {knee // 2 // MIB} and {knee // MIB} MB",
            knee == 2 * BLOCK,
            LOG_BLOCKS if knee else "",
        ),
    ]
    columns: Columns = {
        "range_bytes": [each.bytes for each in ranges],
        "mean_ns": [each.mean_ns for each in ranges],
        "median_ns": [each.median_ns for each in ranges],
    }
    return hand_in("32", rows, pictures.ranges(ranges, whole, BLOCK), columns, folder)


def _range(drives: Drives, size: int) -> Range:
    # Enough to fill the log blocks of the range; wide ranges collect in every write.
    count = max(1536, 3 * size // SMALL) if size <= 16 * BLOCK else 384
    times = random_writes(drives, f"32 {size}", size, count).times_ns[count // 3 :]
    return Range(size, float(times.mean()), float(np.median(times)))


def figure_33(drives: Drives, folder: Path) -> FigureResult:
    """Draw which writes collect when each is a fixed distance from the one before."""
    distances = [BLOCK // 8, BLOCK // 4, BLOCK // 2, BLOCK, 2 * BLOCK]
    runs = {each: _strided(drives, each) for each in distances}
    steps = {each: periods(slow(run.times_ns)) for each, run in runs.items()}
    rows = [
        number(
            "(A) distance of half an effective block: one collection in so many writes",
            2,
            _mean(steps[BLOCK // 2]),
            "writes",
        ),
        number(
            "(B) distance of an effective block: one collection in so many writes",
            1,
            float(1 / slow_share(runs[BLOCK])),
            "writes",
        ),
        stated(
            "the longer the distance, the more often",
            "yes",
            ", ".join(
                f"{pictures.size(each)}: {100 * slow_share(run):.0f} %"
                for each, run in runs.items()
            ),
            _rising([slow_share(run) for run in runs.values()]),
        ),
    ]
    columns: Columns = {
        "distance_bytes": [each for each, run in runs.items() for _ in range(run.times_ns.size)],
        "response_ns": [int(time) for run in runs.values() for time in run.times_ns],
    }
    picture = pictures.distances({each: run.times_ns for each, run in runs.items()}, BLOCK)
    return hand_in("33", rows, picture, columns, folder)


def slow_share(served: Served) -> float:
    """Give the share of writes that waited for collection: by the counts of the drive."""
    return served.counts["gc_runs"] / served.times_ns.size


def _strided(drives: Drives, distance: int) -> Served:
    device = drives.fork(DRIVE)
    before = 40 * BLOCK // distance
    write(device, np.arange(before) * distance, SMALL)
    return write(device, (before + np.arange(48)) * distance, SMALL)


def _mean(steps: Sequence[int]) -> float:
    return float(np.mean(steps)) if steps else float("nan")


def _rising(shares: Sequence[float]) -> bool:
    return all(one <= other for one, other in pairwise(shares))
