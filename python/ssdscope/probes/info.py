"""What the registry knows of a probe before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ssdscope.findings import Finding, Reason
from ssdscope.probes.plan import Plan, State
from ssdscope.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ssdscope.targets.records import DeviceInfo


LEAST_BYTES = 16 * MIB
"""Room for a few hundred of the largest test requests."""


def no_plans(_info: DeviceInfo) -> Sequence[Plan]:
    """Declare no plans."""
    return ()


@dataclass(frozen=True)
class ProbeInfo:
    """One experiment.

    Attributes
    ----------
    weight
        ``light`` writes nothing, ``standard`` at most one capacity, ``heavy`` more; preparation
        is shared by all probes and counted apart.
    properties
        What it answers; every one of them, on every drive.
    cost
        What it takes, in a few words, for `probe list`.
    detect
        Given the bench, with the drive in `state`; gives each finding as soon as it is known.
    state
        What the drive is prepared to before.
    least_bytes
        Of capacity; a smaller drive has no room for the experiment.
    plans
        The largest plans that it may ask for on a drive; what they write is declared with them.
    more
        Plans besides, of a full budget.
    needs
        Properties whose values size its requests, where they are known: what answers them runs
        before. They never decide.
    """

    name: str
    summary: str
    weight: Literal["light", "standard", "heavy"]
    properties: tuple[str, ...]
    cost: str
    detect: Callable[[Any], Iterable[Finding]]
    state: State = State.AS_FOUND
    least_bytes: int = LEAST_BYTES
    plans: Callable[[DeviceInfo], Sequence[Plan]] = no_plans
    more: Callable[[DeviceInfo], Sequence[Plan]] = no_plans
    needs: tuple[str, ...] = ()

    def planned(self, info: DeviceInfo, *, full: bool = False) -> Sequence[Plan]:
        """Give the largest plans that it may ask for."""
        return (*self.plans(info), *(self.more(info) if full else ()))

    def own_writes_bytes(self, info: DeviceInfo, *, full: bool = False) -> int:
        """Give the most that is written besides states that are prepared once for all probes.

        A drive that cannot keep a state is prepared again before each plan that begins with it.
        """
        plans = self.planned(info, full=full)
        again = [] if info.snapshot else [each.state for each in plans if each.state][1:]
        return sum(each.writes_bytes(info) for each in plans) + sum(
            state.writes_bytes(info.capacity_bytes) for state in again
        )

    def states(self, info: DeviceInfo, *, full: bool = False) -> set[State]:
        """Give what the drive is prepared to."""
        planned = self.planned(info, full=full)
        return {self.state, *(each.state for each in planned if each.state)}

    def planned_writes_bytes(self, info: DeviceInfo, *, full: bool = False) -> int:
        """Give the most that is written with preparation, if nothing was prepared before."""
        states = sum(
            each.writes_bytes(info.capacity_bytes) for each in self.states(info, full=full)
        )
        return self.own_writes_bytes(info, full=full) + states

    def refused(self, info: DeviceInfo) -> Reason | None:
        """Say why it does not begin on a target; None if it does."""
        if info.capacity_bytes < self.least_bytes:
            return Reason.RANGE_TOO_SMALL
        if info.kind == "null" and self.least_bytes > 0:
            return Reason.NOT_A_RAW_DEVICE
        return None
