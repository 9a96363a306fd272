"""How far predictions are from what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.stats.summary import nearest_rank

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class PredictionErrors:
    """Error measures of one set of points; relative ones are shares, not percent."""

    n: int
    mre: float
    """Mean relative error."""
    median_ape: float
    p90_ape: float
    mae: float
    r2: float

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        return asdict(self)


def prediction_errors(measured: ArrayLike, predicted: ArrayLike) -> PredictionErrors:
    """Compare predictions with positive measurements, both of shape (n,)."""
    truth = np.asarray(measured, dtype=float)
    guess = np.asarray(predicted, dtype=float)
    absolute = np.abs(guess - truth)
    relative = absolute / truth
    spread = float(((truth - truth.mean()) ** 2).sum())
    return PredictionErrors(
        n=truth.size,
        mre=float(relative.mean()),
        median_ape=float(np.median(relative)),
        p90_ape=nearest_rank(relative, 90),
        mae=float(absolute.mean()),
        r2=1 - float((absolute**2).sum()) / spread if spread else float("nan"),
    )
