"""From collected runs to a model: the best kind chosen, its interval calibrated, all kept."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.errors import UsageError, nearest
from ssdscope.models import asking, features, readable, registry, samples
from ssdscope.models.fitted import FittedModel, Prediction, Predictor
from ssdscope.models.intervals import Reach
from ssdscope.models.samples import CYCLE, Sample
from ssdscope.models.screening import Screening
from ssdscope.models.table import Collected
from ssdscope.seeds import stream
from ssdscope.workloads.grid import COLUMNS

Array = npt.NDArray[Any]
StageProgress = Callable[[str, float], None]
BACKGROUND = 256
"""Workloads kept with a model, over which its dependences are averaged."""
BEYOND = 0.1
"""How far predictions may leave the range of targets seen, as part of its logarithm."""


@dataclass(frozen=True, eq=False)
class Unseen:
    """Predictions of rows by models that were fitted without them.

    Attributes
    ----------
    predicted : ndarray, shape (n,)
        Of all rows of a sample.
    folds : ndarray, shape (n,)
        Rows of one fold were left out together.
    """

    predicted: Array
    folds: Array

    def reach(self, sample: Sample) -> Reach:
        """Say how far intervals of a model reach that was fitted to all rows."""
        return Reach.of(
            self.predicted,
            sample.values,
            sample.columns("extended"),
            self.folds,
            lacked=1 / np.unique(self.folds).size,
        )


@dataclass(frozen=True)
class Choice:
    """A kind of model with a set of features, and how it does on folds it has not seen."""

    model: str
    feature_set: str
    mre: float
    unseen: Unseen


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits kinds of models, none of them twice to the same rows.

    Attributes
    ----------
    left_out
        Why a kind with a set of features could not be fitted.
    """

    left_out: dict[tuple[str, str], str] = field(default_factory=dict)
    _models: dict[Any, tuple[Any, float]] = field(default_factory=dict)
    _unseen: dict[Any, Unseen] = field(default_factory=dict)

    @contextlib.contextmanager
    def leaving_out(self, name: str, feature_set: str) -> Iterator[None]:
        """Note why a kind of model cannot be fitted, and go on without it."""
        try:
            yield
        except UsageError:
            raise
        except Exception as fault:  # noqa: BLE001 (libraries fail in many ways; one kind is lost)
            self.left_out[name, feature_set] = f"{type(fault).__name__}: {fault}"

    def none_fitted(self) -> UsageError:
        """Return the error that no kind of model could be fitted."""
        why = "; ".join(f"{name}: {fault}" for (name, _), fault in self.left_out.items())
        return UsageError(
            f"no model could be fitted to these runs ({why})",
            hint="try another --model, or look for runs with values that cannot be",
        )

    def remarks(self) -> list[str]:
        """Say what was left out, a sentence each."""
        return [
            f"{name} on {feature_set} features is left out: it cannot be fitted ({fault})"
            for (name, feature_set), fault in self.left_out.items()
        ]

    def model(
        self, name: str, feature_set: str, sample: Sample, seed: int
    ) -> tuple[Predictor, float]:
        """Give a model of a sample, and the seconds that fitting it took."""
        key = (name, feature_set, sample.whole().key, seed)
        if key not in self._models:
            started = time.perf_counter()
            fitted = fit_estimator(name, feature_set, sample, seed).model_
            self._models[key] = fitted, time.perf_counter() - started
        return self._models[key]

    def unseen(
        self, name: str, feature_set: str, sample: Sample, seed: int, most_folds: int | None = None
    ) -> Unseen:
        """Predict each row by a model that was fitted without its fold."""
        key = (name, feature_set, sample.key, sample.whole().key, seed, most_folds)
        if key not in self._unseen:
            found = unseen_predictions(name, feature_set, sample, seed, most_folds)
            self._unseen[key] = found
        return self._unseen[key]


def quiet(_stage: str, _share: float) -> None:
    """Tell nobody."""


def fit_estimator(
    model: str, feature_set: str, sample: Sample, seed: int, begun: Any = None
) -> Any:
    """Fit one kind of model: a new estimator, or one that goes on from what it was tuned to."""
    estimator = registry.family(model).make(seed % 2**32) if begun is None else begun
    every = sample.whole()
    return estimator.fit(every.columns(feature_set), every.values)


def held(predicted: Array, values: Array) -> Array:
    """Hold predictions near the targets that were learnt from: no line goes on for ever."""
    low, high = np.log(values.min()), np.log(values.max())
    reach = BEYOND * (high - low)
    within: Array = np.clip(predicted, np.exp(low - reach), np.exp(high + reach))
    return within


