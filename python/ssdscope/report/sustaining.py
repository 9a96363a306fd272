"""What the drive keeps up: each workload brought to rest on its own, then measured.

Writes of one pattern and size share the drive that they have written through: the deep queue
begins, and the others begin on forks of the drive it leaves.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from ssdscope.errors import DeviceError, UsageError
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.report import survey
from ssdscope.report.survey import Measurement, Point
from ssdscope.targets import Device
from ssdscope.targets.crew import Crew
from ssdscope.targets.records import DeviceInfo
from ssdscope.targets.work import PAGE_S
from ssdscope.workloads import Workload
from ssdscope.workloads.rounds import (
    LEAST_DEPTHS,
    MOST_REGIONS,
    SHOWN_SHARE,
    TRIED_SHARE,
    cost_of_rest,
)
from ssdscope.workloads.steady import (
    RANGE_MAX,
    ROUND_SHARE,
    SLOPE_MAX,
    WINDOW_ROUNDS,
    Steadiness,
    slope_of,
)
from ssdscope.workloads.sustained import Sustained, sustain

DEPTHS = (16, 1, 64)
"""The first writes the drive through."""
PATTERNS = ("randwrite", "write")
CORE_NS_PER_S, CORES = 1e9, 1.7
"""Nanoseconds of counted work that a core does in a second; and what two do of it, as they wait
for one memory."""
FLASH_PAGE_BYTES = 16 * 1024
"""Of today's flash; smaller pages cost more a byte."""
GLIMPSE_SHARE = 0.1
"""Of what may be spent, for a look at workloads that would cost too much to bring to rest."""
MORE_THAN_SEEN, DEPTHS_MORE = 2.0, 1.15
"""What a workload may cost at least of what its first writes promise, as collection begins later;
and what the other depths add to it."""
WALL_SIZES_BYTES, WALL_DEPTHS = (4096, 262_144), (16, 1)
MOST_ROUNDS = round(MOST_REGIONS / ROUND_SHARE) + WINDOW_ROUNDS + 1
"""Of one workload, with those that are measured and those that are tried first."""
SEED = 0x5057
ROUNDING = 1e-9
NEAR_SHARE = 0.02
"""Of the drive, a round of a workload that goes on from a fork of a drive that is at rest..."""
NEAR_REQUESTS = 500
"""... and the least: of few requests no rate is known within some percent."""


@dataclass(frozen=True)
class Kept:
    """A drive that writes of one pattern and size have brought to rest.

    Attributes
    ----------
    device
        The drive; to be forked.
    written_bytes
        Of such writes.
    """

    device: Device
    written_bytes: int


@dataclass
class Course:
    """One workload: how its rate changed, and its figures if it came to rest."""

    point: Point
    found: Sustained | None = None
    failure: str | None = None

    @property
    def reached(self) -> bool:
        """Whether there are figures."""
        return self.found is not None and self.found.reached

    @property
    def cost(self) -> float:
        """What it cost, in nanoseconds of time or of counted work."""
        return 0.0 if self.found is None else self.found.cost

    def to_json(self) -> dict[str, Any]:
        """Flatten into one object; the keys of a measurement first."""
        figure = None if self.found is None else self.found.figures.get("write")
        row = Measurement(self.point, "sustained", figure, self.failure).to_json()
        if self.found is None:
            return row | {"reached": False, "course": None, "remark": self.failure}
        course = self.found.steadiness
        return row | {"reached": course.reached, "course": asdict(course), "remark": remark(course)}


@dataclass
class Settled:
    """All that was brought to rest, and the drives as they then were, by pattern and size.

    Attributes
    ----------
    unused_ns
        What a core might have worked, but for the longest chain that the other was at.
    """

    courses: list[Course] = field(default_factory=list)
    drives: dict[tuple[str, int], Kept] = field(default_factory=dict)
    unused_ns: float = 0.0

    def of(self, rw: str, block_bytes: int, iodepth: int) -> Sustained | None:
        """Give what a workload came to, if it came to rest."""
        wanted = Point(rw, block_bytes, iodepth)
        for each in self.courses:
            if each.point == wanted and each.reached:
                return each.found
        return None

    def seen_through(self, wrap: Callable[[Device], Device]) -> "Settled":
        """Give the same, with each drive behind a meter or the like."""
        drives = {key: replace(kept, device=wrap(kept.device)) for key, kept in self.drives.items()}
        return replace(self, drives=drives)


def chains(info: DeviceInfo, budget: Budget) -> list[list[Point]]:
    """List the workloads to bring to rest, those of one pattern and size together.

    On a real drive only if there is time for all that is worth its while.
    """
    if not info.writable or info.kind == "null" or (info.clock == "wall" and not budget.heavy):
        return []
    wall = info.clock == "wall"
    sizes = [size for size in survey.sizes(info) if not wall or size in WALL_SIZES_BYTES]
    depths = WALL_DEPTHS if wall else DEPTHS
    return [[Point(rw, size, depth) for depth in depths] for rw in PATTERNS for size in sizes]


