"""What the registry knows of a probe before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdscope.probes.states import State, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ssdscope.findings import Finding
    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo


LEAST_BYTES = 16 << 20
"""Room for a few hundred of the largest test requests."""


def no_writes(_info: DeviceInfo) -> int:
    """Declare that nothing is written."""
    return 0


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
    declared_writes_bytes
        The most it will write on a drive, declared before it starts, preparation not counted.
    state
        What the drive is prepared to before.
    least_bytes
        Of capacity; a smaller drive has no room for the experiment.
    """

    name: str
    summary: str
    weight: Literal["light", "standard", "heavy"]
    properties: tuple[str, ...]
    cost: str
    detect: Callable[[Bench], Iterable[Finding]]
    declared_writes_bytes: Callable[[DeviceInfo], int] = no_writes
    state: State = State.AS_FOUND
    least_bytes: int = LEAST_BYTES

    def planned_writes_bytes(self, info: DeviceInfo) -> int:
        """Give the most that is written with preparation, if nothing was prepared before."""
        window = Window(0, info.capacity_bytes)
        return self.declared_writes_bytes(info) + self.state.writes_bytes(window)