def unseen_predictions(
    model: str, feature_set: str, sample: Sample, seed: int, most_folds: int | None = None
) -> Unseen:
    """Predict each row by a model that was fitted without its fold.

    What was tuned without a fold is tuned on without the next: they differ in a few rows.
    """
    folds = sample.folds(seed, most_folds)
    columns = sample.columns(feature_set)
    predicted = np.empty(len(sample))
    estimator = registry.family(model).make(seed % 2**32)
    if "warm_start" in estimator.get_params():
        estimator.set_params(warm_start=True)
    for fold in np.unique(folds):
        out = folds == fold
        part = sample.without(out)
        fitted = fit_estimator(model, feature_set, part, seed, estimator)
        predicted[out] = held(fitted.model_.evaluate(columns[out]), part.whole().values)
    if not np.isfinite(predicted).all():
        raise ArithmeticError("predictions of unseen runs are not finite")
    return Unseen(predicted, folds)


def compare(
    names: Sequence[str],
    sets: Sequence[str],
    sample: Sample,
    seed: int,
    progress: StageProgress,
    fits: Fits | None = None,
) -> list[Choice]:
    """Cross-validate kinds of models with sets of features, the best first.

    Those that cannot be fitted are in ``fits.left_out``.

    Raises
    ------
    UsageError
        If none can be fitted.
    """
    pairs, fits = registry.pairs(names, sets), fits or Fits()
    found = []
    for done, (name, each) in enumerate(pairs):
        progress(f"cross-validating {name} on {each} features", done / len(pairs))
        with fits.leaving_out(name, each):
            unseen = fits.unseen(name, each, sample, seed)
            mre = stats.prediction_errors(sample.values, unseen.predicted).mre
            found.append(Choice(name, each, mre, unseen))
    if not found:
        raise fits.none_fitted()
    return sorted(found, key=lambda choice: choice.mre)


def unseen_of_chosen(choices: Sequence[Choice], values: Array) -> Unseen:
    """Predict each fold by the kind that is best on the other folds.

    What is best on some runs owes that in part to luck: its errors on just these are smaller than
    on others, and intervals from them cover too little. What is chosen without a fold meets it as
    it meets new runs.

    Parameters
    ----------
    choices
        Compared by the same folds.
    values : ndarray, shape (n,)
        What was measured.
    """
    guesses, folds = np.array([each.unseen.predicted for each in choices]), choices[0].unseen.folds
    off, predicted = np.abs(guesses / values - 1), guesses[0].copy()
    for fold in np.unique(folds):
        out = folds == fold
        if not out.all():
            predicted[out] = guesses[off[:, ~out].mean(axis=1).argmin(), out]
    return Unseen(predicted, folds)


def _best(choices: Sequence[Choice], sample: Sample, seed: int, fits: Fits) -> Choice:
    """Choose the best that can be fitted to all rows too, and calibrate it."""
    for choice in choices:
        with fits.leaving_out(choice.model, choice.feature_set):
            fits.model(choice.model, choice.feature_set, sample, seed)
            return replace(choice, unseen=calibrating(choice, sample, seed, choices))
    raise fits.none_fitted()


def calibrating(
    choice: Choice, sample: Sample, seed: int, compared: Sequence[Choice] = ()
) -> Unseen:
    """Predict unseen rows, off by as much as the chosen kind of model is on new ones.

    It was chosen among those `compared`, which makes its errors look smaller than they are.

    Models without a fifth of the rows are off by more, and intervals after them cover too much. So
    the chosen kind of model is fitted once more without a tenth at a time, if it was compared by
    fewer folds.
    """
    if len(sample) < samples.MANY_ROWS:
        return unseen_of_chosen(compared or [choice], sample.values)
    return unseen_predictions(choice.model, choice.feature_set, sample, seed, samples.FOLDS)