def writes_bytes(info: DeviceInfo, budget: Budget) -> int:
    """Give what may be written to copies of a simulated drive until writes come to rest.

    Parameters
    ----------
    budget
        Of the stage: whatever is written costs an operation a page at least.
    """
    most = sum(_chain_bytes(info, points) for points in chains(info, budget))
    pages = CORES * CORE_NS_PER_S * budget.wall_s / (PAGE_S * 1e9)
    return min(most, round(pages) * FLASH_PAGE_BYTES)


def _chain_bytes(info: DeviceInfo, points: Sequence[Point]) -> int:
    """Give what the workloads of one pattern and size write at most."""
    capacity, most = info.capacity_bytes, 0
    for place, each in enumerate(points):
        share = _share(info, each, begun=place > 0 and info.snapshot)
        queue = LEAST_DEPTHS * each.iodepth * each.block_bytes
        most += MOST_ROUNDS * min(max(round(share * capacity), queue), capacity)
    return most


def _share(info: DeviceInfo, point: Point, *, begun: bool) -> float:
    """Give what a round writes of a drive: less if one workload has brought it to rest already."""
    if not begun:
        return ROUND_SHARE
    least = NEAR_REQUESTS * point.block_bytes / info.capacity_bytes
    return min(max(NEAR_SHARE, least), ROUND_SHARE)


def settle(
    device: Device,
    budget: Budget,
    *,
    seed: int,
    progress: StageProgress,
    spare_bytes: int | None = None,
) -> Settled:
    """Bring the writes of the page to rest, as far as the budget goes.

    A simulated drive is left as it was found, and chains run side by side.

    Parameters
    ----------
    device
        The drive.
    budget
        How much to spend.
    seed
        Of all workloads.
    progress
        Told which pattern and size is done.
    spare_bytes
        As in `rounds.write_until_steady`.
    """
    every = chains(device.info, budget)
    settling = _Settling(device, every, seed + SEED, progress, spare_bytes)
    if not device.info.snapshot:
        share = budget.wall_s * 1e9 / max(len(every), 1)
        settling.run(dict.fromkeys(range(len(every)), share))
        return settling.found()
    whole = CORE_NS_PER_S * budget.wall_s
    needs = settling.needs(CORES * whole / max(len(every), 1))
    left, unused_ns = (1 - GLIMPSE_SHARE) * whole, 0.0
    while granted := affordable(needs, left):
        costs = settling.run(granted)
        left -= _took(costs)
        unused_ns += CORES * _took(costs) - sum(costs)
        needs = {place: need for place, need in needs.items() if place not in granted}
    glimpse = GLIMPSE_SHARE * CORES * whole / max(len(every), 1) / (SHOWN_SHARE + TRIED_SHARE)
    settling.run({place: min(glimpse, need / MORE_THAN_SEEN) for place, need in needs.items()})
    return replace(settling.found(), unused_ns=unused_ns)


def settle_again(
    device: Device,
    budget: Budget,
    rows: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    progress: StageProgress,
    spare_bytes: int | None = None,
) -> Settled:
    """Make the settled drives again, by the same writes: a drive cannot be put into a file.

    Only what is forked later is made: of each pattern and size the deep queue that began, if it
    came to rest. Nothing is measured anew, and real drives have none.

    Parameters
    ----------
    device, budget, seed, progress, spare_bytes
        As they were for `settle`.
    rows
        What the document holds of it.
    """
    if not device.info.snapshot:
        return Settled()
    reached = {
        Point(each["rw"], each["block_bytes"], each["iodepth"]) for each in rows if each["reached"]
    }
    every = [points[:1] for points in chains(device.info, budget) if points[0] in reached]
    settling = _Settling(device, every, seed + SEED, progress, spare_bytes)
    settling.run(dict.fromkeys(range(len(every))))
    return settling.found()


def affordable(needs: Mapping[int, float], left: float) -> dict[int, float]:
    """Grant what is needed and some more, the least first, as long as it is there.

    Parameters
    ----------
    needs
        What each is expected to cost.
    left
        What two cores may take together, side by side.
    """
    granted = dict[int, float]()
    whole = sum(need for need in needs.values() if need < math.inf)
    times = max(MORE_THAN_SEEN, CORES * left / whole) if whole else MORE_THAN_SEEN
    for place, need in sorted(needs.items(), key=lambda item: item[1]):
        most = max(MORE_THAN_SEEN * need, min(times * need, left))
        if _took([*granted.values(), most]) > left * (1 + ROUNDING):
            # The last one has all that is left, if that may do.
            return granted or ({place: left} if need <= left else {})
        granted[place] = most
    return granted


def _took(costs: Sequence[float]) -> float:
    """Bound what two cores take for chains of these costs, of which the longest begins first."""
    return max(*costs, sum(costs) / CORES)


