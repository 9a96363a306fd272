"""From runs to a model: chosen, calibrated, kept, explained; and what evaluation says."""

import json
import math
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.made_up_runs import HEADER, collection, latency_ns, run

from ssdscope.errors import OutputError, UsageError
from ssdscope.models import (
    evaluation,
    explaining,
    features,
    fitting,
    readable,
    registry,
    samples,
)
from ssdscope.models.fitted import FittedModel
from ssdscope.models.guide.estimators import GuideRegressor
from ssdscope.models.guide.model import OutOfRangeWarning
from ssdscope.models.intervals import LEARNING, Reach, covered
from ssdscope.models.samples import Sample
from ssdscope.workloads.grid import Vector


@pytest.fixture(scope="module")
def fitted() -> FittedModel:
    return fitting.fit(collection(200), HEADER, model="gp", feature_set="extended", seed=1)


def test_a_drive_is_learnt_and_predicted(fitted: FittedModel) -> None:
    vector = Vector(30, 16, 8192, 65536, 100, 100)
    found = fitted.answers(vector)
    truth = latency_ns(vector)
    assert found["latency_ns"]["value"] == pytest.approx(truth, rel=0.15)
    assert found["latency_ns"]["low"] < found["latency_ns"]["value"] < found["latency_ns"]["high"]
    assert found["read_p99_ns"]["value"] == pytest.approx(3 * truth, rel=0.2)
    assert found["write_p99_ns"]["value"] == pytest.approx(5 * truth, rel=0.2)


def test_rate_and_bandwidth_follow_by_little(fitted: FittedModel) -> None:
    found = fitted.answers(Vector(50, 8, 4096, 12288))
    product = found["latency_ns"]["value"] / 1e9 * found["iops"]["value"]
    assert product == pytest.approx(8)
    assert found["bandwidth_bytes_per_s"]["value"] == pytest.approx(8192 * found["iops"]["value"])
    assert found["iops"]["low"] < found["iops"]["value"] < found["iops"]["high"]
    assert "write_p99_ns" not in fitted.answers(Vector(0, 8, 4096, 4096))
    assert "read_p99_ns" not in fitted.answers(Vector(100, 8, 4096, 4096))


def test_outside_is_told_for_what_the_workload_shows(fitted: FittedModel) -> None:
    assert fitted.outside(Vector(0, 64, 1 << 30, 4096)) == []
    told = fitted.outside(Vector(10, 100, 1 << 30, 4096))
    assert [text.split()[0] for text in told] == ["q_dep", "wr_size"]
    assert "fitted on 1 to 64" in told[0]


