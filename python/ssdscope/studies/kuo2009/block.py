"""Figures 14 and 31: writes of whole effective blocks; and effective blocks of other sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    Drives,
    Times,
    multiples,
    number,
    numbers,
    periods,
    size,
    slow,
    span,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading

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
    moved, switched
        Pages that collection moved for each write, and blocks that it switched; NaN if the drive
        does not say.
    """

    size: int
    shift: int
    rate: float
    moved: float
    switched: float

    @property
    def whole(self) -> bool:
        """Whether the write covers whole effective blocks and nothing else."""
        return self.size % BLOCK == 0 and self.shift % BLOCK == 0


def sweep(drives: Drives, sizes: Sequence[int], shifts: Sequence[int]) -> list[Point]:
    """Write every size at every place, from the same state each time."""
    return [_point(drives, each, shift) for each in sizes for shift in shifts]


def _point(drives: Drives, length: int, shift: int) -> Point:
    device = drives.fork(DRIVE)
    offsets = np.arange(WRITES) * DISTANCE + shift
    write(device, offsets[:SETTLED], length)
    served = write(device, offsets[SETTLED:], length)
    moved, switched = (
        served.counts.get(name, float("nan")) / (WRITES - SETTLED)
        for name in ("gc_pages_moved", "switch")
    )
    return Point(length, shift, served.rate, moved, switched)


def figure_14(drives: Drives, _: StageProgress) -> Measured:
    """Measure throughput by size (A), and by place (B)."""
    by_size = sweep(drives, multiples(128 * KIB, 128 * KIB, 4 * MIB), [0])
    by_place = sweep(drives, [BLOCK], multiples(64 * KIB, 0, BLOCK))
    found = numbers(
        {
            "whole blocks, by size": _advantage(by_size),
            "whole blocks, by place": _advantage(by_place),
            "whole blocks, copies": max(each.moved for each in by_size if each.whole),
            "other sizes, copies": min(each.moved for each in by_size if not each.whole),
        }
    )
    panels = (
        _panel(by_size, "size", "(A) beginning at the edge of an effective block"),
        _panel(by_place, "shift", f"(B) writes of {size(BLOCK)} by place"),
    )
    return Measured(found, lambda: in_panels(panels), _columns([*by_size, *by_place]))


def _advantage(points: Sequence[Point]) -> float:
    """Return the least rate of whole blocks over the most of all others."""
    others = max(each.rate for each in points if not each.whole)
    return min(each.rate for each in points if each.whole) / others


def _panel(points: Sequence[Point], by: str, head: str) -> Panel:
    every = [(getattr(each, by) / MIB, each.rate / 1e6, each.whole) for each in points]
    drawn = [
        Line(label, [x for x, _, is_so in every if is_so in kinds],
             [y for _, y, is_so in every if is_so in kinds], index, 3, 1.2, dash)
        for label, kinds, index, dash in (
            (None, (True, False), 0, "-"),
            (f"whole effective blocks of {size(BLOCK)}", (True,), 1, ""),
        )
    ]  # fmt: skip
    name = {"size": "written at once (MB)", "shift": "begins at (MB)"}[by]
    return Panel(head, drawn, name, "throughput (MB/s)", legend="lower right")


def _columns(points: Sequence[Point]) -> dict[str, list[float]]:
    return {
        "size_bytes": [each.size for each in points],
        "shift_bytes": [each.shift for each in points],
        "bytes_per_s": [each.rate for each in points],
        "pages_moved_per_write": [each.moved for each in points],
        "switched_per_write": [each.switched for each in points],
    }


def figure_31(drives: Drives, _: StageProgress) -> Measured:
    """Measure throughput by place (A), and which of many writes to one place collect (B)."""
    by_place = sweep(drives, [BLOCK], multiples(64 * KIB, 0, 4 * MIB))
    times = write(drives.fork(DRIVE), np.zeros(drives.long(1200)), SMALL).times_ns
    found = of_places(by_place, times)
    if drives.target is None:
        found |= numbers(
            {
                "at edges, switched": min(each.switched for each in by_place if each.whole),
                "off edges, switched": max(each.switched for each in by_place if not each.whole),
            }
        )
    requests = Line(None, range(1, times.size + 1), times / 1e6, 0, 2, dash="")
    panels = (
        _panel(by_place, "shift", f"(A) writes of {size(BLOCK)} by place"),
        Panel("(B) one place updated again and again, 4 KB each", [requests], "request",
              "response time (ms)"),
    )  # fmt: skip
    return Measured(found, lambda: in_panels(panels), _columns(by_place))