def fit(
    rows: Sequence[Collected],
    header: dict[str, Any],
    *,
    model: str | Sequence[str] = registry.BEST,
    feature_set: str | Sequence[str] = registry.BEST,
    target: str = "latency",
    workload: str = "all",
    tails: bool = True,
    seed: int,
    progress: StageProgress = quiet,
    fits: Fits | None = None,
) -> FittedModel:
    """Fit a model to the runs of a collection that are there to learn from.

    Parameters
    ----------
    rows, header
        The collection.
    model, feature_set
        Names, several of them, or `registry.BEST`: of all pairs the one is taken with the least
        mean relative error in grouped cross-validation of these runs alone.
    target
        What is predicted, of `samples.TARGETS`. A model of the latency gives rate and bandwidth
        as well.
    tails
        Whether a model of the latency comes with models of the tails.
    workload
        One of `features.WORKLOADS`.
    seed
        Of folds and fits.
    progress
        Told what is done, and the share.
    fits
        What was fitted before, and takes up what is fitted here.

    Raises
    ------
    UsageError
        If a name is unknown or there are too few runs.
    """
    fits = fits or Fits()
    sample = Sample.of(rows, "train", target, workload)
    samples.require_enough(sample, features.WORKLOADS[workload])
    names = registry.available(len(sample)) if model == registry.BEST else _several(model)
    sets = ["extended", "physics"] if feature_set == registry.BEST else _several(feature_set)
    part: StageProgress = lambda what, share: progress(what, 0.7 * share)  # noqa: E731
    choices = compare(names, sets, sample, seed, part, fits)
    progress("calibrating intervals", 0.7)
    best = _best(choices, sample, seed, fits)
    predictions = {target: _prediction(best, sample, target, seed, fits)}
    screening = Screening.of(rows)
    more = [
        *(("read_p99", "write_p99") if tails else ()),
        *([CYCLE] if screening.rate_apart else ()),
    ]
    for done, each in enumerate(more if target == "latency" else []):
        progress(f"fitting {each}", 0.7 + 0.05 * done)
        own = Sample.of(rows, "train", each, workload)
        if len(own) >= samples.LEAST_ROWS:
            with fits.leaving_out(best.model, f"{best.feature_set} ({each})"):
                unseen = unseen_predictions(best.model, best.feature_set, own, seed)
                choice = Choice(best.model, best.feature_set, 0.0, unseen)
                predictions[each] = _prediction(choice, own, each, seed, fits)
    progress("a tree to read", 0.9)
    every = sample.whole()
    chosen = stream(seed, "models.fitting.background").permutation(len(sample))[:BACKGROUND]
    return FittedModel(
        model=best.model,
        feature_set=best.feature_set,
        target=target,
        workload=workload,
        predictions=predictions,
        tree=readable_tree(sample, target, seed),
        low=dict(zip(COLUMNS, every.inputs.min(axis=0).tolist(), strict=True)),
        high=dict(zip(COLUMNS, every.inputs.max(axis=0).tolist(), strict=True)),
        kinds=tuple(sorted({asking.kind(vector) for vector in every.vectors()})),
        background=sample.inputs[np.sort(chosen)],
        about={
            "trained_on": {key: header.get(key) for key in ("target", "design", "seed")},
            "rows": len(sample),
            "screening": screening.to_json(),
            "seed": seed,
            "chosen_from": [
                {"model": each.model, "features": each.feature_set, "grouped_mre": each.mre}
                for each in choices
            ],
            "remarks": [*screening.remarks(), *fits.remarks()],
        },
    )


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _prediction(choice: Choice, sample: Sample, target: str, seed: int, fits: Fits) -> Prediction:
    fitted, _ = fits.model(choice.model, choice.feature_set, sample, seed)
    low, high = held(np.array([1e-300, 1e300]), sample.whole().values)
    errors = stats.prediction_errors(sample.values, choice.unseen.predicted).to_json()
    return Prediction(
        name=f"{CYCLE}_ns" if target == CYCLE else samples.TARGETS[target][0],
        model=fitted,
        low=float(low),
        high=float(high),
        reach=choice.unseen.reach(sample),
        grouped={key: errors[key] for key in ("n", "mre", "median_ape", "p90_ape", "r2")},
    )


def readable_tree(sample: Sample, target: str, seed: int) -> dict[str, Any]:
    """Fit a small model that people can read, and say how close it is on unseen rows."""
    folds, predicted = sample.folds(seed), np.empty(len(sample))
    for fold in np.unique(folds):
        out = folds == fold
        part = sample.without(out)
        predicted[out] = held(
            readable.grow(part, target, seed).evaluate(sample.inputs[out]), part.values
        )
    mre = stats.prediction_errors(sample.values, predicted).mre
    return {**readable.grow(sample, target, seed).to_json(), "grouped_mre": mre}


def require_known(model: str, feature_set: str, target: str, workload: str) -> None:
    """Refuse names that mean nothing, before anything is read.

    Raises
    ------
    UsageError
        If there is nothing of a name.
    """
    if model != registry.BEST:
        registry.family(model)
    for given, known, what in (
        (feature_set, (registry.BEST, *features.SETS), "set of features"),
        (target, samples.TARGETS, "target"),
        (workload, features.WORKLOADS, "kind of workload"),
    ):
        if given not in known:
            raise UsageError(f"there is no {what} {given!r}", hint=nearest(given, known))
