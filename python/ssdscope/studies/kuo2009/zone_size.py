"""Figures 39 to 41, table 6: the zone of the mapping table, by reads at two places in turn."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ssdscope.probes.literal import zone as literal
from ssdscope.studies.kuo2009 import curves
from ssdscope.studies.kuo2009.bench import MIB, SECTOR, Drives, Times, read
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.sheet import Columns, hand_in, number, stated
from ssdscope.studies.record import Claim, FigureResult

NAME = "map_zone_bytes"
DRIVE, ZONE = "transcend-slc", 476 * MIB
REACH = 1 << 30
TRANSCEND = Subject("Transcend SLC", DRIVE, ZONE)
SAMSUNG = Subject("Samsung SLC", "samsung-slc", 4 * MIB)
MTRON = Subject("Mtron SLC", "mtron-slc", 40 * MIB)
KINDS = {
    "step": "from there on",
    "period": "once in so much",
    "none": "nowhere",
}
READS = 400
READ_RANGE = 256 * MIB
LEVEL_WITHIN = 0.05
SPARE = "476 MB are 512 blocks of 1 MB less 7 % spare, as the sizes of the drive's family suggest"
PIECES = (
    "the Samsung's zones are not the Transcend's: several tables are kept, so that only the first "
    "read of each piece of 4 MB is slow"
)
RANGE = "the random reads fall into the first 256 MB: the paper does not say where"


def figure_39(drives: Drives, folder: Path) -> FigureResult:
    """Count tables loaded by reads in turn, within a zone and from one to the next."""
    turns = 32
    loads = {}
    for case, place in (("within a zone", ZONE - MIB), ("in two zones", ZONE)):
        device = drives.fork(DRIVE)
        read(device, [0], SECTOR)
        served = read(device, np.tile([0, place], turns), SECTOR)
        loads[case] = served.counts["map_loads"]
    rows = [
        number("case 1, A and B in one zone: tables loaded", 0, loads["within a zone"], "tables"),
        number(
            f"case 2, A and B in two: tables loaded by {turns} turns",
            2 * turns - 1,
            loads["in two zones"],
            "tables",
        ),
    ]
    columns: Columns = {"case": list(loads), "map_loads": list(loads.values())}
    return hand_in("39", rows, curves.cases(loads), columns, folder)


def figure_40(drives: Drives, folder: Path) -> FigureResult:
    """Run table 6 on the Transcend."""
    subject = subjects(drives, (TRANSCEND,))[0]
    times, rows = _run(drives, subject)
    notes = [SPARE]
    return hand_in("40", rows, curves.far({subject.label: times}), _columns([times]), folder, notes)


def figure_41(drives: Drives, folder: Path) -> FigureResult:
    """Run table 6 on the Samsung and the Mtron, and read the Samsung at random."""
    samsung, rows = _run(drives, SAMSUNG)
    mtron, more = _run(drives, MTRON)
    step = float(np.median(mtron[40:]) / np.median(mtron[1:40]) - 1)
    random = _random_reads(drives)
    rows += [
        *more,
        stated(
            "Mtron SLC: response times beyond 40 MB",
            "a little longer",
            f"{100 * step:.0f} % longer",
            0.05 < step < 0.6,
        ),
        _two_levels(random),
    ]
    notes = [PIECES, RANGE]
    picture = curves.far(
        {
            "(A) Samsung SLC": samsung,
            "(B) its first 64 MB": samsung[:64],
            "(C) Mtron SLC": mtron[:256],
        },
        random,
    )
    return hand_in("41", rows, picture, _columns([samsung, mtron]), folder, notes)


def _run(drives: Drives, subject: Subject) -> tuple[Times, list[Claim]]:
    tried = bench(drives, subject)
    with tried.allowance(0):
        times = literal.TwoPlaces(REACH).run(tried)
    found = literal.answer(times)
    what = f"zone (table 6: slow {KINDS[found.kind]})"
    return times, [row(drives, subject, NAME, what, found.size_bytes, mib=True)]


def _two_levels(times: Times) -> Claim:
    """Part reads halfway between the shortest and the longest, and ask whether both are levels."""
    late = times > np.sqrt(float(times.min()) * float(times.max()))
    levels = [float(np.median(times[each])) for each in (~late, late)]
    near = np.where(late, levels[1], levels[0])
    close = float(np.mean(np.abs(times / near - 1) < LEVEL_WITHIN))
    return stated(
        "Samsung SLC, random reads: response times",
        "two levels",
        f"{levels[0] / 1e3:.0f} us and {levels[1] / 1e3:.0f} us ({100 * late.mean():.0f} %); "
        f"{100 * close:.0f} % of the reads within 5 % of one of them",
        levels[1] > 1.5 * levels[0] and close > 0.9 and 0.1 < late.mean() < 0.9,
    )


def _random_reads(drives: Drives) -> Times:
    device = drives.fork(SAMSUNG.drive)
    pages = drives.random("41").integers(0, READ_RANGE // 4096, READS)
    return read(device, pages * 4096, 4096).times_ns


def _columns(runs: Sequence[Times]) -> Columns:
    return {
        "run": [index for index, times in enumerate(runs) for _ in times],
        "distance_mib": [mib for times in runs for mib in range(len(times))],
        "response_ns": [int(time) for times in runs for time in times],
    }
