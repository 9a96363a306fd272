"""What a budget allows, said before the first write; and what was used of it, by stage."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.session import before, planned_writes_bytes
from ssdscope.targets.endurance import disk_bytes, rated_bytes
from ssdscope.targets.metered import Spent
from ssdscope.units import format_capacity, format_percent, parse_size

if TYPE_CHECKING:
    from ssdscope.targets import Target

UNASKED_LIFE = 0.001
"""Of what a drive is rated for, that may be written without ``--budget full``."""
UNASKED_DRIVE = 0.5
"""Where nobody says what it is rated for: of the drive that is written to, as often as that is
written in a thousandth of a usual life (0.3 times a day, five years)."""


@dataclass(frozen=True)
class Part:
    """A probe or a stage, and what it may spend.

    Attributes
    ----------
    writes_bytes
        The most that it writes; of a simulated drive to copies of it.
    seconds
        What it is meant to take, on two cores; None of a probe, which shares with the others.
        What one leaves is for those behind it.
    """

    name: str
    writes_bytes: int
    seconds: float | None = None


@dataclass(frozen=True)
class Plan:
    """What a command may spend.

    Attributes
    ----------
    parts
        In order; what they share, as the preparation of a state, counts in `writes_bytes` once.
    writes_bytes
        The most that is written in all.
    rated_bytes
        What the target takes in its life, at a write amplification of 1; None if unknown.
    drive_bytes
        Size of the real drives that are written to; None if there is none.
    simulated
        Whether counted work binds.
    seconds
        What everything takes, with what is not measuring: at least what that needs.
    stages_s
        What is left of it to all stages, those that were done before among them.
    reads_first_bytes
        The most that is read to see that writing loses nobody's data.
    trace_refused
        Why the trace that was given cannot be replayed; None if it can.
    """

    uri: str
    budget: Budget
    parts: tuple[Part, ...]
    writes_bytes: int
    rated_bytes: int | None
    drive_bytes: int | None
    simulated: bool
    reads_first_bytes: int = 0
    seconds: float = 0.0
    stages_s: float = 0.0
    trace_refused: str | None = None

    def writes_of(self, name: str) -> int:
        """Give the most that a part writes; nothing where it has none."""
        return next((part.writes_bytes for part in self.parts if part.name == name), 0)

    def share_of(self, writes_bytes: int) -> float | None:
        """Give what so many bytes are of what the target is rated for."""
        return None if not self.rated_bytes else writes_bytes / self.rated_bytes

    @property
    def share_of_life(self) -> float | None:
        """What is written, as a share of what the target is rated for."""
        return self.share_of(self.writes_bytes)

    @property
    def unasked_bytes(self) -> int | None:
        """What may be written without a full budget; None if nothing real is written."""
        return unasked_bytes(self.rated_bytes, self.drive_bytes)

    @property
    def needs_full(self) -> bool:
        """Whether a larger budget has to be asked for."""
        most = self.unasked_bytes
        return most is not None and self.writes_bytes > most and not self.budget.heavy

    def require_asked(self) -> None:
        """Refuse to write more to a real drive than anybody would expect.

        Raises
        ------
        UsageError
            If it would be more, and the budget is not ``full``.
        """
        if not self.needs_full:
            return
        most = format_capacity(self.unasked_bytes or 0)
        why = "a thousandth of what it is rated for" if self.rated_bytes else "half of that drive"
        raise UsageError(
            f"this would write up to {format_capacity(self.writes_bytes)} to the drive of "
            f"{self.uri}, and more than {most}, {why}, has to be asked for",
            hint="--budget full allows it; --dry-run says what would write how much; without "
            "--destroy-data nothing is written",
        )

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "budget": self.budget.name,
            "seconds": self.seconds,
            "parts": [
                asdict(part) | {"share_of_life": self.share_of(part.writes_bytes)}
                for part in self.parts
            ],
            "writes_bytes": self.writes_bytes,
            "reads_first_bytes": self.reads_first_bytes,
            "rated_bytes": self.rated_bytes,
            "share_of_life": self.share_of_life,
            "unasked_bytes": self.unasked_bytes,
            "needs_full_budget": self.needs_full,
            "trace_refused": self.trace_refused,
        }


def unasked_bytes(rated: int | None, drive: int | None) -> int | None:
    """Give what may be written to a real drive without being asked for."""
    if drive is None:
        return None
    return int(UNASKED_LIFE * rated if rated else UNASKED_DRIVE * drive)


def rated(given: int | str | None) -> int | None:
    """Read what a drive is rated for in its life: bytes, or a size as people write it.

    Raises
    ------
    UsageError
        If it is no size.
    """
    return None if given is None else parse_size(str(given))


def of_probes(
    target: Target, budget: Budget, chosen: Sequence[ProbeInfo], rated: int | None = None
) -> Plan:
    """Say what probes may spend, with those that they need first.

    Parameters
    ----------
    chosen
        The probes, in order.
    rated
        Bytes that the user says the drive is rated for.
    """
    info, chosen = target.device.info, [*before(chosen), *chosen]
    planned = partial(planned_writes_bytes, info=info, full=budget.heavy)
    parts = tuple(Part(each.name, planned([each])) for each in chosen)
    most = planned(chosen)
    drive = disk_bytes(target) if info.writable else None
    known, simulated = rated or rated_bytes(target), info.clock == "virtual"
    looked_at = looked_at_bytes(target, most)
    return Plan(target.uri, budget, parts, most, known, drive, simulated, looked_at, budget.wall_s)


def looked_at_bytes(target: Target, writes_bytes: int) -> int:
    """Give the most that is read before it is written: each place once, whatever is written."""
    return min(writes_bytes, target.capacity_bytes) if target.reads_before_writes else 0


@dataclass(frozen=True)
class Took:
    """What a stage took.

    Attributes
    ----------
    seconds
        Of the machine's clock.
    processor_seconds
        Of all cores.
    counted_seconds
        What its work comes to on two cores, counted; only of a simulated drive.
    """

    seconds: float
    processor_seconds: float
    counted_seconds: float


@dataclass
class Account:
    """What was used of a budget, stage by stage.

    Attributes
    ----------
    plan
        What was allowed.
    begun_s
        When its time began, by `time.monotonic`.
    ready_s
        When the first stage began. What a busy machine needs longer to load what measures, it does
        not take from the stages: that is planned for apart.
    earlier_s
        Seconds of stages that ended before, in another process.
    worked_s
        What stages on a simulated drive took, counted.
    """

    plan: Plan
    begun_s: float = field(default_factory=time.monotonic)
    ready_s: float = field(default_factory=time.monotonic)
    earlier_s: float = 0.0
    worked_s: float = 0.0
    stages: list[tuple[dict[str, Any], Spent]] = field(default_factory=list)

    @property
    def used_s(self) -> float:
        """Seconds of the machine's clock that were used."""
        return self.earlier_s + time.monotonic() - self.begun_s

    @property
    def left_s(self) -> float:
        """Seconds that are left to stages, never negative; of a simulated drive counted ones."""
        measured_s = self.earlier_s + time.monotonic() - self.ready_s
        used_s = self.worked_s if self.plan.simulated else measured_s
        return max(0.0, self.plan.stages_s - used_s)

    def add(
        self,
        name: str,
        took: Took,
        allowed_s: float,
        spent: Spent,
        *,
        cut_off: bool = False,
    ) -> None:
        """Enter a stage that has ended, or was cut off; its meter may run on with copies."""
        row = {"name": name, **asdict(took), "allowed_seconds": allowed_s, "cut_off": cut_off}
        self.stages.append((row, spent))
        self.worked_s += 0.0 if cut_off else took.counted_seconds

    def take_up(self, row: Mapping[str, Any]) -> None:
        """Enter a stage of another process, as `to_json` wrote it.

        The time of a stage that was cut off is not counted: it is measured anew.
        """
        counts = [row[name] for name in Spent().to_json()]
        told = {key: each for key, each in row.items() if key not in Spent().to_json()}
        self.stages.append((told, Spent(*counts)))
        self.earlier_s += 0.0 if row["cut_off"] else row["seconds"]
        self.worked_s += 0.0 if row["cut_off"] else row["counted_seconds"]

    def to_json(self) -> dict[str, Any]:
        """Give what was allowed and what was used, as plain data."""
        total, rated = Spent(), self.plan.rated_bytes
        for _, spent in self.stages:
            total.add(spent.requests, spent.bytes_read, spent.bytes_written)
        return {
            "name": self.plan.budget.name,
            "seconds": self.plan.seconds,
            "used_seconds": self.used_s,
            "binds": "work" if self.plan.simulated else "time",
            **total.to_json(),
            "planned_writes_bytes": self.plan.writes_bytes,
            "rated_bytes": rated,
            "share_of_life": total.bytes_written / rated if rated else None,
            "stages": [row | spent.to_json() for row, spent in self.stages],
        }