def of_places(by_place: Sequence[Point], times: Times) -> dict[str, Reading]:
    """Read off what places cost, and how often one place is collected."""
    spans = [step * SMALL / KIB for step in periods(slow(times))]
    even = max(spans) / min(spans) if spans else float("nan")
    return numbers(
        {
            "off edges, slower": _advantage(by_place),
            "one place, span": float(np.median(spans)) if spans else float("nan"),
            "one place, steady": even,
        }
    )


SIZES = tuple(MIB // 4 << step for step in range(5))
"""Effective blocks of 256 KB to 4 MB: as many pages in a physical block as make it up."""
LOG_SPACE = 16 * MIB
HOT = 16
"""Places far apart that are updated in turn."""


def _of_size(unit: int, logs: int) -> tuple[str, ...]:
    return (
        f"ftl.merge_unit_bytes={unit}",
        f"nand.pages_per_block={unit // (8 * 2 * KIB)}",
        f"nand.blocks_per_plane={64 * 16384 * 16 * KIB // unit}",
        f"ftl.log_blocks={logs}",
        "map.kind=ram",
    )


def block_sizes(drives: Drives, _: StageProgress) -> Measured:
    """Change the effective block: how often it collects, and how many blocks are left for logs."""
    collected, knees, rates, runs = [], [], [], []
    hot = np.arange(drives.long(2048)) % HOT * DISTANCE
    for unit in SIZES:
        one = write(drives.fork(DRIVE, *_of_size(unit, 1)), np.zeros(4 * unit // SMALL), SMALL)
        collected.append(4 * unit / one.counts["gc_runs"])
        knees.append(_knee(drives, unit))
        spread = write(drives.fork(DRIVE, *_of_size(unit, LOG_SPACE // unit)),
                       hot + np.arange(hot.size) // HOT * SMALL % (unit // 2), SMALL)  # fmt: skip
        runs.append(spread.counts["gc_runs"] / hot.size)
        rates.append(spread.rate)
    found = {
        "block size, collection": span(
            each / unit for each, unit in zip(collected, SIZES, strict=True)
        ),
        "block size, range": span(knee / unit for knee, unit in zip(knees, SIZES, strict=True)),
        "block size, too few logs": number(runs[-1]),
        "block size, enough logs": number(max(runs[:3])),
        "block size, rate": number(min(rates[:3]) / rates[-1]),
    }
    columns: Columns = {
        "effective_block_bytes": list(SIZES),
        "bytes_between_collections": collected,
        "slow_beyond_bytes": knees,
        "log_blocks_of_16_mb": [LOG_SPACE // unit for unit in SIZES],
        "collections_per_write": runs,
        "bytes_per_s": rates,
    }
    panels = (
        Panel("one log block", [Line("data from one collection to the next (MB)", SIZES,
              [each / MIB for each in collected], 0), Line("range of fast random writes (MB)",
              SIZES, [each / MIB for each in knees], 1)], "effective block", sizes=True,
              legend="upper left"),
        Panel(f"log blocks of 16 MB in all, {HOT} places in turn",
              [Line(None, SIZES, runs, 1)], "effective block", "collections for each write",
              sizes=True),
    )  # fmt: skip
    return Measured(found, lambda: in_panels(panels), columns)


def _knee(drives: Drives, unit: int) -> float:
    """Return the widest range of random writes that one log block takes without much collection."""
    ranges = [unit // 2, unit, 2 * unit, 4 * unit]
    device = [drives.fork(DRIVE, *_of_size(unit, 1)) for _ in ranges]
    calm = [
        within
        for within, each in zip(ranges, device, strict=True)
        if write(each, drives.random("blocks").integers(0, within // SMALL, 600) * SMALL, SMALL)
        .counts["gc_runs"] < 0.1 * 600
    ]  # fmt: skip
    return float(max(calm, default=0))
