"""The models of 2011: what is said of them can fail, and their runs are kept and gone on with."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit import made_up_runs

from ssdscope.errors import UsageError
from ssdscope.models import designs, features
from ssdscope.models.table import Collected, load
from ssdscope.probes.budget import silent
from ssdscope.studies.huang2011 import means
from ssdscope.studies.huang2011.predicting import (
    datasheets,
    frozen,
    improving,
    platforms,
    published,
    quantile,
    readings,
    runs,
    simulators,
    tables,
    tree,
    unseen,
    verdicts,
)
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy, Cell
from ssdscope.studies.huang2011.predicting.published import Printed
from ssdscope.studies.huang2011.predicting.runs import GRID, SOBOL, Part
from ssdscope.studies.huang2011.predicting.unseen import Learning
from ssdscope.studies.huang2011.predicting.verdicts import Held
from ssdscope.studies.record import Verdict
from ssdscope.targets import open_target
from ssdscope.workloads.grid import FILLED_STOP, KIB, Stop, Vector

QUICK = Stop(until_ci=0.2, runtime_ns=200_000_000)
COUNT = 360


def made_up(
    folder: Path, devices: tuple[str, ...], sigma: float = 0.02, count: int = COUNT
) -> Accuracy:
    """Runs of a drive that is a formula in place of the grid's."""
    accuracy = Accuracy(Part(folder, 1, count, devices))
    rng = np.random.default_rng(1)
    info = made_up_runs.info()
    vectors = designs.of_grid(info, count, 1)[0]
    rows = [made_up_runs.run("train", vector, rng, sigma) for vector in vectors]
    rows += [made_up_runs.run("repeat", vector, rng, sigma) for vector in vectors[:80]]
    held = designs.off_grid(info, 100, 2)
    rows += [made_up_runs.run("test", vector, rng, sigma) for vector in held]
    spread = made_up_runs.collection(124, repeats=20, sigma=sigma)
    for device in devices:
        accuracy._runs[device, GRID] = rows
        accuracy._runs[device, SOBOL] = spread
    return accuracy


@pytest.fixture(name="cell", scope="module")
def _cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    """Fit an extended model of the made-up runs."""
    folder = tmp_path_factory.mktemp("runs")
    found = made_up(folder, ("SSD_I",)).cell("SSD_I", "extended", "latency", "all", silent)
    assert found is not None
    return found


def test_the_paper_s_numbers_go_together() -> None:
    for device, known in means.PUBLISHED.items():
        rows = {target: published.EXTENDED[target][device] for target in published.TARGETS}
        assert rows["latency"].mean == known.latency_ms
        assert rows["bandwidth"].mean == known.bandwidth_mb_s
        assert rows["iops"].mean == known.iops
        for target, row in rows.items():
            assert row.mre < published.BASIC[target][device].mre
            assert row.r2 > published.BASIC[target][device].r2
    for target in published.TARGETS:
        assert list(published.SPECIFIC[target]) == list(features.WORKLOADS)[1:]
    assert published.specific("latency", "rand_rd", "HDD_S").mre == 46


def test_presets_are_those_that_stood_before_a_model_was_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {device: frozen.digest(device) for device in means.PUBLISHED} == frozen.FROZEN
    whole = frozen.note(tuple(frozen.FROZEN))
    assert all(f"{device} {known}" in whole for device, known in frozen.FROZEN.items())
    assert "Changed" not in whole
    monkeypatch.setitem(frozen.FROZEN, "SSD_A", "0" * 16)
    assert (
        f"Changed since, so that nothing was foretold of them: SSD_A {frozen.digest('SSD_A')}"
        in (frozen.note(("SSD_A", "SSD_I")))
    )


def judged(cell: Cell, printed: Printed, weighted: Cell | None = None) -> list[Verdict]:
    return [claim.verdict for claim in verdicts.compare([Held(cell, printed, weighted)])]


