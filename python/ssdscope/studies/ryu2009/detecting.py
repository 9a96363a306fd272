"""The drives of the detectors, as the paper held them in its hand, and what was found on them.

Figure 13, to which the presets are fitted, was measured with iozone through a file system; the
detectors wrote to the drives themselves. So a command costs less here, and A's blocks begin where
the drive begins: the 4 KB between are where the file of figure 13 lay. C is cut down to 20 GB. Of B
a sweep shifts writes in more chunks than it has log blocks, so that they are used up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.literal import allocation, shift_write
from ssdscope.probes.literal.placement import ReadSizes
from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.studies.detectors import Probed, Question, Value, answered
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import Device

KIB, MIB = 1 << 10, 1 << 20
RANGE_BYTES = 1 << 30
"""Of the reads after two orders; the paper takes half the drive, or "enough that errors vanish"."""
READ_SIZES = tuple(range(4 * KIB, 132 * KIB, 4 * KIB))
"""Of the reads by which placement is told, as in figure 14."""


@dataclass(frozen=True)
class Subject:
    """A drive of the paper.

    Attributes
    ----------
    block_name
        The property that its management block is.
    paper_bytes
        The management block that the paper found.
    """

    label: str
    uri: str
    sets: tuple[str, ...]
    block_name: str
    paper_bytes: int | None
    page_bytes: int
    channels: int

    @property
    def pages(self) -> tuple[int, ...]:
        """Sizes of reads, in its pages."""
        return tuple(size // self.page_bytes for size in READ_SIZES)


RAW = "host.command_ns=20000"
A = Subject(
    "A", "sim:ryu-a", (RAW, "ftl.phase_bytes=0"), "rmw_unit_bytes", 16 * KIB, 4096, channels=4
)
B = Subject("B", "sim:ryu-b", (RAW,), "merge_unit_bytes", 1 << 20, 2048, channels=4)
C = Subject(
    "C", "sim:ryu-c", (RAW, "nand.blocks_per_plane=2048"), "rmw_unit_bytes", 4 * KIB, 4096, 10
)
DRIVES = (A, B, C)
TARGET = Subject("the target", "target", (), "rmw_unit_bytes", None, 4096, channels=4)


@dataclass(frozen=True)
class Cause:
    """Why paper, procedure and probe do not say the same, and the run that shows it."""

    why: str
    tried: str


@dataclass(frozen=True)
class Readings:
    """What three readings of one sweep give.

    Attributes
    ----------
    mean_ns
        Mean response time by position; shape (positions,).
    """

    printed: Answer
    repaired: Answer
    by_differences: Answer
    mean_ns: npt.NDArray[np.float64]


@dataclass
class Detecting:
    """One run of the detectors; what several figures need is measured once.

    Attributes
    ----------
    target
        A drive in place of the paper's.
    """

    seed: int
    target: Device | None = None
    probed: Probed = field(init=False)
    _readings: dict[tuple[Subject, Sweep], Readings] = field(default_factory=dict)
    _gaps: dict[Subject, allocation.Gap] = field(default_factory=dict)
    _curves: dict[tuple[Subject, tuple[str, ...]], npt.NDArray[np.float64]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        """Give the probes the same drives."""
        self.probed = Probed(self.seed, self.target)

    @property
    def subjects(self) -> Sequence[Subject]:
        """The drives that are measured."""
        return DRIVES if self.target is None else (TARGET,)

    def bench(self, subject: Subject) -> Bench:
        """Put a copy of a drive on a bench."""
        return self.probed.bench(subject.uri, subject.sets)

    def read_off(self, subject: Subject, sweep: Sweep) -> Readings:
        """Run figure 6 on a drive: as printed, then on the drive as it was the repaired one."""
        key = (subject, sweep)
        if key not in self._readings:
            both = []
            for printed in (True, False):
                tried = self.bench(subject)
                with tried.allowance(sweep.planned_writes_bytes(printed=printed)):
                    both.append(sweep.run(tried, printed=printed))
            shift = sweep.shift_bytes
            self._readings[key] = Readings(
                shift_write.as_printed(both[0], shift),
                shift_write.repaired(both[1], shift),
                shift_write.by_differences(both[1][0], shift),
                both[1].mean(axis=(0, 2)),
            )
        return self._readings[key]

    def changed(self, subject: Subject, *sets: str) -> Subject:
        """Give a drive with something else in its file, for a cause to be tried."""
        return replace(subject, sets=(*subject.sets, *sets))

    def gap(self, subject: Subject) -> allocation.Gap:
        """Run the five steps of section 2, on a gigabyte or half the drive."""
        if subject not in self._gaps:
            tried = self.bench(subject)
            half = tried.info.capacity_bytes // 2 // subject.page_bytes * subject.page_bytes
            procedure = allocation.TwoOrders(subject.page_bytes, min(RANGE_BYTES, half))
            with tried.allowance(procedure.planned_writes_bytes):
                self._gaps[subject] = procedure.run(tried)
        return self._gaps[subject]

    def curve(self, subject: Subject, *sets: str) -> npt.NDArray[np.float64]:
        """Measure response time by read size, over the host of figures 13 and 14.

        Parameters
        ----------
        sets
            What is changed of the preset, for a cause to be tried.
        """
        key = (subject, sets)
        if key not in self._curves:
            tried = self.probed.bench(subject.uri, sets)
            with tried.allowance(0):
                self._curves[key] = ReadSizes(subject.page_bytes, subject.pages).run(tried)
        return self._curves[key]

    def row(
        self,
        subject: Subject,
        name: str,
        what: str,
        paper: Value | None,
        literal: Value | None,
        cause: Cause | None = None,
        unit: str = "",
    ) -> Claim:
        """Hold the procedure's answer against the paper's, our probe's and the truth.

        Parameters
        ----------
        cause
            Why they do not say the same, if that was tried.
        """
        question = Question(
            f"{subject.label}: {what}",
            name,
            paper,
            literal,
            unit,
            {"KB": KIB, "MB": MIB}.get(unit, 1),
            cause.why if cause else "",
        )
        finding = self.probed.finding(name, subject.uri, subject.sets)
        truth = self.probed.truth(name, subject.uri, subject.sets)
        found = answered(question, finding, truth)
        if cause is None or found.verdict != Verdict.EXPLAINED:
            return found
        return replace(found, tried=cause.tried)
