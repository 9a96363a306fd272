"""What the user may say about an import."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssdscope.errors import UsageError, nearest

RATES = {
    "computed": "as MQSim computes it: whole nanoseconds a transfer, none above 1,000 MT/s",
    "stated": "as the file says",
}
"""Ways to read a transfer rate of MQSim."""
TIME_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
"""Units in which FlashSim's delays may be."""


@dataclass(frozen=True)
class ImportOptions:
    """What the user says about an import.

    Attributes
    ----------
    scenario
        Which of a workload file's scenarios, from 1.
    overrides
        By the file's names, values that take the place of what stands there.
    transfer_rate
        One of `RATES`. If absent as MQSim computes it where that is a time above zero, else as
        stated.
    time_unit
        One of `TIME_UNITS`. If absent the one in which all of a FlashSim file's delays are those
        of flash.
    """

    scenario: int = 1
    overrides: Mapping[str, str] = field(default_factory=dict)
    transfer_rate: str | None = None
    time_unit: str | None = None

    def __post_init__(self) -> None:
        """Refuse a way or a unit that there is not."""
        for option, asked, known in (
            ("--transfer-rate", self.transfer_rate, RATES),
            ("--time-unit", self.time_unit, TIME_UNITS),
        ):
            if asked is not None and asked not in known:
                raise UsageError(f"unknown {option} {asked!r}", hint=nearest(asked, known))
