"""Random choices by name of what is chosen: the same seed always draws the same drive."""

import math
from collections.abc import Sequence
from typing import TypeVar

from ssdscope.seeds import stream

Choice = TypeVar("Choice")


class Dice:
    """Draws from one stream.

    Parameters
    ----------
    seed
        Whole numbers that together name the stream.
    """

    def __init__(self, *seed: int) -> None:
        self._stream = stream(seed, "studies.recovery.dice")

    def chance(self, probability: float) -> bool:
        """Say yes with a probability."""
        return bool(self._stream.random() < probability)

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """Pick one, all equally likely."""
        return choices[int(self._stream.integers(len(choices)))]

    def uniform(self, low: float, high: float) -> float:
        """Draw a number, to four digits, so that a drive file stays readable."""
        return float(f"{self._stream.uniform(low, high):.4g}")

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number between bounds, both included."""
        return int(self._stream.integers(low, high + 1))

    def log_uniform(self, low: float, high: float) -> float:
        """Draw a number of which each magnitude is equally likely, to four digits."""
        return float(f"{math.exp(self._stream.uniform(math.log(low), math.log(high))):.4g}")
