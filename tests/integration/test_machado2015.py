"""The study of 2015 on the simulated drives: the paper's numbers, and the open questions."""

import csv
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.cli.reproduce import parse_figures
from ssdscope.errors import UsageError
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.machado2015.procedure import CONFIGURATIONS, SIZES_BYTES
from ssdscope.targets import open_target


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> studies.StudyResult:
    return studies.run("machado2015", out_dir=tmp_path_factory.mktemp("study"), seed=1)


def rows(study: studies.StudyResult, figure: str) -> dict[str, Claim]:
    found = next(each for each in study.figures if each.id == figure)
    return {row.what: row for row in found.rows}


def row(study: studies.StudyResult, figure: str, start: str) -> Claim:
    return next(each for what, each in rows(study, figure).items() if what.startswith(start))


def test_ten_lines_and_ten_sizes() -> None:
    assert len({each.label for each in CONFIGURATIONS}) == 10
    assert [size // 1024 for size in SIZES_BYTES] == [8 << step for step in range(10)]


def test_no_verdict_differs_without_an_explanation(study: studies.StudyResult) -> None:
    assert not study.differs


@pytest.mark.parametrize(
    ("start", "percent"),
    [
        ("32 GB: keeping 50 % free instead of 5 %, writes of 4 MB", 5.47),
        ("the same, mean of the ten sizes", 0.92),
        ("4 GB: keeping 50 % free instead of 5 %, writes of 1 MB", 6.92),
        ("the same at 4 MB", 2.18),
    ],
)
def test_overheads_are_those_of_the_original_simulator(
    study: studies.StudyResult, start: str, percent: float
) -> None:
    """The numbers were measured with the simulator the authors used."""
    assert row(study, "1", start).ours == pytest.approx(percent, abs=0.02)


def test_what_the_original_shows_exactly(study: studies.StudyResult) -> None:
    assert row(study, "1", "greedy and wear-aware").verdict == Verdict.AGREES
    assert row(study, "1", "32 GB with 5 % never").verdict == Verdict.AGREES
    assert row(study, "1", "32 GB: 90 % costs").verdict == Verdict.AGREES
    best = row(study, "1", "sequential writes of 4 MB")
    assert best.ours == "5% min/32GB (41.50 ms) and 50% min/4GB (44.49 ms)"


def test_only_the_cleared_flag_shows_the_papers_symptoms(study: studies.StudyResult) -> None:
    cleared = row(study, "random-reads", "the list of random reads with its read flag cleared")
    assert cleared.verdict == Verdict.EXPLAINED
    assert str(cleared.ours).startswith("2.22 times sequential reads, 1.0")
    for name in ("random reads of 4 MB", "random reads after"):
        ours = str(row(study, "random-reads", name).ours)
        assert ours.startswith("1.0000 and 1.0000 times")


def test_the_difference_is_a_picture_of_its_own(study: studies.StudyResult) -> None:
    assert [figure.id for figure in study.figures] == ["1", "difference", "random-reads", "wear"]
    image = study.figures[1].image
    assert image is not None
    assert image.name == "machado2015-difference.svg"


def test_the_policies_differ_in_wear(study: studies.StudyResult) -> None:
    wear = list(rows(study, "wear").values())
    assert len(wear) == 6
    assert any(each.verdict == Verdict.EXPLAINED for each in wear)


def test_gaps_name_the_stuck_plane(study: studies.StudyResult) -> None:
    notes = study.figures[0].notes
    assert notes
    assert all("50% min/4GB, randwrite" in note and "plane" in note for note in notes)


def test_pictures_and_data_are_there(study: studies.StudyResult) -> None:
    for figure in study.figures:
        assert figure.image is not None
        assert figure.image.stat().st_size > 5_000
        assert figure.image.with_suffix(".png").exists()
    data = study.figures[0].data
    assert data is not None
    with data.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 10 * 4 * 10
    read = next(r for r in table if r["pattern"] == "read" and r["size_bytes"] == "4194304")
    assert float(read["mean_ns"]) == pytest.approx(18_669_772.8, abs=1)


def test_json_follows_the_contract(study: studies.StudyResult) -> None:
    document = study.to_json()
    assert document["study"] == "machado2015"
    for figure in document["figures"]:
        assert figure.keys() >= {"id", "title", "rows", "image"}
        for each in figure["rows"]:
            assert each.keys() >= {"what", "paper", "ours", "unit", "verdict"}
            assert each["verdict"] == "agrees" or each["why"]


def test_the_procedure_on_a_file_reads_only(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\x5a" * (16 << 20))
    try:
        target = open_target(str(path))
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"no direct I/O here: {error}")
    result = studies.run("machado2015", out_dir=tmp_path / "out", target=target, seed=1)
    figure = result.figures[0]
    assert figure.data is not None
    patterns = {line.split(",")[1] for line in figure.data.read_text().splitlines()[1:]}
    assert patterns == {"read", "randread"}
    assert any("reading only" in note for note in figure.notes)
    assert path.read_bytes() == b"\x5a" * (16 << 20)


def test_the_procedure_on_another_simulated_drive(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", seed=1)
    result = studies.run("machado2015", out_dir=tmp_path, target=target, seed=1)
    assert result.target == "sim:mqsim-8g"
    assert result.figures[0].image is not None
    verdicts = {row.what: row.verdict for row in result.figures[0].rows}
    assert verdicts["random writes take about as long as sequential ones"] == Verdict.AGREES
    assert verdicts["sequential reads are much faster than random reads"] == Verdict.DIFFERS
    with pytest.raises(UsageError, match="the paper's own drives"):
        studies.run("machado2015", out_dir=tmp_path, figures=["wear"], target=target)


def test_unknown_studies_and_figures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no study"):
        studies.run("machado", out_dir=tmp_path)
    with pytest.raises(UsageError, match="no figure '9'"):
        studies.run("machado2015", out_dir=tmp_path, figures=["9"])


@pytest.mark.parametrize(
    ("text", "figures"),
    [("3-5,9", ["3", "4", "5", "9"]), ("wear, 3", ["wear", "3"]), ("random-reads,3,3", None)],
)
def test_figures_are_numbers_spans_and_names(text: str, figures: list[str] | None) -> None:
    known = [*map(str, range(1, 10)), "random-reads", "wear"]
    assert parse_figures(text, known) == (figures or ["random-reads", "3"])


@pytest.mark.parametrize("text", ["waer", "1-99999999999", "", "9-", "1,,2"])
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no figure"):
        parse_figures(text, ["1", "2", "wear"])


def test_a_span_that_runs_backwards_is_refused() -> None:
    with pytest.raises(UsageError, match="'2-1' runs backwards"):
        parse_figures("1,2-1", ["1", "2", "wear"])


def test_a_disagreement_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Claim("x", 1, 2, "", Verdict.DIFFERS)
