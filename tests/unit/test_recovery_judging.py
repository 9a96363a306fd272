"""Answers of the recovery study held against truths; many of them counted; the journal."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Reason, Undetectable
from ssdscope.probes import session
from ssdscope.recovery.blind import Probed, probe_drawn
from ssdscope.recovery.crowd import Drive, named
from ssdscope.recovery.journal import Journal
from ssdscope.recovery.judge import Judgement, Outcome, judge
from ssdscope.recovery.observability import Visibility
from ssdscope.recovery.sources import Source
from ssdscope.recovery.truth import ABSENT, NO_ONE, Truth
from ssdscope.studies import run
from ssdscope.studies.record import Verdict
from ssdscope.studies.recovery import tally

SEEN = Visibility((), 0.5)
MASKED = Visibility(("protected",), None)
FAINT = Visibility((), 0.02)


def finding(outcome: str, **keys: Any) -> Finding:
    common: dict[str, Any] = {"name": "rmw_unit_bytes", "probe": "a probe"}
    match outcome:
        case "detected":
            return Detected(**common, **{"interval": None, "effect": 1.0, **keys})
        case "ambiguous":
            return Ambiguous(reason="two looks disagree", **common, **keys)
        case "absent":
            return Absent(bound=0.0, reason="nothing shows", **common)
    return Undetectable(reason=Reason.LINK_BOUND, **common)


ONE_ENTRY = Truth(4096, present=False)
"""An RMW unit, which says that the table has no zones."""
DETECTED = finding("detected", value=4096.0)
CASES = [
    ("rmw_unit_bytes", Truth(4096), SEEN, DETECTED, Outcome.RIGHT),
    ("rmw_unit_bytes", Truth(8192), SEEN, DETECTED, Outcome.WRONG),
    ("rmw_unit_bytes", Truth(8192), MASKED, DETECTED, Outcome.WRONG),
    ("rmw_unit_bytes", ABSENT, None, DETECTED, Outcome.WRONG),
    ("rmw_unit_bytes", Truth(4096), MASKED, DETECTED, Outcome.RIGHT),
    ("map_zone_bytes", ONE_ENTRY, None, DETECTED, Outcome.RIGHT),
    ("map_zone_bytes", ONE_ENTRY, None, finding("absent"), Outcome.ABSENT_RIGHT),
    ("map_zone_bytes", Truth(8192, present=False), None, DETECTED, Outcome.WRONG),
    ("placement_pages", NO_ONE, MASKED, DETECTED, Outcome.WRONG),
    ("placement_pages", NO_ONE, MASKED, finding("absent"), Outcome.ABSENT_WRONG),
    ("placement_pages", NO_ONE, MASKED, finding("undetectable"), Outcome.UNDETECTABLE),
    ("rmw_unit_bytes", ABSENT, None, finding("absent"), Outcome.ABSENT_RIGHT),
    ("rmw_unit_bytes", Truth(4096), SEEN, finding("absent"), Outcome.ABSENT_WRONG),
    ("rmw_unit_bytes", Truth(4096), MASKED, finding("absent"), Outcome.ABSENT_WRONG),
    ("rmw_unit_bytes", Truth(4096), FAINT, finding("absent"), Outcome.ABSENT_RIGHT),
    ("rmw_unit_bytes", Truth(4096), SEEN, finding("undetectable"), Outcome.MISSED),
    ("rmw_unit_bytes", Truth(4096), MASKED, finding("undetectable"), Outcome.UNDETECTABLE),
    ("rmw_unit_bytes", ABSENT, None, finding("undetectable"), Outcome.UNDETECTABLE),
    ("rmw_unit_bytes", Truth(4096), SEEN, None, Outcome.MISSED),
    ("rmw_unit_bytes", ABSENT, None, None, Outcome.UNDETECTABLE),
]


@pytest.mark.parametrize(("name", "truth", "visible", "said", "outcome"), CASES)
def test_an_answer_is_judged_by_the_book(
    name: str, truth: Truth, visible: Visibility, said: Finding, outcome: Outcome
) -> None:
    judged = judge(name, truth, visible, said)
    assert judged.outcome == outcome
    assert judged.present == truth.present
    assert Judgement.from_json(json.loads(json.dumps(judged.to_json()))) == judged


@pytest.mark.parametrize(
    ("truth", "candidates", "outcome"),
    [
        (Truth(4096), (512, 4096), Outcome.AMBIGUOUS),
        (Truth(4096), (512, 1024), Outcome.WRONG),
        (ABSENT, (512, 1024), Outcome.AMBIGUOUS),
        (NO_ONE, (512, 1024), Outcome.AMBIGUOUS),
    ],
)
def test_candidates_without_the_truth_are_wrong(
    truth: Truth, candidates: tuple[int, ...], outcome: Outcome
) -> None:
    said = finding("ambiguous", candidates=candidates)
    assert judge("rmw_unit_bytes", truth, SEEN, said).outcome == outcome


@pytest.mark.parametrize(
    ("interval", "covered"), [((90.0, 110.0), True), ((111.0, 120.0), False), (None, False)]
)
def test_intervals_of_numbers_are_judged(
    interval: tuple[float, float] | None, covered: bool
) -> None:
    said = finding("detected", value=100.0, interval=interval)
    judged = judge("write_buffer_bytes", Truth(104), SEEN, said)
    assert (judged.outcome, judged.covered) == (Outcome.RIGHT, covered)
    assert judge("rmw_unit_bytes", Truth(100), SEEN, said).covered is None
    assert judge("write_buffer_bytes", ABSENT, None, said).covered is None


def drive(index: int, *outcomes: Outcome) -> Probed:
    judgements = [
        Judgement("rmw_unit_bytes", each, "8192", "4096", "rmw", present=True, observable=True)
        for each in outcomes
    ]
    return Probed(f"1:{index}", Source.FIRST, tuple(judgements), redraws=1, seconds=2.0)


def test_the_bars_are_held_against_counts() -> None:
    right = [drive(index, *[Outcome.RIGHT] * 19, Outcome.MISSED) for index in range(10)]
    agreed = {row.what: row for row in tally.claims(Source.FIRST, right)}
    assert agreed["observable properties detected"].verdict == Verdict.AGREES
    assert agreed["observable properties detected"].ours == "95.0 % (190 of 200)"
    assert agreed["wrong answers on 10 drives"].ours == "0 of 190; below 1.6 % at 95 %"
    one_wrong = tally.claims(Source.FIRST, [*right, drive(10, Outcome.WRONG)])
    assert one_wrong[0].verdict == Verdict.DIFFERS
    assert one_wrong[1].verdict == Verdict.DIFFERS


def test_wrong_and_missed_answers_are_named_with_what_repeats_them() -> None:
    notes = tally.notes([drive(3, Outcome.WRONG), drive(4, Outcome.MISSED)])
    assert notes[0] == "wrong: rmw_unit_bytes of 1:3 is 4096; rmw said 8192"
    assert notes[1] == "missed: rmw_unit_bytes of 1:4"
    assert "--only" in notes[2]


def test_a_journal_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "recovery-1.jsonl"
    with closing(Journal(path)) as journal:
        journal.append(drive(0, Outcome.RIGHT))
        journal.append(drive(1, Outcome.WRONG))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"label": "1:2", "fl')
    with closing(Journal(path)) as again:
        assert again.drives == {"1:0": drive(0, Outcome.RIGHT), "1:1": drive(1, Outcome.WRONG)}
        again.append(drive(2, Outcome.MISSED))
        with pytest.raises(UsageError, match="another process is writing"):
            Journal(path)
    with closing(Journal(path)) as whole:
        assert list(whole.drives) == ["1:0", "1:1", "1:2"]


@pytest.mark.parametrize(
    "text",
    ["no journal\n", "a line without an end", '{"made_by": {"version": "0.0.0", "probes": []}}\n'],
)
def test_another_journal_is_not_gone_on_with(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recovery-1.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"journal|another version"):
        Journal(path)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["7", "7:", "7:x", "7:1g", "-1:2"])
def test_a_drive_that_is_not_named_so_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="does not name"):
        named(text)


def test_an_interrupted_study_tells_what_is_done_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def probe(asked: Drive, **_: object) -> Probed | None:
        return None if asked.index == 2 else drive(asked.index, Outcome.RIGHT)

    sizes = {"count": 4, "flat": 0, "jobs": 1}
    monkeypatch.setattr("ssdscope.recovery.crowd._probe", probe)
    stopped = run("recovery", out_dir=tmp_path, seed=1, figures=["drives"], extras=sizes)
    assert stopped.interrupted
    assert "on 2 drives" in stopped.figures[0].rows[0].what
    rest = []
    monkeypatch.setattr(
        "ssdscope.recovery.crowd._probe",
        lambda asked, **_: rest.append(asked.index) or drive(asked.index, Outcome.RIGHT),
    )
    complete = run("recovery", out_dir=tmp_path, seed=1, figures=["drives"], extras=sizes)
    assert not complete.interrupted
    assert rest == [2, 3]
    assert "on 4 drives" in complete.figures[0].rows[0].what


def test_each_source_has_its_figure_and_all_of_them_one_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def probe(drive: Drive, **_: object) -> Probed:
        asked.append(drive.label)
        judged = Judgement("rotation_ns", Outcome.RIGHT, "1", "1", "arm", True, True)
        judgements = (judged,) if drive.source is Source.WITHOUT_FLASH else ()
        return Probed(drive.label, drive.source, judgements, redraws=0, seconds=1.0)

    monkeypatch.setattr("ssdscope.recovery.crowd._probe", probe)
    sizes = {"count": 0, "flat": 1, "second": 2, "without_flash": 1, "jobs": 1}
    for _ in range(2):
        said = run("recovery", out_dir=tmp_path, seed=1, extras=sizes)
    assert asked == ["1:0f", "1:0s", "1:1s", "1:0w"]
    assert [each.id for each in said.figures] == ["flat", "second", "without-flash"]
    tables = [each.table.rows for each in said.figures if each.table is not None]
    assert [row[0] for row in tables[2][-2:]] == ["rotation_ns", "all"]
    assert "rotation_ns" not in [row[0] for row in tables[1]]


@pytest.mark.parametrize("drive", [Drive(7, 3, source) for source in Source])
def test_a_label_names_the_drive_that_has_it(drive: Drive) -> None:
    assert named(drive.label) == drive


def test_other_studies_do_not_take_its_options(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="machado2015 takes no --count"):
        run("machado2015", out_dir=tmp_path, extras={"count": 3, "flat": None})
    with pytest.raises(UsageError, match="takes no --without-flash"):
        run("machado2015", out_dir=tmp_path, extras={"without_flash": 3})


def test_a_defect_on_one_drive_is_told_and_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def defective(*_: object, **__: object) -> None:
        raise ValueError("a window larger than what it looks at")

    monkeypatch.setattr(session, "run", defective)
    broken = probe_drawn(1, 0, Source.FLAT)
    assert broken.error == "a defect: ValueError: a window larger than what it looks at"
    assert {each.outcome for each in broken.judgements} == {Outcome.UNDETECTABLE}
    claim = tally.claims(Source.FLAT, [broken])[-1]
    assert (claim.ours, claim.verdict, claim.why) == (1, Verdict.DIFFERS, f"1:0f: {broken.error}")


@pytest.mark.parametrize(("covered", "good"), [(92, False), (95, True), (99, False)])
def test_intervals_that_cover_too_often_are_padded(covered: int, good: bool) -> None:
    judged = tuple(
        Judgement("gc_period_bytes", Outcome.RIGHT, "1", "1", "a", True, True, at < covered, 0.05)
        for at in range(100)
    )
    claims = tally.claims(Source.FIRST, [Probed("1:1", Source.FIRST, judged, 0, 1.0)])
    told = next(each for each in claims if each.what.startswith("intervals that cover"))
    assert told.paper == "93 to 97 %"
    assert (told.verdict is Verdict.AGREES) is good
