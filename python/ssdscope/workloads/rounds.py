"""Writing a drive round by round through its front door, until its rate has come to rest.

Rounds are of bytes, not of seconds: a slow drive is not judged on fewer writes. `steady` is the
rule. In a region smaller than the drive, writes spread over the spare area of all of it before
anything is collected; there nothing is judged before a bound of that has been written, too.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.seeds import numbered
from ssdscope.targets import work
from ssdscope.targets.spare import SPARE_SHARE
from ssdscope.workloads.figures import Stretch, run_stretch
from ssdscope.workloads.steady import (
    GATE_REGIONS,
    ROUND_SHARE,
    WINDOW_ROUNDS,
    Steadiness,
    level_of,
    settled,
    slope_of,
)
from ssdscope.workloads.workload import MIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo, RunResult
    from ssdscope.workloads.workload import Workload

LEAST_DEPTHS = 8
"""A round fills the queue so many times; on small drives it then writes more."""
MOST_REGIONS = 4.0
"""By then a drive is steady or never will be."""
PIECE_REQUESTS, TRIED_SHARE = 256, 0.02
"""What the first writes cost says what all would: so many, doubled up to such a share."""
SHOWN_ROUNDS, SHOWN_SHARE = 10, 0.06
"""Where coming to rest would cost too much, what is spent on seeing how the rate changes."""
ROUNDING = 1e-9


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
        Give up when it has cost so many nanoseconds: of time on a real drive, on a simulated one
        of counted work (`targets.work`). Where that will not do, rounds are shorter, so that
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
    rounds = Rounds(
        device, workload, most_regions=most_regions, written_bytes=written_bytes,
        spare_bytes=spare_bytes, most_cost=most_cost,
    )  # fmt: skip
    while rounds.may_go_on and not rounds.settled:
        rounds.write()
    return rounds.steadiness(reached=rounds.settled)


def cost_of_rest(
    device: Device, workload: Workload, most_cost: float, spare_bytes: int | None = None
) -> float:
    """Estimate from its first writes what it costs to bring a workload to rest and measure it.

    Parameters
    ----------
    device
        The drive; it is written to.
    workload, spare_bytes
        As of `write_until_steady`.
    most_cost
        A small share of it is what looking may cost (`TRIED_SHARE`).

    Returns
    -------
    float
        In the unit of `most_cost`; infinite if that leaves nothing to look with.

    Raises
    ------
    UsageError
        As of `write_until_steady`.
    DeviceError
        If the drive fails.
    """
    spent = _Spent(device)
    region_bytes, round_bytes = _sizes(device, workload, ROUND_SHARE)
    least_bytes = _least_bytes(device, region_bytes, spare_bytes) or 0
    tried_bytes = _try(workload, round_bytes, most_cost, spent)
    if not tried_bytes:
        return math.inf
    return spent.cost / tried_bytes * (least_bytes + WINDOW_ROUNDS * round_bytes)


class Rounds:
    """The rounds that a workload writes a drive in.

    Parameters
    ----------
    device, workload, most_regions, written_bytes, spare_bytes, most_cost
        As of `write_until_steady`, which also says what is raised.
    round_share
        What a round writes of the region. With less the same number of rounds is the most.

    Attributes
    ----------
    rates
        Of every round so far, in bytes per second.
    """

    def __init__(
        self,
        device: Device,
        workload: Workload,
        *,
        most_regions: float = MOST_REGIONS,
        written_bytes: int = 0,
        spare_bytes: int | None = None,
        most_cost: float | None = None,
        round_share: float = ROUND_SHARE,
    ) -> None:
        self._workload = workload
        self._written_bytes = written_bytes
        self._most_cost = most_cost
        self._spent = _Spent(device)
        self._costs: list[float] = []
        self.rates: list[float] = []
        self._region_bytes, self._whole_bytes = _sizes(device, workload, round_share)
        self._least_bytes = _least_bytes(device, self._region_bytes, spare_bytes)
        self._round_bytes = self._affordable_round()
        beyond = (self._least_bytes or 0) / self._region_bytes - GATE_REGIONS
        if beyond > 0 and device.info.clock == "virtual":
            most_regions += beyond
        self._most_rounds = int(most_regions / ROUND_SHARE + ROUNDING)

    @property
    def cost(self) -> float:
        """What it has cost so far, as `most_cost` counts it."""
        return self._spent.cost

    @property
    def bytes_written(self) -> int:
        """In all rounds."""
        return len(self.rates) * self._round_bytes

    @property
    def may_go_on(self) -> bool:
        """Whether another round is within what may be written, and rest within what is spent."""
        if len(self.rates) >= self._most_rounds:
            return False
        return self._most_cost is None or self._spent.cost + self._to_come <= self._most_cost

    @property
    def settled(self) -> bool:
        """Whether enough was written, and the last rounds agree."""
        if self._round_bytes != self._whole_bytes or self._least_bytes is None:
            return False
        gate = (self._least_bytes - self._written_bytes) / self._region_bytes
        return settled(self.rates, self._round_bytes / self._region_bytes, gate)

    @property
    def level_bytes_per_s(self) -> float:
        """The mean of the rates in the last window; 0 before the first round."""
        return level_of(self.rates)

    @property
    def _to_come(self) -> float:
        """What it costs to be judged and measured, if costs go on as in the last window.

        Nothing before there is something to see. Where more and more is collected, each round
        costs more than the one before.
        """
        if len(self._costs) < SHOWN_ROUNDS or self._least_bytes is None:
            return 0.0
        judged = (self._least_bytes - self._written_bytes) / self._round_bytes
        rounds = max(judged - len(self.rates), 0.0) + WINDOW_ROUNDS
        last = self._costs[-WINDOW_ROUNDS:]
        rises = all(before < after for before, after in pairwise(last))
        each = slope_of(last) / (WINDOW_ROUNDS - 1) if rises else 0.0
        return rounds * (1 + each * (rounds + WINDOW_ROUNDS) / 2) * statistics.fmean(last)

    def plan(self) -> Workload:
        """Give the next round: in order behind the one before, where writes are in order.

        No two have one seed, and none that of the workload: pages that are overwritten in the
        order in which they were written fall free together, and collection is cheaper than it is.
        """
        number = self._written_bytes // self._round_bytes + len(self.rates)
        return _round(self._workload, self._region_bytes, self._round_bytes, number)

    def write(self) -> None:
        """Write a round."""
        before = self._spent.cost
        result = self._spent.run(self.plan())
        self._costs.append(self._spent.cost - before)
        moved = sum(each.bytes for each in (result.read, result.write) if each)
        self.rates.append(moved / max(result.elapsed_ns, 1) * 1e9)

    def measure(self) -> Stretch:
        """Write a round, and keep what every request of it took."""
        stretch = run_stretch(self._spent.device, self.plan())
        self._spent.add_like(self._costs)
        self.rates.append(stretch.bytes / max(stretch.duration_ns, 1) * 1e9)
        return stretch

    def steadiness(self, *, reached: bool) -> Steadiness:
        """Say how far it came."""
        return Steadiness(
            reached,
            tuple(self.rates),
            self.bytes_written,
            self._round_bytes,
            self._least_bytes,
            self._spent.elapsed_ns,
        )

    def _affordable_round(self) -> int:
        """Give the bytes of a round; too few to judge where coming to rest would cost too much."""
        whole = self._whole_bytes
        if self._most_cost is None:
            return whole
        needed = max((self._least_bytes or 0) - self._written_bytes, WINDOW_ROUNDS * whole)
        device = self._spent.device
        # What may be spent does not change what is seen, where a copy can be tried.
        trial = _Spent(device.fork()) if device.info.snapshot else self._spent
        tried = _try(self._workload, whole, self._most_cost, trial)
        affordable = self._most_cost / max(trial.cost, 1) * tried
        if self._least_bytes is not None and affordable >= needed:
            return whole
        self._most_cost *= SHOWN_SHARE + TRIED_SHARE
        block = _write_block(self._workload)
        shown = int(SHOWN_SHARE * affordable) // SHOWN_ROUNDS
        return min(max(shown // block, 1) * block, whole)


class _Spent:
    """Runs workloads on a drive, and keeps what that cost."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._begun_ns = device.now_ns()
        self._work_s = 0.0

    @property
    def elapsed_ns(self) -> int:
        return self.device.now_ns() - self._begun_ns

    @property
    def cost(self) -> float:
        wall = self.device.info.clock == "wall"
        return self.elapsed_ns if wall else self._work_s * 1e9

    def add_like(self, costs: Sequence[float]) -> None:
        """Count a round of which only the requests are known, by the last of those before it."""
        self._work_s += costs[-1] / 1e9 if costs else 0.0

    def run(self, workload: Workload) -> RunResult:
        result = self.device.run(workload).whole()
        self._work_s += work.of_run(result)
        return result


