"""Figures 39 to 41, table 6: the zone of the mapping table, by reads at two places in turn."""

from collections.abc import Sequence

import numpy as np

from ssdscope.probes.literal import zone as literal
from ssdscope.studies.judging import similar
from ssdscope.studies.kuo2009 import cases, curves
from ssdscope.studies.kuo2009.bench import MIB, SECTOR, Drives, Times, read
from ssdscope.studies.kuo2009.detecting import Subject, bench, row, subjects
from ssdscope.studies.kuo2009.sheet import Binder, Columns, exact, hand_in, stated
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
TURNS = 32
READS = 400
READ_RANGE = 256 * MIB
LEVEL_WITHIN = 0.05
SPARE = "476 MB are 512 blocks of 1 MB less 7 % spare, as the sizes of the drive's family suggest"
PIECES = (
    "the Samsung's zones are not the Transcend's: several tables are kept, so that only the first "
    "read of each piece of 4 MB is slow"
)
RANGE = "the random reads fall into the first 256 MB: the paper does not say where"


def figure_39(drives: Drives, binder: Binder) -> FigureResult:
    """Count tables loaded by reads in turn, within a zone and from one to the next."""
    loads = {}
    for case, place in (("within a zone", ZONE - MIB), ("in two zones", ZONE)):
        device = drives.fork(DRIVE)
        read(device, [0], SECTOR)
        served = read(device, np.tile([0, place], TURNS), SECTOR)
        loads[case] = served.counts["map_loads"]
    rows = claims_39(*loads.values())
    columns: Columns = {"case": list(loads), "map_loads": list(loads.values())}
    return hand_in("39", rows, cases.zone_cases(list(loads.values()), TURNS), columns, binder)


def claims_39(inside: int, across: int) -> list[Claim]:
    """Hold the tables that reads in turn load, in one zone and across two, against the drawing."""
    return [
        exact("case 1, A and B in one zone: tables loaded", 0, inside, "tables"),
        exact(
            f"case 2, A and B in two: tables loaded by {TURNS} turns",
            2 * TURNS - 1,
            across,
            "tables",
        ),
    ]


def figure_40(drives: Drives, binder: Binder) -> FigureResult:
    """Run table 6 on the Transcend."""
    subject = subjects(drives, (TRANSCEND,))[0]
    times, found, rows = _run(drives, subject)
    picture = curves.far(
        {subject.label: times}, marks={subject.label: (found.size_bytes, subject.paper)}
    )
    return hand_in("40", rows, picture, _columns([times]), binder, [SPARE])


def figure_41(drives: Drives, binder: Binder) -> FigureResult:
    """Run table 6 on the Samsung and the Mtron, and read the Samsung at random."""
    samsung, period, rows = _run(drives, SAMSUNG)
    mtron, step, more = _run(drives, MTRON)
    random = _random_reads(drives)
    rows += [
        *more,
        longer(mtron),
        two_levels(random),
    ]
    notes = [PIECES, RANGE]
    picture = curves.far(
        {
            "(A) Samsung SLC": samsung,
            "(B) its first 64 MB": samsung[:64],
            "(C) Mtron SLC": mtron[:256],
        },
        random,
        {
            "(B) its first 64 MB": (period.size_bytes, SAMSUNG.paper),
            "(C) Mtron SLC": (step.size_bytes, MTRON.paper),
        },
    )
    return hand_in("41", rows, picture, _columns([samsung, mtron]), binder, notes)


def _run(drives: Drives, subject: Subject) -> tuple[Times, literal.Answer, list[Claim]]:
    tried = bench(drives, subject)
    with tried.allowance(0):
        times = literal.TwoPlaces(REACH).run(tried)
    found = literal.answer(times)
    what = f"zone (table 6: slow {KINDS[found.kind]})"
    return times, found, [row(drives, subject, NAME, what, found.size_bytes, mib=True)]


def longer(mtron: Times) -> Claim:
    """Hold the Mtron's step at 40 MB against the paper's words: longer, and yet similar."""
    near, far = float(np.median(mtron[1:40])), float(np.median(mtron[40:]))
    return stated(
        "Mtron SLC: response times beyond 40 MB",
        "a little longer",
        f"{100 * (far / near - 1):.0f} % longer",
        far > (1 + literal.SLOWER_BY) * near and similar(far, near),
    )


def two_levels(times: Times) -> Claim:
    """Part reads halfway between the shortest and the longest, and ask whether both are levels."""
    late = times > np.sqrt(float(times.min()) * float(times.max()))
    low = float(np.median(times[~late])) if not late.all() else float(times.min())
    levels = [low, float(np.median(times[late])) if late.any() else low]
    near = np.where(late, levels[1], levels[0])
    close = float(np.mean(np.abs(times / near - 1) < LEVEL_WITHIN))
    return stated(
        "Samsung SLC, random reads: response times",
        "two levels",
        f"{levels[0] / 1e3:.0f} us and {levels[1] / 1e3:.0f} us ({100 * late.mean():.0f} %); "
        f"{100 * close:.0f} % of the reads within 5 % of one of them",
        not similar(levels[1], levels[0]) and close > 0.9 and 0.1 < late.mean() < 0.9,
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
