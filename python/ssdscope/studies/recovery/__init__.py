"""Drives drawn at random, probed blind, and compared with what is true of them.

A probe is only worth trusting if it was tried on drives whose inside is known.
`docs/observability.md` is the rule book.

`generator`
    The drives; `dice`, `hardware`, `firmware`, `memory` draw their parts.
`truth`, `measured`
    What is true of each property: by formula (`shape`, `addresses`), or measured on the `twin`.
`observability`
    Which of them can be told from outside; `reference_reads`, `reference_writes`,
    `reference_curves` measure how strongly each shows on the undisturbed twin.
`blind`, `judge`
    One drive: probed through its device alone, and every answer held against the truth.
`crowd`, `journal`
    Many of them on all cores; an interrupted study goes on where it was.
`tally`, `picture`
    The table per property, the bars, the picture.
"""

import csv
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies.record import FigureResult, StudyInfo, StudyResult, Table
from ssdscope.studies.recovery import picture, tally
from ssdscope.studies.recovery.blind import Probed, probe_drawn
from ssdscope.studies.recovery.crowd import Drive, named, probe_all
from ssdscope.studies.recovery.journal import Journal
from ssdscope.targets import Target

KEY = "recovery"
FIGURES = {
    "drives": "What the probes find on drives drawn at random",
    "flat": "What they find on flat drives, where there is nothing",
}
COUNT = 200
FLAT = 100


def run(
    wanted: Sequence[str],
    target: Target | None,
    folder: Path,
    seed: int,
    progress: StageProgress,
    *,
    count: int = COUNT,
    flat: int = FLAT,
    only: str | None = None,
    jobs: int = -1,
) -> StudyResult:
    """Run the study.

    Parameters
    ----------
    wanted, target, folder, seed, progress
        As of every study; it draws its own drives and takes no target.
    count, flat
        How many drives, and how many flat ones.
    only
        One drive, as `SEED:INDEX`, with an f for a flat one: every answer beside the truth.
    jobs
        Drives at a time; -1 for all cores.

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
        return StudyResult(KEY, [_one(named(only))], seed)
    drives = [Drive(seed, index, flat=False) for index in range(count)]
    drives += [Drive(seed, index, flat=True) for index in range(flat)]
    drives = [each for each in drives if ("flat" if each.flat else "drives") in wanted]
    interrupted = False
    with closing(Journal(folder / f"recovery-{seed}.jsonl")) as journal:
        try:
            probe_all(drives, journal, progress, jobs)
        except KeyboardInterrupt:
            interrupted = True
    done = [journal.drives[each.label] for each in drives if each.label in journal.drives]
    figures = []
    for name in wanted:
        part = [each for each in done if each.flat == (name == "flat")]
        if part:
            figures.append(_figure(name, part, folder / f"recovery-{name}.svg"))
    return StudyResult(KEY, figures, seed, interrupted=interrupted)


def _figure(name: str, drives: Sequence[Probed], image: Path) -> FigureResult:
    counted = tally.table(drives)
    picture.bars(drives, image)
    data = image.with_suffix(".csv")
    with creating(data) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(counted.columns)
        rows.writerows(counted.rows)
    flat = name == "flat"
    said = tally.flat_claims(drives) if flat else tally.claims(drives)
    notes = tally.notes(drives)
    if not flat:
        redraws = sum(each.redraws for each in drives)
        notes.append(f"{redraws} draws of drives that cannot work were thrown away")
    return FigureResult(name, FIGURES[name], said, image, data, notes, counted)


def _one(drive: Drive) -> FigureResult:
    """Show one drive: every answer beside the truth."""
    probed = probe_drawn(drive.seed, drive.index, flat=drive.flat)
    columns = ("property", "judged", "said", "truth", "observable", "probe")
    rows = [
        (j.name, str(j.outcome), j.said, j.truth, "yes" if j.observable else "no", j.probe)
        for j in probed.judgements
    ]
    said = tally.flat_claims([probed]) if drive.flat else tally.claims([probed])
    name = "flat" if drive.flat else "drives"
    return FigureResult(name, f"Drive {drive.label}", said, table=Table(columns, tuple(rows)))


STUDY = StudyInfo(
    KEY,
    "drives drawn at random, probed blind, compared with what is inside",
    FIGURES,
    run,
    frozenset({"count", "flat", "only", "jobs"}),
)
