"""Drives of `ssdscope.recovery`, drawn at random and probed blind, as a study.

`tally`
    The table per property, and the bars.
`picture`
    What was found of each property.
"""

import csv
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.recovery.blind import Probed, probe_drawn
from ssdscope.recovery.crowd import Drive, named, probe_all
from ssdscope.recovery.journal import Journal
from ssdscope.recovery.sources import Source
from ssdscope.results.files import creating
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult, Table
from ssdscope.studies.recovery import picture, tally
from ssdscope.targets import Target

KEY = "recovery"
FIGURES = {
    "drives": "What the probes find on drives drawn at random",
    "flat": "What they find on flat drives, where there is nothing",
    "second": "What they find on drives of the second generator",
    "without-flash": "What they say of targets without flash",
}
COUNT = 200
FLAT = 100
_FIGURE_OF = dict(zip(Source, FIGURES, strict=True))


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    count: int = COUNT,
    flat: int = FLAT,
    second: int = 0,
    without_flash: int = 0,
    only: str | None = None,
    jobs: int = -1,
    series: str | None = None,
) -> StudyResult:
    """Run the study.

    Parameters
    ----------
    wanted, target, folder, seed, progress
        As of every study; it draws its own drives and takes no target.
    count, flat, second, without_flash
        How many drives, flat ones, drives of the second generator, targets without flash.
    only
        One of them, as `SEED:INDEX` and the letter of its source: every answer beside the truth.
    jobs
        Drives at a time; -1 for all cores.
    series
        A folder: what is measured of each drive is kept there, and a drive that is there is decided
        upon again instead of measured.

    Raises
    ------
    UsageError
        If a target is given, or the drive is not named so.
    """
    if target is not None:
        raise UsageError(
            "recovery draws its own drives: a target of yours has no known inside",
            hint="probe it: ssdscope probe all TARGET",
        )
    if only is not None:
        return StudyResult(KEY, [_one(named(only), series)], seed)
    sizes = zip(Source, (count, flat, second, without_flash), strict=True)
    drives = [
        Drive(seed, index, source)
        for source, size in sizes
        if _FIGURE_OF[source] in wanted
        for index in range(size)
    ]
    interrupted = False
    kept = None if series is None else Path(series)
    with closing(Journal(folder / f"recovery-{seed}.jsonl")) as journal:
        try:
            probe_all(drives, journal, progress, jobs, kept)
        except KeyboardInterrupt:
            interrupted = True
    done = [journal.drives[each.label] for each in drives if each.label in journal.drives]
    figures = []
    for source, name in _FIGURE_OF.items():
        part = [each for each in done if each.source is source]
        if part:
            figures.append(_figure(source, part, folder / f"recovery-{name}.svg"))
    return StudyResult(KEY, figures, seed, interrupted=interrupted)


def _figure(source: Source, drives: Sequence[Probed], image: Path) -> FigureResult:
    counted = tally.table(drives)
    picture.bars(drives, image)
    data = image.with_suffix(".csv")
    with creating(data) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(counted.columns)
        rows.writerows(counted.rows)
    said, notes = tally.claims(source, drives), tally.notes(drives)
    if source is not Source.FLAT:
        redraws = sum(each.redraws for each in drives)
        notes.append(f"{redraws} draws of drives that cannot work were thrown away")
    name = _FIGURE_OF[source]
    return FigureResult(name, FIGURES[name], said, image, data, notes, counted)


def _one(drive: Drive, series: str | None) -> FigureResult:
    """Show one drive: every answer beside the truth."""
    kept = None if series is None else Path(series)
    probed = probe_drawn(drive.seed, drive.index, drive.source, kept)
    columns = ("property", "judged", "said", "truth", "observable", "probe")
    rows = [
        (j.name, str(j.outcome), j.said, j.truth, "yes" if j.observable else "no", j.probe)
        for j in probed.judgements
    ]
    said, name = tally.claims(drive.source, [probed]), _FIGURE_OF[drive.source]
    return FigureResult(name, f"Drive {drive.label}", said, table=Table(columns, tuple(rows)))


STUDY = StudyInfo(
    KEY,
    "drives drawn at random, probed blind, compared with what is inside",
    FIGURES,
    run,
    frozenset({"count", "flat", "second", "without_flash", "only", "jobs", "series"}),
)
