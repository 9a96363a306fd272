"""A search from its plan to the best configuration; what the journal holds is not run again.

Configurations are proposed `Plan.at_once` at a time and told in the order they were proposed, so
that the search is the same whichever trial ends first, on however many cores, and after an
interruption: proposals come again, and the journal says what became of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.search.figures import missing_hint
from ssdscope.search.limits import excesses
from ssdscope.search.plan import Plan
from ssdscope.search.proposing import Proposer
from ssdscope.search.stopping import Judge
from ssdscope.search.trials import (
    DONE,
    REFUSED,
    STOPPED_EARLY,
    Proposal,
    Trial,
    best_of,
    judge_of,
    nearest_of,
    point_of,
    propose,
    trial_of,
    unrun,
    values_of,
)
from ssdscope.search.trying import STOPPED, Task, run_tasks
from ssdscope.seeds import stream
from ssdscope.sweep import Journal, Outcome, Point
from ssdscope.units import format_duration

AGAIN = 10
"""Rows of a front that are run again with another seed, at most."""
LOOKED_AT = 20
"""Proposals for each trial that are looked at, at most; the rest were refused or too dear."""
_IMPOSSIBLE = {"works": 1e3}
"""What the sampler hears of a configuration that cannot work: further out than any limit."""

OnStage = Callable[[str, float], None]


@dataclass(frozen=True)
class Row:
    """One of the best: its trial, and one of the same drive with a seed it was not chosen by."""

    trial: Trial
    again: Trial | None = None


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    plan, seed
        What was searched.
    trials
        Every proposal, in order.
    best
        The best within all limits: one, or the front of several figures.
    nearest
        If nothing keeps the limits, what breaks them least.
    out, table
        The journal, and the table of a row per whole run.
    exhausted
        Whether there was nothing new to propose before all trials were run.
    interrupted
        Whether Ctrl-C ended it early.
    """

    plan: Plan
    seed: int
    trials: tuple[Trial, ...]
    best: tuple[Row, ...]
    nearest: Trial | None
    out: str
    table: str
    exhausted: bool = False
    interrupted: bool = False

    def count(self, *statuses: str) -> int:
        """Count trials by what became of them."""
        return sum(each.status in statuses for each in self.trials)


def search(
    plan: Plan,
    journal: Journal,
    seed: int,
    *,
    jobs: int = -1,
    again: bool = True,
    progress: OnStage = lambda _stage, _share: None,
) -> Found:
    """Search, keeping each outcome as soon as it is there, and write the table.

    Parameters
    ----------
    plan
        What is searched.
    journal
        Where outcomes go, and where those of before are.
    seed
        Of the drives and the load of every trial, and of the proposals.
    jobs
        Trials at a time, each a process of its own; -1 for all cores. It changes no result.
    again
        Run the best again with another seed.
    progress
        Called with the stage and the share that is done.

    Raises
    ------
    UsageError
        If the load cannot be meant, or its runs have no figure of a name.
    OutputError
        If the journal or the table cannot be written.
    """
    course = _Course(plan, journal, seed, jobs, progress)
    best: list[Row] = []
    try:
        course.run()
        best = [Row(each) for each in best_of(plan, course.trials)]
        if again:
            best = course.again(best)
    except KeyboardInterrupt:
        course.interrupted = True
        best = best or [Row(each) for each in best_of(plan, course.trials)]
    return Found(
        plan,
        seed,
        tuple(course.trials),
        tuple(best),
        None if best else nearest_of(plan, course.trials),
        str(journal.path),
        str(journal.write_table()),
        course.exhausted,
        course.interrupted,
    )


