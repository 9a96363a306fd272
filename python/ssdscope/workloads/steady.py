"""When the rate of a workload counts as come to rest.

A bare window of rates is not enough (PROBING.md 3.6): before free blocks run out a drive is
steady too, and just after it undershoots. So the window counts only once twice the region has
been written. `rounds` is who writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ROUND_SHARE = 0.10
"""A round writes this share of the region."""
GATE_REGIONS = 2.0
"""Nothing is judged before so many regions' worth is written."""
WINDOW_ROUNDS = 5
RANGE_MAX = 0.05
"""Of the rates in the window: highest minus lowest, as a share of their mean."""
SLOPE_MAX = 0.02
"""What the straight line through them gains or loses from end to end, likewise."""


@dataclass(frozen=True)
class Steadiness:
    """How a drive came to rest, or did not.

    Attributes
    ----------
    reached
        Whether the last rounds agree, and enough was written before them.
    rates_bytes_per_s
        Of every round, in order.
    bytes_written
        In all rounds.
    round_bytes
        Written in each.
    least_bytes
        To be written before anything was judged; None where no bound was known.
    elapsed_ns
        On the drive's clock.
    """

    reached: bool
    rates_bytes_per_s: tuple[float, ...]
    bytes_written: int
    round_bytes: int = 0
    least_bytes: int | None = 0
    elapsed_ns: int = 0

    @property
    def level_bytes_per_s(self) -> float:
        """The mean of the rates in the last window; 0 where there is none."""
        return level_of(self.rates_bytes_per_s)

    @property
    def drift(self) -> float:
        """By what share the rate may still change, judged by the last two windows.

        What changed from the one to the other is expected once more for each of the two; 0
        where rounds scatter as much, or are too few.
        """
        before = self.rates_bytes_per_s[-2 * WINDOW_ROUNDS : -WINDOW_ROUNDS]
        after = self.rates_bytes_per_s[-WINDOW_ROUNDS:]
        if len(before) < WINDOW_ROUNDS:
            return 0.0
        one, other = sum(before) / WINDOW_ROUNDS, sum(after) / WINDOW_ROUNDS
        squares = sum((rate - one) ** 2 for rate in before)
        squares += sum((rate - other) ** 2 for rate in after)
        error = (squares / (WINDOW_ROUNDS - 1) / WINDOW_ROUNDS) ** 0.5
        return 2 * (other - one) / other if abs(other - one) > 2 * error else 0.0

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self) | {"level_bytes_per_s": self.level_bytes_per_s}


def settled(
    rates: Sequence[float],
    round_share: float = ROUND_SHARE,
    gate_regions: float = GATE_REGIONS,
) -> bool:
    """Say whether the rates of rounds, in order, have come to rest.

    Parameters
    ----------
    rates
        Of rounds that each wrote `round_share` of the region; positive.
    round_share
        The share.
    gate_regions
        How many regions' worth they write at least.
    """
    # Rounds are whole requests, so their share is a little below what was asked for.
    if len(rates) < WINDOW_ROUNDS or round(len(rates) * round_share, 2) < gate_regions:
        return False
    window = rates[-WINDOW_ROUNDS:]
    mean = sum(window) / WINDOW_ROUNDS
    slope = slope_of(window)
    flat = max(window) - min(window) <= RANGE_MAX * mean
    return flat and abs(slope) <= SLOPE_MAX


def level_of(rates: Sequence[float]) -> float:
    """Give the mean of the rates in the last window; 0 where there is none."""
    window = rates[-WINDOW_ROUNDS:]
    return sum(window) / len(window) if window else 0.0


def slope_of(rates: Sequence[float]) -> float:
    """Give what the line through rates gains from end to end, as a share of their mean."""
    middle = (len(rates) - 1) / 2
    places = [index - middle for index in range(len(rates))]
    slope = sum(place * rate for place, rate in zip(places, rates, strict=True))
    slope /= sum(place * place for place in places)
    return slope * (len(rates) - 1) / (sum(rates) / len(rates))
