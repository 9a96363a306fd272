"""What must hold of a placement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from ssdscope.advise.addresses import whole_parts
from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.trying import Seen
from ssdscope.advise.placement.workloads import Load
from ssdscope.errors import UsageError
from ssdscope.units import format_binary, format_duration, parse_duration, significant

YEAR_S = 365.25 * 86_400
RELAXED = {
    "capacity": "drives held more",
    "latency": "no workload had a bound on its latency",
    "lifetime": "drives need not last so long",
    "count": "there were more drives of each kind",
    "cost": "it might cost more",
}
"""Each limit, and what would have to be so that it is none."""


@dataclass(frozen=True)
class Limits:
    """Which limits count, and those that are numbers.

    Attributes
    ----------
    lifetime_s
        How long each drive must last at what is written to it; None for no matter.
    cost
        The most that all drives together may cost; None for no matter.
    without
        Limits that are left out, of `RELAXED`: to find the one that is in the way.
    """

    lifetime_s: float | None = None
    cost: float | None = None
    without: frozenset[str] = frozenset()

    def relaxed(self, name: str) -> Self:
        """Leave a limit out."""
        return replace(self, without=self.without | {name})

    def counts(self, name: str) -> bool:
        """Whether a limit holds."""
        return name not in self.without

    def given(self, loads: Sequence[Load]) -> list[str]:
        """Name the limits that there are; capacity and count always are."""
        there = {
            "capacity": True,
            "latency": any(each.latency_limit_ns is not None for each in loads),
            "lifetime": self.lifetime_s is not None,
            "count": True,
            "cost": self.cost is not None,
        }
        return [name for name, given in there.items() if given]


def parse_lifetime(text: str) -> float:
    """Read a lifetime in seconds: ``5y``, ``180d``.

    Raises
    ------
    UsageError
        If it is none.
    """
    years = text.strip().removesuffix("y")
    try:
        found = float(years) * YEAR_S if years != text.strip() else parse_duration(text) / 1e9
    except (ValueError, UsageError) as error:
        raise UsageError(f"{text!r} is not a lifetime", hint="write it as 5y or 180d") from error
    if not 0 < found < 1e12:
        raise UsageError(f"{text!r} is not a lifetime", hint="write it as 5y or 180d")
    return found


def require_possible(loads: Sequence[Load], drives: Sequence[Drive], limits: Limits) -> None:
    """Refuse limits that no placement can keep, before anything is simulated.

    Raises
    ------
    UsageError
        With both numbers of the contradiction.
    """
    if limits.cost is not None and limits.cost < min(each.price for each in drives):
        cheapest = min(drives, key=lambda each: each.price)
        raise UsageError(
            f"--max-cost {limits.cost:,g} buys no drive: the cheapest, {cheapest.name}, costs "
            f"{cheapest.price:,g}"
        )
    largest = max(drives, key=lambda each: each.capacity_bytes)
    for load in loads:
        if load.size_bytes > largest.capacity_bytes:
            raise UsageError(
                f"workload {load.name!r} takes {format_binary(load.size_bytes)}, and the largest "
                f"drive, {largest.name}, holds {format_binary(largest.capacity_bytes)}",
                hint="--fit compact packs the megabytes that a trace touches"
                if load.source.startswith("trace")
                else "a workload lies on one drive: split it, or add a larger drive",
            )
    need = sum(whole_parts(each.size_bytes) for each in loads)
    room = sum(each.capacity_bytes * each.count for each in drives)
    if need > room:
        raise UsageError(
            f"the workloads take {format_binary(need)}, and all drives together hold "
            f"{format_binary(room)}",
            hint="add a drive, or a higher count in the cost file",
        )
    _require_endurance(loads, drives, limits)


def _require_endurance(loads: Sequence[Load], drives: Sequence[Drive], limits: Limits) -> None:
    known = [each.endurance_bytes for each in drives]
    if limits.lifetime_s is None or None in known:
        return
    most = max(each for each in known if each is not None)
    for load in loads:
        if load.written_bytes_per_s * limits.lifetime_s > most:
            raise UsageError(
                f"workload {load.name!r} writes "
                f"{significant(load.written_bytes_per_s * limits.lifetime_s / 1e12)} TB in "
                f"{significant(limits.lifetime_s / YEAR_S)} years, and the drive that endures "
                f"most takes {significant(most / 1e12)} TB",
                hint="a shorter --lifetime, or a drive that endures more",
            )


def over_latency(load: Load, seen: Seen) -> str | None:
    """Say that a workload may wait too long: the end of its interval counts; None if not."""
    limit, waits = load.latency_limit_ns, seen.mean_ns if seen.high_ns is None else seen.high_ns
    if limit is None or waits <= limit:
        return None
    mean, most = format_duration(seen.mean_ns), format_duration(waits)
    return f"{load.name} waits {mean} (up to {most}), {format_duration(limit)} allowed"
