"""What the figures are measured with: the paper's drives, opened as a run's settings say.

Figure 13, to which the presets are fitted, was measured with iozone through a file system; the
detectors wrote to the drives themselves. There a command costs less (`RAW`), and A's blocks begin
where the drive begins. C is cut down to 20 GB. Of B a sweep shifts writes in more chunks than it
has log blocks, so that they are used up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.probes.bench.ledger import Bench as Ledger
from ssdscope.probes.literal import shift_write
from ssdscope.probes.literal.allocation import Gap, TwoOrders
from ssdscope.probes.literal.placement import ReadSizes
from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.studies.detectors import Probed
from ssdscope.studies.paper import load
from ssdscope.studies.running import Settings
from ssdscope.targets import Device, open_target

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PAPER = load("ryu2009")
RAW = "host.command_ns=20000"
"""A command without a file system; as in kuo-intel-mlc, where C is measured raw."""
NO_HOST = ("host.command_ns=0", "host.bytes_per_second=10e9", "host.queue_depth=32")
"""A host that is no bound: what is left is the drive's own time."""
NO_MAP = ("map.write_back_ns=0", "map.load_ns=0")
NO_GC = "over_provisioning_ratio=0.5"
"""More spare than is written: nothing is collected."""
A_PLAIN = ("ftl.phase_bytes=0", *NO_MAP, "scheduler.way_interleave=true")
"""A's chips and channels, without what was fitted to its random writes."""
READ_SIZES = tuple(range(4 * KIB, 132 * KIB, 4 * KIB))
"""Of the reads by which placement is told, as in figure 14."""


