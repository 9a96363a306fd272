"""What the paper says of its tables that compares their cells: which is worse, and by how much.

Numbers are in-sample errors in percent and shares of variance that are left, 1 - R2, of models
that `accuracy` fits once. A sentence is asked where all the devices that it is about are wanted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.models.features import WORKLOADS
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.huang2011.claims import every, named, of
from ssdscope.studies.huang2011.predicting.accuracy import EXTENDED, TARGETS, Accuracy
from ssdscope.studies.record import Reading

Found = Iterator[tuple[str, Reading]]
SSDS = ("SSD_I", "SSD_A", "SSD_S")
DISK, ARRAY, MEMBER = "HDD_S", "Array_I", "SSD_I"
KINDS = [kind for kind in WORKLOADS if kind != "all"]
ENTIRE = ("rd_only", "wr_only")
PAIRS = (("rd_only", "wr_only"), ("rand_rd", "rand_wr"), ("seq_rd", "seq_wr"))
METRICS = {target: name for target, (name, *_) in TARGETS.items()}


@dataclass(frozen=True)
class Models:
    """Errors of the models of all tables, by device, target, kind of workload and features."""

    accuracy: Accuracy
    basic: str
    progress: StageProgress

    def error(self, device: str, target: str, kind: str = "all", features: str = EXTENDED) -> float:
        """Mean relative error in percent; NaN without a model."""
        return 100 * self._of("mre", device, target, kind, features)

    def left(self, device: str, target: str, features: str = EXTENDED, kind: str = "all") -> float:
        """Share of the variance that is left; NaN without a model."""
        return 1 - self._of("r2", device, target, kind, features)

    def _of(self, key: str, device: str, target: str, kind: str, features: str) -> float:
        cell = self.accuracy.cell(device, features, target, kind, self.progress)
        return float("nan") if cell is None else float(cell.in_sample[key])

    def improved(self, device: str, target: str) -> float:
        """Share of a basic model's error, in percent, that the extended one takes away."""
        return 100 * (1 - self.error(device, target) / self.basic_error(device, target))

    def grown(self, device: str, target: str) -> float:
        """By what share of it, in percent, R2 grows."""
        basic, extended = (1 - self.left(device, target, each) for each in (self.basic, EXTENDED))
        return 100 * (extended / basic - 1)

    def basic_error(self, device: str, target: str) -> float:
        """Error of the basic model."""
        return self.error(device, target, features=self.basic)

    def has(self, *devices: str) -> bool:
        """Whether all of them are wanted."""
        return set(devices) <= set(self.accuracy.wanted.devices)


def of_table(
    name: str, accuracy: Accuracy, basic: str, progress: StageProgress
) -> dict[str, Reading]:
    """Read off what is said of a table, or of figures 9 and 10."""
    models = Models(accuracy, basic, progress)
    needed, read = _SAID[name]
    return dict(read(models)) if models.has(*needed) else {}


def _table_ii(models: Models) -> Found:
    for target, metric in METRICS.items():
        errors = {device: models.basic_error(device, target) for device in (DISK, *SSDS)}
        for device in errors:
            times = errors[device] / models.error(device, target)
            yield f"basic for extended: {device}: {metric}", of(times)
        worse = [errors[DISK] / errors[device] for device in SSDS]
        yield f"basic, disk worse: {metric}", Reading(named(errors, "%"), worse)
        least = min(errors[device] for device in SSDS)
        yield f"basic, unsatisfactory: {metric}", of(least, "% at the least")
    throughput = {device: models.basic_error(device, "iops") for device in (MEMBER, DISK)}
    yield "SSD_I, basic throughput", of(throughput[MEMBER], "%")
    times = throughput[MEMBER] / throughput[DISK]
    yield "SSD_I worse than the disk", Reading(named(throughput, "%"), times)


def _table_iii(models: Models) -> Found:
    for target, metric in METRICS.items():
        errors = {device: models.error(device, target) for device in (DISK, *SSDS)}
        left = {device: models.left(device, target) for device in errors}
        text = named(errors, "%")
        most = max(errors[device] for device in SSDS)
        yield f"hardest: {metric}", Reading(text, errors[DISK] / most)
        shares = [errors[device] / errors[DISK] for device in SSDS]
        yield f"SSDs, smaller errors: {metric}", every(shares, "times the disk's")
        shares = [left[device] / left[DISK] for device in SSDS]
        yield f"SSDs, larger R2: {metric}", every(shares, "times the variance left")
        for which, values in (
            ("least of SSDs", min(errors[device] for device in SSDS)),
            ("least", min(errors.values())),
            ("most", max(errors.values())),
        ):
            yield f"range: {metric}, {which}", of(values)
        if target != "latency":
            others = min(errors[device] for device in errors if device != MEMBER)
            yield f"SSD_I best model: {metric}", Reading(text, errors[MEMBER] / others)
    for device in (DISK, *SSDS):
        latency, *rates = (models.error(device, target) for target in TARGETS)
        text = named(dict(zip(METRICS.values(), (latency, *rates), strict=True)), "%")
        yield f"latency hardest: {device}", Reading(text, latency / max(rates))
    kept = [1 - models.left(device, target) for device in SSDS for target in TARGETS]
    near = np.mean([0.91 <= each <= 0.99 for each in kept])
    text = f"{min(kept):.3f} to {max(kept):.3f}, {100 * near:.0f} % of them from 0.91 to 0.99"
    yield "R2 around 0.95", Reading(text, float(np.median(kept)))


