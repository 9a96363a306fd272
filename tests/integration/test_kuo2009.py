"""The study of 2009 on the presets of its drives: effects, and the layout example counted."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Claim, FigureResult, Verdict
from ssdscope.studies.kuo2009 import PAPER, SHARED
from ssdscope.studies.kuo2009.bench import Drives, periods, slow, write
from ssdscope.studies.kuo2009.layout import LAYOUTS, count
from ssdscope.studies.paper import CASE
from ssdscope.studies.running import Run
from ssdscope.targets import open_target

DETECTORS = ("29", "30", "34", "35", "37", "38", "39", "40", "41")
"""Of these `test_detector_figures`."""
DIFFER = {
    "many-to-one, table 3",
    "largest block: Samsung SLC",
    "largest block: Mtron SLC",
    "effective page, read",
    "cut page, time: Samsung SLC",
    "cut page, read: Transcend SLC",
    "cut page, read: Samsung SLC",
    "sectors 3 to 10, time",
    "knee, steeper: Samsung SLC",
    "by distance",
    "reads, writes: Transcend SLC",
    "reads, writes: Samsung SLC",
    "flash, RAM",
    "flush, left",
    "collection, spread",
    "sorted, SSD",
    "read ahead, more read",
}
"""Rows in which the presets are not what the thesis says, before trials."""


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FigureResult]:
    """Run the study without its trials, which would run it again."""
    folder = tmp_path_factory.mktemp("study")
    run = Run(replace(SHARED, paper=replace(PAPER, trials=())), 1, folder)
    return {name: run.make(name, silent) for name in SHARED.figures if name not in DETECTORS}


@pytest.fixture(scope="module")
def rows(figures: dict[str, FigureResult]) -> dict[str, Claim]:
    return {row.name: row for figure in figures.values() for row in figure.rows}


def test_rows_are_those_of_the_paper(
    figures: dict[str, FigureResult], rows: dict[str, Claim]
) -> None:
    for name, figure in figures.items():
        assert {PAPER.rows[row.name.partition(CASE)[0]].figure for row in figure.rows} == {name}
    asked = {name for name, row in PAPER.rows.items() if row.figure not in DETECTORS}
    assert {name.partition(CASE)[0] for name in rows} == asked


def test_what_differs_is_known(rows: dict[str, Claim]) -> None:
    assert {name for name, row in rows.items() if row.verdict != Verdict.AGREES} == DIFFER


def test_the_layout_example_takes_14_then_9_then_8_page_writes(rows: dict[str, Claim]) -> None:
    steps = ("at first", "step 1", "step 2", "step 3")
    assert [rows[f"{step}, pages"].ours for step in steps] == [14, 9, 8, 8]


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


def test_counts_that_the_paper_gives(rows: dict[str, Claim]) -> None:
    counts = {
        "sectors 3 to 10, pages": 3,
        "sectors 3 to 10, read first": 2,
        "pieces from sector 1, pages": 6,
        "one place, span": 1024,
        "half a block apart": 2,
        "a block apart": 1,
        "knee: Intel MLC": 112,
        "large knee: after random writes": 20,
        "large knee: after writes 64 MB apart": 20,
    }
    assert {name: rows[name].ours for name in counts} == counts


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


def test_pictures_and_data_are_there(figures: dict[str, FigureResult]) -> None:
    for name, figure in figures.items():
        if name == "access":
            assert figure.table is not None
            continue
        assert figure.image is not None
        assert figure.image.stat().st_size > 5_000
        assert figure.image.with_suffix(".png").exists()
        assert figure.data is not None
        with figure.data.open(encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) >= 2


def test_trials_show_what_they_gave(tmp_path: Path) -> None:
    (figure,) = studies.run("kuo2009", out_dir=tmp_path, figures=["18"], seed=1).figures
    slow_one = next(row for row in figure.rows if row.name == "sectors 3 to 10, time")
    assert slow_one.verdict == Verdict.DIFFERS
    assert "one chip" in slow_one.tried


def test_rows_are_held_against_other_seeds_lengths_and_drives(tmp_path: Path) -> None:
    run = Run(replace(SHARED, paper=replace(PAPER, trials=())), 1, tmp_path, robust=True)
    said = {row.name: row.robust for row in run.make("32", silent).rows}
    assert "agrees with 5 of 5 seeds" in said["by range, beyond"]
    assert "numbers of log blocks of the Transcend; not with" in said["by range, where"]


def test_what_times_alone_tell_can_be_asked_of_another_drive(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", state="sequential", seed=1)
    figures = ["9", "28", "31", "32", "36"]
    result = studies.run("kuo2009", out_dir=tmp_path, figures=figures, target=target, seed=1)
    assert result.target == "sim:mqsim-8g"
    assert [figure.id for figure in result.figures] == ["9", "31", "32", "36"]
    # A page-mapped drive has no effective block.
    every = [row for figure in result.figures for row in figure.rows]
    verdicts = {row.name: row.verdict for row in every}
    assert verdicts["random, sequential"] == Verdict.DIFFERS
    assert verdicts["by range, beyond"] == Verdict.DIFFERS
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
    assert len(saw.rows) == 5
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
