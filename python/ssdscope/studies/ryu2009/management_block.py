"""Figure 6: the size of the management block, by the pseudo-code as printed and as repaired."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.results.files import creating
from ssdscope.studies.judging import claim, explained
from ssdscope.studies.record import Claim
from ssdscope.studies.ryu2009.detecting import (
    KIB,
    MIB,
    RAW,
    TARGET,
    A,
    B,
    C,
    Cause,
    Detecting,
    Readings,
    Subject,
)

SWEEPS: Mapping[Subject, Sequence[Sweep]] = {
    A: [Sweep(size, 2 * KIB, MIB, 64) for size in (32 * KIB, 16 * KIB, 4 * KIB)],
    B: [Sweep(MIB, 128 * KIB, 2 * MIB, 640)],
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
    rows = [printed_row(found), *(repaired_row(*key, each) for key, each in found.items())]
    rows += [block_row(detecting, subject) for subject in detecting.subjects]
    if detecting.target is None:
        inside = detecting.read_off(INSIDE, SWEEPS[A][0])
        rows.append(_row(detecting, INSIDE, inside.repaired.size_bytes, _phase(inside)))
    return rows


def _phase(inside: Readings) -> Cause | None:
    """Try positions counted from where a block begins: their differences do not care."""
    if inside.by_differences.size_bytes != INSIDE.paper_bytes:
        return None
    return Cause(PHASE, f"the differences of these positions give {_told(inside.by_differences)}")


def block_row(detecting: Detecting, subject: Subject) -> Claim:
    """Hold the repaired reading of the first sweep against paper, probe and truth."""
    sweeps = sweeps_of(detecting, subject)
    found = detecting.read_off(subject, sweeps[0]).repaired.size_bytes
    return _row(detecting, subject, found)


def _row(
    detecting: Detecting, subject: Subject, found: int | None, cause: Cause | None = None
) -> Claim:
    what = "management block (procedure: figure 6 repaired)"
    paper = subject.paper_bytes
    unit = "MB" if max(paper or 0, found or 0) >= MIB else "KB"
    return detecting.row(subject, subject.block_name, what, paper, found, cause, unit)


def printed_row(found: Measured) -> Claim:
    """Ask whether the pseudo-code as printed gives the paper's blocks."""
    right = [key for key, each in found.items() if _is_block(key[0], each.printed)]
    none = sum(each.printed.size_bytes is None for each in found.values())
    row = claim(
        "figure 6 as printed: the management block",
        "16 KB, 1 MB, 4 KB",
        f"right in {len(right)} of {len(found)} sweeps, no answer in {none}",
        "",
        holds=len(right) == len(found),
    )
    mended = [key for key, each in found.items() if _is_block(key[0], each.repaired)]
    if {subject for subject, _ in mended} != {subject for subject, _ in found}:
        return row
    tried = f"repaired, it is right in {len(mended)} of {len(found)} sweeps, on every drive"
    return explained(row, PRINTED, tried)


def repaired_row(subject: Subject, sweep: Sweep, found: Readings) -> Claim:
    """Ask whether the pseudo-code repaired gives the paper's block from one sweep."""
    paper = subject.paper_bytes
    row = claim(
        f"{subject.label}, writes of {_size(sweep.write_bytes)} shifted by "
        f"{_size(sweep.shift_bytes)}: figure 6 with (a) to (d) repaired",
        "not said" if paper is None else _size(paper),
        _told(found.repaired),
        "",
        holds=_is_block(subject, found.repaired),
    )
    if found.repaired.side != "slow" or not _is_block(subject, found.by_differences):
        return row
    tried = f"the differences of these positions give {_told(found.by_differences)}"
    return explained(row, SMALL, tried)


def _is_block(subject: Subject, answer: Answer) -> bool:
    """Say whether an answer is the block that the paper found; of a target it found none."""
    return answer.size_bytes is not None and answer.size_bytes == subject.paper_bytes


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
