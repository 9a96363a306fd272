"""Node models of a quantile: linear quantile regression by the check loss.

The loss of a residual r is ``r (q - [r < 0])``; its least sum over the rows is the q-quantile
(Koenker and Bassett 1978). Trees of such models: Chaudhuri and Loh (2002, Bernoulli 8:561-576).

Fitted by majorising and minimising (Hunter and Lange 2000): each step replaces the loss by a
parabola that touches it from above, so it is a weighted least-squares fit and never goes uphill.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models.guide.least_squares import solve

Array = npt.NDArray[Any]
STEPS = 100
STEPS_PER_CUT = 8
"""Enough to rank cuts; the node that is made of the best one is fitted to the end."""
BLUNT = 0.5
"""Rounds the corner of the loss at first, in deviations of the target: a sharp corner would hold
the line to the rows it happens to pass."""
BLUNT_AT_LAST = 1e-4
SHARPENING = 0.7
SETTLED = 1e-7


class CheckLoss:
    """Multiple linear regression of one quantile; the loss of a row is its check loss.

    Parameters
    ----------
    quantile
        Between 0 and 1.
    """

    max_cuts = 7
    rounds = 1
    flattens = False

    def __init__(self, quantile: float) -> None:
        self.quantile = quantile

    def fit(self, table: Array) -> Array:
        """Fit the last column of ``table`` on the others; shape (features + 1,)."""
        return self._descend(table, STEPS)

    def above(self, residuals: Array) -> Array:
        """Which rows the tests count as above the fit."""
        return residuals > 0

    def loss(self, residuals: Array) -> Array:
        """Loss of each row."""
        losses: Array = np.maximum(self.quantile * residuals, (self.quantile - 1) * residuals)
        return losses

    def cut_losses(self, table: Array, cuts: Array) -> Array:
        """Loss that is left by each cut of a sorted table, both sides refitted."""
        return np.array([self._rough(table[:cut]) + self._rough(table[cut:]) for cut in cuts])

    def _rough(self, table: Array) -> float:
        fitted = self._descend(table, STEPS_PER_CUT)
        return float(self.loss(table[:, -1] - table[:, :-1] @ fitted).sum())

    def _descend(self, table: Array, steps: int) -> Array:
        design, target = table[:, :-1], table[:, -1]
        tilt = (2 * self.quantile - 1) * design.sum(axis=0)
        fitted = solve(table.T @ table)
        # From the least-squares line, moved to where the right share of rows lies above.
        fitted[0] += np.quantile(target - design @ fitted, self.quantile)
        for step in range(steps):
            blunt = max(BLUNT * SHARPENING**step, BLUNT_AT_LAST)
            weights = 1 / (blunt + np.abs(target - design @ fitted))
            moments = table.T @ (weights[:, None] * table)
            moments[:-1, -1] += tilt
            before, fitted = fitted, solve(moments)
            if blunt == BLUNT_AT_LAST and np.abs(fitted - before).max() <= SETTLED:
                break
        return fitted
