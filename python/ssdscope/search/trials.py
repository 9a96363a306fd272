"""The trials of a search as they are known so far, and what follows for the next ones."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.search.costs import cost_of
from ssdscope.search.figures import figures_of
from ssdscope.search.fronts import front
from ssdscope.search.limits import excesses, shown
from ssdscope.search.plan import Plan
from ssdscope.search.space import Configuration, sets_of
from ssdscope.search.stopping import Figures, Judge, ratios_of
from ssdscope.search.trying import STOPPED
from ssdscope.sweep import Outcome, Point
from ssdscope.targets import Target, open_target
from ssdscope.targets.opening import read_drive

GIB = 2**30
DONE, STOPPED_EARLY, FAILED, REFUSED, TOO_DEAR = "done", "stopped", "failed", "refused", "too dear"
RUN = (DONE, STOPPED_EARLY, FAILED)
"""What may become of a proposal that was run; the others cost nothing, and count as no trial."""


@dataclass(frozen=True)
class Proposal:
    """A configuration that is asked about.

    Attributes
    ----------
    number
        By which the proposer knows it.
    exact
        Its costs; empty without prices.
    fault
        Why it cannot work, if it cannot.
    """

    number: int
    configuration: Configuration
    point: Point
    exact: dict[str, float]
    fault: str | None = None


@dataclass(frozen=True)
class Trial:
    """What became of a proposal.

    Attributes
    ----------
    status
        What became of it.
    figures
        All that is minimised or limited, if it was run whole; costs anyway.
    part
        Figures after the part of the load.
    reason
        Why there is no more.
    drive
        The drive, with every key, if it was run whole.
    """

    proposal: Proposal
    status: str
    figures: Figures
    part: Figures | None = None
    reason: str | None = None
    drive: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def configuration(self) -> Configuration:
        """The value of each key."""
        return self.proposal.configuration


def propose(plan: Plan, number: int, configuration: Configuration, point: Point) -> Proposal:
    """Look at a configuration before it is run: whether it can work, and what it costs."""
    try:
        fresh = open_target(plan.target, state="fresh", sets=point.sets, seed=point.seed)
    except UsageError as error:
        return Proposal(number, configuration, point, {}, error.message.splitlines()[0])
    return Proposal(number, configuration, point, _costs(plan, fresh))


def point_of(plan: Plan, configuration: Configuration, seed: int, load: Mapping[str, Any]) -> Point:
    """Write a configuration as a run of a sweep."""
    text, _ = read_drive(plan.target)
    return Point(
        target=plan.target,
        state=plan.state,
        sets=sets_of(configuration),
        seed=seed,
        workload=dict(load),
        varied=dict(configuration),
        drive_digest=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
    )


def judge_of(plan: Plan, trials: Sequence[Trial]) -> Judge:
    """Say by what the next trials are judged."""
    done = [each for each in trials if each.status == DONE]
    pairs = [(each.part, each.figures) for each in done if each.part is not None]
    points = [values_of(plan, each) for each in done if keeps_limits(plan, each)]
    return Judge(
        plan.minimise,
        plan.limits,
        ratios_of(pairs),
        tuple(points[place] for place in front(points)),
    )


def trial_of(plan: Plan, proposal: Proposal, outcome: Outcome) -> Trial:
    """Read what became of a proposal that was run."""
    if outcome.record is None:
        reason = outcome.error or "for no reason"
        status = STOPPED_EARLY if reason.startswith(STOPPED) else FAILED
        told = reason.removeprefix(STOPPED)
        return Trial(proposal, status, proposal.exact, outcome.part, told)
    figures = figures_of(outcome.record, (*plan.figures, *proposal.exact))
    lacking = [name for name in plan.figures if name not in figures]
    drive = outcome.record["target"]["drive"]
    if lacking:
        told = f"its run has no {lacking[0]}"
        return Trial(proposal, FAILED, figures, outcome.part, told, drive)
    return Trial(proposal, DONE, figures, outcome.part, drive=drive)


def unrun(plan: Plan, proposal: Proposal) -> Trial | None:
    """Give the trial of a proposal that need not be run; None if it has to be."""
    if proposal.fault is not None:
        return Trial(proposal, REFUSED, {}, reason=proposal.fault)
    for limit in plan.limits:
        if limit.of in proposal.exact and limit.excess(proposal.exact[limit.of]):
            cost = shown(limit.of, proposal.exact[limit.of])
            reason = f"its {limit.of} is {cost}, the limit is {limit}"
            return Trial(proposal, TOO_DEAR, proposal.exact, reason=reason)
    return None


def keeps_limits(plan: Plan, trial: Trial) -> bool:
    """Say whether a trial ran whole, and within all limits."""
    return trial.status == DONE and not excess_of(plan, trial)


def excess_of(plan: Plan, trial: Trial) -> float:
    """Add up how far beyond the limits its figures are."""
    return sum(excesses(plan.limits, trial.figures).values())


def values_of(plan: Plan, trial: Trial) -> tuple[float, ...]:
    """Give what is minimised, of a trial that ran whole."""
    return tuple(trial.figures[name] for name in plan.minimise)


def best_of(plan: Plan, trials: Sequence[Trial]) -> list[Trial]:
    """Give the best trial within the limits, or the front of several figures, in order.

    Of equal ones it is the cheapest.
    """
    kept = sorted(
        (each for each in trials if keeps_limits(plan, each)),
        key=lambda each: each.figures.get("cost", 0.0),
    )
    return [kept[place] for place in front([values_of(plan, each) for each in kept])]


def nearest_of(plan: Plan, trials: Sequence[Trial]) -> Trial | None:
    """Give the trial that breaks the limits least; of those that were run, if any was."""
    ran = any(each.status in RUN for each in trials)
    there = [each for each in trials if each.status == (DONE if ran else TOO_DEAR)]
    return min(there, key=lambda each: excess_of(plan, each), default=None)


def _costs(plan: Plan, fresh: Target) -> dict[str, float]:
    if not plan.prices or fresh.drive is None:
        return {}
    cost = cost_of(plan.prices, fresh.drive)
    return {"cost": cost, "cost_per_gib": cost / (fresh.capacity_bytes / GIB)}
