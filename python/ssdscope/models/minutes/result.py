"""What a forecast says of minutes to come, held to them and to predictions that need no model.

Beside each error are those of the median of the minutes that were learnt from (``median``), and of
the minute before (``last``), which is taken for known even where not all its requests were served
yet. Skill is the share of their mean relative error that the forecast takes away; below 0 it is
worse than they are. The skill over the median that is expected is known without the minutes to
come: it is that on minutes which were learnt from later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope import stats
from ssdscope.models.intervals import covered

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Forecast:
    """Predictions of minutes that were not learnt from.

    Attributes
    ----------
    setting, target
        What the models are told, and what they predict.
    models
        The kinds that were chosen.
    weight
        How much of what they say is believed; the rest is the median, all of it at 0.
    expected
        Skill over the median on minutes that were learnt from later.
    begin
        The first minute that is predicted.
    minutes
        Which minutes are predicted, those left out in which nothing was asked or served.
    measured, predicted, median, last
        Of shape (minutes,): the truth, the prediction, the median of the minutes that were
        learnt from, the minute before.
    interval
        Low and high, shape (minutes, 2): nine in ten shall be inside.
    trained
        How many minutes were learnt from.
    """

    setting: str
    target: str
    models: tuple[str, ...]
    weight: float
    expected: float
    begin: int
    minutes: Array
    measured: Array
    predicted: Array
    median: Array
    last: Array
    interval: Array
    trained: int

    @property
    def chosen(self) -> str:
        """What predicts, in words: the median, models, or how much of these."""
        if self.weight == 0:
            return "median"
        names = "+".join(self.models)
        return names if self.weight == 1 else f"{self.weight:.2g} {names}"

    def to_dict(self) -> dict[str, Any]:
        """Give its errors beside those of the baselines; relative ones are shares."""
        errors = stats.prediction_errors(self.measured, self.predicted)
        found: dict[str, Any] = {
            "setting": self.setting,
            "target": self.target,
            "models": list(self.models),
            "weight": self.weight,
            "chosen": self.chosen,
            "expected_skill_median": self.expected,
            "n_train": self.trained,
            "n_test": errors.n,
            "mre": errors.mre,
            "mae": errors.mae,
            "r2": errors.r2,
            "median_ape": errors.median_ape,
            "coverage90": float(covered(self.interval, self.measured).mean()),
        }
        for name, guess in (("median", self.median), ("last", self.last)):
            naive = stats.prediction_errors(self.measured, guess)
            found[f"mre_{name}"], found[f"mae_{name}"] = naive.mre, naive.mae
            found[f"skill_{name}"] = 1 - errors.mre / naive.mre if naive.mre else float("nan")
        return found


def joined(parts: Sequence[Forecast]) -> Forecast:
    """Take forecasts of one setting and target, part after part, as one."""
    first = parts[0]
    columns = ("minutes", "measured", "predicted", "median", "last", "interval")
    return Forecast(
        setting=first.setting,
        target=first.target,
        models=first.models,
        weight=float(np.mean([part.weight for part in parts])),
        expected=float(np.mean([part.expected for part in parts])),
        begin=first.begin,
        trained=first.trained,
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns},
    )
