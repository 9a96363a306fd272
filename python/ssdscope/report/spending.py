"""What a budget allows, said before the first write; and what was used of it, by stage."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.registry import choose
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
STAGE_BYTES = 8 << 30
"""A stage behind the probes may write so much, or one capacity if that is more..."""
SUSTAINED_TIMES = 8
"""Of that, what may be written until writes come to rest."""
STAGE_UNASKED = 0.125
"""... but no more than this part of what may be written without being asked for."""


@dataclass(frozen=True)
class Part:
    """A probe or a stage, and the most that it writes; None if only to copies of the drive."""

    name: str
    writes_bytes: int | None


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
        Whether counted work binds, and stages behind the probes write to copies.
    reads_first_bytes
        The most that is read to see that writing loses nobody's data.
    """

    uri: str
    budget: Budget
    parts: tuple[Part, ...]
    writes_bytes: int
    rated_bytes: int | None
    drive_bytes: int | None
    simulated: bool
    reads_first_bytes: int = 0

    def writes_of(self, name: str) -> int | None:
        """Give the most that a part writes; None where nothing real is written."""
        if self.drive_bytes is None:
            return None
        return next(part.writes_bytes for part in self.parts if part.name == name)

    @property
    def share_of_life(self) -> float | None:
        """What is written, as a share of what the target is rated for."""
        return None if not self.rated_bytes else self.writes_bytes / self.rated_bytes

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
            "seconds": self.budget.wall_s,
            "parts": [
                {"name": part.name, "writes_bytes": part.writes_bytes} for part in self.parts
            ],
            "writes_bytes": self.writes_bytes,
            "reads_first_bytes": self.reads_first_bytes,
            "rated_bytes": self.rated_bytes,
            "share_of_life": self.share_of_life,
            "unasked_bytes": self.unasked_bytes,
            "needs_full_budget": self.needs_full,
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
    looked_at = _looked_at_bytes(target, most)
    return Plan(target.uri, budget, parts, most, known, drive, simulated, looked_at)


def _looked_at_bytes(target: Target, writes_bytes: int) -> int:
    """Give the most that is read before it is written: each place once, whatever is written."""
    return min(writes_bytes, target.capacity_bytes) if target.reads_before_writes else 0


def of_page(
    target: Target,
    budget: Budget,
    stages: Sequence[str],
    rated: int | None = None,
    *,
    probed: bool = False,
) -> Plan:
    """Say what a page may spend.

    Parameters
    ----------
    stages
        Those that write behind the probes, by name.
    rated
        Bytes that the user says the drive is rated for.
    probed
        Whether the probes have run already.
    """
    probing = of_probes(target, budget, [] if probed else choose("all", budget), rated)
    parts = tuple(
        Part(name, _stage_writes_bytes(name, probing, target.capacity_bytes)) for name in stages
    )
    total = probing.writes_bytes + sum(part.writes_bytes or 0 for part in parts)
    return replace(
        probing,
        parts=probing.parts + parts,
        writes_bytes=total,
        reads_first_bytes=_looked_at_bytes(target, total),
    )


def _stage_writes_bytes(name: str, probing: Plan, capacity_bytes: int) -> int | None:
    """Give the most that a stage behind the probes writes to a real drive."""
    unasked = probing.unasked_bytes
    if unasked is None:
        return None if probing.simulated else 0
    most = max(capacity_bytes, STAGE_BYTES)
    if name == "sustained":  # which is only asked for with a full budget
        return SUSTAINED_TIMES * most if probing.budget.heavy else 0
    return most if probing.budget.heavy else min(most, int(STAGE_UNASKED * unasked))


@dataclass
class Account:
    """What was used of a budget, stage by stage.

    Attributes
    ----------
    plan
        What was allowed.
    begun_s
        When its time began, by `time.monotonic`.
    earlier_s
        Seconds of stages that ended before, in another process.
    """

    plan: Plan
    begun_s: float = field(default_factory=time.monotonic)
    earlier_s: float = 0.0
    stages: list[tuple[dict[str, Any], Spent]] = field(default_factory=list)

    @property
    def used_s(self) -> float:
        """Seconds of the machine's clock that were used."""
        return self.earlier_s + time.monotonic() - self.begun_s

    @property
    def left_s(self) -> float:
        """Seconds of the machine's clock that are left, never negative."""
        return max(0.0, self.plan.budget.wall_s - self.used_s)

    def add(
        self,
        name: str,
        seconds: float,
        allowed_s: float | None,
        spent: Spent,
        *,
        cut_off: bool = False,
    ) -> None:
        """Enter a stage that has ended, or was cut off; its meter may run on with copies."""
        row = {"name": name, "seconds": seconds, "allowed_seconds": allowed_s, "cut_off": cut_off}
        self.stages.append((row, spent))

    def take_up(self, row: Mapping[str, Any]) -> None:
        """Enter a stage of another process, as `to_json` wrote it.

        The time of a stage that was cut off is not counted: it is measured anew.
        """
        counts = [row[name] for name in Spent().to_json()]
        told = {key: row[key] for key in ("name", "seconds", "allowed_seconds", "cut_off")}
        self.stages.append((told, Spent(*counts)))
        self.earlier_s += 0.0 if row["cut_off"] else row["seconds"]

    def to_json(self) -> dict[str, Any]:
        """Give what was allowed and what was used, as plain data."""
        total, rated = Spent(), self.plan.rated_bytes
        for _, spent in self.stages:
            total.add(spent.requests, spent.bytes_read, spent.bytes_written)
        return {
            "name": self.plan.budget.name,
            "seconds": self.plan.budget.wall_s,
            "used_seconds": self.used_s,
            "binds": "work" if self.plan.simulated else "time",
            **total.to_json(),
            "planned_writes_bytes": self.plan.writes_bytes,
            "rated_bytes": rated,
            "share_of_life": total.bytes_written / rated if rated else None,
            "stages": [row | spent.to_json() for row, spent in self.stages],
        }


def plan_in_words(plan: Plan, *, listed: bool = True) -> str:
    """Say in a sentence what a plan may spend.

    Parameters
    ----------
    listed
        Whether its parts stand above it, each with a number or without one.
    """
    time = f"{plan.budget.wall_s:g} s"
    took = f"work that takes about {time}" if plan.simulated else f"{time} of time"
    copies = any(part.writes_bytes is None for part in plan.parts)
    if copies and not plan.writes_bytes:
        return f"may spend {took}, and writes to copies of it only"
    text = f"may spend {took} and write up to {format_capacity(plan.writes_bytes)}"
    if plan.share_of_life is not None and plan.writes_bytes:
        text += f", {format_percent(plan.share_of_life)} of what it is rated for"
    if plan.reads_first_bytes:
        looked_at = format_capacity(plan.reads_first_bytes)
        text += f"; before, up to {looked_at} are read to see that nobody's data are lost"
    if plan.simulated and plan.writes_bytes:
        text += "; it is simulated, and left as it was found"
    if listed and copies:
        text += ": stages without a number write to copies of it, as far as their work goes"
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
