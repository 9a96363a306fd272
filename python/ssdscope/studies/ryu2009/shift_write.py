"""Figures 5 and 7: what an update costs by where it lies, counted and timed.

Figure 7 is the raw sweep of figure 6: response time of a write by how far it is shifted. The paper
draws A alone and says of the others that they show their blocks as well. The runs are those of the
detector, here on the presets as they are: over the host of figure 13, A's blocks not where the
drive begins, B with all its log blocks. The block is found by folding: the shortest period that
explains the points about as well as any does.

For figure 5 the drives count what they program and move. Nothing is collected: only the copying of
the rests of blocks is left, on B by merges, of which each update here starts one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Sweep
from ssdscope.studies.measuring import at, counted, in_columns, joined
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import DRIVES, KIB, NO_GC, A, B, Bench, C, Subject
from ssdscope.studies.ryu2009.detecting import SWEEPS
from ssdscope.targets import Device

EXPLAINED = 0.7
"""There is a period if one explains this share of the variance, adjusted for its phases."""
AS_GOOD = 0.05
"""Multiples of a period explain as much: the shortest within this of the best is it."""
FLAT = 0.02
"""Points that differ by less than this share have no period."""
LONGEST = 64
"""Positions of the longest period that is looked for."""
SETTLING = 16
"""The first positions are written but do not count: log blocks remember what was before."""
CHUNKS, CHUNK_BYTES = 32, 256 * KIB
"""Of the sweeps that look at each position."""

DRAWN = tuple(
    (replace(subject, sets=()), sweep)
    for subject in DRIVES
    for sweep in sorted(SWEEPS[subject.label], key=lambda sweep: sweep.write_bytes)
)
"""Each drive as its preset is, with the sweeps of the detector."""


@dataclass(frozen=True)
class Points:
    """Mean response time at every position of both passes, and the period found in them.

    Attributes
    ----------
    mean_ns
        Over the chunks; the second pass follows the first, shape (2 * positions,).
    """

    subject: Subject
    sweep: Sweep
    mean_ns: npt.NDArray[np.float64]

    @property
    def settled_ns(self) -> npt.NDArray[np.float64]:
        """What counts."""
        return self.mean_ns[min(SETTLING, len(self.mean_ns) // 2) :]

    @property
    def period_bytes(self) -> int | None:
        """The shortest period that explains the points; None if there is none."""
        values = np.log(self.settled_ns)
        if np.ptp(values) < FLAT:
            return None
        periods = range(2, min(len(values) // 2, LONGEST) + 1)
        explained = [_explained(values, steps) for steps in periods]
        best = max(explained)
        if best < EXPLAINED:
            return None
        pairs = zip(periods, explained, strict=True)
        steps = next(steps for steps, share in pairs if share >= best - AS_GOOD)
        return steps * self.sweep.shift_bytes


def _explained(values: npt.NDArray[np.float64], steps: int) -> float:
    """Give the share of the variance between phases, adjusted for how many there are."""
    total = float(np.sum((values - values.mean()) ** 2))
    if total == 0:
        return 0.0
    folded = [values[phase::steps] for phase in range(steps)]
    rest = sum(float(np.sum((each - each.mean()) ** 2)) for each in folded)
    return 1 - rest / (len(values) - steps) / (total / (len(values) - 1))


def run_sweep(bench: Bench, subject: Subject, sweep: Sweep) -> Points:
    """Write every position in every chunk, twice, one request at a time."""
    return Points(subject, sweep, bench.sweep(subject, sweep).mean(axis=2).ravel())


def figure_7(bench: Bench, progress: StageProgress) -> Measured:
    """Run every sweep, each on a copy of its drive; then look at each position of A."""
    points = []
    for subject, sweep in DRAWN:
        points.append(run_sweep(bench, subject, sweep))
        progress(f"figure 7: {subject.label}", len(points) / len(DRAWN))
    return measured(points, {f"where: {case}": where(bench, case) for case in WHERE})


def measured(points: Sequence[Points], more: dict[str, Reading], *notes: str) -> Measured:
    """Return the period of each sweep, and on which side of the median A's exceptions are."""
    read = {}
    for each in points:
        sizes = f"{each.sweep.write_bytes // KIB} KB shifted by {each.sweep.shift_bytes // KIB} KB"
        label = each.subject.label
        read[f"period of {label[-1]}: {label}: writes of {sizes}"] = period(each)
    read |= dict(shape(each) for each in points if each.subject.label == A.label)
    return Measured(read | more, partial(pictures.shifted, points), columns(points), notes)


