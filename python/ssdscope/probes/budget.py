"""How much a user is willing to spend, and who is told how far it has got."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ssdscope.errors import UsageError
from ssdscope.units import parse_duration

if TYPE_CHECKING:
    from ssdscope.targets.records import Progress

StageProgress: TypeAlias = Callable[[str, float], None]
"""Told the stage in a few words, and the share of the whole that is done (0 to 1)."""

DEFAULT_S, FULL_S = 60.0, 900.0
LEAST_S = 1.0
SURE_AFTER_S, SURE_TIMES = 1.0, 1.5
"""A call is given up once it has run so long and would need so many times what is left."""
TIME_OVER = "its time is over"


@dataclass(frozen=True)
class Budget:
    """Time on real drives; on simulated ones work that takes about so long, and repetitions.

    Attributes
    ----------
    name
        As it was typed.
    wall_s
        Seconds of the machine's clock, or of simulated work (`work_s`).
    repetitions
        Of measurements on simulated drives: one for each minute.
    heavy
        Whether probes that write more than one capacity may run.
    """

    name: str
    wall_s: float
    repetitions: int
    heavy: bool = False

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read ``default``, a time as ``90s``, ``5m`` or ``2h``, ``full`` or ``full:2h``.

        Raises
        ------
        UsageError
            If it is something else.
        """
        kind, _, given = text.partition(":")
        usual_s = {"default": DEFAULT_S, "full": FULL_S}.get(text)
        seconds = usual_s or _seconds(text, given if kind == "full" else text)
        return cls(text, seconds, max(1, round(seconds / 60)), heavy=kind == "full")


def _seconds(text: str, given: str) -> float:
    hint = "write a time as 90s, 5m or 2h; default (60s); full (15m, with heavy probes) or full:2h"
    try:
        seconds = parse_duration(given) / 1e9
    except UsageError:
        raise UsageError(f"{text!r} is not a budget", hint=hint) from None
    if seconds < LEAST_S:
        raise UsageError(f"a budget of {text} is too short to measure anything", hint=hint)
    return seconds


class Deadline:
    """A point in time that a measurement should not pass.

    Parameters
    ----------
    seconds
        From now on.
    clock
        Of the machine if absent; on a simulated drive the work that it was given.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self._clock())

    def until(self, *, foresee: bool) -> Callable[[Progress], str]:
        """Make what a `Watch` asks: why a call to a real drive must end now, or nothing.

        Parameters
        ----------
        foresee
            Whether to end also a call that has run for a second and would surely not end in time.
        """
        begun = self._clock()

        def why(report: Progress) -> str:
            left, took = self.left_s, self._clock() - begun
            if left <= 0:
                return TIME_OVER
            rest = took / report.fraction - took if foresee and report.fraction else 0.0
            if took < SURE_AFTER_S or rest < SURE_TIMES * left:
                return ""
            return f"it would take {rest:.0f} s more, and {left:.0f} s are left"

        return why


def silent(_stage: str, _share: float) -> None:
    """Tell nobody."""