def test_a_model_that_is_worse_than_the_paper_s_differs_unless_nobody_could_do_better(
    cell: Cell,
) -> None:
    off, fitted = 100 * cell.in_sample["mre"], 0.9
    cell = replace(cell, in_sample={**cell.in_sample, "r2": fitted})
    known, noisy = (
        replace(cell, floor={**(cell.floor or {}), "mre": mre, "r2": r2})
        for mre, r2 in ((0, 1), (off / 100, fitted))
    )
    assert judged(known, Printed(fitted, off + 0.1)) == [Verdict.AGREES, Verdict.AGREES]
    assert judged(known, Printed(fitted + 0.03, off - 0.1)) == [Verdict.DIFFERS] * 2
    assert judged(noisy, Printed(fitted + 0.03, off - 0.1)) == [Verdict.EXPLAINED] * 2
    assert judged(replace(cell, floor=None), Printed(fitted, off - 0.1))[0] == Verdict.DIFFERS
    (row, _) = verdicts.compare([Held(noisy, Printed(fitted, off - 0.1))])
    assert "run twice" in row.tried


@pytest.mark.parametrize(("paper", "ours"), [(3, 3.49), (0.4, 0.449)])
def test_an_error_agrees_to_the_digits_that_are_printed(
    paper: float, ours: float, cell: Cell
) -> None:
    for off, verdict in ((ours, Verdict.AGREES), (ours + 0.02, Verdict.DIFFERS)):
        model = replace(cell, floor=None, in_sample={**cell.in_sample, "mre": off / 100})
        assert judged(model, Printed(0.5, float(paper)))[0] == verdict


def test_a_basic_model_that_fails_otherwise_than_the_paper_s_differs(cell: Cell) -> None:
    basic = replace(cell, features="averaged")
    off, fitted = 100 * cell.in_sample["mre"], cell.in_sample["r2"]
    less = replace(cell, in_sample={**cell.in_sample, "mre": cell.in_sample["mre"] / 4})
    for times, alone, beside in (
        (0.7, Verdict.AGREES, Verdict.AGREES),
        (1 / 1.6, Verdict.DIFFERS, Verdict.EXPLAINED),
        (1 / 4.5, Verdict.DIFFERS, Verdict.DIFFERS),
        (1.6, Verdict.DIFFERS, Verdict.DIFFERS),
    ):
        assert judged(basic, Printed(fitted, off * times))[0] == alone
        assert judged(basic, Printed(fitted, off * times), less)[0] == beside
    assert judged(basic, Printed(fitted - 0.24, off))[1] == Verdict.AGREES
    assert judged(basic, Printed(fitted - 0.26, off))[1] == Verdict.DIFFERS


def test_the_disk_is_the_hardest_to_predict_or_not(cell: Cell) -> None:
    disk, drive = (
        Held(replace(cell, device=name, in_sample={**cell.in_sample, "mre": off}), Printed(1, 1))
        for name, off in (("HDD_S", 0.2), ("SSD_I", 0.1))
    )
    easier = Held(replace(disk.cell, in_sample={**cell.in_sample, "mre": 0.05}), disk.printed)
    both = ("HDD_S", "SSD_I")
    assert [each.verdict for each in verdicts.worst([disk, drive], both)] == [Verdict.AGREES]
    assert [each.verdict for each in verdicts.worst([easier, drive], both)] == [Verdict.DIFFERS]
    assert verdicts.worst([drive], both) == []


def test_a_table_has_its_cells_and_its_numbers_held_out(tmp_path: Path) -> None:
    accuracy = made_up(tmp_path, ("SSD_A",))
    made = tables.make("III", accuracy, tmp_path, silent)
    assert [claim.what for claim in made.rows[:3]] == [
        "SSD_A: latency, extended model: mean relative error",
        "SSD_A: latency, extended model: mean absolute error as a share of the mean",
        "SSD_A: latency, extended model: R2",
    ]
    assert len(made.rows) == 9
    assert {claim.verdict for claim in made.rows} <= {Verdict.AGREES, Verdict.DIFFERS}
    assert made.table is not None
    cells = dict(zip(made.table.columns, made.table.rows[0], strict=True))
    assert 1 < float(cells["floor %"]) < 2.5
    assert float(cells["in-sample %"]) < float(cells["grouped %"])
    assert made.data is not None
    assert made.data.read_text(encoding="utf-8").count("\n") == 4