@dataclass(frozen=True)
class Subject:
    """A drive as the detectors have it.

    Attributes
    ----------
    block_name
        The property that its management block is.
    """

    label: str
    drive: str
    sets: tuple[str, ...]
    block_name: str
    page_bytes: int
    channels: int

    @property
    def pages(self) -> tuple[int, ...]:
        """Sizes of reads, in its pages."""
        return tuple(size // self.page_bytes for size in READ_SIZES)

    @property
    def paper_bytes(self) -> int | None:
        """The management block that the paper found; None for a drive that it does not have."""
        blocks = PAPER.rows["block"].paper
        known = blocks if isinstance(blocks, Mapping) else {}
        return int(float(known[self.label]) * KIB) if self.label in known else None


A = Subject("A", "ryu-a", (RAW, "ftl.phase_bytes=0"), "rmw_unit_bytes", 4096, 4)
B = Subject("B", "ryu-b", (RAW,), "merge_unit_bytes", 2048, 4)
C = Subject("C", "ryu-c", (RAW, "nand.blocks_per_plane=2048"), "rmw_unit_bytes", 4096, 10)
DRIVES = (A, B, C)
TARGET = Subject("the target", "", (), "rmw_unit_bytes", 4096, 4)


@dataclass(frozen=True)
class Readings:
    """What two readings of one sweep give; both are mended if the run's settings say so.

    Attributes
    ----------
    mean_ns
        Mean response time by position; shape (positions,).
    """

    printed: Answer
    repaired: Answer
    mean_ns: npt.NDArray[np.float64]


class Bench:
    """The drives under a run's settings; what several figures need is measured once.

    Parameters
    ----------
    settings
        By name of a drive what is changed of it (lists of ``KEY=VALUE``); ``mended_code``,
        ``mended_equations``: figures 6 and 11 with their errors put right; ``use``: what the drives
        went through; ``scale``: how many times as many blocks the drives of figures 2 and 3 have;
        ``region``, ``range``: bytes of figures 13 and 9; ``requests``: of a cell of figure 13;
        ``chunks``: the share of figure 6's that is swept.
    target
        A drive in place of the paper's.
    pool
        What other benches of a run measured; a setting that does not touch a drive leaves it so.
    """

    def __init__(
        self,
        seed: int,
        settings: Settings,
        target: Device | None = None,
        pool: dict[Any, Any] | None = None,
    ) -> None:
        self.seed, self.settings, self.target = seed, settings, target
        self.pool = {} if pool is None else pool
        self.probed: Probed = self.pool.setdefault(seed, Probed(seed, target))

    def key(self, what: Any, drive: str, *names: str) -> tuple[Any, ...]:
        """Return what tells a measurement of a drive from others: the settings that it hangs on."""
        used = tuple(self.settings.get(name) for name in names)
        return self.seed, what, drive, self.sets(drive), used

    def once(self, key: tuple[Any, ...], measure: Callable[[], Any]) -> Any:
        """Measure once what several figures, or benches, need."""
        if key not in self.pool:
            self.pool[key] = measure()
        return self.pool[key]

    @property
    def subjects(self) -> Sequence[Subject]:
        """The drives that the detectors measure."""
        return DRIVES if self.target is None else (TARGET,)

    def sets(self, drive: str, sets: Sequence[str] = ()) -> tuple[str, ...]:
        """Return what is changed of a drive, the run's own changes last, so that they hold."""
        return (*sets, *self.settings.get(drive, ()))

    def open(self, drive: str, sets: Sequence[str] = (), state: str | None = None) -> Device:
        """Open a copy of a drive."""
        changed = self.sets(drive, sets)

        def opened() -> Device:
            return open_target(f"sim:{drive}", state=state, sets=changed, seed=self.seed).device

        device: Device = self.once((self.seed, drive, changed, state), opened)
        return device.fork()

    def ledger(self, subject: Subject) -> Ledger:
        """Put a copy of a drive where a procedure of the paper can run on it."""
        return self.probed.bench(f"sim:{subject.drive}", self.sets(subject.drive, subject.sets))

    def sweep(self, subject: Subject, sweep: Sweep, *, printed: bool = False) -> Any:
        """Write both passes of figure 6; response times by pass, position and chunk."""
        chunks = max(1, int(sweep.chunks * self.settings.get("chunks", 1)))
        sweep = replace(sweep, chunks=chunks)
        tried = self.ledger(subject)
        with tried.allowance(sweep.planned_writes_bytes(printed=printed)):
            return sweep.run(tried, printed=printed)

    def read_off(self, subject: Subject, sweep: Sweep) -> Readings:
        """Run figure 6: as printed, then on the drive as it was the repaired one."""

        def measure() -> tuple[Readings, Readings]:
            printed = self.sweep(subject, sweep, printed=True)
            right = self.sweep(subject, sweep)
            shift, means = sweep.shift_bytes, right.mean(axis=(0, 2))
            as_printed = shift_write.as_printed(printed, shift)
            mended = shift_write.by_differences(right[0], shift)
            return (
                Readings(as_printed, shift_write.repaired(right, shift), means),
                Readings(mended, mended, means),
            )

        key = self.key((subject, sweep), subject.drive, "chunks")
        plain, mended = self.once(key, measure)
        found: Readings = mended if self.settings.get("mended_code") else plain
        return found

    def gap(self, subject: Subject) -> Gap:
        """Run the five steps of section 2, on a gigabyte or half the drive."""

        def measure() -> Gap:
            tried = self.ledger(subject)
            half = tried.info.capacity_bytes // 2 // subject.page_bytes * subject.page_bytes
            procedure = TwoOrders(subject.page_bytes, min(self.settings.get("range", GIB), half))
            with tried.allowance(procedure.planned_writes_bytes):
                return procedure.run(tried)

        found: Gap = self.once(self.key(("gap", subject), subject.drive, "range"), measure)
        return found

    def curve(self, subject: Subject, *sets: str) -> npt.NDArray[np.float64]:
        """Measure response time by read size; over the host of figure 13 unless `sets` say more."""

        def measure() -> Any:
            tried = self.ledger(replace(subject, sets=sets))
            with tried.allowance(0):
                return ReadSizes(subject.page_bytes, subject.pages).run(tried)

        return np.asarray(self.once(self.key((subject, sets), subject.drive), measure))
