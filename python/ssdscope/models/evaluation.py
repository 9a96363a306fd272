"""How good models are: on what they learnt from, on folds, and off the grid.

``in-sample``
    The rows that were fitted, as huang2011 has it.
``grouped``
    Cross-validation in which no workload is on both sides; workloads that differ only in what
    no request shows are one.
``off-grid``
    Rows of the split ``test``, drawn independently.
``repeat``
    The noise floor: what a model that knows each workload's true mean would be off by, from
    runs that were made twice. Two such runs differ by the square root of 2 times as much.

Naive baselines stand in the same table: the typical value, that of the nearest workload that was
measured, and, where most workloads lie between others, lines in logarithms between those. Skill is
the share of the first one's error that a model takes away.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models import features, fitting, registry, samples
from ssdscope.models.interpolation import interpolate
from ssdscope.models.intervals import Reach, covered
from ssdscope.models.samples import Sample
from ssdscope.models.table import Collected

Array = npt.NDArray[Any]
StageProgress = Callable[[str, float], None]
CONSTANT = "constant (naive)"
NEAREST = "nearest (naive)"
INTERPOLATION = "interpolation (naive)"
LEAST_BETWEEN = 0.5
"""Interpolation is shown if this share of workloads lies between others; the nearest measured one
stands in for the rest."""
FLOOR = "noise floor"
LEAST_REPEATS, ENOUGH_REPEATS = 5, 100
"""Pairs of runs that tell the noise at all, and within about a tenth."""


@dataclass(frozen=True, eq=False)
class _Guess:
    """Predictions of a split, with intervals where there are any."""

    split: str
    values: Array
    predicted: Array
    interval: Array | None = None
    predict_us: float | None = None


def evaluate(
    rows: Sequence[Collected],
    *,
    models: Sequence[str],
    feature_sets: Sequence[str],
    target: str = "latency",
    workload: str = "all",
    seed: int,
    progress: StageProgress = fitting.quiet,
    fits: fitting.Fits | None = None,
) -> list[dict[str, Any]]:
    """Evaluate kinds of models on a collection.

    Parameters
    ----------
    rows
        The collection.
    models, feature_sets
        Names; every pair is evaluated.
    target, workload
        What is predicted, and of which runs. Of rate and bandwidth there are two kinds of rows:
        a model of their own, as in the paper, and what follows from that of the latency.
    seed
        Of folds and fits.
    progress
        Told what is done, and the share.
    fits
        What was fitted before; holds what could not be, afterwards.

    Returns
    -------
    list of dict
        One per model and split, as `model evaluate -o json` has them; baselines and the noise
        floor are among them.

    Raises
    ------
    UsageError
        If there are too few runs, or no model can be fitted.
    """
    sample = Sample.of(rows, "train", target, workload)
    samples.require_enough(sample, features.WORKLOADS[workload])
    test = Sample.of(rows, "test", target, workload)
    naive = [*_constant(sample, test, seed), *_nearest(sample, test)]
    naive += _interpolation(sample, test, seed)
    typical = {each["split"]: each["mre"] for each in naive if each["name"] == CONSTANT}
    found: list[dict[str, Any]] = []
    pairs, fits = registry.pairs(models, feature_sets), fits or fitting.Fits()
    for done, (name, each) in enumerate(pairs):
        progress(f"evaluating {name} on {each} features", done / len(pairs))
        with fits.leaving_out(name, each):
            found += scores(name, each, sample, test, seed, fits=fits)
            if target in ("iops", "bandwidth"):
                found += _by_little(name, each, rows, target, workload, seed)
    if not found:
        raise fits.none_fitted()
    floor = noise_floor(rows, target, workload)
    every = [*found, *naive, *([] if floor is None else [floor])]
    for row in every:
        row["target"] = samples.TARGETS[target][0]
        row["skill"] = 1 - row["mre"] / typical[row["split"]] if row["split"] in typical else None
        row["n_train"] = len(sample) if row["n_train"] is None else row["n_train"]
    return every


def noise_floor(
    rows: Sequence[Collected], target: str = "latency", workload: str = "all"
) -> dict[str, Any] | None:
    """Give the row of the noise floor; None with too few repeats.

    It is told by the runs that were made twice; of a kind that has few of those, by workloads
    that differ only in what no request of theirs shows, which are the same to any model.
    """
    first, again = (Sample.of(rows, split, target, workload) for split in ("train", "repeat"))
    known = {tuple(place): value for place, value in zip(first.inputs, first.values, strict=True)}
    pairs = [
        (known[tuple(place)], value)
        for place, value in zip(again.inputs, again.values, strict=True)
        if tuple(place) in known
    ]
    if len(pairs) < ENOUGH_REPEATS:
        pairs = max(pairs, _pairs_of_the_same(first), key=len)
    if len(pairs) < LEAST_REPEATS:
        return None
    one, other = np.array(pairs).T
    # Shrunk towards the first run, the second is off by as much as a mean would be.
    closer = one * (other / one) ** (1 / np.sqrt(2))
    return _row(FLOOR, [], _Guess("repeat", one, closer), None, 0)


def _pairs_of_the_same(sample: Sample) -> list[tuple[float, float]]:
    """Pair the runs of one workload, each run once."""
    waiting: dict[tuple[float, ...], float] = {}
    pairs = []
    for place, value in zip(sample.inputs, sample.values, strict=True):
        workload = tuple(place)
        if workload in waiting:
            pairs.append((waiting.pop(workload), value))
        else:
            waiting[workload] = value
    return pairs


def scores(
    name: str,
    feature_set: str,
    sample: Sample,
    test: Sample,
    seed: int,
    unseen: fitting.Unseen | None = None,
    *,
    fits: fitting.Fits | None = None,
) -> list[dict[str, Any]]:
    """Fit one kind of model and give its rows, one per split.

    Parameters
    ----------
    sample, test
        What is learnt from, and what is held to; the second may be empty.
    unseen
        Predictions of the sample's rows by models without their folds, where they are known.
    fits
        What was fitted before.
    """
    fits = fits or fitting.Fits()
    few = Sample(sample.inputs[: samples.LEAST_ROWS], sample.values[: samples.LEAST_ROWS])
    fitting.fit_estimator(name, feature_set, few, seed)  # loading libraries is not fitting
    fitted, fit_s = fits.model(name, feature_set, sample, seed)
    if unseen is None:
        unseen = fits.unseen(name, feature_set, sample, seed)
    reach = unseen.reach(sample)
    guesses = []
    for split, part in (("in-sample", sample), ("off-grid", test)):
        if len(part):
            columns = part.columns(feature_set)
            started = time.perf_counter()
            predicted = fitted.evaluate(columns)
            each_us = (time.perf_counter() - started) / len(part) * 1e6
            predicted = fitting.held(predicted, sample.whole().values)
            interval = reach.interval(predicted, part.columns("extended"))
            guesses.append(_Guess(split, part.values, predicted, interval, each_us))
    interval = _grouped_intervals(unseen, sample)
    guesses.insert(1, _Guess("grouped", sample.values, unseen.predicted, interval))
    return [_row(name, [feature_set], guess, fit_s, len(sample)) for guess in guesses]


def _grouped_intervals(unseen: fitting.Unseen, sample: Sample) -> Array:
    """Give each row an interval that was calibrated on the other folds."""
    interval, told = np.empty((len(sample), 2)), sample.columns("extended")
    for fold in np.unique(unseen.folds):
        out = unseen.folds == fold
        folds, known = unseen.folds[~out], unseen.predicted[~out]
        reach = Reach.of(known, sample.values[~out], told[~out], folds)
        interval[out] = reach.interval(unseen.predicted[out], told[out])
    return interval


def _by_little(
    name: str,
    feature_set: str,
    rows: Sequence[Collected],
    target: str,
    workload: str,
    seed: int,
) -> list[dict[str, Any]]:
    """Evaluate a rate that follows from a model of the latency."""
    found = []
    train, test = (Sample.of(rows, split, "latency", workload) for split in ("train", "test"))
    fitted = fitting.fit_estimator(name, feature_set, train, seed).model_
    unseen = fitting.unseen_predictions(name, feature_set, train, seed).predicted
    for split, place in (("in-sample", "train"), ("grouped", "train"), ("off-grid", "test")):
        part = train if place == "train" else test
        truth = Sample.of(rows, place, target, workload)
        if not len(part):
            continue
        latency = unseen if split == "grouped" else fitted.evaluate(part.columns(feature_set))
        predicted = product(part.inputs, target) / fitting.held(latency, train.values)
        guess = _Guess(split, truth.values, predicted)
        found.append(_row(f"{name} (latency, by Little)", [feature_set], guess, None, None))
    return found


def product(inputs: Array, target: str) -> Array:
    """Give what latency in ns times the rate comes to, by Little's law; shape (n,)."""
    in_flight: Array = features.columns("extended", inputs)[:, 1]
    size = features.columns("basic", inputs)[:, 2] if target == "bandwidth" else 0.0
    whole: Array = 1e9 * 2 ** (in_flight + size)
    return whole


