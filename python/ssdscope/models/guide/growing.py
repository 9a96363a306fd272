"""Growing a tree: fit a node, test which variable splits it, search the cut, go on with both sides.

Works on standardised columns; `Scaling` takes a finished tree back to the units of the data.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from ssdscope.models.guide.selection import UNTESTABLE, calibrate, no_multipliers, ranked, run_tests
from ssdscope.models.guide.tree import LEAF, Tree
from ssdscope.models.scaling import deviations

Array = npt.NDArray[Any]
EXACT = 1e-10
"""Mean loss per row, of a standardised target, below which nothing is left to explain."""


class NodeModel(Protocol):
    """How a node is fitted and how far off it is: by least squares, or by a quantile's check loss.

    Attributes
    ----------
    max_cuts
        Cuts tried at once, spread evenly; all of them where there are fewer.
    rounds
        How often the search is narrowed to the cuts around the best.
    flattens
        Whether the tests are calibrated for what a least-squares fit does to residuals.
    """

    max_cuts: int
    rounds: int
    flattens: bool

    def fit(self, table: Array) -> Array:
        """Fit the last column of ``table`` on the others; shape (features + 1,)."""
        ...

    def above(self, residuals: Array) -> Array:
        """Which rows the tests count as above the fit."""
        ...

    def loss(self, residuals: Array) -> Array:
        """Loss of each row."""
        ...

    def cut_losses(self, table: Array, cuts: Array) -> Array:
        """Loss that is left by each cut of a sorted table, both sides refitted."""
        ...


@dataclass(frozen=True)
class Limits:
    """Where growing stops.

    Attributes
    ----------
    min_rows
        Rows a leaf has at least.
    max_depth
        Splits from the root to a leaf at most; None for any number.
    margin
        How far beyond the targets seen in a leaf its predictions may go, as part of their range.
    """

    min_rows: int
    max_depth: int | None
    margin: float


class Cut(NamedTuple):
    """A split of a node: variable, threshold, and the rows that go left and right."""

    feature: int
    threshold: float
    left: Array
    right: Array


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns and target to mean zero and deviation one, and back."""

    center: Array
    scale: Array
    target_center: float
    target_scale: float

    @classmethod
    def of(cls, points: Array, target: Array) -> Self:
        """Take means and deviations; those of constants count as one."""
        spread = float(deviations(target[:, None])[0])
        return cls(points.mean(axis=0), deviations(points), float(target.mean()), spread)

    def table(self, points: Array, target: Array) -> Array:
        """Build the rows ``[1, x, y]``, standardised; shape (n, features + 2)."""
        rows = np.ones((len(points), points.shape[1] + 2))
        rows[:, 1:-1] = (points - self.center) / self.scale
        rows[:, -1] = (target - self.target_center) / self.target_scale
        return rows

    def undo(self, tree: Tree) -> Tree:
        """Express a tree of standardised models in the units of the data."""
        slopes = tree.coefficients * (self.target_scale / self.scale)

        def back(values: Array) -> Array:
            return self.target_center + self.target_scale * values

        return replace(
            tree,
            coefficients=slopes,
            intercept=back(tree.intercept) - slopes @ self.center,
            low=back(tree.low),
            high=back(tree.high),
            mean=back(tree.mean),
        )