def test_median_trees_are_about_as_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantile, "ROWS", 120)
    (found,) = quantile.claims(made_up(tmp_path, ("SSD_S", "Array_I")), silent)
    assert found.what.startswith("SSD_S")
    assert found.verdict == Verdict.AGREES
    assert quantile.compare("SSD_S", 10.0, 16.0).verdict == Verdict.DIFFERS


def test_nothing_is_judged_by_few_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accuracy = made_up(tmp_path, ("SSD_I",))
    monkeypatch.setitem(tables.published.SPECIFIC, "latency", {"rd_only": (0.9,) * 3 + (9,) * 3})
    monkeypatch.setattr(tables, "TARGETS", ("latency",))
    figures = [
        tables.make("II", accuracy, tmp_path, silent),
        tables.make("IV", accuracy, tmp_path, silent),
        improving.make("9", accuracy, tmp_path, silent),
        improving.make("10", accuracy, tmp_path, silent),
        tree.make(accuracy, tmp_path, silent),
    ]
    more = replace(accuracy.wanted, count=runs.JUDGED)
    whole = replace(accuracy.wanted, count=designs.GRID_POINTS)
    for made in figures:
        assert made.rows
        assert made.table is not None
        few = runs.as_judged(made, accuracy.wanted)
        assert few.rows == []
        assert few.notes[0].startswith("Models learn from 360 of the grid's 12,000 workloads. So")
        assert runs.as_judged(made, more).rows == made.rows
        assert runs.as_judged(made, whole) == made
    for made in figures[2:]:
        assert made.image is not None
        assert made.image.with_suffix(".png").stat().st_size > 10_000


def test_both_readings_of_basic_models_stand_beside_the_paper(tmp_path: Path) -> None:
    accuracy = made_up(tmp_path, ("SSD_I",), count=120)
    made = readings.make(accuracy, silent)
    assert made.table is not None
    assert [row[:2] for row in made.table.rows] == [
        ("SSD_I", "latency"), ("SSD_I", "bandwidth"), ("SSD_I", "throughput"),
    ]  # fmt: skip
    near = [("SSD_I", "latency", {"averaged": (0.63, 0.6), "basic": (0.063, 0.9)})]
    assert readings.factor(near, "averaged") == pytest.approx(1.0)
    assert readings.factor(near, "basic") == pytest.approx(10.0)
    assert "averaged comes nearer" in readings.notes(near)[1]
    far = [("SSD_I", "latency", {"averaged": (0.063, 0.6), "basic": (0.63, 0.9)})]
    assert "weighted comes nearer" in readings.notes(far)[1]


def test_models_of_two_hosts_are_close_or_differ(cell: Cell) -> None:
    worse = replace(cell, in_sample={**cell.in_sample, "mre": 2 * cell.in_sample["mre"]})
    alike = {("desktop", "latency"): cell, ("Atom", "latency"): cell}
    apart = {("desktop", "latency"): cell, ("Atom", "latency"): worse}
    assert platforms.compare(alike, "latency").verdict == Verdict.AGREES
    assert platforms.compare(apart, "latency").verdict == Verdict.DIFFERS
    assert "host.command_ns=95000" in platforms.atom()


def test_a_basic_model_cannot_tell_reads_of_one_size_from_those_of_another() -> None:
    """What it is told of a run that only reads has the size of writes in it."""
    small, large = (Vector(0, 1, wr, rd) for wr, rd in ((256 * KIB, KIB), (KIB, 256 * KIB)))
    told = features.columns("averaged", features.inputs([small, large], as_asked=True))
    assert (told[0] == told[1]).all()
    weighted = features.columns("basic", features.inputs([small, large]))
    assert weighted[1, 2] - weighted[0, 2] == 8