def _round(workload: Workload, region_bytes: int, round_bytes: int, number: int) -> Workload:
    """Give a round: so many bytes written, in order behind the round before where it can be."""
    write_share = 1 - workload.read_percent / 100 if workload.rw in MIXES else 1.0
    block = _write_block(workload)
    plan = replace(
        workload, requests=max(round(round_bytes / block / write_share), 1), io_bytes=None,
        runtime_ns=None, until_ci=None, ramp_requests=0, ramp_ns=None,
        seed=numbered(workload.seed, 1 + number, "workloads.rounds"),
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
        and workload.partitions == 1
        and not workload.offset_increment_bytes
    )


def _try(workload: Workload, round_bytes: int, most_cost: float, spent: _Spent) -> int:
    """Write enough to see what writing costs, a round at most, and say how much."""
    block = _write_block(workload)
    tried_bytes, requests = 0, PIECE_REQUESTS
    while spent.cost < TRIED_SHARE * most_cost and tried_bytes < round_bytes:
        piece_bytes = min(requests * block, round_bytes)
        plan = _round(workload, round_bytes, piece_bytes, 0)
        spent.run(plan.seeded(numbered(workload.seed, requests, "workloads.rounds.tried")))
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


def _sizes(device: Device, workload: Workload, round_share: float) -> tuple[int, int]:
    """Give the bytes of the region and of a round."""
    if not workload.writes or workload.numjobs != 1:
        raise UsageError(
            "a drive is brought to rest by one job that writes",
            hint="use write, randwrite, rw or randrw, and no --numjobs",
        )
    rest = device.info.capacity_bytes - workload.offset_bytes
    region = rest if workload.size_bytes is None else workload.size_bytes
    block = _write_block(workload)
    deep = LEAST_DEPTHS * workload.iodepth * block
    rounds = min(max(region // deep, 1), round(1 / round_share))
    size = region // rounds // block * block
    if ROUND_SHARE * region < block:
        raise UsageError(
            f"a region of {region} bytes is too small to come to rest in requests of {block}",
            hint="a tenth of the region has to hold a request",
        )
    return region, size