def test_a_combination_of_kinds_that_no_run_had_is_outside(fitted: FittedModel) -> None:
    strided = {"wr_ratio": 0.3, "q_dep": 4, "rd_stride": "64k"}
    with pytest.warns(OutOfRangeWarning, match="random writes with strided reads"):
        fitted.predict(**strided, wr_rand=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(**strided, wr_stride="4k")
        fitted.predict(wr_ratio=0, rd_stride="64k")
        fitted.predict(wr_ratio=0.5, wr_rand="40%")


def test_units_are_those_of_the_command_line(fitted: FittedModel) -> None:
    meant = fitted.answers(Vector(30, 16, 4096, 65536, 100, 50))
    for share, whole in ((0.3, 1), ("0.3", "1.0"), ("30%", "100%")):
        found = fitted.predict(
            wr_ratio=share, q_dep=16, wr_size="4k", rd_size=65536, wr_rand=whole, rd_rand="50%"
        )
        assert found == meant
    for wrong, told in (
        ({"wr_ratio": 30}, "wr_ratio: '30' is not between 0 and 1"),
        ({"rd_size": "4KB"}, "rd_size: '4KB' can be read as"),
        ({"q_dep": 1.5}, "q_dep: 1.5 is not between 1 and"),
        ({"depth": 4}, "depth: there is no such characteristic"),
    ):
        with pytest.raises(UsageError, match=told):
            fitted.predict(**wrong)


def test_a_mean_is_never_more_than_its_tails_allow(fitted: FittedModel) -> None:
    """Models of tails are fitted by themselves, and may fall below that of the mean."""
    kept = fitted.to_json()
    for name in ("read_p99", "write_p99"):
        kept["predictions"][name]["held_to"] = [1.0, 2.0]
    low = FittedModel.from_json(kept)
    for vector in (Vector(0, 4, 4096, 4096), Vector(100, 4, 4096, 4096), Vector(30, 4, 8192, 4096)):
        found, share = low.answers(vector), vector.wr_ratio / 100
        for key in ("value", "low", "high"):
            tails = {
                name: found.get(f"{name}_p99_ns", {key: 0.0})[key] for name in ("read", "write")
            }
            allowed = (1 - share) * tails["read"] + share * tails["write"]
            assert allowed >= found["latency_ns"][key] * (1 - 1e-12)


def test_a_model_file_is_plain_and_predicts_the_same(fitted: FittedModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted.save(path)
    again = FittedModel.load(path)
    inputs = fitted.background
    assert (again.rows(inputs) == fitted.rows(inputs)).all()
    assert again.about == fitted.about


def test_times_that_add_up_are_evaluated_as_the_docs_say(tmp_path: Path) -> None:
    """Steps 3 and 4 of docs/models.md, with nothing but the file and a workload's features."""
    model = fitting.fit(collection(80), HEADER, model="service", tails=False, seed=1)
    model.save(tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())
    vector = Vector(30, 16, 8192, 65536, 20, 70)
    row = features.columns(kept["features"]["set"], features.inputs([vector]))[0].tolist()
    kept = kept["predictions"]["latency"]
    service, interval = kept["predictor"], kept["interval"]
    process, features_count = service["ratio"], service["features"]
    scales = zip(row[:features_count], process["length_scales"], strict=True)
    place = [value / scale for value, scale in scales]
    total = process["mean"]
    for point, weight in zip(process["points"], process["weights"], strict=True):
        s = math.sqrt(5) * math.dist(place, point)
        total += weight * (1 + s + s**2 / 3) * math.exp(-s)
    terms = zip(row[features_count:], service["coefficients"], strict=True)
    value = math.exp(total) * max(sum(x * each for x, each in terms), service["least"])
    value = min(max(value, kept["held_to"][0]), kept["held_to"][1])
    found = model.answers(vector)["latency_ns"]
    assert found["value"] == pytest.approx(value, rel=1e-9)
    told = features.columns("extended", features.inputs([vector]))[0].tolist()
    told.append(math.log(value))
    (nodes,) = interval["usual_ln"]["trees"]
    node = nodes[0]
    while "feature" in node:
        side = "left" if told[node["feature"]] <= node["threshold"] else "right"
        node = nodes[node[side]]
    reach = interval["times"] * math.exp(node["intercept"])
    assert found["high"] == pytest.approx(value * math.exp(reach))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "this is not a model"),
        ('{"format": "ssdscope-model", "version": 9}', "of version 9"),
        ('{"format": "ssdscope-model", "version": 2}', "the model is damaged: no"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_damaged_model_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        FittedModel.load(path)
    with pytest.raises(UsageError, match="cannot read"):
        FittedModel.load(tmp_path / "none.json")


def test_damage_inside_is_found(fitted: FittedModel) -> None:
    for keys in (
        ("predictions",),
        ("kinds",),
        ("characteristics", "q_dep"),
        ("tree", "model", "trees"),
    ):
        data = json.loads(json.dumps(fitted.to_json()))
        place = data
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]
        with pytest.raises(UsageError, match="damaged"):
            FittedModel.from_json(data)


def test_a_model_that_cannot_be_written_says_so(fitted: FittedModel) -> None:
    with pytest.raises((OutputError, UsageError), match="cannot write"):
        fitted.save("/proc/nothing/model.json")


def test_the_best_kind_is_chosen_without_the_test_set() -> None:
    rows = collection(40, test=20)
    spoilt = [each for each in rows if each.split == "train"]
    one = fitting.fit(rows, HEADER, tails=False, seed=1)
    assert one.to_json() == fitting.fit(spoilt, HEADER, tails=False, seed=1).to_json()
    errors = [each["grouped_mre"] for each in one.about["chosen_from"]]
    assert errors == sorted(errors)
    assert one.model == one.about["chosen_from"][0]["model"]


def test_folds_never_share_a_workload() -> None:
    rows = [*collection(60), *collection(60, seed=1)]
    sample = Sample.of(rows, "train", "latency")
    folds = sample.folds(1)
    assert len(sample) == 120
    assert (folds[:60] == folds[60:]).all()


def test_intervals_cover_in_every_third() -> None:
    """Errors that grow with the value: an interval of one width would miss the slow third."""
    rng = np.random.default_rng(1)
    guess = np.exp(rng.uniform(0, 6, 20_000))
    truth = guess * np.exp(rng.standard_t(4, 20_000) * 0.02 * (1 + np.log(guess)))
    reach = Reach.of(guess[:1000], truth[:1000])
    inside = covered(reach.interval(guess[1000:]), truth[1000:])
    assert 0.87 < inside.mean() < 0.93
    slowest = guess[1000:] > np.quantile(guess, 2 / 3)
    assert 0.86 < inside[slowest].mean() < 0.94
    assert len(Reach.of(guess[:30], truth[:30]).usual.trees[0].feature) == 1
    from_less = Reach.of(guess[:1000], truth[:1000], lacked=0.1)
    assert from_less.times == pytest.approx(0.9 ** (LEARNING / 1000**0.5) * reach.times)


def test_intervals_cover_each_kind_of_workload() -> None:
    """Reads known to 4 percent, writes to a third, alike in how long they take."""
    rng = np.random.default_rng(2)
    told = np.column_stack([rng.choice([0, 0.5, 1], 20_000, p=[0.1, 0.8, 0.1]), np.zeros(20_000)])
    guess = np.exp(rng.uniform(0, 6, 20_000))
    truth = guess * np.exp(rng.normal(0, 1, 20_000) * (0.04 + 0.3 * told[:, 0]))
    reach = Reach.of(guess[:400], truth[:400], told[:400])
    interval = reach.interval(guess[400:], told[400:])
    inside = covered(interval, truth[400:])
    assert 0.87 < inside.mean() < 0.93
    for share in (0, 0.5, 1):
        assert 0.84 < inside[told[400:, 0] == share].mean() < 0.96
    reads = interval[told[400:, 0] == 0]
    assert np.log(reads[:, 1] / reads[:, 0]).max() < 0.3


def test_rows_beside_are_learnt_from_and_not_held_to() -> None:
    rows = collection(60)
    known = [replace(each, split="beside") for each in collection(40, seed=2)]
    sample = Sample.of([*rows, *known], "train", "latency")
    assert (len(sample), len(sample.whole())) == (60, 100)
    assert len(fitting.unseen_predictions("ols", "extended", sample, 1).predicted) == 60
    with_them, alone = (
        fitting.fit(each, HEADER, model="ols", feature_set="extended", tails=False, seed=1)
        for each in ([*rows, *known], rows)
    )
    assert with_them.predictions["latency"].reach.rows == 60
    assert (with_them.rows(alone.background) != alone.rows(alone.background)).any()


@pytest.fixture(scope="module")
def evaluated() -> list[dict[str, object]]:
    rows = collection(200, test=400, repeats=100, sigma=0.05)
    return evaluation.evaluate(rows, models=["gp", "ols"], feature_sets=["extended"], seed=1)


def row(rows: list, name: str, split: str) -> dict:
    return next(each for each in rows if (each["name"], each["split"]) == (name, split))


def test_evaluation_has_every_split_baseline_and_the_floor(evaluated: list) -> None:
    for name in ("gp", "ols", evaluation.CONSTANT):
        for split in ("in-sample", "grouped", "off-grid"):
            assert row(evaluated, name, split)["n_test"] == (400 if split == "off-grid" else 200)
    good, bad = row(evaluated, "gp", "off-grid"), row(evaluated, "ols", "off-grid")
    naive = row(evaluated, evaluation.CONSTANT, "off-grid")
    assert good["mre"] < bad["mre"] < naive["mre"]
    assert good["skill"] == pytest.approx(1 - good["mre"] / naive["mre"])
    assert naive["skill"] == 0
    assert 0.84 < good["coverage90"] < 0.96
    assert row(evaluated, evaluation.NEAREST, "off-grid")["mre"] > good["mre"]


def test_the_noise_floor_is_what_a_perfect_model_is_off_by(evaluated: list) -> None:
    floor = row(evaluated, evaluation.FLOOR, "repeat")
    perfect = 0.05 * np.sqrt(2 / np.pi)
    assert floor["mre"] == pytest.approx(perfect, rel=0.3)
    assert floor["n_test"] == 100


def test_workloads_that_are_the_same_tell_the_floor_where_few_were_repeated() -> None:
    """Of reads alone, whatever their writes would be like, 24 workloads have eight runs each."""
    rng = np.random.default_rng(3)
    reads = [Vector(0, depth, 1024, 4096 * size) for depth in (1, 4, 16) for size in range(1, 9)]
    vectors = [replace(each, wr_size=1024 * n) for each in reads for n in range(1, 9)]
    rows = [run("train", vector, rng, 0.05) for vector in vectors]
    repeated = rows + [run("repeat", vector, rng, 0.3) for vector in vectors[:10]]
    for each in (rows, repeated):
        floor = evaluation.noise_floor(each)
        assert floor is not None
        assert floor["n_test"] == 96
        assert floor["mre"] == pytest.approx(0.05 * np.sqrt(2 / np.pi), rel=0.3)
    assert evaluation.noise_floor(rows[:4]) is None


def test_a_leaf_of_the_papers_trees_may_hold_one_workload() -> None:
    """Three workloads were run 15 times each, and no line goes through their latencies."""
    rng = np.random.default_rng(4)
    x = np.repeat([[1.0], [2.0], [3.0]], 15, axis=0)
    y = np.repeat([1.0, 5.0, 1.0], 15) * np.exp(rng.normal(0, 0.01, 45))
    fitted = registry.family("guide-rows").make(1).fit(x, y)
    assert np.mean(abs(fitted.predict(x) / y - 1)) < 0.02


def test_intervals_are_calibrated_by_models_that_lack_a_tenth_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = collection(120)
    sample = Sample.of(rows, "train", "latency")
    assert len(set(sample.folds(1))) == 10
    monkeypatch.setattr(samples, "MANY_ROWS", 100)
    assert len(set(sample.folds(1))) == 5
    (choice,) = fitting.compare(["ols"], ["extended"], sample, 1, fitting.quiet)
    few = fitting.unseen_predictions("ols", "extended", sample, 1, 5)
    assert (choice.unseen.predicted == few.predicted).all()
    better = fitting.unseen_predictions("ols", "extended", sample, 1, 10)
    assert [len(set(each.folds)) for each in (few, better)] == [5, 10]
    assert (fitting.calibrating(choice, sample, 1).predicted == better.predicted).all()
    fitted = fitting.fit(rows, HEADER, model="ols", feature_set="extended", tails=False, seed=1)
    times = fitted.predictions["latency"].reach.times
    assert times == better.reach(sample).times
    assert times != few.reach(sample).times


def test_rates_by_little_stand_beside_models_of_their_own() -> None:
    rows = collection(80, test=30)
    found = evaluation.evaluate(
        rows, models=["gp"], feature_sets=["extended"], target="bandwidth", seed=1
    )
    own, derived = row(found, "gp", "off-grid"), row(found, "gp (latency, by Little)", "off-grid")
    assert own["target"] == derived["target"] == "bandwidth_bytes_per_s"
    assert derived["mre"] < 2 * own["mre"]


def test_too_few_runs_and_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="20 runs of every workload are too few"):
        fitting.fit(collection(20), HEADER, seed=1)
    with pytest.raises(UsageError, match="no target 'speed'"):
        Sample.of(collection(20), "train", "speed")
    for names in (("x", "best", "latency", "all"), ("gp", "x", "latency", "all")):
        with pytest.raises(UsageError, match="there is no"):
            fitting.require_known(*names)
    assert samples.LEAST_ROWS > 20


