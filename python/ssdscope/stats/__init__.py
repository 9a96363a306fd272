"""Statistics: pure functions on arrays. They know nothing of drives and print nothing.

Reading order:

* :mod:`.summary`     nearest-rank percentiles, Student and batch-means intervals
* :mod:`.correlated`  the interval of a series whose neighbours are alike
* :mod:`.robust`      log medians
* :mod:`.bootstrap`   intervals of any statistic by resampling whole blocks
* :mod:`.fit`         lines by relative error, non-negative fits, how far a curve is a line
* :mod:`.changepoint` where a rising curve stops rising
* :mod:`.overprovisioning` spare space against write amplification
* :mod:`.collection`  write amplification along uniform overwrites
* :mod:`.errors`      how far predictions are from what was measured

Each is tested against scipy where that has the same.
"""

from ssdscope.stats.bootstrap import block_bootstrap, percentile_interval
from ssdscope.stats.changepoint import (
    doubling_gains,
    isotonic,
    saturation_depth,
    second_rise,
    settling_requests,
)
from ssdscope.stats.collection import amplification_course
from ssdscope.stats.correlated import correlated_mean, least_count, supported
from ssdscope.stats.errors import PredictionErrors, prediction_errors
from ssdscope.stats.fit import LineFit, fit_line, relative_nnls
from ssdscope.stats.overprovisioning import spare_factor, write_amplification
from ssdscope.stats.robust import log_median
from ssdscope.stats.summary import (
    MeanInterval,
    batch_means,
    ecdf,
    lasting,
    mean_interval,
    nearest_rank,
    student,
)

__all__ = [
    "LineFit",
    "MeanInterval",
    "PredictionErrors",
    "amplification_course",
    "batch_means",
    "block_bootstrap",
    "correlated_mean",
    "doubling_gains",
    "ecdf",
    "fit_line",
    "isotonic",
    "lasting",
    "least_count",
    "log_median",
    "mean_interval",
    "nearest_rank",
    "percentile_interval",
    "prediction_errors",
    "relative_nnls",
    "saturation_depth",
    "second_rise",
    "settling_requests",
    "spare_factor",
    "student",
    "supported",
    "write_amplification",
]
