"""What is measured, apart from what is made of it: a plan is run once and gives one series.

A family of properties asks for plans, and decides on their series alone. So a plan
holds all that its requests hang on: two that are equal have the same series, which is kept
(`record`) and read again where nothing but the decision is to change. It begins with a drive in a
state, and may end with a stop instead, which has its reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol

from ssdscope.findings import Evidence, Reason

if TYPE_CHECKING:
    import numpy as np

    from ssdscope.inference.series import Series
    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.targets.records import DeviceInfo

__all__ = ["SETTLE_NS", "Ask", "Plan", "State", "Stopped"]

SETTLE_NS = 2_000_000_000
"""Idle time after preparing, in which a drive empties its buffer and tidies up."""


class State(Enum):
    """What was done to a drive before an experiment."""

    AS_FOUND = "as found"
    FILLED = "filled in order"
    SHUFFLED = "filled, then as much overwritten at random"

    def writes_bytes(self, capacity_bytes: int) -> int:
        """Return the bytes that preparing it writes, from whatever state."""
        passes = {State.AS_FOUND: 0, State.FILLED: 1, State.SHUFFLED: 2}
        return passes[self] * capacity_bytes


class Stopped(Exception):  # noqa: N818 - no error: an answer that ends a probe
    """A probe cannot go on, for a reason of the closed list; what it left open gets that answer."""

    def __init__(
        self, reason: Reason, detail: str = "", *, evidence: Evidence | None = None
    ) -> None:
        super().__init__(detail or str(reason))
        self.reason = reason
        self.detail = detail
        self.evidence = evidence or Evidence(detail=detail or None)


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """One measurement: a frozen dataclass whose fields say all that its requests hang on.

    Attributes
    ----------
    state
        What the drive is brought into before; None if it may be in any.
    write_cache, read_cache
        Whether they stay on. Those that the drive lets be switched off are off otherwise.
    number
        Tells repetitions apart, which are drawn anew.
    whole
        Whether it says nothing until all is written: it is not begun if that takes too long.
    """

    whole: ClassVar[bool] = False

    state: State | None = State.AS_FOUND
    write_cache: bool = False
    read_cache: bool = False
    number: int = 0

    @abstractmethod
    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Ask the drive, which is in its state, and give what came of it.

        It is repeated as a whole where others came across (`Reason.INTERFERENCE`).
        """

    def writes_bytes(self, info: DeviceInfo) -> int:  # noqa: ARG002
        """Give the most that it writes, its state not counted."""
        return 0


class Ask(Protocol):
    """What a family sees of a drive: series of plans, and what is known already."""

    @property
    def info(self) -> DeviceInfo:
        """What a host knows of the drive."""

    @property
    def heavy(self) -> bool:
        """Whether plans may be asked for that only a full budget allows."""

    def take(self, plan: Plan) -> Series:
        """Give the series of a plan, which is measured or was recorded.

        Raises
        ------
        Stopped
            If it cannot be measured; the reason is that of the finding.
        """

    def found(self, name: str) -> float | str | None:
        """Give the value of a property that was detected; None otherwise."""

    def size(self, name: str, *, unknown: float) -> float:
        """Give a size that was detected: 0 where there is none, `unknown` where it is not known."""

    def about(self, name: str) -> float | None:
        """Give what a size is about, also where it is not sure enough to be told."""

    def progress(self, stage: str, share: float) -> None:
        """Tell how far the family has got (0 to 1)."""
