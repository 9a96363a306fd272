"""Figure 24: random reads within a zone of the mapping table, and over several."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.studies.kuo2009 import drawings
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, Times, read, slow
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult

DRIVE = "transcend-slc"
ZONE = 476 * MIB
"""The zone of the drive, as the paper found it (figure 40)."""
SIZE = 4 * KIB
READS = 400
ZONES = (0.25, 0.5, 1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Reads:
    """Random reads within the drive's first zones; the first read, which loads one, left out."""

    zones: float
    offsets: npt.NDArray[np.int64]
    times_ns: Times
    loads: int

    @property
    def crosses(self) -> npt.NDArray[np.bool_]:
        """Whether each read is in another zone than the one before it."""
        zone = self.offsets // ZONE
        return np.asarray(np.diff(zone, prepend=zone[0]) != 0)


def figure_24(drives: Drives, binder: Binder) -> FigureResult:
    """Draw response times within a zone and over several, and their mean by range."""
    runs = [_reads(drives, zones) for zones in ZONES]
    inside, over = (next(each for each in runs if each.zones == zones) for zones in (1, 4))
    rows = claims_24(inside, over, runs)
    columns: Columns = {
        "zones": [each.zones for each in runs for _ in each.offsets],
        "offset_bytes": [int(at) for each in runs for at in each.offsets],
        "response_ns": [int(time) for each in runs for time in each.times_ns],
    }
    return hand_in("24", rows, drawings.zones(inside, over, runs, ZONE), columns, binder)


def _reads(drives: Drives, zones: float) -> Reads:
    device = drives.fork(DRIVE)
    span = int(zones * ZONE)
    offsets = drives.random(f"24 {zones}").integers(0, span // SIZE, READS + 1) * SIZE
    read(device, offsets[:1], SIZE)
    served = read(device, offsets[1:], SIZE)
    # The place of the first read tells whether the second crosses.
    return Reads(zones, offsets[1:], served.times_ns, served.counts["map_loads"])


def claims_24(inside: Reads, over: Reads, runs: Sequence[Reads]) -> list[Claim]:
    """Hold reads within a zone, over several, and by range, against the paper's words."""
    return [*_claims_inside(inside), *_claims_over(inside, over), _knee(runs)]


def _claims_inside(inside: Reads) -> list[Claim]:
    spread = float(inside.times_ns.max() / inside.times_ns.min() - 1)
    return [
        stated(
            "within a zone: response times",
            "very stable and low",
            f"{inside.times_ns.min() / 1e3:.0f} to {inside.times_ns.max() / 1e3:.0f} us, "
            f"{inside.loads} tables loaded",
            spread < 0.05 and inside.loads == 0,
        )
    ]


def _claims_over(inside: Reads, over: Reads) -> list[Claim]:
    late = slow(over.times_ns)
    fast = over.times_ns[~late]
    levels = f"{np.median(fast) / 1e3:.0f} us" + (
        f" and {np.median(over.times_ns[late]) / 1e3:.0f} us ({100 * late.mean():.0f} %)"
        if late.any()
        else " alone"
    )
    same = abs(float(np.median(fast) / np.median(inside.times_ns)) - 1)
    right = float((late == over.crosses)[1:].mean())
    return [
        stated(
            f"over {over.zones:g} zones: response times",
            "two levels, the lower one as within a zone",
            levels,
            bool(late.any()) and same < 0.02,
        ),
        stated(
            "the higher level: reads in another zone than the read before, whose table is loaded",
            "so it is",
            f"true of {100 * right:.1f} % of the reads; {over.loads} tables loaded for "
            f"{int(over.crosses[1:].sum())} changes of zone",
            right > 0.995,
        ),
    ]


def _knee(runs: Sequence[Reads]) -> Claim:
    means = [float(each.times_ns.mean()) for each in runs]
    last = max(each.zones for each, mean in zip(runs, means, strict=True) if mean < 1.1 * means[0])
    return stated(
        "the mean response time grows once the range is larger than",
        "a zone of 476 MB",
        f"{last * ZONE / MIB:g} MB, of the ranges tried",
        last == 1,
    )
