"""The models of 2011: what is said of them can fail, and their runs are kept and gone on with."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit import made_up_runs

from ssdscope.errors import UsageError
from ssdscope.models import designs, features
from ssdscope.models.table import Collected, load
from ssdscope.probes.budget import silent
from ssdscope.studies.huang2011 import PAPER, TRACES, _study
from ssdscope.studies.huang2011.predicting import accuracy as fitted
from ssdscope.studies.huang2011.predicting import (
    characteristics,
    comparing,
    datasheets,
    frozen,
    improving,
    platforms,
    runs,
    simulators,
    tables,
    tree,
    unseen,
)
from ssdscope.studies.huang2011.predicting.accuracy import AVERAGED, TARGETS, WEIGHTED, Accuracy
from ssdscope.studies.huang2011.predicting.runs import GRID, SOBOL, Part
from ssdscope.studies.huang2011.predicting.unseen import Learning
from ssdscope.studies.huang2011.procedure import PRESETS, Runs
from ssdscope.studies.record import Claim, Reading, Verdict
from ssdscope.studies.running import Run
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


def rows_of(read: dict[str, Reading]) -> set[str]:
    """Judge readings, and name their rows."""
    return {each.name.partition(": ")[0] for each in PAPER.claims(read)}


def test_presets_are_those_that_stood_before_a_model_was_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {device: frozen.digest(device) for device in PRESETS} == frozen.FROZEN
    whole = frozen.note(tuple(frozen.FROZEN))
    assert all(f"{device} {known}" in whole for device, known in frozen.FROZEN.items())
    assert "Changed" not in whole
    monkeypatch.setitem(frozen.FROZEN, "SSD_A", "0" * 16)
    assert (
        f"Changed since, so that nothing was foretold of them: SSD_A {frozen.digest('SSD_A')}"
        in (frozen.note(("SSD_A", "SSD_I")))
    )


@pytest.fixture(name="few", scope="module")
def _few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accuracy]:
    """Make up few runs, of all devices, which models learn from that take no time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitted, "MODEL", "ols")
        yield made_up(tmp_path_factory.mktemp("runs"), tuple(PRESETS), count=120)


@pytest.mark.parametrize("name", ["III", "II", "V", "VI"])
def test_a_table_has_its_cells_and_all_its_rows(name: str, few: Accuracy) -> None:
    made = tables.measure(name, PAPER, few, WEIGHTED, silent)
    assert rows_of(dict(made.readings)) == {
        row.name for row in PAPER.rows.values() if row.figure == name
    }
    assert made.table is not None
    first = dict(zip(made.table.columns, made.table.rows[0], strict=True))
    assert float(first["in-sample %"]) < float(first["grouped %"])
    assert made.columns is not None
    assert len(made.columns["device"]) == 3 * len(tables.DEVICES[name])
    if name in tables.BASIC:
        assert first["weighted %"] == first["in-sample %"]
        assert first["averaged %"] != first["weighted %"], "both readings stand beside each cell"


@pytest.mark.parametrize("name", ["9", "10"])
def test_bars_have_all_their_rows_and_are_drawn(name: str, few: Accuracy) -> None:
    made = improving.measure(name, PAPER, few, AVERAGED, silent)
    assert rows_of(dict(made.readings)) == {
        row.name for row in PAPER.rows.values() if row.figure == name
    }
    assert made.picture is not None
    assert len(made.picture().axes) == 3
    assert made.table is not None
    assert made.table.rows[3] == ("SSD_I", "latency", *made.table.rows[3][2:])
    printed = {"9": 100 * (1 - 12 / 63), "10": 100 * (0.986 / 0.627 - 1)}[name]
    assert float(made.table.rows[3][2]) == pytest.approx(printed, abs=0.06)


def _numbers(name: str) -> dict[str, float]:
    """Return the errors that the paper prints in a table."""
    paper = PAPER.rows[f"error {name}"].paper
    assert isinstance(paper, Mapping)
    return {case: float(value) for case, value in paper.items()}


