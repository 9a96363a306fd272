"""Times that add up, and a model of what they miss, as plain data; kept as JSON."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.models.gaussian_model import FORMAT as GAUSSIAN
from ssdscope.models.gaussian_model import GaussianModel
from ssdscope.models.guide.model import FORMAT as GUIDE
from ssdscope.models.guide.model import GuideModel

Array = npt.NDArray[Any]
FORMAT = "ssdscope-service"
RATIOS: dict[str, type[GuideModel] | type[GaussianModel]] = {
    GUIDE: GuideModel,
    GAUSSIAN: GaussianModel,
}
"""Models of a ratio, by the format of their JSON."""


@dataclass(frozen=True, eq=False)
class ServiceModel:
    """A sum of times, multiplied by what a model says of the ratio to it.

    Attributes
    ----------
    ratio : GuideModel or GaussianModel
        Of the features, which are the first columns of a row.
    features : int
        How many those are.
    coefficients : ndarray, shape (terms,)
        Of the last columns; each times its coefficient is a time.
    least : float
        What their sum is held above.
    shares : bool
        Whether the ratio is a function of the shares of the times in their sum, too.
    """

    ratio: GuideModel | GaussianModel
    features: int
    coefficients: Array
    least: float
    shares: bool

    def evaluate(self, rows: Array) -> Array:
        """Predict; shape (n,)."""
        told, terms = rows[:, : self.features], rows[:, self.features :]
        if not len(self.coefficients):
            return self.ratio.evaluate(told)
        total = summed(terms, self.coefficients, self.least)
        if self.shares:
            told = with_shares(told, terms, self.coefficients, total)
        answer: Array = self.ratio.evaluate(told) * total
        return answer

    def to_json(self) -> dict[str, Any]:
        """Write the model as plain data."""
        return {
            "format": FORMAT,
            "version": 1,
            "features": self.features,
            "coefficients": self.coefficients.tolist(),
            "least": self.least,
            "shares": self.shares,
            "ratio": self.ratio.to_json(),
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            If it is not such a model.
        """
        try:
            ratio = data["ratio"]
            coefficients = np.array(data["coefficients"], dtype=float)
            model = RATIOS[ratio["format"]].from_json(ratio)
            shares = bool(data.get("shares", False))
            return cls(model, int(data["features"]), coefficients, float(data["least"]), shares)
        except (KeyError, TypeError, ValueError) as fault:
            raise UsageError(f"the model is damaged: {fault!r}") from fault


def summed(terms: Array, coefficients: Array, least: float) -> Array:
    """Add times up; shape (n,)."""
    total: Array = np.maximum(terms @ coefficients, least)
    return total


def with_shares(features: Array, terms: Array, coefficients: Array, total: Array) -> Array:
    """Put the share of each time in their total, where it takes any, behind the features."""
    takes = coefficients > 0
    return np.hstack([features, terms[:, takes] * coefficients[takes] / total[:, None]])
