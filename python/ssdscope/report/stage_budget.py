"""The part of a budget that a stage of a page may spend."""

from __future__ import annotations

from dataclasses import dataclass

from ssdscope.probes.budget import DEFAULT_S, Budget


@dataclass(frozen=True)
class StageBudget(Budget):
    """A part of the time of a budget; what counts for all of it stays as it was asked for.

    Attributes
    ----------
    asked_s
        The time of the whole.
    """

    asked_s: float = DEFAULT_S


def part(budget: Budget, seconds: float) -> StageBudget:
    """Give a part of the time of a budget, or of a part of one."""
    return StageBudget(
        budget.name, seconds, budget.repetitions, budget.heavy, asked_s=_asked_s(budget)
    )


def brevity(budget: Budget) -> float:
    """Say what is left of counts on a simulated drive: less where less than a minute was asked."""
    return min(1.0, _asked_s(budget) / DEFAULT_S)


def _asked_s(budget: Budget) -> float:
    return budget.asked_s if isinstance(budget, StageBudget) else budget.wall_s
