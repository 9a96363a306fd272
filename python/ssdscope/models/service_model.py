"""Times of a request and of a queue, and a model of what they miss, as plain data; kept as JSON."""

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
    sharpness : float
        1 if all times add up. Above, the first half of them are of the queue and the second of a
        request alone, and the total is the norm of that order of both: nearly the larger one.
    """

    ratio: GuideModel | GaussianModel
    features: int
    coefficients: Array
    least: float
    shares: bool
    sharpness: float = 1.0

    def evaluate(self, rows: Array) -> Array:
        """Predict; shape (n,)."""
        told, terms = rows[:, : self.features], rows[:, self.features :]
        if not len(self.coefficients):
            return self.ratio.evaluate(told)
        total = joined(terms, self.coefficients, self.least, self.sharpness)
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
            "sharpness": self.sharpness,
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
            shares, sharpness = bool(data.get("shares", False)), float(data.get("sharpness", 1))
            features, least = int(data["features"]), float(data["least"])
            return cls(model, features, coefficients, least, shares, sharpness)
        except (KeyError, TypeError, ValueError) as fault:
            raise UsageError(f"the model is damaged: {fault!r}") from fault


def summed(terms: Array, coefficients: Array, least: float) -> Array:
    """Add times up; shape (n,)."""
    total: Array = np.maximum(terms @ coefficients, least)
    return total


def joined(terms: Array, coefficients: Array, least: float, sharpness: float) -> Array:
    """Join the time of the queue with that of a request alone; shape (n,)."""
    if sharpness == 1:
        return summed(terms, coefficients, least)
    half = len(coefficients) // 2
    queue = terms[:, :half] @ coefficients[:half]
    alone = terms[:, half:] @ coefficients[half:]
    larger = np.maximum(np.maximum(queue, alone), least)
    joint: Array = larger * ((queue / larger) ** sharpness + (alone / larger) ** sharpness) ** (
        1 / sharpness
    )
    return np.maximum(joint, least)


def with_shares(features: Array, terms: Array, coefficients: Array, total: Array) -> Array:
    """Put the share of each time in their total, where it takes any, behind the features."""
    takes = coefficients > 0
    return np.hstack([features, terms[:, takes] * coefficients[takes] / total[:, None]])
