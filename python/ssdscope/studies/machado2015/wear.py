"""Where greedy and wear-aware do differ: long runs on a small drive, until it is worn out.

Wear-aware collection moves cold data into blocks that have lost 15 % more of their life than
the average. In 300 requests no block is erased that often, so in figure 1 the policies cannot
differ. Here the paper's own patterns are run longer, and two in which most writes go to a small
part of the drive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope.errors import DeviceError
from ssdscope.plots import panels
from ssdscope.plots.style import LIGHT
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.studies.running import columns_of
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_WRITE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POLICIES = ("greedy", "wear-aware")
PAGE_BYTES = 4096
ROUND_REQUESTS = 10_000
MAX_ROUNDS = 400
NUMBERS = ("drive_writes", "waf", "response_ns", "collected", "levelled", "spread")
COMPARED_SHARE = 0.8
"""Wear is compared when so much of the shorter life has passed."""


@dataclass(frozen=True)
class Load:
    """Which pages are written, one by one."""

    label: str
    draw: Callable[[np.random.Generator, int, int], npt.NDArray[np.int64]]
    """Of a generator, the number of pages, and how many were written before."""


def _in_order(_: np.random.Generator, pages: int, before: int) -> npt.NDArray[np.int64]:
    return (before + np.arange(ROUND_REQUESTS)) % pages


def _uniform(rng: np.random.Generator, pages: int, _: int) -> npt.NDArray[np.int64]:
    return rng.integers(0, pages, ROUND_REQUESTS)


def _skewed(
    writes: float, space: float, rng: np.random.Generator, pages: int, _: int
) -> npt.NDArray[np.int64]:
    hot = int(pages * space)
    return np.where(
        rng.random(ROUND_REQUESTS) < writes,
        rng.integers(0, hot, ROUND_REQUESTS),
        rng.integers(hot, pages, ROUND_REQUESTS),
    )


LOADS = (
    Load("98 % of the writes to 2 % of the space", partial(_skewed, 0.98, 0.02)),
    Load("90 % of the writes to 10 % of the space", partial(_skewed, 0.9, 0.1)),
    Load("random writes, as the paper's", _uniform),
    Load("writes in order, as the paper's", _in_order),
)


@dataclass(frozen=True)
class Wear:
    """Wear after so many bytes written.

    Attributes
    ----------
    response_ns
        Mean of all requests so far.
    collected, levelled
        Pages that collection copied, and wear levelling.
    histogram
        Number of blocks by how often each was erased.
    """

    drive_writes: float
    waf: float
    response_ns: float
    collected: int
    levelled: int
    histogram: tuple[int, ...]

    @property
    def erases(self) -> np.ndarray:
        """Erase count of every block."""
        return np.repeat(np.arange(len(self.histogram)), self.histogram)

    @property
    def spread(self) -> float:
        """Standard deviation of the erase counts over their mean."""
        counts = self.erases
        return float(counts.std() / counts.mean()) if counts.any() else 0.0


@dataclass
class Life:
    """One drive's life under one policy and one load."""

    policy: str
    load: Load
    rounds: list[Wear] = field(default_factory=list)
    end: str = ""
    """Why it ended; empty for a drive that outlived the experiment."""

    @property
    def drive_writes(self) -> float:
        """How many times its capacity was written."""
        return self.rounds[-1].drive_writes if self.rounds else 0.0

    def at(self, drive_writes: float) -> Wear:
        """Give the first reading at or after so many drive writes, no more than it lived."""
        return next(each for each in self.rounds if each.drive_writes >= drive_writes)


def age(seed: int, blocks: int, progress: StageProgress) -> list[Life]:
    """Write the same pages under both policies, on all cores.

    Parameters
    ----------
    blocks
        Of each plane of the drive: so few that a lifetime takes seconds.
    """
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    plan = [(load, policy) for load in LOADS for policy in POLICIES]
    lives = []
    for life in workers(delayed(_live)(policy, load, seed, blocks) for load, policy in plan):
        lives.append(life)
        progress(f"wear: {life.policy}, {life.load.label}", len(lives) / len(plan))
    return lives


def _live(policy: str, load: Load, seed: int, blocks: int) -> Life:
    sets = ("nand.channels=1", f"nand.blocks_per_plane={blocks}", f"gc.policy={policy}")
    device = open_target("sim:msr-4gb", sets=sets, seed=seed).device
    pages = device.info.capacity_bytes // PAGE_BYTES
    rng = stream(seed, "studies.machado2015.wear")
    life = Life(policy, load)
    ops, lengths = np.full(ROUND_REQUESTS, OP_WRITE), np.full(ROUND_REQUESTS, PAGE_BYTES)
    took_ns = 0.0
    for done in range(MAX_ROUNDS):
        offsets = load.draw(rng, pages, done * ROUND_REQUESTS) * PAGE_BYTES
        try:
            took_ns += float(device.run_list(ops, offsets, lengths).latency_ns.sum())
        except DeviceError as error:
            life.end = error.message
            break
        life.rounds.append(_reading(device, (done + 1) * ROUND_REQUESTS, took_ns))
    return life


