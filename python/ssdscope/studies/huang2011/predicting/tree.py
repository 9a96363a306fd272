"""Figure 8: a regression tree for the bandwidth, drawn so that it can be read.

The paper draws one "example of a regression tree for bandwidth prediction" and says no more of it
than that it asks for the share of random writes first and for the queue depth next; of which
device it is, is not said. Here such a tree is fitted for each device that is wanted: the extended
characteristics, GUIDE, three questions deep. That of SSD_I is drawn (or of the first device that
is wanted). It is agreed with if one of the SSDs' trees asks the same first.

A leaf of the paper's figure is negative, which its caption calls invalid: its tree cannot be of
the logarithm of the bandwidth that the text speaks of. Ours is, and has none. Where no tree begins
as the paper's does, trees of the bandwidth itself are tried too, of all workloads and of each of
table IV's kinds.
"""

import csv
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ssdscope.models import GuideRegressor, explaining, fitting
from ssdscope.models.features import SETS, WORKLOADS
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.tree import LEAF
from ssdscope.models.samples import LEAST_ROWS, Sample
from ssdscope.plots import LIGHT, models, save
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy
from ssdscope.studies.huang2011.predicting.published import FIRST_SPLITS
from ssdscope.studies.huang2011.predicting.runs import GRID
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim, FigureResult, Table

TITLE = "Figure 8: a regression tree for the bandwidth"
SHOWN = "SSD_I"
DEEP = 3


def make(accuracy: Accuracy, folder: Path, progress: StageProgress) -> FigureResult:
    """Fit the trees and draw one."""
    devices = accuracy.wanted.devices
    seed = accuracy.wanted.seed
    trees: dict[str, dict[str, Any]] = {}
    for done, device in enumerate(devices):
        rows = accuracy.runs(device, GRID, within(progress, done, len(devices)))
        sample = Sample.of(rows, "train", "bandwidth")
        trees[device] = fitting.readable_tree(sample, "bandwidth", seed)
    shown = SHOWN if SHOWN in trees else devices[0]
    image = folder / "huang2011-figure8.svg"
    nested = {name: explaining.nested(_model(tree)) for name, tree in trees.items()}
    sheet = models.tree(_as_printed(nested[shown]), LIGHT, functions=True)
    save(sheet, image)
    save(sheet, image.with_suffix(".png"))
    data = image.with_suffix(".csv")
    write(nested, data)
    notes = [f"Drawn is the tree of {shown}; its KB and MB are of 1024, as the paper's"]
    asked = {name: questions(_model(tree)) for name, tree in trees.items()}
    tried = {} if _alike(asked) else _others(accuracy, progress)
    found = [compare(asked, tried)]
    return FigureResult("8", TITLE, found, image, data, notes, _table(trees, asked))


def _as_printed(node: Mapping[str, Any]) -> dict[str, Any]:
    """Write units as the paper does."""
    found = dict(node)
    for name, value in node.items():
        if isinstance(value, str):
            found[name] = value.replace("KiB", "KB").replace("MiB", "MB")
        elif isinstance(value, Mapping):
            found[name] = _as_printed(value)
    return found


def _model(tree: Mapping[str, Any]) -> GuideModel:
    return GuideModel.from_json(tree["model"])


def questions(model: GuideModel) -> list[set[str]]:
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


def _others(
    accuracy: Accuracy, progress: StageProgress
) -> dict[tuple[str, str, str], list[set[str]]]:
    """Say what further trees ask: by kind of workload, of the bandwidth and of its logarithm."""
    found = {}
    seed = accuracy.wanted.seed
    for device, kind in itertools.product(accuracy.wanted.devices, WORKLOADS):
        sample = Sample.of(accuracy.runs(device, GRID, progress), "train", "bandwidth", kind)
        if len(sample) >= LEAST_ROWS:
            inputs = sample.columns("extended")
            for scale, values in (("plain", sample.values), ("log", np.log(sample.values))):
                tree = GuideRegressor(max_depth=DEEP, random_state=seed).fit(inputs, values)
                found[device, kind, scale] = questions(
                    tree.model_.named(SETS["extended"], "bandwidth")
                )
    return found


def compare(
    asked: Mapping[str, list[set[str]]],
    tried: Mapping[tuple[str, str, str], list[set[str]]],
) -> Claim:
    """Ask whether an SSD's tree begins as the paper's does."""
    told = "; ".join(
        f"{name}: {', then '.join(' or '.join(sorted(level)) for level in levels[:2]) or 'none'}"
        for name, levels in asked.items()
    )
    alike = [" ".join(key) for key, levels in tried.items() if _as_paper(levels)]
    said = f"{', '.join(alike)} would" if alike else "none of them does"
    return judging.claim(
        "what the tree asks first, and next", ", then ".join(FIRST_SPLITS), told, "",
        holds=_alike(asked),
        why="the paper does not say of which device its tree is; tried were "
        f"{len(tried)} more, of the bandwidth, its logarithm and each kind of workload: {said}",
    )  # fmt: skip


def _alike(asked: Mapping[str, list[set[str]]]) -> bool:
    """Say whether the tree of an SSD begins as the paper's does."""
    return any(name != "HDD_S" and _as_paper(levels) for name, levels in asked.items())


def _as_paper(levels: list[set[str]]) -> bool:
    return all(name in level for name, level in zip(FIRST_SPLITS, levels, strict=False)) and len(
        levels
    ) >= len(FIRST_SPLITS)


def _table(trees: Mapping[str, Any], asked: Mapping[str, list[set[str]]]) -> Table:
    rows = []
    for name, tree in trees.items():
        levels = [" or ".join(sorted(level)) for level in asked[name]]
        rows.append((name, f"{100 * tree['grouped_mre']:.1f}", *levels, *[""] * (3 - len(levels))))
    columns = ("device", "off on unseen %", "asks first", "then", "then")
    return Table(columns, tuple(rows))


def write(nested: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Write every leaf of every tree as CSV: what leads to it, and what is there."""
    with creating(path) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["device", "conditions", "runs", "typical_bytes_per_s", "words"])
        for device, root in nested.items():
            waiting: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(root, ())]
            while waiting:
                node, path_to = waiting.pop()
                if "left" not in node:
                    said = (" and ".join(path_to), node["rows"], node["typical_value"])
                    rows.writerow([device, *said, node["words"]])
                    continue
                waiting.append((node["right"], (*path_to, node["right_if"])))
                waiting.append((node["left"], (*path_to, node["left_if"])))
