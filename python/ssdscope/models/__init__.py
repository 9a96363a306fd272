"""Models that predict the latency of a workload from a handful of measured ones.

`design`
    Which workloads are measured: a grid to learn from, and points off the grid to be held to.
`collect`
    Those workloads run on a drive, one row each.
`piecewise`
    The first estimator, in the manner of scikit-learn; imported only when it is fitted, since
    scikit-learn takes seconds to load.
`guide`
    Regression trees with linear leaves after GUIDE, kept as JSON. Not among what `characterize`
    fits so far.
`evaluate`
    A fitted model with its error on points it has not seen.

A new model is a file with an estimator that passes ``check_estimator``, and a line in
`evaluate.MODELS`. Models see a `Device` and measurements, never a drive's configuration.
"""

from ssdscope.models.collect import Measurement, collect
from ssdscope.models.design import FEATURES, Point, features, grid, off_grid
from ssdscope.models.evaluate import FittedModel, fit_and_evaluate

__all__ = [
    "FEATURES",
    "FittedModel",
    "Measurement",
    "Point",
    "collect",
    "features",
    "fit_and_evaluate",
    "grid",
    "off_grid",
]
