"""What the paper says of quantile regression: it gives "similar performance".

Two GUIDE trees learn the latency from the same drawn runs of the grid, one by least squares and
one for the median by quantile regression; both errors are in-sample, as the paper's. The second
agrees if it is no more than half as large again as the first. It may be smaller: the mean relative
error is nearer to what a median tree makes small than to squares of logarithms.
"""

from ssdscope import stats
from ssdscope.models import fitting
from ssdscope.models.samples import Sample
from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.huang2011.predicting import tables
from ssdscope.studies.huang2011.predicting.accuracy import Accuracy
from ssdscope.studies.huang2011.predicting.runs import GRID
from ssdscope.studies.making import within
from ssdscope.studies.record import Claim

ROWS = 2000
"""So many runs are drawn: a median tree takes ten times as long as one of least squares."""
TIMES = 1.5


def claims(accuracy: Accuracy, progress: StageProgress) -> list[Claim]:
    """Compare the two on every device of table III that is wanted."""
    devices = [each for each in accuracy.wanted.devices if each in tables.ALONE]
    found = []
    for done, device in enumerate(devices):
        told = within(progress, done, len(devices))
        told(f"median tree of {device}", 0.0)
        sample = Sample.of(accuracy.runs(device, GRID, told), "train", "latency")
        rng = stream(accuracy.wanted.seed, "studies.huang2011.quantile")
        drawn = rng.permutation(len(sample))[:ROWS]
        part = Sample(sample.inputs[drawn], sample.values[drawn])
        squares, median = (
            error(name, part, accuracy.wanted.seed) for name in ("guide", "guide-quantile")
        )
        found.append(compare(device, squares, median))
    return found


def error(model: str, sample: Sample, seed: int) -> float:
    """Fit a kind of tree; its mean relative error in-sample, in percent."""
    fitted = fitting.fit_estimator(model, "extended", sample, seed).model_
    predicted = fitted.evaluate(sample.columns("extended"))
    return 100 * stats.prediction_errors(sample.values, predicted).mre


def compare(device: str, squares: float, median: float) -> Claim:
    """Judge whether the median tree does as well."""
    told = f"{median:.1f} % against {squares:.1f} % by least squares"
    what = f"{device}: latency, extended model fitted by quantile regression"
    said = f"{median / squares:.1f} times the error"
    return judging.claim(what, "similar", told, "", holds=median <= TIMES * squares, why=said)
