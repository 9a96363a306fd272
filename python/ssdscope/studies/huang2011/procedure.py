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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.record import Columns
from ssdscope.targets import Device, Target, open_target
from ssdscope.workloads import filling, grid, measuring
from ssdscope.workloads.grid import FILLED_STOP, KIB, Row, Stop, Vector

PRESETS = {
    "HDD_S": "huang-hdd-s",
    "SSD_I": "huang-ssd-i",
    "SSD_A": "huang-ssd-a",
    "SSD_S": "huang-ssd-s",
    "Array_I": "huang-array-i",
}
"""By the paper's names."""
DEVICES = ("SSD_I", "SSD_S", "HDD_S")
"""Of figures 3 to 7."""
SSDS = ("SSD_I", "SSD_S")
SIZE = 256 * KIB
READS = Vector(0, 1, SIZE, SIZE, wr_rand=100, rd_rand=100)
WRITES = replace(READS, wr_ratio=100)
RATIOS = tuple(range(0, 101, 10))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
SIZES = tuple(kib * KIB for kib in (1, 4, 16, 64, 256))
STEPS = tuple(kib * KIB for kib in range(32, 257, 32))
"""Of writes: whether latency lies on a line, five sizes a fourfold apart hardly tell."""
PATTERNS = ("sequential", "random", "stride")
STRIDE = 64 * KIB
WALL_STOP = Stop(until_ci=0.03, runtime_ns=6_000_000_000)
REGION_BYTES = 32 << 30
"""Where requests fall: the size of the smallest drive."""
LEAST_BYTES = max(DEPTHS) * SIZE
"""What a drive must hold: as much as the deepest run of figure 4 has in flight."""
COLUMNS = ("requests", "latency_ns", "iops", "bandwidth_bytes_per_s", "failure")


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


def curves(figure: str, stride: int = STRIDE) -> list[Curve]:
    """List the lines of a figure; figures 6 and 7 are of the same runs."""
    return [each for device in DEVICES for each in _of_device(figure, device, stride)]


def curves_on(figure: str, target: Target) -> list[Curve]:
    """List the lines of a figure for any drive, of the points whose requests it takes."""
    lines = []
    for line in _of_device(figure, target.uri, STRIDE):
        fitting = [
            (x, vector)
            for x, vector in zip(line.x, line.vectors, strict=True)
            if vector.fits(target.device.info)
        ]
        if fitting:
            values, vectors = zip(*fitting, strict=True)
            lines.append(replace(line, x=values, vectors=vectors))
    return lines


def _of_device(figure: str, device: str, stride: int) -> list[Curve]:
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
            line("steps of writes", STEPS, [replace(WRITES, wr_size=size) for size in STEPS]),
        ]
    return [
        line(
            f"{name}, {pattern}", SIZES, [_patterned(base, pattern, size, stride) for size in SIZES]
        )
        for name, base in (("reads", READS), ("writes", WRITES))
        for pattern in PATTERNS
    ]


def _patterned(base: Vector, pattern: str, size: int, stride: int) -> Vector:
    percent = 100 if pattern == "random" else 0
    gap = stride if pattern == "stride" else 0
    return replace(
        base,
        rd_size=size,
        wr_size=size,
        rd_rand=percent,
        wr_rand=percent,
        rd_stride=gap,
        wr_stride=gap,
    )


@dataclass
class Runs:
    """Runs on the paper's drives, which are opened once, and none of which is made twice.

    Attributes
    ----------
    sets
        By drive, what is set on its preset.
    """

    seed: int
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    region_bytes: int = REGION_BYTES
    stop: Stop = FILLED_STOP
    _drives: dict[str, tuple[Device, Stop]] = field(default_factory=dict)
    _rows: dict[tuple[str, Vector], Row] = field(default_factory=dict)

    def open(self, name: str) -> Target:
        """Open one of the paper's drives as it is."""
        sets = tuple(self.sets.get(name, ()))
        return open_target(f"sim:{PRESETS[name]}", sets=sets, seed=self.seed)

    def in_use(self, name: str) -> tuple[Device, Stop]:
        """Return a drive that was in use, and when runs on it end."""
        if name not in self._drives:
            drive = self.open(name).device
            grid.use(drive, self.seed)
            self._drives[name] = drive, filling.filled(self.stop, drive, self.seed)
        return self._drives[name]

    def rows(self, name: str, vectors: Sequence[Vector]) -> list[Row]:
        """Run workloads on a drive."""
        missing = [each for each in dict.fromkeys(vectors) if (name, each) not in self._rows]
        drive, stop = self.in_use(name)
        made = measuring.run(
            drive, missing, seed=self.seed, stop=stop, size_bytes=self.region_bytes
        )
        self._rows.update(((name, row.vector), row) for row in made)
        return [self._rows[name, each] for each in vectors]

    def of(self, wanted: Sequence[Curve], progress: StageProgress) -> dict[Curve, list[Row]]:
        """Run lines of figures."""
        found = {}
        for curve in wanted:
            found[curve] = self.rows(curve.device, curve.vectors)
            progress(f"figure {curve.figure}: {curve.device}", len(found) / len(wanted))
        return found


def measure_on(
    drive: Device,
    lines: Sequence[Curve],
    seed: int,
    progress: StageProgress,
    stop: Stop | None = None,
) -> dict[Curve, list[Row]]:
    """Run lines of a figure on any drive; on a real one a run takes a tenth of the minute."""
    usual = WALL_STOP if drive.info.clock == "wall" else FILLED_STOP
    ending = filling.filled(stop or usual, drive, seed)
    measured = {}
    for curve in lines:
        runs = measuring.run(drive, curve.vectors, seed=seed, stop=ending, size_bytes=REGION_BYTES)
        measured[curve] = list(runs)
        progress(f"figure {curve.figure}: {curve.name}", len(measured) / len(lines))
    return measured


def columns(rows: Rows) -> Columns:
    """Return every point as columns."""
    points = [(curve, row.to_dict()) for curve, found in rows.items() for row in found]
    return {
        "device": [curve.device for curve, _ in points],
        "line": [curve.name for curve, _ in points],
        **{name: [row[name] for _, row in points] for name in (*grid.COLUMNS, *COLUMNS)},
    }
