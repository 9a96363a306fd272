"""Which runs of a collection a model learns from, and why it does not from others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ssdscope.models.table import Collected

HOST_BOUND_SHARE = 0.05
"""If more runs are host-bound, the rate has a model of its own. Fewer are too few to learn when the
host falls behind, and within what intervals of 90 % leave out."""
FAILED = "failed"
DRIFTED = "drive not in its state"
AGAINST = "against Little's law"


@dataclass(frozen=True)
class Screening:
    """Counts of the runs to learn from.

    Attributes
    ----------
    runs
        All there are.
    left_out
        By reason, how many no model learns from.
    host_bound
        How many are learnt from though the host kept fewer requests in flight than asked for.
    fewest_in_flight
        The least share of the requests asked for that was in flight in one of those; 1 without.
    """

    runs: int
    left_out: dict[str, int]
    host_bound: int
    fewest_in_flight: float

    @classmethod
    def of(cls, rows: Sequence[Collected], split: str = "train") -> Self:
        """Look at the runs of a split."""
        runs = [each for each in rows if each.split == split]
        reasons = [_reason(each) for each in runs if not each.usable]
        bound = [each for each in runs if each.usable and each.host_bound]
        shares = [
            each.row.latency_ns / 1e9 * each.row.iops / each.row.vector.q_dep for each in bound
        ]
        return cls(
            len(runs),
            {name: reasons.count(name) for name in sorted(set(reasons))},
            len(bound),
            min(shares, default=1.0),
        )

    @property
    def rate_apart(self) -> bool:
        """Whether so many runs are host-bound that the rate does not follow from the latency."""
        return self.host_bound > HOST_BOUND_SHARE * self.runs

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {"runs": self.runs, "left_out": self.left_out, "host_bound": self.host_bound}

    def remarks(self) -> list[str]:
        """Say what is left out and what is kept with a mark, a sentence each."""
        found = []
        if self.left_out:
            why = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            found.append(f"{sum(self.left_out.values())} of {self.runs} runs are left out: {why}")
        if self.host_bound:
            apart = ", and the rate has a model of its own" if self.rate_apart else ""
            found.append(
                f"{self.host_bound} of {self.runs} runs are host-bound: up to "
                f"{1 - self.fewest_in_flight:.0%} fewer requests were in flight than asked for. "
                f"They are kept{apart}"
            )
        return found


def _reason(run: Collected) -> str:
    if run.row.failure:
        return FAILED
    if run.against_little:
        return AGAINST
    return DRIFTED
