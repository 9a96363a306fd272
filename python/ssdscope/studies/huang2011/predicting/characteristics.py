"""What single characteristics are worth, and what the logarithm and the median are.

GUIDE trees of the same runs of the grid, a thousand drawn by the seed, with a characteristic taken
away, shuffled or given in addition; of one drive held to another; of values and their logarithms.
Errors are in-sample unless said otherwise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models import GuideRegressor, features, fitting
from ssdscope.models.samples import LEAST_ROWS, Sample
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies.huang2011.claims import every, named, of
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy
from ssdscope.studies.huang2011.predicting.comparing import DISK, METRICS, SSDS
from ssdscope.studies.huang2011.predicting.runs import GRID
from ssdscope.studies.huang2011.procedure import Runs, curves
from ssdscope.studies.making import within
from ssdscope.studies.record import Columns, Measured, Reading

Array = npt.NDArray[Any]
Found = Iterator[tuple[str, Reading]]
ROWS = 1000
"""So many runs are drawn: some hundred trees are fitted, and a median tree takes long."""
BASIC_NAMES = ("share of writes", "queue depth", "size", "randomness")
SIZES, RANDOM, STRIDES = slice(2, 4), slice(4, 6), slice(6, 8)
"""Columns of the extended characteristics, writes before reads."""


@dataclass
class Trees:
    """Fits trees of drawn runs, and says how far off they are."""

    accuracy: Accuracy
    progress: StageProgress
    _samples: dict[tuple[str, str], Sample] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """Of draws and fits."""
        return self.accuracy.wanted.seed

    def sample(self, device: str, target: str = "latency") -> Sample:
        """Return a drive's drawn runs."""
        key = (device, target)
        if key not in self._samples:
            self._samples[key] = self.accuracy.drawn(device, target, ROWS, self.progress)
        return self._samples[key]

    def fit(self, columns: Array, values: Array, *, log: bool = True) -> Any:
        """Fit a tree, which evaluates columns."""
        seed = self.seed % 2**32
        return GuideRegressor(log_target=log, random_state=seed).fit(columns, values).model_

    def error(self, columns: Array, values: Array, *, log: bool = True) -> float:
        """Mean relative error in percent of a tree of columns."""
        fitted = self.fit(columns, values, log=log)
        return 100 * stats.prediction_errors(values, fitted.evaluate(columns)).mre


def measure(accuracy: Accuracy, runs: Runs, progress: StageProgress) -> Measured:
    """Fit all, of the devices that are wanted."""
    devices = [each for each in (DISK, *SSDS) if each in accuracy.wanted.devices]
    found: dict[str, Reading] = {}
    trees = Trees(accuracy, progress)
    for done, device in enumerate(devices):
        trees.progress = within(progress, done, len(devices))
        for part in _OF_EACH:
            found |= dict(part(trees, device))
        if device != DISK:
            for part in _OF_SSDS:
                found |= dict(part(trees, device))
            if device in ("SSD_I", "SSD_S"):
                found |= dict(_captured(trees, runs, device))
    found |= dict(_of_each_other(trees, [each for each in devices if each != DISK]))
    if DISK in devices:
        found |= dict(_by_the_disk(trees, [each for each in devices if each != DISK]))
    columns: Columns = {"row": list(found), "ours": [each.ours for each in found.values()]}
    return Measured(found, None, columns, [f"Trees of {ROWS:,} drawn runs of the grid at most"])


def _taken_back(columns: Array, share: Array) -> dict[str, Array]:
    """Take each addition of the extended models back: as a host counts, one of both directions."""

    def one_of_both(pair: slice, *, log: bool) -> Array:
        write, read = columns[:, pair].T
        if log:
            write, read = 2**write, 2**read
        mean: Array = share * write + (1 - share) * read
        return np.asarray(np.log2(mean)) if log else mean

    others = {
        "strides": np.delete(columns, STRIDES, axis=1),
        "sizes": np.delete(columns, SIZES, axis=1),
        "randomness": np.delete(columns, RANDOM, axis=1),
    }
    others["sizes"] = np.column_stack([others["sizes"], one_of_both(SIZES, log=True)])
    others["randomness"] = np.column_stack([others["randomness"], one_of_both(RANDOM, log=False)])
    return others


