"""Which variable splits a node: curvature and interaction tests on the signs of residuals.

After a linear fit, residuals that still hang together with a variable show what the line
missed. Loh (2002, Statistica Sinica 12:361-386) tests that with contingency tables of the
residuals' signs: against the quarters of each variable (curvature), and against the four
quadrants that the medians of each pair of variables make (interaction). Because the choice of
the variable is made before any split is tried, a variable with many distinct values has no more
chances than one with few.

The fit itself evens residuals out, and most so along a variable of two values, whose line goes
through both means. `calibrate` finds by a bootstrap how small that makes each statistic where
nothing is to be found, and the tests are multiplied up to the same mean.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
UNTESTABLE = -1.0
"""Instead of a statistic where fewer than two groups are occupied; below every statistic."""
CALIBRATION_ROWS = 1000
CALIBRATION_DRAWS = 300
MULTIPLIER_MAX = 10.0


class Tests(NamedTuple):
    """Statistics of all tests at one node, on the scale of one degree of freedom.

    Attributes
    ----------
    curvature
        Shape (features,); `UNTESTABLE` where a variable is constant.
    pair
        The two variables of the strongest interaction, if that is stronger than every curvature.
    """

    curvature: Array
    pair: tuple[int, int] | None


def ranked(points: Array) -> tuple[Array, list[Array]]:
    """Replace values by their ranks among the distinct ones of their column.

    Tests and cuts only ask for order, and small integers compare and sort faster.

    Parameters
    ----------
    points
        Shape (n, features).

    Returns
    -------
    ranks : ndarray of int, shape (features, n)
    values : list of ndarray
        Of each feature, what the ranks stand for.
    """
    found = [np.unique(column, return_inverse=True) for column in points.T]
    ranks = np.array([inverse.reshape(-1) for _, inverse in found], dtype=np.int32)
    return ranks, [distinct for distinct, _ in found]


def run_tests(columns: Array, above: Array, multipliers: Array) -> Tests:
    """Test all variables and all pairs.

    Parameters
    ----------
    columns
        Ranks of the node's rows, one variable per line: shape (features, n).
    above
        Which rows lie above the fit, shape (n,).
    multipliers
        What `calibrate` found, shape (features + pairs,).
    """
    features = len(columns)
    raw = _statistics(columns, above[:, None])[:, 0]
    statistics = np.where(raw == UNTESTABLE, UNTESTABLE, raw * multipliers)
    curvature, interaction = statistics[:features], statistics[features:]
    if len(interaction) and interaction.max() > max(curvature.max(), 0):
        first, second = _pairs(features)
        best = int(interaction.argmax())
        return Tests(curvature, (int(first[best]), int(second[best])))
    return Tests(curvature, None)


def no_multipliers(features: int) -> Array:
    """Give multipliers that leave the tests as they are; shape (features + pairs,)."""
    return np.ones(features + len(_pairs(features)[0]))


def calibrate(columns: Array, design: Array, residuals: Array, random: Any) -> Array:
    """Find what brings each test to a mean of one where the linear fit misses nothing.

    Residuals are drawn with replacement, fitted by least squares and tested; of many rows, a part.

    Parameters
    ----------
    columns
        Ranks, shape (features, n).
    design
        What was fitted, with a column of ones: shape (n, features + 1).
    residuals
        Shape (n,).
    random
        A `numpy.random.RandomState`.

    Returns
    -------
    ndarray
        Shape (features + pairs,).
    """
    n = len(residuals)
    part = random.permutation(n)[:CALIBRATION_ROWS]
    drawn = residuals[random.randint(0, n, (len(part), CALIBRATION_DRAWS))]
    basis, scales, _ = np.linalg.svd(design[part], full_matrices=False)
    basis = basis[:, scales > 1e-9 * scales[0]]
    left = drawn - basis @ (basis.T @ drawn)
    means = np.maximum(_statistics(columns[:, part], left > 0), 0).mean(axis=1)
    multipliers: Array = 1 / np.maximum(means, 1 / MULTIPLIER_MAX)
    return multipliers


def _statistics(columns: Array, above: Array) -> Array:
    """Test each of several sign patterns ``above`` of shape (n, k); shape (tests, k)."""
    features, n = columns.shape
    signs = np.ones((n, 1 + above.shape[1]), np.float32)
    signs[:, 1:] = above
    cuts = _quarters(columns)
    beyond = (columns[:, None, :] > cuts[:, :, None]).astype(np.float32)
    upper = beyond[:, 1, :]
    first, second = _pairs(features)
    tables = np.zeros((features + len(first), 4, signs.shape[1]))
    # Rows beyond each quartile, then turned into rows between two.
    tables[:, 0] = totals = signs.sum(axis=0)
    tables[:features, 1:] = (beyond.reshape(3 * features, n) @ signs).reshape(features, 3, -1)
    alone = tables[:features, 2].copy()
    tables[:features, :3] -= tables[:features, 1:]
    # The quadrants of each pair, by inclusion and exclusion.
    in_both = (upper[first] * upper[second]) @ signs
    tables[features:, 3] = in_both
    tables[features:, 1] = alone[first] - in_both
    tables[features:, 2] = alone[second] - in_both
    tables[features:, 0] -= tables[features:, 1:].sum(axis=1)
    statistics = _one_degree(*_chi_square(tables, totals[1:] / n))
    constant = statistics[:features, 0] == UNTESTABLE
    statistics[features:][constant[first] | constant[second]] = UNTESTABLE
    return statistics


@lru_cache(maxsize=16)
def _pairs(features: int) -> tuple[Array, Array]:
    first, second = np.triu_indices(features, 1)
    return first, second


def _quarters(columns: Array) -> Any:
    """Find three ranks per variable such that ``x > rank`` separates its quarters."""
    n = columns.shape[1]
    ranks = [n // 4, n // 2, (3 * n) // 4]
    cuts = np.partition(columns, ranks, axis=1)[:, ranks]
    # Nothing lies beyond the largest value; where a quartile is that, separate it from the rest.
    largest = columns.max(axis=1, keepdims=True)
    return cuts - (cuts == largest)


def _chi_square(tables: Array, share_above: Array) -> tuple[Array, Array]:
    """Pearson's statistics of tables (tests, 4, 1 + k), and degrees of freedom of each test.

    The first of the last axis counts rows, the others those above; empty columns do not count.
    """
    counts, above = tables[..., :1], tables[..., 1:]
    degrees = (counts[..., 0] > 0).sum(axis=1) - 1
    scale = share_above * (1 - share_above)
    squares = (above - counts * share_above) ** 2 / np.maximum(counts, 1)
    return squares.sum(axis=1) / np.where(scale > 0, scale, np.inf), degrees


def _one_degree(chi_square: Array, degrees: Array) -> Array:
    """Map statistics to one degree of freedom, so that they compare far out in the tail too.

    Wilson and Hilferty's cube-root approximation; exact for one degree, `UNTESTABLE` for none.
    """
    v = np.maximum(degrees, 1)[:, None]
    root = 7 / 9 + np.sqrt(v) * (np.cbrt(chi_square / v) - 1 + 2 / (9 * v))
    mapped: Array = np.where(degrees[:, None] > 0, np.maximum(root, 0) ** 3, UNTESTABLE)
    return mapped
