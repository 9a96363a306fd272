"""Figure 8: a regression tree for the bandwidth, drawn so that it can be read.

The paper draws one "example of a regression tree for bandwidth prediction" and says no more of it
than that it asks for the share of random writes first and for the queue depth next; of which
device it is, is not said. Here such a tree is fitted for each device that is wanted: the extended
characteristics, GUIDE, three questions deep. That of SSD_I is drawn (or of the first device that
is wanted). It is agreed with if one of the SSDs' trees asks the same first.

A leaf of the paper's figure is negative, which its caption calls invalid: its tree cannot be of
the logarithm of the bandwidth that the text speaks of. So trees of the bandwidth itself are fitted
too, by GUIDE and by least squares with constant leaves (CART).
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdscope.models import GuideRegressor, explaining, fitting
from ssdscope.models.estimators import CartRegressor
from ssdscope.models.features import SETS
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.tree import LEAF
from ssdscope.models.samples import Sample
from ssdscope.plots import LIGHT, models
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy
from ssdscope.studies.huang2011.predicting.runs import GRID
from ssdscope.studies.making import within
from ssdscope.studies.record import Columns, Measured, Reading, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN, DISK = "SSD_I", "HDD_S"
DEEP, LEAVES = 3, 8
FIRST, NEXT = "wr_rand", "q_dep"
"""What the paper's tree asks."""
Levels = list[set[str]]


def measure(accuracy: Accuracy, progress: StageProgress) -> Measured:
    """Fit the trees and draw one."""
    devices, seed = accuracy.wanted.devices, accuracy.wanted.seed
    trees: dict[str, dict[str, Any]] = {}
    asked: dict[str, dict[str, Levels]] = {}
    negative: dict[str, tuple[int, int]] = {}
    for done, device in enumerate(devices):
        rows = accuracy.runs(device, GRID, within(progress, done, len(devices)))
        sample = Sample.of(rows, "train", "bandwidth")
        trees[device] = fitting.readable_tree(sample, "bandwidth", seed)
        fitted = others(sample, seed)
        asked[device] = {
            "log": questions(_model(trees[device])),
            **{name: questions(model) for name, model in fitted.items()},
        }
        columns = sample.columns("extended")
        below = (fitted["plain"].evaluate(columns) < 0, _model(trees[device]).evaluate(columns) < 0)
        negative[device] = int(below[0].sum()), int(below[1].sum())
    shown = SHOWN if SHOWN in trees else devices[0]
    nested = {name: explaining.nested(_model(tree)) for name, tree in trees.items()}
    notes = [f"Drawn is the tree of {shown}; its KB and MB are of 1024, as the paper's"]
    picture = partial(_drawn, nested[shown])
    table = _table(trees, {device: levels["log"] for device, levels in asked.items()})
    return Measured(readings(asked, negative), picture, _columns(nested), notes, table)


def others(sample: Sample, seed: int) -> dict[str, GuideModel]:
    """Fit trees of the bandwidth itself: with linear leaves, and with constant ones."""
    columns = sample.columns("extended")
    plain = GuideRegressor(max_depth=DEEP, random_state=seed)
    cart = CartRegressor(max_leaf_nodes=LEAVES, random_state=seed)
    return {
        name: each.fit(columns, sample.values).model_.named(SETS["extended"], "bandwidth")
        for name, each in (("plain", plain), ("constant leaves", cart))
    }


def readings(
    asked: Mapping[str, Mapping[str, Levels]], negative: Mapping[str, tuple[int, int]]
) -> dict[str, Reading]:
    """Ask whether an SSD's tree begins as the paper's does, and what else is said of trees."""
    begins = {
        f"{device}, {kind}": levels[:2]
        for device, trees in asked.items()
        for kind, levels in trees.items()
        if device != DISK
    }
    first = [f"{name}: {_in_words(levels)}" for name, levels in begins.items() if "log" in name]
    alike = [name for name, levels in begins.items() if _as_paper(levels)]
    said = "; ".join(first) + (f". As the paper's: {', '.join(alike)}" if alike else "")
    differ = {
        device: trees["plain"][:2] != trees["constant leaves"][:2]
        for device, trees in asked.items()
        if device != DISK
    }
    differing = ", ".join(device for device, each in differ.items() if each) or "no device"
    below = {device: counts for device, counts in negative.items() if device != DISK}
    plain = ", ".join(f"{device} {count}" for device, (count, _) in below.items())
    return {
        "first questions": Reading(said, bool(alike)),
        "two strategies": Reading(f"other questions on {differing}", any(differ.values())),
        "negative": Reading(
            f"runs predicted below 0: {plain}; by trees of the logarithm "
            f"{sum(count for _, count in below.values())}",
            any(count for count, _ in below.values()),
        ),
    }


def _in_words(levels: Levels) -> str:
    return ", then ".join(" or ".join(sorted(level)) for level in levels) or "nothing"


def _as_paper(levels: Levels) -> bool:
    return len(levels) > 1 and FIRST in levels[0] and NEXT in levels[1]


def _model(tree: Mapping[str, Any]) -> GuideModel:
    return GuideModel.from_json(tree["model"])


def questions(model: GuideModel) -> Levels:
    """Name the characteristics that a tree asks for, level by level."""
    tree, found = model.trees[0], []
    level = [0]
    while level := [node for node in level if tree.feature[node] != LEAF]:
        found.append({_plain(model.features[int(tree.feature[node])]) for node in level})
        level = [int(side[node]) for node in level for side in (tree.left, tree.right)]
    return found


def _plain(feature: str) -> str:
    plain = feature.removeprefix("log2_")
    return "wr_ratio" if plain == "wr_share" else plain.removesuffix("_share")


def _drawn(root: Mapping[str, Any]) -> "Figure":
    return models.tree(_as_printed(root), LIGHT, functions=True)


def _as_printed(node: Mapping[str, Any]) -> dict[str, Any]:
    """Write units as the paper does."""
    found = dict(node)
    for name, value in node.items():
        if isinstance(value, str):
            found[name] = value.replace("KiB", "KB").replace("MiB", "MB")
        elif isinstance(value, Mapping):
            found[name] = _as_printed(value)
    return found


def _table(trees: Mapping[str, Any], asked: Mapping[str, Levels]) -> Table:
    rows = []
    for name, tree in trees.items():
        levels = [" or ".join(sorted(level)) for level in asked[name]]
        rows.append((name, f"{100 * tree['grouped_mre']:.1f}", *levels, *[""] * (3 - len(levels))))
    return Table(("device", "off on unseen %", "asks first", "then", "then"), tuple(rows))


def _columns(nested: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Return every leaf of every tree: what leads to it, and what is there."""
    leaves: list[tuple[Any, ...]] = []
    for device, root in nested.items():
        waiting: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(root, ())]
        while waiting:
            node, path_to = waiting.pop()
            if "left" not in node:
                said = (" and ".join(path_to), node["rows"], node["typical_value"])
                leaves.append((device, *said, node["words"]))
                continue
            waiting.append((node["right"], (*path_to, node["right_if"])))
            waiting.append((node["left"], (*path_to, node["left_if"])))
    names = ("device", "conditions", "runs", "typical_bytes_per_s", "words")
    columns = zip(*leaves, strict=True) if leaves else [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}
