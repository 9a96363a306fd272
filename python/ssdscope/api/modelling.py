"""Models of collected runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown, shown_as
from ssdscope.models import fitted, fitting
from ssdscope.models.imported import load
from ssdscope.seeds import require_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ssdscope.report.sheet import Sheet


class FittedModel(Shown, fitted.FittedModel):
    """A model of a drive, which a notebook shows."""

    def plot(self) -> Figure:
        """Draw what it has learnt: a tree to read, what matters, and how it matters.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from ssdscope.models.explaining import explained
        from ssdscope.plots import LIGHT, titled
        from ssdscope.report.model_figures import explanation

        return titled(explanation(self, explained(self), LIGHT), repr(self), LIGHT)

    def _sheet(self) -> Sheet:
        from ssdscope.report.model_figures import predictions
        from ssdscope.report.sheet import Sheet

        learnt = str(self.about["trained_on"]["target"])
        return Sheet(repr(self), [("learnt from", learnt)], [predictions(self)])


@keyworded()
def fit(
    data: str | os.PathLike[str],
    /,
    *,
    model: str = "best",
    features: str = "best",
    target: str = "latency",
    workload: str = "all",
    seed: int = SEED,
    progress: OnStage = None,
) -> FittedModel:
    """Fit a model to runs that ``ssdscope model collect`` or fio made.

    Parameters
    ----------
    data
        The runs, ``.parquet``; or results of fio on one drive, a file or a folder.
    model
        ``"guide"``, ``"gp"``, ``"lightgbm"`` and so on; or ``"best"``, the kind that predicts
        unseen runs best.
    features
        ``"basic"``, ``"extended"``, ``"physics"``; or ``"best"``.
    target
        ``"latency"``, ``"iops"``, ``"bandwidth"``, ``"read_p99"`` or ``"write_p99"``.
    workload
        Which runs: ``"all"``, ``"rd_only"``, ``"rand_wr"`` and so on.
    seed
        Of everything drawn.
    progress
        As of `probe`.

    Returns
    -------
    FittedModel
        Its ``predict(wr_ratio="30%", q_dep=16, rd_size="4k")`` gives values with intervals,
        its ``save(path)`` writes it for ``ssdscope model predict``.

    Raises
    ------
    UsageError
        If a name means nothing, or the file holds no runs or too few.
    """
    used_seed = require_seed(seed)
    fitting.require_known(model, features, target, workload)
    header, rows = load(os.fspath(data))
    with stages(progress) as stage:
        made = fitting.fit(
            rows,
            header,
            model=model,
            feature_set=features,
            target=target,
            workload=workload,
            seed=used_seed,
            progress=stage,
        )
    return shown_as(FittedModel, made)
