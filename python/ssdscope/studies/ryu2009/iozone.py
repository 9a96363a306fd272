"""Figure 13: random reads and writes of five sizes on the three drives.

The paper ran iozone through a file system and does not say how large the file was or how the
drives had been used. Here: one request at a time in the first gigabyte of a drive that was filled
and then overwritten there at random until it had settled, 20,000 requests, three seeds.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload

DRIVES = ("ryu-a", "ryu-b", "ryu-c")
OPS = ("randread", "randwrite")
SIZES_KIB = (4, 8, 16, 32, 64)
REGION_BYTES = 1 << 30
STATE = f"steady:{REGION_BYTES}"
REQUESTS = 20_000
SEEDS = 3
TOLERANCE = 0.1

PUBLISHED_KIB_PER_S: Mapping[tuple[str, str], Sequence[int]] = {
    ("ryu-a", "randread"): (19045, 34822, 49910, 70103, 90915),
    ("ryu-b", "randread"): (22828, 35904, 50179, 62035, 70064),
    ("ryu-c", "randread"): (19685, 35940, 61933, 101541, 131501),
    ("ryu-a", "randwrite"): (1699, 2962, 4734, 7108, 10941),
    ("ryu-b", "randwrite"): (607, 1225, 2445, 4752, 8965),
    ("ryu-c", "randwrite"): (38756, 55070, 66421, 73405, 75905),
}
"""The paper's figure 13, by drive and operation, in the order of `SIZES_KIB`."""


@dataclass(frozen=True)
class Cell:
    """One cell of the table: means over the seeds."""

    drive: str
    op: str
    request_kib: int
    kib_per_s: float
    mean_ns: float
    paper_kib_per_s: int | None

    @property
    def error(self) -> float | None:
        """How far it is from the paper's, as a share of that; None for a drive of no paper."""
        return None if self.paper_kib_per_s is None else self.kib_per_s / self.paper_kib_per_s - 1


def measure(
    seed: int, progress: StageProgress, *, drives: Sequence[str] = DRIVES, requests: int = REQUESTS
) -> list[Cell]:
    """Run every cell on every drive, all cores at work."""
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    tasks = [(drive, seed + index) for drive in drives for index in range(SEEDS)]
    columns = workers(delayed(measure_column)(drive, each, requests) for drive, each in tasks)
    measured: dict[str, list[dict[tuple[str, int], tuple[float, float]]]] = {}
    try:
        for done, ((drive, _), column) in enumerate(zip(tasks, columns, strict=True), start=1):
            measured.setdefault(drive, []).append(column)
            progress(f"figure 13: {drive}", done / len(tasks))
    finally:
        columns.close()
    return [cell for drive in drives for cell in _cells(drive, measured[drive])]


def measure_column(
    drive: str, seed: int, requests: int
) -> dict[tuple[str, int], tuple[float, float]]:
    """Measure bandwidth and mean latency of all cells of a drive, each from the same state."""
    return measure_cells(open_target(f"sim:{drive}", state=STATE, seed=seed).device, seed, requests)


def measure_cells(
    device: Device,
    seed: int,
    requests: int = REQUESTS,
    *,
    region_bytes: int = REGION_BYTES,
    ops: Sequence[str] = OPS,
) -> dict[tuple[str, int], tuple[float, float]]:
    """Measure bandwidth and mean latency of all cells; in place on one that cannot be copied."""
    column = {}
    for op in ops:
        for size_kib in SIZES_KIB:
            workload = Workload(
                rw=op,
                block_bytes=size_kib * 1024,
                size_bytes=region_bytes,
                requests=requests,
                seed=seed,
            )
            result = (device.fork() if device.info.snapshot else device).run(workload)
            direction = result.whole().only()
            bandwidth = (direction.bandwidth_bytes_per_s or 0.0) / 1024
            column[op, size_kib] = bandwidth, direction.latency_ns.mean
    return column


def _cells(
    drive: str, columns: Sequence[Mapping[tuple[str, int], tuple[float, float]]]
) -> Iterator[Cell]:
    for op in OPS:
        for size_kib, paper in zip(SIZES_KIB, PUBLISHED_KIB_PER_S[drive, op], strict=True):
            bandwidth, latency = np.mean([column[op, size_kib] for column in columns], axis=0)
            yield Cell(drive, op, size_kib, float(bandwidth), float(latency), paper)


def compare(cells: Sequence[Cell]) -> list[Claim]:
    """Give every cell beside the paper's, and what the text says of them."""
    return [*map(cell_claim, cells), *_text_claims(cells)]


def cell_claim(cell: Cell) -> Claim:
    """Give a cell beside the paper's, or beside all three of the paper's for another drive."""
    name = {"randread": "random reads", "randwrite": "random writes"}[cell.op]
    what = f"{cell.drive}: {name} of {cell.request_kib} KB"
    if cell.paper_kib_per_s is None or cell.error is None:
        return _among_the_paper_s(cell, what)
    near = abs(cell.error) <= TOLERANCE
    why = "" if near else f"{100 * cell.error:+.1f} %: the preset does not reach this cell"
    verdict = Verdict.AGREES if near else Verdict.DIFFERS
    return Claim(what, cell.paper_kib_per_s, round(cell.kib_per_s), "KiB/s", verdict, why)


def _among_the_paper_s(cell: Cell, what: str) -> Claim:
    """Say where another drive is among the paper's three."""
    place = SIZES_KIB.index(cell.request_kib)
    three = [PUBLISHED_KIB_PER_S[drive, cell.op][place] for drive in DRIVES]
    low, high = min(three), max(three)
    among = low * (1 - TOLERANCE) <= cell.kib_per_s <= high * (1 + TOLERANCE)
    return Claim(
        what,
        f"{low} to {high}",
        round(cell.kib_per_s),
        "KiB/s",
        Verdict.AGREES if among else Verdict.DIFFERS,
        ""
        if among
        else "slower than all three"
        if cell.kib_per_s < low
        else "faster than all three",
    )


def _text_claims(cells: Sequence[Cell]) -> Iterator[Claim]:
    rates = {(each.drive, each.op, each.request_kib): each.kib_per_s for each in cells}
    ratios = [
        rates["ryu-b", "randread", size] / rates["ryu-a", "randread", size]
        for size in SIZES_KIB
        if ("ryu-a", "randread", size) in rates and ("ryu-b", "randread", size) in rates
    ]
    if len(ratios) < len(SIZES_KIB):
        return
    holds = ratios[0] > 1 and ratios[-1] < 1 and all(np.diff(ratios) < 0)
    yield Claim(
        "4 KB reads are faster on B, whose pages are of 2 KB, than on A; larger ones fall behind",
        "1.20, 1.03, 1.01, 0.88, 0.77 times A",
        ", ".join(f"{ratio:.2f}" for ratio in ratios) + " times A",
        "",
        Verdict.AGREES if holds else Verdict.DIFFERS,
        "" if holds else "the ratio does not fall from above 1 to below it",
    )


def write_table(cells: Sequence[Cell], path: Path) -> Path:
    """Write every cell as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow([*Cell.__dataclass_fields__, "error"])
        for cell in cells:
            values = [getattr(cell, name) for name in Cell.__dataclass_fields__]
            table.writerow([*values, "" if cell.error is None else round(cell.error, 4)])
    return path