def test_specific_models_are_asked_what_compares_them(
    few: Accuracy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors are made up: those of the paper, in which its own sentences hold."""
    known = {name: _numbers(name) for name in ("III", "IV")}

    def error(_self: object, device: str, target: str, kind: str = "all", **_: object) -> float:
        case = f"{device}: {TARGETS[target][0]}"
        return float(known["III"][case] if kind == "all" else known["IV"][f"{case}, {kind}"])

    monkeypatch.setattr(comparing.Models, "error", error)
    monkeypatch.setattr(comparing.Models, "left", lambda *_, **__: 0.9)
    claims = PAPER.claims(comparing.of_table("IV", few, WEIGHTED, silent))
    assert {claim.name for claim in claims if claim.verdict != Verdict.AGREES} == set()
    worse = {name: dict.fromkeys(cases, 30) for name, cases in known.items()}
    monkeypatch.setattr(comparing.Models, "error", lambda *_, **__: worse["III"]["HDD_S: latency"])
    claims = PAPER.claims(comparing.of_table("IV", few, WEIGHTED, silent))
    turned = {claim.name for claim in claims if claim.verdict != Verdict.AGREES}
    assert {"one pattern", "disk less accurate", "below 10 %", "reads easier"} <= turned


def test_characteristics_have_all_their_rows(
    few: Accuracy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(characteristics, "ROWS", 60)
    accuracy = replace(few, wanted=replace(few.wanted, devices=("HDD_S", "SSD_I", "SSD_S")))
    made = characteristics.measure(accuracy, Runs(1, stop=QUICK), silent)
    found = rows_of(dict(made.readings))
    asked = {row.name for row in PAPER.rows.values() if row.figure == "characteristics"}
    assert found <= asked
    assert asked - found <= {"importance", "mix"}, "sixty runs have few of one direction"


def test_nothing_is_judged_by_few_runs(few: Accuracy) -> None:
    made = tables.measure("VI", PAPER, few, WEIGHTED, silent)
    assert made.readings
    less = runs.as_judged(made, few.wanted)
    assert less.readings == {}
    assert less.notes[0].startswith("Models learn from 120 of the grid's 12,000 workloads. So")
    more = replace(few.wanted, count=runs.JUDGED)
    assert runs.as_judged(made, more).readings == made.readings
    assert runs.as_judged(made, replace(more, count=designs.GRID_POINTS)) == made


def test_a_share_of_the_runs_is_learnt_from(tmp_path: Path) -> None:
    whole = made_up(tmp_path, ("SSD_I",), count=120)
    rows = whole.runs("SSD_I", GRID, silent)
    part = Accuracy(whole.wanted, share=0.25)._part(rows)
    kinds = [each.split for each in part]
    assert (kinds.count("train"), kinds.count("test")) == (30, 100)


def test_what_basic_models_are_told_is_a_trial_of_the_whole_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures that do not hang on it are not made again."""
    study = _study(replace(runs.part(tmp_path, 1, None, None, 1)), {})
    (trial,) = (each for each in PAPER.trials if "basic" in each.settings)
    hanging = {name for name in study.figures if study.of_figure(name, trial.settings)}
    assert hanging == {"II", "V", "9", "10"}
    assert not study.of_figure(TRACES, {"SSD_S": ["x"]})
    asked: list[str] = []
    run = Run(study, 1, tmp_path)

    def rows(name: str, *_: object) -> dict[str, Claim]:
        asked.append(name)
        return {}

    monkeypatch.setattr(run, "_rows", rows)
    run._tried("V", trial, ["error V: Array_I: latency"], silent)
    assert asked == ["V", "V"], "a trial under which the row does not hold ends at once"


def test_both_readings_of_basic_models_stand_beside_the_paper(few: Accuracy) -> None:
    made = tables.readings(PAPER, few, silent)
    assert made.table is not None
    assert len(made.table.rows) == 15
    assert made.table.rows[3][:3] == ("SSD_I", "latency", "63")


def test_models_of_two_hosts_are_close_or_differ() -> None:
    for times, verdict in ((1.0, Verdict.AGREES), (2.0, Verdict.DIFFERS), (0.5, Verdict.DIFFERS)):
        read = platforms.readings({("desktop", "latency"): 10.0, ("Atom", "latency"): 10 * times})
        assert [each.verdict for each in PAPER.claims(read)] == [verdict]
    assert "host.command_ns=95000" in platforms.atom()


def test_a_basic_model_cannot_tell_reads_of_one_size_from_those_of_another() -> None:
    """What it is told of a run that only reads has the size of writes in it."""
    small, large = (Vector(0, 1, wr, rd) for wr, rd in ((256 * KIB, KIB), (KIB, 256 * KIB)))
    told = features.columns("averaged", features.inputs([small, large], as_asked=True))
    assert (told[0] == told[1]).all()
    weighted = features.columns("basic", features.inputs([small, large]))
    assert weighted[1, 2] - weighted[0, 2] == 8


def test_a_tree_that_begins_otherwise_differs() -> None:
    theirs = [{"wr_rand"}, {"q_dep", "rd_size"}, {"wr_size"}]
    kinds = ("log", "plain", "constant leaves")
    alike = dict(zip(kinds, (theirs[1:], theirs, theirs), strict=True))
    other = dict(zip(kinds, (theirs[1:], theirs[1:], theirs), strict=True))
    other["constant leaves"] = theirs[2:]
    for device, trees, first, two in (
        ("SSD_A", alike, Verdict.AGREES, Verdict.DIFFERS),
        ("SSD_A", other, Verdict.DIFFERS, Verdict.AGREES),
        ("HDD_S", alike, Verdict.DIFFERS, Verdict.DIFFERS),
    ):
        read = tree.readings({device: trees}, {device: (3, 0)})
        verdicts = {each.name: each.verdict for each in PAPER.claims(read)}
        assert (verdicts["first questions"], verdicts["two strategies"]) == (first, two)
        assert (verdicts["negative"] == Verdict.AGREES) == (device != "HDD_S")


def test_a_tree_is_drawn_and_its_leaves_are_written(few: Accuracy) -> None:
    made = tree.measure(replace(few, wanted=replace(few.wanted, devices=("SSD_I",))), silent)
    assert rows_of(dict(made.readings)) == {
        row.name for row in PAPER.rows.values() if row.figure == "8"
    }
    assert made.picture is not None
    assert made.columns is not None
    assert set(made.columns["device"]) == {"SSD_I"}


def test_models_are_held_to_what_they_have_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "KINDS", (("ols", "basic"), ("guide", "extended")))
    learning = Learning(made_up(tmp_path, ("SSD_S",)))
    made = unseen.measure(learning, silent)
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
    assert unseen.beyond(replace(best, rows=bad, design=GRID)) == ["grouped"]
    thrice = {split: {**row, "mre": 3 * row["mre"]} for split, row in best.rows.items()}
    tree = replace(best, rows=thrice, beside=best)
    assert unseen.beyond(tree) == ["grouped", "off-grid"]
    assert unseen.beyond(replace(tree, design=GRID)) == ["grouped"]


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


