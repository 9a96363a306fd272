"""What a model has learnt, for people: which characteristics matter, how, and a tree in words.

All of it is about the model, over workloads like those it was fitted on. Where it is wrong, so is
the explanation; its error stands beside.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models import readable
from ssdscope.models.fitted import FittedModel
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.tree import LEAF
from ssdscope.seeds import stream
from ssdscope.units import format_duration
from ssdscope.workloads.grid import COLUMNS, KIB

Array = npt.NDArray[Any]
POINTS = 9
"""Values at which a dependence is told."""
SHUFFLES = 5
LEAST_FACTOR = 1.05
"""A term of a leaf that changes the latency by less over all its range is left out of the words."""
_SIZES = ("wr_size", "rd_size", "wr_stride", "rd_stride")


def dependences(model: FittedModel) -> dict[str, list[dict[str, float]]]:
    """Average predictions over workloads in which one characteristic is set (Friedman 2001).

    Only workloads that show it are averaged over: no size of writes where nothing is written, no
    gap where places are random. The average is geometric.

    Returns
    -------
    dict
        By characteristic: ``value``, and ``predicted`` there.
    """
    return {
        name: [
            {"value": value, "predicted": _average(model, name, value, rows)}
            for value in _values(model, name)
        ]
        for name in COLUMNS
        if len(rows := _showing(model, name)) and model.low[name] < model.high[name]
    }


def _average(model: FittedModel, name: str, value: float, rows: Array) -> float:
    changed = rows.copy()
    changed[:, COLUMNS.index(name)] = value
    return float(np.exp(np.log(model.rows(_mirrored(changed))[:, 0]).mean()))


def _values(model: FittedModel, name: str) -> list[float]:
    """Spread values over the range of a characteristic, those of lengths evenly in their log."""
    low, high = model.low[name], model.high[name]
    if name in _SIZES or name == "q_dep":
        step = KIB if name in _SIZES else 1
        first = max(low, step)
        found = first * (high / first) ** (np.arange(POINTS) / (POINTS - 1))
        found = step * np.rint(found / step)
        return [float(each) for each in np.unique(np.concatenate([[low], found]))]
    return [float(each) for each in np.unique(np.rint(np.linspace(low, high, POINTS)))]


def _showing(model: FittedModel, name: str) -> Array:
    """Take the workloads kept with a model in which a characteristic means something."""
    rows = model.background
    way, _, what = name.partition("_")
    kept = np.ones(len(rows), dtype=bool)
    ratio = rows[:, 0]
    if name != "wr_ratio" and way in ("wr", "rd"):
        kept &= ratio > 0 if way == "wr" else ratio < 100
    others = {"rand": ("wr_stride", "rd_stride"), "stride": ("wr_rand", "rd_rand")}
    for other in others.get(what, ()):
        kept &= rows[:, COLUMNS.index(other)] == 0
    return rows[kept]


def _mirrored(rows: Array) -> Array:
    """Let what no request shows follow the other direction, as `features.inputs` does."""
    rows = rows.copy()
    for ratio, hidden, shown in ((0, "wr", "rd"), (100, "rd", "wr")):
        mask = rows[:, 0] == ratio
        for what in ("size", "rand", "stride"):
            rows[mask, COLUMNS.index(f"{hidden}_{what}")] = rows[
                mask, COLUMNS.index(f"{shown}_{what}")
            ]
    return rows


def explained(fitted: FittedModel) -> dict[str, Any]:
    """Give all there is to say: ``importances, dependences, tree, rules``."""
    return {
        "importances": importances(fitted),
        "dependences": dependences(fitted),
        "tree": nested(fitted.readable()),
        "rules": rules(fitted),
    }


def importances(model: FittedModel, seed: int = 0) -> dict[str, float]:
    """Say by what factor predictions move when a characteristic is exchanged between workloads.

    The mean over workloads of the absolute change of the logarithm, as a factor (permutation
    importance, Breiman 2001, of what is predicted); 1 is nothing. The largest comes first.
    """
    rows = model.background
    before = np.log(model.rows(rows)[:, 0])
    rng = stream(seed, "models.explaining.importances")
    found: dict[str, float] = {}
    for column, name in enumerate(COLUMNS):
        moved = []
        for _ in range(SHUFFLES):
            changed = rows.copy()
            changed[:, column] = rng.permutation(changed[:, column])
            after = np.log(model.rows(_mirrored(changed))[:, 0])
            moved.append(np.abs(after - before).mean())
        found[name] = float(np.exp(np.mean(moved)))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def rules(model: FittedModel) -> list[str]:
    """Write the readable model: times that add up, and one sentence per leaf of its tree."""
    tree_model = model.readable()
    tree = tree_model.trees[0]
    found = readable.in_words(model.tree["times_ns"])
    # By feature and side: what is asked again further down is only told in its sharper form.
    waiting: list[tuple[int, dict[tuple[int, str], str]]] = [(0, {})]
    while waiting:
        node, conditions = waiting.pop()
        if tree.feature[node] == LEAF:
            start = f"If {' and '.join(conditions.values())}: " if conditions else "Always: "
            found.append(f"{start}{leaf_words(tree_model, node)}")
            continue
        below, above = question(tree_model, node)
        column = int(tree.feature[node])
        waiting.append((int(tree.right[node]), conditions | {(column, "low"): above}))
        waiting.append((int(tree.left[node]), conditions | {(column, "high"): below}))
    return found


def question(model: GuideModel, node: int) -> tuple[str, str]:
    """Put a split into words: what is true on the left side, and on the right."""
    tree = model.trees[0]
    name = model.features[int(tree.feature[node])]
    threshold = float(tree.threshold[node])
    if name.endswith("_share"):
        what = {"wr_share": "writes", "wr_rand_share": "random writes"}.get(name, "random reads")
        return (
            f"at most {100 * threshold:.0f} % {what}",
            f"more than {100 * threshold:.0f} % {what}",
        )
    plain = name.removeprefix("log2_")
    if name == "log2_q_dep":
        depth = math.floor(2**threshold + 1e-9)
        return f"at most {depth} in flight", f"more than {depth} in flight"
    if plain.endswith("stride"):
        gap = _length((2**threshold - 1) * 1024)
        ways = {"wr_stride": "writes", "rd_stride": "reads"}
        return f"gaps of {ways[plain]} up to {gap}", f"gaps of {ways[plain]} above {gap}"
    ways = {"wr_size": "writes", "rd_size": "reads"}
    size = _length(2**threshold)
    return f"{ways[plain]} up to {size}", f"{ways[plain]} above {size}"


def leaf_words(model: GuideModel, node: int) -> str:
    """Put the model of a leaf into words: the typical value, and what changes it."""
    told = ", ".join(leaf_terms(model, node))
    text = f"about {amount(model, node)} ({model.trees[0].rows[node]} runs)"
    return f"{text}; {told}" if told else text


def leaf_terms(model: GuideModel, node: int) -> list[str]:
    """Say what changes the value of a leaf, what changes it most first."""
    tree = model.trees[0]
    terms = []
    for column, slope in enumerate(tree.coefficients[node].tolist()):
        name = model.features[column]
        span = float(model.high[column] - model.low[column])
        if abs(slope) * span < math.log(LEAST_FACTOR):
            continue
        if name.startswith("log2_"):
            plain = name.removeprefix("log2_")
            terms.append((abs(slope) * span, f"x {math.exp(slope):.2f} per doubling of {plain}"))
        else:
            plain = {"wr_share": "wr_ratio"}.get(name, name.removesuffix("_share"))
            factor = math.exp(slope / 10)
            terms.append((abs(slope) * span, f"x {factor:.2f} per 10 points of {plain}"))
    return [words for _, words in sorted(terms, reverse=True)]


def amount(model: GuideModel, node: int) -> str:
    """Write the typical value in a node with its unit."""
    value = math.exp(float(model.trees[0].mean[node]))
    if model.target == readable.RATIO:
        return f"{value:.2f} {readable.RATIO}"
    if model.target.endswith("_ns"):
        return format_duration(value)
    if model.target == "iops":
        return f"{value:,.0f} IO/s"
    return f"{value / 2**20:,.1f} MiB/s"


def _length(size_bytes: float) -> str:
    return f"{size_bytes / KIB:.3g} KiB"


def nested(model: GuideModel) -> dict[str, Any]:
    """Give the readable tree as nested objects, for whoever draws it."""

    def node(index: int) -> dict[str, Any]:
        tree = model.trees[0]
        common = {"rows": int(tree.rows[index]), "typical": amount(model, index)}
        common["typical_value"] = math.exp(float(tree.mean[index]))
        if tree.feature[index] == LEAF:
            words = leaf_words(model, index)
            return {**common, "words": words, "terms": leaf_terms(model, index)}
        below, above = question(model, index)
        return {
            **common,
            "left_if": below,
            "right_if": above,
            "left": node(int(tree.left[index])),
            "right": node(int(tree.right[index])),
        }

    return node(0)
