"""What a model of a drive says of workloads that arrive at a rate.

A model knows a closed loop: the latency with so many requests in flight. Requests that arrive
at random see a queue whose server works the faster the more are in flight: the flow-equivalent
server of Chandy, Herzog and Woo (1975). With n in flight it serves n / L(n) requests a second,
and the share of time with n in flight is that of a birth-death process.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ssdscope.advise.placement.trying import Seen, Tried
from ssdscope.advise.placement.workloads import Load
from ssdscope.models.fitted import FittedModel
from ssdscope.workloads.grid import Vector

Floats = npt.NDArray[np.float64]
DEEPEST = 4096
"""Requests in flight beyond which a drive is taken not to keep up."""


def predicted(model: FittedModel, loads: Sequence[Load]) -> Tried | None:
    """Predict what workloads see of a drive that they share, from their mixture.

    All of them are given the mean latency of the mixture.

    Returns
    -------
    Tried or None
        None where the model was fitted on nothing like it.
    """
    mix = mixture(loads)
    depths = np.unique(
        np.geomspace(max(1, model.low["q_dep"]), model.high["q_dep"], 12).astype(int)
    )
    vectors = [Vector(**{**vars(mix), "q_dep": int(depth)}) for depth in depths]
    if any(model.outside(each) for each in vectors):
        return None
    told = [model.answers(each)["latency_ns"] for each in vectors]
    rate = sum(each.rate for each in loads)
    value, low, high = (
        response_ns(depths.astype(float), np.array([each[key] for each in told]), rate)
        for key in ("value", "low", "high")
    )
    seen = Seen(0, value or float("inf"), low, high)
    return Tried(tuple(seen for _ in loads), value is not None, None, "model")


def response_ns(depths: Floats, latency_ns: Floats, rate: float) -> float | None:
    """Give the mean response time of random arrivals at a drive known by closed loops.

    Parameters
    ----------
    depths, latency_ns
        Requests in flight, ascending, and the mean latency with them; shapes (n,).
    rate
        Arrivals per second.

    Returns
    -------
    float or None
        Nanoseconds; None if requests come faster than they are served.

    Examples
    --------
    One server of 1 ms, whatever waits, at half its rate: twice the time (M/M/1).

    >>> depths = np.array([1.0, 10.0])
    >>> round(response_ns(depths, depths * 1e6, 500.0))
    2000000
    """
    flying = np.arange(1, DEEPEST + 1, dtype=float)
    served = depths * 1e9 / latency_ns
    # Beyond what was measured a drive serves no more than at the deepest.
    speed = np.interp(flying, depths, np.maximum.accumulate(served))
    if rate >= speed[-1]:
        return None
    steps = np.cumsum(np.log(rate / speed))
    weight = np.exp(steps - max(0.0, float(steps.max())))
    empty = np.exp(-max(0.0, float(steps.max())))
    mean = float((flying * weight).sum() / (empty + weight.sum()))
    return mean / rate * 1e9


def mixture(loads: Sequence[Load]) -> Vector:
    """Mix workloads: rates add up, each characteristic is weighed by the requests that bear it."""
    rates = np.array([each.rate for each in loads])
    writes = np.array([each.vector.wr_ratio / 100 for each in loads])
    weights = {"wr": rates * writes, "rd": rates * (1 - writes)}

    def mean(name: str) -> int:
        weight = weights[name[:2]]
        values = np.array([getattr(each.vector, name) for each in loads], dtype=float)
        return round(float((weight * values).sum() / weight.sum())) if weight.sum() else 0

    names = ("wr_size", "rd_size", "wr_rand", "rd_rand", "wr_stride", "rd_stride")
    ratio = round(100 * float((rates * writes).sum() / rates.sum()))
    return Vector(ratio, 1, **{name: mean(name) for name in names})
