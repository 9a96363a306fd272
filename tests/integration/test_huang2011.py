"""The study of 2011: its claims can fail, and its drives run under its grid."""

from dataclasses import replace
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Verdict
from ssdscope.studies.huang2011 import claims, datasheet, figure, means, on_target, procedure
from ssdscope.studies.huang2011.procedure import Curve
from ssdscope.targets import open_target
from ssdscope.targets.opening import resolve_drive
from ssdscope.workloads.grid import Row, Stop

QUICK = Stop(until_ci=0.2, runtime_ns=200_000_000)


def test_the_figures_are_known() -> None:
    assert list(studies.registry()["huang2011"].figures) == [
        "I",
        "3",
        "4",
        "5",
        "6",
        "7",
        "means",
        "II",
        "III",
        "IV",
        "V",
        "VI",
        "8",
        "9",
        "10",
        "readings",
        "platforms",
        "VII",
        "unseen",
        "simulators",
    ]


@pytest.mark.parametrize("name", ["3", "4", "5", "6", "7"])
def test_every_line_has_its_points(name: str, tmp_path: Path) -> None:
    lines = procedure.curves(name)
    assert {each.device for each in lines} == {"SSD_I", "SSD_S", "HDD_S"}
    assert all(len(each.x) == len(each.vectors) for each in lines)
    rows = {each: [made_up(each, place) for place in range(len(each.x))] for each in lines}
    found = claims.compare(name, rows)
    assert found
    assert any(claim.verdict == Verdict.DIFFERS for claim in found), "flat drives show nothing"
    image = figure.draw(name, rows, tmp_path / "figure.svg")
    assert image.with_suffix(".png").stat().st_size > 10_000


def made_up(curve: Curve, place: int) -> Row:
    """A drive that takes a millisecond, and a nanosecond more for each point."""
    return Row(curve.vectors[place], 100, 1e6 + place, 1e3, 1e6, 10**9)


def test_lines_are_measured_in_order() -> None:
    line = procedure.curves("3")[-1]
    short = replace(line, x=line.x[::5], vectors=line.vectors[::5])
    rows = procedure.measure([short], 1, silent, QUICK)
    assert [row.vector for row in rows[short]] == list(short.vectors)
    assert all(row.requests > 0 for row in rows[short])


@pytest.mark.always(2)
@pytest.mark.parametrize("name", ["3", "4", "5", "6"])
def test_the_drives_behave_as_the_paper_s(name: str) -> None:
    """Figure 7 is of the same runs as figure 6."""
    rows = procedure.measure(procedure.curves(name), 1, silent)
    tried = {
        what: procedure.with_a_faster_link(wr_ratio, 1, QUICK)
        for what, (where, wr_ratio) in claims.CONTRADICTED.items()
        if where == name
    }
    found = [
        row
        for each in (name, "7")[: 1 + (name == "6")]
        for row in claims.compare(each, rows, tried)
    ]
    assert [row for row in found if row.verdict == Verdict.DIFFERS] == []
    assert sum(row.verdict == Verdict.EXPLAINED for row in found) <= 2


def test_means_of_the_disk_are_near_the_paper_s() -> None:
    rows = means.measure(1, silent, devices=["HDD_S"])
    assert len(rows["HDD_S"]) == 500
    assert [claim.verdict for claim in means.compare(rows)] == [Verdict.AGREES] * 3


@pytest.mark.parametrize("entry", datasheet.ENTRIES, ids=lambda each: f"{each.device} {each.what}")
def test_what_the_data_sheets_say_is_within_a_tenth(entry: datasheet.Entry) -> None:
    (claim,) = datasheet.compare(datasheet.measure(1, silent, [entry]))
    if (entry.device, entry.what) == ("SSD_I", "write latency"):
        assert claim.verdict == Verdict.EXPLAINED
        assert "writes are 100 us faster" in claim.why
    else:
        assert claim.verdict == Verdict.AGREES, claim


def test_entries_of_a_data_sheet_can_differ() -> None:
    for entry in datasheet.ENTRIES:
        (claim,) = datasheet.compare({entry: 1.2 * entry.published})
        assert claim.verdict != Verdict.AGREES
        assert claim.why
    limit = next(each for each in datasheet.ENTRIES if each.bound)
    assert datasheet.compare({limit: 1.0})[0].verdict == Verdict.AGREES


def test_buffers_are_those_of_table_1() -> None:
    disk = resolve_drive("sim:huang-hdd-s")["disk"]
    assert disk["read_cache_bytes"] + disk["write_cache_bytes"] == 8 << 20
    assert resolve_drive("sim:huang-ssd-a")["write_buffer"]["bytes"] == 64 << 20


def test_the_figures_of_one_drive(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", seed=1)
    result = studies.run("huang2011", out_dir=tmp_path, target=target, seed=1)
    assert result.target == "sim:mqsim-8g"
    assert [figure.id for figure in result.figures] == ["3", "4", "5", "6", "7"]
    rows = {row.what: row for figure in result.figures for row in figure.rows}
    assert rows["more writes cost much"].verdict == Verdict.AGREES
    assert rows["queue depth drives the latency of reads"].verdict == Verdict.AGREES
    # Mapped by pages and without read-ahead: it does not care for order.
    assert rows["random writes hurt"].verdict == Verdict.DIFFERS
    assert rows["random writes hurt"].why == "of another drive"
    for each in result.figures:
        assert each.image is not None
        assert each.data is not None
        assert each.image.exists()
        assert "sim:mqsim-8g" in each.data.read_text(encoding="utf-8")


def test_claims_about_one_drive_can_fail_and_hold() -> None:
    target = open_target("null:1g")
    for name in ("3", "4", "5", "6", "7"):
        lines = on_target.lines(name, target)
        flat = {each: [made_up(each, 0) for _ in each.x] for each in lines}
        assert any(row.verdict == Verdict.DIFFERS for row in on_target.compare(name, flat))
    (mixed,) = on_target.lines("3", target)
    slower = {mixed: [Row(v, 9, 1.2e6 + 5e4 * v.wr_ratio, 1, 1.2e8) for v in mixed.vectors]}
    assert {row.verdict for row in on_target.compare("3", slower)} == {Verdict.AGREES}


def test_a_file_open_for_reading_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\x5a" * (16 << 20))
    target = open_target(str(path))
    (lines,) = on_target.lines("3", target)
    assert [vector.wr_ratio for vector in lines.vectors] == [0]
    lines = on_target.lines("6", target)
    assert [each.name for each in lines] == [f"reads, {each}" for each in procedure.PATTERNS]
    rows = procedure.measure_on(target.device, lines, 1, silent, QUICK)
    whats = [row.what for row in on_target.compare("6", rows)]
    assert whats == ["reads with a stride are close to random ones"]
    assert any("reading only" in note for note in on_target.left_out("6", target, rows))
    assert path.read_bytes() == b"\x5a" * (16 << 20)


@pytest.mark.parametrize(
    ("uri", "figures", "said"),
    [
        ("null:1g", ["means", "I"], "paper's own drives"),
        ("null:8m", None, "too few for 64 requests"),
    ],
)
def test_targets_that_cannot_be_measured_are_refused(
    tmp_path: Path, uri: str, figures: list[str] | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        studies.run("huang2011", out_dir=tmp_path, target=open_target(uri), figures=figures)