def _constant(sample: Sample, test: Sample, seed: int) -> list[dict[str, Any]]:
    def typical(values: Array) -> float:
        return float(stats.log_median(values))

    folds = sample.folds(seed)
    unseen = np.empty(len(sample))
    for fold in np.unique(folds):
        unseen[folds == fold] = typical(sample.values[folds != fold])
    every = typical(sample.values)
    guesses = [
        _Guess("in-sample", sample.values, np.full(len(sample), every)),
        _Guess("grouped", sample.values, unseen),
    ]
    if len(test):
        guesses.append(_Guess("off-grid", test.values, np.full(len(test), every)))
    return [_row(CONSTANT, [], guess, None, None) for guess in guesses]


def _nearest(sample: Sample, test: Sample) -> list[dict[str, Any]]:
    from scipy.spatial import cKDTree

    columns = sample.columns("extended")
    scale = np.maximum(np.ptp(columns, axis=0), 1e-9)
    places = cKDTree(columns / scale)
    # Of a row's neighbours the first is itself.
    index = np.asarray(places.query(columns / scale, k=2)[1])
    guesses = [_Guess("grouped", sample.values, sample.values[index[:, 1]])]
    if len(test):
        index = np.asarray(places.query(test.columns("extended") / scale)[1])
        guesses.append(_Guess("off-grid", test.values, sample.values[index]))
    return [_row(NEAREST, ["extended"], guess, None, None) for guess in guesses]


