"""Order- or address-based allocation: sequential reads after random and after sequential writes.

The paper's five steps, on the first gigabyte: write it in random order in pages, read it in order
in four pages (T1), write it in order in pages, read it again (T2). A drive that places what is
written in the order it comes in reads slower the first time. A and B showed almost no difference,
C 15 %.

The paper measured this with Iometer, on the drives themselves; figure 13, to which the presets are
fitted, with iozone through a file system. So a command costs less here (`HOST`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.judging import claim, explained, quoted
from ssdscope.studies.record import Claim
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload

RANGE_BYTES = 1 << 30
HOST = ("host.command_ns=20000",)
"""A command without a file system; as in kuo-intel-mlc, where C is measured raw."""
SMALL = 0.03
"""Up to this gap two times are called the same."""
FASTER = ("host.command_ns=0", "host.bytes_per_second=300e6")
"""The fastest host of that time: a link of 300 MB/s (SATA), and commands that take no time."""
SLOW_HOST = (
    "what the host takes is in T1 and T2 alike and makes their gap smaller; the paper does not say "
    "what its own took"
)


@dataclass(frozen=True)
class Subject:
    """A drive, its page and the gap that the paper found, in percent."""

    drive: str
    page_bytes: int
    paper_percent: float


SUBJECTS = (
    Subject("ryu-a", 4096, 0.0),
    Subject("ryu-b", 2048, 0.0),
    Subject("ryu-c", 4096, 15.0),
)


@dataclass(frozen=True)
class Gap:
    """Mean time of a read after random (T1) and after sequential writes (T2)."""

    subject: Subject
    t1_ns: float
    t2_ns: float

    @property
    def percent(self) -> float:
        """How much longer T1 is than T2."""
        return 100 * (self.t1_ns / self.t2_ns - 1)


def measure(seed: int, progress: StageProgress) -> tuple[list[Gap], list[Gap]]:
    """Run the five steps on every drive; again behind a faster host where they show another gap."""
    gaps = []
    for subject in SUBJECTS:
        gaps.append(gap(subject, seed))
        progress(f"allocation: {subject.drive}", len(gaps) / len(SUBJECTS))
    others = [
        each.subject for each in gaps if not is_like(each.percent, each.subject.paper_percent)
    ]
    return gaps, [gap(each, seed, host=FASTER) for each in others]


def gap(
    subject: Subject, seed: int, range_bytes: int = RANGE_BYTES, host: Sequence[str] = HOST
) -> Gap:
    """Run the five steps on a drive that was written once in order."""
    target = open_target(f"sim:{subject.drive}", state="sequential", sets=host, seed=seed)
    return gap_on(target.device, subject, seed, range_bytes)


def gap_on(device: Device, subject: Subject, seed: int, range_bytes: int) -> Gap:
    """Run the five steps on a drive as it is."""
    _write(device, "randwrite", subject, range_bytes, seed)
    t1_ns = _read(device, subject, range_bytes)
    _write(device, "write", subject, range_bytes, seed)
    return Gap(subject, t1_ns, _read(device, subject, range_bytes))


def _write(device: Device, rw: str, subject: Subject, range_bytes: int, seed: int) -> None:
    plan = Workload(
        rw=rw,
        block_bytes=subject.page_bytes,
        size_bytes=range_bytes,
        io_bytes=range_bytes,
        seed=seed,
    )
    device.run(plan).whole()


def _read(device: Device, subject: Subject, range_bytes: int) -> float:
    plan = Workload(rw="read", block_bytes=4 * subject.page_bytes, size_bytes=range_bytes)
    return device.run(plan).whole().only().latency_ns.mean


def compare(gaps: Sequence[Gap], faster: Sequence[Gap]) -> list[Claim]:
    """Give each drive's gap beside the paper's.

    Parameters
    ----------
    faster
        Gaps behind the fastest host of that time, of the drives whose gap is another.
    """
    tried = {each.subject: each for each in faster}
    return [row(each, tried.get(each.subject)) for each in gaps]


def as_one_of_the_paper_s(found: Gap) -> Claim:
    """Say whether another drive is like one of the paper's."""
    return claim(
        "sequential reads after random writes take longer than after sequential ones by",
        "A, B: 0; C: 15",
        round(found.percent, 1),
        "%",
        holds=any(is_like(found.percent, each.paper_percent) for each in SUBJECTS),
    )


def is_like(percent: float, paper_percent: float) -> bool:
    """Whether a gap is the paper's: "almost none", or the number that it gives."""
    if paper_percent:
        return quoted(paper_percent, percent)
    return abs(percent) <= 100 * SMALL


def row(found: Gap, faster: Gap | None = None) -> Claim:
    """Give a gap beside the paper's; explained if it is the paper's behind a faster host."""
    paper = found.subject.paper_percent
    if paper:
        what = "4 KB writes are allocated as by order-based allocation: reads in their order gain"
    else:
        what = "sequential reads do not care in which order was written: address-based"
    made = claim(
        f"{found.subject.drive}: {what}",
        paper,
        round(found.percent, 1),
        "%",
        holds=is_like(found.percent, paper),
    )
    if faster is None or not is_like(faster.percent, paper):
        return made
    tried = f"over 300 MB/s, with commands that take no time: {faster.percent:.1f} %"
    return explained(made, SLOW_HOST, tried)
