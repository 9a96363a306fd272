"""Figures 2 and 3: drives as bought and after months of use, and ageing against block size.

The paper ran iozone on A and C when they were bought and again three months later, and says
nothing of what happened in between. Here

*new*   is a drive on which nothing was ever written but a test file, once, in order;
*aged*  is the same drive after months of use, for which stand: everything else filled in order,
        then half as many bytes as the drive holds overwritten at random places, a third of them
        in writes of 4 KB, a third of 16 KB and a third of 64 KB, in three rounds. The test file
        is part of that, as the files of a drive in use are.

Both are then read, and written, in order and at random, inside the test file and one request at
a time; every test starts from the same state, so that no test spoils another. The drives are cut
down to two gigabytes (B to one), in blocks per plane alone, which keeps their shape and shares.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.preconditioning import fill_sequentially

PATTERNS = ("read", "randread", "write", "randwrite")
SIZES_KIB = (4, 16, 64, 256)
FILE_BYTES = 256 << 20
TEST_BYTES = 64 << 20
REQUESTS_MIN, REQUESTS_MAX = 300, 3000
USE_SIZES_KIB = (4, 16, 64)
ROUNDS = 3


@dataclass(frozen=True)
class Subject:
    """A drive whose ageing is watched.

    Attributes
    ----------
    name
        What it is called in tables.
    preset
        The drive it is.
    sets
        What is changed of it: its size, and for the sweep its management block.
    """

    name: str
    preset: str
    sets: tuple[str, ...]

    def open(self, seed: int) -> Device:
        """Open the drive as bought."""
        return open_target(f"sim:{self.preset}", state="fresh", sets=self.sets, seed=seed).device


A = Subject("ryu-a", "ryu-a", ("nand.blocks_per_plane=1024",))
B = Subject("ryu-b", "ryu-b", ("nand.blocks_per_plane=1024", "ftl.log_blocks=35"))
C = Subject("ryu-c", "ryu-c", ("nand.blocks_per_plane=208",))
UNITS_KIB = (4, 8, 16, 32, 64, 128, 256)
SWEEP = tuple(
    Subject(
        f"{unit} KB",
        "ryu-a",
        (*A.sets, f"ftl.map_unit_bytes={unit * 1024}", "ftl.phase_bytes=0"),
    )
    for unit in UNITS_KIB
)
"""Drive A with smaller and larger management blocks, all of which begin with the drive."""
NO_MAP = ("map.write_back_ns=0", "map.load_ns=0")
SWEEP_WITHOUT_MAP = tuple(
    Subject(f"{each.name}, no map", each.preset, (*each.sets, *NO_MAP)) for each in SWEEP
)
"""The same without what a random write waits for besides the flash, new or aged."""

Bandwidths = Mapping[tuple[str, int], float]
"""Bytes per second by pattern and request size in KB."""


@dataclass(frozen=True)
class Life:
    """A drive's bandwidths as bought and after months of use."""

    subject: Subject
    new: Bandwidths
    aged: Bandwidths

    def kept(self, pattern: str, size_kib: int) -> float:
        """Share of the bandwidth that is left."""
        return self.aged[pattern, size_kib] / self.new[pattern, size_kib]


def live(
    subjects: Sequence[Subject],
    seed: int,
    progress: StageProgress,
    sizes_kib: Sequence[int] = SIZES_KIB,
) -> list[Life]:
    """Measure drives, use them for months and measure them again; all cores at work."""
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    lives = workers(delayed(_live)(subject, seed, sizes_kib) for subject in subjects)
    done = []
    try:
        for life in lives:
            done.append(life)
            progress(f"ageing {life.subject.name}", len(done) / len(subjects))
    finally:
        lives.close()
    return done


def _live(subject: Subject, seed: int, sizes_kib: Sequence[int]) -> Life:
    return watch(subject.open(seed), subject, seed, sizes_kib=sizes_kib)


def watch(
    device: Device,
    subject: Subject,
    seed: int,
    *,
    sizes_kib: Sequence[int] = SIZES_KIB,
    file_bytes: int = FILE_BYTES,
) -> Life:
    """Measure a drive inside a test file, use it for months, and measure it again.

    One that cannot be copied is measured in place: reads first, for writes change it.
    """
    new = _as_bought(device, sizes_kib, seed, file_bytes)
    use_for_months(device, seed, file_bytes)
    return Life(subject, new, _tests(device, sizes_kib, seed, file_bytes))


def as_bought(subject: Subject, seed: int) -> Bandwidths:
    """Measure a drive that is new."""
    return _as_bought(subject.open(seed), SIZES_KIB, seed, FILE_BYTES)


def _as_bought(
    device: Device, sizes_kib: Sequence[int], seed: int, file_bytes: int
) -> dict[tuple[str, int], float]:
    fill_sequentially(device, size_bytes=file_bytes).whole()
    return _tests(device, sizes_kib, seed, file_bytes)


def use_for_months(device: Device, seed: int, file_bytes: int = FILE_BYTES) -> None:
    """Fill what is left of a drive and overwrite half as much as it holds; see the module."""
    fill_sequentially(device, offset_bytes=file_bytes).whole()
    share = device.info.capacity_bytes // (2 * ROUNDS * len(USE_SIZES_KIB))
    for turn in range(ROUNDS):
        for size_kib in USE_SIZES_KIB:
            workload = Workload(
                rw="randwrite", block_bytes=size_kib * 1024, io_bytes=share, seed=seed + turn
            )
            device.run(workload).whole()


def _tests(
    device: Device, sizes_kib: Sequence[int], seed: int, file_bytes: int
) -> dict[tuple[str, int], float]:
    bandwidths = {}
    for pattern in PATTERNS:
        for size_kib in sizes_kib:
            requests = TEST_BYTES // (size_kib * 1024)
            workload = Workload(
                rw=pattern,
                block_bytes=size_kib * 1024,
                size_bytes=file_bytes,
                requests=min(max(requests, REQUESTS_MIN), REQUESTS_MAX),
                seed=seed,
            )
            copy = device.fork() if device.info.snapshot else device
            result = copy.run(workload).whole()
            bandwidths[pattern, size_kib] = result.only().bandwidth_bytes_per_s or 0.0
    return bandwidths


def write_table(lives: Sequence[Life], path: Path) -> Path:
    """Write every bandwidth as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "pattern", "request_kib", "new_kib_per_s", "aged_kib_per_s"])
        table.writerows(_rows(lives))
    return path


def _rows(lives: Sequence[Life]) -> Iterator[tuple[str, str, int, int, int]]:
    for life in lives:
        for (pattern, size_kib), new in life.new.items():
            aged = life.aged[pattern, size_kib]
            yield life.subject.name, pattern, size_kib, round(new / 1024), round(aged / 1024)
