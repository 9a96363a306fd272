"""How far equal requests differ: the noise of a drive, from the distribution of its reads.

A disturbed drive multiplies what it takes by exp(sigma |z|), z standard normal, and holds a share
of requests up for so much longer (docs/simulator.md, Disturbances).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ssdscope.twin.design import Value

CASE = {"rw": "randread", "sort": "read"}
"""The distribution that is read: random reads, the first of which are alone."""
MEDIAN, NINE_TENTHS = 0.6745, 1.6449
"""Quantiles of |z| at 50 % and at 90 %."""
FURTHEST = 3.5
"""Of |z|; what takes longer still was held up."""
LEAST_SIGMA = 0.004
MOST_HELD_UP = 0.05
"""If more are slow that is what the drive is like, and no disturbance."""
LEVELS_MIN = 40
"""A drive without noise answers in fewer different times."""


def without_spikes(values: Mapping[str, Value]) -> tuple[dict[str, Value], float]:
    """Take the spikes out of a drive file, which few requests would show by chance.

    Returns
    -------
    dict and float
        The other keys, and what spikes add to the mean latency of requests that wait for no other.
    """
    rest = {key: value for key, value in values.items() if "disturbance.spike" not in key}
    share, held_ns = (
        float(value)
        if isinstance(value := values.get(f"disturbance.spike_{name}", 0.0), int | float)
        else 0.0
        for name in ("ratio", "ns")
    )
    return rest, share * held_ns


def noise(distributions: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    """Return the keys of a drive file for the noise that was measured, if there was any."""
    case = next(
        (
            each
            for each in distributions
            if all(each.get(key) == value for key, value in CASE.items()) and "latency_ns" in each
        ),
        None,
    )
    if case is None or len(set(case["latency_ns"])) < LEVELS_MIN:
        return {}
    latency, below = np.array(case["latency_ns"]), 1 - np.array(case["exceeded"])
    least, middle, most = (float(np.interp(at, below, latency)) for at in (0.05, 0.5, 0.9))
    if not 0 < least <= middle <= most:
        return {}
    # Whatever else makes latencies differ makes one of the halves wider.
    rest = MEDIAN - 0.0627
    sigma = min(np.log(middle / least) / rest, np.log(most / middle) / (NINE_TENTHS - MEDIAN))
    if sigma < LEAST_SIGMA:
        return {}
    values: dict[str, Value] = {"disturbance.noise_sigma": float(f"{sigma:.4g}")}
    limit = middle * np.exp(sigma * (FURTHEST - MEDIAN))
    slow = float(1 - np.interp(limit, latency, below))
    if 0 < slow < MOST_HELD_UP:
        tail = latency[latency > limit]
        held = float(np.median(tail) - middle) if tail.size else 0.0
        if held > 0:
            values["disturbance.spike_ratio"] = float(f"{slow:.4g}")
            values["disturbance.spike_ns"] = round(held)
    return values