def period(points: Points) -> Reading:
    """Return the period in KB."""
    found = points.period_bytes
    return Reading("nothing" if found is None else found // KIB, 0.0 if found is None else None)


def shape(points: Points) -> tuple[str, Reading]:
    """Ask whether writes below a block are slower once in it, and larger ones faster."""
    mean = points.settled_ns
    size = points.sweep.write_bytes
    rises = mean.max() - mean.mean() > mean.mean() - mean.min()
    small = size < (points.subject.paper_bytes or 0)
    words = "slower" if small else "faster"
    said = f"{mean.min() / 1e3:,.0f} to {mean.max() / 1e3:,.0f} us, mean {mean.mean() / 1e3:,.0f}"
    holds = bool(rises) == small and points.period_bytes is not None
    what = f"A: writes of {size // KIB} KB are {words} once a block"
    return f"shape: {what}", Reading(f"{said} us", holds)


WHERE = {
    "4 KB, blocks begin with the drive": (4, 0),
    "4 KB, blocks begin 4 KB before": (4, 4),
    "16 KB, blocks begin with the drive": (16, 0),
    "32 KB, blocks begin with the drive": (32, 0),
}
"""Size of the writes, and how far the drive begins within a block, in KB."""


def where(bench: Bench, case: str) -> Reading:
    """Say at which positions writes are slow, and what is copied there: on A, by 2 KB.

    A position is slow if it takes longer than halfway between the fastest and the slowest.
    """
    size, phase = (kib * KIB for kib in WHERE[case])
    block = A.paper_bytes or 0
    sets = (*A.sets, f"ftl.phase_bytes={phase}", NO_GC, "nand.blocks_per_plane=512")
    shifts = np.arange(0, CHUNK_BYTES - size, 2 * KIB)
    times, copied = [], []
    device = bench.open(A.drive, sets, "sequential")
    for shift in shifts:
        places = shift + np.arange(CHUNKS) * CHUNK_BYTES
        took, grown = counted(device.fork(), at, "write", places, size)
        times.append(took)
        copied.append(grown["flash_bytes_programmed"] / CHUNKS / KIB - size / KIB)
    slow = np.array(times) > (min(times) + max(times)) / 2
    # Blocks that a write touches only in part have to be copied.
    first, last = (shifts + phase) % block, (shifts + phase + size) % block
    touched = (shifts + phase + size - 1) // block - (shifts + phase) // block + 1
    expected = touched > 1 if size < block else (first > 0) | (last > 0)
    right = int(np.sum(slow == expected))
    fast, long = (sorted({round(c) for c in np.array(copied)[each]}) for each in (~slow, slow))
    said = (
        f"{right} of {slow.size} positions as said; KB copied where fast {joined(fast)}, where "
        f"slow {joined(long)}"
    )
    return Reading(said, right / slow.size if max(fast) < min(long) else 0.0)


def columns(points: Sequence[Points]) -> Columns:
    """Return every point."""
    rows = [
        (each.subject.label, each.sweep.write_bytes, turn, place * each.sweep.shift_bytes, float(v))
        for each in points
        for turn, means in enumerate(np.split(each.mean_ns, 2))
        for place, v in enumerate(means)
    ]
    return in_columns("drive write_bytes pass offset_bytes mean_ns", rows)


COUNT = 200
UPDATES_KIB: Mapping[str, tuple[float, ...]] = {
    A.label: (2, 4, 8),
    B.label: (4, 64, 512),
    C.label: (1, 2),
}
"""All smaller than the block."""
SETS: Mapping[str, tuple[str, ...]] = {
    A.label: (*A.sets, NO_GC, "nand.blocks_per_plane=512"),
    B.label: (*B.sets, "nand.blocks_per_plane=1024", "ftl.log_blocks=16"),
    C.label: (NO_GC, "nand.blocks_per_plane=256", "write_buffer.bytes=0"),
}
SECTOR = 512


def figure_5(bench: Bench, progress: StageProgress) -> Measured:
    """Update within a block and across two; then whole blocks, and single sectors."""
    points: list[tuple[str, float, str, float, float]] = []
    read: dict[str, Reading] = {}
    for done, subject in enumerate((A, B, C), start=1):
        device = bench.open(subject.drive, SETS[subject.label], "sequential")
        block = subject.paper_bytes or 0
        rows = [
            (subject.label, kib, place, *copies(device, subject, int(kib * KIB), at_bytes))
            for kib in UPDATES_KIB[subject.label]
            for place, at_bytes in (("within", 0), ("across", block - int(kib * KIB) // 2))
        ]
        points += rows
        by_size = {(kib, place): kb for _, kib, place, kb, _ in rows}
        ratios = [by_size[kib, "across"] / by_size[kib, "within"]
                  for kib in UPDATES_KIB[subject.label]]  # fmt: skip
        text = ", ".join(
            f"{by_size[kib, 'within']:.4g} and {by_size[kib, 'across']:.4g} KB of {kib:g} KB "
            f"({ratio:.2f} times)"
            for kib, ratio in zip(UPDATES_KIB[subject.label], ratios, strict=True)
        )
        read[f"two blocks: {subject.label}"] = Reading(f"copied within and across: {text}", ratios)
        read[f"whole blocks: {subject.label}"] = whole(device, subject, by_size)
        read |= sector(device, subject)
        progress(f"figure 5: {subject.label}", done / 3)
    columns = in_columns("drive write_kib place copied_kib mean_us", points)
    return Measured(read, partial(pictures.copied, points), columns)


def copies(device: Device, subject: Subject, size_bytes: int, at_bytes: int) -> tuple[float, float]:
    """Return the KB copied for one update, each in blocks of its own, and its time in us."""
    block = subject.paper_bytes or 0
    step = 2 * block if subject == B else max(4 * block, 64 * KIB)
    places = at_bytes + np.arange(COUNT) * step
    took, grown = counted(device.fork(), at, "write", places, size_bytes)
    own = size_bytes
    if subject == B:  # a log block takes whole pages, and a merge copies the others
        own = max(size_bytes, (1 if at_bytes == 0 else 2) * subject.page_bytes)
    return (grown["flash_bytes_programmed"] / COUNT - own) / KIB, took


def whole(device: Device, subject: Subject, smaller: Mapping[tuple[float, str], float]) -> Reading:
    """Return what whole blocks copy over the least that smaller writes do."""
    block = subject.paper_bytes or 0
    kb, _ = copies(device, subject, block, 0)
    least = min(each for (_, place), each in smaller.items() if place == "within")
    said = f"{least:.4g} KB or more of smaller writes, {max(kb, 0):.4g} KB of {block // KIB} KB"
    return Reading(said, max(kb, 0) / least if least > 0 else float("nan"))


def sector(device: Device, subject: Subject) -> dict[str, Reading]:
    """Write one sector over and over: pages programmed for each, and KB programmed in all."""
    _, grown = counted(device.fork(), at, "write", np.zeros(COUNT, dtype=int), SECTOR)
    kib = float(grown["flash_bytes_programmed"] / COUNT / KIB)
    pages = kib * KIB / subject.page_bytes
    return {
        f"out of place: {subject.label}": Reading(f"{pages:.3g} pages for one sector", pages),
        f"a new block: {subject.label}": Reading(round(kib, 3), kib),
    }
