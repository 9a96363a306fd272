"""Statistics: pure functions on arrays. They know nothing of drives and print nothing.

Reading order:

* :mod:`.summary`     nearest-rank percentiles, Student and batch-means intervals
* :mod:`.robust`      log medians, median absolute deviation, sentinel shifts
* :mod:`.bootstrap`   intervals of any statistic by resampling whole blocks
* :mod:`.fit`         lines by relative error, non-negative fits, BIC, the longest linear stretch
* :mod:`.changepoint` where a level or a curve changes
* :mod:`.equivalence` when "no effect" may be said (TOST)
* :mod:`.onset`       where a long series rises for good, to the value
* :mod:`.overprovisioning` spare space against write amplification
* :mod:`.errors`      how far predictions are from what was measured

Each is tested against scipy where scipy has the same.
"""

from ssdscope.stats.bootstrap import block_bootstrap, percentile_interval
from ssdscope.stats.changepoint import (
    change_points,
    doubling_gains,
    isotonic,
    plateau,
    saturation_depth,
    second_rise,
)
from ssdscope.stats.equivalence import Equivalence, tost
from ssdscope.stats.errors import PredictionErrors, prediction_errors
from ssdscope.stats.fit import LineFit, bic, fit_line, linear_stretch, relative_nnls
from ssdscope.stats.onset import Onset, excess_onset, onset
from ssdscope.stats.overprovisioning import spare_factor, write_amplification
from ssdscope.stats.robust import log_median, mad, shifted_blocks
from ssdscope.stats.summary import (
    MeanInterval,
    batch_means,
    ecdf,
    mean_interval,
    nearest_rank,
    student,
)

__all__ = [
    "Equivalence",
    "LineFit",
    "MeanInterval",
    "Onset",
    "PredictionErrors",
    "batch_means",
    "bic",
    "block_bootstrap",
    "change_points",
    "doubling_gains",
    "ecdf",
    "excess_onset",
    "fit_line",
    "isotonic",
    "linear_stretch",
    "log_median",
    "mad",
    "mean_interval",
    "nearest_rank",
    "onset",
    "percentile_interval",
    "plateau",
    "prediction_errors",
    "relative_nnls",
    "saturation_depth",
    "second_rise",
    "shifted_blocks",
    "spare_factor",
    "student",
    "tost",
    "write_amplification",
]