def _additions(trees: Trees, device: str) -> Found:
    """Leave out each addition, and each of the basic four; give what else they imply."""
    sample = trees.sample(device)
    columns, basic = (sample.columns(each) for each in ("extended", "basic"))
    whole = trees.error(columns, sample.values)
    for name, fewer in _taken_back(columns, columns[:, 0]).items():
        times = trees.error(fewer, sample.values) / whole
        yield f"addition: {device}, {name}", of(times, "times the error without")
    four = trees.error(basic, sample.values)
    for place, name in enumerate(BASIC_NAMES):
        times = trees.error(np.delete(basic, place, axis=1), sample.values) / four
        yield f"critical: {device}, {name}", of(times, "times the error without")
    unseen = {
        each: 100 * stats.prediction_errors(
            sample.values,
            fitting.unseen_predictions("guide", each, sample, trees.seed, 5).predicted,
        ).mre
        for each in ("extended", "physics")
    }  # fmt: skip
    times = unseen["physics"] / unseen["extended"]
    text = f"{unseen['extended']:.1f} % by the eight, {unseen['physics']:.1f} with what they imply"
    yield f"most correlated: {device}", Reading(f"{text}, on folds", times)


def _importance(trees: Trees, device: str) -> Found:
    """Shuffle a characteristic of the model of reads only."""
    rows = trees.accuracy.runs(device, GRID, trees.progress)
    sample = Sample.of(rows, "train", "latency", "rd_only")
    if len(sample) < LEAST_ROWS:
        return
    columns = sample.columns("extended")
    fitted = trees.fit(columns, sample.values)
    whole = stats.prediction_errors(sample.values, fitted.evaluate(columns)).mre
    rng = stream(trees.seed, "studies.huang2011.importance")
    for name, places in (("queue depth", [1]), ("size", [2, 3])):
        shuffled = columns.copy()
        shuffled[:, places] = columns[rng.permutation(len(columns))][:, places]
        off = stats.prediction_errors(sample.values, fitted.evaluate(shuffled)).mre
        yield f"importance: {device}, {name}", of(off / whole, "times the error if shuffled")


def _mixes(trees: Trees, device: str) -> Found:
    """Predict mixes by models of reads only and of writes only, weighted by share."""
    rows = trees.accuracy.runs(device, GRID, trees.progress)
    sample = trees.sample(device)
    mixed = (sample.inputs[:, 0] > 0) & (sample.inputs[:, 0] < 100)
    predicted = np.zeros(mixed.sum())
    for kind, ratio in (("rd_only", 0), ("wr_only", 100)):
        part = Sample.of(rows, "train", "latency", kind)
        if len(part) < LEAST_ROWS:
            return
        inputs = sample.inputs[mixed].copy()
        share = np.abs(inputs[:, 0] - (100 - ratio)) / 100
        inputs[:, 0] = ratio
        own, other = (
            (slice(3, 8, 2), slice(2, 8, 2)) if ratio == 0 else (slice(2, 8, 2), slice(3, 8, 2))
        )
        inputs[:, other] = inputs[:, own]  # of one direction only, both columns have its values
        fitted = trees.fit(part.columns("extended"), part.values)
        predicted += share * fitted.evaluate(features.columns("extended", inputs))
    whole = trees.fit(sample.columns("extended"), sample.values)
    truth = sample.values[mixed]
    off = stats.prediction_errors(truth, predicted).mre
    extended = stats.prediction_errors(truth, whole.evaluate(sample.columns("extended")[mixed])).mre
    text = f"{100 * off:.1f} % off, {100 * extended:.1f} by the extended model"
    yield f"mix: {device}", Reading(text, off / extended)


def _captured(trees: Trees, runs: Runs, device: str) -> Found:
    """Ask models of the grid for figure 5's points."""
    lines = [each for each in curves("5") if each.device == device and "steps" not in each.name]
    rows = [row for line in lines for row in runs.rows(device, line.vectors)]
    columns = features.columns("extended", features.inputs([row.vector for row in rows]))
    for target, attribute in (("bandwidth", "bandwidth_bytes_per_s"), ("iops", "iops")):
        sample = trees.sample(device, target)
        fitted = trees.fit(sample.columns("extended"), sample.values)
        truth = np.array([getattr(row, attribute) for row in rows])
        off = 100 * stats.prediction_errors(truth, fitted.evaluate(columns)).mre
        yield f"captured: {device}, {METRICS[target]}", of(off)