def test_what_matters_comes_first(fitted: FittedModel) -> None:
    found = explaining.importances(fitted)
    assert next(iter(found)) == "q_dep"
    assert found["rd_stride"] < 1.1 < found["wr_size"]
    assert found == explaining.importances(fitted)


def test_dependences_go_the_way_of_the_drive(fitted: FittedModel) -> None:
    found = explaining.dependences(fitted)
    depth = [each["predicted"] for each in found["q_dep"]]
    assert all(later > 0.9 * earlier for earlier, later in pairwise(depth))
    assert found["q_dep"][-1]["value"] == 64
    assert depth[-1] / depth[0] == pytest.approx(16, rel=0.3)
    flat = [each["predicted"] for each in found["rd_stride"]]
    assert max(flat) < 1.2 * min(flat)


def test_the_tree_is_told_in_words(fitted: FittedModel) -> None:
    told = explaining.rules(fitted)
    assert len(told) >= 4
    assert told[0].startswith("Added up: ")
    assert " of each 64 KiB written" in told[1]
    assert all(rule.startswith("If ") and "runs)" in rule for rule in told[2:])
    assert any("per doubling of q_dep" in rule for rule in told)
    tree = explaining.nested(fitted.readable())
    assert tree["rows"] == 200
    assert tree["left"]["rows"] + tree["right"]["rows"] == 200


