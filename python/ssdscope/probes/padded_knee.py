"""Spare space behind a buffer that stays on, and hides what writes of an RMW unit take.

Requests whose ends lie within RMW units use up more space than they hold: e bytes more each, as
much whatever their size. So K bytes of spare space are used up after k = K / (1 + e / size) bytes:
1 / k is a straight line over 1 / size. Three sizes are written, each from the same beginning; from
the line follow K and e, and where the three do not lie on it, what was found is no spare space, or
not where it ends: log blocks of one unit each are used up after as many *requests*, and a knee seen
late is so by chance. Common log blocks take what begins a merge unit in a block for writes in
order, which longer requests do more often, as if they were padded less: so none begins one. Behind
a buffer many writes wait for room in turn: latencies are taken over the mean of all but the
slowest, and the knee is the first of long waits that there were none of before. What a buffer still
holds when it begins has used up nothing, and does not count. A region of one bit per cell shows in
that writes in order, which fold all the time, are slower than the first random ones.

Collection may go on beside writes for a while, until they have to wait for it: all of them become
slower then, few of them much. Of long requests, which leave more stale at once, it can keep up for
longer, as if they were padded less. So if at any size writes are slower in the last fifth before
the knee than in any part before, collection began there, and nothing is told.

A buffer may let go of parts of units as soon as they are there, and the drive writes each of these
units twice: as many more as a request is longer, which the line does not tell. So where the unit
has become known by other means, single ones, which need not be cut, must show the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Absent, Reason
from ssdscope.probes import write_buffer
from ssdscope.probes.bench import Stopped
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.knees_agree import agree
from ssdscope.probes.overwriting import Granule, fill_afresh, granule, latencies_ns
from ssdscope.probes.slow_writes import Knee, slower_before
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench

SIZES = (256 * 1024, 128 * 1024, 64 * 1024)
"""As large as usual RMW units at least, lest several lie in one; and so small that they are all
over the drive: long ones leave blocks stale as a whole, which hides that collection has begun."""
ORDER_BYTES = SIZES[1]
"""Of writes in order, and of those that they are compared to."""
PADDED_MOST = 80 * 1024
"""Bytes that a request may use up beyond its own: the largest usual RMW unit, and some scatter."""
OFF_LINE = 0.007
"""By how much of itself a knee may miss the line: three knees are told as sharply as this."""
FROM, IN_ORDER_SHARE, STRETCHES = 0.15, 0.4, 8
"""Shares of what is before the knee that a buffer may take, and of the capacity in order;
in so many stretches."""
FOLDS_FROM = 1.5
ERROR = 0.08
"""Of the spare space: it is told from the differences of measurements."""

Alone = Callable[[Granule], "tuple[Knee | None, NDArray[np.float64]]"]


@dataclass(frozen=True)
class Padded:
    """What the sizes of requests came to.

    Attributes
    ----------
    knee
        As if nothing were padded.
    padding_bytes
        Of a request.
    size_bytes, latencies_ns
        The smallest requests, and what they took; shape (n,).
    """

    knee: Knee
    padding_bytes: float
    size_bytes: int
    latencies_ns: NDArray[np.float64]


def padded_knee(bench: Bench, alone: Alone) -> Padded | None:
    """Find the knee by requests of several sizes; None if there is none, or they contradict.

    Parameters
    ----------
    alone
        Overwrites granules at random until the drive has become slower for good.

    Raises
    ------
    Stopped
        If blocks seem to be folded.
    """
    found: list[tuple[Knee, NDArray[np.float64]]] = []
    for size in SIZES:
        if not bench.renew(State.AS_FOUND):
            fill_afresh(bench, Granule(size, 0, False))
        knee, latencies = alone(_within(size))
        if knee is None:
            return None
        found.append((knee, latencies))
    if any(
        slower_before(each, knee, size) for (knee, each), size in zip(found, SIZES, strict=True)
    ):
        return None
    _, (middle, slow), (small, latencies) = found
    before = slow[: int(middle.spare_bytes) // ORDER_BYTES]
    if not isinstance(bench.known.get("pslc_bytes"), Absent) and _in_order_ns(
        bench
    ) > FOLDS_FROM * float(before[int(FROM * before.size) :].mean()):
        raise Stopped(Reason.MASKED, "writes in order are slow, as if blocks were folded")
    held = write_buffer.about_bytes(bench)
    if held is None and write_buffer.SIZE in bench.known:
        raise Stopped(Reason.WRITE_ACKED_FROM_BUFFER, "what the buffer holds is not known")
    line = _line(np.array([knee.spare_bytes - (held or 0.0) for knee, _ in found]))
    if line is None:
        return None
    spare, padding = line
    knee = Knee(spare, (1 - ERROR) * spare, (1 + ERROR) * spare, small.slowdown)
    _require_of_units(bench, alone, knee)
    return Padded(knee, padding, SIZES[-1], latencies)


def _require_of_units(bench: Bench, alone: Alone, found: Knee) -> None:
    """Refuse where single RMW units, if they are known, use up another space."""
    unit = granule(bench)
    if not unit.exact:
        return
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)
    knee, _ = alone(replace(unit, apart=2))
    if not agree(found, knee):
        raise Stopped(
            Reason.WRITE_ACKED_FROM_BUFFER, "the buffer seems to let go of parts of units"
        )


def _within(size_bytes: int) -> Granule:
    """Give every other place of a size, put off by the smallest one.

    Where log blocks are shared, what begins a merge unit goes to a log of its own, and that is a
    greater share of longer requests. So none begins one, nor runs over into the next.
    """
    return Granule(size_bytes, 2 * size_bytes - SIZES[-1], exact=False, apart=2)


def _line(knees: NDArray[np.float64]) -> tuple[float, float] | None:
    """Give the spare space, and the padding of a request; None if the sizes contradict each other.

    Parameters
    ----------
    knees : ndarray, shape (sizes,)
        Bytes written until then.
    """
    if knees.min() <= 0:
        return None
    short, inverse = 1 / np.array(SIZES), 1 / knees
    slope = max(float(np.polyfit(short, inverse, 1)[0]), 0.0)
    base = float(np.mean(inverse - slope * short))
    off = np.abs(base + slope * short - inverse) / inverse
    if base <= 0 or off.max() > OFF_LINE or slope / base > PADDED_MOST:
        return None
    return 1 / base, slope / base


def _in_order_ns(bench: Bench) -> float:
    """Give the mean of writes in order, behind what a fast region may hold.

    Several stretches in turn, as neighbours would share an RMW unit and wait for each other.
    """
    fill_afresh(bench, Granule(ORDER_BYTES, 0, False))
    parts = bench.info.capacity_bytes // ORDER_BYTES
    each = np.arange(int(IN_ORDER_SHARE * parts) // STRETCHES, dtype=np.uint64)
    begins = np.arange(STRETCHES, dtype=np.uint64) * np.uint64(parts // STRETCHES)
    places = (each[:, None] + begins).ravel() * np.uint64(ORDER_BYTES)
    latencies = in_peace(bench, lambda: latencies_ns(bench.write(places, ORDER_BYTES)))
    return float(latencies[latencies.size // 5 :].mean())


def padded_writes_capacities(lone_most: float) -> float:
    """Give how much it writes, in capacities, where each size is written so often at most."""
    return (len(SIZES) + 1) * (lone_most + 1) + 1 + 4 * IN_ORDER_SHARE
