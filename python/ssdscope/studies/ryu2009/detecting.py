"""The table of the three drives, and figures 4, 6 and 9: the paper's procedures beside our probes.

Figure 6 is run as printed and as repaired. A trial of the whole study has it with all its errors
mended, and with the differences of positions divided instead of the positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Answer, Sweep, repaired
from ssdscope.studies.detectors import refusal, value_of
from ssdscope.studies.measuring import at, counted, in_columns
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.studies.ryu2009 import pictures, placing
from ssdscope.studies.ryu2009.bench import KIB, MIB, RAW, TARGET, A, B, Bench, C, Readings, Subject

SWEEPS: Mapping[str, Sequence[Sweep]] = {
    A.label: [Sweep(size, 2 * KIB, MIB, 64) for size in (32 * KIB, 16 * KIB, 4 * KIB)],
    B.label: [Sweep(MIB, 128 * KIB, 2 * MIB, 640)],
    C.label: [Sweep(size, KIB, 64 * KIB, 384) for size in (8 * KIB, 4 * KIB)],
    TARGET.label: [
        *(Sweep(size, 2 * KIB, 256 * KIB, 32) for size in (32 * KIB, 4 * KIB)),
        *(Sweep(size, KIB, 64 * KIB, 32) for size in (8 * KIB, 4 * KIB)),
        Sweep(32 * KIB, 4 * KIB, 256 * KIB, 32),
    ],
}
"""Those whose repaired reading can find the block come first: writes of a block or more."""
INSIDE = replace(A, label="A, 4 KB into its blocks", sets=(RAW,))
"""As the file of figure 13 lay."""
CHUNKS: Mapping[str, tuple[int, ...]] = {B.label: (1, 64, 640), C.label: (1, 32, 384)}
"""From one chunk to all; B has 565 log blocks, and C's buffer holds 28 writes of 4 KB."""
HALVED = {
    A.label: ("nand.blocks_per_plane=64", "over_provisioning_ratio=0.3"),
    C.label: ("nand.blocks_per_plane=24", "over_provisioning_ratio=0.3"),
}
"""Drives that are small enough to be swept whole."""
AS_HELD = (
    "the drives themselves, not through a file system: a command costs less than in figure 13, A's "
    "blocks begin where it begins; C is cut down to 20 GB"
)
UNIT = (
    "the paper does not say what chunk_size and shift_size count: half a shift here, so that the "
    "loop ends; as printed it then runs over two chunks"
)
RANGE = "T1 and T2 on the first gigabyte, or half the drive if that is less"

Found = Mapping[tuple[Subject, Sweep], Readings]


def table(bench: Bench, progress: StageProgress) -> Measured:
    """Ask the procedures and our probes for all that the paper says of its drives."""
    read: dict[str, Reading] = {}
    for done, subject in enumerate(bench.subjects, start=1):
        read |= block(bench, subject) | allocation(bench, subject) | placing.design(bench, subject)
        progress(f"table: {subject.label}", done / len(bench.subjects))
    rows = [(name, each.literal, each.ours, each.truth) for name, each in read.items()]
    columns = in_columns("what procedure probe truth", rows)
    return Measured(read, columns=columns, notes=[AS_HELD], table=placing.unclaimed(bench))


def block(bench: Bench, subject: Subject) -> dict[str, Reading]:
    """Hold the repaired reading of the first sweep against our probe and the truth."""
    readings = bench.read_off(subject, sweeps_of(bench, subject)[0])
    literal = _kib(readings.repaired.size_bytes)
    finding = bench.probed.finding(subject.block_name, *_where(bench, subject))
    found = _kib(value_of(finding))
    truth = bench.probed.truth(subject.block_name, *_where(bench, subject))
    said = refusal(finding) if found is None else found
    text = "no answer" if literal is None else literal
    if truth is None:
        words = f"{said} KB, by the procedure {text} KB"
        what = f"{subject.label}: management block"
        return {f"another's design: {what}": Reading(words, found is not None and found == literal)}
    true = _kib(truth.value) or 0.0
    asked = [float("nan") if each is None else each for each in (found, literal, true)]
    return {f"block: {subject.label}": Reading(said, asked, literal=text, truth=true)}


