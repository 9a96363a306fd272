"""Figures 29, 30, 34 and 35, tables 3 and 4: the effective block, and the effective page."""

from collections.abc import Mapping, Sequence

import numpy as np

from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import effective_block, effective_page
from ssdscope.probes.literal.effective_page import THRESHOLD_SHARE, ShiftedPairs
from ssdscope.probes.plan import State, Stopped
from ssdscope.studies.kuo2009 import cases
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MIB,
    SECTOR,
    Drives,
    Served,
    Times,
    merges_of,
    number,
    numbers,
    read,
    share_of,
    size,
    span,
    write,
)
from ssdscope.studies.kuo2009.detecting import Subject, bench, panel, row, subjects
from ssdscope.studies.kuo2009.page import EXAMPLE_PAGE, FOUR_SECTORS
from ssdscope.studies.record import Columns, Measured, Reading

DRIVE, BLOCK = "transcend-slc", MIB
DISTANCE = 64 * MIB
WRITES = 24
STEADY = (
    'the paper leaves open when throughput is steady and what "the MAX" is: here two windows of 16 '
    "writes (and 32 MB) within 5 %, and 95 % of the best rate of all sizes"
)
TRANSCEND, SAMSUNG = Subject("Transcend SLC", DRIVE), Subject("Samsung SLC", "samsung-slc")
MTRON = Subject("Mtron SLC", "mtron-slc")
BLOCKS = {"Transcend SLC": MIB, "Samsung SLC": 4 * MIB, "Mtron SLC": 4 * MIB}


