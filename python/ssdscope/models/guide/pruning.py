"""Pruning by cost and complexity, as far as cross-validation shows no harm.

Weakest-link pruning after Breiman, Friedman, Olshen and Stone (1984, chapters 3 and 11): each
penalty per leaf has its best subtree, and the subtrees are nested. Which penalty is chosen by
cross-validation, and then the smallest tree within `se_rule` standard errors of the best.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models.guide.growing import Grower
from ssdscope.models.guide.tree import LEAF, Tree

Array = npt.NDArray[Any]


def collapse_penalties(tree: Tree) -> Array:
    """Find the penalty per leaf from which on each node is a leaf, or gone; shape (nodes,).

    Losses count per row of the root, so that penalties of trees grown on different numbers of
    rows compare. Leaves have 0, and no node has more than its parent.
    """
    nodes = len(tree.feature)
    parents = tree.parents
    loss = tree.loss / tree.rows[0]
    below = np.where(tree.is_leaf, loss, 0.0)
    leaves = tree.is_leaf.astype(int)
    for node in range(nodes - 1, 0, -1):
        below[parents[node]] += below[node]
        leaves[parents[node]] += leaves[node]
    gains = np.full(nodes, np.inf)
    inner = ~tree.is_leaf
    gains[inner] = (loss[inner] - below[inner]) / (leaves[inner] - 1)
    penalties = np.where(tree.is_leaf, 0.0, np.inf)
    penalty = 0.0
    while np.isfinite(gains[weakest := int(gains.argmin())]):
        penalty = max(penalty, float(gains[weakest]))
        _collapse(tree, weakest, penalty, gains, penalties)
        lost, more = leaves[weakest] - 1, loss[weakest] - below[weakest]
        node = int(parents[weakest])
        while node != LEAF:
            leaves[node] -= lost
            below[node] += more
            gains[node] = (loss[node] - below[node]) / (leaves[node] - 1)
            node = int(parents[node])
    return penalties


def _collapse(tree: Tree, top: int, penalty: float, gains: Array, penalties: Array) -> None:
    """Make a node a leaf at this penalty, with all below it that still stands."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if np.isfinite(gains[node]):
            gains[node] = np.inf
            penalties[node] = penalty
            waiting += [int(tree.left[node]), int(tree.right[node])]


def prune(grower: Grower, tree: Tree, folds: Array, se_rule: float) -> Tree:
    """Prune a tree grown on all rows of `grower`.

    Parameters
    ----------
    grower
        Grows the trees that are held to the rows they have not seen.
    tree
        What it grew on all rows.
    folds
        Fold of each row, shape (n,).
    se_rule
        Standard errors of the least loss that a smaller tree may lose.
    """
    penalties = collapse_penalties(tree)
    steps = np.unique(penalties[np.isfinite(penalties)])
    if len(steps) < 2:
        return tree
    # Each subtree is the best one between two steps; their geometric mean stands for it.
    typical = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    sums, squares = np.zeros(len(typical)), np.zeros(len(typical))
    for fold in np.unique(folds):
        seen = np.flatnonzero(folds != fold)
        unseen = np.flatnonzero(folds == fold)
        losses, their_squares = _held_out_losses(grower, seen, unseen, typical)
        sums += losses
        squares += their_squares
    n = len(folds)
    mean = sums / n
    error = np.sqrt(np.maximum(squares / n - mean**2, 0) / n)
    best = int(mean.argmin())
    chosen = int(np.flatnonzero(mean <= mean[best] + se_rule * error[best])[-1])
    return tree.pruned(penalties <= steps[chosen])


def _held_out_losses(
    grower: Grower, seen: Array, unseen: Array, penalties: Array
) -> tuple[Array, Array]:
    """Sum losses and their squares over unseen rows, for the subtree of each penalty."""
    tree = grower.grow(seen)
    own = collapse_penalties(tree)
    parents = tree.parents
    above = np.where(parents == LEAF, np.inf, own[parents])
    points, table = grower.points[unseen], grower.table[unseen]
    sums, squares = np.zeros(len(own)), np.zeros(len(own))
    for rows, nodes in tree.levels(points):
        loss = grower.model.loss(table[rows, -1] - tree.at(table[rows, 1:-1], nodes))
        sums += np.bincount(nodes, loss, minlength=len(own))
        squares += np.bincount(nodes, loss**2, minlength=len(own))
    is_leaf_at = (own <= penalties[:, None]) & (above > penalties[:, None])
    return is_leaf_at @ sums, is_leaf_at @ squares
