"""A fitted model as plain data: it predicts, knows its ranges, and is kept as JSON.

Estimators predict through it, so what is loaded predicts the same to the last bit. The file
format is described in ``docs/models.md``; this module needs numpy and nothing else.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.models.guide.tree import Tree
from ssdscope.results.files import write_text

Array = npt.NDArray[Any]
FORMAT = "ssdscope-guide"
VERSION = 1


class OutOfRangeWarning(UserWarning):
    """A prediction was asked for outside what the model has seen."""


@dataclass(frozen=True, eq=False)
class GuideModel:
    """One or more trees of linear models; the prediction is the mean of theirs, or their sum.

    Other models are told in the same words: trees of constants have no coefficients, boosted
    trees add up, and a linear model is a tree that is one leaf.

    Attributes
    ----------
    trees : tuple of Tree
    features : tuple of str
        Names of the columns.
    low, high : ndarray, shape (features,)
        Least and largest value of each column in the rows it was fitted on.
    rows : int
        How many those were.
    log_target : bool
        Whether the trees give the natural logarithm of the target.
    quantile : float or None
        What is predicted: this quantile, or the mean (of the logarithm, with `log_target`).
    target : str
        Name of what is predicted, with its unit.
    additive : bool
        Whether predictions of trees are added, and not averaged.
    """

    trees: tuple[Tree, ...]
    features: tuple[str, ...]
    low: Array
    high: Array
    rows: int
    log_target: bool = False
    quantile: float | None = None
    target: str = "y"
    additive: bool = False

    def named(self, features: Sequence[str], target: str) -> Self:
        """Copy the model with names for its columns and its target.

        Raises
        ------
        UsageError
            If there are not as many names as columns.
        """
        if len(features) != len(self.features):
            raise UsageError(
                f"{len(features)} names for the {len(self.features)} features of the model"
            )
        return replace(self, features=tuple(features), target=target)

    def predict(self, points: Any) -> Array:
        """Predict, and warn if any row is outside the ranges.

        Parameters
        ----------
        points
            Shape (n, features), in the order of `features`.

        Returns
        -------
        ndarray
            Shape (n,), in the unit of the target.

        Raises
        ------
        UsageError
            If the number of columns is wrong or a value is not finite.
        """
        rows = np.asarray(points, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise UsageError(
                f"the model wants {len(self.features)} columns, not an array of shape {rows.shape}",
                hint=f"its columns are {', '.join(self.features)}",
            )
        if not np.isfinite(rows).all():
            raise UsageError("a feature is not a number, or infinite")
        self.warn_outside(rows)
        return self.evaluate(rows)

    def evaluate(self, points: Array) -> Array:
        """Predict without a look at the ranges; shape (n,)."""
        answer = np.zeros(len(points))
        for tree in self.trees:
            answer += tree.predict(points)
        if not self.additive:
            answer /= len(self.trees)
        return np.exp(answer) if self.log_target else answer

    def outside(self, points: Array) -> Array:
        """Tell which values are outside the ranges; booleans of shape (n, features)."""
        beyond: Array = (points < self.low) | (points > self.high)
        return beyond

    def warn_outside(self, points: Array) -> None:
        """Warn of rows outside the ranges, with the features and what was seen of them."""
        beyond = self.outside(points)
        if not beyond.any():
            return
        names = ", ".join(
            f"{self.features[column]} ({self.low[column]:.6g} to {self.high[column]:.6g})"
            for column in np.flatnonzero(beyond.any(axis=0))
        )
        warnings.warn(
            f"{int(beyond.any(axis=1).sum())} of {len(points)} rows are outside what the model "
            f"was fitted on: {names}; there it can only go on as it began, so measure there "
            "and fit again",
            OutOfRangeWarning,
            stacklevel=3,
        )

    def to_json(self) -> dict[str, Any]:
        """Write the model as plain data."""
        ranges = zip(self.features, self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "format": FORMAT,
            "version": VERSION,
            "target": {
                "name": self.target,
                "scale": "log" if self.log_target else "identity",
                "quantile": self.quantile,
            },
            "features": [{"name": name, "low": low, "high": high} for name, low, high in ranges],
            "rows": self.rows,
            "combine": "sum" if self.additive else "mean",
            "trees": [tree.to_json() for tree in self.trees],
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            If it is not such a model, with the first fault.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise UsageError(f'this is not a model: no "format": "{FORMAT}"')
        if data.get("version") != VERSION:
            raise UsageError(
                f"this model is of version {data.get('version')}, and only {VERSION} is known here"
            )
        try:
            features = data["features"]
            target = data["target"]
            scales = {"log": True, "identity": False}
            model = cls(
                trees=tuple(Tree.from_json(tree, len(features)) for tree in data["trees"]),
                features=tuple(feature["name"] for feature in features),
                low=np.array([feature["low"] for feature in features], dtype=float),
                high=np.array([feature["high"] for feature in features], dtype=float),
                rows=int(data["rows"]),
                log_target=scales[target["scale"]],
                quantile=target["quantile"],
                target=target["name"],
                additive={"sum": True, "mean": False}[data.get("combine", "mean")],
            )
        except KeyError as fault:
            raise UsageError(f"the model is damaged: no {fault} where one belongs") from fault
        except (AttributeError, TypeError, ValueError) as fault:
            raise UsageError(f"the model is damaged: {fault}") from fault
        if not model.trees:
            raise UsageError("the model is damaged: it has no trees")
        return model

    def save(self, path: Path) -> None:
        """Write the model to a file."""
        write_text(path, json.dumps(self.to_json(), allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model from a file.

        Raises
        ------
        UsageError
            If the file cannot be read or holds no model.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as fault:
            raise UsageError(f"{path}: {fault.strerror}") from fault
        except ValueError as fault:
            raise UsageError(f"{path}: this is not JSON: {fault}") from fault
        try:
            return cls.from_json(data)
        except UsageError as fault:
            raise UsageError(f"{path}: {fault.message}", hint=fault.hint) from fault