def test_bars_follow_from_the_paper_s_tables() -> None:
    assert improving.paper("9", "SSD_I", "latency") == pytest.approx(100 * (1 - 12 / 63))
    assert improving.paper("10", "SSD_I", "latency") == pytest.approx(100 * (0.986 / 0.627 - 1))


def test_what_extended_characteristics_add_agrees_or_differs(cell: Cell) -> None:
    basic, extended = (
        replace(cell, device="SSD_I", in_sample={**cell.in_sample, "mre": off, "r2": fitted})
        for off, fitted in ((0.63, 0.6), (0.12, 0.98))
    )
    worse = replace(extended, in_sample={**cell.in_sample, "mre": 0.25, "r2": 0.95})
    for name in improving.TITLES:
        assert improving._claim(name, basic, extended).verdict == Verdict.AGREES
        assert improving._claim(name, basic, worse).verdict == Verdict.DIFFERS


def test_a_tree_that_begins_otherwise_differs() -> None:
    theirs = [{"wr_rand"}, {"q_dep", "rd_size"}, {"wr_size"}]
    other = {("SSD_A", "wr_only", "plain"): theirs[1:]}
    assert tree.compare({"SSD_A": theirs}, other).verdict == Verdict.AGREES
    assert tree.compare({"HDD_S": theirs}, other).verdict == Verdict.DIFFERS
    assert "tried were 1 more" in tree.compare({"SSD_A": theirs[1:]}, other).why
    assert tree.compare({"SSD_A": theirs[1:]}, other).why.endswith("none of them does")
    alike = {("SSD_A", "wr_only", "plain"): theirs}
    row = tree.compare({"SSD_A": theirs[1:]}, alike)
    assert row.verdict == Verdict.DIFFERS
    assert row.why.endswith("SSD_A wr_only plain would")


def test_models_are_held_to_what_they_have_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "KINDS", (("ols", "basic"), ("guide", "extended")))
    learning = Learning(made_up(tmp_path, ("SSD_S",)))
    made = unseen.make(learning, tmp_path, silent)
    assert made.table is not None
    rows = [dict(zip(made.table.columns, row, strict=True)) for row in made.table.rows]
    assert [row["learnt from"] for row in rows[::2]] == ["31 Sobol", "124 Sobol", "360 of the grid"]
    assert all(row["model"] == "guide (the tree)" for row in rows[1::2])
    for chosen, tree_alone in zip(rows[::2], rows[1::2], strict=True):
        assert float(chosen["grouped %"]) <= float(tree_alone["grouped %"])
    (best, _) = learning.learnt("SSD_S", unseen.MANY, silent)
    assert not unseen.beyond(replace(best, beside=best))
    bad = {split: {**row, "mre": 0.5} for split, row in best.rows.items()}
    assert "off-grid" in unseen.beyond(replace(best, rows=bad))
    assert unseen.beyond(replace(best, rows=bad, design=unseen.GRID)) == ["grouped"]
    thrice = {split: {**row, "mre": 3 * row["mre"]} for split, row in best.rows.items()}
    tree = replace(best, rows=thrice, beside=best)
    assert unseen.beyond(tree) == ["grouped", "off-grid"]
    assert unseen.beyond(replace(tree, design=unseen.GRID)) == ["grouped"]


def test_runs_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    part = Part(tmp_path, 1, 240, ("HDD_S",), jobs=1, stop=QUICK)
    told: list[str] = []

    def stopping(what: str, _share: float) -> None:
        told.append(what)
        if "100 of" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.collect(part, "HDD_S", GRID, stopping)
    assert "grid on HDD_S: 100 of 312 runs" in told
    assert len(load(part.path("HDD_S", GRID))[1]) == 100
    rows = runs.collect(part, "HDD_S", GRID, silent)
    kinds = [each.split for each in rows]
    assert [kinds.count(split) for split in ("test", "train", "repeat")] == [60, 240, 12]
    told.clear()
    again = runs.collect(part, "HDD_S", GRID, lambda what, _share: told.append(what))
    assert again == rows
    assert told == []