def _table_iv(models: Models) -> Found:
    cells = {
        (device, target, kind): models.error(device, target, kind)
        for device in (DISK, *SSDS[:2])
        for target in TARGETS
        for kind in KINDS
    }
    lower = [error < models.error(device, target) for (device, target, _), error in cells.items()]
    yield "one pattern", _count(lower)
    one, other = (
        [cells[device, target, kind] for target in TARGETS for kind in KINDS] for device in SSDS[:2]
    )
    yield "similar patterns", of(_rank_correlation(one, other), "rank correlation")
    disk = [cells[DISK, target, kind] for target in TARGETS for kind in KINDS]
    yield (
        "disk less accurate",
        _count([d > max(pair) for d, *pair in zip(disk, one, other, strict=True)]),
    )
    times = [d / np.mean(pair) for d, *pair in zip(disk, one, other, strict=True)]
    yield "disk much larger", of(float(np.nanmedian(times)), "times their mean, in the median")
    of_ssds = {key: error for key, error in cells.items() if key[0] != DISK}
    whole = [error for (*_, kind), error in of_ssds.items() if kind in ENTIRE]
    for which, value in (("least", np.nanmin(whole)), ("most", np.nanmax(whole))):
        yield f"rd_only and wr_only: {which}", of(float(value))
    rest = {key: error for key, error in of_ssds.items() if key[2] not in ENTIRE}
    yield "below 10 %", _count([error < 10 for error in rest.values()])
    better = [error / models.error(*key[:2]) for key, error in rest.items()]
    yield "better than extended", of(float(np.nanmedian(better)), "times, in the median")
    yield "less than 1 %", of(float(np.nanmin(list(of_ssds.values()))), "%")
    easier = [
        cells[device, target, read] < cells[device, target, write]
        for device in SSDS[:2]
        for target in TARGETS
        for read, write in PAIRS
    ]
    yield "reads easier", _count(easier)
    for device, kind in ((DISK, "rand_only"), (DISK, "rand_rd"), (SSDS[1], "rand_wr")):
        left = models.left(device, "iops", kind=kind)
        yield f"low R2: {device}, {kind}", of(1 - left)


def _count(true: Sequence[bool]) -> Reading:
    return Reading(f"{sum(true)} of {len(true)}", float(np.mean(true)))


def _rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    known = np.isfinite(one) & np.isfinite(other)
    if known.sum() < 3:
        return float("nan")
    ranks = [np.argsort(np.argsort(np.asarray(each)[known])).astype(float) for each in (one, other)]
    return float(np.corrcoef(np.array(ranks))[0, 1])


def _table_v(models: Models) -> Found:
    for target, metric in METRICS.items():
        errors = {device: models.basic_error(device, target) for device in (ARRAY, MEMBER)}
        yield (
            f"array like its member: {metric}",
            Reading(named(errors, "%"), errors[ARRAY] / errors[MEMBER]),
        )
        points = errors[ARRAY] - models.error(ARRAY, target)
        yield f"array, improvement: {metric}", of(points)
        times = errors[ARRAY] / models.error(ARRAY, target)
        yield f"array, basic for extended: {metric}", of(times)


def _table_vi(models: Models) -> Found:
    for target, metric in METRICS.items():
        errors = {device: models.error(device, target) for device in (ARRAY, MEMBER)}
        yield (
            f"array worse than its member: {metric}",
            Reading(named(errors, "%"), errors[ARRAY] / errors[MEMBER]),
        )


def _figure_9(models: Models) -> Found:
    for device in (DISK, *SSDS):
        bars = [models.improved(device, target) for target in TARGETS]
        yield f"close to 60 %: {device}", every(bars, "%")
    mean = float(np.mean([models.improved(MEMBER, target) for target in TARGETS]))
    yield "SSD_I, 80 %", of(mean)
    for device in SSDS:
        yield f"latency, much lower: {device}", of(models.improved(device, "latency"), "%")


def _figure_10(models: Models) -> Found:
    grown = {device: models.grown(device, "latency") for device in (DISK, *SSDS)}
    least, most = min(grown["SSD_I"], grown["SSD_S"]), max(grown[DISK], grown["SSD_A"])
    yield "latency, grows most", Reading(named(grown, "%"), [least - most, least - 20 + 1e-9])
    yield "SSD_A, grows little", of(grown["SSD_A"], "%")
    half = [models.grown(device, target) > 50 for device in SSDS for target in TARGETS]
    yield "grows by half", Reading(f"{sum(half)} of {len(half)} models", float(sum(half)))


_ALL = (DISK, *SSDS)
_SAID: dict[str, tuple[tuple[str, ...], Callable[[Models], Found]]] = {
    "II": (_ALL, _table_ii),
    "III": (_ALL, _table_iii),
    "IV": (_ALL[:3], _table_iv),
    "V": ((ARRAY, MEMBER), _table_v),
    "VI": ((ARRAY, MEMBER), _table_vi),
    "9": (_ALL, _figure_9),
    "10": (_ALL, _figure_10),
}
"""The devices that it needs, and what reads it off."""
