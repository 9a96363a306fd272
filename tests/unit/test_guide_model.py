"""GUIDE trees as plain data: pruned, saved, read by others, put into words, refused when broken."""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ssdscope.errors import UsageError
from ssdscope.models.guide.estimators import (
    GuideBagging,
    GuideQuantileRegressor,
    GuideRegressor,
)
from ssdscope.models.guide.model import GuideModel, OutOfRangeWarning
from ssdscope.models.guide.pruning import collapse_penalties
from ssdscope.models.guide.tree import LEAF, Tree
from ssdscope.models.guide.words import outline, rules

Array = npt.NDArray[Any]


def data(n: int = 400) -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 8, (n, 3))
    y = np.exp(0.3 * x[:, 0] + np.where(x[:, 1] > 4, 0.5 * x[:, 2], 1)) * rng.lognormal(0, 0.05, n)
    return x, y


def fitted(**changes: Any) -> GuideModel:
    x, y = data()
    model: GuideModel = GuideRegressor(random_state=1, **changes).fit(x, y).model_
    return model


def elsewhere(data: dict[str, Any], row: list[float]) -> float:
    """Predict from the JSON as docs/models.md tells a reader in any language to."""
    answers = []
    for nodes in data["trees"]:
        node = nodes[0]
        while "feature" in node:
            side = "left" if row[node["feature"]] <= node["threshold"] else "right"
            node = nodes[node[side]]
        terms = (c * value for c, value in zip(node["coefficients"], row, strict=True))
        answers.append(min(max(node["intercept"] + sum(terms), node["low"]), node["high"]))
    mean = sum(answers) / len(answers)
    return math.exp(mean) if data["target"]["scale"] == "log" else mean


@pytest.mark.parametrize(
    "estimator",
    [
        GuideRegressor(random_state=1),
        GuideRegressor(random_state=1, log_target=True),
        GuideBagging(n_estimators=4, random_state=1, log_target=True),
        GuideQuantileRegressor(quantile=0.9, random_state=1, log_target=True, cv=0),
    ],
)
def test_a_saved_model_predicts_the_same(estimator: Any, tmp_path: Path) -> None:
    x, y = data()
    estimator.fit(x, y)
    path = tmp_path / "model.json"
    estimator.model_.save(path)
    loaded = GuideModel.load(path)
    assert (loaded.predict(x) == estimator.predict(x)).all()
    assert loaded.to_json() == estimator.model_.to_json()
    plain = json.loads(path.read_text(encoding="utf-8"))
    by_hand = [elsewhere(plain, row) for row in x.tolist()]
    np.testing.assert_allclose(by_hand, estimator.predict(x), rtol=1e-12)
    assert plain["target"]["quantile"] == getattr(estimator, "quantile", None)


def test_names_travel_with_the_model(tmp_path: Path) -> None:
    named = fitted(log_target=True).named(["depth", "size", "stride"], "latency_ns")
    named.save(tmp_path / "model.json")
    loaded = GuideModel.load(tmp_path / "model.json")
    assert loaded.features == ("depth", "size", "stride")
    assert loaded.target == "latency_ns"
    with pytest.raises(UsageError, match="2 names for the 3 features"):
        named.named(["depth", "size"], "latency_ns")


def test_predictions_outside_the_ranges_say_so() -> None:
    x, y = data()
    estimator = GuideRegressor(random_state=1).fit(x, y)
    model = estimator.model_.named(["depth", "size", "stride"], "latency_ns")
    beyond = np.array([[9.0, 1, 1], [1, 1, 1], [1, 1, -2]])
    assert model.outside(beyond).tolist() == [
        [True, False, False],
        [False] * 3,
        [False, False, True],
    ]
    told = r"2 of 3 rows are outside .*: depth \(0\.\d+ to 7\.\d+\), stride \("
    with pytest.warns(OutOfRangeWarning, match=told):
        model.predict(beyond)
    with pytest.warns(OutOfRangeWarning, match="x0"):
        estimator.predict(beyond)
    model.predict(beyond[1:2])


def test_wrong_shapes_and_values_are_refused() -> None:
    model = fitted()
    with pytest.raises(UsageError, match=r"wants 3 columns, not .* \(1, 2\)"):
        model.predict([[1, 2]])
    with pytest.raises(UsageError, match="not a number"):
        model.predict([[1, 2, math.nan]])