def test_drives_that_are_configured_otherwise_are_told_apart() -> None:
    first, other = (
        open_target("sim:huang-hdd-s", sets=sets, seed=1) for sets in ((), ("disk.rpm=7200",))
    )
    assert first.fingerprint() == open_target("sim:huang-hdd-s", seed=2).fingerprint()
    assert first.fingerprint() != other.fingerprint()
    assert open_target("null:1g").fingerprint() is None


@pytest.mark.parametrize(
    ("count", "only", "message"),
    [(10, None, "--count: 10 is not between"), (None, "SSD_X", "'SSD_X' is no device")],
)
def test_parts_that_do_not_exist_are_refused(
    tmp_path: Path, count: int | None, only: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        runs.part(tmp_path, 1, count, only, None)


def test_all_of_the_grid_is_asked_for_by_default(tmp_path: Path) -> None:
    part = runs.part(tmp_path, 1, None, None, None)
    assert part.whole
    assert part.devices == tuple(means.PUBLISHED)
    plans = [part.plan(design) for design in (GRID, SOBOL)]
    counts = [(plan.points, plan.test, plan.repeats) for plan in plans]
    assert counts == [(12_000, 3000, 600), (4096, 0, 256)]


@pytest.mark.parametrize("device", ["SSD_I", "SSD_A", "SSD_S", "HDD_S"])
def test_every_value_of_a_data_sheet_s_drive_says_where_it_is_from(
    device: str, tmp_path: Path
) -> None:
    target = open_target(datasheets.write(device, tmp_path), sets=("default_state=fresh",), seed=1)
    known = {"SSD_I": 80e9, "SSD_A": 120e9, "SSD_S": 32e9, "HDD_S": 500e9}
    assert target.capacity_bytes == pytest.approx(known[device], rel=1e-3)
    text = (tmp_path / f"huang2011-datasheet-{device}.toml").read_text(encoding="utf-8")
    values = [line for line in text.splitlines() if " = " in line and line[0] != "#"]
    assert all(" # " in line for line in values)
    assert sum("# data sheet" in line for line in values) >= 3


def test_models_are_compared_with_a_simulator(tmp_path: Path) -> None:
    measured = np.array([1e6, 2e6, 4e6])
    near, far = measured * 1.05, measured * 2
    names = ("gp, 40 runs", "gp, 160 runs", simulators.SIMULATED)
    good = simulators.Compared(
        "SSD_I", measured, dict(zip(names, (near, near, far), strict=True)), 2e6
    )
    bad = replace(good, predicted=dict(zip(names, (far, near, near), strict=True)))
    assert simulators.compare(good).verdict == Verdict.AGREES
    assert simulators.compare(bad).verdict == Verdict.DIFFERS
    assert good.skill("gp, 40 runs") > 0 > good.skill(simulators.SIMULATED)
    image = simulators.draw([good, bad], tmp_path / "figure.svg")
    assert image.with_suffix(".png").stat().st_size > 10_000


def test_a_simulator_runs_what_the_models_predict(tmp_path: Path) -> None:
    held = [Collected("test", each.row) for each in made_up_runs.collection(6)]
    wanted = runs.part(tmp_path, 1, None, "HDD_S", 1)
    assert runs.stop_of(wanted, "HDD_S") == FILLED_STOP
    drives = {"HDD_S": datasheets.write("HDD_S", tmp_path)}
    drives["SSD_S"] = datasheets.write_msr("SSD_S", tmp_path) or ""
    assert datasheets.write_msr("HDD_S", tmp_path) is None
    for device, drive in drives.items():
        found = simulators._simulated("simulated", device, drive, held, wanted, silent)
        assert found.shape == (6,)
        assert (found > 0).all()


def test_requests_are_widened_to_whole_blocks() -> None:
    wide = simulators.widened(Vector(50, 4, KIB, 5 * KIB, wr_stride=0, rd_stride=KIB), 4 * KIB)
    assert wide == Vector(50, 4, 4 * KIB, 8 * KIB, wr_stride=0, rd_stride=4 * KIB)
    assert simulators.widened(wide, 512) == wide
