"""Writing a drive through its front door until its rate no longer changes.

A bare window of rates is not enough (PROBING.md 3.6): before free blocks run out a drive is
steady too, and just after it undershoots. So the window counts only once twice the region has
been written. Rounds are of bytes, not of seconds: a slow drive is not judged on fewer writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError

if TYPE_CHECKING:
    from ssdscope.targets.device import Device
    from ssdscope.workloads.workload import Workload

ROUND_SHARE = 0.10
"""A round writes this share of the region."""
GATE_REGIONS = 2.0
"""Nothing is judged before so many regions' worth is written."""
WINDOW_ROUNDS = 5
RANGE_MAX = 0.05
"""Of the rates in the window: highest minus lowest, as a share of their mean."""
SLOPE_MAX = 0.02
"""What the straight line through them gains or loses from end to end, likewise."""
MOST_REGIONS = 4.0
"""By then a drive is steady or never will be."""


@dataclass(frozen=True)
class Steadiness:
    """How a drive came to rest, or did not.

    Attributes
    ----------
    reached
        Whether the last rounds agree.
    rates_bytes_per_s
        Of every round, in order.
    level_bytes_per_s
        The mean of the last `WINDOW_ROUNDS` rates.
    bytes_written
        In all rounds.
    """

    reached: bool
    rates_bytes_per_s: tuple[float, ...]
    bytes_written: int

    @property
    def level_bytes_per_s(self) -> float:
        """The mean of the rates in the last window."""
        window = self.rates_bytes_per_s[-WINDOW_ROUNDS:]
        return sum(window) / len(window)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self) | {"level_bytes_per_s": self.level_bytes_per_s}


def settled(rates: Sequence[float], round_share: float = ROUND_SHARE) -> bool:
    """Say whether the rates of rounds, in order, have come to rest.

    Parameters
    ----------
    rates
        Of rounds that each wrote `round_share` of the region; positive.
    round_share
        The share.
    """
    # Rounds are whole requests, so their share is a little below what was asked for.
    if len(rates) < WINDOW_ROUNDS or round(len(rates) * round_share, 2) < GATE_REGIONS:
        return False
    window = rates[-WINDOW_ROUNDS:]
    mean = sum(window) / WINDOW_ROUNDS
    places = [index - (WINDOW_ROUNDS - 1) / 2 for index in range(WINDOW_ROUNDS)]
    slope = sum(place * rate for place, rate in zip(places, window, strict=True))
    slope /= sum(place * place for place in places)
    flat = max(window) - min(window) <= RANGE_MAX * mean
    return flat and abs(slope) * (WINDOW_ROUNDS - 1) <= SLOPE_MAX * mean


def write_until_steady(
    device: Device, workload: Workload, *, most_regions: float = MOST_REGIONS
) -> Steadiness:
    """Overwrite a region at random until the rate has come to rest.

    Parameters
    ----------
    device
        The drive, open for writing.
    workload
        What is written, and where; its own limits do not matter.
    most_regions
        Give up after so many times the region.

    Raises
    ------
    UsageError
        If the workload is another than random writes, or a tenth of its region holds no request.
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    region_bytes, round_bytes = _sizes(device, workload)
    share = round_bytes / region_bytes
    once = replace(workload, io_bytes=round_bytes, requests=None, runtime_ns=None, until_ci=None)
    rates: list[float] = []
    while (len(rates) + 1) * share <= most_regions:
        result = device.run(once.seeded(workload.seed + len(rates))).whole()
        rates.append(round_bytes / max(result.elapsed_ns, 1) * 1e9)
        if settled(rates, share):
            return Steadiness(True, tuple(rates), len(rates) * round_bytes)
    return Steadiness(False, tuple(rates), len(rates) * round_bytes)


def _sizes(device: Device, workload: Workload) -> tuple[int, int]:
    """Give the bytes of the region and of a round."""
    if workload.rw != "randwrite" or workload.numjobs != 1:
        raise UsageError(
            "a drive is brought to rest by one job of random writes",
            hint="use randwrite: what is written in order leaves nothing to collect",
        )
    rest = device.info.capacity_bytes - workload.offset_bytes
    region = rest if workload.size_bytes is None else workload.size_bytes
    block = workload.write_block_bytes or workload.block_bytes
    size = int(region * ROUND_SHARE) // block * block
    if size <= 0:
        raise UsageError(
            f"a region of {region} bytes is too small to come to rest in requests of {block}",
            hint="a tenth of the region has to hold a request",
        )
    return region, size