def _reading(device: Device, written: int, took_ns: float) -> Wear:
    counters = device.counters() or {}
    return Wear(
        written * PAGE_BYTES / device.info.capacity_bytes,
        float(counters["waf"]),
        took_ns / written,
        counters["gc_pages_moved"],
        counters["wear_pages_moved"],
        tuple(counters["erase_histogram"]),
    )


def readings(lives: Sequence[Life]) -> dict[str, Reading]:
    """Compare wear, write amplification, response time and lifetime of the policies by load."""
    found: dict[str, Reading] = {}
    for load in dict.fromkeys(life.load for life in lives):
        greedy, aware = (
            next(life for life in lives if (life.policy, life.load) == (policy, load))
            for policy in POLICIES
        )
        found |= _of_load(greedy, aware, load)
    return found


def _of_load(greedy: Life, aware: Life, load: Load) -> dict[str, Reading]:
    point = COMPARED_SHARE * min(greedy.drive_writes, aware.drive_writes)
    one, other = greedy.at(point), aware.at(point)
    differ = Reading(
        f"greedy and wear-aware: spread of the erase counts {100 * one.spread:.0f} and "
        f"{100 * other.spread:.0f} % of the mean, write amplification {one.waf:.2f} and "
        f"{other.waf:.2f} (both after {point:.1f} drive writes)",
        _differ(one.spread, other.spread) or _differ(one.waf, other.waf),
    )
    times = (one.response_ns, other.response_ns)
    text = " and ".join(f"{each / 1e6:.2f}" for each in times)
    response = Reading(f"{text} ms after {point:.1f} drive writes", max(times) / min(times))
    return {
        f"policies differ: {load.label}": differ,
        f"response times differ: {load.label}": response,
        f"lifetime: {load.label}": _lifetime(greedy, aware, point),
    }


def _lifetime(greedy: Life, aware: Life, point: float) -> Reading:
    """Compare lifetimes: what is copied until a point, and erases when the drive ends."""
    one, other = greedy.rounds[-1], aware.rounds[-1]
    by_greedy, by_aware = greedy.at(point), aware.at(point)
    ratio = aware.drive_writes / greedy.drive_writes
    said = (
        f"{ratio:.2f} times: greedy {_lived(greedy)} and wear-aware {_lived(aware)} drive writes; "
        f"in the first {point:.1f} greedy copied {by_greedy.collected:,} pages, wear-aware "
        f"{by_aware.collected:,} and {by_aware.levelled:,} more by wear levelling; blocks are "
        f"erased {one.erases.mean():.1f} and {other.erases.mean():.1f} times in the end"
    )
    why = (
        f"it writes {other.waf / one.waf:.2f} times as much flash for the same data, and cleaning "
        f"ends when blocks have been erased {other.erases.mean() / one.erases.mean():.2f} times as "
        "often"
    )
    return Reading(said, ratio, why=why)


def _differ(one: float, other: float) -> bool:
    return not judging.quoted(max(one, other), min(one, other))  # a tenth of the larger


def _lived(life: Life) -> str:
    return f"{life.drive_writes:.1f}" if life.end else f"more than {life.drive_writes:.1f}"


def measure(seed: int, blocks: int, progress: StageProgress) -> Measured:
    """Age the drives, and say where the policies differ."""
    lives = age(seed, blocks, progress)
    read = [(life, wear, wear.erases) for life in lives for wear in life.rounds]
    columns: Columns = {
        "policy": [life.policy for life, *_ in read],
        "load": [life.load.label for life, *_ in read],
        **columns_of([wear for _, wear, _ in read], NUMBERS),
        "erase_mean": [erases.mean() for *_, erases in read],
        "erase_max": [erases.max() for *_, erases in read],
    }
    return Measured(readings(lives), partial(_drawn, lives), columns)


def _drawn(lives: Sequence[Life]) -> "Figure":
    """Draw the spread of the erase counts over the drive's life, one panel per load."""
    loads = list(dict.fromkeys(life.load for life in lives))
    figure, every = panels.canvas(2, rows=(len(loads) + 1) // 2, height=3.4)
    for axes, load in zip(every, loads, strict=True):
        panels.head(axes, load.label)
        for index, life in enumerate(each for each in lives if each.load == load):
            # Both end at the most that a block is made for: a pale band below a thin line.
            look: dict[str, Any] = {"color": LIGHT.series(index), "linewidth": (2.6, 1.2)[index]}
            x = [wear.drive_writes for wear in life.rounds]
            for values, dash in (
                ([wear.erases.max() for wear in life.rounds], "-"),
                ([wear.erases.mean() for wear in life.rounds], (0, (2, 2))),
            ):
                label = f"{life.policy}: {'most erased' if dash == '-' else 'mean'}"
                axes.plot(x, values, linestyle=dash, label=label, alpha=0.7, **look)
            most = life.rounds[-1].erases.max()
            axes.plot(x[-1:], [most], "x", color=LIGHT.series(index), markersize=8)
        axes.set_xlabel("drive writes (x: worn out)")
        axes.set_ylabel("erases of a block")
    panels.legend_below(figure, every[0], 4)
    return figure
