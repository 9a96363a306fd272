"""The study of 2011: its drives run as the paper's, and any other drive can be measured so."""

from dataclasses import replace
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.probes.budget import silent
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.huang2011 import (
    CURVES,
    PAPER,
    claims,
    datasheet,
    means,
    mechanisms,
    on_target,
    procedure,
)
from ssdscope.studies.huang2011.predicting import runs
from ssdscope.studies.huang2011.procedure import Curve, Runs
from ssdscope.targets import open_target
from ssdscope.targets.opening import resolve_drive
from ssdscope.workloads.grid import FILLED_STOP, Row, Stop

QUICK = Stop(until_ci=0.2, runtime_ns=200_000_000)


def test_the_figures_are_known() -> None:
    known = list(studies.registry()["huang2011"].figures)
    assert known == list(PAPER.figures)
    assert set(known) >= {"I", *CURVES, "II", "III", "IV", "V", "VI", "VII", "8", "9", "10"}


def made_up(curve: Curve, place: int) -> Row:
    """A drive that takes a millisecond, and a nanosecond more for each point."""
    return Row(curve.vectors[place], 100, 1e6 + place, 1e3, 1e6, 10**9)


def test_lines_are_measured_in_order_and_no_run_twice() -> None:
    line = procedure.curves("3")[-1]
    short = replace(line, x=line.x[::5], vectors=line.vectors[::5])
    made = Runs(1, stop=QUICK)
    rows = made.of([short], silent)
    assert [row.vector for row in rows[short]] == list(short.vectors)
    assert all(row.requests > 0 for row in rows[short])
    assert made.of([short], silent)[short][0] is rows[short][0]


@pytest.mark.always(2)
def test_the_drives_behave_as_the_paper_s() -> None:
    """Most of what is said of figures 3 to 7 holds; no reading lacks a row."""
    made = Runs(1, stop=replace(FILLED_STOP, until_ci=0.05))
    found: dict[str, Claim] = {}
    for name in CURVES:
        rows = made.of(procedure.curves(name), silent)
        found |= {each.name: each for each in PAPER.claims(claims.readings(name, rows))}
    differing = {name for name, each in found.items() if each.verdict != Verdict.AGREES}
    assert len(differing) < len(found) / 3
    assert found["writes for reads: SSD_I"].verdict == Verdict.AGREES
    assert found["latency, 90 % reads: SSD_I"].verdict == Verdict.AGREES
    assert found["order under load: writes"].verdict == Verdict.AGREES
    assert "some extent: SSD_S, writes" in differing, "far more than the paper's words"
    asked = {row.name for row in PAPER.rows.values() if row.figure in CURVES}
    assert {name.partition(": ")[0] for name in found} == asked


def test_what_is_said_of_ssds_is_shown_by_runs() -> None:
    read = dict(mechanisms._array(Runs(1))) | dict(mechanisms._ssd_a(Runs(1)))
    assert {each.verdict for each in PAPER.claims(read)} == {Verdict.AGREES}
    named = {row.name for row in PAPER.rows.values() if row.figure == "mechanisms"}
    assert {each.partition(": ")[0] for each in read} <= named


def test_means_are_of_one_pattern_each_or_of_what_models_learn_from(tmp_path: Path) -> None:
    quick = Runs(1, stop=QUICK)
    assert len(means.drawn(quick, "HDD_S")) == 500
    part = replace(runs.part(tmp_path, 1, 240, "HDD_S", 1), stop=QUICK)
    made = means.measure(part, quick, silent)
    assert made.columns is not None
    assert len(made.columns["device"]) == 240
    assert {name.partition(": ")[0] for name in made.readings} <= set(PAPER.rows)
    assert "Standard error of the latency" in made.notes[1]


@pytest.mark.parametrize("entry", datasheet.entries(), ids=lambda each: each.name)
def test_what_the_data_sheets_say_is_within_a_tenth(entry: datasheet.Entry) -> None:
    (claim,) = PAPER.claims({entry.name: claims.of(datasheet.value(entry, Runs(1)))})
    if (entry.device, entry.what) == ("SSD_I", "write latency"):
        assert claim.verdict == Verdict.DIFFERS
        assert "random writes of 4 KB took 103 us" in claim.why
    elif entry.row != "sustained":
        assert claim.verdict == Verdict.AGREES, claim


def test_buffers_are_those_of_table_1() -> None:
    disk = resolve_drive("sim:huang-hdd-s")["disk"]
    assert disk["read_cache_bytes"] + disk["write_cache_bytes"] == 8 << 20
    assert resolve_drive("sim:huang-ssd-a")["write_buffer"]["bytes"] == 64 << 20


def test_the_figures_of_one_drive(tmp_path: Path) -> None:
    target = open_target("sim:mqsim-8g", seed=1)
    result = studies.run("huang2011", out_dir=tmp_path, target=target, seed=1)
    assert result.target == "sim:mqsim-8g"
    assert [figure.id for figure in result.figures] == list(CURVES)
    rows = {row.name: row for figure in result.figures for row in figure.rows}
    uri = "sim:mqsim-8g"
    assert rows[f"writes for reads: {uri}"].verdict == Verdict.AGREES
    assert rows[f"depth, latency: {uri}, reads"].verdict == Verdict.AGREES
    # Mapped by pages and without read-ahead: it does not care for order.
    assert rows[f"random for sequential: {uri}, writes"].verdict == Verdict.DIFFERS
    assert rows[f"random for sequential: {uri}, writes"].why == "of another drive"
    for each in result.figures:
        assert each.image is not None
        assert each.data is not None
        assert each.image.exists()
        assert "sim:mqsim-8g" in each.data.read_text(encoding="utf-8")


def test_claims_about_one_drive_can_fail_and_hold() -> None:
    target = open_target("null:1g")
    for name in CURVES:
        lines = on_target.lines(name, target)
        flat = {each: [made_up(each, 0) for _ in each.x] for each in lines}
        assert any(
            row.verdict == Verdict.DIFFERS for row in PAPER.claims(on_target.readings(name, flat))
        )
    (mixed,) = on_target.lines("3", target)
    slower = {
        mixed: [
            Row(v, 9, ms * 1e6, 1e3 / ms, 0.256e9 / ms)
            for v in mixed.vectors
            for ms in (1.5 + 0.05 * v.wr_ratio,)
        ]
    }
    rows = PAPER.claims(on_target.readings("3", slower))
    assert {row.verdict for row in rows} == {Verdict.AGREES}


def test_a_file_open_for_reading_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "drive.bin"
    path.write_bytes(b"\x5a" * (16 << 20))
    target = open_target(str(path))
    (lines,) = on_target.lines("3", target)
    assert [vector.wr_ratio for vector in lines.vectors] == [0]
    six = on_target.lines("6", target)
    assert [each.name for each in six] == [f"reads, {each}" for each in procedure.PATTERNS]
    rows = procedure.measure_on(target.device, six, 1, silent, QUICK)
    read = on_target.readings("6", rows)
    assert read
    assert not any("writes" in name.removeprefix("file:") for name in read)
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
