"""What was published of the drives that the presets stand for, asked of all probes.

A preset is worth its name if the probes find on it what others found on the drive. Each is probed
blind, by `probe all`; then what was found is held against what was published (`published`), and
every answer against what follows from the preset's file.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.findings import PROPERTIES, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes import session
from ssdscope.probes.budget import Budget, StageProgress, silent
from ssdscope.recovery.judge import WRONG, Judgement, judge
from ssdscope.recovery.truth import KINDS, Truth, judged_right
from ssdscope.results.files import creating
from ssdscope.studies.detectors import truths_of_file
from ssdscope.studies.making import make_figures
from ssdscope.studies.presets.published import SUBJECTS, Published
from ssdscope.studies.record import Claim, FigureResult, StudyInfo, StudyResult, Table, Verdict
from ssdscope.targets import Target, open_target

KEY = "presets"
FIGURES = {name: f"Published values of sim:{name}" for name in SUBJECTS}
_STEPS = ((1 << 20, "MB"), (1 << 10, "KB"))


def run(
    wanted: Sequence[str], target: Target | None, folder: Path, seed: int, progress: StageProgress
) -> StudyResult:
    """Probe the presets that are wanted.

    Raises
    ------
    UsageError
        If a target is given: of it nothing was published.
    """
    if target is not None:
        raise UsageError(
            "presets is about drives of which something was published",
            hint="probe yours: ssdscope probe all TARGET",
        )

    def make(name: str, stage: StageProgress) -> FigureResult:
        return _figure(name, folder, seed, stage)

    return make_figures(KEY, wanted, make, seed, progress)


def _figure(name: str, folder: Path, seed: int, progress: StageProgress) -> FigureResult:
    subject = SUBJECTS[name]
    found = probe(name, seed, progress)
    rows = [_claim(each, found[each.name]) for each in subject.published]
    judged = judgements(name, found)
    rows.append(_others(judged))
    columns = ("property", "judged", "said", "file")
    cells = tuple((each.name, str(each.outcome), each.said, each.truth) for each in judged)
    data = folder / f"presets-{name}.csv"
    with creating(data) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("what", "published", "found", "verdict"))
        table.writerows((row.what, row.paper, row.ours, row.verdict) for row in rows)
    notes = [f"made smaller: {', '.join(subject.sets)}"] if subject.sets else []
    notes += [f"opened in the state {subject.state}"] if subject.state else []
    return FigureResult(name, FIGURES[name], rows, None, data, notes, Table(columns, cells))


def probe(name: str, seed: int, progress: StageProgress = silent) -> dict[str, Finding]:
    """Find out about a preset all that its budget allows."""
    subject = SUBJECTS[name]
    device = open_target(f"sim:{name}", state=subject.state, sets=subject.sets, seed=seed).device
    found = session.run(["all"], device, Budget.parse(subject.budget), seed, progress)
    return {each.name: each for each in found}


def judgements(name: str, found: Mapping[str, Finding]) -> list[Judgement]:
    """Hold what was found against what follows from the preset's file."""
    truths = truths_of_file(f"sim:{name}", SUBJECTS[name].sets)
    asked = [each for each in KINDS if each in truths and each in found]
    return [judge(each, truths[each], None, found[each]) for each in asked]


def _claim(published: Published, finding: Finding) -> Claim:
    """Hold what was found against what was published."""
    if isinstance(published.value, Reason):
        same = finding.reason == published.value
    else:
        value = finding.value
        same = value is not None and judged_right(published.name, Truth(published.value), value)
    why = "" if same else published.because or "what was published is not found"
    return Claim(
        f"{published.name} ({published.where})",
        _shown(published.name, published.value),
        _found(finding),
        "",
        Verdict.AGREES if same else Verdict.DIFFERS,
        why,
    )


def _others(judged: Sequence[Judgement]) -> Claim:
    """Count the answers that the file contradicts."""
    wrong = [each.name for each in judged if each.outcome in WRONG]
    return Claim(
        "answers that the preset's file contradicts",
        "none",
        f"{len(wrong)} of {len(judged)}" if wrong else "none",
        "",
        Verdict.DIFFERS if wrong else Verdict.AGREES,
        ", ".join(wrong),
    )


def _found(finding: Finding) -> str:
    match finding:
        case Detected():
            return _shown(finding.name, finding.value)
        case Ambiguous():
            return " or ".join(_shown(finding.name, each) for each in finding.candidates)
        case Undetectable():
            return _shown(finding.name, finding.reason)
    return "absent"


def _shown(name: str, value: float | str | Reason) -> str:
    if isinstance(value, Reason):
        return f"cannot be told: {value.replace('_', ' ')}"
    if isinstance(value, str):
        return value
    if PROPERTIES[name].unit == "bytes":
        for step, unit in _STEPS:
            if value >= step:
                return f"{value / step:.4g} {unit}"
    return f"{value:.4g}"


STUDY = StudyInfo(
    KEY, "what was published of the presets' drives, asked of all probes", FIGURES, run
)
