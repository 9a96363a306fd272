"""Reference measurement of types of pages: the slow page of each word line comes back.

What was filled in order is read page by page. The pages of a row on all planes share a type, and
rows come in turn.
"""

import math

import numpy as np

from ssdscope.recovery.reference_bursts import Series, in_time
from ssdscope.recovery.truth import seen_page_bytes
from ssdscope.recovery.twin import Twin, read

ROUNDS = 16
"""Turns of the types that are laid over each other."""
READS_MOST = 65_536


def typed(twin: Twin, types: int) -> float:
    """Compare reads of the slowest type with those of the fastest, as far as turns explain them."""
    shape, size = twin.shape, seen_page_bytes(twin.values, twin.shape)
    turn = math.lcm(types, shape.run_pages) * shape.planes * shape.page_bytes
    period = math.lcm(turn, size) // size
    count = min(ROUNDS * period, shape.capacity_bytes // size, READS_MOST)
    device = twin.fork()
    found = read(device, np.arange(count, dtype=np.uint64) * np.uint64(size), size)
    return in_time(_recurs(found, period, types), device)


def _recurs(series: Series, period: int, types: int) -> float:
    """Return how much longer the slowest places of a turn take than the fastest in the mean.

    As far as places explain what the series scatters by: what comes at other times is no type.
    """
    rounds, each = series.size // period, max(period // types, 1)
    if rounds < 2 or not series.std():
        return 0.0
    laid = series[: rounds * period].reshape(rounds, period)
    usual = np.sort(laid.mean(axis=0))
    explained = (usual.var() / laid.var() - 1 / rounds) / (1 - 1 / rounds)
    return float((usual[-each:].mean() / usual[:each].mean() - 1) * max(explained, 0.0))
