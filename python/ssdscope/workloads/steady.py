"""Writing a drive through its front door until its rate no longer changes.

A bare window of rates is not enough (PROBING.md 3.6): before free blocks run out a drive is
steady too, and just after it undershoots. So the window counts only once twice the region has
been written. Rounds are of bytes, not of seconds: a slow drive is not judged on fewer writes.

In a region smaller than the drive, writes spread over the spare area of all of it before anything
is collected. There the window counts only once a bound of that has been written, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError
from ssdscope.targets.spare import SPARE_SHARE

if TYPE_CHECKING:
    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo, RunResult
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
PIECE_REQUESTS, TRIED_SHARE = 256, 0.02
"""What the first writes cost says what all would: so many, doubled up to such a share."""
SHOWN_ROUNDS, SHOWN_SHARE = 10, 0.06
"""Where coming to rest would cost too much, what is spent on seeing how the rate changes."""
SEEDS_APART = 1 << 20
"""Rounds count seeds up; what is measured behind them has none of theirs."""
MIXES = ("rw", "randrw")
FLASH_PAGE_BYTES = 16 * 1024


@dataclass(frozen=True)
class Steadiness:
    """How a drive came to rest, or did not.

    Attributes
    ----------
    reached
        Whether the last rounds agree, and enough was written before them.
    rates_bytes_per_s
        Of every round, in order.
    bytes_written
        In all rounds.
    round_bytes
        Written in each.
    least_bytes
        To be written before anything was judged; None where no bound was known.
    elapsed_ns
        On the drive's clock.
    """

    reached: bool
    rates_bytes_per_s: tuple[float, ...]
    bytes_written: int
    round_bytes: int = 0
    least_bytes: int | None = 0
    elapsed_ns: int = 0

    @property
    def level_bytes_per_s(self) -> float:
        """The mean of the rates in the last window; 0 where there is none."""
        window = self.rates_bytes_per_s[-WINDOW_ROUNDS:]
        return sum(window) / len(window) if window else 0.0

    @property
    def drift(self) -> float:
        """By what share the rate may still change, judged by the last two windows.

        What changed from the one to the other is expected once more for each of the two; 0
        where rounds scatter as much, or are too few.
        """
        before = self.rates_bytes_per_s[-2 * WINDOW_ROUNDS : -WINDOW_ROUNDS]
        after = self.rates_bytes_per_s[-WINDOW_ROUNDS:]
        if len(before) < WINDOW_ROUNDS:
            return 0.0
        one, other = sum(before) / WINDOW_ROUNDS, sum(after) / WINDOW_ROUNDS
        squares = sum((rate - one) ** 2 for rate in before)
        squares += sum((rate - other) ** 2 for rate in after)
        error = (squares / (WINDOW_ROUNDS - 1) / WINDOW_ROUNDS) ** 0.5
        return 2 * (other - one) / other if abs(other - one) > 2 * error else 0.0

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self) | {"level_bytes_per_s": self.level_bytes_per_s}


def settled(
    rates: Sequence[float],
    round_share: float = ROUND_SHARE,
    gate_regions: float = GATE_REGIONS,
) -> bool:
    """Say whether the rates of rounds, in order, have come to rest.

    Parameters
    ----------
    rates
        Of rounds that each wrote `round_share` of the region; positive.
    round_share
        The share.
    gate_regions
        How many regions' worth they write at least.
    """
    # Rounds are whole requests, so their share is a little below what was asked for.
    if len(rates) < WINDOW_ROUNDS or round(len(rates) * round_share, 2) < gate_regions:
        return False
    window = rates[-WINDOW_ROUNDS:]
    mean = sum(window) / WINDOW_ROUNDS
    slope = slope_of(window)
    flat = max(window) - min(window) <= RANGE_MAX * mean
    return flat and abs(slope) <= SLOPE_MAX


def slope_of(rates: Sequence[float]) -> float:
    """Give what the line through rates gains from end to end, as a share of their mean."""
    middle = (len(rates) - 1) / 2
    places = [index - middle for index in range(len(rates))]
    slope = sum(place * rate for place, rate in zip(places, rates, strict=True))
    slope /= sum(place * place for place in places)
    return slope * (len(rates) - 1) / (sum(rates) / len(rates))


def spare_bound(info: DeviceInfo) -> int:
    """Bound the spare area and the buffers of a drive, in bytes."""
    return round(SPARE_SHARE * info.capacity_bytes)


def write_until_steady(
    device: Device,
    workload: Workload,
    *,
    most_regions: float = MOST_REGIONS,
    written_bytes: int = 0,
    spare_bytes: int | None = None,
    most_cost: float | None = None,
) -> Steadiness:
    """Run a workload that writes until its rate has come to rest.

    Writes in order go through the region once in ten rounds.

    Parameters
    ----------
    device
        The drive, open for writing.
    workload
        What is written, and where; its own limits do not matter.
    most_regions
        Give up after so many times the region; on a simulated drive so much later as more than
        two regions have to be written first.
    written_bytes
        Of the same writes in this region before, at another depth or among other reads: so much
        less has to be written first.
    spare_bytes
        Bound of the spare area and buffers, which a region smaller than the drive has to write
        through. If it is None, `spare_bound` holds; on a real drive, which may be larger than its
        target, nothing does, and nothing counts as come to rest.
    most_cost
        Give up when it has cost so much: nanoseconds on a real drive, on a simulated one
        requests and operations of the flash. Where that will not do, rounds are shorter, so that
        there are some ten to see, and nothing counts as come to rest.

    Raises
    ------
    UsageError
        If the workload does not write, has several jobs, or a tenth of its region holds no request.
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    region_bytes, whole_bytes = _sizes(device, workload)
    least_bytes = _least_bytes(device, region_bytes, spare_bytes)
    spent = _Spent(device)
    round_bytes = whole_bytes
    if most_cost is not None:
        needed_bytes = max((least_bytes or 0) - written_bytes, WINDOW_ROUNDS * whole_bytes)
        tried_bytes = _try(workload, whole_bytes, most_cost, spent)
        affordable = most_cost / max(spent.cost, 1) * tried_bytes
        if least_bytes is None or affordable < needed_bytes:
            most_cost *= SHOWN_SHARE + TRIED_SHARE
            block = _write_block(workload)
            shown = int(SHOWN_SHARE * affordable) // SHOWN_ROUNDS
            round_bytes = min(max(shown // block, 1) * block, whole_bytes)
    beyond = (least_bytes or 0) / region_bytes - GATE_REGIONS
    if beyond > 0 and device.info.clock == "virtual":
        most_regions += beyond
    rates: list[float] = []
    reached = False
    while (len(rates) + 1) * round_bytes <= most_regions * region_bytes and not reached:
        number = written_bytes // round_bytes + len(rates)
        result = spent.run(_round(workload, region_bytes, round_bytes, number))
        moved = sum(each.bytes for each in (result.read, result.write) if each)
        rates.append(moved / max(result.elapsed_ns, 1) * 1e9)
        if round_bytes == whole_bytes and least_bytes is not None:
            gate = (least_bytes - written_bytes) / region_bytes
            reached = settled(rates, round_bytes / region_bytes, gate)
        if most_cost is not None and spent.cost > most_cost:
            break
    return Steadiness(
        reached, tuple(rates), len(rates) * round_bytes, round_bytes, least_bytes, spent.elapsed_ns
    )


class _Spent:
    """Runs workloads on a drive, and keeps what that cost."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._begun_ns = device.now_ns()
        self._operations = 0.0

    @property
    def elapsed_ns(self) -> int:
        return self._device.now_ns() - self._begun_ns

    @property
    def cost(self) -> float:
        return self.elapsed_ns if self._device.info.clock == "wall" else self._operations

    def run(self, workload: Workload) -> RunResult:
        result = self._device.run(workload).whole()
        counted = result.counters or {}
        flash = counted.get("flash_bytes_programmed", 0) + counted.get("flash_bytes_read", 0)
        self._operations += result.requests + flash / FLASH_PAGE_BYTES
        return result


def _round(workload: Workload, region_bytes: int, round_bytes: int, number: int) -> Workload:
    """Give a round: so many bytes written, in order behind the round before where it can be.

    No two have one seed, and none that of the workload: pages that are overwritten in the order
    in which they were written fall free together, and collection is cheaper than it is.
    """
    write_share = 1 - workload.read_percent / 100 if workload.rw in MIXES else 1.0
    block = _write_block(workload)
    plan = replace(
        workload, requests=max(round(round_bytes / block / write_share), 1), io_bytes=None,
        runtime_ns=None, until_ci=None, ramp_requests=0, ramp_ns=None,
        seed=workload.seed + 1 + number,
    )  # fmt: skip
    if not in_order(workload):
        return replace(plan, random_start=True)
    place = number % (region_bytes // round_bytes) * round_bytes
    return replace(plan, offset_bytes=workload.offset_bytes + place, size_bytes=round_bytes)


def in_order(workload: Workload) -> bool:
    """Whether a workload only writes, one request behind the other."""
    return (
        workload.rw == "write"
        and not workload.percentage_random
        and not workload.write_percentage_random
        and not workload.stride_bytes
        and not workload.write_stride_bytes
    )


def _try(workload: Workload, round_bytes: int, most_cost: float, spent: _Spent) -> int:
    """Write enough to see what writing costs, a round at most, and say how much."""
    block = _write_block(workload)
    tried_bytes, requests = 0, PIECE_REQUESTS
    while spent.cost < TRIED_SHARE * most_cost and tried_bytes < round_bytes:
        piece_bytes = min(requests * block, round_bytes)
        plan = _round(workload, round_bytes, piece_bytes, 0)
        spent.run(plan.seeded(workload.seed + SEEDS_APART // 2 + requests))
        tried_bytes += piece_bytes
        requests *= 2
    return tried_bytes


def _write_block(workload: Workload) -> int:
    return workload.write_block_bytes or workload.block_bytes


def _least_bytes(device: Device, region_bytes: int, spare_bytes: int | None) -> int | None:
    """Give what has to be written before anything is judged; None where nobody knows."""
    info = device.info
    least = round(GATE_REGIONS * region_bytes)
    if spare_bytes is not None:
        return max(least, spare_bytes)
    if info.clock == "wall":
        return None
    return least if region_bytes == info.capacity_bytes else max(least, spare_bound(info))


def _sizes(device: Device, workload: Workload) -> tuple[int, int]:
    """Give the bytes of the region and of a round."""
    if not workload.writes or workload.numjobs != 1:
        raise UsageError(
            "a drive is brought to rest by one job that writes",
            hint="use write, randwrite, rw or randrw, and no --numjobs",
        )
    rest = device.info.capacity_bytes - workload.offset_bytes
    region = rest if workload.size_bytes is None else workload.size_bytes
    block = _write_block(workload)
    size = int(region * ROUND_SHARE) // block * block
    if size <= 0:
        raise UsageError(
            f"a region of {region} bytes is too small to come to rest in requests of {block}",
            hint="a tenth of the region has to hold a request",
        )
    return region, size
