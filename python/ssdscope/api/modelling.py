"""Models of collected runs."""

from __future__ import annotations

import os

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.api.probing import OnStage
from ssdscope.models import fitting
from ssdscope.models.fitted import FittedModel
from ssdscope.models.table import load
from ssdscope.probes.budget import silent
from ssdscope.seeds import require_seed


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
    """Fit a model to runs that ``ssdscope model collect`` made.

    Parameters
    ----------
    data
        The runs, ``.parquet``.
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
        Called with the stage and the share that is done.

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
    return fitting.fit(
        rows,
        header,
        model=model,
        feature_set=features,
        target=target,
        workload=workload,
        seed=used_seed,
        progress=progress or silent,
    )
