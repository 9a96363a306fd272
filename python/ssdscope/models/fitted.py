"""A fitted model as a file: JSON that any language can evaluate (``docs/models.md``).

It predicts without scikit-learn, knows the ranges it was fitted on, and says how far off it may be.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.models import asking, features, service_model
from ssdscope.models.gaussian_model import GaussianModel
from ssdscope.models.guide.model import GuideModel, OutOfRangeWarning
from ssdscope.models.intervals import Reach
from ssdscope.models.samples import CYCLE
from ssdscope.models.service_model import ServiceModel
from ssdscope.results.files import write_text
from ssdscope.workloads.grid import COLUMNS, Vector

Array = npt.NDArray[Any]
Answers = dict[str, dict[str, float]]
Predictor = GuideModel | GaussianModel | ServiceModel
KINDS: dict[str, type[GuideModel] | type[GaussianModel] | type[ServiceModel]] = {
    **service_model.RATIOS,
    service_model.FORMAT: ServiceModel,
}
FORMAT = "ssdscope-model"
VERSION = 2
MOST_BYTES = 256 << 20
"""A model file larger than this is none of ours."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """How one quantity is predicted.

    Attributes
    ----------
    name
        With its unit.
    model
        From columns of features to the quantity.
    low, high
        What its answers are held between.
    reach
        Of the 90 % interval.
    grouped
        Errors in grouped cross-validation.
    """

    name: str
    model: Predictor
    low: float
    high: float
    reach: Reach
    grouped: dict[str, Any]

    def predict(self, columns: Array, told: Array) -> Array:
        """Give value, low and high of the interval, for its features and the `extended`; (n, 3)."""
        value = np.clip(self.model.evaluate(columns), self.low, self.high)
        return np.column_stack([value, self.reach.interval(value, told)])

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {
            "name": self.name,
            "held_to": [self.low, self.high],
            "interval": self.reach.to_json(),
            "grouped": self.grouped,
            "predictor": self.model.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        given = data["predictor"]
        kind = KINDS[given["format"]]
        low, high = (float(each) for each in data["held_to"])
        reach = Reach.from_json(data["interval"])
        return cls(data["name"], kind.from_json(given), low, high, reach, data["grouped"])


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel:
    """A model of a drive.

    Attributes
    ----------
    model, feature_set, target, workload
        What it is: names.
    predictions
        By target.
    tree
        A small tree to be read, with its own error.
    low, high
        Ranges of the characteristics it was fitted on.
    kinds
        Kinds of workloads it was fitted on (`asking.kind`).
    background : ndarray, shape (n, 8)
        Some of the workloads it was fitted on.
    about
        Where it comes from.
    """

    model: str
    feature_set: str
    target: str
    workload: str
    predictions: dict[str, Prediction]
    tree: dict[str, Any]
    low: dict[str, float]
    high: dict[str, float]
    kinds: tuple[str, ...]
    background: Array
    about: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Name the model, what it learnt from, and its error on unseen runs."""
        off = self.predictions[self.target].grouped["mre"]
        learnt = f"{self.model} on {self.feature_set} features, {self.about['rows']} runs"
        return f"{learnt}; {self.target} is {off:.1%} off on unseen runs"

    def predict(self, **characteristics: float | str) -> Answers:
        """Predict a workload, told by the names and units of ``ssdscope model predict``.

        An `OutOfRangeWarning` says what of it is outside of what was measured.

        Parameters
        ----------
        **characteristics
            Shares as 0.3 or ``"30%"``, lengths in bytes or as ``"4k"``, ``q_dep`` as a number.

        Returns
        -------
        dict
            By quantity, with its unit: ``value``, and ``low`` and ``high`` of its interval.

        Raises
        ------
        UsageError
            If one is unknown, cannot be read or cannot be.

        Notes
        -----
        As on the command line: ``model.predict(wr_ratio="30%", q_dep=16, wr_size="4k")``.
        """
        vector = asking.vector(characteristics)
        if outside := self.outside(vector):
            told = f"outside of what the model was fitted on: {', '.join(outside)}"
            warnings.warn(told, OutOfRangeWarning, stacklevel=2)
        return self.answers(vector)

    def rows(self, inputs: Array) -> Array:
        """Predict the target of rows of `features.inputs`: value, low, high; shape (n, 3)."""
        return self._predict(self.target, inputs)

    def answers(self, vector: Vector) -> Answers:
        """Predict all there is to say of one workload, by name with unit.

        Rate and bandwidth follow from the latency: in a closed loop latency times rate is what
        is in flight (Little). If the host could not keep up in some runs, they follow from the
        time between requests, which has a model of its own. A mean is never more than the tails of
        its directions weighed by their shares; where they would be less, they are raised alike.
        """
        inputs = features.inputs([vector])
        found = {
            each.name: _answer(self._predict(target, inputs)[0])
            for target, each in self.predictions.items()
            if target != CYCLE and has(vector, target)
        }
        if self.target == "latency":
            latency = found["latency_ns"]
            share = vector.wr_ratio / 100
            _raise_tails(found, share)
            size = (1 - share) * vector.rd_size + share * vector.wr_size
            in_flight = {"iops": vector.q_dep * 1e9, "bandwidth_bytes_per_s": 0.0}
            in_flight["bandwidth_bytes_per_s"] = in_flight["iops"] * size
            between = self._between(inputs, latency)
            for name, product in in_flight.items():
                found[name] = {
                    "value": product / between["value"],
                    "low": product / between["high"],
                    "high": product / between["low"],
                }
        return found

    def _between(self, inputs: Array, latency: dict[str, float]) -> dict[str, float]:
        """Predict the time between requests of one place in the queue: at least the latency."""
        if CYCLE not in self.predictions:
            return latency
        cycle = _answer(self._predict(CYCLE, inputs)[0])
        return {key: max(value, latency[key]) for key, value in cycle.items()}

    def _predict(self, target: str, inputs: Array) -> Array:
        columns = features.columns(self.feature_set, inputs)
        return self.predictions[target].predict(columns, features.columns("extended", inputs))

    def outside(self, vector: Vector) -> list[str]:
        """Name what of a workload is new: characteristics outside the ranges, or its kind."""
        hidden = {0: "wr_", 100: "rd_"}.get(vector.wr_ratio, "-")
        shown = [name for name in COLUMNS if name == "wr_ratio" or not name.startswith(hidden)]
        given = asdict(vector)
        found = [
            f"{name} {given[name]:,} (fitted on {self.low[name]:,.0f} to {self.high[name]:,.0f})"
            for name in shown
            if not self.low[name] <= given[name] <= self.high[name]
        ]
        kind = asking.kind(vector)
        return found if kind in self.kinds else [*found, f"{kind} (fitted on none)"]

    def readable(self) -> GuideModel:
        """Give the tree that is there to be read."""
        return GuideModel.from_json(self.tree["model"])

    def to_json(self) -> dict[str, Any]:
        """Write the model as plain data."""
        ranges = {name: {"low": self.low[name], "high": self.high[name]} for name in COLUMNS}
        return {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "target": self.target,
            "workload": self.workload,
            "characteristics": ranges,
            "kinds": list(self.kinds),
            "features": {
                "set": self.feature_set,
                "names": list(features.SETS[self.feature_set]),
                "formulas": features.FORMULAS,
            },
            "predictions": {name: each.to_json() for name, each in self.predictions.items()},
            "tree": self.tree,
            "background": self.background.tolist(),
            "about": self.about,
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            If it is not such a model.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise UsageError(
                f'this is not a model: no "format": "{FORMAT}"',
                hint="ssdscope model fit DATA.parquet -O makes one",
            )
        if data.get("version") != VERSION:
            raise UsageError(
                f"this model is of version {data.get('version')}, and only {VERSION} is known here",
                hint="fit it again: ssdscope model fit DATA.parquet -O",
            )
        try:
            return cls._of(data)
        except KeyError as fault:
            raise UsageError(f"the model is damaged: no {fault} where one belongs") from fault
        except (AttributeError, TypeError, ValueError, IndexError) as fault:
            raise UsageError(f"the model is damaged: {fault}") from fault

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Self:
        ranges = data["characteristics"]
        feature_set = data["features"]["set"]
        if tuple(data["features"]["names"]) != features.SETS[feature_set]:
            raise ValueError(f"its {feature_set} features are not those known here")
        model = cls(
            model=data["model"],
            feature_set=feature_set,
            target=data["target"],
            workload=data["workload"],
            predictions={
                name: Prediction.from_json(each) for name, each in data["predictions"].items()
            },
            tree=data["tree"],
            low={name: float(ranges[name]["low"]) for name in COLUMNS},
            high={name: float(ranges[name]["high"]) for name in COLUMNS},
            kinds=tuple(data["kinds"]),
            background=np.array(data["background"], dtype=float).reshape(-1, len(COLUMNS)),
            about=data["about"],
        )
        model.rows(model.background[:1])
        model.readable()
        return model

    def save(self, path: Path | str) -> None:
        """Write the model to a file.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        write_text(path, json.dumps(self.to_json(), allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model from a file.

        Raises
        ------
        UsageError
            If the file cannot be read or holds no model.
        """
        place = Path(path)
        try:
            if place.is_file() and place.stat().st_size > MOST_BYTES:
                raise UsageError(f"{path} holds {place.stat().st_size:,} bytes: it is no model")
            data = json.loads(place.read_text(encoding="utf-8"))
        except OSError as fault:
            raise UsageError(f"cannot read {path}: {fault.strerror}") from fault
        except (ValueError, RecursionError) as fault:
            raise UsageError(f"{path} is not JSON: {fault}") from fault
        try:
            return cls.from_json(data)
        except UsageError as fault:
            raise UsageError(f"{path}: {fault.message}", hint=fault.hint) from fault


def has(vector: Vector, target: str) -> bool:
    """Say whether a workload has a quantity at all: no read, no tail of reads."""
    return not (
        (target == "read_p99" and vector.wr_ratio == 100)
        or (target == "write_p99" and vector.wr_ratio == 0)
    )


def _raise_tails(found: Answers, share: float) -> None:
    """Hold 99th percentiles to the mean of a workload, of whose requests a share are writes."""
    tails = {"read_p99_ns": 1 - share, "write_p99_ns": share}
    if any(part and name not in found for name, part in tails.items()):
        return
    shown = [name for name, part in tails.items() if part]
    for key, mean in found["latency_ns"].items():
        factor = max(1.0, mean / sum(tails[name] * found[name][key] for name in shown))
        for name in shown:
            found[name][key] *= factor


def _answer(values: Sequence[float]) -> dict[str, float]:
    return dict(zip(("value", "low", "high"), map(float, values), strict=True))
