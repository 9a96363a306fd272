"""Figures 3 to 7: one characteristic of a workload varied at a time, on three drives.

The paper's defaults for what does not vary: reads only (or writes only, where writes are the
subject), queue depth 1, requests of 256 KB, all of them at random places. Runs are made as those
of the whole grid are (`grid`): each on a copy of a drive that was in use, from a random offset. It
counts once the drive's buffer is full, and ends when the mean latency is known to 1 %, or after a
minute.

The paper does not say how much of a drive its requests fell into. On the disk 256 KB at a random
place took about 10 ms, of which half a revolution is 5.6 and the transfer 3 to 4: its arm moved
little. Here all drives are asked in as many bytes as the smallest of them, SSD_S, has.

Any other drive can be measured the same way, as far as it takes such requests.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.targets import Device, Target, open_target
from ssdscope.workloads import filling, grid, measuring
from ssdscope.workloads.grid import FILLED_STOP, KIB, Row, Stop, Vector

DRIVES = {"SSD_I": "huang-ssd-i", "SSD_S": "huang-ssd-s", "HDD_S": "huang-hdd-s"}
SIZE = 256 * KIB
READS = Vector(0, 1, SIZE, SIZE, wr_rand=100, rd_rand=100)
WRITES = replace(READS, wr_ratio=100)
RATIOS = tuple(range(0, 101, 10))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
SIZES = tuple(kib * KIB for kib in (1, 4, 16, 64, 256))
PATTERNS = ("sequential", "random", "stride")
STRIDE = 64 * KIB
WALL_STOP = Stop(until_ci=0.03, runtime_ns=6_000_000_000)
FAST_LINK = 265_000_000
REGION_BYTES = 32 << 30
"""Where requests fall: the size of the smallest drive."""
LEAST_BYTES = max(DEPTHS) * SIZE
"""What a drive must hold: as much as the deepest run of figure 4 has in flight."""


@dataclass(frozen=True)
class Curve:
    """One line of a figure: a drive, and what is varied.

    Attributes
    ----------
    name
        What else tells it from the other lines of the drive: the direction, the pattern.
    x
        Values of the characteristic that is varied.
    """

    figure: str
    device: str
    name: str
    x: tuple[int, ...]
    vectors: tuple[Vector, ...]


Rows = Mapping[Curve, Sequence[Row]]


def curves(figure: str) -> list[Curve]:
    """List the lines of a figure; figures 6 and 7 are of the same runs."""
    return [each for device in DRIVES for each in _of_device(figure, device)]


def curves_on(figure: str, target: Target) -> list[Curve]:
    """List the lines of a figure for any drive, of the points whose requests it takes."""
    lines = []
    for line in _of_device(figure, target.uri):
        fitting = [
            (x, vector)
            for x, vector in zip(line.x, line.vectors, strict=True)
            if vector.fits(target.device.info)
        ]
        if fitting:
            values, vectors = zip(*fitting, strict=True)
            lines.append(replace(line, x=values, vectors=vectors))
    return lines


def _of_device(figure: str, device: str) -> list[Curve]:
    def line(name: str, x: Sequence[int], vectors: Sequence[Vector]) -> Curve:
        return Curve(figure, device, name, tuple(x), tuple(vectors))

    if figure == "3":
        return [line("mixed", RATIOS, [replace(READS, wr_ratio=ratio) for ratio in RATIOS])]
    if figure == "4":
        return [
            line(name, DEPTHS, [replace(base, q_dep=depth) for depth in DEPTHS])
            for name, base in (("reads", READS), ("writes", WRITES))
        ]
    if figure == "5":
        return [
            line("reads", SIZES, [replace(READS, rd_size=size) for size in SIZES]),
            line("writes", SIZES, [replace(WRITES, wr_size=size) for size in SIZES]),
        ]
    return [
        line(f"{name}, {pattern}", SIZES, [_patterned(base, pattern, size) for size in SIZES])
        for name, base in (("reads", READS), ("writes", WRITES))
        for pattern in PATTERNS
    ]


def _patterned(base: Vector, pattern: str, size: int) -> Vector:
    percent = 100 if pattern == "random" else 0
    stride = STRIDE if pattern == "stride" else 0
    return replace(
        base,
        rd_size=size,
        wr_size=size,
        rd_rand=percent,
        wr_rand=percent,
        rd_stride=stride,
        wr_stride=stride,
    )


def measure(
    wanted: Sequence[Curve], seed: int, progress: StageProgress, stop: Stop = FILLED_STOP
) -> dict[Curve, list[Row]]:
    """Run lines of figures on the paper's drives; each is opened once."""
    measured: dict[Curve, list[Row]] = {}
    for name in dict.fromkeys(curve.device for curve in wanted):
        drive = open_target(f"sim:{DRIVES[name]}", seed=seed).device
        grid.use(drive, seed)
        ending = filling.filled(stop, drive, seed)
        lines = [curve for curve in wanted if curve.device == name]
        for curve, rows in run_lines(drive, lines, seed, ending):
            measured[curve] = rows
            progress(f"figure {curve.figure}: {name}", len(measured) / len(wanted))
    return {curve: measured[curve] for curve in wanted}


def with_a_faster_link(wr_ratio: int, seed: int, stop: Stop = FILLED_STOP) -> Row:
    """Run SSD_S at a share of writes behind a link of `FAST_LINK`."""
    sets = (f"host.bytes_per_second={FAST_LINK}",)
    drive = open_target(f"sim:{DRIVES['SSD_S']}", seed=seed, sets=sets).device
    grid.use(drive, seed)
    ending = filling.filled(stop, drive, seed)
    vector = replace(READS, wr_ratio=wr_ratio)
    (row,) = measuring.run(drive, [vector], seed=seed, stop=ending, size_bytes=REGION_BYTES)
    return row


def measure_on(
    drive: Device,
    lines: Sequence[Curve],
    seed: int,
    progress: StageProgress,
    stop: Stop | None = None,
) -> dict[Curve, list[Row]]:
    """Run lines of a figure on any drive; on a real one a run takes a tenth of the minute."""
    measured: dict[Curve, list[Row]] = {}
    usual = WALL_STOP if drive.info.clock == "wall" else FILLED_STOP
    ending = filling.filled(stop or usual, drive, seed)
    for curve, rows in run_lines(drive, lines, seed, ending):
        measured[curve] = rows
        progress(f"figure {curve.figure}: {curve.name}", len(measured) / len(lines))
    return measured


def run_lines(
    drive: Device, lines: Sequence[Curve], seed: int, stop: Stop
) -> Iterator[tuple[Curve, list[Row]]]:
    """Run lines on a drive, one after the other."""
    for curve in lines:
        runs = measuring.run(drive, curve.vectors, seed=seed, stop=stop, size_bytes=REGION_BYTES)
        yield curve, list(runs)


def write_table(rows: Rows, path: Path) -> Path:
    """Write every point as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        measured = ("requests", "latency_ns", "iops", "bandwidth_bytes_per_s", "failure")
        table.writerow(["device", "line", *grid.COLUMNS, *measured])
        for curve, points in rows.items():
            for row in points:
                values = row.to_dict()
                cells = [values[name] for name in (*grid.COLUMNS, *measured)]
                table.writerow([curve.device, curve.name, *cells])
    return path
