"""Node models by least squares, and what a cut leaves of the squares.

All works on *moments*: with the rows of a node as ``[1, x_1, ..., x_k, y]``, the matrix of their
products summed over rows. Moments of parts add up, so every cut of a sorted node is fitted on both
sides from running sums, and its residual squares are the last pivot of a Cholesky factor.
"""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
RIDGE = 1e-9
"""Per row, on standardised columns: decides only where the data do not."""
CONSTANT = 1e-14
"""Variance, on standardised columns, below which a column is constant but for rounding."""


class LeastSquares:
    """Multiple linear regression; the loss of a row is its squared residual.

    Parameters
    ----------
    ridge
        Per row, on standardised columns, what holds slopes back; the loss of cuts counts it.
    """

    max_cuts = 24
    rounds = 4
    flattens = True

    def __init__(self, ridge: float = RIDGE) -> None:
        self.ridge = ridge

    def fit(self, table: Array) -> Array:
        """Fit the last column of ``table`` on the others; shape (features + 1,)."""
        return solve(table.T @ table, self.ridge)

    def above(self, residuals: Array) -> Array:
        """Which rows the tests count as above the fit."""
        return residuals > 0

    def loss(self, residuals: Array) -> Array:
        """Loss of each row."""
        return residuals**2

    def cut_losses(self, table: Array, cuts: Array) -> Array:
        """Sum the losses of both sides, each refitted, for every cut of a sorted ``table``.

        Parameters
        ----------
        table
            Rows in the order of the variable that is cut, shape (n, features + 2).
        cuts
            Rows on the left of each cut, ascending.
        """
        edges = [0, *cuts.tolist(), len(table)]
        parts = np.array([table[a:b].T @ table[a:b] for a, b in itertools.pairwise(edges)])
        left = np.cumsum(parts, axis=0)
        whole, left = left[-1], left[:-1]
        pivots = residual_squares(np.concatenate([left, whole - left]), self.ridge)
        losses: Array = pivots[: len(cuts)] + pivots[len(cuts) :]
        return losses


def solve(moments: Array, ridge: float = RIDGE) -> Array:
    """Solve the normal equations in ``moments``; columns that do not vary get exactly zero."""
    inner, right = moments[:-1, :-1], moments[:-1, -1]
    rows = moments[0, 0]
    variance = inner.diagonal() / rows - (inner[0] / rows) ** 2
    varies = variance > CONSTANT
    varies[0] = True
    ridged = inner.copy()
    ridged.flat[:: len(ridged) + 1] += ridge * rows
    ridged[0, 0] = rows
    coefficients: Array
    if varies.all():
        coefficients = np.linalg.solve(ridged, right)
    else:
        coefficients = np.zeros(len(varies))
        coefficients[varies] = np.linalg.solve(ridged[varies][:, varies], right[varies])
    return coefficients


def residual_squares(moments: Array, ridge: float = RIDGE) -> Array:
    """Sum of squared residuals of each matrix of moments, shape (n,).

    The factor of ``[[X'X, X'y], [y'X, y'y]]`` ends in the square root of what the fit leaves.
    """
    size = moments.shape[-1]
    ridged = moments.copy()
    # Flattened, the diagonal is every (size + 1)-th entry; its first, of the ones, needs no ridge.
    diagonals = ridged.reshape(len(ridged), -1)[:, :: size + 1]
    diagonals[:, 1:] += ridge * diagonals[:, :1]
    squares: Array = np.linalg.cholesky(ridged)[:, -1, -1] ** 2
    return squares
