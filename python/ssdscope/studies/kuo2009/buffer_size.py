"""Figures 37 and 38, table 5: the write buffer and the read cache, by one growing request."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdscope.probes.literal import buffers
from ssdscope.studies.kuo2009 import curves
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, Times
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

SMALL = tuple(range(KIB, 257 * KIB, KIB))
LARGE = tuple(range(MIB, 33 * MIB, MIB))
READS = tuple(range(4 * KIB, 513 * KIB, 4 * KIB))
DRAINED = (
    "8 MB leave the buffer while it is filled, so that the procedure ends at 20 MB; the probe "
    "takes off what leaves it, and finds what the buffer holds"
)
SAMSUNG = Subject("Samsung SLC", "samsung-slc", 128 * KIB)
INTEL = Subject("Intel MLC", "intel-mlc", 112 * KIB)
MTRON = Subject("Mtron SLC, after random writes", "mtron-slc", 20 * MIB, DRAINED)
CACHED = Subject("Samsung SLC", "samsung-slc", 256 * KIB)
SUSPECT = (
    "suspect: 128 KB is also the most that an ATA command of the time carries (256 sectors), so "
    "the step that the paper saw on the Samsung may be that of a second command"
)


@dataclass(frozen=True)
class Curve:
    """Response times by how much is written, or read again, at once."""

    label: str
    sizes: Sequence[int]
    times_ns: Times

    @property
    def end(self) -> int | None:
        """Where the procedure ends."""
        return buffers.answer(self.sizes, self.times_ns)


def _written(
    drives: Drives, subject: Subject, sizes: Sequence[int], random: int = buffers.RANDOM_WRITES
) -> Curve:
    procedure = buffers.GrowingWrite(sizes, random)
    tried = bench(drives, subject)
    with tried.allowance(procedure.planned_writes_bytes):
        return Curve(subject.label, sizes, procedure.run(tried))


def figure_37(drives: Drives, folder: Path) -> FigureResult:
    """Run table 5 on the three drives; on the Mtron also without the random writes."""
    if drives.target is not None:
        target = subjects(drives, ())[0]
        block = drives.target.info.logical_block_bytes
        small = [size for size in SMALL if size % block == 0]
        runs = [_written(drives, target, sizes) for sizes in (small, LARGE)]
        ends = [each.end for each in runs if each.end is not None]
        rows = [_row(drives, target, ends[0] if ends else None)]
        return hand_in("37", rows, curves.growing(runs), _columns(runs), folder)
    samsung, intel = (_written(drives, each, SMALL) for each in (SAMSUNG, INTEL))
    mtron, unused = (
        _written(drives, MTRON, LARGE, random) for random in (buffers.RANDOM_WRITES, 0)
    )
    runs = [samsung, intel, Curve("Mtron SLC, at first", LARGE, unused.times_ns), mtron]
    rows = [
        _row(drives, SAMSUNG, samsung.end),
        _row(drives, INTEL, intel.end),
        _row(drives, MTRON, mtron.end),
        _unseen(unused.end),
    ]
    notes = [
        SUSPECT,
        "the Mtron in steps of 1 MB: at 1 KB the paper's waiting alone takes 28 hours",
    ]
    return hand_in("37", rows, curves.growing(runs), _columns(runs), folder, notes)


def _row(drives: Drives, subject: Subject, found: int | None) -> Claim:
    large = max(subject.paper or 0, found or 0) >= MIB
    return row(drives, subject, "write_buffer_bytes", "write buffer", found, mib=large)


def _unseen(end: int | None) -> Claim:
    return stated(
        "Mtron SLC, not written at random before: response time against size",
        "not affected",
        "leaves its line at no size" if end is None else f"leaves its line after {end // MIB} MB",
        end is None,
    )


def figure_38(drives: Drives, folder: Path) -> FigureResult:
    """Read more and more again and again."""
    subject = subjects(drives, (CACHED,))[0]
    tried = bench(drives, subject)
    with tried.allowance(0):
        run = Curve(subject.label, READS, buffers.GrowingRead(READS).run(tried))
    rows = [row(drives, subject, "read_cache_bytes", "read cache", run.end)]
    return hand_in("38", rows, curves.growing([run]), _columns([run]), folder)


def _columns(runs: Sequence[Curve]) -> Columns:
    return {
        "drive": [each.label for each in runs for _ in each.sizes],
        "size_bytes": [size for each in runs for size in each.sizes],
        "response_ns": [int(time) for each in runs for time in each.times_ns],
    }
