"""Figures 37 and 38, table 5: the write buffer and the read cache, by one growing request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssdscope.findings import Detected
from ssdscope.probes.literal import buffers
from ssdscope.studies.judging import quoted
from ssdscope.studies.kuo2009 import curves
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, Times
from ssdscope.studies.kuo2009.detecting import Subject, bench, finding, row, subjects
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

NAME = "write_buffer_bytes"
SMALL = tuple(range(KIB, 257 * KIB, KIB))
LARGE = tuple(range(MIB, 33 * MIB, MIB))
READS = tuple(range(4 * KIB, 513 * KIB, 4 * KIB))
DRAINED = (
    "the buffer empties while it is filled, so that the procedure ends later; the probe takes off "
    "what leaves it, and finds what the buffer holds"
)
SLOW_FLASH = ("nand.program_ns=2000000",)
"""Ten times as slow as the chip is, so that little leaves the buffer while it is filled."""
SAMSUNG = Subject("Samsung SLC", "samsung-slc", 128 * KIB)
INTEL = Subject("Intel MLC", "intel-mlc", 112 * KIB)
MTRON = Subject("Mtron SLC, after random writes", "mtron-slc", 20 * MIB)
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
    paper: int | None = None

    @property
    def end(self) -> int | None:
        """Where the procedure ends."""
        return buffers.answer(self.sizes, self.times_ns)


def _written(
    drives: Drives,
    subject: Subject,
    sizes: Sequence[int],
    random: int = buffers.RANDOM_WRITES,
    *sets: str,
) -> Curve:
    procedure = buffers.GrowingWrite(sizes, random)
    tried = bench(drives, subject, *sets)
    with tried.allowance(procedure.planned_writes_bytes):
        return Curve(subject.label, sizes, procedure.run(tried), subject.paper)


def figure_37(drives: Drives, binder: Binder) -> FigureResult:
    """Run table 5 on the three drives; on the Mtron also without the random writes."""
    if drives.target is not None:
        target = subjects(drives, ())[0]
        block = drives.target.info.logical_block_bytes
        small = [size for size in SMALL if size % block == 0]
        runs = [_written(drives, target, sizes) for sizes in (small, LARGE)]
        ends = [each.end for each in runs if each.end is not None]
        rows = [_row(drives, target, ends[0] if ends else None)]
        return hand_in("37", rows, curves.growing(runs), _columns(runs), binder)
    samsung, intel = (_written(drives, each, SMALL) for each in (SAMSUNG, INTEL))
    mtron, unused = (
        _written(drives, MTRON, LARGE, random) for random in (buffers.RANDOM_WRITES, 0)
    )
    runs = [samsung, intel, Curve("Mtron SLC, at first", LARGE, unused.times_ns), mtron]
    rows = [
        _row(drives, SAMSUNG, samsung.end),
        _row(drives, INTEL, intel.end),
        _row(drives, _drained(drives), mtron.end),
        unseen(unused.end),
    ]
    notes = [
        SUSPECT,
        "the Mtron in steps of 1 MB: at 1 KB the paper's waiting alone takes 28 hours",
    ]
    return hand_in("37", rows, curves.growing(runs), _columns(runs), binder, notes)


def _row(drives: Drives, subject: Subject, found: int | None) -> Claim:
    large = max(subject.paper or 0, found or 0) >= MIB
    return row(drives, subject, NAME, "write buffer", found, mib=large)


def _drained(drives: Drives) -> Subject:
    """Give the Mtron with the reason for its late knee, if slow flash brings the knee to our size.

    The procedure then ends where the probe says that the buffer does.
    """
    slow = _written(drives, MTRON, LARGE, buffers.RANDOM_WRITES, *SLOW_FLASH).end
    ours = finding(drives, MTRON, NAME)
    shown = isinstance(ours, Detected) and slow is not None and quoted(float(ours.value), slow)
    tried = f"with programs ten times as long it ends at {_mib(slow)}"
    return replace(MTRON, because=DRAINED, tried=tried) if shown else MTRON


def _mib(end: int | None) -> str:
    return "no size" if end is None else f"{end / MIB:g} MB"


def unseen(end: int | None) -> Claim:
    """Hold the end that table 5 finds without random writes against the paper's none."""
    return stated(
        "Mtron SLC, not written at random before: response time against size",
        "not affected",
        "leaves its line at no size" if end is None else f"leaves its line after {_mib(end)}",
        end is None,
    )


def figure_38(drives: Drives, binder: Binder) -> FigureResult:
    """Read more and more again and again."""
    subject = subjects(drives, (CACHED,))[0]
    tried = bench(drives, subject)
    with tried.allowance(0):
        times = buffers.GrowingRead(READS).run(tried)
    run = Curve(subject.label, READS, times, subject.paper)
    rows = [row(drives, subject, "read_cache_bytes", "read cache", run.end)]
    return hand_in("38", rows, curves.growing([run]), _columns([run]), binder)


def _columns(runs: Sequence[Curve]) -> Columns:
    return {
        "drive": [each.label for each in runs for _ in each.sizes],
        "size_bytes": [size for each in runs for size in each.sizes],
        "response_ns": [int(time) for each in runs for time in each.times_ns],
    }
