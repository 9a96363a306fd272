"""Which configuration is tried next: Optuna's samplers, asked and told in a fixed order.

The order makes the proposals the same whichever trial ends first. Optuna keeps nothing on disk:
its memory is filled again from the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdscope.search.neighbours import Best
from ssdscope.search.space import Choices, Configuration, Knob, combinations
from ssdscope.seeds import stream

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.trial import Trial

STARTING = 10
"""Trials before the sampler has something to go by."""
_REPEATS = 20
"""Proposals in a row of what was tried already, after which one is drawn from the rest."""
_LISTED = 100_000
"""Configurations that are listed to find the rest; of more, one is drawn again and again."""


class Proposer:
    """Proposes configurations, none twice.

    Parameters
    ----------
    space
        Keys and their values.
    objectives
        How many figures are minimised.
    sampler
        One of `plan.SAMPLERS`.
    seed
        Of all that is drawn.
    """

    def __init__(self, space: Sequence[Knob], objectives: int, sampler: str, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        drawn = int(stream(seed, "search.proposing.sampler").integers(2**31))
        self._space = tuple(space)
        self._study = optuna.create_study(
            directions=["minimize"] * objectives, sampler=_sampler(sampler, drawn)
        )
        self._rest = stream(seed, "search.proposing.rest")
        self._near = stream(seed, "search.proposing.near")
        self._best = Best() if sampler == "tpe" else None
        self._distributions = {knob.key: _distribution(knob) for knob in space}
        self._seen: set[tuple[Any, ...]] = set()
        self._asked: dict[int, tuple[Trial, Configuration]] = {}
        self._turn = 0

    def ask(self) -> tuple[int, Configuration] | None:
        """Propose a configuration with its number; None if there is none that is new."""
        import optuna

        self._turn += 1
        if self._best is not None and self._turn > STARTING and self._turn % 2:
            for _ in range(_REPEATS):
                configuration = self._best.neighbour(self._space, self._near)
                if configuration is not None and self._take(configuration):
                    return self._ask_for(configuration)
        for _ in range(_REPEATS):
            trial = self._study.ask(self._distributions)
            configuration = self._configuration(trial.params)
            if self._take(configuration):
                self._asked[trial.number] = trial, configuration
                return trial.number, configuration
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return self._ask_of_the_rest()

    def tell(
        self, number: int, values: Sequence[float] | None, excess: Mapping[str, float]
    ) -> None:
        """Say what became of a proposal.

        Parameters
        ----------
        number
            Of the proposal.
        values
            What is minimised; None if the trial did not tell.
        excess
            By limit, how far beyond it: above 0 where it is broken.
        """
        import optuna

        trial, configuration = self._asked.pop(number)
        if self._best is not None:
            self._best.add(configuration, values, sum(excess.values()))
        for name, value in excess.items():
            trial.set_constraint(name, min(value, 1e6))
        if values is None:
            self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(trial, list(values))

    def _ask_of_the_rest(self) -> tuple[int, Configuration] | None:
        shares = self._untried()
        if shares is None:
            return None
        configuration = {
            knob.key: knob.at(share) for knob, share in zip(self._space, shares, strict=True)
        }
        self._take(configuration)
        return self._ask_for(configuration)

    def _ask_for(self, configuration: Configuration) -> tuple[int, Configuration]:
        """Make the study ask for a configuration of ours, so that its sampler learns from it."""
        self._study.enqueue_trial(
            {knob.key: _internal(knob, configuration[knob.key]) for knob in self._space}
        )
        trial = self._study.ask(self._distributions)
        self._asked[trial.number] = trial, configuration
        return trial.number, configuration

    def _untried(self) -> Sequence[float] | None:
        """Find a place in the space that was not tried: listed, or drawn."""
        size = combinations(self._space)
        if size <= len(self._seen):
            return None
        if size > _LISTED:
            for _ in range(_LISTED):
                drawn: list[float] = self._rest.random(len(self._space)).tolist()
                if self._names(drawn) not in self._seen:
                    return drawn
            return None
        for number in self._rest.permutation(int(size)):
            shares: list[float] = []
            left = int(number)
            for knob in self._space:
                left, place = divmod(left, int(knob.size))
                shares.append((place + 0.5) / int(knob.size))
            if self._names(shares) not in self._seen:
                return shares
        return None

    def _names(self, shares: Sequence[float]) -> tuple[Any, ...]:
        return tuple(knob.at(share) for knob, share in zip(self._space, shares, strict=True))

    def _take(self, configuration: Configuration) -> bool:
        """Remember a configuration; say whether it is new."""
        key = tuple(configuration.values())
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _configuration(self, params: Mapping[str, Any]) -> Configuration:
        return {
            knob.key: knob.values[params[knob.key]]
            if isinstance(knob, Choices)
            else knob.rounded(params[knob.key])
            for knob in self._space
        }


def _sampler(name: str, seed: int) -> BaseSampler:
    from optuna.samplers import RandomSampler, TPESampler

    if name == "random":
        return RandomSampler(seed=seed)
    return TPESampler(n_startup_trials=STARTING, multivariate=True, seed=seed)


def _distribution(knob: Knob) -> BaseDistribution:
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if isinstance(knob, Choices):
        places = len(knob.values)
        return (
            IntDistribution(0, places - 1)
            if knob.ordered
            else CategoricalDistribution(range(places))
        )
    if knob.whole:
        return IntDistribution(int(knob.low), int(knob.high), log=knob.log, step=knob.step)
    return FloatDistribution(knob.low, knob.high, log=knob.log)


def _internal(knob: Knob, value: Any) -> Any:
    return knob.values.index(value) if isinstance(knob, Choices) else value
