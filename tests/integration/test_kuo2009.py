"""The study of 2009 on the presets of its drives: effects, and the layout example counted."""

import csv
import json
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.kuo2009.bench import Drives, periods, slow, write
from ssdscope.studies.kuo2009.layout import LAYOUTS, count
from ssdscope.targets import open_target

DETECTORS = ("29", "30", "34", "35", "37", "38", "39", "40", "41")
"""Of these `test_detector_figures`."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> studies.StudyResult:
    figures = [each for each in studies.registry()["kuo2009"].figures if each not in DETECTORS]
    folder = tmp_path_factory.mktemp("study")
    return studies.run("kuo2009", out_dir=folder, figures=figures, seed=1)


def row(study: studies.StudyResult, figure: str, start: str) -> Claim:
    found = next(each for each in study.figures if each.id == figure)
    return next(each for each in found.rows if each.what.startswith(start))


def test_no_verdict_differs_without_an_explanation(study: studies.StudyResult) -> None:
    differing = [
        (each.id, claim.what, claim.ours)
        for each in study.figures
        for claim in each.rows
        if claim.verdict == Verdict.DIFFERS
    ]
    assert not differing


def test_the_layout_example_takes_14_then_9_then_8_page_writes(
    study: studies.StudyResult,
) -> None:
    start = "effective pages written for the seven requests"
    counted = [row(study, figure, start).ours for figure in ("25", "26", "27", "28")]
    assert counted == [14, 9, 8, 8]


def test_the_requests_of_the_example_are_those_of_its_text() -> None:
    first = LAYOUTS["25"]
    file = [each for each in first if each.number in (1, 3, 6)]
    assert [(each.first, each.first + each.sectors - 1) for each in file] == [
        (6, 9),
        (10, 15),
        (16, 21),
    ]
    hot = [each for each in first if each not in file]
    assert all(each.sectors == 4 and len(each.pages()) == 2 for each in hot)
    # What the drive counted is what the requests touch.
    drives = Drives(seed=1)
    for requests in LAYOUTS.values():
        assert count(drives, requests).pages == sum(len(each.pages()) for each in requests)


def test_counts_that_the_paper_gives(study: studies.StudyResult) -> None:
    assert row(study, "18", "sectors 3 to 10").ours == 3
    assert row(study, "18", "of these read").ours == 2
    assert row(study, "19", "sectors 1 to 8").ours == 6
    assert row(study, "31", "(B) one place").ours == 1024
    assert row(study, "33", "(A)").ours == 2
    assert row(study, "33", "(B)").ours == 1


def test_fast_and_slow_are_told_apart() -> None:
    drives = Drives(seed=1)
    times = write(drives.fork("transcend-slc"), [0] * 600, 4096).times_ns
    assert periods(slow(times)) == [256]
    assert not slow(times[:200]).any()


def test_runs_do_not_see_each_other() -> None:
    drives = Drives(seed=1)
    one = write(drives.fork("transcend-slc"), range(0, 64 << 20, 1 << 20), 4096).times_ns
    other = write(drives.fork("transcend-slc"), range(0, 64 << 20, 1 << 20), 4096).times_ns
    assert (one == other).all()


def test_pictures_and_data_are_there(study: studies.StudyResult) -> None:
    for figure in study.figures:
        if figure.id == "access":
            assert figure.table is not None
            continue
        assert figure.image is not None
        assert figure.image.stat().st_size > 5_000
        assert figure.image.with_suffix(".png").exists()
        assert figure.data is not None
        with figure.data.open(encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) >= 2


def test_what_times_alone_tell_can_be_asked_of_another_drive(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", state="sequential", seed=1)
    figures = ["9", "28", "31", "32", "36"]
    result = studies.run("kuo2009", out_dir=tmp_path, figures=figures, target=target, seed=1)
    assert result.target == "sim:mqsim-8g"
    assert [figure.id for figure in result.figures] == ["9", "31", "32", "36"]
    # A page-mapped drive has no effective block.
    rows = {row.what: row.verdict for figure in result.figures for row in figure.rows}
    assert rows["a random write of 4 KB against a sequential one of 2 MB"] == Verdict.DIFFERS
    assert rows["random over a range far beyond an effective block"] == Verdict.DIFFERS
    every = [row for figure in result.figures for row in figure.rows]
    assert {row.why for row in every if row.verdict != Verdict.AGREES} == {"of another drive"}
    assert not any(row.tried for row in every)
    # What is left out is said; the paper's own files keep their names.
    assert result.figures[0].notes == [
        "left out: figure 28: these count inside the paper's own drives"
    ]
    assert {path.name for path in tmp_path.glob("*.csv")} == {
        f"kuo2009-figure{name}-target.csv" for name in ("9", "31", "32", "36")
    }
    # No number that JSON does not have.
    json.loads(json.dumps(result.to_json(), allow_nan=False))


@pytest.mark.parametrize("uri", ["sim:ryu-hdd", "raid0:sim:kuo-samsung-slc,sim:kuo-samsung-slc"])
def test_a_hard_disk_and_an_array_are_measured_as_one_drive(tmp_path: Path, uri: str) -> None:
    target = open_target(uri, seed=1)
    figures = ["36", "access"]
    result = studies.run("kuo2009", out_dir=tmp_path, figures=figures, target=target, seed=1)
    saw, switches = result.figures
    assert len(saw.rows) == 4
    assert switches.table is not None
    (told,) = switches.table.rows
    assert told[:2] == ("the target", target.device.info.kind)


def test_a_file_open_for_reading_gives_what_reads_give(tmp_path: Path) -> None:
    file = tmp_path / "file.bin"
    file.write_bytes(bytes(4 << 20))
    target = open_target(str(file))
    result = studies.run("kuo2009", out_dir=tmp_path, target=target, seed=1)
    assert [figure.id for figure in result.figures] == ["38", "access"]
    said = " ".join(result.figures[0].notes)
    assert "open for reading only" in said
    assert "figure 40: it holds 4 MiB, which is too little" in said


@pytest.mark.parametrize(
    ("uri", "figures", "said"),
    [
        ("sim:mqsim-8g", ["28"], "count inside"),
        ("null:1g", ["9", "30"], "answers at once"),
        ("sim:msr-4gb", ["36"], "blocks of 4096 bytes"),
    ],
)
def test_targets_that_cannot_be_measured_are_refused(
    tmp_path: Path, uri: str, figures: list[str] | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        studies.run("kuo2009", out_dir=tmp_path, target=open_target(uri), figures=figures)


SECTORS = {
    "kuo-transcend-slc": 31_277_056,
    "kuo-transcend-mlc": 62_586_880,
    "kuo-intel-mlc": 156_301_488,
    "kuo-ocz-vertex": 117_231_408,
}
"""Published sizes. The other three are whole effective blocks below theirs."""


@pytest.mark.parametrize(("name", "sectors"), SECTORS.items())
def test_a_drive_has_its_published_size(name: str, sectors: int) -> None:
    target = open_target(f"sim:{name}", state="fresh", seed=1)
    assert target.capacity_bytes == 512 * sectors
