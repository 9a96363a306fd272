"""Figure 13: random reads and writes of five sizes on the three drives.

The paper ran iozone through a file system and does not say how large the file was or how the
drives had been used. Here: one request at a time in the first gigabyte of a drive that was filled
and then overwritten there at random until it had settled. Writes are then run in their own size
until their rate rests, as `ssdscope run --until-steady` does. After that 20,000 requests count,
and their number does not matter; three seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.judging import quoted
from ssdscope.studies.measuring import mean_us
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import KIB, NO_HOST, PAPER, Bench
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.rounds import write_until_steady

DRIVES = ("ryu-a", "ryu-b", "ryu-c")
OPS = ("randread", "randwrite")
NAMES = {"randread": "random reads", "randwrite": "random writes"}
SIZES_KIB = (4, 8, 16, 32, 64)
REGION_BYTES = 1 << 30
REQUESTS = 20_000
SEEDS = 3
SETTLING_NS = 60 * 10**9
"""A real drive is not written for longer than this before a cell, settled or not."""
PAGES = {
    "A, pages of 2 KB": ("ryu-a", ("nand.page_bytes=2048", "nand.pages_per_block=128")),
    "B, pages of 4 KB": ("ryu-b", ("nand.page_bytes=4096", "nand.pages_per_block=16")),
}
"""The drives with the other one's pages, the bytes of a block as before."""


def case(drive: str, op: str, size_kib: int) -> str:
    """Name a cell as the rows do."""
    return f"{drive}: {NAMES[op]} of {size_kib} KB"


def _published() -> dict[tuple[str, str], tuple[int, ...]]:
    cells = PAPER.rows["cell"].paper
    if not isinstance(cells, Mapping):
        raise TypeError("figure 13 has a value for each cell")
    return {
        (drive, op): tuple(int(cells[case(drive, op, size)]) for size in SIZES_KIB)
        for drive in DRIVES
        for op in OPS
    }


PUBLISHED_KIB_PER_S: Mapping[tuple[str, str], Sequence[int]] = _published()
"""The paper's figure 13, by drive and operation, in the order of `SIZES_KIB`."""


@dataclass(frozen=True)
class Rate:
    """One cell on one drive: its bandwidth, its mean latency, and whether its rate had rested."""

    kib_per_s: float
    mean_ns: float
    sustained: bool


Column = Mapping[tuple[str, int], Rate]
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


def figure_13(bench: Bench, progress: StageProgress) -> Measured:
    """Run every cell on every drive, all cores at work."""
    from joblib import Parallel, delayed

    region = bench.settings.get("region", REGION_BYTES)
    requests = bench.settings.get("requests", REQUESTS)
    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    tasks = [(drive, bench.seed + index) for drive in DRIVES for index in range(SEEDS)]
    run = partial(_column, bench, region=region, requests=requests)
    columns = workers(delayed(run)(drive, each) for drive, each in tasks)
    measured: dict[str, list[Column]] = {}
    try:
        for done, ((drive, _), column) in enumerate(zip(tasks, columns, strict=True), start=1):
            measured.setdefault(drive, []).append(column)
            progress(f"figure 13: {drive}", done / len(tasks))
    finally:
        columns.close()
    cells = [cell for drive in DRIVES for cell in _cells(drive, measured[drive])]
    return drawn(cells, readings(cells) | pages_are_why(bench))


def _column(bench: Bench, drive: str, seed: int, *, region: int, requests: int) -> Column:
    target = open_target(
        f"sim:{drive}", state=f"steady:{region}", sets=bench.sets(drive), seed=seed
    )
    # The preset's file says how much spare has to be written through before a rate rests.
    ratio = (target.drive or {}).get("over_provisioning_ratio")
    spare = None if ratio is None else round(ratio * target.capacity_bytes)
    return measure_cells(target.device, seed, requests, region_bytes=region, spare_bytes=spare)


def measure_cells(
    device: Device,
    seed: int,
    requests: int = REQUESTS,
    *,
    region_bytes: int = REGION_BYTES,
    ops: Sequence[str] = OPS,
    spare_bytes: int | None = None,
) -> Column:
    """Measure all cells, each from the same state; in place on a drive that cannot be copied.

    Parameters
    ----------
    spare_bytes
        As in `write_until_steady`.
    """
    return {
        (op, size_kib): measure_cell(
            device.fork() if device.info.snapshot else device,
            Workload(
                rw=op,
                block_bytes=size_kib * KIB,
                size_bytes=region_bytes,
                requests=requests,
                seed=seed,
            ),
            spare_bytes,
        )
        for op in ops
        for size_kib in SIZES_KIB
    }


