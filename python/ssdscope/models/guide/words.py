"""A tree in words: as an indented text, and as one rule per leaf."""

from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.tree import LEAF

NEGLIGIBLE = 1e-6
"""A term that moves less than this part of the leaf's range over the feature's is left out."""


def outline(model: GuideModel, tree: int = 0) -> str:
    """Draw a tree with one line per node, the left side of a split first.

    Parameters
    ----------
    model
        A fitted model.
    tree
        Which of its trees.
    """
    own = model.trees[tree]
    lines: list[str] = []
    waiting = [(0, 0, "all")]
    while waiting:
        node, depth, condition = waiting.pop()
        head = f"{'  ' * depth}{condition} [{own.rows[node]} rows]"
        if own.feature[node] == LEAF:
            lines.append(f"{head}: {formula(model, node, tree)}")
            continue
        lines.append(head)
        name, threshold = model.features[own.feature[node]], f"{own.threshold[node]:.6g}"
        waiting.append((int(own.right[node]), depth + 1, f"{name} > {threshold}"))
        waiting.append((int(own.left[node]), depth + 1, f"{name} <= {threshold}"))
    return "\n".join(lines)


def rules(model: GuideModel, tree: int = 0) -> list[str]:
    """Write one sentence per leaf, with each feature's conditions drawn together."""
    own = model.trees[tree]
    sentences: list[str] = []
    waiting: list[tuple[int, dict[int, tuple[float, float]]]] = [(0, {})]
    while waiting:
        node, bounds = waiting.pop()
        if own.feature[node] == LEAF:
            conditions = [_interval(model.features[f], *bounds[f]) for f in sorted(bounds)]
            start = f"if {' and '.join(conditions)}: " if conditions else "always: "
            sentences.append(f"{start}{formula(model, node, tree)} ({own.rows[node]} rows)")
            continue
        feature, threshold = int(own.feature[node]), float(own.threshold[node])
        low, high = bounds.get(feature, (-float("inf"), float("inf")))
        waiting.append((int(own.right[node]), bounds | {feature: (threshold, high)}))
        waiting.append((int(own.left[node]), bounds | {feature: (low, threshold)}))
    return sentences


def formula(model: GuideModel, node: int, tree: int = 0) -> str:
    """Write the linear model of a node, with the range it is held to."""
    own = model.trees[tree]
    name = f"ln {model.target}" if model.log_target else model.target
    low, high = own.low[node], own.high[node]
    reach = abs(own.coefficients[node]) * (model.high - model.low)
    terms = [f"{own.intercept[node]:.6g}"]
    for feature, slope in enumerate(own.coefficients[node]):
        if reach[feature] > NEGLIGIBLE * (high - low):
            sign = "-" if slope < 0 else "+"
            terms.append(f"{sign} {abs(slope):.6g} {model.features[feature]}")
    return f"{name} = {' '.join(terms)}, held to {low:.6g} .. {high:.6g}"


def _interval(name: str, low: float, high: float) -> str:
    if high == float("inf"):
        return f"{name} > {low:.6g}"
    if low == -float("inf"):
        return f"{name} <= {high:.6g}"
    return f"{low:.6g} < {name} <= {high:.6g}"
