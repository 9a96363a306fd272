"""Statistics: pure functions on arrays. They know nothing of drives and print nothing.

Reading order:

* :mod:`.summary`     nearest-rank percentiles, Student and batch-means intervals
* :mod:`.correlated`  the interval of a series whose neighbours are alike
* :mod:`.robust`      log medians, median absolute deviation
* :mod:`.bootstrap`   intervals of any statistic by resampling whole blocks
* :mod:`.fit`         lines by relative error, non-negative fits, how far a curve is a line
* :mod:`.changepoint` where a level or a curve changes
* :mod:`.knee`        where a rate drops for good while bytes add up
* :mod:`.stalls`      from which request on a burst must wait
* :mod:`.folding`     periods in position, against the best that chance finds
* :mod:`.levels`      how many levels a heap of values has
* :mod:`.equivalence` when "no effect" may be said (TOST)
* :mod:`.onset`       where a long series rises for good, to the value
* :mod:`.recurrence`  how far apart events come back
* :mod:`.trains`      the same of few events among many that come by chance
* :mod:`.overprovisioning` spare space against write amplification
* :mod:`.collection`  write amplification along uniform overwrites
* :mod:`.errors`      how far predictions are from what was measured

Each is tested against scipy or ruptures where those have the same.
"""

from ssdscope.stats.bootstrap import block_bootstrap, percentile_interval
from ssdscope.stats.changepoint import (
    change_points,
    doubling_gains,
    isotonic,
    saturation_depth,
    second_rise,
    settling_requests,
)
from ssdscope.stats.collection import amplification_course
from ssdscope.stats.correlated import correlated_mean, least_count, supported
from ssdscope.stats.equivalence import Equivalence, tost
from ssdscope.stats.errors import PredictionErrors, prediction_errors
from ssdscope.stats.fit import LineFit, fit_line, relative_nnls
from ssdscope.stats.folding import (
    PeriodScan,
    centred,
    explained_share,
    scan_periods,
)
from ssdscope.stats.knee import Knee, best_splits, binned_rates, knees, undrained
from ssdscope.stats.levels import levels
from ssdscope.stats.onset import Onset, onset
from ssdscope.stats.overprovisioning import spare_factor, write_amplification
from ssdscope.stats.recurrence import Recurrence, recurrence
from ssdscope.stats.robust import log_median, mad
from ssdscope.stats.stalls import Waits, waits_from
from ssdscope.stats.summary import (
    MeanInterval,
    batch_means,
    ecdf,
    lasting,
    mean_interval,
    nearest_rank,
    student,
)
from ssdscope.stats.trains import train

__all__ = [
    "Equivalence",
    "Knee",
    "LineFit",
    "MeanInterval",
    "Onset",
    "PeriodScan",
    "PredictionErrors",
    "Recurrence",
    "Waits",
    "amplification_course",
    "batch_means",
    "best_splits",
    "binned_rates",
    "block_bootstrap",
    "centred",
    "change_points",
    "correlated_mean",
    "doubling_gains",
    "ecdf",
    "explained_share",
    "fit_line",
    "isotonic",
    "knees",
    "lasting",
    "least_count",
    "levels",
    "log_median",
    "mad",
    "mean_interval",
    "nearest_rank",
    "onset",
    "percentile_interval",
    "prediction_errors",
    "recurrence",
    "relative_nnls",
    "saturation_depth",
    "scan_periods",
    "second_rise",
    "settling_requests",
    "spare_factor",
    "student",
    "supported",
    "tost",
    "train",
    "undrained",
    "waits_from",
    "write_amplification",
]