class Grower:
    """Grows trees on one set of rows, or on parts of it.

    Parameters
    ----------
    points
        Shape (n, features), in the units of the data: thresholds are.
    table
        The same, standardised, as `Scaling.table` builds it.
    model
        How nodes are fitted.
    limits
        Where to stop.
    random
        Draws for the calibration of the tests.
    """

    def __init__(
        self, points: Array, table: Array, model: NodeModel, limits: Limits, random: Any
    ) -> None:
        self.points = points
        self.columns, self.values = ranked(points)
        self.table = table
        self.model = model
        self.limits = limits
        self.multipliers = self._multipliers(random)

    def grow(self, rows: Array) -> Tree:
        """Grow a tree on these rows, unpruned and standardised; repeated rows count repeatedly."""
        nodes: list[dict[str, Any]] = []
        waiting = [(rows, 0, LEAF, "")]
        while waiting:
            own, depth, parent, side = waiting.pop()
            if parent != LEAF:
                nodes[parent][side] = len(nodes)
            node, cut = self._node(own, depth)
            node["left"] = node["right"] = len(nodes)
            if cut is not None:
                node["feature"], node["threshold"] = cut.feature, cut.threshold
                waiting.append((cut.right, depth + 1, len(nodes), "right"))
                waiting.append((cut.left, depth + 1, len(nodes), "left"))
            nodes.append(node)
        return Tree(**{key: np.array([node[key] for node in nodes]) for key in nodes[0]})

    def _multipliers(self, random: Any) -> Array:
        if not self.model.flattens or len(self.table) < 2 * self.limits.min_rows:
            return no_multipliers(len(self.columns))
        design, target = self.table[:, :-1], self.table[:, -1]
        residuals = target - design @ self.model.fit(self.table)
        return calibrate(self.columns, design, residuals, random)

    def _node(self, rows: Array, depth: int) -> tuple[dict[str, Any], Cut | None]:
        table = self.table[rows]
        fitted = self.model.fit(table)
        target = table[:, -1]
        residuals = target - table[:, :-1] @ fitted
        loss = float(self.model.loss(residuals).sum())
        low, high = float(target.min()), float(target.max())
        reach = self.limits.margin * (high - low)
        node = {
            "feature": LEAF,
            "threshold": 0.0,
            "intercept": fitted[0],
            "coefficients": fitted[1:],
            "low": low - reach,
            "high": high + reach,
            "mean": float(target.mean()),
            "rows": len(rows),
            "loss": loss,
        }
        done = (
            len(rows) < 2 * self.limits.min_rows
            or depth == self.limits.max_depth
            or loss <= EXACT * len(rows)
        )
        return node, None if done else self._cut(rows, self.model.above(residuals))

    def _cut(self, rows: Array, above: Array) -> Cut | None:
        """Cut the most significant variable, or the next one where it has no place to cut."""
        tests = run_tests(self.columns[:, rows], above, self.multipliers)
        order = [int(each) for each in np.argsort(-tests.curvature, kind="stable")]
        if tests.pair is not None:
            winner = self._of_pair(rows, tests.pair)
            order = [winner, *(each for each in order if each != winner)]
        for feature in order:
            if tests.curvature[feature] == UNTESTABLE:
                continue
            cut = self._best_cut(rows, feature)
            if cut is not None:
                return cut
        return None

    def _of_pair(self, rows: Array, pair: tuple[int, int]) -> int:
        """Choose the one of a pair whose cut at the mean leaves less."""
        losses = []
        for feature in pair:
            values = self.points[rows, feature]
            low = values <= values.mean()
            parted = np.concatenate([rows[low], rows[~low]])
            middle = np.array([np.count_nonzero(low)])
            # The mean of two neighbours in floating point is one of them.
            parts = middle[0] < len(rows)
            left = self.model.cut_losses(self.table[parted], middle)[0] if parts else np.inf
            losses.append(left)
        return pair[int(np.argmin(losses))]

    def _best_cut(self, rows: Array, feature: int) -> Cut | None:
        ranks = self.columns[feature][rows]
        order = np.argsort(ranks, kind="stable")
        ordered, ranks = rows[order], ranks[order]
        least = self.limits.min_rows
        cuts = np.flatnonzero(ranks[:-1] < ranks[1:]) + 1
        cuts = cuts[(cuts >= least) & (cuts <= len(rows) - least)]
        if len(cuts) == 0:
            return None
        at = self._narrowed(self.table[ordered], cuts)
        below, above = self.values[feature][ranks[at - 1 : at + 1]]
        return Cut(feature, _between(below, above), ordered[:at], ordered[at:])

    def _narrowed(self, table: Array, cuts: Array) -> int:
        """Try cuts spread over all, then over those around the best, until there are no others."""
        for _ in range(self.model.rounds):
            count = min(len(cuts), self.model.max_cuts)
            tried = np.arange(count) * (len(cuts) - 1) // max(count - 1, 1)
            best = int(np.argmin(self.model.cut_losses(table, cuts[tried])))
            at = int(cuts[tried[best]])
            if len(tried) == len(cuts):
                break
            first = tried[best - 1] + 1 if best > 0 else 0
            last = tried[best + 1] if best + 1 < len(tried) else len(cuts)
            cuts = cuts[first:last]
        return at


def _between(below: float, above: float) -> float:
    """Halfway, but never so far that rounding puts the upper value on the lower side."""
    middle = below / 2 + above / 2
    return float(middle if below <= middle < above else below)