def damaged(change: Any) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(fitted().to_json()))
    change(plain)
    return plain


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("format"), "not a model"),
        (lambda d: d.update(version=99), "version 99"),
        (lambda d: d.pop("trees"), "no 'trees'"),
        (lambda d: d.update(trees=[]), "no trees"),
        (lambda d: d.update(trees=[[]]), "without nodes"),
        (lambda d: d["target"].update(scale="cubic"), "no 'cubic'"),
        (lambda d: d["trees"][0][0].update(left=0), "the left child of node 0 is node 0"),
        (lambda d: d["trees"][0][0].update(right=10_000), "the right child of node 0"),
        (lambda d: d["trees"][0][0].update(feature=3), "splits feature 3 of 3"),
        (lambda d: d["trees"][0][0].pop("threshold"), "node 0 has no 'threshold'"),
        (lambda d: d["trees"][0][-1].pop("low"), "has no 'low'"),
        (lambda d: d["trees"][0][-1].update(coefficients=[1.0]), "damaged"),
        (lambda d: d["trees"][0].append(None), "damaged"),
        (lambda d: d["features"].pop(), "damaged"),
    ],
)
def test_damaged_models_are_refused(change: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GuideModel.from_json(damaged(change))


def test_files_that_hold_no_model_are_named(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with pytest.raises(UsageError, match=r"model\.json: No such file"):
        GuideModel.load(path)
    for text, message in (("{", "not JSON"), ("[1]", "not a model"), ("\x00", "not JSON")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=f"model.json: .*{message}"):
            GuideModel.load(path)


def every_subtree(tree: Tree, node: int = 0) -> list[frozenset[int]]:
    """Sets of leaves of every pruned tree below a node."""
    alone = [frozenset([node])]
    if tree.feature[node] == LEAF:
        return alone
    sides = (every_subtree(tree, int(child[node])) for child in (tree.left, tree.right))
    return alone + [left | right for left, right in itertools.product(*sides)]


def test_pruning_is_that_of_brute_force() -> None:
    x, y = data(160)
    tree = GuideRegressor(cv=0, random_state=1).fit(x, y).model_.trees[0]
    assert tree.leaves >= 5
    penalties = collapse_penalties(tree)
    subtrees = every_subtree(tree)
    for penalty in np.unique(penalties[np.isfinite(penalties)]) * 1.0001 + 1e-15:
        costs = [sum(tree.loss[n] / 160 + penalty for n in leaves) for leaves in subtrees]
        kept = tree.pruned(penalties <= penalty)
        cost = kept.loss[kept.is_leaf].sum() / 160 + penalty * kept.leaves
        assert cost == pytest.approx(min(costs), rel=1e-9)
    parents = tree.parents
    assert (penalties[1:] <= penalties[parents[1:]]).all()


def test_a_pruned_tree_is_the_upper_part() -> None:
    x, _ = data()
    tree = fitted(cv=0).trees[0]
    stump = tree.pruned(np.arange(len(tree.feature)) > 0)
    assert (stump.leaves, stump.depth) == (2, 1)
    sides = np.where(x[:, tree.feature[0]] <= tree.threshold[0], tree.left[0], tree.right[0])
    assert (stump.predict(x) == tree.at(x, sides)).all()
    assert tree.pruned(np.ones(len(tree.feature), bool)).leaves == 1


def test_leaves_hold_all_rows() -> None:
    x, _ = data()
    tree = fitted(cv=0).trees[0]
    counts = np.bincount(tree.apply(x), minlength=len(tree.feature))
    assert (counts[tree.is_leaf] == tree.rows[tree.is_leaf]).all()
    assert counts.sum() == len(x)
    assert tree.rows[tree.is_leaf].min() >= 20


def test_a_tree_in_words() -> None:
    rng = np.random.default_rng(2)
    x = rng.permutation(np.arange(200) / 10).reshape(-1, 1)
    y = np.where(x[:, 0] < 8, 1 + 2 * x[:, 0], 90 - x[:, 0])
    estimator = GuideRegressor(random_state=2, max_depth=1, log_target=False)
    model = estimator.fit(x, y).model_.named(["q_dep"], "latency_ms")
    text = outline(model).splitlines()
    assert text[0] == "all [200 rows]"
    assert text[1].startswith("  q_dep <= ")
    assert text[2].startswith("  q_dep > ")
    assert "latency_ms = " in text[1]
    assert ", held to " in text[1]
    sentences = rules(model)
    assert len(sentences) == model.trees[0].leaves
    assert sentences[0].startswith("if q_dep <= ")


def test_rules_draw_conditions_together_and_agree_with_the_tree() -> None:
    x, y = data()
    model = GuideRegressor(random_state=1, log_target=True, cv=0).fit(x, y).model_
    sentences = rules(model)
    assert len(sentences) == model.trees[0].leaves >= 3
    assert all("ln y = " in sentence for sentence in sentences)
    assert all(sentence.split(":")[0].count("x1") <= 1 for sentence in sentences)
    plane = GuideRegressor(random_state=1).fit(x, x[:, 0]).model_
    (only,) = rules(plane)
    assert only.startswith("always: y = ")
    assert "x1" not in only


def test_the_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (example,) = (each for each in examples if "GuideRegressor" in each)
    exec(compile(example, "docs/models.md", "exec"), {})
    assert "log2_iodepth <= " in capsys.readouterr().out
