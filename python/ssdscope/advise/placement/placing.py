"""The cheapest placement of workloads on drives, replayed on what stands for them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssdscope.advise.addresses import whole_parts
from ssdscope.advise.placement import pairs
from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.infeasible import explain
from ssdscope.advise.placement.judging import LONGER, Judge
from ssdscope.advise.placement.limits import YEAR_S, Limits, require_possible
from ssdscope.advise.placement.programme import Kind, Placed, Programme, Set, cheapest
from ssdscope.advise.placement.workloads import Load
from ssdscope.errors import UsageError

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Placement:
    """What `place` found.

    Attributes
    ----------
    pairs
        What each workload sees of each drive that it has for itself.
    drives
        Those that are taken, with their workloads, and how full and how worn they get.
    replay
        What each workload sees where it was placed: as predicted, and as replayed.
    cost
        Of all drives.
    rounds, trials
        How often the programme was solved, and how many sets of workloads were tried.
    """

    pairs: list[dict[str, Any]]
    drives: list[dict[str, Any]]
    replay: list[dict[str, Any]]
    cost: float
    rounds: int
    trials: int

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return asdict(self)


def place(
    loads: Sequence[Load],
    drives: Sequence[Drive],
    limits: Limits,
    *,
    duration_ns: int,
    seed: int,
    progress: Progress = lambda _stage, _share: None,
) -> Placement:
    """Find the cheapest placement that keeps every limit, and replay it.

    Parameters
    ----------
    loads, drives
        What is to be placed, and where it may be.
    limits
        What must hold.
    duration_ns
        Of each workload, for a first trial; what is taken is tried and replayed for `LONGER` times
        as long.
    seed
        Of the requests.

    Raises
    ------
    UsageError
        If nothing keeps the limits, or they contradict each other; the message says which.
    """
    require_possible(loads, drives, limits)
    judge = Judge(
        loads, drives, duration_ns=duration_ns, seed=seed,
        progress=lambda count: progress(f"{count} sets of workloads tried", 0.5),
    )  # fmt: skip
    alone = pairs.alone(judge, progress=lambda share: progress("each workload alone", 0.4 * share))
    found = solve(judge, limits)
    if found is None:
        raise explain(judge, limits, lambda relaxed: solve(judge, relaxed) is not None)
    progress("replaying the placement", 0.9)
    replayed = [row for taken in found.drives for row in _replayed(judge, *taken)]
    shown = [_taken(judge, *taken) for taken in found.drives]
    return Placement(alone, shown, replayed, found.cost, found.rounds, judge.count)


def solve(judge: Judge, limits: Limits) -> Placed | None:
    """Find the cheapest placement under limits, without its replay; None if there is none."""
    kinds = [_kind(each, limits, len(judge.loads)) for each in judge.drives]
    needs = np.array([[whole_parts(x.size_bytes), x.written_bytes_per_s] for x in judge.loads])
    cost = limits.cost if limits.cost is not None and limits.counts("cost") else np.inf
    problem = Programme(kinds, needs, _prefers(judge), cost)
    return cheapest(
        problem,
        lambda kind, these: not judge.verdict(kind, these, limits).fine,
        lambda kind, these: not judge.verdict(kind, these, limits, LONGER).fine,
    )


def _kind(drive: Drive, limits: Limits, loads: int) -> Kind:
    capacity = float(drive.capacity_bytes) if limits.counts("capacity") else np.inf
    written = np.inf
    if limits.lifetime_s and limits.counts("lifetime") and drive.endurance_bytes is not None:
        written = drive.endurance_bytes / limits.lifetime_s
    return Kind(drive.price, (capacity, written), drive.count if limits.counts("count") else loads)


def _prefers(judge: Judge) -> np.ndarray:
    """Give the seconds that requests wait in a second, if each workload is alone on a drive."""
    waits = np.zeros((len(judge.loads), len(judge.drives)))
    for n, load in enumerate(judge.loads):
        for d, drive in enumerate(judge.drives):
            if load.size_bytes > drive.capacity_bytes:
                continue
            try:
                seen = judge.tried(d, frozenset({n})).seen[0]
            except UsageError:  # the verdict says why, and forbids it
                continue
            waits[n, d] = 0.0 if seen is None else load.rate * min(seen.mean_ns, 1e12) / 1e9
    return waits


def _taken(judge: Judge, drive: int, these: Set) -> dict[str, Any]:
    loads = [judge.loads[n] for n in sorted(these)]
    lasts = judge.lifetime_s(drive, these)
    kind = judge.drives[drive]
    return {
        "drive": kind.name,
        "price": kind.price,
        "workloads": [each.name for each in loads],
        "used_bytes": sum(whole_parts(each.size_bytes) for each in loads),
        "capacity_bytes": kind.capacity_bytes,
        "requests_per_s": sum(each.rate for each in loads),
        "written_bytes_per_s": sum(each.written_bytes_per_s for each in loads),
        "write_amplification": judge.tried(drive, these, LONGER).waf,
        "lasts_years": None if lasts is None else lasts / YEAR_S,
    }


def _replayed(judge: Judge, drive: int, these: Set) -> list[dict[str, Any]]:
    """Run the halves of the workloads that the placement was not chosen by."""
    foreseen = judge.tried(drive, these, LONGER)
    kind, loads = judge.drives[drive], [judge.loads[n] for n in sorted(these)]
    replayed = None
    if kind.opener is not None:
        replayed = judge.trials[drive].run(loads, 1, LONGER * judge.duration_ns)
    rows = []
    for place, load in enumerate(loads):
        before = foreseen.seen[place]
        after = None if replayed is None else replayed.seen[place]
        off = before.mean_ns / after.mean_ns - 1 if before and after else None
        limit = load.latency_limit_ns
        rows.append(
            {
                "workload": load.name,
                "drive": kind.name,
                "source": foreseen.source,
                "predicted": None if before is None else before.to_json(),
                "replayed": None if after is None else after.to_json(),
                "error": off,
                "keeps_up": None if replayed is None else replayed.keeps_up,
                "limit_ns": limit,
                "kept": None if after is None or limit is None else after.mean_ns <= limit,
            }
        )
    return rows
