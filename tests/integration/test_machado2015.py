"""The study of 2015 on the simulated drives: the paper's numbers, and the open questions."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.choosing import parse_figures
from ssdscope.studies.machado2015 import firmware, procedure, reserve
from ssdscope.studies.machado2015.procedure import (
    CLEARED,
    CONFIGURATIONS,
    SIZES_BYTES,
    Cell,
    Line,
)
from ssdscope.targets import open_target
from ssdscope.targets.records import OP_READ, OP_WRITE

FIGURES = ["1", "difference", "random-reads", "wear", "organisation"]
"""All but the sweep of reserves, of which two are swept below."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> studies.StudyResult:
    folder = tmp_path_factory.mktemp("study")
    return studies.run("machado2015", out_dir=folder, figures=FIGURES, seed=1)


def rows(study: studies.StudyResult, figure: str) -> dict[str, Claim]:
    found = next(each for each in study.figures if each.id == figure)
    return {row.what: row for row in found.rows}


def row(study: studies.StudyResult, figure: str, start: str) -> Claim:
    return next(each for what, each in rows(study, figure).items() if what.startswith(start))


def test_ten_lines_and_ten_sizes() -> None:
    assert len({each.label for each in CONFIGURATIONS}) == 10
    assert [size // 1024 for size in SIZES_BYTES] == [8 << step for step in range(10)]


def test_every_verdict_agrees_or_has_a_cause_that_was_tried(study: studies.StudyResult) -> None:
    for each in (row for figure in study.figures for row in figure.rows):
        assert each.verdict in {Verdict.AGREES, Verdict.EXPLAINED}, each.what
        assert bool(each.tried) is (each.verdict == Verdict.EXPLAINED), each.what


@pytest.mark.parametrize(
    ("start", "percent", "verdict"),
    [
        ("32 GB: keeping 50 % free instead of 5 %, writes in order of 4 MB", 5.47, "agrees"),
        ("32 GB: keeping 50 % free instead of 5 %, writes in order, mean", 0.92, "explained"),
        ("4 GB: keeping 50 % free instead of 5 %, writes in order of 1 MB", 6.92, "agrees"),
        ("4 GB: keeping 50 % free instead of 5 %, writes in order of 4 MB", 2.18, "explained"),
        ("4 GB: keeping 50 % free instead of 5 %, writes in order, mean", 3.27, "explained"),
    ],
)
def test_overheads_are_those_of_the_original_simulator(
    study: studies.StudyResult, start: str, percent: float, verdict: str
) -> None:
    """The numbers were measured with the simulator the authors used."""
    found = row(study, "1", start)
    assert found.ours == pytest.approx(percent, abs=0.02)
    assert found.verdict == verdict


def test_the_papers_means_are_those_of_writes_of_one_volume(study: studies.StudyResult) -> None:
    for size, mean in (("32 GB", "5.50"), ("4 GB", "6.97")):
        found = row(study, "1", f"{size}: keeping 50 % free instead of 5 %, writes in order, mean")
        assert f"mean of the ten sizes {mean} %" in found.tried


def test_what_the_original_shows_exactly(study: studies.StudyResult) -> None:
    assert row(study, "1", "greedy and wear-aware").verdict == Verdict.AGREES
    assert row(study, "1", "32 GB with 5 % never").verdict == Verdict.AGREES
    assert row(study, "1", "32 GB: 90 % costs").verdict == Verdict.AGREES
    best = row(study, "1", "writes in order of 4 MB")
    assert best.ours == "5% min/32GB (41.50 ms) and 50% min/4GB (44.49 ms)"


def test_only_the_cleared_bit_shows_the_papers_symptoms(study: studies.StudyResult) -> None:
    reads = row(study, "random-reads", "random reads take much longer")
    assert reads.verdict == Verdict.EXPLAINED
    assert str(reads.ours).startswith("1.00 times reads in order")
    assert reads.tried.startswith("random reads, read bit cleared: 2.20 to 2.30 times reads")
    found = next(each for each in study.figures if each.id == "random-reads").table
    assert found is not None
    assert [cells[-1] for cells in found.rows] == ["no", "no", "no", "yes"]


def test_the_cleared_list_is_that_of_the_random_reads() -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    logs = [
        device.fork().run_logged(procedure.requests(device, pattern, 1 << 20, seed=1))[1]
        for pattern in ("randread", CLEARED, "randwrite")
    ]
    reads, cleared, writes = ([*map(int, log.offset_bytes)] for log in logs)
    assert reads == cleared
    assert reads != writes
    assert [set(map(int, log.op)) for log in logs] == [{OP_READ}, {OP_WRITE}, {OP_WRITE}]


def test_the_difference_is_a_picture_of_its_own(study: studies.StudyResult) -> None:
    assert [figure.id for figure in study.figures] == FIGURES
    image = study.figures[1].image
    assert image is not None
    assert image.name == "machado2015-difference.svg"


def test_the_policies_differ_in_wear(study: studies.StudyResult) -> None:
    wear = rows(study, "wear").values()
    assert [each.verdict for each in wear] == [Verdict.AGREES] * 2


def test_pages_of_4_kb_alone_give_the_papers_numbers(study: studies.StudyResult) -> None:
    verdicts = [each.verdict for each in rows(study, "organisation").values()]
    assert verdicts == [Verdict.AGREES, *[Verdict.EXPLAINED] * 3]


def test_a_larger_reserve_serves_random_writes_and_costs_less() -> None:
    found = reserve.sweep(1, silent, (51, 57))
    at = {(p.reserve_percent, p.size_bytes): p for p in found.points}
    few, many = at[51, reserve.LARGEST], at[57, reserve.LARGEST]
    assert few.in_order == pytest.approx(7.19, abs=0.02)
    assert few.ratio != few.ratio  # stuck
    assert 4 < many.in_order < many.random < few.in_order * 1.5
    assert many.ratio < 1.1
    assert all(found.ranges.values()), "with 51 % the drive gets stuck in every range"
    assert "stuck" in reserve.table(found).rows[1]
    assert [each.verdict for each in reserve.compare(found)] == [Verdict.DIFFERS] * 2


def test_gaps_name_the_stuck_plane(study: studies.StudyResult) -> None:
    notes = study.figures[0].notes
    assert notes
    lines = "Greedy/50% min/4GB and Wear-Aware/50% min/4GB, rand"
    assert all(note.startswith(lines) and "plane" in note for note in notes)


def test_pictures_and_data_are_there(study: studies.StudyResult) -> None:
    for figure in study.figures:
        assert figure.image is not None
        assert figure.image.stat().st_size > 5_000
        assert figure.image.with_suffix(".png").exists()
    data = study.figures[0].data
    assert data is not None
    with data.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 10 * 5 * 10
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
    assert verdicts["random reads take much longer than those in order"] == Verdict.DIFFERS
    others = {row.why for row in result.figures[0].rows if row.verdict != Verdict.AGREES}
    assert others == {"of another drive"}
    with pytest.raises(UsageError, match="the paper's own drives"):
        studies.run("machado2015", out_dir=tmp_path, figures=["wear"], target=target)


def test_drive_files_of_other_firmwares_keep_size_reserve_and_policy(tmp_path: Path) -> None:
    for kind in firmware.NAMES:
        lines = firmware.Firmware(kind, tmp_path).lines(1)
        assert [line.label for line in lines] == [each.label for each in CONFIGURATIONS]
        for line, each in zip(lines, CONFIGURATIONS, strict=True):
            drive = line.open(1).drive
            assert drive is not None
            raw = drive["nand"]["blocks_per_plane"] * 64 * 64 * 4096
            assert raw == each.size_gb << 30
            exported = 1 / (1 + drive["over_provisioning_ratio"])
            assert exported == pytest.approx(1 - each.reserve_ratio, abs=1e-6)
            if kind == "page":
                assert drive["gc"]["policy"] == each.policy
                assert drive["gc"]["low_water_ratio"] == each.min_free_percent / 100
            else:
                spare = each.reserve_ratio - each.min_free_percent / 100
                unit = drive["ftl"]["merge_unit_bytes"]
                log_bytes = drive["ftl"]["log_blocks"] * unit
                assert log_bytes == pytest.approx(spare * raw, abs=2 * unit)


def test_the_ten_configurations_with_another_firmware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_lines = procedure.run_lines

    def one_for_all(lines: list[Line], *args: object) -> dict[tuple[str, str, int], Cell]:
        cells = run_lines(lines[-1:], *args)
        return {
            (line.label, pattern, size): replace(cell, line=line.label)
            for line in lines
            for (_, pattern, size), cell in cells.items()
        }

    monkeypatch.setattr(procedure, "run_lines", one_for_all)
    result = studies.run(
        "machado2015", out_dir=tmp_path, figures=["1"], seed=1, extras={"drive": "log-block"}
    )
    (figure,) = result.figures
    assert figure.image is not None
    assert figure.image.name == "machado2015-log-block-figure1.svg"
    differing = {row.why for row in figure.rows if row.verdict != Verdict.AGREES}
    assert differing == {"of another drive"}
    assert any("policy" in note for note in figure.notes)


@pytest.mark.parametrize(
    ("figures", "extras", "message"),
    [
        (["1"], {"drive": "mapped"}, "no firmware 'mapped'"),
        (["wear"], {"drive": "page"}, "the paper's own drives"),
    ],
)
def test_other_firmwares_are_refused_what_they_have_not(
    tmp_path: Path, figures: list[str], extras: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        studies.run("machado2015", out_dir=tmp_path, figures=figures, extras=extras)


def test_a_target_has_a_firmware_of_its_own(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", seed=1)
    with pytest.raises(UsageError, match="firmware of its own"):
        studies.run("machado2015", out_dir=tmp_path, target=target, extras={"drive": "page"})


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
