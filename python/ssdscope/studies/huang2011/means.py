"""Means over the grid: the numbers in brackets in the paper's tables II, III and VI.

One access pattern is drawn by the seed for every share of writes, sizes and depth, and run as
those of figures 3 to 7 are (`procedure`).
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import open_target
from ssdscope.workloads import filling, grid, measuring
from ssdscope.workloads.grid import FILLED_STOP, Row, Stop

TOLERANCE = 0.2


@dataclass(frozen=True)
class Published:
    """Means that the paper prints of a device."""

    drive: str
    latency_ms: float
    bandwidth_mb_s: float
    iops: float


PUBLISHED = {
    "HDD_S": Published("huang-hdd-s", 94.61, 14.63, 664),
    "SSD_I": Published("huang-ssd-i", 15.97, 68.61, 3967),
    "SSD_A": Published("huang-ssd-a", 36.31, 38.17, 1054),
    "SSD_S": Published("huang-ssd-s", 34.90, 36.33, 1702),
    "Array_I": Published("huang-array-i", 8.15, 101.70, 4875),
}
"""Table III; Array_I table VI."""

Rows = Mapping[str, Sequence[Row]]


def measure(
    seed: int,
    progress: StageProgress,
    *,
    devices: Sequence[str] = tuple(PUBLISHED),
    stop: Stop = FILLED_STOP,
) -> dict[str, list[Row]]:
    """Run the same drawn workloads on every device."""
    vectors = grid.one_pattern_each(seed)
    rows = {}
    for device in devices:
        drive = open_target(f"sim:{PUBLISHED[device].drive}", seed=seed).device
        grid.use(drive, seed)
        runnable, _ = grid.split(vectors, drive.info)
        ending = filling.filled(stop, drive, seed)
        rows[device] = list(measuring.run(drive, runnable, seed=seed, stop=ending))
        progress(f"grid on {device}", len(rows) / len(devices))
    return rows


def compare(rows: Rows) -> list[Claim]:
    """Give each mean beside the paper's."""
    return [claim for device in rows for claim in _device(device, rows[device])]


def _device(device: str, rows: Sequence[Row]) -> list[Claim]:
    published, ours = PUBLISHED[device], grid.means(rows)
    return [
        _claim(device, "latency", "ms", published.latency_ms, ours["latency_ns"] / 1e6),
        _claim(
            device,
            "bandwidth",
            "MB/s",
            published.bandwidth_mb_s,
            ours["bandwidth_bytes_per_s"] / 1e6,
        ),
        _claim(device, "throughput", "IO/s", published.iops, ours["iops"]),
    ]


def _claim(device: str, what: str, unit: str, paper: float, ours: float) -> Claim:
    off = ours / paper - 1
    near = abs(off) <= TOLERANCE
    return Claim(
        f"{device}: mean {what}",
        paper,
        round(ours, 2),
        unit,
        Verdict.AGREES if near else Verdict.DIFFERS,
        "" if near else f"{100 * off:+.0f} %: the preset does not reach it",
    )


def write_table(rows: Rows, path: Path) -> Path:
    """Write every run as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        names = list(Row(grid.grid()[0]).to_dict())
        table.writerow(["device", *names])
        for device, runs in rows.items():
            for row in runs:
                values = row.to_dict()
                table.writerow([device, *(values[name] for name in names)])
    return path
