"""The study of 2009 on drives that are not the paper's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import StudyResult, Verdict
from ssdscope.studies.ryu2009 import ageing, on_target
from ssdscope.targets import open_target

MIB = 1 << 20
CURVES = [each for each in on_target.FIGURES if each not in ("6", "9", "10")]
"""Without the detectors, of which `test_detector_figures`."""


@pytest.fixture(scope="module")
def on_c(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """The curves on the paper's drive C, cut down, as if it were any drive."""
    target = open_target("sim:ryu-c", state="sequential", sets=ageing.C.sets, seed=1)
    folder = tmp_path_factory.mktemp("out")
    return studies.run("ryu2009", out_dir=folder, figures=CURVES, target=target, seed=1)


def verdicts(result: StudyResult) -> dict[str, Verdict]:
    return {row.what: row.verdict for figure in result.figures for row in figure.rows}


def test_every_procedure_that_makes_sense_on_one_drive_runs(on_c: StudyResult) -> None:
    assert on_c.target == "sim:ryu-c"
    assert [figure.id for figure in on_c.figures] == CURVES
    for figure in on_c.figures:
        assert figure.rows
        assert figure.image is not None
        assert figure.image.stat().st_size > 10_000
        if figure.id != "allocation":
            assert figure.data is not None
            assert "sim:ryu-c" in figure.data.read_text(encoding="utf-8") or figure.id == "7"


def test_what_the_paper_says_of_c_is_found_without_its_name(on_c: StudyResult) -> None:
    found = verdicts(on_c)
    assert found["as C: writes of 4 KB shifted by 1 KB repeat every"] == Verdict.AGREES
    assert found["sim:ryu-c: sequential and random reads become clearly slower"] == Verdict.AGREES
    assert found["sim:ryu-c: reads stay as fast"] == Verdict.DIFFERS
    assert found["sim:ryu-c: random reads of 4 KB"] == Verdict.AGREES
    assert found["as A: writes of 16 KB shifted by 2 KB repeat every"] == Verdict.DIFFERS


def test_what_differs_says_that_it_may(on_c: StudyResult) -> None:
    rows = [row for figure in on_c.figures for row in figure.rows]
    assert {row.verdict for row in rows} == {Verdict.AGREES, Verdict.DIFFERS}
    others = [row for row in rows if row.verdict == Verdict.DIFFERS]
    assert {(row.why, row.tried) for row in others} == {("of another drive", "")}


def test_a_file_is_only_read_without_the_token(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\x5a" * (64 * MIB))
    target = open_target(str(path))
    assert on_target.choose(["2", "6", "10", "13", "14"], target) == ["14", "10", "13"]
    with pytest.raises(UsageError, match="open for reading only, and figure 7 writes") as refused:
        studies.run("ryu2009", out_dir=tmp_path, target=target, figures=["7"])
    assert "--destroy-data" in (refused.value.hint or "")
    table = on_target.OnTarget(target, tmp_path, 1, requests=100).make("13", silent)
    assert [row.what.split(": ")[1] for row in table.rows] == [
        f"random reads of {size} KB" for size in (4, 8, 16, 32, 64)
    ]
    assert any("reading only" in note for note in table.notes)
    assert path.read_bytes() == b"\x5a" * (64 * MIB)


def test_a_file_is_written_to_with_the_token(cli: Callable[..., object], tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(bytes(64 * MIB))
    words = ("--figure", "7", "--target", str(path), "--destroy-data", "FILE:drive.bin")
    said = cli("reproduce", "ryu2009", *words, "-O", str(tmp_path / "out"), "--seed", "1")
    assert said.status == 0, said.err
    assert "repeat every" in said.out
    assert path.read_bytes() != bytes(64 * MIB)


@pytest.mark.parametrize(
    ("uri", "figures", "said"),
    [
        ("null:1g", ["12"], "paper's own drives"),
        ("null:1g", ["ageing"], "paper's own drives"),
        ("null:63m", None, "too few for the study"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    tmp_path: Path, uri: str, figures: list[str] | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        studies.run("ryu2009", out_dir=tmp_path, target=open_target(uri), figures=figures)
