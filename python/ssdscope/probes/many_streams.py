"""Whether streams of writes in order, taken in turn, wait for nothing once room is short.

Physics. A page-mapped drive writes what comes to where there is room. Streams in order leave whole
blocks stale behind them, so that nothing has to be copied when the spare space is used up, but only
erased. Common log blocks hold pieces of as many merge units as there are streams, and each of those
is merged as a whole: nothing is spared but what was merged before. Uniform writes wait on
either, which shows that room is short where the streams do not wait. A log block for each unit
shows elsewhere (`page_mapped`): random writes are then merged one by one.

Statistic. Mean time of single writes, behind the spare space that was found against before it, of
uniform writes, and of as many in streams that begin at places far apart.

Decision. Uniform writes must become a third slower there, many streams a twentieth at most, beyond
what a single one does, which waits for erases alone, by a sixth at most; nor may they have waited
before, as for merges of a log block that is kept for writes in order. Drives that draw their
victims blindly copy, too, and those whose spare space is no more than the blocks that the streams
have begun; planes that are out of step wait for long erases one after the other: of such it is not
said that they do not merge.

Cost. Twice the spare space, four times at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Undetectable
from ssdscope.probes.bench import Stopped
from ssdscope.probes.overwriting import (
    HIDDEN,
    Granule,
    fill_afresh,
    unit_or_base,
    write_through,
)
from ssdscope.probes.page_mapped import merges_for_each
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

STREAMS = (64, 16)
"""Many, or fewer where blocks are large."""
BEFORE, BEHIND = (0.2, 0.6), (1.3, 2.0)
"""Times the spare space: nothing is short, also where requests are padded; and it is."""
WAITS, ERASES, GOES_ON = 1.33, 1.17, 1.05
"""Times the mean before: uniform writes at least, one stream at most; and many, over one."""
STEADY = 1.2
"""Times the median, the mean of streams before anything is short."""
LEAST_WRITES = 500
"""Behind the spare space, that count."""
UNKNOWN_BYTES = 32 * 1024
"""Written as one where the RMW unit is not known: less than a log block holds."""
MOST_SHARE = 0.45
"""Of the capacity: spare space up to which streams do not reach each other."""


def require_no_hidden_merges(bench: Bench) -> None:
    """Stop where log blocks may have been overlooked: their merges would pass for collection.

    Behind a buffer that hides every unit, probes tell the two by other means.
    """
    unknown = bench.known.get("merge_unit_bytes")
    if not isinstance(unknown, Undetectable) or unknown.reason in HIDDEN:
        return
    if not streams_go_on(bench):
        raise Stopped(unknown.reason, "whether the drive merges log blocks is not known")


def streams_go_on(bench: Bench) -> bool:
    """Say whether streams wait for nothing where uniform writes do."""
    spare = bench.found("over_provisioning_ratio")
    if spare is None or float(spare) > MOST_SHARE:
        return False
    known = unit_or_base(bench)
    unit = known if known.exact else Granule(UNKNOWN_BYTES, 0, exact=False)
    room = float(spare) * bench.info.capacity_bytes / unit.size_bytes
    if room * (BEHIND[1] - BEHIND[0]) < LEAST_WRITES:
        return False
    _begin(bench, unit)
    if merges_for_each(bench, unit):
        return False
    count = int(BEHIND[1] * room)
    uniform = unit.places(count, bench.info.capacity_bytes, bench.rng("streams, uniform"))
    slower, _ = _times(bench, unit, uniform, room)
    if slower < WAITS:
        return False
    erases, _ = _times(bench, unit, _in_turn(bench, unit, 1, count), room)
    if erases > ERASES:
        return False
    for streams in STREAMS:
        slower, waits = _times(bench, unit, _in_turn(bench, unit, streams, count), room)
        if slower <= GOES_ON * max(erases, 1.0) and waits <= STEADY:
            return True
    return False


def _begin(bench: Bench, unit: Granule) -> None:
    if not bench.renew(State.AS_FOUND):
        fill_afresh(bench, unit)


def _in_turn(bench: Bench, unit: Granule, streams: int, count: int) -> NDArray[np.uint64]:
    """Give the places of streams in turn, each beginning somewhere in a stretch of its own."""
    units = bench.info.capacity_bytes // unit.size_bytes - 2
    stretch, each = units // streams, -(-count // streams)
    begins = np.arange(streams) * stretch
    begins += bench.rng(f"{streams} streams").integers(0, max(stretch - each, 1), streams)
    numbers = 1 + (begins[None, :] + np.arange(each)[:, None]).ravel()[:count]
    return np.asarray((numbers * unit.size_bytes - unit.phase_bytes).astype(np.uint64))


def _times(
    bench: Bench, unit: Granule, places: NDArray[np.uint64], room: float
) -> tuple[float, float]:
    """Give how many times longer writes take behind the spare space than before.

    Also the mean before, over the median.
    """
    _begin(bench, unit)
    latencies = write_through(bench, places, unit.size_bytes)
    before, behind = (latencies[int(i * room) : int(j * room)] for i, j in (BEFORE, BEHIND))
    mean = float(before.mean())
    return float(behind.mean()) / mean, mean / float(np.median(before))


def declared_writes_bytes(info: DeviceInfo) -> int:
    """Write uniformly, and in streams, each time from a drive that is filled afresh."""
    most = (2 + len(STREAMS)) * (BEHIND[1] * MOST_SHARE + 1) + 1
    return int(most * info.capacity_bytes) + (1 << 28)