def _transform(trees: Trees, device: str) -> Found:
    """Compare values and models with their logarithms."""
    skew = {}
    for target, metric in METRICS.items():
        values = trees.sample(device, target).values
        skew[metric] = _skewness(values)
    latency = trees.sample(device)
    rates = [skew[metric] for target, metric in METRICS.items() if target != "latency"]
    text = f"skewness {named(skew, '')}"
    yield f"latency skewed: {device}", Reading(text, [skew["latency"] - each for each in rates])
    logs = abs(_skewness(np.log(latency.values)))
    text = f"{skew['latency']:.2f}, of the logarithm {logs:.2f}"
    yield f"logarithm, skewness: {device}", Reading(text, logs / skew["latency"])
    columns = latency.columns("extended")
    errors = [trees.error(columns, latency.values, log=log) for log in (True, False)]
    text = f"{errors[0]:.1f} % with it, {errors[1]:.1f} without"
    yield f"logarithm, error: {device}", Reading(text, errors[0] / errors[1])


def _skewness(values: Array) -> float:
    apart = values - values.mean()
    return float((apart**3).mean() / (apart**2).mean() ** 1.5)


def _spread(trees: Trees, device: str) -> Found:
    """Compare how far runs lie apart that are alike to a basic model, and to an extended one."""
    rows = trees.accuracy.runs(device, GRID, trees.progress)
    sample = Sample.of([*rows], "train", "latency")
    apart = {}
    for kind in ("basic", "extended"):
        _, place = np.unique(sample.columns(kind).round(9), axis=0, return_inverse=True)
        logs, place = np.log(sample.values), place.reshape(-1)
        counts = np.bincount(place)
        means = np.bincount(place, logs) / counts
        shared = counts[place] > 1
        apart[kind] = float(np.sqrt(((logs - means[place])[shared] ** 2).mean()))
    text = named({kind: 100 * each for kind, each in apart.items()}, "%")
    yield (
        f"not enough told: {device}",
        Reading(f"runs alike lie apart: {text}", apart["basic"] / apart["extended"]),
    )


def _median(trees: Trees, device: str) -> Found:
    """Fit trees by least squares and of the median."""
    for target, metric in METRICS.items():
        sample = trees.sample(device, target)
        squares, median = (
            100 * stats.prediction_errors(
                sample.values,
                fitting.fit_estimator(name, "extended", sample, trees.seed).model_.evaluate(
                    sample.columns("extended")
                ),
            ).mre
            for name in ("guide", "guide-quantile")
        )  # fmt: skip
        text = f"{median:.1f} % against {squares:.1f} % by least squares"
        yield f"quantile: {device}, {metric}", Reading(text, median / squares)


def _of_each_other(trees: Trees, devices: list[str]) -> Found:
    """Hold the latency model of each SSD to the runs of the others."""
    for device in devices:
        sample = trees.sample(device)
        fitted = trees.fit(sample.columns("extended"), sample.values)
        own = stats.prediction_errors(
            sample.values, fitted.evaluate(sample.columns("extended"))
        ).mre
        times = []
        for other in (each for each in devices if each != device):
            held = trees.sample(other)
            predicted = fitted.evaluate(held.columns("extended"))
            times.append(stats.prediction_errors(held.values, predicted).mre / own)
        if times:
            yield f"another drive: {device}", every(times, "times its own error")


def _by_the_disk(trees: Trees, devices: list[str]) -> Found:
    """Hold the disk's basic latency model to the SSDs' runs: low latency, slow updates."""
    disk = trees.sample(DISK)
    fitted = trees.fit(disk.columns("basic"), disk.values)
    for device in devices:
        sample = trees.sample(device)
        over = fitted.evaluate(sample.columns("basic")) / sample.values
        writes = sample.inputs[:, 0]
        reads, slow = (float(np.median(over[writes == ratio])) for ratio in (0, 100))
        yield f"disk's model, reads: {device}", of(reads, "times too slow, in the median")
        yield f"disk's model, writes: {device}", of(reads / slow, "times that of writes")


_OF_EACH: tuple[Callable[[Trees, str], Found], ...] = (_transform, _spread, _median)
_OF_SSDS: tuple[Callable[[Trees, str], Found], ...] = (_additions, _importance, _mixes)