def measure_cell(device: Device, plan: Workload, spare_bytes: int | None = None) -> Rate:
    """Write until the rate rests, if the cell is one of writes, and then measure."""
    sustained = True
    if plan.writes:
        most = SETTLING_NS if device.info.clock == "wall" else None
        rest = write_until_steady(device, plan, spare_bytes=spare_bytes, most_cost=most)
        sustained = rest.reached
    direction = device.run(plan).whole().only()
    bandwidth = (direction.bandwidth_bytes_per_s or 0.0) / 1024
    return Rate(bandwidth, direction.latency_ns.mean, sustained)


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


def readings(cells: Sequence[Cell]) -> dict[str, Reading]:
    """Read off every cell, its ratio to A's, and what the text says of them."""
    rates = {(each.drive, each.op, each.request_kib): each.kib_per_s for each in cells}
    ratios = {
        f"to A: {case(drive, op, size)}": rate / rates["ryu-a", op, size]
        for (drive, op, size), rate in rates.items()
        if drive != "ryu-a"
    }
    reads = [ratios[f"to A: {case('ryu-b', 'randread', size)}"] for size in SIZES_KIB]
    said = ", ".join(f"{each:.2f}" for each in reads) + " times A"
    falls = reads[0] > 1 > reads[-1] and bool(np.all(np.diff(reads) < 0))
    return {
        **{f"cell: {case(c.drive, c.op, c.request_kib)}": cell(c) for c in cells},
        **{name: Reading(round(each, 2), each) for name, each in ratios.items()},
        "B falls behind": Reading(said, falls),
    }


def cell(found: Cell) -> Reading:
    """Return a cell's rate; none if it did not come to rest."""
    if found.sustained:
        return Reading(round(found.kib_per_s), found.kib_per_s)
    return Reading(round(found.kib_per_s), float("nan"), why="its rate did not come to rest")


def another_s_cell(found: Cell) -> tuple[str, Reading]:
    """Say whether another drive's rate lies among the paper's three, or near the outer ones."""
    place = SIZES_KIB.index(found.request_kib)
    three = [PUBLISHED_KIB_PER_S[drive, found.op][place] for drive in DRIVES]
    low, high = min(three), max(three)
    rate = found.kib_per_s
    among = low <= rate <= high or any(quoted(end, rate) for end in (low, high))
    said = f"{rate:.0f} KiB/s; the paper's three {low} to {high}"
    name = f"another's cell: {case(found.drive, found.op, found.request_kib)}"
    return name, Reading(said, among)


def pages_are_why(bench: Bench) -> dict[str, Reading]:
    """Exchange the pages of A and B: who reads 4 KB faster then; and the same against k."""

    def time(drive: str, sets: Sequence[str], kib: int = 4) -> float:
        device = bench.open(drive, sets, "sequential")
        return mean_us(device, "randread", kib * KIB, bench.seed, requests=2000)

    a, b = (time(drive, ()) for drive in ("ryu-a", "ryu-b"))
    a_small, b_large = (time(*each) for each in PAGES.values())
    read = {
        "pages are why": Reading(
            f"B reads 4 KB at {a / b:.2f} times A's rate, at {a / b_large:.2f} with pages of 4 KB, "
            f"at {a_small / b:.2f} if A has pages of 2 KB",
            [a / b_large, a_small / b] if a / b > 1.1 else float("nan"),
        )
    }
    large = PAGES["B, pages of 4 KB"][1]
    four, four_k2, two = (
        [time("ryu-b", (*NO_HOST, *sets), kib) for kib in (8, 64)]
        for sets in (large, (*large, "ftl.placement_pages=2"), ())
    )
    changes = [
        [after / before - 1 for before, after in zip(one, other, strict=True)]
        for one, other in ((four, two), (four_k2, four))
    ]
    said = "; ".join(
        f"{name} {100 * each[0]:+.0f} and {100 * each[1]:+.0f} %"
        for name, each in zip(("half the page", "half the k"), changes, strict=True)
    )
    small = [100 * each[0] for each in changes]
    read["small pages as small k"] = Reading(f"time of reads of 8 and 64 KB: {said}", small)
    return read


def drawn(cells: Sequence[Cell], read: Mapping[str, Reading], *notes: str) -> Measured:
    """Hand in cells with what was read off them."""
    columns: Columns = {
        **{each.name: [getattr(cell, each.name) for cell in cells] for each in fields(Cell)},
        "error": ["" if cell.error is None else round(cell.error, 4) for cell in cells],
    }
    return Measured(read, partial(pictures.table_13, cells), columns, notes)