def test_the_tree_is_worth_reading() -> None:
    """A tree of the latency itself was off by 27 % on one preset, times added up first by 10."""
    sample = Sample.of(collection(200), "train", "latency")
    held_out = Sample.of(collection(2, test=200), "test", "latency")
    plain = GuideRegressor(max_depth=readable.DEPTH, log_target=True, random_state=1)
    alone = plain.fit(sample.columns("extended"), sample.values).predict(
        held_out.columns("extended")
    )
    added = readable.grow(sample, "latency", 1).evaluate(held_out.inputs)
    off = [np.mean(abs(each / held_out.values - 1)) for each in (alone, added)]
    assert off[1] < 0.6 * off[0]


def test_it_can_be_drawn(fitted: FittedModel, tmp_path: Path) -> None:
    from ssdscope.plots import LIGHT, models, save

    tree = explaining.nested(fitted.readable())
    sheet = models.explanation(
        tree, explaining.dependences(fitted), explaining.importances(fitted), "latency_ns", LIGHT
    )
    save(sheet, tmp_path / "sheet.svg")
    text = (tmp_path / "sheet.svg").read_text(encoding="utf-8")
    assert text.count("<path") > 50
    save(models.tree(tree, LIGHT), tmp_path / "tree.svg")


def test_nothing_is_fitted_twice_to_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    fit_estimator = fitting.fit_estimator

    def counted(model: str, feature_set: str, sample: Sample, seed: int, begun: Any = None) -> Any:
        made.append(len(sample))
        return fit_estimator(model, feature_set, sample, seed, begun)

    monkeypatch.setattr(fitting, "fit_estimator", counted)
    rows, fits = collection(60), fitting.Fits()
    common = {"seed": 1, "fits": fits}
    fitting.fit(rows, HEADER, model="ols", feature_set="extended", tails=False, **common)
    assert sorted(made) == [54] * 10 + [60]
    made.clear()
    known = evaluation.evaluate(rows, models=["ols"], feature_sets=["extended"], **common)
    assert made == [samples.LEAST_ROWS], "what loads libraries, and no more"
    again = evaluation.evaluate(rows, models=["ols"], feature_sets=["extended"], seed=1)
    assert [each["mre"] for each in known] == [each["mre"] for each in again]
    assert made.count(54) == 10
