"""Figure 13: random reads and writes of five sizes on the three drives.

The paper ran iozone through a file system and does not say how large the file was or how the
drives had been used. Here: one request at a time in the first gigabyte of a drive that was filled
and then overwritten there at random until it had settled. Writes are then run in their own size
until their rate rests, as `ssdscope run --until-steady` does. After that 20,000 requests count,
and their number does not matter; three seeds.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.judging import claim, quoted
from ssdscope.studies.record import Claim
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.rounds import write_until_steady

DRIVES = ("ryu-a", "ryu-b", "ryu-c")
OPS = ("randread", "randwrite")
SIZES_KIB = (4, 8, 16, 32, 64)
REGION_BYTES = 1 << 30
STATE = f"steady:{REGION_BYTES}"
REQUESTS = 20_000
SEEDS = 3
SETTLING_NS = 60 * 10**9
"""A real drive is not written for longer than this before a cell, settled or not."""

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
class Measured:
    """One cell on one drive: its bandwidth, its mean latency, and whether its rate had rested."""

    kib_per_s: float
    mean_ns: float
    sustained: bool


Column = Mapping[tuple[str, int], Measured]
"""By operation and request size in KB."""


@dataclass(frozen=True)
class Cell:
    """One cell of the table: means over the seeds."""

    drive: str
    op: str
    request_kib: int
    kib_per_s: float
    mean_ns: float
    paper_kib_per_s: int | None
    sustained: bool = True

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
    measured: dict[str, list[Column]] = {}
    try:
        for done, ((drive, _), column) in enumerate(zip(tasks, columns, strict=True), start=1):
            measured.setdefault(drive, []).append(column)
            progress(f"figure 13: {drive}", done / len(tasks))
    finally:
        columns.close()
    return [cell for drive in drives for cell in _cells(drive, measured[drive])]


def measure_column(drive: str, seed: int, requests: int = REQUESTS) -> Column:
    """Measure all cells of a drive, each from the same state."""
    return measure_cells(open_target(f"sim:{drive}", state=STATE, seed=seed).device, seed, requests)


def measure_cells(
    device: Device,
    seed: int,
    requests: int = REQUESTS,
    *,
    region_bytes: int = REGION_BYTES,
    ops: Sequence[str] = OPS,
    spare_bytes: int | None = None,
) -> Column:
    """Measure all cells; in place on a drive that cannot be copied.

    Parameters
    ----------
    spare_bytes
        As in `write_until_steady`.
    """
    plans = {
        (op, size_kib): Workload(
            rw=op,
            block_bytes=size_kib * 1024,
            size_bytes=region_bytes,
            requests=requests,
            seed=seed,
        )
        for op in ops
        for size_kib in SIZES_KIB
    }
    return {
        key: measure_cell(device.fork() if device.info.snapshot else device, plan, spare_bytes)
        for key, plan in plans.items()
    }


def measure_cell(device: Device, plan: Workload, spare_bytes: int | None = None) -> Measured:
    """Write until the rate rests, if the cell is one of writes, and then measure."""
    sustained = True
    if plan.writes:
        most = SETTLING_NS if device.info.clock == "wall" else None
        rest = write_until_steady(device, plan, spare_bytes=spare_bytes, most_cost=most)
        sustained = rest.reached
    direction = device.run(plan).whole().only()
    bandwidth = (direction.bandwidth_bytes_per_s or 0.0) / 1024
    return Measured(bandwidth, direction.latency_ns.mean, sustained)


def _cells(drive: str, columns: Sequence[Column]) -> Iterator[Cell]:
    for op in OPS:
        for size_kib, paper in zip(SIZES_KIB, PUBLISHED_KIB_PER_S[drive, op], strict=True):
            runs = [column[op, size_kib] for column in columns]
            yield Cell(
                drive,
                op,
                size_kib,
                float(np.mean([run.kib_per_s for run in runs])),
                float(np.mean([run.mean_ns for run in runs])),
                paper,
                all(run.sustained for run in runs),
            )


def compare(cells: Sequence[Cell]) -> list[Claim]:
    """Give every cell beside the paper's, and what the text says of them."""
    return [*map(cell_claim, cells), *_text_claims(cells)]


def cell_claim(cell: Cell) -> Claim:
    """Give a cell beside the paper's, or beside all three of the paper's for another drive."""
    name = {"randread": "random reads", "randwrite": "random writes"}[cell.op]
    what = f"{cell.drive}: {name} of {cell.request_kib} KB"
    if cell.paper_kib_per_s is None:
        return _among_the_paper_s(cell, what)
    paper, ours = cell.paper_kib_per_s, round(cell.kib_per_s)
    if not cell.sustained:
        return claim(what, paper, ours, "KiB/s", holds=False, why="its rate did not come to rest")
    return claim(what, paper, ours, "KiB/s", holds=quoted(paper, cell.kib_per_s))


def _among_the_paper_s(cell: Cell, what: str) -> Claim:
    """Say whether another drive is among the paper's three."""
    place = SIZES_KIB.index(cell.request_kib)
    three = [PUBLISHED_KIB_PER_S[drive, cell.op][place] for drive in DRIVES]
    low, high = min(three), max(three)
    among = low <= cell.kib_per_s <= high or any(quoted(end, cell.kib_per_s) for end in (low, high))
    return claim(what, f"{low} to {high}", round(cell.kib_per_s), "KiB/s", holds=among)


def _text_claims(cells: Sequence[Cell]) -> Iterator[Claim]:
    rates = {(each.drive, each.op, each.request_kib): each.kib_per_s for each in cells}
    if not all((drive, "randread", SIZES_KIB[0]) in rates for drive in DRIVES):
        return
    ratios = [
        rates["ryu-b", "randread", size] / rates["ryu-a", "randread", size] for size in SIZES_KIB
    ]
    yield claim(
        "4 KB reads are faster on B, whose pages are of 2 KB, than on A; larger ones fall behind",
        "1.20, 1.03, 1.01, 0.88, 0.77 times A",
        ", ".join(f"{ratio:.2f}" for ratio in ratios) + " times A",
        "",
        holds=ratios[0] > 1 > ratios[-1] and bool(np.all(np.diff(ratios) < 0)),
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