def allocation(bench: Bench, subject: Subject) -> dict[str, Reading]:
    """Order- or address-based: figure 9 beside our probe."""
    gap = bench.gap(subject)
    what = f"{subject.label}: allocation"
    return placing.answered(bench, subject, "allocation", what, gap.answer)


def _where(bench: Bench, subject: Subject) -> tuple[str, tuple[str, ...]]:
    return f"sim:{subject.drive}", bench.sets(subject.drive, subject.sets)


def _kib(size_bytes: object) -> float | None:
    return size_bytes / KIB if isinstance(size_bytes, int | float) else None


def figure_4(bench: Bench, progress: StageProgress) -> Measured:
    """Ask a probe for the buffers that take up writes, in MB."""
    read = {}
    for done, subject in enumerate(bench.subjects, start=1):
        finding = bench.probed.finding(
            "write_buffer_bytes", f"sim:{subject.drive}", bench.sets(subject.drive)
        )
        read[f"buffer: {subject.label}"] = Reading((_kib(value_of(finding)) or 0.0) / KIB)
        progress(f"figure 4: {subject.label}", done / len(bench.subjects))
    return Measured(read)


def sweeps_of(bench: Bench, subject: Subject) -> list[Sweep]:
    """Return the sweeps of a drive; of a target those that its blocks allow."""
    size = 1 if bench.target is None else bench.target.info.logical_block_bytes
    label = A.label if subject == INSIDE else subject.label
    return [each for each in SWEEPS[label] if each.shift_bytes % size == 0]


def figure_6(bench: Bench, progress: StageProgress) -> Measured:
    """Run every sweep, as printed and as repaired."""
    found: dict[tuple[Subject, Sweep], Readings] = {}
    for done, subject in enumerate(bench.subjects, start=1):
        for sweep in sweeps_of(bench, subject):
            found[subject, sweep] = bench.read_off(subject, sweep)
        progress(f"figure 6: {subject.label}", done / (len(bench.subjects) + 1))
    read: dict[str, Reading] = {} if bench.target else {"printed": printed(found)}
    for (subject, sweep), each in found.items():
        name = "another's design" if bench.target else "repaired"
        key = f"{name}: {named(subject, sweep)}: figure 6 with (a) to (d) repaired"
        read[key] = repaired_reading(subject, each.repaired)
    for subject in bench.subjects:
        read |= block(bench, subject)
    notes = [UNIT] if bench.target else [UNIT, AS_HELD]
    if bench.target is None:
        read |= block(bench, INSIDE)
        read |= {f"chunks: {label}": chunks(bench, label) for label in CHUNKS}
        read |= {
            f"half of the chunks: {label}, {state}": half(bench, f"{label}, {state}")
            for label in HALVED
            for state in ("new", "filled")
        }
    return Measured(read, partial(pictures.sweeps, found), columns(found), notes)


def named(subject: Subject, sweep: Sweep) -> str:
    """Name a sweep."""
    sizes = _size(sweep.write_bytes), _size(sweep.shift_bytes)
    return f"{subject.label}, writes of {sizes[0]} shifted by {sizes[1]}"


def _size(size_bytes: int) -> str:
    return f"{size_bytes // MIB} MB" if size_bytes >= MIB else f"{size_bytes // KIB} KB"


def printed(found: Found) -> Reading:
    """Ask whether the pseudo-code as printed gives the paper's blocks."""
    right = sum(_is_block(key[0], each.printed) for key, each in found.items())
    none = sum(each.printed.size_bytes is None for each in found.values())
    said = f"right in {right} of {len(found)} sweeps, no answer in {none}"
    return Reading(said, right / len(found))


