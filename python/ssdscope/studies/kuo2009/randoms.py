"""Figures 9, 15, 32 and 33: small writes, and when they collect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    GIB,
    KIB,
    MIB,
    Drives,
    Served,
    Times,
    number,
    numbers,
    periods,
    size,
    slow,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading

DRIVE = "transcend-slc"
BLOCK = MIB
SMALL = 4 * KIB


def random_writes(drives: Drives, name: str, range_bytes: int, count: int) -> Served:
    """Write 4 KB at random places of the drive's first bytes."""
    offsets = drives.random(name).integers(0, range_bytes // SMALL, count) * SMALL
    return write(drives.fork(DRIVE), offsets, SMALL)


def _dots(label: str | None, times: Times, index: int) -> Line:
    return Line(label, range(1, times.size + 1), times / 1e6, index, 2.5, dash="")


def figure_9(drives: Drives, _: StageProgress) -> Measured:
    """Compare random writes of 4 KB with sequential ones of 2 MB, and a document with a film."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    small = random_writes(drives, "9", capacity, drives.long(300))
    large = write(drives.fork(DRIVE), np.arange(drives.long(150)) * 2 * MIB, 2 * MIB).times_ns
    found = against_large(small.times_ns, large)
    if drives.target is None:
        found["merges, share of time"] = number(small.share("merge"))
    used = drives.fork(DRIVE)
    places = drives.random("9 document").integers(0, capacity // SMALL, 32) * SMALL
    write(used, places[:16], SMALL)
    document = write(used, places[16:], SMALL).times_ns.sum()
    media = write(used, capacity // 2 // MIB * MIB, 512 * KIB).times_ns.sum()
    found["document, media"] = number(document / media)
    columns: Columns = {
        "what": ["random 4 KB"] * small.times_ns.size + ["sequential 2 MB"] * large.size,
        "response_ns": np.concatenate([small.times_ns, large]).tolist(),
    }
    drawn = [_dots("random writes of 4 KB", small.times_ns, 1),
             _dots("sequential writes of 2 MB", large, 0)]  # fmt: skip
    panel = Panel("", drawn, "request", "response time (ms)", legend="upper right")
    return Measured(found, lambda: in_panels([panel], width=5.6), columns)


def against_large(small: Times, large: Times) -> dict[str, Reading]:
    """Compare random writes of 4 KB with sequential ones of 2 MB, the first third left out."""
    one, other = (float(each[each.size // 3 :].mean()) for each in (small, large))
    collects = float(slow(small)[small.size // 3 :].mean())
    return numbers({"random, sequential": one / other, "random, collect": collects})


def figure_15(drives: Drives, _: StageProgress) -> Measured:
    """Write at random in one block, and over the drive."""
    capacity = drives.fork(DRIVE).info.capacity_bytes
    inside = random_writes(drives, "15 inside", BLOCK, drives.long(1024))
    over = random_writes(drives, "15 over", capacity, drives.long(400))
    runs = {"random within 1 MB": inside, "random over the drive": over}
    columns: Columns = {
        "where": [name for name, each in runs.items() for _ in range(each.times_ns.size)],
        "offset_bytes": [int(at) for each in runs.values() for at in each.log.offset_bytes],
        "response_ns": [int(time) for each in runs.values() for time in each.times_ns],
    }
    scales = ((KIB, "KB"), (GIB, "GB"))
    above = [
        Panel(head, [Line(None, range(1, each.times_ns.size + 1), each.log.offset_bytes / scale, 7,
              2.5, dash="")], "", f"address ({unit})")
        for (head, each), (scale, unit) in zip(runs.items(), scales, strict=True)
    ]  # fmt: skip
    below = [
        Panel("", [_dots(None, each.times_ns, index)], "request", "response time (ms)", log=True)
        for index, each in enumerate(runs.values())
    ]
    return Measured(
        within_and_over(inside.times_ns, over.times_ns, over.counts["gc_runs"]),
        lambda: in_panels([*above, *below], rows=2, height=2.5),
        columns,
    )


def within_and_over(inside: Times, over: Times, collected: int) -> dict[str, Reading]:
    """Read off how long a log block lasts within a block, and over the drive.

    Parameters
    ----------
    collected
        Log blocks that were collected during the writes over the drive.
    """
    late = slow(over)
    onset = int(np.argmax(late)) if late.any() else over.size - 1
    after = float(late[onset:].mean())
    used = (over.size - onset) / max(collected, 1) / (BLOCK // SMALL)
    return {
        "within a block": number(_mean(periods(slow(inside)))),
        "over the drive": Reading(
            f"from write {onset + 1} on {100 * after:.0f} % of the writes", after
        ),
        "over the drive, unused": number(100 * (1 - used)),
    }


RANGES = tuple(64 * KIB << step for step in range(14))
"""From a part of an effective block to half a GB."""
WALK_BYTES = 64 * MIB


@dataclass(frozen=True)
class Range:
    """Random writes within a range."""

    bytes: int
    mean_ns: float
    median_ns: float


def figure_32(drives: Drives, _: StageProgress) -> Measured:
    """Write at random within ranges, and on walks whose steps stay below an effective block."""
    sequential = write(drives.fork(DRIVE), np.arange(1536) * SMALL, SMALL).times_ns
    whole = float(sequential[512:].mean())
    ranges = [_range(drives, each) for each in RANGES]
    found = by_range(ranges, whole) | {"by distance": number(_walk(drives) / whole)}
    columns: Columns = {
        "range_bytes": [each.bytes for each in ranges],
        "mean_ns": [each.mean_ns for each in ranges],
        "median_ns": [each.median_ns for each in ranges],
    }
    drawn = [
        Line(label, columns["range_bytes"], np.array(columns[f"{label}_ns"]) / 1e6, index, 4)
        for label, index in (("mean", 1), ("median", 0))
    ]
    panel = Panel("", drawn, "range of random writes of 4 KB (bytes)", "response time (ms)",
                  sizes=True, log=True, marks=[(BLOCK, "effective block")],
                  level=(whole / 1e6, "sequential, mean"), legend="center left")  # fmt: skip
    return Measured(found, lambda: in_panels([panel], width=5.6), columns)


def by_range(ranges: Sequence[Range], whole_ns: float) -> dict[str, Reading]:
    """Compare random writes by their range with sequential ones, which take `whole_ns`."""
    inside = max(each.mean_ns for each in ranges if each.bytes <= BLOCK)
    knee = slow_from(ranges, whole_ns)
    where = "nowhere" if knee is None else f"between {size(knee / 2)} and {size(knee)}"
    return {
        "by range, within": number(inside / whole_ns),
        "by range, beyond": number(ranges[-1].mean_ns / whole_ns),
        "by range, where": Reading(where, float("nan") if knee is None else knee / BLOCK),
    }


def slow_from(ranges: Sequence[Range], whole_ns: float) -> int | None:
    """Give the first range whose writes are nearer to the slowest than to sequential ones."""
    border = max(float(np.sqrt(whole_ns * ranges[-1].mean_ns)), 2 * whole_ns)
    late = [each.bytes for each in ranges if each.mean_ns > border]
    return late[0] if late else None


def _range(drives: Drives, within: int) -> Range:
    # Enough to fill the log blocks of the range; wide ranges collect in every write.
    count = drives.long(max(1536, 3 * within // SMALL) if within <= 16 * BLOCK else 384)
    times = random_writes(drives, f"32 {within}", within, count).times_ns[count // 3 :]
    return Range(within, float(times.mean()), float(np.median(times)))


def _walk(drives: Drives) -> float:
    """Write 4 KB at places of which each is less than an effective block from the last one."""
    steps = drives.random("32 walk").integers(1 - BLOCK // SMALL, BLOCK // SMALL, drives.long(1536))
    places = np.cumsum(steps) * SMALL % WALK_BYTES
    return float(write(drives.fork(DRIVE), places, SMALL).times_ns[512:].mean())


def figure_33(drives: Drives, _: StageProgress) -> Measured:
    """Count which writes collect when each is a fixed distance from the one before."""
    distances = [BLOCK // 8, BLOCK // 4, BLOCK // 2, BLOCK, 2 * BLOCK]
    runs = {each: _strided(drives, each) for each in distances}
    # By the counts of the drive: which share of the writes waited for collection.
    shares = {each: run.counts["gc_runs"] / run.times_ns.size for each, run in runs.items()}
    columns: Columns = {
        "distance_bytes": [each for each, run in runs.items() for _ in range(run.times_ns.size)],
        "response_ns": [int(time) for run in runs.values() for time in run.times_ns],
    }
    top = max(int(run.times_ns.max()) for run in runs.values()) / 1e6
    panels = [
        Panel(f"every {size(each)}\n({each / BLOCK:g} blocks)", [_dots(None, run.times_ns, 1),
              Line(None, [1], [top], 1, 0, 0)], "request", "response time (ms)")
        for each, run in runs.items()
    ]  # fmt: skip
    return Measured(
        by_distance(_mean(periods(slow(runs[BLOCK // 2].times_ns))), shares),
        lambda: in_panels(panels, width=2.4, height=2.6),
        columns,
    )


def by_distance(half: float, shares: Mapping[int, float]) -> dict[str, Reading]:
    """Read off how often writes collect.

    Parameters
    ----------
    half
        Writes from one collection to the next at a distance of half a block; NaN if none was seen.
    shares
        Collections for each write, by distance.
    """
    every = list(shares.values())
    rising = every[0] < every[-1] and all(one <= other for one, other in pairwise(every))
    said = ", ".join(f"{size(each)}: {100 * share:.0f} %" for each, share in shares.items())
    return {
        "half a block apart": number(half),
        "a block apart": number(1 / shares[BLOCK] if shares[BLOCK] else float("nan")),
        "farther apart": Reading(said, rising),
    }


def _strided(drives: Drives, distance: int) -> Served:
    device = drives.fork(DRIVE)
    before = 40 * BLOCK // distance
    write(device, np.arange(before) * distance, SMALL)
    return write(device, (before + np.arange(drives.long(48))) * distance, SMALL)


def _mean(steps: Sequence[int]) -> float:
    return float(np.mean(steps)) if steps else float("nan")
