"""Figure 6: the size of the management block, by the pseudo-code as printed and as repaired."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.results.files import creating
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.ryu2009.detecting import (
    ANY_DRIVE,
    KIB,
    MIB,
    RAW,
    TARGET,
    A,
    B,
    C,
    Detecting,
    Readings,
    Subject,
)

SWEEPS: Mapping[Subject, Sequence[Sweep]] = {
    A: [Sweep(size, 2 * KIB, MIB, 64) for size in (32 * KIB, 16 * KIB, 4 * KIB)],
    B: [Sweep(MIB, 128 * KIB, 2 * MIB, 80)],
    C: [Sweep(size, KIB, 64 * KIB, 384) for size in (8 * KIB, 4 * KIB)],
    TARGET: [
        *(Sweep(size, 2 * KIB, 256 * KIB, 32) for size in (32 * KIB, 4 * KIB)),
        *(Sweep(size, KIB, 64 * KIB, 32) for size in (8 * KIB, 4 * KIB)),
        Sweep(32 * KIB, 4 * KIB, 256 * KIB, 32),
    ],
}
"""Those whose repaired reading can find the block come first: writes of a block or more."""
INSIDE = replace(A, label="A, 4 KB into its blocks", sets=(RAW,))
"""As the file of figure 13 lay."""
PRINTED = (
    "as printed the sums are never reset, so that no position stands out, and the bound and the "
    "mean count in different units"
)
SMALL = (
    "slow positions of writes below the block are no multiples of it, so that their greatest "
    "common divisor is not the block"
)
PHASE = (
    "positions count from the start of the drive, which is not where a block begins: the divisor "
    "of 6, 14, 22, ... is 2"
)
NOT_ALIKE = "the repaired reading does not give the paper's block, and we have found no reason"

Measured = Mapping[tuple[Subject, Sweep], Readings]


def sweeps_of(detecting: Detecting, subject: Subject) -> list[Sweep]:
    """Give the sweeps of a drive; of a target those that its blocks allow."""
    block = 1 if detecting.target is None else detecting.target.info.logical_block_bytes
    return [each for each in SWEEPS[subject] if each.shift_bytes % block == 0]


def measure(detecting: Detecting, subject: Subject) -> dict[tuple[Subject, Sweep], Readings]:
    """Run every sweep of a drive."""
    sweeps = sweeps_of(detecting, subject)
    return {(subject, sweep): detecting.read_off(subject, sweep) for sweep in sweeps}


def compare(detecting: Detecting, found: Measured) -> list[Claim]:
    """Give what each reading says, then our probe beside the repaired one."""
    rows = [_printed(found), *(_repaired(*key, each) for key, each in found.items())]
    rows += [block_row(detecting, subject) for subject in detecting.subjects]
    if detecting.target is None:
        inside = detecting.read_off(INSIDE, SWEEPS[A][0])
        rows.append(_row(detecting, INSIDE, inside.repaired.size_bytes, PHASE))
    return rows


def block_row(detecting: Detecting, subject: Subject) -> Claim:
    """Hold the repaired reading of the first sweep against paper, probe and truth."""
    sweeps = sweeps_of(detecting, subject)
    found = detecting.read_off(subject, sweeps[0]).repaired.size_bytes
    return _row(detecting, subject, found, "")


def _row(detecting: Detecting, subject: Subject, found: int | None, because: str) -> Claim:
    what = "management block (procedure: figure 6 repaired)"
    paper = subject.paper_bytes
    unit = "MB" if max(paper or 0, found or 0) >= MIB else "KB"
    return detecting.row(subject, subject.block_name, what, paper, found, because, unit)


def _printed(found: Measured) -> Claim:
    right = sum(
        each.printed.size_bytes is not None and each.printed.size_bytes == subject.paper_bytes
        for (subject, _), each in found.items()
    )
    none = sum(each.printed.size_bytes is None for each in found.values())
    return Claim(
        "figure 6 as printed: the management block",
        "16 KB, 1 MB, 4 KB",
        f"right in {right} of {len(found)} sweeps, no answer in {none}",
        "",
        Verdict.AGREES if right == len(found) else Verdict.EXPLAINED,
        "" if right == len(found) else PRINTED,
    )


def _repaired(subject: Subject, sweep: Sweep, found: Readings) -> Claim:
    paper = subject.paper_bytes
    right = paper is not None and found.repaired.size_bytes == paper
    small = paper is not None and sweep.write_bytes <= paper and not right
    why = ANY_DRIVE if paper is None else SMALL if small else NOT_ALIKE
    wrong = Verdict.EXPLAINED if small else Verdict.DIFFERS
    return Claim(
        f"{subject.label}, writes of {_size(sweep.write_bytes)} shifted by "
        f"{_size(sweep.shift_bytes)}: figure 6 with (a) to (d) repaired",
        "-" if paper is None else _size(paper),
        f"{_told(found.repaired)}; by differences of positions {_told(found.by_differences)}",
        "",
        Verdict.AGREES if right else Verdict.EXPLAINED if paper is None else wrong,
        "" if right else why,
    )


def _told(answer: Answer) -> str:
    return "no answer" if answer.size_bytes is None else _size(answer.size_bytes)


def _size(size_bytes: int) -> str:
    return f"{size_bytes // MIB} MB" if size_bytes >= MIB else f"{size_bytes // KIB} KB"


def write_table(found: Measured, path: Path) -> Path:
    """Write the mean of every position as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(["drive", "write_bytes", "offset_bytes", "mean_ns"])
        for (subject, sweep), each in found.items():
            for position, value in enumerate(each.mean_ns):
                offset = position * sweep.shift_bytes
                table.writerow([subject.label, sweep.write_bytes, offset, float(value)])
    return path