def repaired_reading(subject: Subject, answer: Answer) -> Reading:
    """Ask whether the pseudo-code repaired gives the paper's block."""
    said = "no answer" if answer.size_bytes is None else _size(answer.size_bytes)
    return Reading(said, _is_block(subject, answer))


def _is_block(subject: Subject, answer: Answer) -> bool:
    return answer.size_bytes is not None and answer.size_bytes == subject.paper_bytes


def chunks(bench: Bench, label: str) -> Reading:
    """Look for the block in few and in many chunks of a drive."""
    subject = next(each for each in bench.subjects if each.label == label)
    first = SWEEPS[label][0]
    return many_needed(subject, {
        count: repaired(bench.sweep(subject, replace(first, chunks=count)), first.shift_bytes)
        for count in CHUNKS[label]
    })  # fmt: skip


def many_needed(subject: Subject, answers: Mapping[int, Answer]) -> Reading:
    """Ask whether the most chunks give the block, and the fewest do not."""
    said = "; ".join(
        f"{count} chunks: {repaired_reading(subject, each).ours}" for count, each in answers.items()
    )
    few, *_, many = (_is_block(subject, each) for each in answers.values())
    return Reading(said, many and not few)


def half(bench: Bench, case: str) -> Reading:
    """Return what is moved by a sweep of half of the chunks, over what one of all of them moves."""
    label, _, state = case.partition(", ")
    subject = next(each for each in bench.subjects if each.label == label)
    first = SWEEPS[label][-1]
    moved, found = [], []
    for share in (0.5, 1.0):
        sets = (*subject.sets, *HALVED[label])
        device = bench.open(subject.drive, sets, "fresh" if state == "new" else "sequential")
        chunks = np.arange(int(share * (device.info.capacity_bytes // first.chunk_bytes)))
        shifts = np.arange(first.count(printed=False) - 8) * first.shift_bytes
        places = (shifts[:, None] + chunks * first.chunk_bytes).ravel()
        _, grown = counted(device, at, "write", places, first.write_bytes)
        written = places.size * first.write_bytes / subject.page_bytes
        moved.append(float(grown["gc_pages_moved"] / written))
        found.append(chunks.size)
    said = (
        f"{moved[0]:.2f} pages moved for each one written in {found[0]} chunks, {moved[1]:.2f} in "
        f"all {found[1]}"
    )
    return Reading(said, moved[0] / moved[1] if moved[1] else float("nan"))


def columns(found: Found) -> Columns:
    """Return the mean of every position."""
    rows = [
        (subject.label, sweep.write_bytes, position * sweep.shift_bytes, float(value))
        for (subject, sweep), each in found.items()
        for position, value in enumerate(each.mean_ns)
    ]
    return in_columns("drive write_bytes offset_bytes mean_ns", rows)


def figure_9(bench: Bench, progress: StageProgress) -> Measured:
    """Read in order after random and after sequential writes: T1 and T2."""
    read: dict[str, Reading] = {}
    for done, subject in enumerate(bench.subjects, start=1):
        read |= allocation(bench, subject) | gap(bench, subject)
        progress(f"figure 9: {subject.label}", done / len(bench.subjects))
    gaps = {each.label: bench.gap(each) for each in bench.subjects}
    columns = in_columns("drive t1_ns t2_ns", [(k, g.t1_ns, g.t2_ns) for k, g in gaps.items()])
    notes = [RANGE] if bench.target else [RANGE, AS_HELD]
    return Measured(read, partial(pictures.orders, gaps), columns, notes)


def gap(bench: Bench, subject: Subject) -> dict[str, Reading]:
    """Return by how much T1 is longer than T2, in percent."""
    found = 100 * bench.gap(subject).share
    if bench.target is not None:
        name = "another's gap: reads after random writes against those after sequential ones"
        return {name: Reading(f"{found:+.1f} %", found > 5 or abs(found) <= 3)}
    name = "gap of C" if subject.label == C.label else f"no gap: {subject.label}"
    return {name: Reading(round(found, 1) + 0.0, found)}
