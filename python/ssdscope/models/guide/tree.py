"""A tree of linear models as plain arrays: descent, prediction, pruned copies, plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LEAF = -1
"""In place of the feature of a node that is not split."""
ROWS_AT_ONCE = 8192
"""Rows that descend together; their temporaries stay in the second-level cache."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in arrays of one entry each; node 0 is the root, children come after parents.

    Attributes
    ----------
    feature : ndarray of int, shape (nodes,)
        Column that splits the node, `LEAF` for a leaf.
    threshold : ndarray, shape (nodes,)
        Rows with ``x[feature] <= threshold`` go left. Unused in leaves.
    left, right : ndarray of int, shape (nodes,)
        Children; a leaf is its own child.
    intercept : ndarray, shape (nodes,)
    coefficients : ndarray, shape (nodes, features)
        The node's model, ``intercept + coefficients @ x``.
    low, high : ndarray, shape (nodes,)
        What the model's answer is held between.
    mean : ndarray, shape (nodes,)
        Mean of the target in the node.
    rows : ndarray of int, shape (nodes,)
        Rows the node was fitted on.
    loss : ndarray, shape (nodes,)
        Loss of the node's model summed over those rows, of the target in standard deviations.
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    intercept: Array
    coefficients: Array
    low: Array
    high: Array
    mean: Array
    rows: Array
    loss: Array

    @property
    def is_leaf(self) -> Array:
        """Mask of the leaves."""
        leaf: Array = self.feature == LEAF
        return leaf

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int(self.is_leaf.sum())

    @property
    def parents(self) -> Array:
        """Parent of each node; the root's is `LEAF`."""
        parents = np.full(len(self.feature), LEAF)
        inner = np.flatnonzero(~self.is_leaf)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    @property
    def depth(self) -> int:
        """Splits from the root to the deepest leaf."""
        depths = np.zeros(len(self.feature), dtype=int)
        for node, parent in enumerate(self.parents):
            if parent != LEAF:
                depths[node] = depths[parent] + 1
        return int(depths.max())

    def levels(self, points: Array) -> Iterator[tuple[Array, Array]]:
        """Give ``(rows, nodes)`` of each level as the rows of ``points`` descend, root first."""
        rows = np.arange(len(points))
        nodes = np.zeros(len(points), dtype=int)
        while len(rows):
            yield rows, nodes
            inner = self.feature[nodes] != LEAF
            rows, nodes = rows[inner], nodes[inner]
            nodes = self._step(points, rows, nodes)

    def apply(self, points: Array) -> Array:
        """Find the leaf of each row of ``points``, shape (n,)."""
        rows = np.arange(len(points))
        nodes = np.zeros(len(points), dtype=int)
        for _ in range(self.depth):
            nodes = self._step(points, rows, nodes)
        return nodes

    def predict(self, points: Array) -> Array:
        """Evaluate the leaves' models, held within their ranges; shape (n,)."""
        answer = np.empty(len(points))
        for start in range(0, len(points), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            answer[part] = self.at(points[part], self.apply(points[part]))
        return answer

    def at(self, points: Array, nodes: Array) -> Array:
        """Evaluate the model of ``nodes[i]`` for ``points[i]``."""
        line = self.intercept[nodes] + np.einsum("ij,ij->i", self.coefficients[nodes], points)
        held: Array = np.clip(line, self.low[nodes], self.high[nodes])
        return held

    def _step(self, points: Array, rows: Array, nodes: Array) -> Array:
        # A leaf compares its last column with its threshold and stays whatever comes out.
        goes_left = points[rows, self.feature[nodes]] <= self.threshold[nodes]
        stepped: Array = np.where(goes_left, self.left[nodes], self.right[nodes])
        return stepped

    def pruned(self, becomes_leaf: Array) -> Self:
        """Copy the tree without what is below the nodes of the mask ``becomes_leaf``."""
        leaf = self.is_leaf | becomes_leaf
        kept = np.zeros(len(leaf), dtype=bool)
        kept[0] = True
        for node in range(len(leaf)):
            if kept[node] and not leaf[node]:
                kept[[self.left[node], self.right[node]]] = True
        number = np.cumsum(kept) - 1
        own = np.flatnonzero(kept)
        ends = leaf[own]
        here = np.arange(len(own))
        return type(self)(
            feature=np.where(ends, LEAF, self.feature[own]),
            threshold=self.threshold[own],
            left=np.where(ends, here, number[self.left[own]]),
            right=np.where(ends, here, number[self.right[own]]),
            intercept=self.intercept[own],
            coefficients=self.coefficients[own],
            low=self.low[own],
            high=self.high[own],
            mean=self.mean[own],
            rows=self.rows[own],
            loss=self.loss[own],
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Write one object per node, enough to predict and to draw the tree."""
        nodes: list[dict[str, Any]] = []
        for node, feature in enumerate(self.feature.tolist()):
            common = {
                "rows": int(self.rows[node]),
                "mean": float(self.mean[node]),
                "loss": float(self.loss[node]),
            }
            if feature == LEAF:
                nodes.append(
                    common
                    | {
                        "intercept": float(self.intercept[node]),
                        "coefficients": self.coefficients[node].tolist(),
                        "low": float(self.low[node]),
                        "high": float(self.high[node]),
                    }
                )
            else:
                nodes.append(
                    common
                    | {
                        "feature": feature,
                        "threshold": float(self.threshold[node]),
                        "left": int(self.left[node]),
                        "right": int(self.right[node]),
                    }
                )
        return nodes

    @classmethod
    def from_json(cls, nodes: Sequence[dict[str, Any]], features: int) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        KeyError, TypeError, ValueError
            If a node lacks a key, has the wrong number of coefficients, or points anywhere but
            to a later node.
        """
        tree = cls(
            feature=np.array([node.get("feature", LEAF) for node in nodes], dtype=int),
            threshold=_column(nodes, "threshold"),
            left=np.array([node.get("left", index) for index, node in enumerate(nodes)], int),
            right=np.array([node.get("right", index) for index, node in enumerate(nodes)], int),
            intercept=_column(nodes, "intercept"),
            coefficients=np.array([node.get("coefficients", [0.0] * features) for node in nodes]),
            low=_column(nodes, "low"),
            high=_column(nodes, "high"),
            mean=_column(nodes, "mean"),
            rows=np.array([node["rows"] for node in nodes], dtype=int),
            loss=_column(nodes, "loss"),
        )
        tree._check(nodes, features)
        return tree

    def _check(self, nodes: Sequence[dict[str, Any]], features: int) -> None:
        if not nodes:
            raise ValueError("a tree without nodes")
        if self.coefficients.shape != (len(nodes), features):
            raise ValueError(f"a node without {features} coefficients")
        for index, node in enumerate(nodes):
            wanted = (
                ("threshold", "left", "right")
                if "feature" in node
                else ("intercept", "coefficients", "low", "high")
            )
            if missing := [key for key in wanted if key not in node]:
                raise ValueError(f"node {index} has no {missing[0]!r}")
            if "feature" not in node:
                continue
            if not 0 <= node["feature"] < features:
                raise ValueError(f"node {index} splits feature {node['feature']} of {features}")
            for side in ("left", "right"):
                if not index < node[side] < len(nodes):
                    raise ValueError(f"the {side} child of node {index} is node {node[side]}")


def _column(nodes: Sequence[dict[str, Any]], key: str) -> Array:
    return np.array([node.get(key, 0.0) for node in nodes], dtype=float)
