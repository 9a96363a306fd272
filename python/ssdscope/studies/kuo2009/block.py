"""Figures 14 and 31: writes of whole effective blocks, by their size and their place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.studies.judging import SIMILAR_WITHIN
from ssdscope.studies.kuo2009 import pictures
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    Drives,
    Times,
    multiples,
    periods,
    slow,
    write,
)
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, number, stated
from ssdscope.studies.record import Claim, FigureResult

DRIVE = "transcend-slc"
BLOCK = MIB
"""The effective block of the drive, as the paper found it (figure 30)."""
DISTANCE = 64 * MIB
"""From one write to the next, as in the paper's table 3."""
WRITES = 48
SETTLED = 24
"""Writes left out: after them every log block is in use."""
LEAST_BYTES = WRITES * DISTANCE
"""What a drive must hold for such writes."""
SMALL = 4 * KIB


@dataclass(frozen=True)
class Point:
    """Writes of one size at one place, 64 MB apart.

    Attributes
    ----------
    rate
        Bytes per second.
    moved
        Pages that collection moved for each write; NaN if the drive does not say.
    """

    size: int
    shift: int
    rate: float
    moved: float

    @property
    def whole(self) -> bool:
        """Whether the write covers whole effective blocks and nothing else."""
        return self.size % BLOCK == 0 and self.shift % BLOCK == 0


def sweep(drives: Drives, sizes: Sequence[int], shifts: Sequence[int]) -> list[Point]:
    """Write every size at every place, from the same state each time."""
    return [_point(drives, size, shift) for size in sizes for shift in shifts]


def _point(drives: Drives, size: int, shift: int) -> Point:
    device = drives.fork(DRIVE)
    offsets = np.arange(WRITES) * DISTANCE + shift
    write(device, offsets[:SETTLED], size)
    served = write(device, offsets[SETTLED:], size)
    seconds = served.times_ns.sum() / 1e9
    count = WRITES - SETTLED
    moved = served.counts.get("gc_pages_moved", float("nan")) / count
    return Point(size, shift, count * size / seconds, moved)


def figure_14(drives: Drives, binder: Binder) -> FigureResult:
    """Draw throughput by size (A), and by place (B)."""
    by_size = sweep(drives, multiples(128 * KIB, 128 * KIB, 4 * MIB), [0])
    by_place = sweep(drives, [BLOCK], multiples(64 * KIB, 0, BLOCK))
    rows = claims_14(by_size, by_place)
    picture = pictures.two_rates(
        by_size, by_place, BLOCK, ("(A) aligned, by size", "(B) one block, by place")
    )
    return hand_in("14", rows, picture, _columns([*by_size, *by_place]), binder)


def claims_14(by_size: Sequence[Point], by_place: Sequence[Point]) -> list[Claim]:
    """Ask whether whole effective blocks stand out, by size and by place."""
    return [
        _whole_are_fastest("(A) writes of whole effective blocks, aligned", by_size),
        _nothing_moved("(A) whole blocks are switched, others have data moved", by_size),
        _whole_are_fastest("(B) writes of one effective block that begin at its edge", by_place),
    ]


def _whole_are_fastest(what: str, points: Sequence[Point]) -> Claim:
    least = min(each.rate for each in points if each.whole)
    most = max(each.rate for each in points if not each.whole)
    return stated(
        what,
        "fastest",
        f"at least {least / 1e6:.1f} MB/s; all others at most {most / 1e6:.1f} MB/s",
        least > most,
    )


def _nothing_moved(what: str, points: Sequence[Point]) -> Claim:
    whole = max(each.moved for each in points if each.whole)
    others = min(each.moved for each in points if not each.whole)
    return stated(
        what,
        "no copies; copies",
        f"{whole:g} pages moved for a write; at least {others:g}",
        whole == 0 < others,
    )


def _columns(points: Sequence[Point]) -> Columns:
    return {
        "size_bytes": [each.size for each in points],
        "shift_bytes": [each.shift for each in points],
        "bytes_per_s": [each.rate for each in points],
        "pages_moved_per_write": [each.moved for each in points],
    }


def figure_31(drives: Drives, binder: Binder) -> FigureResult:
    """Draw throughput by place (A), and which of many writes to one place collect (B)."""
    by_place = sweep(drives, [BLOCK], multiples(64 * KIB, 0, 4 * MIB))
    times = write(drives.fork(DRIVE), np.zeros(1200), SMALL).times_ns
    rows = claims_31(by_place, times)
    columns = _columns(by_place)
    return hand_in("31", rows, pictures.places_and_periods(by_place, times, BLOCK), columns, binder)


def claims_31(by_place: Sequence[Point], times: Times) -> list[Claim]:
    """Hold writes by their place, and updates of one place, against the paper's words."""
    aligned = min(each.rate for each in by_place if each.whole)
    drop = max(each.rate for each in by_place if not each.whole) / aligned
    spans = [step * SMALL for step in periods(slow(times))]
    return [
        stated(
            "(A) writes of 1 MB that do not begin at a multiple of 1 MB",
            "far slower",
            f"at most {100 * drop:.0f} % of the rate at multiples",
            drop < 1 / SIMILAR_WITHIN,
        ),
        number(
            "(B) one place updated again and again: data written from one collection to the next",
            BLOCK / KIB,
            float(np.median(spans)) / KIB if spans else float("nan"),
            "KB",
        ),
        stated(
            "(B) collections come steadily",
            "very steadily",
            f"{len(spans)} intervals from {min(spans) // KIB} KB to {max(spans) // KIB} KB"
            if spans
            else "none seen",
            len(set(spans)) == 1,
        ),
    ]
