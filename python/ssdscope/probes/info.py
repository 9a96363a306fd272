"""What the registry knows of a probe before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ssdscope.probes.budget import Budget, StageProgress
    from ssdscope.probes.finding import Finding
    from ssdscope.targets.device import Device
    from ssdscope.targets.records import DeviceInfo


@dataclass(frozen=True)
class ProbeInfo:
    """One experiment.

    Attributes
    ----------
    weight
        ``light`` writes nothing, ``standard`` at most one capacity, ``heavy`` more.
    declared_writes_bytes
        The most it will write on a drive, declared before it starts.
    detect
        Called with device, budget, seed and a progress callback; gives each finding as soon as
        it is known.
    """

    name: str
    summary: str
    weight: Literal["light", "standard", "heavy"]
    properties: tuple[str, ...]
    declared_writes_bytes: Callable[[DeviceInfo], int]
    detect: Callable[[Device, Budget, int, StageProgress], Iterable[Finding]]