def plan_in_words(plan: Plan) -> str:
    """Say in a sentence what a plan may spend."""
    time = f"{plan.seconds:.3g} s"
    took = f"work that takes about {time}" if plan.simulated else f"{time} of time"
    text = f"may spend {took} and write up to {format_capacity(plan.writes_bytes)}"
    if plan.share_of_life is not None and plan.writes_bytes:
        text += f", {format_percent(plan.share_of_life)} of what it is rated for"
    if plan.seconds > plan.budget.wall_s:
        text += (
            f"; {plan.budget.wall_s:g} s were asked for, which is less than it takes to start, "
            "to look and to write the page"
        )
    if plan.reads_first_bytes:
        looked_at = format_capacity(plan.reads_first_bytes)
        text += f"; before, up to {looked_at} are read to see that nobody's data are lost"
    if plan.simulated and plan.writes_bytes:
        text += "; it is simulated, and left as it was found"
    if plan.trace_refused is not None:
        text += f"; the trace cannot be replayed: {plan.trace_refused}"
    return text


def in_words(used: dict[str, Any]) -> str:
    """Say in a line what was used of a budget, as `Account.to_json` gives it."""
    allowed = used["seconds"]
    if used["binds"] == "time":
        took = f"{used['used_seconds']:.1f} s of {allowed:g} s"
    else:
        took = f"{used['used_seconds']:.1f} s of this machine's time"
    parts = [
        took,
        f"{used['requests']:,} requests",
        f"{format_capacity(used['bytes_written'])} written",
        f"{format_capacity(used['bytes_read'])} read",
    ]
    if used["share_of_life"] is not None:
        parts.append(f"{format_percent(used['share_of_life'])} of the rated writes")
    return ", ".join(parts)