def _interpolation(sample: Sample, test: Sample, seed: int) -> list[dict[str, Any]]:
    folds, between = sample.folds(seed), np.empty(len(sample), dtype=bool)
    grouped = np.empty(len(sample))
    for fold in np.unique(folds):
        out = folds == fold
        known = Sample(sample.inputs[~out], sample.values[~out])
        grouped[out], between[out] = interpolated(known, sample.inputs[out])
    found = [("grouped", sample, grouped, between)]
    if len(test):
        found.append(("off-grid", test, *interpolated(sample, test.inputs)))
    return [
        _row(INTERPOLATION, [], _Guess(split, part.values, predicted), None, None)
        for split, part, predicted, inside in found
        if inside.mean() >= LEAST_BETWEEN
    ]


def interpolated(known: Sample, inputs: Array) -> tuple[Array, Array]:
    """Interpolate, and say where that is between workloads; elsewhere take the nearest."""
    from scipy.spatial import cKDTree

    predicted = interpolate(known.inputs, known.values, inputs)
    between = np.isfinite(predicted)
    if not between.all():
        columns = known.columns("extended")
        scale = np.maximum(np.ptp(columns, axis=0), 1e-9)
        outside = features.columns("extended", inputs[~between])
        nearest = np.asarray(cKDTree(columns / scale).query(outside / scale)[1])
        predicted[~between] = known.values[nearest]
    return predicted, between


def _row(
    name: str, sets: Sequence[str], guess: _Guess, fit_s: float | None, trained: int | None
) -> dict[str, Any]:
    errors = stats.prediction_errors(guess.values, guess.predicted).to_json()
    inside = top = None
    if guess.interval is not None:
        mask = covered(guess.interval, guess.values)
        inside = float(mask.mean())
        largest = guess.predicted >= np.quantile(guess.predicted, 2 / 3)
        top = float(mask[largest].mean())
    return {
        "name": name,
        "features": sets[0] if sets else None,
        "target": "",
        "split": guess.split,
        **{key: errors[key] for key in ("mre", "mae", "r2", "median_ape", "p90_ape")},
        "coverage90": inside,
        "coverage90_slowest_third": top,
        "skill": None,
        "n_train": trained,
        "n_test": errors["n"],
        "fit_s": fit_s,
        "predict_us": guess.predict_us,
    }


def every_model(rows: int) -> list[str]:
    """List all kinds of models, baselines too, that can be fitted to so many rows."""
    return registry.available(rows, baselines=True)
