"""Rates of other simulators, as they were measured on another day.

One core of a machine with two, requests per second of wall time after start-up, November 2026:
MQSim (commit 7ec40e3, g++ 12 -O3), DiskSim 4.0 with its SSD extension (64 bits, -O2), FlashSim
(53098b0). Ratios to them show the order of magnitude: neither the machine nor the hour is the same.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A rate of another simulator.

    Parameters
    ----------
    name
        Which one.
    low, high
        Its rate, or the range of it, in requests per second.
    """

    name: str
    low: float
    high: float

    def beside(self, per_s: float) -> str:
        """Return how many times as fast `per_s` is, in words."""
        ratios = sorted((per_s / self.high, per_s / self.low))
        times = " to ".join(dict.fromkeys(f"{ratio:.1f}" for ratio in ratios))
        rates = " to ".join(dict.fromkeys(f"{rate / 1e6:.3g}" for rate in (self.low, self.high)))
        return f"{times} x {self.name}'s {rates} M of another day"


MQSIM_READS = Peer("MQSim", 0.366e6, 0.366e6)
MQSIM_WRITTEN_READS = Peer("MQSim", 0.21e6, 0.28e6)
MQSIM_OVERWRITES = Peer("MQSim", 0.11e6, 0.293e6)
MQSIM_DEMAND_READS = Peer("MQSim", 0.047e6, 0.047e6)
MQSIM_IN_ORDER = Peer("MQSim", 0.118e6, 0.118e6)
DISKSIM = Peer("DiskSim", 0.106e6, 0.26e6)
FLASHSIM_BAST = Peer("FlashSim", 0.025e6, 0.025e6)
FLASHSIM_FAST = Peer("FlashSim", 0.0012e6, 0.0012e6)