def figure_29(drives: Drives, _: StageProgress) -> Measured:
    """Count how the two cases of the drawing are merged, and how often small writes collect."""
    runs = {"x = 512 KB": _merged(drives, BLOCK // 2), "x = 1 MB": _merged(drives, BLOCK)}
    small = [_merged(drives, BLOCK >> step).counts["gc_runs"] / WRITES for step in (4, 3, 2, 1, 0)]
    kinds = ("switch", "partial", "full")
    columns: Columns = {
        "case": list(runs),
        **{kind: [run.counts[kind] for run in runs.values()] for kind in kinds},
        "gc_pages_moved": [run.counts["gc_pages_moved"] for run in runs.values()],
    }
    texts = [
        f"{merges_of(run.counts)}; {run.counts['gc_pages_moved']} copied" for run in runs.values()
    ]
    part, whole = (run.counts for run in runs.values())
    found = merge_cases(part, whole) | {"every write collects": span(small)}
    return Measured(found, lambda: cases.merge_cases(texts), columns)


def _merged(drives: Drives, length: int) -> Served:
    device = drives.fork(DRIVE)
    offsets = np.arange(2 * WRITES) * DISTANCE
    write(device, offsets[:WRITES], length)
    return write(device, offsets[WRITES:], length)


def merge_cases(part: Mapping[str, int], whole: Mapping[str, int]) -> dict[str, Reading]:
    """Read off what collections do after half blocks, and after whole ones."""
    return numbers(
        {
            "case 1, partial merges": 100 * share_of("partial", part),
            "case 1, copied": part["gc_pages_moved"] / WRITES,
            "case 2, switch merges": 100 * share_of("switch", whole),
            "case 2, copied": whole["gc_pages_moved"] / WRITES,
        }
    )


def figure_30(drives: Drives, _: StageProgress) -> Measured:
    """Run table 3 on the three drives."""
    start = State.AS_FOUND if drives.target is None else State.FILLED
    procedure = effective_block.GrowingWrites(start=start)
    sizes, panels, every = procedure.sizes, [], {}
    found: dict[str, Reading] = {}
    for subject in subjects(drives, (TRANSCEND, SAMSUNG, MTRON)):
        tried = bench(drives, subject)
        with tried.allowance(procedure.planned_writes_bytes(tried.info)):
            rates = procedure.run(tried)
        end = effective_block.answer(sizes, rates)
        found |= row(drives, subject, "merge_unit_bytes", "table 3, effective block", end, MIB)
        if drives.target is None:
            found |= breaks(subject.label, dict(zip(sizes, rates, strict=True)))
        every[subject.label] = rates
        line = Line(None, sizes, np.asarray(rates) / 1e6, 0, 4)
        panels.append(
            Panel(subject.label, [line], "written at once (bytes)", "throughput (MB/s)",
                  sizes=True, marks=[(end, f"detected {size(end)}")])
        )  # fmt: skip
    columns: Columns = {
        "drive": [label for label in every for _ in sizes],
        "size_bytes": [*sizes] * len(every),
        "bytes_per_s": [rate for rates in every.values() for rate in rates],
    }
    return Measured(found, lambda: in_panels(panels, width=3.4), columns, [STEADY])


def breaks(label: str, rates: Mapping[int, float]) -> dict[str, Reading]:
    """Read off whether throughput is steady from the paper's size on, and how far below it is."""
    block = BLOCKS[label]
    beyond = [rate for each, rate in rates.items() if each >= block]
    return numbers(
        {
            f"table 3, break: {label}": rates[block] / rates[block // 2],
            f"table 3, steady: {label}": max(beyond) / min(beyond),
        }
    )


PAGES = {"Transcend SLC": 4, "Samsung SLC": 16}
"""In KB."""
THRESHOLD = (
    "TH_rmw, which the paper does not give, is a quarter of the first request's time, for reads a "
    "tenth"
)


def figure_34(drives: Drives, _: StageProgress) -> Measured:
    """Count the pages that are read first, in the two cases of the drawing, with pages of 2 KB."""
    counted = {
        (length, place): _read_first(drives, length, place)
        for length in (EXAMPLE_PAGE // 2, EXAMPLE_PAGE)
        for place in (0, KIB)
    }
    columns: Columns = {
        "size_bytes": [length for length, _ in counted],
        "offset_bytes": [place for _, place in counted],
        "pages_read_first": list(counted.values()),
    }
    found = {
        f"read first: {length // KIB} KB at {place // KIB} KB": number(count)
        for (length, place), count in counted.items()
    }
    return Measured(found, lambda: cases.page_cases(counted, EXAMPLE_PAGE), columns)


def _read_first(drives: Drives, length: int, place: int) -> int:
    device = drives.unbuffered(DRIVE, *FOUR_SECTORS)
    read(device, 0, SECTOR)
    return write(device, place, length).counts["rmw_reads"]


def figure_35(drives: Drives, _: StageProgress) -> Measured:
    """Run table 4 by writes, and by reads where the buffer cannot be switched off."""
    pairs: dict[str, Times] = {}
    ends: dict[str, int | None] = {}
    found: dict[str, Reading] = {}
    notes = [THRESHOLD] if drives.target is None else []
    for subject in subjects(drives, (TRANSCEND, SAMSUNG)):
        try:
            ends[subject.label], times = _pairs(drives, subject, ShiftedPairs("writes"))
        except Stopped as stop:
            notes.append(f"{subject.label}: no writes, {str(stop.reason).replace('_', ' ')}")
            continue
        pairs[subject.label] = times
        found |= row(drives, subject, "rmw_unit_bytes", "table 4, effective page",
                     ends[subject.label], KIB)  # fmt: skip
        if drives.target is None:
            found |= shifted(subject.label, times)
    plain, by_reads = subjects(drives, (TRANSCEND,))[0], subjects(drives, (MTRON,))[0]
    label = f"{plain.label}: reads"
    end, pairs[label] = _pairs(drives, plain, ShiftedPairs("reads"))
    if drives.target is None:
        found["table 4, reads"] = no_difference(pairs[label])
        label = f"{by_reads.label}: reads"
        end, pairs[label] = _pairs(drives, by_reads, ShiftedPairs("reads"))
        found |= _of_reads(drives, pairs[label]) | _with_buffer(drives)
    ends[label] = end
    found |= row(drives, by_reads, "rmw_unit_bytes", "table 4, by reads", end, KIB)
    sizes = ShiftedPairs().sizes
    columns: Columns = {
        "drive": [label for label in pairs for _ in sizes],
        "size_bytes": [length for _ in pairs for length in sizes],
        "at_0_ns": [int(time) for each in pairs.values() for time in each[:, 0]],
        "at_1k_ns": [int(time) for each in pairs.values() for time in each[:, 1]],
    }
    panels = [_pair_panel(label, each, ends) for label, each in pairs.items()]
    return Measured(found, lambda: in_panels(panels, width=3.2), columns, notes)


def _pair_panel(label: str, times: Times, ends: Mapping[str, int | None]) -> Panel:
    kib = range(1, len(times) + 1)
    lines = [
        Line(f"at {place} KB", kib, times[:, place] / 1e3, place, 2.5, 1.0) for place in (0, 1)
    ]
    return panel(label, lines, ends.get(label), KIB, name="size (KB)",
                 y="response time (us)", asked=label in ends)  # fmt: skip


def _pairs(drives: Drives, subject: Subject, procedure: ShiftedPairs) -> tuple[int | None, Times]:
    tried = bench(drives, subject)
    with tried.allowance(procedure.planned_writes_bytes):
        times = procedure.run(tried)
    return effective_page.answer(procedure.sizes, times, THRESHOLD_SHARE[procedure.by]), times


def shifted(label: str, times: Times) -> dict[str, Reading]:
    """Read off what a shift of 1 KB costs below the paper's page, and at it."""
    page = PAGES[label]
    first, second = times.T
    longer = second - first
    below = longer[: page - 1]
    return {
        f"table 4, below a page: {label}": span(second[: page - 1] / first[: page - 1]),
        f"table 4, at a page: {label}": number(second[page - 1] / first[page - 1]),
        f"table 4, stands out: {label}": number(longer[page - 1] / max(below.max(), 1.0)),
    }


def no_difference(times: Times) -> Reading:
    """Compare reads at 1 KB with reads at 0; the first pair, of 1 KB, is left out."""
    first, second = times[1:].T
    return number(float(np.max(second / first)))


def _of_reads(drives: Drives, times: Times) -> dict[str, Reading]:
    """Read off what a read of one page of the Mtron takes where it covers two."""
    page = 8
    device = drives.fork(MTRON.drive)
    pages = [
        read(device, place, page * KIB).counts["flash_bytes_read"] / (page * KIB)
        for place in (0, KIB)
    ]
    return numbers(
        {
            "reads across pages, time": times[page - 1, 1] / times[page - 1, 0],
            "reads across pages, read": pages[1] / pages[0],
        }
    )


def _with_buffer(drives: Drives) -> dict[str, Reading]:
    """Run table 4 by writes that a buffer takes."""
    device = drives.fork(SAMSUNG.drive)
    sizes: Sequence[int] = ShiftedPairs().sizes
    offsets = np.tile([0, KIB], len(sizes))
    times = write(device, offsets, np.repeat(sizes, 2)).times_ns.reshape(-1, 2)
    end = effective_page.answer(sizes, times, THRESHOLD_SHARE["writes"])
    said = "none" if end is None else size(end)
    return {"table 4, buffer on": Reading(said, end != PAGES[SAMSUNG.label] * KIB)}
