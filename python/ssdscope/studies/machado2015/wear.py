"""Where greedy and wear-aware do differ: long skewed runs on a small drive.

Wear-aware collection moves cold data into blocks that have lost 15 % more of their life than
the average. In 300 requests no block is erased that often, so in figure 1 the policies cannot
differ. Here most writes go to a small part of the drive, until it is worn out.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.probes.budget import StageProgress
from ssdscope.results.files import creating
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.record import Claim
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_WRITE

POLICIES = ("greedy", "wear-aware")
PAPER = "possibly: the load may have been too small to tell"
SMALL_DRIVE = ("nand.channels=1", "nand.blocks_per_plane=128")
"""The paper's firmware and timing with fewer blocks, so that a lifetime takes seconds."""
PAGE_BYTES = 4096
ROUND_REQUESTS = 10_000
MAX_ROUNDS = 400
COMPARED_SHARE = 0.8
"""Wear is compared when so much of the shorter life has passed."""


@dataclass(frozen=True)
class Skew:
    """How unevenly the writes fall."""

    writes: float
    space: float

    @property
    def label(self) -> str:
        """The skew in words."""
        return f"{100 * self.writes:.0f} % of the writes to {100 * self.space:.0f} % of the space"


SKEWS = (Skew(0.98, 0.02), Skew(0.9, 0.1))


@dataclass(frozen=True)
class Wear:
    """Wear after so many bytes written.

    Attributes
    ----------
    histogram
        Number of blocks by how often each was erased.
    """

    drive_writes: float
    waf: float
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
    skew: Skew
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


def age(seed: int, progress: StageProgress) -> list[Life]:
    """Write the same skewed streams under both policies, on all cores."""
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    plan = [(skew, policy) for skew in SKEWS for policy in POLICIES]
    lives = []
    for life in workers(delayed(_live)(policy, skew, seed) for skew, policy in plan):
        lives.append(life)
        progress(f"wear: {life.policy}, {life.skew.label}", len(lives) / len(plan))
    return lives


def _live(policy: str, skew: Skew, seed: int) -> Life:
    target = open_target("sim:msr-4gb", sets=(*SMALL_DRIVE, f"gc.policy={policy}"), seed=seed)
    rng = stream(seed, "studies.machado2015.wear")
    life = Life(policy, skew)
    written = 0
    for _ in range(MAX_ROUNDS):
        try:
            written += _write_round(target.device, skew, rng)
        except DeviceError as error:
            life.end = error.message
            break
        life.rounds.append(_reading(target.device, written))
    return life


def _write_round(device: Device, skew: Skew, rng: np.random.Generator) -> int:
    """Write one round of pages, and give the bytes written."""
    pages = device.info.capacity_bytes // PAGE_BYTES
    hot = int(pages * skew.space)
    page = np.where(
        rng.random(ROUND_REQUESTS) < skew.writes,
        rng.integers(0, hot, ROUND_REQUESTS),
        rng.integers(hot, pages, ROUND_REQUESTS),
    )
    device.run_list(
        np.full(ROUND_REQUESTS, OP_WRITE), page * PAGE_BYTES, np.full(ROUND_REQUESTS, PAGE_BYTES)
    )
    return ROUND_REQUESTS * PAGE_BYTES


def _reading(device: Device, written_bytes: int) -> Wear:
    counters = device.counters() or {}
    return Wear(
        written_bytes / device.info.capacity_bytes,
        float(counters["waf"]),
        tuple(counters["erase_histogram"]),
    )


def compare(lives: Sequence[Life]) -> list[Claim]:
    """Ask whether the policies differ in wear spread, write amplification or lifetime."""
    rows = []
    for skew in dict.fromkeys(life.skew for life in lives):
        greedy, aware = (
            next(life for life in lives if (life.policy, life.skew) == (policy, skew))
            for policy in POLICIES
        )
        rows.append(_compare(greedy, aware, skew))
    return rows


def _compare(greedy: Life, aware: Life, skew: Skew) -> Claim:
    point = COMPARED_SHARE * min(greedy.drive_writes, aware.drive_writes)
    one, other = greedy.at(point), aware.at(point)
    pairs = (
        (one.spread, other.spread),
        (one.waf, other.waf),
        (greedy.drive_writes, aware.drive_writes),
    )
    return judging.claim(
        f"the policies differ under a longer load: {skew.label}",
        PAPER,
        f"greedy and wear-aware: spread of the erase counts {100 * one.spread:.0f} and "
        f"{100 * other.spread:.0f} % of the mean, write amplification {one.waf:.2f} and "
        f"{other.waf:.2f} (both after {point:.1f} drive writes), lifetime {_lifetime(greedy)} and "
        f"{_lifetime(aware)} drive writes",
        "",
        holds=any(_differ(*pair) for pair in pairs),
    )


def _differ(one: float, other: float) -> bool:
    """Say whether two are more than a tenth of the larger apart."""
    return not judging.quoted(max(one, other), min(one, other))


def _lifetime(life: Life) -> str:
    return f"{life.drive_writes:.1f}" if life.end else f"more than {life.drive_writes:.1f}"


def write_table(lives: Sequence[Life], path: Path) -> Path:
    """Write every reading as CSV."""
    with creating(path) as file:
        table = csv.writer(file)
        table.writerow(
            [
                "policy",
                "hot_writes",
                "hot_space",
                "drive_writes",
                "waf",
                "erase_mean",
                "erase_max",
                "spread",
            ]
        )
        for life in lives:
            for wear in life.rounds:
                counts = wear.erases
                table.writerow(
                    [
                        life.policy,
                        life.skew.writes,
                        life.skew.space,
                        wear.drive_writes,
                        wear.waf,
                        counts.mean(),
                        counts.max(),
                        wear.spread,
                    ]
                )
    return path
