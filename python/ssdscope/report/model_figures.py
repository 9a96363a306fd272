"""The model on the page: what it predicts, how far it is off, and what it has learnt."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdscope.models.fitted import FittedModel
from ssdscope.plots import Palette, models
from ssdscope.report import words
from ssdscope.report.parts import Chart, Document, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MATTERS = 1.05
LABELS = {
    "wr_ratio": "share of writes", "q_dep": "queue depth", "wr_size": "write size",
    "rd_size": "read size", "wr_rand": "randomness of writes", "rd_rand": "randomness of reads",
    "wr_stride": "gap of writes", "rd_stride": "gap of reads",
}  # fmt: skip
SORTS = {
    "sustained": "What the drive keeps up, learnt on drives that such writes brought to rest.",
    "in use": (
        "Not what the drive keeps up, which was not reached, but what it does for up to ten "
        "seconds when it is in use."
    ),
}
"""What writes are that the model predicts."""


def charts(document: Document) -> list[Chart]:
    """Draw predictions against measurements, maps of predictions, and the tree."""
    if not document["models"]:
        return []
    model = document["models"][0]
    shown = [_predicted(model["held_out"])] if model["held_out"] else []
    shown += [_map(model, each) for each in model["maps"]]
    return [*shown, _tree(model)]


def explanation(fitted: FittedModel, found: Mapping[str, Any], palette: Palette) -> "Figure":
    """Draw what a model has learnt; `found` is of `explaining.explained`."""
    name = fitted.predictions[fitted.target].name
    return models.explanation(
        found["tree"], found["dependences"], found["importances"], name, palette
    )


def predictions(fitted: FittedModel) -> Table:
    """Give what a model predicts, and how far that is off on unseen runs."""
    rows = [
        (each.name, words.percent(each.grouped["mre"]), words.percent(each.grouped["median_ape"]))
        for each in fitted.predictions.values()
    ]
    return Table(("predicts", "mean error", "median"), rows)


def importances(document: Document) -> list[tuple[str, str]]:
    """Name what matters to predictions, and by how much exchanging it moves them."""
    if not document["models"]:
        return []
    told = document["models"][0]["importances"]
    return [
        (LABELS.get(name, name), words.factor(value))
        for name, value in told.items()
        if value > MATTERS
    ]


def rows(document: Document) -> Table | None:
    """Give the table of errors; the naive baselines and the noise floor are among them."""
    if not document["models"]:
        return None
    found = [
        (
            str(row["name"]),
            f"{row['split']} ({row['n_test']})",
            words.percent(row["mre"]),
            words.percent(row["median_ape"]),
            words.percent(row["p90_ape"]),
            words.NOTHING if row["coverage90"] is None else words.percent(row["coverage90"]),
        )
        for row in document["models"][0]["rows"]
    ]
    return Table(("model", "runs", "mean", "median", "p90", "in 90 %"), found)


def _predicted(held_out: list[Mapping[str, Any]]) -> Chart:
    head = ("writes", "depth", "write size", "read size", "measured", "predicted", "error")
    table = Table(
        head,
        [
            (
                f"{row['wr_ratio']} %",
                str(row["q_dep"]),
                words.size(row["wr_size"]),
                words.size(row["rd_size"]),
                words.time(row["mean_ns"]),
                words.time(row["predicted_ns"]),
                f"{100 * (row['predicted_ns'] / row['mean_ns'] - 1):+.1f} %",
            )
            for row in held_out
        ],
    )
    return Chart(
        "model",
        "Predicted against measured",
        f"{len(held_out)} workloads that the model has not seen; bars are 90 % intervals.",
        partial(models.predicted, held_out),
        table,
    )


def _map(model: Mapping[str, Any], each: Mapping[str, Any]) -> Chart:
    name = str(each["name"])
    sort = SORTS[model["writes"]] if name == "random writes" else ""
    table = Table(
        ("depth", *(words.size(size) for size in each["sizes_bytes"])),
        [
            (str(depth), *(words.time(cell["value"]) for cell in cells))
            for depth, cells in zip(each["depths"], each["cells"], strict=True)
        ],
    )
    return Chart(
        f"map-{name.replace(' ', '-')}",
        f"Predicted mean latency of {name}",
        f"Below each value its 90 % interval. {sort}",
        partial(models.latency_map, each["sizes_bytes"], each["depths"], each["cells"]),
        table,
        wide=True,
    )


def _tree(model: Mapping[str, Any]) -> Chart:
    off, own = (words.percent(model[key]) for key in ("tree_grouped_mre", "grouped_mre"))
    return Chart(
        "tree",
        "A tree to read",
        "Where workloads take longer than a few times add up to, which are in the table. On unseen "
        f"runs this is {off} off in the mean; the model that predicts above is {own} off.",
        partial(models.tree, model["tree"]),
        Table(("in words",), [(rule,) for rule in model["rules"]]),
        wide=True,
    )
