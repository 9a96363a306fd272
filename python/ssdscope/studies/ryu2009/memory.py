"""Figure 4's memory buffers: 32, 16 and 16 MB, and what they would do if they took up writes.

A probe finds none on A and B, and 112 KB on C, as kuo2009 did on the same model of drive. So each
drive is run with a write buffer of the size that figure 4 gives: a cell of figure 13, and the
shifted writes of figure 7. What both show of the drives, such a buffer would hide.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ssdscope.findings import Detected
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.judging import claim, explained, quoted
from ssdscope.studies.record import Claim
from ssdscope.studies.ryu2009 import iozone, shift_write
from ssdscope.studies.ryu2009.detecting import KIB, MIB, A, B, C, Detecting, Subject
from ssdscope.targets import open_target
from ssdscope.workloads import Workload

BYTES: Mapping[Subject, int] = {A: 32 * MIB, B: 16 * MIB, C: 16 * MIB}
CELL_KIB: Mapping[Subject, int] = {A: 4, B: 32, C: 4}
"""The random writes of figure 13 that are tried; on B smaller ones take far longer to run."""
ELSEWHERE = (
    "the memory of figure 4 is no buffer that takes up writes; it may hold tables, and pages on "
    "their way"
)


@dataclass(frozen=True)
class Tried:
    """A drive whose write buffer is as large as the memory of figure 4.

    Attributes
    ----------
    kib_per_s, paper_kib_per_s
        Of random writes of `request_kib`, kept up, and as figure 13 has them.
    shifted
        Figure 7's writes.
    """

    request_kib: int
    kib_per_s: float
    paper_kib_per_s: int
    shifted: shift_write.Points

    @property
    def fits(self) -> bool:
        """Whether figures 13 and 7 could be those of such a drive."""
        block = self.shifted.subject.paper_bytes
        return quoted(self.paper_kib_per_s, self.kib_per_s) and self.shifted.period_bytes == block


def rows(detecting: Detecting, progress: StageProgress) -> list[Claim]:
    """Hold what probes find against figure 4, and try what it says."""
    told = []
    for subject in BYTES:
        plain = replace(subject, sets=())
        finding = detecting.probed.finding("write_buffer_bytes", plain.uri, plain.sets)
        found = finding.value if isinstance(finding, Detected) else None
        size = None if found is None else float(found)
        told.append(row(subject, size, attempt(detecting, plain, BYTES[subject])))
        progress(f"figure 4: {subject.label}", len(told) / len(BYTES))
    return told


def row(subject: Subject, found_bytes: float | None, tried: Tried) -> Claim:
    """Give the row of a drive; explained if the buffer that was tried contradicts the paper."""
    paper = BYTES[subject]
    made = claim(
        f"{subject.label}: memory buffer, as far as it takes up writes",
        f"{paper // MIB} MB",
        "none" if found_bytes is None else f"{found_bytes / KIB:g} KB",
        "",
        holds=found_bytes is not None and quoted(paper, found_bytes),
    )
    if tried.fits:
        return made
    sweep, period = tried.shifted.sweep, tried.shifted.period_bytes
    told = (
        f"with a write buffer of {paper // MIB} MB random writes of {tried.request_kib} KB keep up "
        f"{tried.kib_per_s:,.0f} KiB/s (figure 13: {tried.paper_kib_per_s:,}), and writes of "
        f"{sweep.write_bytes // KIB} KB shifted by {sweep.shift_bytes // KIB} KB repeat "
        + ("at no distance" if period is None else f"every {period // KIB} KB")
    )
    return explained(made, ELSEWHERE, told)


def attempt(detecting: Detecting, plain: Subject, buffer_bytes: int) -> Tried:
    """Run a drive with such a write buffer."""
    sets = (f"write_buffer.bytes={buffer_bytes}",)
    (subject,) = (each for each in BYTES if each.label == plain.label)
    size_kib = CELL_KIB[subject]
    device = open_target(plain.uri, state=iozone.STATE, sets=sets, seed=detecting.seed).device
    cell = Workload(
        rw="randwrite",
        block_bytes=size_kib * KIB,
        size_bytes=iozone.REGION_BYTES,
        requests=iozone.REQUESTS,
        seed=detecting.seed,
    )
    name = plain.uri.removeprefix("sim:")
    paper = iozone.PUBLISHED_KIB_PER_S[name, "randwrite"][iozone.SIZES_KIB.index(size_kib)]
    sweep = next(sweep for each, sweep in shift_write.DRAWN if each.label == plain.label)
    return Tried(
        size_kib,
        iozone.measure_cell(device, cell).kib_per_s,
        paper,
        shift_write.run_sweep(detecting, replace(plain, sets=sets), sweep),
    )
