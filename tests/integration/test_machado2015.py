"""The study of 2015 on the simulated drives: the paper's numbers, and the open questions."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.choosing import parse_figures
from ssdscope.studies.machado2015 import (
    PAPER,
    SHARED,
    Bench,
    drives,
    firmware,
    procedure,
    requests,
    reserve,
)
from ssdscope.studies.machado2015.procedure import (
    CLEARED,
    CONFIGURATIONS,
    SIZES_BYTES,
    Cell,
    Line,
)
from ssdscope.studies.record import FigureResult
from ssdscope.studies.running import Run
from ssdscope.targets import open_target
from ssdscope.targets.records import OP_READ, OP_WRITE


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, FigureResult]:
    """Run every figure once: with one trial, and with fewer reserves and drives."""
    (trial,) = (each for each in PAPER.trials if "reads_as_writes" in each.settings)
    paper = replace(PAPER, trials=(trial,))
    run = Run(replace(SHARED, paper=paper), 1, tmp_path_factory.mktemp("study"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reserve, "RESERVES_PERCENT", (51, 58))
        patch.setattr(requests, "COUNTS", (300, 600))
        patch.setattr(drives, "SSDS", (drives.PAPERS, "huang-ssd-a", "mqsim-8g"))
        return {name: run.make(name, silent) for name in PAPER.figures}


def rows(study: Mapping[str, FigureResult], figure: str) -> dict[str, Claim]:
    return {row.name: row for row in study[figure].rows}


def test_ten_lines_and_ten_sizes() -> None:
    assert len({each.label for each in CONFIGURATIONS}) == 10
    assert [size // 1024 for size in SIZES_BYTES] == [8 << step for step in range(10)]


def test_every_row_of_the_paper_is_measured(study: Mapping[str, FigureResult]) -> None:
    measured = {
        (row.name.split(": ")[0], figure.id) for figure in study.values() for row in figure.rows
    }
    assert measured == {(row.name, row.figure) for row in PAPER.rows.values()}


@pytest.mark.parametrize(
    ("name", "percent", "verdict"),
    [
        ("32 GB: writes in order of 4 MB", 5.47, "agrees"),
        ("32 GB: writes in order, mean of the ten sizes", 0.92, "differs"),
        ("32 GB: random writes of 4 MB", 6.57, "differs"),
        ("90 % over 5 %: writes in order of 4 MB", 5.47, "agrees"),
        ("4 GB: writes in order of 1 MB", 6.92, "agrees"),
        ("4 GB: writes in order of 1 MB, as a rate", 6.48, "agrees"),
        ("4 GB: writes in order of 4 MB", 2.18, "differs"),
        ("4 GB: writes in order, mean of the ten sizes", 3.27, "differs"),
    ],
)
def test_overheads_are_those_of_the_original_simulator(
    study: Mapping[str, FigureResult], name: str, percent: float, verdict: str
) -> None:
    """Those of writes in order were measured with the simulator the authors used."""
    found = rows(study, "1")[name]
    assert found.ours == pytest.approx(percent, abs=0.02)
    assert found.verdict == verdict


def test_what_the_original_shows_exactly(study: Mapping[str, FigureResult]) -> None:
    found = rows(study, "1")
    agreeing = ("policies", "never cleans", "90 %", "best and worst: writes in order of 4 MB")
    assert {found[name].verdict for name in agreeing} == {Verdict.AGREES}
    assert found["complete"].ours == "396 of 400 points"
    assert "; 28 of them collected" in str(found["policies"].ours)


def test_the_cost_hangs_on_the_number_of_requests(study: Mapping[str, FigureResult]) -> None:
    table = study["requests"].table
    assert table is not None
    assert [row[0] for row in table.rows] == ["300", "600"]
    assert [row[1] for row in table.rows] == ["+5.5 %", "+6.4 %"]


def test_no_reserve_makes_all_sentences_hold(study: Mapping[str, FigureResult]) -> None:
    (row,) = study["reserve"].rows
    assert row.verdict == Verdict.DIFFERS
    table = study["reserve"].table
    assert table is not None
    by_reserve = {cells[0]: dict(zip(table.columns, cells, strict=True)) for cells in table.rows}
    assert by_reserve["51 %"]["32 GB, 4 MB in order"] == "5.47 % *"
    assert by_reserve["58 %"]["32 GB, 4 MB in order"] == "0.0 %"
    assert str(by_reserve["58 %"]["random over in order"]).endswith("*")


def test_collection_starts_at_the_limit_and_is_what_costs(
    study: Mapping[str, FigureResult],
) -> None:
    found = rows(study, "collection")
    differing = {name for name, row in found.items() if row.verdict != Verdict.AGREES}
    assert {name.split(": ")[0] for name in differing} == {"background", "least reserve"}
    assert str(found["least reserve"].ours) == "6 %: 3,664 blocks erased; none from 9 % on"
    # By the firmware's rule: pages of data up to the limit, less the block being written.
    blocks = int(256 * 0.51) - 1 - 128
    said = f"after {-(-blocks * 63 * 64 * 4096 // (1 << 20)):,} MB"
    assert said in str(found["starts: 4 GB, 50 %"].ours)


def test_only_the_cleared_bit_shows_the_papers_symptoms(
    study: Mapping[str, FigureResult],
) -> None:
    found = rows(study, "random-reads")
    assert found["cause: the 32 GB drives"].ours == "random reads, read bit cleared"
    assert found["cause: all drives"].ours == "none"
    assert str(found["symptoms: all drives"].ours).startswith("1.00 times reads in order")
    table = study["random-reads"].table
    assert table is not None
    assert [cells[-2:] for cells in table.rows] == [("no", "no")] * 3 + [("yes", "no")]


def test_the_cleared_bit_explains_why_random_reads_were_slow(
    study: Mapping[str, FigureResult],
) -> None:
    found = rows(study, "1")
    assert found["random reads"].verdict == Verdict.EXPLAINED
    assert "2.20 to" in found["random reads"].tried
    assert found["settings: random reads"].verdict == Verdict.DIFFERS
    assert "read bit cleared" in found["settings: random reads"].tried


def test_the_cleared_list_is_that_of_the_random_reads() -> None:
    device = open_target("sim:msr-4gb", seed=1).device
    logs = [
        device.fork().run_logged(procedure.workload(device, pattern, 1 << 20, seed=1))[1]
        for pattern in ("randread", CLEARED, "randwrite")
    ]
    reads, cleared, writes = ([*map(int, log.offset_bytes)] for log in logs)
    assert reads == cleared
    assert reads != writes
    assert [set(map(int, log.op)) for log in logs] == [{OP_READ}, {OP_WRITE}, {OP_WRITE}]


def test_settings_reach_the_requests() -> None:
    setting = procedure.Setting(requests=7, region_mib=64)
    device = open_target("sim:msr-4gb", seed=1).device
    asked = procedure.workload(device, "randwrite", 1 << 20, 1, setting)
    assert (asked.requests, asked.size_bytes) == (7, 64 << 20)
    assert Bench(1, {"requests": 7}).setting == procedure.Setting(requests=7)


def test_wear_levelling_wins_where_few_pages_are_hot_and_loses_where_more_are(
    study: Mapping[str, FigureResult],
) -> None:
    found = rows(study, "wear")
    hottest, hot, uniform = (
        found[f"lifetime: {load}"]
        for load in (
            "98 % of the writes to 2 % of the space",
            "90 % of the writes to 10 % of the space",
            "random writes, as the paper's",
        )
    )
    assert hottest.verdict == Verdict.AGREES
    assert (hot.verdict, uniform.verdict) == (Verdict.DIFFERS, Verdict.DIFFERS)
    assert "greedy 9.1 and wear-aware 7.5" in str(hot.ours)
    assert "1.17 times as much flash" in hot.why


def test_pages_of_4_kb_are_what_is_printed(study: Mapping[str, FigureResult]) -> None:
    found = rows(study, "organisation")
    agreeing = {name for name, row in found.items() if row.verdict == Verdict.AGREES}
    assert {name for name in found if "the simulator's" in name} <= agreeing
    assert found["raw 32 GB: paper: page and pages in a block"].ours == 64
    assert found["smallest request: slides: page and block"].ours == 64
    table = study["organisation"].table
    assert table is not None
    assert len(table.rows) == 2 * 4


def test_disks_gain_by_order_and_the_papers_drive_does_not(
    study: Mapping[str, FigureResult],
) -> None:
    found = rows(study, "drives")
    differing = {name for name, row in found.items() if row.verdict != Verdict.AGREES}
    assert differing == {"disk: writes"}
    assert found["no gain: reads"].ours == "1.00 to 1.00 times"


def test_gaps_name_the_stuck_plane(study: Mapping[str, FigureResult]) -> None:
    notes = study["1"].notes
    assert notes
    lines = "Greedy/50% min/4GB and Wear-Aware/50% min/4GB, rand"
    assert all(note.startswith(lines) and "plane" in note for note in notes)


def test_pictures_and_data_are_there(study: Mapping[str, FigureResult]) -> None:
    for figure in study.values():
        assert figure.image is not None
        assert figure.image.stat().st_size > 5_000
        assert figure.image.with_suffix(".png").exists()
    difference = study["difference"].image
    assert difference is not None
    assert difference.name == "machado2015-difference.svg"
    data = study["1"].data
    assert data is not None
    with data.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 10 * 5 * 10
    read = next(r for r in table if r["pattern"] == "read" and r["size_bytes"] == "4194304")
    assert float(read["mean_ns"]) == pytest.approx(18_669_772.8, abs=1)


def test_json_follows_the_contract(study: Mapping[str, FigureResult]) -> None:
    document = studies.StudyResult("machado2015", [*study.values()], 1).to_json()
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
    assert {row.tried for row in result.figures[0].rows} == {""}
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

    def one_for_all(lines: list[Line], *args: Any) -> dict[tuple[str, str, int], Cell]:
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
