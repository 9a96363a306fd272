"""Runs for the page's model: as many as there is time for, and those that the page has already.

What the model says of writes is of one sort. Where writes were brought to rest it is what the
drive keeps up: each run goes on from a fork of a drive that its kind of writes has settled, for
where pages lie depends on what is written, hardly on the depth or on the reads beside it. So runs
write in the patterns and sizes that were settled, and no others. Elsewhere it is what a drive in
use does for some seconds.

The page's reads, and its sustained writes, are rows to learn from as well, beside the others: how
far intervals reach is told by rows drawn alike. Those between the grid's points are held to.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ssdscope.models import collecting
from ssdscope.models.designs import LARGEST_BYTES
from ssdscope.models.samples import BESIDE
from ssdscope.models.table import Collected
from ssdscope.probes.budget import StageProgress
from ssdscope.report.sustaining import Settled
from ssdscope.seeds import stream
from ssdscope.targets import Device
from ssdscope.workloads import measuring
from ssdscope.workloads.grid import FILLED_STOP, Row, Vector

RANDOM = {"read": 0, "randread": 100, "write": 0, "randwrite": 100}
SHARES = {"read": 0, "randread": 0, "write": 100, "randwrite": 100}
SPLITS = {"grid": BESIDE, "between": BESIDE, "off-grid": "test"}
RANDOM_GAP_BYTES = 16 * 1024
"""Workloads of the design that leave larger gaps between writes write at random places instead."""


@dataclass(frozen=True)
class Kinds:
    """Patterns and sizes of writes that were brought to rest."""

    drives: Mapping[tuple[str, int], Device]

    @classmethod
    def of(cls, settled: Settled) -> "Kinds":
        """Take those that the model's workloads may have."""
        kept = settled.drives.items()
        return cls({key: each.device for key, each in kept if key[1] <= LARGEST_BYTES})

    def sizes(self, rw: str) -> list[int]:
        """List the sizes of a pattern."""
        return sorted(size for name, size in self.drives if name == rw)

    def nearest(self, vector: Vector) -> Vector:
        """Let a workload write in the pattern and size that are nearest among these."""
        if vector.wr_ratio == 0:
            return vector
        random = vector.wr_rand >= 50 or vector.wr_stride > RANDOM_GAP_BYTES
        rw = "randwrite" if random else "write"
        rw = rw if self.sizes(rw) else next(name for name, _ in self.drives)
        size = min(self.sizes(rw), key=lambda each: abs(np.log(each / vector.wr_size)))
        return replace(vector, wr_size=size, wr_rand=RANDOM[rw], wr_stride=0)

    def drive(self, vector: Vector, fresh: Device) -> Device:
        """Give the drive that a workload begins on: one that was settled, or as it was found."""
        if vector.wr_ratio == 0:
            return fresh
        return self.drives["randwrite" if vector.wr_rand else "write", vector.wr_size]


def on_settled(
    device: Device, kinds: Kinds, plan: collecting.Plan, progress: StageProgress
) -> Iterator[Collected]:
    """Make the runs of a plan on forks of settled drives, several at a time.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C.
    """
    stop = replace(plan.stop, fill_bytes=FILLED_STOP.fill_bytes)
    planned, _ = collecting.tasks(device.info, plan)
    nearest = (replace(task, vector=kinds.nearest(task.vector)) for task in planned)
    tasks = list(dict.fromkeys(nearest))
    # Whatever ends this early leaves some of each split.
    order = stream(plan.seed, "report.model_runs.order").permutation(len(tasks))
    done = 0
    for some in collecting.batches([tasks[place] for place in order], device):
        drives = [kinds.drive(task.vector, device) for task in some]
        rows = measuring.on_copies_of(drives, [task.drawn for task in some], stop, jobs=plan.jobs)
        with closing(rows):
            for task, row in zip(some, rows, strict=True):
                done += 1
                yield Collected(task.split, row)
                progress(f"{done} of {len(tasks)} runs", done / len(tasks))


def of_page(performance: Mapping[str, Any], *, sustained: bool) -> list[Collected]:
    """Give the page's reads, and its sustained writes if the model is of those, as runs."""
    rows = [row for row in performance["points"] if SHARES[row["rw"]] == 0]
    if sustained:
        rows += [{**row, "split": "grid"} for row in performance["sustained"] if row["reached"]]
    return [_collected(row) for row in rows if _shown(row)]


def _shown(row: Mapping[str, Any]) -> bool:
    return row["failure"] is None and row["iops"] and row["block_bytes"] <= LARGEST_BYTES


def _collected(row: Mapping[str, Any]) -> Collected:
    size, random = row["block_bytes"], RANDOM[row["rw"]]
    vector = Vector(SHARES[row["rw"]], row["iodepth"], size, size, random, random)
    made = Row(
        vector,
        requests=row["requests"],
        latency_ns=row["mean_ns"],
        iops=row["iops"],
        bandwidth_bytes_per_s=row["bandwidth_bytes_per_s"],
        elapsed_ns=row["duration_ns"],
    )
    return Collected(SPLITS[row["split"]], made)


def without_known(rows: Sequence[Collected], known: Sequence[Collected]) -> list[Collected]:
    """Leave out of what is to be held to the workloads that were learnt from."""
    learnt = {each.row.vector.effective() for each in known if each.split in ("train", BESIDE)}
    return [
        each for each in rows if each.split != "test" or each.row.vector.effective() not in learnt
    ]
