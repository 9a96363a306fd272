"""Lines in logarithms between measured workloads: what anybody draws through a grid by hand.

Workloads are compared that differ only in depth and sizes. The logarithm of the target is
interpolated linearly over their logarithms: along a line, whose ends go on, or over triangles
(Delaunay), beyond which there is no answer. It is a baseline: a model that does no better than this
has learnt nothing from physics.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models import features

Array = npt.NDArray[Any]
AXES = tuple(features.EXTENDED.index(f"log2_{each}") for each in ("q_dep", "wr_size", "rd_size"))
OTHERS = tuple(place for place in range(len(features.EXTENDED)) if place not in AXES)
SAME = 1e-9
"""Binary logarithms that differ by less are of one depth or size."""


def interpolate(known: Array, values: Array, wanted: Array) -> Array:
    """Interpolate between measured workloads; shape (m,), NaN where nothing is on both sides.

    Parameters
    ----------
    known : ndarray, shape (n, 8)
        Workloads, as `features.inputs`.
    values : ndarray, shape (n,)
        Of the target, positive; of workloads that were measured several times the geometric mean
        is taken.
    wanted : ndarray, shape (m, 8)
        Workloads.
    """
    here, there = (features.columns("extended", each) for each in (known, wanted))
    answers = np.full(len(there), np.nan)
    for kind in np.unique(there[:, OTHERS], axis=0):
        mask, asked = ((each[:, OTHERS] == kind).all(axis=1) for each in (here, there))
        if mask.any():
            places, logs = _averaged(here[mask][:, AXES], np.log(values[mask]))
            answers[asked] = _between(places, logs, there[asked][:, AXES])
    predicted: Array = np.exp(answers)
    return predicted


def _averaged(places: Array, logs: Array) -> tuple[Array, Array]:
    """Average what was measured at one place."""
    found, which = np.unique(places, axis=0, return_inverse=True)
    counts = np.bincount(which.ravel())
    return found, np.bincount(which.ravel(), weights=logs) / counts


def _between(places: Array, logs: Array, wanted: Array) -> Array:
    """Interpolate over the axes that vary; NaN at places that differ in another."""
    # Where there is one direction only, or both have one size, both sizes are one axis.
    one_size = bool((np.abs(places[:, 1] - places[:, 2]) <= SAME).all())
    axes = (0, 1) if one_size else (0, 1, 2)
    fixed = [axis for axis in axes if np.ptp(places[:, axis]) <= SAME]
    varies = [axis for axis in axes if axis not in fixed]
    alike = (np.abs(wanted[:, fixed] - places[0, fixed]) <= SAME).all(axis=1)
    if one_size:
        alike &= np.abs(wanted[:, 1] - wanted[:, 2]) <= SAME
    found = np.full(len(wanted), np.nan)
    if not varies:
        found[alike] = logs[0]
    elif len(varies) == 1:
        found[alike] = _line(places[:, varies[0]], logs, wanted[alike, varies[0]])
    else:
        found[alike] = _triangles(places[:, varies], logs, wanted[alike][:, varies])
    return found


def _line(at: Array, logs: Array, wanted: Array) -> Array:
    """Interpolate along increasing places; the first and the last stretch go on beyond."""
    after = np.clip(np.searchsorted(at, wanted), 1, len(at) - 1)
    slopes = (logs[after] - logs[after - 1]) / (at[after] - at[after - 1])
    found: Array = logs[after - 1] + slopes * (wanted - at[after - 1])
    return found


def _triangles(places: Array, logs: Array, wanted: Array) -> Array:
    """Interpolate over triangles, or what they are with three axes; NaN outside of them."""
    from scipy.interpolate import LinearNDInterpolator
    from scipy.spatial import QhullError

    try:
        found: Array = LinearNDInterpolator(places, logs)(wanted)
    except QhullError:  # too few places, or all on one line
        found = np.full(len(wanted), np.nan)
    return found