def test_what_models_are_held_to_is_run_without_the_grid(tmp_path: Path) -> None:
    part = Part(tmp_path, 1, 240, ("HDD_S",), jobs=1, stop=QUICK)
    held = Accuracy(part).held("HDD_S", silent)
    assert [each.split for each in held] == 60 * ["test"]
    assert len(load(part.path("HDD_S", GRID))[1]) == len(held)
    whole = Accuracy(part)
    rows = whole.runs("HDD_S", GRID, silent)
    assert len(rows) == 312, "the grid goes on in the same file"
    assert whole.held("HDD_S", silent) == rows[:60] == held


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
    assert part.devices == tuple(PRESETS)
    plans = [part.plan(design) for design in (GRID, SOBOL)]
    counts = [(plan.points, plan.test, plan.repeats) for plan in plans]
    assert counts == [(12_000, 3000, 600), (4096, 0, 256)]


@pytest.mark.parametrize("device", ["SSD_I", "SSD_A", "SSD_S", "HDD_S"])
def test_every_value_of_a_simulator_s_drive_says_where_it_is_from(
    device: str, tmp_path: Path
) -> None:
    target = open_target(datasheets.write(device, tmp_path), sets=("default_state=fresh",), seed=1)
    others = datasheets.write_others(device, tmp_path)
    assert len(others) == (0 if device == "HDD_S" else 4)
    for path in others.values():
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        assert all(" # " in line for line in lines if " = " in line and line[0] != "#")
    published = [Path(others[who]).read_text() for who in datasheets.PUBLISHED if others]
    assert all("github.com/" in text and "commit" in text for text in published)
    known = {"SSD_I": 80e9, "SSD_A": 120e9, "SSD_S": 32e9, "HDD_S": 500e9}
    assert target.capacity_bytes == pytest.approx(known[device], rel=1e-3)
    text = (tmp_path / f"huang2011-datasheet-{device}.toml").read_text(encoding="utf-8")
    values = [line for line in text.splitlines() if " = " in line and line[0] != "#"]
    assert all(" # " in line for line in values)
    assert sum("# data sheet" in line for line in values) >= 3


def test_models_are_compared_with_simulators() -> None:
    measured = np.array([1e6, 2e6, 4e6])
    near, far = measured * 1.05, measured * 2
    names = ("gp, 40 runs", "gp, 160 runs", simulators.SIMULATED, "SSDsim")
    good = simulators.Compared(
        "SSD_I", measured, dict(zip(names, (near, near, far, far), strict=True)), 2e6
    )
    bad = replace(good, predicted=dict(zip(names, (far, near, near, near), strict=True)))
    for compared, verdict in ((good, Verdict.AGREES), (bad, Verdict.DIFFERS)):
        claims = PAPER.claims(simulators.readings(compared))
        assert [claim.verdict for claim in claims] == [verdict] * 2
        assert "SSDsim" in str(claims[1].ours)
    assert good.skill("gp, 40 runs") > 0 > good.skill(simulators.SIMULATED)
    assert len(simulators._drawn([good, bad]).axes) == 2


def test_simulators_run_what_the_models_predict(tmp_path: Path) -> None:
    held = [Collected("test", each.row) for each in made_up_runs.collection(3)]
    wanted = runs.part(tmp_path, 1, None, "HDD_S", 1)
    assert runs.stop_of(wanted, "HDD_S") == FILLED_STOP
    drives = {"HDD_S": datasheets.write("HDD_S", tmp_path)}
    others = datasheets.write_others("SSD_S", tmp_path)
    del others[datasheets.MSR]  # it takes half a minute to come into use
    quick = replace(wanted, stop=QUICK)
    for name, drive in {**drives, **others}.items():
        found = simulators.simulated(name, "HDD_S", drive, held, quick, silent)
        assert found.shape == (3,)
        assert (found > 0).all()


def test_requests_are_widened_to_whole_blocks() -> None:
    wide = simulators.widened(Vector(50, 4, KIB, 5 * KIB, wr_stride=0, rd_stride=KIB), 4 * KIB)
    assert wide == Vector(50, 4, 4 * KIB, 8 * KIB, wr_stride=0, rd_stride=4 * KIB)
    assert simulators.widened(wide, 512) == wide
