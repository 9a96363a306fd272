"""Figure 7: response time of a write by how far it is shifted; the raw sweep of figure 6.

Each position is written once in every chunk, the chunks in turn, and the mean over the chunks is
the point, as in the paper's figure 6. Its second half, which reads a management block off those
points, cannot work as printed; the block is found here by folding: the shortest period that
explains the points about as well as any does. The first positions are written but do not count,
because log blocks remember what was written before.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_WRITE

CHUNK_BYTES = 8 << 20
CHUNKS = 96
EXPLAINED = 0.7
"""There is a period if one explains this share of the variance, adjusted for its phases."""
AS_GOOD = 0.05
"""Multiples of a period explain as much: the shortest within this of the best is it."""


@dataclass(frozen=True)
class Sweep:
    """Writes of one size on one drive, shifted step by step: positions that settle, then count."""

    drive: str
    write_bytes: int
    shift_bytes: int
    settling: int
    positions: int
    paper_bytes: int


SWEEPS = (
    Sweep("ryu-a", 4096, 2048, 16, 48, 16384),
    Sweep("ryu-a", 16384, 2048, 16, 48, 16384),
    Sweep("ryu-a", 32768, 2048, 16, 48, 16384),
    Sweep("ryu-b", 1 << 20, 1 << 17, 16, 32, 1 << 20),
    Sweep("ryu-c", 4096, 1024, 8, 40, 4096),
)


@dataclass(frozen=True)
class Points:
    """Mean response time at every position, and the period found in them."""

    sweep: Sweep
    mean_ns: npt.NDArray[np.float64]

    @property
    def period_bytes(self) -> int | None:
        """The shortest period that explains the points; None if there is none."""
        values = np.log(self.mean_ns)
        periods = range(2, len(values) // 3 + 1)
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


def measure(seed: int, progress: StageProgress) -> list[Points]:
    """Run every sweep, each on a drive of its own that was written once in order."""
    points = []
    for sweep in SWEEPS:
        device = open_target(f"sim:{sweep.drive}", state="sequential", seed=seed).device
        points.append(run_sweep(device, sweep))
        progress(f"figure 7: {sweep.drive}", len(points) / len(SWEEPS))
    return points


def run_sweep(device: Device, sweep: Sweep, chunks: int = CHUNKS) -> Points:
    """Write every position in every chunk, one request at a time."""
    count = sweep.settling + sweep.positions
    positions = np.repeat(np.arange(count), chunks)
    starts = np.tile(np.arange(chunks), count) * CHUNK_BYTES
    offsets = starts + positions * sweep.shift_bytes
    ops = np.full(len(offsets), OP_WRITE)
    log = device.run_list(ops, offsets, np.full(len(offsets), sweep.write_bytes))
    latency = np.empty(len(offsets))
    latency[log.columns["index"]] = log.columns["complete_ns"] - log.columns["submit_ns"]
    return Points(sweep, latency.reshape(count, chunks).mean(axis=1)[sweep.settling :])


def compare(points: Sequence[Points]) -> list[Claim]:
    """Give the period of each sweep, and on which side of the mean its slow offsets are."""
    periods = [period(each) for each in points]
    shapes = [_shape(each) for each in points if each.sweep.drive == "ryu-a"]
    return periods + shapes


def period(points: Points) -> Claim:
    """Compare the period found with the management block that the paper found."""
    sweep, found = points.sweep, points.period_bytes
    holds = found == sweep.paper_bytes
    return Claim(
        f"{sweep.drive}: writes of {sweep.write_bytes // 1024} KB shifted by "
        f"{sweep.shift_bytes // 1024} KB repeat every",
        sweep.paper_bytes // 1024,
        "nothing" if found is None else found // 1024,
        "" if found is None else "KB",
        Verdict.AGREES if holds else Verdict.DIFFERS,
        "" if holds else "the points repeat at another distance, or not at all",
    )


def _shape(points: Points) -> Claim:
    """4 KB writes rise where they straddle; 16 and 32 KB writes fall where they are aligned."""
    mean = points.mean_ns
    rises = mean.max() - np.median(mean) > np.median(mean) - mean.min()
    small = points.sweep.write_bytes < points.sweep.paper_bytes
    return Claim(
        f"ryu-a: writes of {points.sweep.write_bytes // 1024} KB "
        + ("are slower once a block" if small else "are faster once a block"),
        "yes",
        f"{mean.min() / 1e3:,.0f} to {mean.max() / 1e3:,.0f} us, "
        f"median {np.median(mean) / 1e3:,.0f} us",
        "",
        Verdict.AGREES if rises == small else Verdict.DIFFERS,
        "" if rises == small else "the exceptions are on the other side",
    )


def write_table(points: Sequence[Points], path: Path) -> Path:
    """Write every point as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "write_bytes", "offset_bytes", "mean_ns"])
        for each in points:
            for position, value in enumerate(each.mean_ns):
                offset = (each.sweep.settling + position) * each.sweep.shift_bytes
                table.writerow([each.sweep.drive, each.sweep.write_bytes, offset, float(value)])
    return path
