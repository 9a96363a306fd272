"""How spare space and write amplification hang together under uniform random overwrites.

A drive whose data of U bytes can lie in R bytes of flash, R/U being its spare factor alpha, has
blocks that lose valid pages at random until they are the oldest and are collected. In blocks of
many pages (where greedy, FIFO and LRU collection come to the same) a share u of the victim is
still valid, with 1/alpha = (u - 1) / ln u, and each page written by the host costs 1 / (1 - u)
programs (Luojie and Kurkoski, "An improved analytic expression for write amplification in NAND
flash", arXiv:1110.4245):

    A = alpha / (alpha + W(-alpha exp(-alpha)))

W being Lambert's function, the branch above -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def write_amplification(spare_factor: ArrayLike) -> NDArray[Any]:
    """Give the settled write amplification of uniform random overwrites.

    Parameters
    ----------
    spare_factor : array_like
        Space that data can lie in, over data; 1 or more.

    Returns
    -------
    ndarray
        Of the same shape; infinite without spare space.

    Raises
    ------
    ValueError
        If a factor is below 1: data do not fit.
    """
    from scipy.special import lambertw

    alpha = np.asarray(spare_factor, dtype=float)
    if (alpha < 1).any():
        raise ValueError("a spare factor below 1 leaves no room for the data")
    lowest = alpha + lambertw(-alpha * np.exp(-alpha)).real
    with np.errstate(divide="ignore"):
        # At a factor of 1 the difference is zero but for rounding.
        return np.asarray(np.where(alpha > 1, alpha / np.maximum(lowest, 0), np.inf))


def spare_factor(amplification: ArrayLike) -> NDArray[Any]:
    """Give the spare factor with that write amplification: the inverse of the other function.

    Parameters
    ----------
    amplification : array_like
        Above 1.

    Returns
    -------
    ndarray
        Of the same shape: ``-A ln(1 - 1/A)``.

    Raises
    ------
    ValueError
        If one is not above 1, which no finite spare space comes to.
    """
    amplified = np.asarray(amplification, dtype=float)
    if (amplified <= 1).any():
        raise ValueError("an amplification of 1 or less is that of no finite spare space")
    return np.asarray(-amplified * np.log1p(-1 / amplified))