class _Settling:
    """Brings chains of workloads to rest: on a drive that can be copied side by side.

    Parameters
    ----------
    every
        The chains; they are named by their places.
    """

    def __init__(
        self,
        device: Device,
        every: Sequence[Sequence[Point]],
        seed: int,
        progress: StageProgress,
        spare_bytes: int | None,
    ) -> None:
        self._device, self._every, self._seed = device, every, seed
        self._progress, self._spare_bytes = progress, spare_bytes
        self._copies = device.info.snapshot
        most = [_chain_bytes(device.info, points) for points in every]
        self._drives = [device.fork(each / sum(most)) if self._copies else device for each in most]
        self._done: dict[int, tuple[list[Course], Kept | None]] = {}

    def needs(self, most_cost: float) -> dict[int, float]:
        """Estimate what each costs, on copies."""
        copies = [self._device.fork() for _ in self._every]
        first = [survey.workload_of(points[0], self._seed) for points in self._every]
        needed = partial(_needed, most_cost=most_cost, spare_bytes=self._spare_bytes)
        with Crew() as crew:
            return dict(enumerate(crew.map(needed, copies, first)))

    def run(self, granted: Mapping[int, float | None]) -> list[float]:
        """Run some chains, each within what it may cost; give what each did cost."""
        # A run is one call into Rust that lets go of Python, so threads are enough.
        with Crew(None if self._copies else 1) as crew:
            tasks = {
                place: crew.submit(
                    _chain, self._drives[place], self._every[place], most, self._seed,
                    self._spare_bytes,
                )
                for place, most in _longest_first(granted)
            }  # fmt: skip
            for place, task in tasks.items():
                self._done[place] = task.result()
                point = self._every[place][0]
                what = f"sustained {point.rw} {point.block_bytes // 1024} KiB"
                self._progress(what, len(self._done) / len(self._every))
        return [sum(course.cost for course in self._done[place][0]) for place in granted]

    def found(self) -> Settled:
        """Collect what came of all, in order."""
        settled = Settled()
        for _, (courses, kept) in sorted(self._done.items()):
            settled.courses += courses
            if kept is not None and self._copies:
                point = courses[0].point
                settled.drives[point.rw, point.block_bytes] = kept
        return settled


def _longest_first(granted: Mapping[int, float | None]) -> list[tuple[int, float | None]]:
    """Order chains so that none is left to one core while the other has nothing to do."""
    return sorted(granted.items(), key=lambda each: -(each[1] or math.inf))


def _needed(
    device: Device, workload: Workload, *, most_cost: float, spare_bytes: int | None
) -> float:
    """Estimate what a chain costs; without end for one that the drive does not take."""
    try:
        return DEPTHS_MORE * cost_of_rest(device, workload, most_cost, spare_bytes)
    except (DeviceError, UsageError):
        return math.inf


def _chain(
    device: Device,
    points: Sequence[Point],
    most_cost: float | None,
    seed: int,
    spare_bytes: int | None,
) -> tuple[list[Course], Kept | None]:
    """Bring the first to rest, and the others from where it is; none if it does not come to."""
    base = Course(points[0])
    courses = [base]
    try:
        base.found = sustain(
            device, survey.workload_of(points[0], seed),
            most_cost=most_cost, spare_bytes=spare_bytes,
        )  # fmt: skip
    except (DeviceError, UsageError) as error:
        base.failure = error.message
    if base.found is None or not base.reached:
        return courses, None
    written, drift = base.found.bytes_written, base.found.steadiness.drift
    for point in points[1:]:
        near = device.fork() if device.info.snapshot else device
        course = Course(point)
        courses.append(course)
        try:
            course.found = sustain(
                near, survey.workload_of(point, seed), written_bytes=written,
                most_cost=most_cost, spare_bytes=spare_bytes, drift=drift,
                round_share=_share(device.info, point, begun=near is not device),
            )  # fmt: skip
        except DeviceError as error:
            course.failure = error.message
        if near is device and course.found is not None:
            written = course.found.bytes_written
    return courses, Kept(device, written)


def remark(course: Steadiness) -> str:
    """Say what was seen of a rate that did not come to rest; nothing of one that did."""
    if course.reached:
        return ""
    window = course.rates_bytes_per_s[-WINDOW_ROUNDS:]
    if len(window) < 2:
        return "too slow to see more than its first writes"
    mean = sum(window) / len(window)
    slope, spread = slope_of(window), (max(window) - min(window)) / mean
    if abs(slope) > SLOPE_MAX:
        return f"its rate still {'fell' if slope < 0 else 'rose'}, by {abs(slope):.0%}"
    before = course.rates_bytes_per_s[-2 * WINDOW_ROUNDS : -WINDOW_ROUNDS]
    if len(before) == WINDOW_ROUNDS:
        spread = max(spread, abs(sum(before) / WINDOW_ROUNDS / mean - 1))
    if spread > RANGE_MAX:
        return f"its rate still varied, by {spread:.0%}"
    return "its rate did not change, but too little was written to say that it lasts"


def rows(settled: Settled) -> Iterator[dict[str, Any]]:
    """Give what the document holds, random writes first, by size and depth."""
    order = sorted(settled.courses, key=lambda each: (PATTERNS.index(each.point.rw), each.point))
    for each in order:
        yield each.to_json()
