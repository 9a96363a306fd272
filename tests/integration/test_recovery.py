"""The recovery study as a whole, its drives probed blind: three of them always, or twelve."""

import json
import re
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.recovery.judge import Outcome
from ssdscope.recovery.truth import KINDS
from ssdscope.studies import Verdict

SEED = 7
SIZES = [(2, 1), pytest.param((8, 4), marks=pytest.mark.calibration)]
"""Drives of the first generator, and flat ones."""


@pytest.fixture(scope="module", params=SIZES, ids="{0[0]}+{0[1]}".format)
def sizes(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recovery")


@pytest.fixture(scope="module")
def study(folder: Path, sizes: tuple[int, int]) -> studies.StudyResult:
    extras = dict(zip(("count", "flat"), sizes, strict=True))
    return studies.run("recovery", out_dir=folder, seed=SEED, extras=extras)


def test_nothing_is_wrong(study: studies.StudyResult) -> None:
    wrong = {
        f"{drive} {name}"
        for figure in study.figures
        for note in figure.notes
        for name, drive in re.findall(r"^wrong: (\w+) of (\S+) is", note)
    }
    assert not wrong
    for figure in study.figures:
        assert "broke off" not in " ".join(row.what for row in figure.rows)


def test_every_property_of_every_drive_is_judged(
    study: studies.StudyResult, sizes: tuple[int, int]
) -> None:
    for figure, drives in zip(study.figures, sizes, strict=True):
        assert figure.table is not None
        names = [row[0] for row in figure.table.rows]
        assert names == [*KINDS, "all"]
        for row in figure.table.rows[:-1]:
            assert sum(int(cell) for cell in row[3:10]) == drives
        assert figure.image is not None
        assert figure.image.with_suffix(".csv").exists()


def test_enough_of_what_is_there_is_observable(study: studies.StudyResult) -> None:
    """Of so few drives a share is none: that it is counted, and held against the bar."""
    row = next(row for row in study.figures[0].rows if "present" in row.what)
    share = float(str(row.ours).split(" %", maxsplit=1)[0])
    assert share > 50
    assert (row.verdict == Verdict.AGREES) == (share >= 75)


def test_a_finished_study_is_read_from_its_journal(
    study: studies.StudyResult, folder: Path, sizes: tuple[int, int], cli
) -> None:
    count, flat = sizes
    words = ("reproduce", "recovery", "--seed", str(SEED), "-O", str(folder), "-o", "json")
    said = cli(*words, "--count", str(count), "--flat", str(flat))
    again = json.loads(said.out)
    assert again["figures"][0]["rows"] == study.to_json()["figures"][0]["rows"]
    shorter = json.loads(cli(*words, "--count", str(count - 1), "--flat", "0").out)
    assert len(shorter["figures"]) == 1
    assert sum(shorter["figures"][0]["table"]["rows"][0][3:10]) == count - 1


def test_one_drive_is_drawn_again(cli) -> None:
    name = f"{SEED}:1"
    said = cli("reproduce", "recovery", "--only", name, "--seed", "1", "-o", "json")
    figure = json.loads(said.out)["figures"][0]
    assert name in figure["title"]
    assert [row[0] for row in figure["table"]["rows"]] == list(KINDS)
    assert {row[1] for row in figure["table"]["rows"]} <= {str(each) for each in Outcome}


@pytest.mark.calibration
@pytest.mark.parametrize("name", [f"{SEED}:0s", f"{SEED}:1w"])
def test_one_target_of_another_source_is_drawn_again(name: str, cli) -> None:
    said = cli("reproduce", "recovery", "--only", name, "--seed", "1", "-o", "json")
    figure = json.loads(said.out)["figures"][0]
    assert name in figure["title"]
    assert [row[0] for row in figure["table"]["rows"]][: len(KINDS)] == list(KINDS)


def test_what_it_does_not_take_is_refused(cli, tmp_path: Path) -> None:
    no_target = cli("reproduce", "recovery", "--target", "null:", "-O", str(tmp_path))
    assert no_target.status == 2
    assert "its own drives" in no_target.err
    misnamed = cli("reproduce", "recovery", "--only", "seven", "-O", str(tmp_path))
    assert misnamed.status == 2
    assert "SEED:INDEX" in misnamed.err
    other = cli("reproduce", "kuo2009", "--count", "3", "-O", str(tmp_path))
    assert other.status == 2
    assert "takes no --count" in other.err