@dataclass
class _Course:
    """A search while it runs."""

    plan: Plan
    journal: Journal
    seed: int
    jobs: int
    progress: OnStage
    trials: list[Trial] = field(default_factory=list)
    ran: int = 0
    ran_now: int = 0
    exhausted: bool = False
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.load = self.plan.load(self.seed)
        self.known = {each["key"]: each for each in self.journal.documents()}
        self.began = time.monotonic()

    def run(self) -> None:
        """Propose, run and tell until all trials were run, or nothing is left."""
        plan = self.plan
        proposer = Proposer(plan.space, len(plan.minimise), plan.sampler, self.seed)
        while self.ran < plan.trials and not self.exhausted:
            batch = self._ask(proposer, min(plan.at_once, plan.trials - self.ran))
            judge = judge_of(plan, self.trials)
            outcomes = self._outcomes(batch, judge)
            for each in batch:
                self._tell(proposer, each, outcomes[each.point.key], judge)
            self._require_figures(batch, outcomes)
            self.ran += len(batch)

    def again(self, best: Sequence[Row]) -> list[Row]:
        """Run the best again, with a seed that they were not chosen by.

        Of a long front `AGAIN` of its rows are, from end to end.
        """
        chosen = _spread(best, AGAIN)
        other = int(stream(self.seed, "search.again").integers(2**53))
        load = self.plan.load(other)
        proposals = []
        for row in chosen:
            point = point_of(self.plan, row.trial.configuration, other, load)
            proposals.append(replace(row.trial.proposal, point=point))
        whole = Judge(self.plan.minimise, self.plan.limits)
        outcomes = self._outcomes(proposals, whole, part=0.0)
        again = {
            each.number: trial_of(self.plan, each, outcomes[each.point.key]) for each in proposals
        }
        return [Row(row.trial, again.get(row.trial.proposal.number)) for row in best]

    def _ask(self, proposer: Proposer, count: int) -> list[Proposal]:
        """Take proposals that are worth a run; those that are not are told at once."""
        batch: list[Proposal] = []
        while len(batch) < count:
            asked = proposer.ask()
            if asked is None or len(self.trials) >= LOOKED_AT * self.plan.trials:
                self.exhausted = True
                break
            point = point_of(self.plan, asked[1], self.seed, self.load)
            proposal = propose(self.plan, *asked, point)
            trial = unrun(self.plan, proposal)
            if trial is None:
                batch.append(proposal)
                continue
            refused = trial.status == REFUSED
            excess = _IMPOSSIBLE if refused else excesses(self.plan.limits, trial.figures)
            proposer.tell(proposal.number, None, excess)
            self.trials.append(trial)
            if proposal.point.key not in self.known:
                self.journal.append(Outcome(proposal.point, None, trial.reason), self.seed)
        return batch

    def _outcomes(
        self, batch: Sequence[Proposal], judge: Judge, part: float | None = None
    ) -> dict[str, Outcome]:
        """Give what became of proposals by their keys: from the journal, or by running them."""
        found: dict[str, Outcome] = {}
        tasks = []
        for each in batch:
            before = self._before(each, judge)
            if before is not None:
                found[each.point.key] = before
            else:
                share = self.plan.part if part is None else part
                tasks.append(Task(each.point, self.plan.simulated, each.exact, share, judge))
        self._show(len(found))
        for outcome in run_tasks(tasks, jobs=self.jobs):
            self.journal.append(outcome, self.seed)
            found[outcome.point.key] = outcome
            self.ran_now += 1
            self._show(len(found))
        return found

    def _before(self, proposal: Proposal, judge: Judge) -> Outcome | None:
        """Give what the journal says of a proposal; one that failed is run again."""
        point: Point = proposal.point
        document: dict[str, Any] | None = self.known.get(point.key)
        if document is None:
            return None
        part = document.get("part")
        if document["record"] is not None:
            return Outcome(point, document["record"] | proposal.exact, part=part)
        reason = judge.hopeless(part, proposal.exact) if part else None
        return Outcome(point, None, STOPPED + reason, part=part) if reason else None

    def _tell(self, proposer: Proposer, proposal: Proposal, outcome: Outcome, judge: Judge) -> None:
        trial = trial_of(self.plan, proposal, outcome)
        self.trials.append(trial)
        if trial.status == DONE:
            values = values_of(self.plan, trial)
            proposer.tell(proposal.number, values, excesses(self.plan.limits, trial.figures))
        elif trial.status == STOPPED_EARLY:
            expected = judge.expected(trial.part or {}, trial.figures)
            known = all(name in expected for name in self.plan.minimise)
            guess = [expected[name] for name in self.plan.minimise] if known else None
            proposer.tell(proposal.number, guess, excesses(self.plan.limits, expected))
        else:
            proposer.tell(proposal.number, None, _IMPOSSIBLE)

    def _require_figures(self, batch: Sequence[Proposal], outcomes: dict[str, Outcome]) -> None:
        """Refuse to go on where no run has a figure that is asked for."""
        if any(each.status == DONE for each in self.trials):
            return
        records = [each for key in outcomes if (each := outcomes[key].record) is not None]
        for trial in self.trials[-len(batch) :]:
            if records and trial.drive is not None:
                lacking = next(name for name in self.plan.figures if name not in trial.figures)
                raise UsageError(
                    f"{self.plan.source}: the runs have no {lacking}",
                    hint=missing_hint(records[0], lacking),
                )

    def _show(self, of_batch: int) -> None:
        ran, trials = self.ran + of_batch, self.plan.trials
        if self.ran >= trials or self.exhausted:
            self.progress("the best once more, with another seed", 1.0)
            return
        text = f"{ran} of {trials} trials"
        best = best_of(self.plan, self.trials)
        if len(self.plan.minimise) > 1:
            text += f", {len(best)} on the front"
        if self.ran_now:
            left = (time.monotonic() - self.began) / self.ran_now * (trials - ran)
            text += f", {format_duration(round(left) * 1e9)} left"
        self.progress(text, ran / trials)


def _spread(rows: Sequence[Row], most: int) -> list[Row]:
    """Take at most so many rows, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(place * (len(rows) - 1) / (most - 1))] for place in range(most)]
