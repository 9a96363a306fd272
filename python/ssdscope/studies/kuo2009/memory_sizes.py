"""Figures 37 to 41, tables 5 and 6: write buffer, read cache, and the zone of the mapping table."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ssdscope.plots.panels import Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import buffers
from ssdscope.probes.literal import zone as literal
from ssdscope.studies.kuo2009 import cases
from ssdscope.studies.kuo2009.bench import (
    GIB,
    KIB,
    MIB,
    SECTOR,
    Drives,
    Times,
    number,
    numbers,
    read,
    size,
)
from ssdscope.studies.kuo2009.buffer import Sweep, columns_of, growing, sweep
from ssdscope.studies.kuo2009.detecting import Subject, bench, dots, panel, row, subjects
from ssdscope.studies.record import Columns, Measured, Reading, Table

SMALL = tuple(range(KIB, 257 * KIB, KIB))
LARGE = tuple(range(MIB, 33 * MIB, MIB))
READS = tuple(range(4 * KIB, 513 * KIB, 4 * KIB))
TRANSCEND, SAMSUNG = (
    Subject(f"{name} SLC", f"{name.lower()}-slc") for name in ("Transcend", "Samsung")
)
INTEL, MTRON = Subject("Intel MLC", "intel-mlc"), Subject("Mtron SLC", "mtron-slc")
BUFFER = "write_buffer_bytes"
SUSPECT = (
    "suspect: 128 KB is also the most that an ATA command of the time carries (256 sectors), so "
    "the step that the paper saw on the Samsung may be that of a second command"
)


def figure_37(drives: Drives, _: StageProgress) -> Measured:
    """Run table 5 on the three drives; on the Mtron with random writes before, and without."""
    if drives.target is not None:
        (target,) = subjects(drives, ())
        block = drives.target.info.logical_block_bytes
        small = [each for each in SMALL if each % block == 0]
        runs = [sweep(drives, target.drive, sizes) for sizes in (small, LARGE)]
        ends = [each.knee for each in runs if each.knee is not None]
        found = row(drives, target, BUFFER, "write buffer", ends[0] if ends else None, KIB)
        return Measured(found, lambda: growing(runs), columns_of(runs))
    samsung, intel = (
        replace(sweep(drives, each.drive, SMALL), label=each.label) for each in (SAMSUNG, INTEL)
    )
    unused, used = (
        replace(sweep(drives, MTRON.drive, LARGE, before=before), label=f"Mtron SLC, {label}")
        for before, label in (("none", "at first"), ("random", "after random writes"))
    )
    runs = [samsung, intel, unused, used]
    found = (
        row(drives, SAMSUNG, BUFFER, "table 5, write buffer", samsung.knee, KIB)
        | row(drives, INTEL, BUFFER, "table 5, write buffer", intel.knee, KIB)
        | row(drives, MTRON, BUFFER, "table 5, large write buffer", used.knee, MIB)
        | {"table 5, without random writes": unseen(unused.knee)}
    )
    notes = [
        SUSPECT,
        "the Mtron in steps of 1 MB: at 1 KB the paper's waiting alone takes 28 hours",
    ]
    return Measured(found, lambda: growing(runs), columns_of(runs), notes)


def unseen(end: int | None) -> Reading:
    """Read off that the procedure finds no end."""
    said = "at no size" if end is None else f"after {size(end)}"
    return Reading(said, end is None)


def figure_38(drives: Drives, _: StageProgress) -> Measured:
    """Read more and more again and again."""
    (subject,) = subjects(drives, (SAMSUNG,))
    tried = bench(drives, subject)
    with tried.allowance(0):
        run = Sweep(subject.label, np.array(READS), buffers.GrowingRead(READS).run(tried))
    found = row(drives, subject, "read_cache_bytes", "read cache", run.knee, KIB)
    if drives.target is None:
        found["read cache, beyond"] = beyond(run)
    return Measured(found, lambda: growing([run]), columns_of([run]))


def beyond(run: Sweep) -> Reading:
    """Read off how much more each byte takes beyond the end of the cache."""
    inside = np.asarray(run.sizes) <= (run.knee or run.sizes[-1])
    rates = np.asarray(run.times_ns, dtype=float) / np.asarray(run.sizes)
    if inside.all():
        return number(float("nan"))
    return number(float(rates[~inside][-1] / np.median(rates[inside])))


DRIVE, ZONE = "transcend-slc", 476 * MIB
REACH = GIB
TURNS = 32
READS_AT_RANDOM = 400
RANGES = {"64 MB": 64 * MIB, "256 MB": 256 * MIB, "1 GB": GIB, "the whole drive": None}
LEVEL_WITHIN = 0.05
SPARE = "476 MB are 512 blocks of 1 MB less 7 % spare, as the sizes of the drive's family suggest"
PIECES = (
    "the Samsung's zones are not the Transcend's: several tables are kept, so that only the first "
    "read of each piece of 4 MB is slow"
)


def figure_39(drives: Drives, _: StageProgress) -> Measured:
    """Count tables loaded by reads in turn, within a zone and from one to the next."""
    loads = {}
    for case, place in (("within a zone", ZONE - MIB), ("in two zones", ZONE)):
        device = drives.fork(DRIVE)
        read(device, [0], SECTOR)
        served = read(device, np.tile([0, place], TURNS), SECTOR)
        loads[case] = served.counts["map_loads"]
    columns: Columns = {"case": list(loads), "map_loads": list(loads.values())}
    found = numbers(
        {
            "one zone, loads": loads["within a zone"],
            # The first read finds its table there.
            "two zones, loads": loads["in two zones"] / (2 * TURNS - 1),
        }
    )
    return Measured(found, lambda: cases.zone_cases(list(loads.values()), TURNS), columns)


def figure_40(drives: Drives, _: StageProgress) -> Measured:
    """Run table 6 on the Transcend."""
    (subject,) = subjects(drives, (TRANSCEND,))
    times, end, found = _run(drives, subject, "table 6, zone")
    if drives.target is None:
        found |= farther(times, ZONE // MIB)
    drawn = _far(subject.label, times, end)
    notes = [SPARE] if drives.target is None else []
    return Measured(found, lambda: in_panels([drawn]), _distances([times]), notes)


def farther(times: Times, zone: int) -> dict[str, Reading]:
    """Compare reads beyond the end of a zone with those before it; and with each other."""
    near, far = times[1:zone], times[zone:]
    return numbers(
        {
            "beyond the zone, time": float(np.median(far) / np.median(near)),
            "beyond the zone, steady": float(far.max() / far.min()),
        }
    )


def figure_41(drives: Drives, _: StageProgress) -> Measured:
    """Run table 6 on the Samsung and the Mtron, and read the Samsung at random."""
    samsung, period, found = _run(drives, SAMSUNG, "table 6, piece")
    mtron, step, more = _run(drives, MTRON, "table 6, step")
    random = {case: _random_reads(drives, within) for case, within in RANGES.items()}
    found |= more
    found |= {
        "Mtron, beyond the zone": number(float(np.median(mtron[40:]) / np.median(mtron[1:40]))),
        "Samsung, two levels": two_levels(random["the whole drive"]),
        "pieces, effective blocks": _follows(drives),
    }
    whole = random["the whole drive"]
    panels = [
        _far("(A) Samsung SLC", samsung, None, asked=False),
        _far("(B) its first 64 MB", samsung[:64], period),
        _far("(C) Mtron SLC", mtron[:256], step),
        Panel("(D) Samsung SLC, random reads", dots(range(whole.size), whole, 1e3, 1), "request",
              "response time (us)"),
    ]  # fmt: skip
    rows = tuple((case, str(two_levels(times).ours)) for case, times in random.items())
    return Measured(
        found,
        lambda: in_panels(panels, width=3.4),
        _distances([samsung, mtron]),
        [PIECES],
        Table(("random reads over", "response times"), rows),
    )


def _run(
    drives: Drives, subject: Subject, name: str
) -> tuple[Times, int | None, dict[str, Reading]]:
    tried = bench(drives, subject)
    with tried.allowance(0):
        times = literal.TwoPlaces(REACH).run(tried)
    end = literal.answer(times).size_bytes
    return times, end, row(drives, subject, "map_zone_bytes", name, end, MIB)


def two_levels(times: Times) -> Reading:
    """Part reads halfway between the shortest and the longest, and say how many are late.

    The share is NaN where reads scatter, so that there are no levels.
    """
    late = times > np.sqrt(float(times.min()) * float(times.max()))
    low = float(np.median(times[~late])) if not late.all() else float(times.min())
    levels = [low, float(np.median(times[late])) if late.any() else low]
    close = float(np.mean(np.abs(times / np.where(late, levels[1], levels[0]) - 1) < LEVEL_WITHIN))
    apart = levels[1] > (1 + LEVEL_WITHIN) * levels[0]
    share = 100 * float(late.mean()) if apart and close > 0.9 else float("nan")
    return Reading(
        f"{levels[0] / 1e3:.0f} us and {levels[1] / 1e3:.0f} us ({100 * late.mean():.0f} %)", share
    )


def _random_reads(drives: Drives, within: int | None) -> Times:
    device = drives.fork(SAMSUNG.drive)
    pages = (within or device.info.capacity_bytes) // 4096
    places = drives.random("41").integers(0, pages, drives.long(READS_AT_RANDOM))
    return read(device, places * 4096, 4096).times_ns


def _follows(drives: Drives) -> Reading:
    """Run table 6 on drives whose zones are not their blocks; give the distances of slow reads."""
    found = []
    for blocks, zone in ((2 * MIB, 4 * MIB), (4 * MIB, 4 * MIB), (4 * MIB, 8 * MIB)):
        pages = 64 * blocks // (4 * MIB)
        sets = (f"ftl.merge_unit_bytes={blocks}", f"nand.pages_per_block={pages}",
                f"map.zone_bytes={zone}")  # fmt: skip
        tried = bench(drives, SAMSUNG, *sets)
        with tried.allowance(0):
            answer = literal.answer(literal.TwoPlaces(64 * MIB).run(tried))
        found.append((blocks, zone, answer.size_bytes or 0))
    said = "; ".join(
        f"blocks of {size(blocks)}, zones of {size(zone)}: once in {size(seen)}"
        for blocks, zone, seen in found
    )
    return Reading(said, all(blocks == seen for blocks, _, seen in found))


def _far(label: str, times: Times, end: int | None, *, asked: bool = True) -> Panel:
    x = range(times.size)
    return panel(label, dots(x, times, 1e3), end, MIB, name="distance of A and B (MB)",
                 y="response time (us)", asked=asked)  # fmt: skip


def _distances(runs: Sequence[Times]) -> dict[str, list[int]]:
    return {
        "run": [index for index, times in enumerate(runs) for _ in times],
        "distance_mib": [mib for times in runs for mib in range(len(times))],
        "response_ns": [int(time) for times in runs for time in times],
    }
