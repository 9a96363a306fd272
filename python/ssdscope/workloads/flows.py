"""Several workloads at once or in turn, mirrored to the JSON that the drivers in Rust take."""

import json
from dataclasses import dataclass, replace
from typing import Any, Self

from ssdscope.errors import UsageError, nearest
from ssdscope.seeds import numbered
from ssdscope.workloads.workload import Workload

PRIORITIES = ("urgent", "high", "medium", "low")


@dataclass(frozen=True)
class Flow:
    """One of several workloads.

    Attributes
    ----------
    name
        What it is called in results.
    workload
        What it asks for.
    priority
        Class of its submission queue, one of `PRIORITIES`, on a drive that tells classes
        apart; None for the default.
    turn
        Requests it makes before the next flow has its turn. If any flow says so, all take turns,
        with one request in flight between them; None is then 1.
    """

    name: str
    workload: Workload
    priority: str | None = None
    turn: int | None = None

    def __post_init__(self) -> None:
        """Refuse a class that there is none of."""
        if self.priority is not None and self.priority not in PRIORITIES:
            raise UsageError(
                f"priority: {self.priority!r} is unknown", hint=nearest(self.priority, PRIORITIES)
            )


@dataclass(frozen=True)
class Flows:
    """Workloads that run side by side or in turn, flow ``i`` through submission queue ``i``.

    Attributes
    ----------
    flows
        At least one, of different names.
    exit_all
        As soon as one has made its last request the others make no more.
    """

    flows: tuple[Flow, ...]
    exit_all: bool = False

    @property
    def writes(self) -> bool:
        """Whether any of them writes."""
        return any(flow.workload.writes for flow in self.flows)

    def within(self, capacity_bytes: int) -> Self:
        """Make bytes of shares, on a drive of this size."""
        flows = (
            replace(flow, workload=flow.workload.within(capacity_bytes)) for flow in self.flows
        )
        return replace(self, flows=tuple(flows))

    def seeded(self, seed: int) -> Self:
        """Return them with a seed for each flow: the first has this one."""
        flows = (
            replace(flow, workload=flow.workload.seeded(numbered(seed, number, "workloads.flows")))
            for number, flow in enumerate(self.flows)
        )
        return replace(self, flows=tuple(flows))

    def to_dict(self) -> dict[str, Any]:
        """Give the keys of the JSON form, every one of them."""
        flows = [
            {
                "name": flow.name,
                "priority": flow.priority,
                "turn": flow.turn,
                "workload": flow.workload.to_dict(),
            }
            for flow in self.flows
        ]
        return {"flows": flows, "exit_all": self.exit_all}

    def to_json(self) -> str:
        """Write the plan for the driver."""
        return json.dumps(self.to_dict())


def workloads_of(plan: Workload | Flows) -> list[Workload]:
    """List the workloads of a plan: of several flows each one's."""
    return [plan] if isinstance(plan, Workload) else [flow.workload for flow in plan.flows]
