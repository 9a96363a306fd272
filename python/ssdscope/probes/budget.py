"""How much a user is willing to spend, and who is told how far it has got."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ssdscope.errors import UsageError

StageProgress: TypeAlias = Callable[[str, float], None]
"""Told the stage in a few words, and the share of the whole that is done (0 to 1)."""


@dataclass(frozen=True)
class Budget:
    """Wall time on real drives, repetitions on simulated ones.

    A simulated drive is measured by counts alone, so that the same seed gives the same
    answer on a slow machine.
    """

    name: str
    wall_s: float
    repetitions: int
    heavy: bool = False
    """Whether probes that write more than one capacity may run."""

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read ``default``, ``10m``, ``1h`` or ``full``.

        Raises
        ------
        UsageError
            If it is another word.
        """
        try:
            return _BUDGETS[text]
        except KeyError:
            names = ", ".join(_BUDGETS)
            raise UsageError(f"{text!r} is not a budget", hint=f"one of: {names}") from None


_BUDGETS = {
    "default": Budget("default", wall_s=60, repetitions=1),
    "10m": Budget("10m", wall_s=600, repetitions=8),
    "1h": Budget("1h", wall_s=3600, repetitions=32),
    "full": Budget("full", wall_s=900, repetitions=12, heavy=True),
}


class Deadline:
    """A point in wall time that a measurement on a real drive should not pass."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())


def silent(_stage: str, _share: float) -> None:
    """Tell nobody."""
