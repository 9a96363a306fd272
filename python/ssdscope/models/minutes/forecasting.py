"""Minutes to come, predicted by models that are chosen and fitted on those before.

Which kinds of model predict, is decided within the minutes that are learnt from, in the order of
time: the first third learns, the next sixth is predicted, learns too, and so on to the end. The
geometric mean is taken of all kinds whose mean relative error is within a standard error of the
best one's: a hundred minutes cannot tell these apart, and their mean is off by less than a choice
between them (Bates and Granger 1969).

What came before never says all of what comes, and a model that is sure of itself can be off by
far more than the plain median. So the prediction goes from the median only as far towards the
models as took errors away on those unseen minutes, by more than a standard error (`choosing`).

In the setting ``online`` the prediction is corrected by a part of the last minute's error, in the
logarithm, if that did as much. How much of an error persists is the slope between neighbouring
errors of the unseen predictions, held to 0 to 1. They calibrate the interval, too (split
conformal, as in `models.intervals`), so that the minutes to be predicted serve for nothing else.

That promises 90 % only if the hours to come are like those before, and on a server they are not.
``online`` knows after each minute whether it was inside, and its intervals follow
(`models.intervals.following`), from the unseen predictions on.

Bandwidth and rate are learnt relative to what is asked for, where that is told (all settings but
``paper``), as long as the drive follows; one that is behind serves what it can, whatever comes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.models import fitting, registry
from ssdscope.models.intervals import Reach, following
from ssdscope.models.minutes import choosing
from ssdscope.models.minutes.result import Forecast, joined
from ssdscope.models.minutes.settings import ARRIVALS, PAPER, Encoder
from ssdscope.workloads.minutes import Minutes
from ssdscope.workloads.windows import Table

Array = npt.NDArray[Any]
CANDIDATES = ("lasso", "quantile", "gp", "guide", "lightgbm")
PAPERS = ("guide",)
"""The kind of model of huang2011."""
SETTINGS = ("paper", "arrivals", "online")
LEAST_MINUTES = 18
FIRST_SHARE, BLOCKS = 3, 4
"""A third of the minutes learns at first; the others are predicted in so many blocks."""


FOLLOWS = 0.5
"""A drive follows if it has served this share of the minutes to learn from in time."""
SAME = 1e-9
"""Targets that differ by less than this share are one and the same."""
OFFERED = {"iops": "iops", "bandwidth_bytes_per_s": "bytes_per_s"}
"""The feature that says how much of a rate was asked for."""


@dataclass(frozen=True, eq=False)
class _Known:
    """Minutes of which a target is known, and their features.

    ``scale`` is what the target is learnt relative to.
    """

    minutes: Array
    table: Table
    values: Array
    settled: Array
    scale: Array

    @classmethod
    def of(cls, minutes: Minutes, target: str, begin: int, end: int, relative: bool) -> "_Known":
        part = minutes.part(begin, end)
        values = part.targets[target]
        known = np.flatnonzero(np.isfinite(values) & (values > 0) & (part.features["iops"] > 0))
        # What was served in a minute is known at its end, whatever is still waiting.
        settled = part.settled if target == "latency_ns" else np.ones(len(values), dtype=bool)
        table = {name: column[known] for name, column in part.features.items()}
        offered = OFFERED.get(target) if relative else None
        scale = np.ones(len(known)) if offered is None else table[offered]
        return cls(begin + known, table, values[known], settled[known], scale)

    def cut(self, begin: int, end: int) -> "_Known":
        table = {name: column[begin:end] for name, column in self.table.items()}
        kept = slice(begin, end)
        return _Known(
            self.minutes[kept], table, self.values[kept], self.settled[kept], self.scale[kept]
        )

    def __len__(self) -> int:
        return len(self.values)


def forecast(
    minutes: Minutes,
    *,
    setting: str,
    target: str,
    train: int,
    test: int,
    seed: int,
    models: Sequence[str] = (),
) -> Forecast:
    """Learn from the first minutes and predict those that follow.

    Parameters
    ----------
    minutes
        A trace on a drive.
    setting, target
        Names, of `SETTINGS` and `workloads.minutes.TARGETS`.
    train, test
        How many minutes are learnt from, and predicted.
    seed
        Of the fits.
    models
        The kinds of models; chosen if there are none. The median is weighed against any.

    Raises
    ------
    UsageError
        If there are too few minutes in which anything was asked.
    """
    (made,) = forecasts(
        minutes,
        settings=(setting,),
        target=target,
        train=train,
        test=test,
        seed=seed,
        models=models,
    )
    return made


def forecasts(
    minutes: Minutes,
    *,
    settings: Sequence[str],
    target: str,
    train: int,
    test: int,
    seed: int,
    models: Sequence[str] = (),
) -> list[Forecast]:
    """Do as `forecast` for several settings; what they share is learnt once."""
    follows = minutes.part(0, train).settled.mean() >= FOLLOWS
    learnt: dict[tuple[str, ...], _Learnt] = {}
    found = []
    for setting in settings:
        names = PAPER if setting == "paper" else ARRIVALS
        if names not in learnt:
            relative = bool(follows) and names is ARRIVALS
            known = _Known.of(minutes, target, 0, train, relative)
            ahead = _Known.of(minutes, target, train, train + test, relative)
            _require_enough(known, ahead)
            kinds = models or _kinds(setting, len(known))
            learnt[names] = _learn(names, kinds, not models, known, ahead, seed)
        found.append(_told(setting, target, train, learnt[names]))
    return found


def rolling(
    minutes: Minutes, *, settings: Sequence[str], target: str, train: int, test: int, seed: int
) -> list[Forecast]:
    """Predict part by part, each by models that learnt from all minutes before it.

    The kinds of models are those that the first part's minutes to learn from choose; the settings
    have to share them, as ``arrivals`` and ``online`` do.
    """
    parts: list[list[Forecast]] = []
    for begin in range(train, len(minutes) - test + 1, test):
        made = forecasts(
            minutes,
            settings=settings,
            target=target,
            train=begin,
            test=test,
            seed=seed,
            models=parts[0][0].models if parts else (),
        )
        parts.append(made)
    return [joined(each) for each in zip(*parts, strict=True)]


def _require_enough(known: _Known, ahead: _Known) -> None:
    if len(known) < LEAST_MINUTES or not len(ahead):
        raise UsageError(
            f"{len(known)} minutes to learn from and {len(ahead)} to predict are too few",
            hint=f"take a trace with {LEAST_MINUTES} minutes of requests and more after them",
        )


@dataclass(frozen=True, eq=False)
class _Learnt:
    """What was learnt from some minutes: predictions of those ahead, and of `tried`, unseen.

    ``naive`` is what the median says of these.
    """

    known: _Known
    ahead: _Known
    tried: _Known
    models: tuple[str, ...]
    naive: Array
    before: Array
    predicted: Array


def _learn(
    names: Sequence[str],
    kinds: Sequence[str],
    choose: bool,
    known: _Known,
    ahead: _Known,
    seed: int,
) -> _Learnt:
    """Choose among kinds of models, if that is wanted, and predict."""
    unseen, guesses = {}, {}
    for kind in kinds:
        try:
            before = _unseen(partial(_fitted, kind, names, seed), known)
            guesses[kind] = _fitted(kind, names, seed, known, ahead)
        except np.linalg.LinAlgError:  # a Gaussian process of minutes that hardly differ
            continue
        unseen[kind] = before
    if not unseen:
        return _learn(names, CANDIDATES[:1], False, known, ahead, seed)
    naive = _unseen(_median, known)
    tried = known.cut(len(known) - len(naive), len(known))
    chosen = choosing.kinds(unseen, tried.values) if choose else tuple(unseen)
    before = choosing.mean([unseen[kind] for kind in chosen])
    predicted = choosing.mean([guesses[kind] for kind in chosen])
    return _Learnt(known, ahead, tried, chosen, naive, before, predicted)


def _told(setting: str, target: str, begin: int, learnt: _Learnt) -> Forecast:
    """Go from the median to what models say, as far as that helped; give it with an interval."""
    known, ahead, tried = learnt.known, learnt.ahead, learnt.tried
    median = _median(known, ahead)
    weight = choosing.weight(learnt.naive, learnt.before, tried.values)
    before = choosing.blended(learnt.naive, learnt.before, weight)
    predicted = choosing.blended(median, learnt.predicted, weight)
    if setting == "online":
        tries = [(before, predicted), _corrected(before, tried, predicted, ahead)]
        before, predicted = tries[choosing.cautious([each for each, _ in tries], tried.values)]
        interval = _followed(before, tried, predicted, ahead)
    else:
        interval = Reach.of(before, tried.values).interval(predicted)
    return Forecast(
        setting=setting,
        target=target,
        models=learnt.models,
        weight=weight,
        expected=choosing.skill(before, learnt.naive, tried.values),
        begin=begin,
        minutes=ahead.minutes,
        measured=ahead.values,
        predicted=predicted,
        median=median,
        last=np.append(known.values[-1], ahead.values[:-1]),
        interval=interval,
        trained=len(known),
    )


def _kinds(setting: str, rows: int) -> Sequence[str]:
    if setting == "paper":
        return PAPERS
    there = registry.available(rows, baselines=True)
    return [kind for kind in CANDIDATES if kind in there]


def _unseen(predict: Callable[[_Known, _Known], Array], known: _Known) -> Array:
    """Predict all but the first third, block by block, each from the minutes before it."""
    bounds = np.linspace(len(known) // FIRST_SHARE, len(known), BLOCKS + 1).astype(int)
    return np.concatenate(
        [predict(known.cut(0, begin), known.cut(begin, end)) for begin, end in pairwise(bounds)]
    )


def _median(known: _Known, ahead: _Known) -> Array:
    """Predict without a model."""
    return np.full(len(ahead), np.median(known.values))


def _fitted(kind: str, names: Sequence[str], seed: int, known: _Known, ahead: _Known) -> Array:
    """Fit to some minutes and predict others."""
    encoder = Encoder(names, known.table)
    columns = encoder.columns(known.table)
    values = known.values / known.scale
    if np.ptp(values) <= SAME * values.max():
        return ahead.scale * np.median(values)
    estimator = registry.family(kind).make(seed % 2**32).fit(columns, values)
    predicted = estimator.model_.evaluate(encoder.columns(ahead.table))
    return ahead.scale * fitting.held(predicted, values)


def _followed(before: Array, tried: _Known, predicted: Array, ahead: _Known) -> Array:
    """Give intervals that follow what was inside; shape (n, 2)."""
    guesses = np.concatenate([before, predicted])
    errors = np.abs(np.log(np.concatenate([tried.values, ahead.values]) / guesses))
    settled = np.concatenate([tried.settled, ahead.settled])
    times = np.exp(following(errors, settled)[len(before) :])
    return np.column_stack([predicted / times, predicted * times])


def _corrected(
    before: Array, tried: _Known, predicted: Array, ahead: _Known
) -> tuple[Array, Array]:
    """Take away what persists of the last minute's error, before and after the beginning."""
    off = np.where(tried.settled, np.log(tried.values / before), 0.0)
    later = np.where(ahead.settled, np.log(ahead.values / predicted), 0.0)
    energy = float(off[:-1] @ off[:-1])
    persists = float(np.clip(off[1:] @ off[:-1] / energy, 0, 1)) if energy > 0 else 0.0
    known = np.append(0.0, off[:-1])
    known_later = np.append(off[-1], later[:-1])
    return before * np.exp(persists * known), predicted * np.exp(persists * known_later)
